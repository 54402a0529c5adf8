package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

func BenchmarkPasteMegabyte(b *testing.B) {
	text := strings.Repeat("a line of code with\ta tab\r\n", 1<<20/27)
	s := simulation(b, 120, 40)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d := newDesk(b)
		d.e.SetRect(0, 30, 120, 10)
		d.e.Paste(text)
		d.e.Draw(s)
		if len(d.e.Text()) < 1<<19 {
			b.Fatal("the paste is not whole")
		}
	}
}

func BenchmarkBurstMegabyte(b *testing.B) {
	text := strings.Repeat("a line of code with\ta tab\r\n", 1<<20/27)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		d := newDesk(b)
		burstOf(d, text, 0)
		if len(d.e.Text()) < 1<<19 {
			b.Fatal("the burst is not whole")
		}
	}
}

// A key and the frame after it, in the longest text that is not folded.
func BenchmarkKey(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		for name, word := range map[string]string{"ascii": "word after word ", "wide": "漢字 と かな "} {
			b.Run(fmt.Sprintf("%s-%dKiB", name, size>>10), func(b *testing.B) {
				s := simulation(b, 120, 40)
				d := newDesk(b)
				d.e.SetRect(0, 30, 120, 10)
				d.e.SetText(strings.Repeat(word, size/len(word)))
				x, back := tcell.NewEventKey(tcell.KeyRune, 'x', 0), eventOf("backspace")
				for i := 0; b.Loop(); i++ {
					ev := x
					if i%2 == 1 {
						ev = back
					}
					d.wait(burstGap)
					d.e.Key(ev)
					d.e.Draw(s)
				}
			})
		}
	}
}

func BenchmarkRank(b *testing.B) {
	var files []string
	for i := range 50_000 {
		files = append(files, fmt.Sprintf("some/folder%d/of/a/tree/file_%d.go", i%300, i))
	}
	for b.Loop() {
		if len(rank("folder7file77", len(files), func(i int) string { return files[i] })) == 0 {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkQuestion(b *testing.B) {
	h := newHost(b, "none", false)
	s := simulation(b, 120, 40)
	for b.Loop() {
		q := permission()
		q.Detail = strings.Repeat("x", 10<<20)
		d := questionOn(b, h, q)
		r := d.Room(kit.Rect{W: 120, H: 40})
		d.SetRect(r.X, r.Y, r.W, r.H)
		d.Draw(s)
	}
}
