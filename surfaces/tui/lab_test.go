package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/view"
	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/input"
)

// patience is how long a test waits for what must come, on the slowest machine.
const patience = time.Minute

// engine is a driver whose runs a test makes by hand.
type engine struct {
	mu       sync.Mutex
	prompts  []string
	files    []string // sent along
	offers   []string // behind @
	switched func(id string)
	refuses  map[string]error // files that cannot be attached
	answers  []view.Answer
	asked    []string // the ids of what was answered
	status   view.Status
	mode     string
	past     []chat.Message
	steered  []string
	shell    func(ctx context.Context, line string, out func(string)) (view.Ended, error)
	look     func(ctx context.Context, query string)
	run      func(ctx context.Context, text string) view.Outcome
	commands []view.Command
}

func (e *engine) Prompt(ctx context.Context, text string, files ...string) view.Outcome {
	e.mu.Lock()
	e.files = append(e.files, files...)
	e.prompts = append(e.prompts, text)
	run := e.run
	e.mu.Unlock()
	if run == nil {
		return view.Outcome{Stop: "end"}
	}
	return run(ctx, text)
}

func (e *engine) said() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.prompts...)
}

func (e *engine) Steer(text string, files ...string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files = append(e.files, files...)
	e.steered = append(e.steered, text)
	return nil
}

func (e *engine) Answer(id string, a view.Answer) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, id)
	e.answers = append(e.answers, a)
	return nil
}

func (e *engine) answered() []view.Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]view.Answer(nil), e.answers...)
}

// heard are the answers by question.
func (e *engine) heard() map[string]view.Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	by := map[string]view.Answer{}
	for i, id := range e.asked {
		by[id] = e.answers[i]
	}
	return by
}

func (e *engine) Status() view.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status
}

func (e *engine) Mode() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mode
}

func (e *engine) SetMode(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = name
	return nil
}

func (e *engine) Shell(ctx context.Context, line string, _ bool, out func(string)) (view.Ended, error) {
	if e.shell == nil {
		return view.Ended{}, errors.New("no shell here")
	}
	return e.shell(ctx, line, out)
}

func (e *engine) Command(_ context.Context, name, args string) (view.CommandReply, error) {
	if name == "greet" {
		return view.CommandReply{Found: true, Lines: []string{"hello " + args}}, nil
	}
	return view.CommandReply{}, nil
}

func (e *engine) Transcript() []chat.Message                                 { return e.past }
func (e *engine) Commands() []view.Command                                   { return e.commands }
func (e *engine) Complete(context.Context, string, string) ([]string, error) { return nil, nil }
func (e *engine) Attachable(_ context.Context, file string) error            { return e.refuses[file] }
func (e *engine) Recheck(string, json.RawMessage) error                      { return nil }
func (e *engine) Decisions() []view.Decision                                 { return nil }
func (e *engine) Rules() []view.Rule                                         { return nil }
func (e *engine) Forget(view.Rule) error                                     { return nil }
func (e *engine) Models() []view.Model                                       { return nil }
func (e *engine) SetModel(string) (string, error)                            { return "", nil }
func (e *engine) SetThinking(string) (string, error)                         { return "", nil }
func (e *engine) Sessions() ([]view.Session, error)                          { return nil, nil }
func (e *engine) Switch(_ context.Context, id string) error {
	if e.switched != nil {
		e.switched(id)
	}
	return nil
}

func (e *engine) Tools() []view.Tool                             { return nil }
func (e *engine) Skills() []view.Skill                           { return nil }
func (e *engine) Processes() []view.Process                      { return nil }
func (e *engine) StopProcess(int) error                          { return nil }
func (e *engine) Note(string) error                              { return nil }
func (e *engine) Plugins() []view.Plugin                         { return nil }
func (e *engine) PluginLog(string, int) []string                 { return nil }
func (e *engine) Reload(context.Context, string) (string, error) { return "", nil }
func (e *engine) Restore(context.Context, string) error          { return nil }
func (e *engine) Trust(context.Context, bool) (string, error)    { return "", nil }

func (e *engine) Files(ctx context.Context, query string, _ int) ([]string, error) {
	if e.look != nil {
		e.look(ctx, query)
	}
	return e.offers, ctx.Err()
}

var _ Driver = (*engine)(nil)

// lab is a session on a simulated screen, with the bus its runs are announced on.
type lab struct {
	t      testing.TB
	s      *Session
	e      *engine
	screen tcell.SimulationScreen
	done   chan error
	bus    *bus.Bus
}

func newLab(t testing.TB, w, h int, e *engine) *lab {
	t.Helper()
	env := map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color"}
	return newLabWith(t, w, h, e, Options{Forget: true, Theme: "dark", Env: func(k string) string { return env[k] }}, nil)
}

func newLabWith(t testing.TB, w, h int, e *engine, o Options, prepare func(*Session)) *lab {
	t.Helper()
	s, err := newSession(o, false)
	if err != nil {
		t.Fatal(err)
	}
	if e.status.Workspace == "" {
		e.status = view.Status{Workspace: "shop", Branch: "main*", Model: "sonnet", Thinking: "medium", Tokens: 36_000, Context: 200_000, Cost: 0.042}
	}
	if e.mode == "" {
		e.mode = "ask"
	}
	if prepare != nil {
		prepare(s)
	}
	l := &lab{t: t, s: s, e: e, screen: tcell.NewSimulationScreen("UTF-8"), done: make(chan error, 1), bus: bus.New(bus.NewStore())}
	started := make(chan struct{})
	s.started = func() { close(started) }
	go func() { l.done <- s.show(context.Background(), &sized{l.screen, w, h}, ready(e)) }()
	select {
	case <-started:
	case err := <-l.done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.in.do(func() { s.stop(nil) })
		l.end()
	})
	l.until("the engine", func() bool { return s.ready })
	return l
}

// ready opens an engine that is there.
func ready(d Driver) Open {
	return func(context.Context) (Driver, error) { return d, nil }
}

// sized is a simulated screen of a size from the start.
type sized struct {
	tcell.SimulationScreen
	w, h int
}

func (s *sized) Init() error {
	err := s.SimulationScreen.Init()
	s.SetSize(s.w, s.h)
	return err
}

func (l *lab) end() {
	select {
	case <-l.done:
		l.done <- nil
	case <-time.After(patience):
		l.t.Error("the session does not end")
	}
}

// in runs f on the event loop and waits for it.
func (l *lab) in(f func()) {
	l.t.Helper()
	done := make(chan struct{})
	l.s.in.do(func() { f(); close(done) })
	select {
	case <-done:
	case <-time.After(patience):
		l.t.Fatal("the event loop is stuck")
	}
}

// until waits for something to come true on the event loop.
func (l *lab) until(what string, f func() bool) {
	l.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		ok := false
		l.in(func() { ok = f() })
		if ok {
			return
		}
	}
	l.t.Fatalf("never: %s; the screen is\n%s", what, l.text())
}

// text is the screen as it stands, drawn anew.
func (l *lab) text() string {
	l.t.Helper()
	var out string
	l.in(func() {
		l.s.draw()
		out = screenText(l.screen)
	})
	return out
}

func screenText(screen tcell.Screen) string {
	w, h := screen.Size()
	var b strings.Builder
	for y := range h {
		var row strings.Builder
		for x := 0; x < w; {
			text, _, n := screen.Get(x, y)
			row.WriteString(text)
			x += max(n, 1)
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	return b.String()
}

// sees waits until a text is on the screen.
func (l *lab) sees(text string) {
	l.t.Helper()
	l.until("seeing "+text, func() bool {
		l.s.draw()
		return strings.Contains(screenText(l.screen), text)
	})
}

func (l *lab) key(k tcell.Key, r rune, m tcell.ModMask) { l.screen.InjectKey(k, r, m) }

// typed types a text as a person does: the editor takes what comes at once for a
// paste.
func (l *lab) typed(text string) {
	l.t.Helper()
	l.in(func() { l.s.editor.Insert(text) })
}

// golden compares the screen with a file.
func (l *lab) golden(name string) {
	l.t.Helper()
	golden.Compare(l.t, name, l.text())
}

func entry(text string) input.Entry { return input.Entry{Text: text} }
