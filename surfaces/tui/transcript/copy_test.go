package transcript

import (
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// marked is all of the conversation, as the mouse marks it.
func marked(l *lab) string {
	l.rows()
	l.sel = selection{from: spot{}, to: spot{place{len(l.entries) - 1, len(l.Transcript.rows(len(l.entries)-1)) - 1}, l.look.Width}, on: true}
	return l.Selected()
}

// What is copied is the text: lines that were broken to fit are whole, tabs are tabs.
func TestCopyWholeLines(t *testing.T) {
	const code = "func main() {\n\tif a_long_condition_here && another_one {\n\t\treturn // done\n\t}\n}"
	for name, c := range map[string]struct {
		put  func(*lab)
		want string
	}{
		"person": {func(l *lab) { l.Person("some words that are\tlonger than  a row\n\tand a tab") }, "some words that are\tlonger than  a row\n\tand a tab"},
		"prose":  {func(l *lab) { l.Write("A paragraph of *words* that goes on.\n\nAnd the next one.\n", false) }, "A paragraph of words that goes on.\n\nAnd the next one."},
		"list":   {func(l *lab) { l.Write("- an item that is longer than a row\n- two\n", false) }, "an item that is longer than a row\n"},
		"code":   {func(l *lab) { l.Write("```go\n"+code+"\n```\n", false) }, code},
		"notice": {func(l *lab) { l.Notice(view.Notice{Text: "words of a notice that is long"}) }, "words of a notice that is long"},
		"output": {func(l *lab) {
			l.Begin("1", "bash", `{"command":"x"}`)
			l.Finish("1", Result{Content: code})
			l.click(spot{})
		}, code},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, 18, 40)
			c.put(l)
			if got := marked(l); !strings.Contains(got, c.want) {
				t.Errorf("copied %q, want %q", got, c.want)
			}
		})
	}
}

// A person's text is copied as it was written, at any width.
func TestCopyProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.TrimRight(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "word", " ", "  ", "\t", "\n", "漢字", "👩‍👩‍👧", "a-very-long-word-of-all"}), 1, 30).Draw(rt, "text"), ""), " \t\n")
		if text == "" {
			return
		}
		l := newLab(t, rapid.IntRange(8, 50).Draw(rt, "width"), 10)
		l.Person(text)
		l.StepOutput() // long ones too
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			want = append(want, strings.TrimRight(line, " \t"))
		}
		var got []string
		for line := range strings.SplitSeq(marked(l), "\n") {
			got = append(got, strings.TrimRight(line, " \t"))
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("copied %q, want %q", got, text)
		}
	})
}

// What a person wrote is folded when it is long, opens with all output or by a click,
// and is folded on the ordinary screen.
func TestLongSaidFolds(t *testing.T) {
	l := newLab(t, 60, 3000)
	l.Person(strings.Repeat("a line of what was pasted\n", 2000) + "the end") // several pieces
	l.Person("short\nand so")
	count := func() int { return strings.Count(strings.Join(l.rows(), "\n"), "a line of") }
	if got := strings.Join(l.rows(), "\n"); count() != 15 || !strings.Contains(got, "└ 1986 more lines") || !strings.Contains(got, "and so") {
		t.Errorf("folded it is\n%s", strings.TrimSpace(got))
	}
	if got := textOf(t, l, 60); strings.Count(got, "a line of") != 15 {
		t.Errorf("%d lines on the ordinary screen", strings.Count(got, "a line of"))
	}
	l.StepOutput()
	if n := count(); n != 2000 {
		t.Errorf("%d lines when all is open", n)
	}
	l.StepOutput()
	l.StepOutput()
	for _, want := range []int{2000, 15} {
		l.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.Button1, X: 3, Y: 4})
		l.Mouse(kit.Mouse{Action: kit.Release, Button: tcell.Button1, X: 3, Y: 4})
		if n := count(); n != want {
			t.Errorf("%d lines after a click, want %d", n, want)
		}
	}
	for _, lines := range []int{15, 16, 17} {
		l.Reset()
		l.Person(strings.TrimSuffix(strings.Repeat("a line of it\n", lines), "\n"))
		want := lines
		if lines > 16 {
			want = 15
		}
		if n := count(); n != want {
			t.Errorf("%d of %d lines are shown", n, lines)
		}
	}
}
