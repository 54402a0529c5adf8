//go:build unix

package tui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A reply of 20 000 pieces at 5 000 a second, 200x60, over a conversation: how many
// frames it takes. The processor time of it is what -cpuprofile shows.
func BenchmarkStream(b *testing.B) {
	for _, lines := range []int{0, 100_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			l := newLab(b, 200, 60, &engine{})
			l.in(func() { l.s.tr.Write(strings.Repeat("a line of what was said before\n\n", lines/2), false) })
			frames := 0
			l.in(func() { frames = -l.s.pump.drawn })
			begin := time.Now()
			busy := processorTime()
			for b.Loop() {
				at := time.Now()
				for i := range 20_000 {
					l.s.in.write(reply, "", "word and ")
					if i%60 == 59 {
						l.s.in.write(reply, "", "\n\n")
					}
					if i%50 == 0 {
						time.Sleep(time.Until(at.Add(time.Duration(i) * 200 * time.Microsecond)))
					}
				}
			}
			l.in(func() { frames += l.s.pump.drawn })
			b.ReportMetric(float64(frames)/time.Since(begin).Seconds(), "frames/s")
			b.ReportMetric(float64(processorTime()-busy)/1e6/float64(b.N), "cpu-ms/op")
		})
	}
}

// What a session and a conversation of 100 000 lines take of the heap.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	for b.Loop() {
		before := heap()
		l := newLab(b, 200, 60, &engine{})
		l.text()
		empty := heap()
		l.in(func() {
			for i := range 50_000 {
				l.s.tr.Write(fmt.Sprintf("line %d of what was said, as long as lines usually are\n\n", i), false)
			}
		})
		l.in(func() {
			for range 1700 {
				l.s.tr.Page(-1)
				l.s.draw()
			}
		})
		b.ReportMetric(empty-before, "MiB-empty")
		b.ReportMetric(heap()-before, "MiB-full")
	}
}
