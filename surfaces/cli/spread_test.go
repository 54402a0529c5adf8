package cli

import (
	"runtime"
	"testing"
)

// As soon as as many calls into plugins are at work as there are processors, more
// goroutines run at once; not before, and never fewer.
func TestSpread(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	busy := spread()
	busy(1)
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("one call of two: %d", n)
	}
	busy(2)
	if n := runtime.GOMAXPROCS(0); n != atOnce {
		t.Errorf("two calls of two: %d", n)
	}
	runtime.GOMAXPROCS(atOnce * 2)
	spread()(atOnce * 3)
	if n := runtime.GOMAXPROCS(0); n != atOnce*2 {
		t.Errorf("on a larger machine: %d", n)
	}
}
