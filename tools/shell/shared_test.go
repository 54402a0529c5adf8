package shell

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Nobody gets a reading that began before it asked, and there are fewer readings
// than askers when many ask at once.
func TestShared(t *testing.T) {
	var clock, readings atomic.Int64
	hold := make(chan struct{})
	s := shared[int64]{read: func() int64 {
		began := clock.Add(1)
		if readings.Add(1) == 1 {
			<-hold
		}
		return began
	}}
	ask := func() {
		asked := clock.Add(1)
		if began := s.get(); began < asked {
			t.Errorf("asked at %d and got the reading of %d", asked, began)
		}
	}
	const askers = 50
	var all sync.WaitGroup
	all.Go(ask)
	until(t, "the first reads", func() bool { return readings.Load() == 1 })
	for range askers {
		all.Go(func() {
			for range 20 {
				ask()
			}
		})
	}
	until(t, "the others have asked", func() bool { return clock.Load() >= askers })
	close(hold)
	all.Wait()
	if n := readings.Load(); n >= 1+20*askers {
		t.Errorf("%d readings for %d askers", n, 1+20*askers)
	}
	if n := readings.Load(); s.get() == 0 || readings.Load() != n+1 {
		t.Error("a later asker got an old reading")
	}
}
