package tui

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/transcript"
)

// The output of a call is read as a whole by keys alone: each press opens it further. The
// line in place of what is folded names the key as it is bound, and the mouse where it is
// the session's.
func TestOutputIsReadByKeys(t *testing.T) {
	for name, c := range map[string]struct {
		keys    map[string]string
		noMouse bool
		key     tcell.Key
		r       rune
		mod     tcell.ModMask
		want    string
	}{
		"as it is":       {nil, false, tcell.KeyRune, 'o', tcell.ModAlt, "└ 25 more lines · Alt-O or a click shows more"},
		"no mouse":       {nil, true, tcell.KeyRune, 'o', tcell.ModAlt, "└ 25 more lines · Alt-O shows more"},
		"bound anew":     {map[string]string{"alt+o": "", "f4": "outputs"}, true, tcell.KeyF4, 0, 0, "└ 25 more lines · F4 shows more"},
		"only the mouse": {map[string]string{"alt+o": ""}, false, 0, 0, 0, "└ 25 more lines · a click shows more"},
		"neither":        {map[string]string{"alt+o": ""}, true, 0, 0, 0, "└ 25 more lines\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLabWith(t, 80, 70, &engine{}, Options{
				Forget: true, Theme: "none", Env: func(string) string { return "" }, Keys: c.keys, NoMouse: c.noMouse,
			}, nil)
			rows := func() int { return strings.Count(l.text(), "a row") }
			l.in(func() {
				l.s.tr.Begin("1", "ls", `{}`)
				l.s.tr.Finish("1", transcript.Result{Content: strings.Repeat("a row\n", 40)})
				if c.key == 0 {
					l.s.tr.StepOutput()
				}
			})
			press := func(n int, hint string) {
				t.Helper()
				l.key(c.key, c.r, c.mod)
				l.sees(hint)
				if got := rows(); got != n {
					t.Errorf("%d rows behind %q, want %d", got, hint, n)
				}
			}
			if c.key != 0 {
				press(15, "output: the first 15 lines")
			}
			if got := l.text(); !strings.Contains(got, c.want) {
				t.Errorf("%q is not there:\n%s", c.want, got)
			}
			if c.key != 0 {
				press(40, "output: whole")
				press(0, "output: folded")
			}
		})
	}
}
