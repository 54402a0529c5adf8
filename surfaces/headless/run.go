package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"starling/bus/view"
)

// Prompt is what a run is given.
type Prompt struct {
	// Text a person typed; /NAME ARGS names a command.
	Text string
	// Input goes behind the text, with a blank line between. It never names a
	// command: it may come from anywhere.
	Input string
	// Files are sent along; with any the text never names a command.
	Files []string
}

func (p Prompt) whole() string { return joined(p.Text, p.Input) }

func joined(text, input string) string {
	if text == "" || input == "" {
		return text + input
	}
	return text + "\n\n" + input
}

// Run runs the prompt, or the command it names, and returns the exit code so
// far: End has the last word. A text answer is printed here, a result by End.
func (p *Printer) Run(ctx context.Context, d Driver, prompt Prompt) int {
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.begin(d, cancel)
	if p.stream != nil {
		go p.out.watch(run)
	}
	var o view.Outcome
	var code int
	if name, args, ok := command(prompt.Text); ok && len(prompt.Files) == 0 {
		o, code = p.command(ctx, run, d, name, joined(args, prompt.Input))
	} else {
		o = d.Prompt(run, prompt.whole(), prompt.Files...)
		o, code = settled(ctx, o)
		p.answer(o)
		if code != ExitOK && p.out.failure() == nil {
			p.note("starling: %s", Ending(o))
		}
	}
	p.mu.Lock()
	r := &p.result
	r.Stop, r.Why, r.Text, r.Turns, r.Usage, r.Unsaved = o.Stop, o.Why, o.Text, o.Turns, o.Usage, o.Unsaved
	if o.Unsaved != "" || o.Stop == "rejected" && o.Session == "" {
		r.Session = "" // nobody shall go on with half of it unawares, or with none
	}
	p.mu.Unlock()
	p.describe(d)
	if p.stream != nil {
		p.stream.open() // nothing but notices came of it, as of a command
	}
	return code
}

// Fail tells that no run came about; code is its exit code so far.
func (p *Printer) Fail(why error, code int) {
	stop := "error"
	switch code {
	case ExitLimit:
		stop = "limit"
	case ExitInterrupted:
		stop = "aborted"
	}
	p.mu.Lock()
	p.result.Stop, p.result.Why = stop, why.Error()
	p.mu.Unlock()
	p.note("%s", Said(why.Error()))
}

// End prints the result of the JSON formats, waits until stdout has everything
// and returns the exit code. Call it once, when the engine is closed.
func (p *Printer) End(ctx context.Context, code int) int {
	p.mu.Lock()
	r := p.result
	p.mu.Unlock()
	r.ExitCode = code
	switch p.o.Format {
	case JSON:
		if data, err := encode(&r, "result"); err == nil {
			p.out.add(data)
		} else {
			p.note("starling: %v", err)
			code = ExitFailed
		}
	case StreamJSON:
		p.stream.end(&r)
	}
	left := p.out.close(ctx)
	switch {
	case left > 0:
		p.note("starling: stdout: its reader did not take the last %d bytes in time", left)
		if code == ExitOK {
			code = over(ctx)
		}
	case p.out.failure() != nil && code != ExitInterrupted:
		code = ExitFailed
	}
	return code
}

// begin tells who runs and makes a stdout that fails end the run.
func (p *Printer) begin(d Driver, stop context.CancelCauseFunc) {
	p.mu.Lock()
	p.stop = stop
	p.mu.Unlock()
	if err := p.out.failure(); err != nil {
		stop(fmt.Errorf("stdout: %w", err))
	}
	if p.stream != nil {
		p.stream.introduce(func() *sessionLine {
			p.describe(d)
			p.mu.Lock()
			defer p.mu.Unlock()
			return &sessionLine{Session: p.result.Session, Plugins: p.result.Plugins}
		})
	}
}

// describe fills in what the driver knows.
func (p *Printer) describe(d Driver) {
	if p.o.Format == Text {
		return
	}
	plugins := pluginRows(d.Plugins())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Plugins = plugins
}

// settled maps an outcome to its exit code; a time limit is given its name.
func settled(ctx context.Context, o view.Outcome) (view.Outcome, int) {
	if (o.Stop == "limit" || o.Stop == "aborted") && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		o.Stop, o.Why = "limit", context.Cause(ctx).Error()
	}
	switch o.Stop {
	case "end":
		if o.Unsaved != "" {
			return o, ExitFailed // the answer is there, the record of it is not
		}
		return o, ExitOK
	case "limit":
		return o, ExitLimit
	case "aborted":
		if ctx.Err() != nil {
			return o, ExitInterrupted
		}
	}
	if o.Denied > 0 {
		return o, ExitDenied
	}
	return o, ExitFailed
}

// over is the exit code of a context that ended.
func over(ctx context.Context) int {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ExitLimit
	}
	return ExitInterrupted
}

// Ending says in words how a run that did not end well ended.
func Ending(o view.Outcome) string {
	if o.Stop == "end" && o.Unsaved != "" {
		return "the run ended, but its session is not on disk as a whole: " + view.CleanLine(o.Unsaved)
	}
	s := map[string]string{
		"error": "the run failed", "aborted": "the run was interrupted", "limit": "a limit ended the run",
		"stopped": "the run was stopped", "rejected": "the prompt was rejected",
	}[o.Stop]
	if s == "" {
		s = "the run ended: " + o.Stop
	}
	if o.Why != "" {
		s += ": " + view.CleanLine(o.Why)
	}
	return s
}

// command splits "/NAME ARGS". A path such as /etc/hosts is a prompt: a command
// name holds no slash.
func command(prompt string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(prompt), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 {
		name, args = rest[:i], rest[i:]
	}
	if name == "" || strings.Contains(name, "/") {
		return "", "", false
	}
	return name, strings.TrimSpace(args), true
}

// command runs a command; its outcome is that of a run without turns, or of the
// prompt it typed. ctx is
// that of the person, run ends also when stdout fails.
func (p *Printer) command(ctx, run context.Context, d Driver, name, args string) (view.Outcome, int) {
	p.mu.Lock()
	p.result.Command = name
	p.mu.Unlock()
	failed := func(code int, stop, format string, words ...any) (view.Outcome, int) {
		why := fmt.Sprintf(format, words...)
		if p.out.failure() == nil {
			p.note("%s", Said(why))
		}
		return view.Outcome{Stop: stop, Why: why}, code
	}
	reply, err := d.Command(run, name, args)
	switch {
	case reply.Ran != nil: // says itself how it ended
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failed(ExitLimit, "limit", "a limit ended the command: %v", context.Cause(ctx))
	case ctx.Err() != nil:
		return failed(ExitInterrupted, "aborted", "the command was interrupted")
	case err != nil:
		return failed(ExitFailed, "error", "/%s failed: %v", name, err)
	case !reply.Found:
		known := "no plugin offers one"
		if len(reply.Known) > 0 {
			known = "there are /" + strings.Join(reply.Known, ", /")
		}
		return failed(ExitUsage, "error", "there is no command /%s; %s", view.CleanLine(name), known)
	}
	var text strings.Builder
	for _, line := range reply.Lines {
		text.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			text.WriteByte('\n')
		}
	}
	o, code := view.Outcome{Stop: "end"}, ExitOK
	if reply.Ran != nil {
		o, code = settled(ctx, *reply.Ran)
	}
	o.Text = text.String()
	p.answer(o)
	if code != ExitOK && p.out.failure() == nil {
		p.note("starling: /%s: %s", name, Ending(o))
	}
	o.Text = strings.TrimSuffix(o.Text, "\n")
	return o, code
}

// answer prints the text of an outcome in the text format, with one line end at
// the end. What the model or a plugin says may not steer the terminal it is
// shown in.
func (p *Printer) answer(o view.Outcome) {
	if p.o.Format != Text || o.Text == "" {
		return
	}
	text := view.Clean(o.Text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	p.out.add([]byte(text))
}

// deniedBy reads who denied a call from the details of its result; nil when
// nobody did.
func deniedBy(details json.RawMessage) *refusal {
	var d struct {
		Denied bool `json:"denied"`
		refusal
	}
	if len(details) == 0 || json.Unmarshal(details, &d) != nil || !d.Denied {
		return nil
	}
	return &d.refusal
}
