package tui

import (
	"context"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/command"
)

// A page that is left for another session holds what is sent until that is there: it is
// meant for the other one.
func TestPageLeavesInOrder(t *testing.T) {
	e := &engine{}
	l := newLab(t, 60, 12, e)
	there := make(chan struct{})
	l.in(func() {
		l.s.view(&command.View{
			Title: "sessions",
			Load:  func(context.Context) command.Body { return command.Say("one") },
			Keys: []command.Key{{Chord: "enter", Help: "go on", Whole: true, Leaves: true, Do: func(context.Context, string) command.Reply {
				<-there
				return command.Reply{}
			}}},
		})
	})
	l.sees("one")
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.typed("for the other")
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.until("it waits", func() bool { return l.s.queued() == 1 })
	if got := e.said(); len(got) != 0 {
		t.Errorf("%q ran before", got)
	}
	close(there)
	l.until("it runs", func() bool { return len(e.said()) == 1 })
}
