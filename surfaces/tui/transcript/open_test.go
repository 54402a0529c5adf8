package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// shown counts rows of the screen.
func (l *lab) shown(text string) int {
	l.t.Helper()
	return strings.Count(strings.Join(l.rows(), "\n"), text)
}

func (l *lab) press(y int) {
	l.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.Button1, X: 3, Y: y})
	l.Mouse(kit.Mouse{Action: kit.Release, Button: tcell.Button1, X: 3, Y: y})
}

// Everything of a call can be read without a mouse: each step opens it further, whatever
// kind it is, and the one after the last folds it again. Where lines are left out, and
// only there, the screen says what shows more.
func TestStepsOpenEverything(t *testing.T) {
	diff := "--- a\n+++ b\n@@ -1,1 +1,40 @@\n"
	for i := range 40 {
		diff += fmt.Sprintf("+row %d;\n", i)
	}
	output := strings.ReplaceAll(diff[strings.Index(diff, "+row"):], "+", "")
	finish := func(r Result) func(l *lab) {
		return func(l *lab) {
			l.Begin("1", "tool", `{}`)
			l.Finish("1", r)
		}
	}
	for name, c := range map[string]struct {
		put  func(l *lab)
		rows [4]int // of 40, at first and behind each step
	}{
		"result": {finish(Result{Content: output}), [4]int{0, 15, 40, 0}},
		// The first row of an error stands at the top too, the head of a hunk is a row.
		"failed": {finish(Result{Content: output, IsError: true}), [4]int{1, 16, 41, 1}},
		"change": {finish(Result{Content: "ok", Details: []byte(fmt.Sprintf(`{"diff":%q}`, diff))}), [4]int{3, 14, 40, 3}},
		"command of the person": {func(l *lab) {
			l.Begin("!1", "shell", "")
			l.Show("!1")
			l.Output("!1", output)
			l.Settle("!1", "exited(0)", false)
		}, [4]int{15, 40, 40, 15}},
		"text of the person": {func(l *lab) { l.Person(output) }, [4]int{15, 40, 40, 15}},
		"what still runs": {func(l *lab) {
			l.Begin("1", "bash", `{}`)
			l.Output("1", output)
		}, [4]int{3, 15, 40, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, 80, 80)
			l.SetMore("Alt-O or a click")
			c.put(l)
			for step, want := range c.rows {
				if step > 0 {
					l.StepOutput()
				}
				if n := l.shown("row "); n != want {
					t.Errorf("%d rows behind %d steps, want %d", n, step, want)
				}
				left := l.shown(" more lines · Alt-O or a click shows more") == 1
				if cut := l.shown(" more line") == 1; left != cut || want >= 40 && cut {
					t.Errorf("behind %d steps:\n%s", step, strings.TrimSpace(strings.Join(l.rows(), "\n")))
				}
			}
		})
	}
}

// All are opened alike, also those that were clicked; a click goes on from what is seen.
func TestStepsAndClicks(t *testing.T) {
	l := newLab(t, 60, 200)
	for i := range 2 {
		id := fmt.Sprint(i)
		l.Begin(id, "ls", `{}`)
		l.Finish(id, Result{Content: strings.Repeat("file "+id+"\n", 40)})
	}
	l.Person(strings.Repeat("word\n", 40))
	l.rows()
	is := func(first, second, said int) {
		t.Helper()
		if a, b, c := l.shown("file 0"), l.shown("file 1"), l.shown("word"); a != first || b != second || c != said {
			t.Errorf("%d, %d and %d rows; want %d, %d and %d", a, b, c, first, second, said)
		}
	}
	is(0, 0, 15)
	l.press(0)
	is(15, 0, 15)
	l.press(0)
	is(40, 0, 15)
	if d := l.StepOutput(); d != Part || d.String() != "the first 15 lines" {
		t.Errorf("%v", d)
	}
	is(15, 15, 40)
	l.press(0)
	is(40, 15, 40)
	if d := l.StepOutput(); d != Whole || d.String() != "whole" {
		t.Errorf("%v", d)
	}
	is(40, 40, 40)
	l.press(0)
	is(0, 40, 40)
	if d := l.StepOutput(); d != Folded || d.String() != "folded" {
		t.Errorf("%v", d)
	}
	is(0, 0, 15)
	l.press(3)
	is(0, 0, 40)
	for range 3 {
		l.StepOutput()
	}
	is(0, 0, 15)
}

// What says how more is shown is for the screen: it is not copied, nor left on the
// ordinary screen, and where nothing shows more nothing is said.
func TestTipIsForTheScreen(t *testing.T) {
	l := newLab(t, 60, 30)
	l.SetMore("F2")
	l.Person(strings.Repeat("word\n", 40))
	if n := l.shown("   └ 25 more lines · F2 shows more"); n != 1 {
		t.Errorf("the screen is\n%s", strings.Join(l.rows(), "\n"))
	}
	for what, text := range map[string]string{"copied": marked(l), "left": textOf(t, l, 60)} {
		if !strings.Contains(text, "25 more lines") || strings.Contains(text, "F2") {
			t.Errorf("%s: %q", what, text)
		}
	}
	for width, want := range map[int]string{30: "   └ 25 more lines · F2 shows…", 19: "   └ 25 more lines", 10: "   └ 25 m…"} {
		l.resize(width, 30)
		if got := l.rows()[15]; !strings.HasPrefix(got, want) || kit.Width(got) > width {
			t.Errorf("%d wide: %q", width, got)
		}
	}
	l.resize(60, 30)
	l.SetMore("")
	if got := l.rows()[15]; got != "   └ 25 more lines" {
		t.Errorf("%q", got)
	}
	// Nothing shows what is more than a block lays out, and that is told.
	l.Reset()
	l.SetMore("F2")
	l.Begin("1", "cat", `{}`)
	l.Finish("1", Result{Content: strings.Repeat("word\n", most/5+10)})
	l.StepOutput()
	l.StepOutput()
	if got := textOf(t, l, 60); !strings.HasSuffix(strings.TrimSpace(got), "└ 10 more lines") {
		t.Errorf("it ends in %q", got[len(got)-60:])
	}
	if n := l.shown("F2"); n != 0 {
		t.Errorf("the screen is\n%s", strings.Join(l.rows(), "\n"))
	}
}
