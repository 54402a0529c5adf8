package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// One line of ten megabytes is taken in portions, and a frame of it stays small.
func TestHugeLine(t *testing.T) {
	l := newLab(t, 80, 24)
	chunk := strings.Repeat("0123456789abcdef", 1<<10)
	for range 640 {
		l.Write(chunk, false)
	}
	l.rows()
	for _, e := range l.entries {
		if p, ok := e.block.(*prose); ok && len(p.source()) > 2*hardPiece {
			t.Fatalf("a piece of %d bytes", len(p.source()))
		}
	}
	laid := 0
	for _, e := range l.entries {
		laid += len(e.laid)
	}
	if laid > 1000 {
		t.Errorf("%d rows were laid out for 24 that are seen", laid)
	}
	l.Begin("1", "cat", `{}`)
	l.Output("1", strings.Repeat(chunk, 64))
	l.Finish("1", Result{Content: strings.Repeat(chunk, 64)})
	l.Show("1")
	if got := strings.Count(strings.Join(l.rows(), "\n"), "│"); got > 16 {
		t.Errorf("%d rows of folded output", got)
	}
}

// What a frame lays out does not grow with the conversation.
func TestFrameTouchesWhatIsSeen(t *testing.T) {
	count := func(lines int) int {
		l := newLab(t, 80, 24)
		for i := range lines / 10 {
			l.Person(fmt.Sprintf("question %d", i))
			l.Write(strings.Repeat("Some words of an answer.\n\n", 5), false)
		}
		l.rows()
		l.resize(60, 24)
		l.rows()
		n := 0
		for _, e := range l.entries {
			if e.frame == l.frame {
				n++
			}
		}
		return n
	}
	if few, many := count(1000), count(100_000); many > few+2 {
		t.Errorf("a frame looks at %d entries of many, %d of few", many, few)
	}
}

// counted is a block that counts how often it is laid out.
type counted struct{ laid int }

func (c *counted) rows(Look) []Row {
	c.laid++
	return []Row{row(span("it stands", 0))}
}

// Bug report F-05: a frame of a reply lays out the piece that is written and nothing
// that stands.
func TestFrameLaysOutWhatChanged(t *testing.T) {
	l := newLab(t, 60, 20)
	stands := []*counted{{}, {}, {}}
	for _, c := range stands {
		l.append(c)
	}
	for range 20 {
		l.Write("word ", false)
		if rows := strings.Join(l.rows(), "\n"); strings.Count(rows, "it stands") != len(stands) {
			t.Fatalf("out of sight:\n%s", rows)
		}
	}
	for i, c := range stands {
		if c.laid != 1 {
			t.Errorf("block %d was laid out %d times", i, c.laid)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, lines := range []int{100, 100_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			l := newLab(b, 200, 60)
			l.fill(lines / 2)
			b.ReportAllocs()
			for b.Loop() {
				l.Write("x ", false)
				l.screen.Clear()
				l.Draw(l.screen)
			}
		})
	}
}

func BenchmarkWidthChange(b *testing.B) {
	l := newLab(b, 200, 60)
	l.fill(50_000)
	width := 200
	b.ReportAllocs()
	for b.Loop() {
		width = 399 - width
		l.resize(width, 60)
		l.Draw(l.screen)
	}
}
