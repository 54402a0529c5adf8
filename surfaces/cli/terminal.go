package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	ucli "github.com/urfave/cli/v2"

	"starling/agent/harness"
	"starling/bus/view"
	"starling/surfaces/headless"
	"starling/surfaces/tui"
	"starling/surfaces/tui/command"
	tuiinput "starling/surfaces/tui/input"
	"starling/trust"
)

// session runs a session in the terminal, until the person leaves it.
func session(ctx context.Context, c *ucli.Context, p Process, o harness.Options) error {
	for _, name := range []string{"output", "quiet", "stdin", "timeout"} {
		if c.IsSet(name) {
			return usage("--%s goes with a prompt; give one, as in: starling -p \"what does main.go do?\"", name)
		}
	}
	in, out, ok := files(p)
	if !ok {
		return usage("%w", tui.ErrNoTerminal)
	}
	// Also as lines: what comes out of a pipe answers no question.
	if err := tui.CheckTerminal(in, out); err != nil {
		return usage("%w", err)
	}
	history, unread := loadHistory(p.Home())
	screen, err := newScreen(p, tui.Options{
		In: in, Out: out, History: history, Plain: c.Bool("plain"), Attach: c.StringSlice("attach"),
	}, unread)
	if err != nil {
		return err
	}
	if o.EditUnits, err = askTrust(ctx, c, p); err != nil {
		return err
	}
	o.Host, o.Notify, o.Component = "terminal", screen.Notice, screen.Component
	if set, _ := p.LookupEnv("GOMAXPROCS"); set == "" {
		o.Busy = spread()
	}
	o.Screen = harness.Screen{
		Panels: screen.PanelOptions(), Queued: screen.Queued, Commands: command.Names(), Presented: screen.Presented,
	}
	var engine *harness.Engine // nil until it is there
	var unusable error
	live, leave := seated(ctx)
	ran := screen.Run(live, func(ctx context.Context) (tui.Driver, error) {
		e, err := harness.New(ctx, o)
		if err != nil {
			unusable = err
			return nil, err
		}
		engine = e
		screen.SetPanels(e.Panels())
		return e, nil
	})
	code := headless.ExitFailed
	if by := (*tui.Signalled)(nil); live.Err() != nil || errors.As(ran, &by) {
		code, ran = headless.ExitInterrupted, nil
	} else if ran != nil && unusable != nil {
		code = headless.ExitUsage
	}
	leave()
	var closed error
	if engine != nil {
		closed = engine.Close(context.WithoutCancel(ctx))
	}
	var kept error
	if unread == nil {
		kept = saveHistory(p.Home(), history.Typed())
	}
	switch {
	case ran != nil, closed != nil, kept != nil, code == headless.ExitInterrupted:
		return exit{code, errors.Join(ran, closed, kept)}
	}
	return nil
}

// newScreen makes the screen of a session, with what config.json sets besides o, and
// tells of what is wrong with that and with the history.
func newScreen(p Process, o tui.Options, unread error) (*tui.Session, error) {
	var set tui.Options
	var faults []error
	if home := p.Home(); home != "" {
		set, faults = ReadSettings(settingsFile(home))
	}
	set.In, set.Out, set.History, set.Plain, set.Attach = o.In, o.Out, o.History, o.Plain, o.Attach
	set.Env = func(name string) string { v, _ := p.LookupEnv(name); return v }
	screen, err := tui.New(set)
	if err != nil {
		return nil, exit{headless.ExitUsage, err}
	}
	if unread != nil {
		faults = append(faults, fmt.Errorf("%w; what is typed in this session is not kept: mend the file or move it away", unread))
	}
	for _, fault := range faults {
		screen.Notice(view.Notice{Text: fault.Error(), Warn: true})
	}
	return screen, nil
}

// atOnce is how many goroutines run at once in a session in which plugins are busy, also
// on a machine with fewer processors: the runtime lets each go on for 10 ms at a time, so
// that behind a few busy plugins a key would wait its turn. The system shares the
// processors more finely, and gives the screen, which mostly sleeps, its turn at once.
const atOnce = 8

// spread hears of calls into plugins, and has more goroutines run at once as soon as
// there are as many calls as processors. Before that the threads would cost time for
// nothing.
func spread() func(calls int) {
	var once sync.Once
	processors := runtime.GOMAXPROCS(0)
	return func(calls int) {
		if calls >= processors && processors < atOnce {
			once.Do(func() { runtime.GOMAXPROCS(atOnce) })
		}
	}
}

// seated is the context of a session: it ends as ctx does, but not by an interrupt.
// That is a key of the person, and the session knows what it means.
func seated(ctx context.Context) (live context.Context, leave func()) {
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if by := (signalled{}); errors.As(cause, &by) && by.Signal == os.Interrupt {
			return
		}
		end(cause)
	})
	return live, func() { stop(); end(nil) }
}

// files are stdin and stdout of the process where they are files; a terminal is
// nothing else.
func files(p Process) (in, out *os.File, ok bool) {
	in, okIn := p.Stdin.(*os.File)
	out, okOut := p.Stdout.(*os.File)
	return in, out, okIn && okOut
}

// askTrust asks about what the workspace brings, before the screen starts. It returns
// the units whose edits are trusted in this session.
func askTrust(ctx context.Context, c *ucli.Context, p Process) (edits []string, err error) {
	if c.Bool("no-plugins") || c.Bool("trust-plugins") || c.IsSet("trust-digest") || !isTerminal(p.Stdin) {
		return nil, nil
	}
	w, err := openWorkspace(p)
	if err != nil {
		return nil, err
	}
	open := func(u harness.Unit) bool { return u.Verdict != trust.Approved && u.Verdict != trust.Refused }
	if !slices.ContainsFunc(w.Units(), open) {
		return nil, nil // a refusal of exactly these bytes is an answer too
	}
	answer, err := w.Ask(ctx, p.Stdin, p.Stdout, true)
	switch {
	case ctx.Err() != nil:
		return nil, exit{headless.ExitInterrupted, errors.New("the question was interrupted; nothing is stored")}
	case err != nil:
		return nil, exit{headless.ExitFailed, err}
	case answer == trust.TrustNot:
		return nil, say(p.Stdout, "not trusted: nothing of it runs; /trust asks again")
	case answer == trust.TrustEdits:
		for _, u := range w.Units() {
			if u.Verdict != trust.Approved {
				edits = append(edits, u.Name)
			}
		}
	}
	return edits, nil
}

// historyFile is what was typed, in the home, for the person alone.
func historyFile(home string) string { return filepath.Join(home, "history.jsonl") }

// loadHistory reads what was typed in earlier sessions. After an error it holds what
// could be read, and the file is to be left as it is.
func loadHistory(home string) (*tuiinput.History, error) {
	h := tuiinput.NewHistory()
	if home == "" {
		return h, nil
	}
	f, err := trust.OpenRegular(historyFile(home), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer f.Close()
	if err := h.Load(f); err != nil {
		return h, fmt.Errorf("%s: %w", historyFile(home), err)
	}
	return h, nil
}

// saveHistory puts what was typed in this session behind what the file holds now:
// another session may have ended since this one began, or end in this moment.
func saveHistory(home string, typed []string) (err error) {
	if home == "" || len(typed) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the history of prompts is not kept: %w", err)
		}
	}()
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	lock, err := trust.LockFile(filepath.Join(home, "history.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	all, err := loadHistory(home)
	if err != nil {
		return err
	}
	for _, text := range typed {
		all.Add(text)
	}
	var data bytes.Buffer
	if err := all.Save(&data); err != nil {
		return err
	}
	return trust.WritePrivate(historyFile(home), data.Bytes())
}
