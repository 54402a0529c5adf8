package transcript

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/bus/view"
)

// What lands during a reply stands below it, in its order; the reply stays whole,
// whatever portions it comes in.
func TestBelowTheReply(t *testing.T) {
	long := strings.Repeat("- one\n- two\n\nparagraph of some words\n\n", 400)
	texts := []string{
		"# Head\n\nSome *text* here.\n\n```go\nfunc main() {\n\n}\n```\n\n1. one\n2. two\n",
		"```\n" + strings.Repeat("code line\n", 1500) + "```\nend\n",
		long,
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(rt, "text")
		thought := rapid.SampledFrom([]string{"", "a thought\nand more"}).Draw(rt, "thought")
		whole, parts := newLab(t, 50, 12), newLab(t, 50, 12)
		var later []func(*lab)
		land := func(n int) func(*lab) {
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				return func(l *lab) { l.Notice(view.Notice{Text: fmt.Sprintf("notice %d", n)}) }
			case 1:
				return func(l *lab) { l.Person(fmt.Sprintf("steer %d", n)) }
			case 2:
				return func(l *lab) {
					l.Command(fmt.Sprintf("make %d", n))
					l.Begin(fmt.Sprint("!", n), "shell", "")
					l.Output(fmt.Sprint("!", n), "out\n")
					l.Settle(fmt.Sprint("!", n), "exited(0)", false)
				}
			}
			return func(l *lab) {
				l.Render("", func(Look) []Row { return []Row{row(span(fmt.Sprintf("drawn %d", n), 0))} })
			}
		}
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 6).Draw(rt, "cuts")
		if thought != "" {
			parts.Write(thought, true)
			whole.Write(thought, true)
		}
		at, n := 0, 0
		for at < len(text) {
			next := len(text)
			for _, c := range cuts {
				if c > at && c < next {
					next = c
				}
			}
			parts.Write(text[at:next], false)
			at = next
			if rapid.Bool().Draw(rt, "lands") {
				n++
				f := land(n)
				f(parts)
				later = append(later, f)
			}
			if rapid.Bool().Draw(rt, "draws") {
				parts.rows()
			}
		}
		whole.Write(text, false)
		whole.EndReply()
		for _, f := range later {
			f(whole)
		}
		parts.EndReply()
		parts.Begin("1", "read", `{"path":"a.go"}`)
		whole.Begin("1", "read", `{"path":"a.go"}`)
		if got, want := textOf(t, parts, 50), textOf(t, whole, 50); got != want {
			rt.Fatalf("in parts:\n%s\nwhole:\n%s", got, want)
		}
	})
}

// What is read and what is marked stay the same while the reply above goes on.
func TestReadingBelowTheReply(t *testing.T) {
	l := newLab(t, 60, 10)
	l.Write(strings.Repeat("words of a first piece\n\n", 500), false) // several pieces
	for i := range 30 {
		l.Notice(view.Notice{Text: fmt.Sprintf("notice %d", i)})
	}
	l.rows()
	l.Scroll(-3)
	before := l.rows()[0]
	if !strings.Contains(before, "notice") {
		t.Fatalf("the first row is %q", before)
	}
	for range 300 {
		l.Write(strings.Repeat("more words of it\n\n", 20), false)
	}
	if got := l.rows()[0]; got != before {
		t.Errorf("the first row is %q, was %q", got, before)
	}
}
