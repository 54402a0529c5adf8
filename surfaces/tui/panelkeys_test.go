package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/command"
)

// F6 says that no panel is open only where none is: neither where its round comes back
// to the prompt, whichever way, nor of panels that are hidden. What it said goes once it
// finds one.
func TestCycleSaysWhatIsSo(t *testing.T) {
	const none, hidden = "no panel is open", "the panels are hidden; /sidebar shows them"
	l, show := withPanels(t, 100, 30)
	press := func(mod tcell.ModMask) (said string, panel bool) {
		l.in(func() {
			l.s.event(tcell.NewEventKey(tcell.KeyF6, 0, mod))
			said, panel = l.s.work.hint, l.s.panelFocus()
		})
		return said, panel
	}
	if said, panel := press(0); said != none || panel {
		t.Errorf("without a panel it says %q, in a panel %v", said, panel)
	}
	show("one", "one", right, shows(texts("the one")))
	show("two", "two", right, shows(texts("the other")))
	l.sees("the one")
	l.sees("the other")
	for _, mod := range []tcell.ModMask{0, tcell.ModShift} {
		for i, want := range []bool{true, true, false, true, true, false} {
			if said, panel := press(mod); said != "" || panel != want {
				t.Errorf("step %d, modifiers %d: it says %q, in a panel %v", i, mod, said, panel)
			}
		}
	}
	l.in(func() {
		l.s.send(entry("/sidebar off"))
	})
	l.until("the sides are hidden", func() bool {
		l.s.draw()
		return !strings.Contains(screenText(l.screen), "the one")
	})
	if said, panel := press(0); said != hidden || panel {
		t.Errorf("of hidden panels it says %q, in a panel %v", said, panel)
	}
}

// The foot names what works for whoever has the keys: a panel or a dialog of a plugin
// with its name and the way out, which is not how to stop the run; a page and a question
// say it themselves.
func TestFootIsOfWhoHasTheKeys(t *testing.T) {
	for _, c := range []struct {
		width              int
		prompt, side, over string // ends of the foot, nothing running
		runs, busy         string // while a run goes: at the prompt, in the panel
	}{
		{
			100, "F6 panels · / commands · ! shell · @ files · ? keys",
			"keys: todos · Esc back · F6 next", "keys: liar/ask · Esc back · F6 next",
			"Esc stops · F6 panels · / commands · ! shell · @ files · ? keys", "keys: todos · Esc back · F6 next",
		},
		{
			40, "/ commands · @ files",
			"keys: todos · Esc back", "keys: liar/a… · Esc back",
			"Esc stops", "keys: todos · Esc back",
		},
	} {
		l, show := withPanels(t, c.width, 24)
		l.in(func() { l.s.mode = "auto-edit" })
		foot := func(where, want string) {
			t.Helper()
			got := strings.TrimRight(l.foot(), " ")
			if !strings.HasSuffix(got, "  "+want) {
				t.Errorf("%d cells, %s: the foot is %q, want %q at its end", c.width, where, got, want)
			}
		}
		silent := func(where string) {
			t.Helper()
			got := l.foot()
			for _, word := range []string{"keys", "commands", "Esc", "F6"} {
				if strings.Contains(got, word) {
					t.Errorf("%d cells, %s: the foot is %q", c.width, where, got)
				}
			}
		}
		run := func(on bool) {
			l.in(func() { l.s.work.on, l.s.work.what, l.s.work.since = on, "bash go test ./...", l.s.now() })
		}
		page := &command.View{Title: "page", Load: func(context.Context) command.Body { return command.Say("a page") }}

		show("todos", "todos", right, shows(texts("the todos")))
		l.sees("todos")
		foot("at the prompt", c.prompt)
		run(true)
		foot("at the prompt in a run", c.runs)
		l.key(tcell.KeyF6, 0, 0)
		l.until("the panel has the keys", l.s.panelFocus)
		foot("in a panel in a run", c.busy)
		run(false)
		foot("in a panel", c.side)
		l.in(func() { l.s.view(page) })
		silent("on a page over a panel")
		l.key(tcell.KeyEscape, 0, 0)
		l.until("the page is closed", func() bool { return l.s.modal() == nil })
		foot("in the panel again", c.side)

		show("liar", "ask", map[string]any{"kind": "overlay", "width": 30, "height": 3}, shows(texts("sure?")))
		l.sees("sure?")
		foot("in a dialog", c.over)
		run(true)
		l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{view.AnswerYes, view.AnswerNo}})
		l.until("the question is open", func() bool { return !l.s.asking.Done() })
		silent("in a question")
		l.s.onAnswer(&event.AnswerEvent{ID: "q"})
		l.until("the question is closed", func() bool { return l.s.asking.Done() })
		l.in(func() { l.s.view(page) })
		silent("on a page in a run")
	}
}

// One line of a text says where it is not all of it.
func TestOneLineIsCut(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"make all ", "make all"},
		{"make\nall", "make all"},
		{"echo ok" + strings.Repeat(" ", 3000) + "; touch x", "echo ok …"},
		{strings.Repeat("x", 1001), strings.Repeat("x", 1000) + " …"},
		{strings.Repeat("x", 1000), strings.Repeat("x", 1000)},
	} {
		if got := oneLine(c.in); got != c.want {
			t.Errorf("of %d bytes: %q", len(c.in), got)
		}
	}
}
