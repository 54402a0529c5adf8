package surfaces_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"starling/bus/spec"
	"starling/surfaces"
)

// A panel that is too slow is warned about once, however its queue swings around the
// bound, until less than half of that waited for ten seconds; the next warning counts
// what was lost since.
func TestBehindIsSaidOnce(t *testing.T) {
	const bound = 256
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		turn := make(chan struct{})
		waits := 0 // messages in the queue, the one at work not counted
		id, _ := l.mount(spec.Surface{
			Model: start(),
			Update: step(func(_, msg map[string]any) []spec.Ask {
				if msg["kind"] == surfaces.UserMessage {
					<-turn
				}
				return nil
			}),
			View: show(func(map[string]any) string { return "slow" }),
		})
		post := func(n int) {
			for range n {
				l.host.Post(id, surfaces.Message{Kind: surfaces.UserMessage, Name: "m"}, nil)
			}
			synctest.Wait()
			waits = min(waits+n, bound)
		}
		drain := func(to int) {
			for ; waits > to; waits-- {
				turn <- struct{}{}
			}
			synctest.Wait()
		}
		says := func(when string, want ...string) {
			t.Helper()
			for i, w := range want {
				want[i] = `p: surface "s": is more than 256 messages behind` + w
			}
			if got := l.notes(); got != strings.Join(want, "\n") {
				t.Fatalf("%s it said\n%s\nwant\n%s", when, got, strings.Join(want, "\n"))
			}
		}
		again := func(lost int) string {
			return fmt.Sprintf(" again; %d were dropped since this was said last, and later ones are", lost)
		}
		const first = "; later ones are dropped"
		post(1) // at work
		waits = 0
		post(bound)
		says("with a full queue")
		post(44)
		says("of 44 too many", first)
		for range 100 { // swings
			drain(bound - 3)
			post(5)
			time.Sleep(150 * time.Millisecond)
		}
		says("while it swings", first)
		drain(bound / 2)
		time.Sleep(time.Hour)
		post(bound/2 + 1)
		says("with half of it for long", first)
		drain(bound/2 - 1)
		time.Sleep(9 * time.Second)
		post(bound)
		says("behind nine seconds of less", first)
		drain(0)
		time.Sleep(6 * time.Second)
		post(bound / 2)
		drain(0)
		time.Sleep(6 * time.Second)
		post(bound + 1)
		says("behind twice six seconds", first)
		drain(bound/2 - 1)
		time.Sleep(10 * time.Second)
		post(bound/2 + 1)
		says("with a full queue later", first)
		post(3)
		second := again(44 + 100*2 + 1 + bound/2 - 1 + 1)
		says("behind ten seconds", first, second)
		drain(0)
		time.Sleep(10 * time.Second)
		post(bound + 1)
		says("once more", first, second, again(3))
		close(turn)
		l.settle()
	})
}
