package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
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

// On any screen the foot of a page says how to leave; where one row does not hold its keys,
// there are more.
func TestFootOfAPage(t *testing.T) {
	keys := []command.Key{{Chord: "enter", Help: "details"}, {Chord: "r", Help: "load anew"}, {Chord: "hidden"}, {Chord: "b", Help: "back to the last version that ran"}}
	p := &page{v: &command.View{Keys: keys}}
	for _, c := range []struct {
		width, rows int
		want        string
	}{
		{100, 3, "Enter details  R load anew  B back to the last version that ran  Esc leaves"},
		{36, 3, "Enter details  R load anew\nB back to the last version that ran\nEsc leaves"},
		{36, 2, "Enter details  R load anew\nEsc leaves"},
		{36, 1, "Enter details  Esc leaves"},
		{12, 1, "Esc leaves"},
		{6, 1, "Esc l…"},
		{36, 0, ""},
	} {
		got := strings.Join(p.foot(c.width, c.rows, kit.SignsFor(false)), "\n")
		if !strings.EqualFold(got, c.want) {
			t.Errorf("%d cells, %d rows:\n%s\nwant\n%s", c.width, c.rows, got, c.want)
		}
	}
}
