package tui

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/spec"
	"starling/surfaces"
)

// writes has the lab write on as somebody does who has not paused since the last key.
func (l *lab) writes(text string) {
	l.t.Helper()
	l.in(func() { l.s.typed = time.Now().Add(time.Minute) }) // however slow this machine is
	for _, r := range text {
		l.key(tcell.KeyRune, r, tcell.ModNone)
	}
}

// A question that opens while the person writes leaves them their keys, and no letter is
// lost; after a pause the keys are its own. What is pasted while it takes none is the
// prompt's as well.
func TestQuestionWhileWriting(t *testing.T) {
	e := &engine{}
	l := newLab(t, 80, 24, e)
	l.typed("the win")
	l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "always", "no"}})
	l.sees("waiting for you")
	l.writes("dows yes always")
	l.until("the prompt has it", func() bool { return l.s.editor.Text() == "the windows yes always" })
	l.in(func() { l.s.pasted(" and no") })
	l.until("the paste too", func() bool { return l.s.editor.Text() == "the windows yes always and no" })
	if got := e.answered(); len(got) != 0 {
		t.Fatalf("it was answered: %+v", got)
	}
	l.until("a pause", func() bool { return !l.s.typing(time.Now()) })
	l.until("the end of the question", func() bool { // it has a time of its own in which it takes none
		if !l.s.asking.Done() {
			l.s.key(tcell.NewEventKey(tcell.KeyRune, 'n', tcell.ModNone))
			l.s.key(tcell.NewEventKey(tcell.KeyEnter, 0, tcell.ModNone))
		}
		return l.s.asking.Done()
	})
	l.until("an answer", func() bool { return len(e.answered()) == 1 })
	l.in(func() {
		if got := l.s.editor.Text(); got != "the windows yes always and no" {
			t.Errorf("the prompt is %q", got)
		}
	})
}

// An overlay that opens while the person writes gets its first key after a pause, or when
// they go there.
func TestOverlayWhileWriting(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	var keys atomic.Int32
	r := shows(texts("look here"))
	r.Update = func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
		if msg["kind"] == surfaces.KeyMessage {
			keys.Add(1)
		}
		return nil, nil
	}
	l.typed("please ")
	show("pop", "pop", map[string]any{"kind": "overlay", "width": 40, "height": 3}, r)
	l.sees("look here")
	l.until("it has the keys", l.s.panelFocus)
	l.writes("write this")
	l.until("the prompt has it", func() bool { return l.s.editor.Text() == "please write this" })
	if n := keys.Load(); n != 0 {
		t.Errorf("the overlay heard %d keys", n)
	}
	l.until("a pause", func() bool { return !l.s.typing(time.Now()) })
	l.until("a key for the overlay", func() bool {
		l.s.key(tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModNone))
		return keys.Load() > 0
	})
	l.in(func() {
		if got := l.s.editor.Text(); got != "please write this" {
			t.Errorf("the prompt is %q", got)
		}
	})
}
