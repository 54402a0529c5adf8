package tui

import (
	"errors"
	"testing"

	"starling/bus/view"
	"starling/surfaces/tui/input"
)

// unsteered is an engine whose run ends before a line gets into it.
type unsteered struct {
	*engine
	before func()
}

func (u unsteered) Steer(string, ...string) error {
	u.before()
	return errors.New("no run goes")
}

// A line that comes too late for its run is a prompt; while a command changes the
// session it waits, as any other line would.
func TestSteerTooLate(t *testing.T) {
	for _, changing := range []bool{false, true} {
		e := &engine{}
		l := newLab(t, 60, 12, e)
		l.in(func() {
			l.s.engine = opened(unsteered{e, func() {
				l.in(func() {
					l.s.ended(view.Outcome{Stop: "end"})
					if changing {
						l.s.changing++
					}
				})
			}})
			l.s.running = &activity{stop: func() {}, done: make(chan struct{})}
			l.s.steer(input.Entry{Text: "too late"})
		})
		if changing {
			l.until("it waits", func() bool { return l.s.queued() == 1 })
			if got := e.said(); len(got) != 0 {
				t.Errorf("%q ran before the change was over", got)
			}
			l.in(func() {
				l.s.changing--
				l.s.next()
			})
		}
		l.until("it runs", func() bool { return len(e.said()) == 1 })
	}
}
