package tui

import (
	"strings"
	"testing"

	"starling/bus/view"
)

// What is told while a command leads to another session, such as what is wrong with either,
// is still there once that is shown; what was told before is not.
func TestToldWhileSwitching(t *testing.T) {
	e := &engine{}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.notice(view.Notice{Text: "from before"}) })
	e.switched = func(string) { l.s.Notice(view.Notice{Text: "4 entries are not saved", Warn: true}) }
	l.in(func() { l.s.send(entry("/new")) })
	l.until("the new one", func() bool { return !strings.Contains(l.shown(), "from before") && len(l.s.jobs) == 0 })
	l.sees("4 entries are not saved")
	e.switched = nil
	l.in(func() { l.s.send(entry("/new")) })
	l.until("another one", func() bool {
		l.s.draw()
		return !strings.Contains(screenText(l.screen), "4 entries")
	})
}
