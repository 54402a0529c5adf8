package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/chat"
	"starling/bus/view"
)

// opens is a lab whose engine comes when the test says so.
type opens struct {
	*lab
	engine chan Driver
	fails  chan error
	left   chan struct{} // ctx of open has ended
}

func newOpens(t *testing.T) *opens {
	t.Helper()
	s, err := newSession(Options{Forget: true, Theme: "none", Env: func(k string) string {
		return map[string]string{"LANG": "C.UTF-8"}[k]
	}}, false)
	if err != nil {
		t.Fatal(err)
	}
	o := &opens{
		lab:    &lab{t: t, s: s, screen: tcell.NewSimulationScreen("UTF-8"), done: make(chan error, 1)},
		engine: make(chan Driver, 1), fails: make(chan error, 1), left: make(chan struct{}),
	}
	started := make(chan struct{})
	s.started = func() { close(started) }
	go func() {
		o.done <- s.show(context.Background(), &sized{o.screen, 80, 24}, func(ctx context.Context) (Driver, error) {
			select {
			case d := <-o.engine:
				return d, nil
			case err := <-o.fails:
				return nil, err
			case <-ctx.Done():
				close(o.left)
				return nil, ctx.Err()
			}
		})
	}()
	<-started
	t.Cleanup(func() {
		s.in.do(func() { s.stop(nil) })
		o.end()
	})
	return o
}

// The prompt is there before the engine. What is sent to it meanwhile waits in sight and
// runs in its order, behind what was said in an earlier time.
func TestBeforeTheEngine(t *testing.T) {
	o := newOpens(t)
	o.sees("what is to be done?")
	o.s.Notice(view.Notice{Text: "told while it starts"})
	o.in(func() {
		o.typedLine("first")
		o.typedLine("!echo hi")
		o.typedLine("second")
	})
	o.sees("first")
	o.sees("2 queued")
	o.sees("starting")
	if strings.Contains(o.text(), "told while it starts") {
		t.Error("a notice stands above what was said before it")
	}
	e := &engine{
		mode: "ask", status: view.Status{Workspace: "shop", Model: "sonnet"},
		past: []chat.Message{{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Text, Text: "of yesterday"}}}},
		shell: func(_ context.Context, line string, _ func(string)) (view.Ended, error) {
			return view.Ended{Status: "ran " + line}, nil
		},
	}
	o.engine <- e
	o.until("both prompts", func() bool { return len(e.said()) == 2 })
	o.sees("sonnet")
	o.sees("ran echo hi")
	var at int
	for _, want := range []string{"of yesterday", "told while it starts", "echo hi", "first", "second"} {
		i := strings.Index(o.text(), want)
		if i < at {
			t.Errorf("%q is not where it belongs:\n%s", want, o.text())
		}
		at = i
	}
	if got := strings.Join(e.said(), ","); got != "first,second" {
		t.Errorf("it ran %s", got)
	}
}

// typedLine is a line the person sent; on the event loop.
func (o *opens) typedLine(text string) {
	o.s.editor.Insert(text)
	o.s.editor.Key(tcell.NewEventKey(tcell.KeyEnter, 0, 0))
}

// Who leaves before the engine is there does not wait for it.
func TestLeftBeforeTheEngine(t *testing.T) {
	o := newOpens(t)
	o.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
	o.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
	select {
	case err := <-o.done:
		o.done <- err
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it stays")
	}
	<-o.left
}

func TestNoEngine(t *testing.T) {
	o := newOpens(t)
	broken := errors.New("no such model")
	o.in(func() { o.typedLine("a prompt") })
	o.fails <- broken
	select {
	case err := <-o.done:
		o.done <- err
		if !errors.Is(err, broken) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it stays")
	}
}
