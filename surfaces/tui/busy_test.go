package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/spec"
)

// While the views and updates of many plugins are at work, and never
// end, a key is handled and drawn: in the input, on the way through the panels, and
// behind a key one of them has not answered.
func TestKeysBesideBusyPlugins(t *testing.T) {
	l, show := withPanels(t, 120, 40)
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	var inside atomic.Int32
	hang := func() {
		inside.Add(1)
		<-end
	}
	const views, updates = 4, 4
	for i := range views {
		name := fmt.Sprintf("view%d", i)
		show(name, name, right, spec.Surface{View: func(context.Context, any, map[string]any) (any, error) {
			hang()
			return nil, nil
		}})
	}
	for i := range updates {
		name := fmt.Sprintf("update%d", i)
		show(name, name, right, spec.Surface{
			View: func(context.Context, any, map[string]any) (any, error) { return texts("shown " + name), nil },
			Update: func(_ context.Context, _ *spec.Model, m map[string]any) ([]spec.Ask, error) {
				if m["kind"] == "key" {
					hang()
				}
				return nil, nil
			},
		})
	}
	l.sees("shown update0")
	for n := range updates { // a key into each panel; none of them is answered
		l.key(tcell.KeyF6, 0, 0)
		l.until("a panel has the keys", l.s.panelFocus)
		l.key(tcell.KeyRune, 'x', 0)
		l.until("it is inside", func() bool { return int(inside.Load()) >= n+1 })
	}
	l.key(tcell.KeyEscape, 0, 0)
	l.until("the input has the keys", func() bool { return !l.s.panelFocus() })
	for _, r := range "typed" {
		l.key(tcell.KeyRune, r, 0)
	}
	l.sees("typed")
	if n := inside.Load(); n < views {
		t.Errorf("only %d plugins were at work", n)
	}
}

// BenchmarkKeyBesideBusyPlugins is the time from a key to the frame that shows it
// while plugins take what processor time they can get, in ms; a session runs with -cpu 8.
func BenchmarkKeyBesideBusyPlugins(b *testing.B) {
	for _, busy := range []int{0, 1, 8} {
		b.Run(fmt.Sprint(busy), func(b *testing.B) {
			l := newLab(b, 120, 40, &engine{})
			end := make(chan struct{})
			defer close(end)
			for range busy {
				go func() {
					for n := 0; ; n++ {
						select {
						case <-end:
							return
						default:
						}
					}
				}()
			}
			var took []time.Duration
			for i := range b.N {
				begin := time.Now()
				l.key(tcell.KeyRune, rune('a'+i%26), 0)
				want := strings.Repeat("abcdefghijklmnopqrstuvwxyz", i/26+1)[:i+1]
				want = want[max(0, len(want)-20):]
				for !strings.Contains(l.shown(), want) {
					time.Sleep(100 * time.Microsecond)
				}
				took = append(took, time.Since(begin))
				time.Sleep(30 * time.Millisecond) // nobody types faster
			}
			slices.Sort(took)
			ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
			b.ReportMetric(ms(took[len(took)/2]), "median-ms")
			b.ReportMetric(ms(took[len(took)-1]), "worst-ms")
		})
	}
}

// shown is the screen as it was drawn last, without asking for a frame.
func (l *lab) shown() string { return screenText(l.screen) }
