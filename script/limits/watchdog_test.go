package limits

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// bench is a watchdog whose clock and heap the test sets, looked at by hand.
type bench struct {
	*Watchdog
	now  time.Time
	heap int64
}

func newBench() *bench {
	b := &bench{now: time.Unix(1000, 0), heap: 100 * mib}
	b.Watchdog = NewWatchdog(WatchdogConfig{
		// The timer never comes: the tests look themselves.
		After: time.Hour, Every: time.Hour,
		Now: func() time.Time { return b.now }, Heap: func() int64 { return b.heap },
	})
	return b
}

type fakeCall struct {
	ticks  uint64
	reason string
	leave  func()
}

func (b *bench) enter() *fakeCall {
	c := &fakeCall{}
	b.now = b.now.Add(2 * time.Hour) // the last sample is stale, the call is old when looked at
	c.leave = b.Enter(Call{Ticks: func() uint64 { return c.ticks }, Cancel: func(r string) { c.reason = r }})
	return c
}

func (b *bench) lookAfter(d time.Duration) {
	b.now = b.now.Add(d)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.look()
}

func TestWatchdogBlamesACallThatRunsAlone(t *testing.T) {
	b := newBench()
	c := b.enter()
	b.heap = 355 * mib
	b.lookAfter(time.Hour)
	if c.reason != "" {
		t.Fatalf("cancelled below the limit: %s", c.reason)
	}
	b.heap = 357 * mib
	b.lookAfter(time.Hour)
	if want := "memory: the heap grew by 257 MiB during this call, the limit is 256 MiB"; c.reason != want {
		t.Errorf("reason %q, want %q", c.reason, want)
	}
}

func TestWatchdogLeavesYoungCallsAlone(t *testing.T) {
	b := newBench()
	c := b.enter()
	b.heap = 1000 * mib
	b.lookAfter(time.Minute)
	if c.reason != "" {
		t.Errorf("a young call was cancelled: %s", c.reason)
	}
}

func TestWatchdogBlamesTheLastThatTicks(t *testing.T) {
	b := newBench()
	waiting1, bomb, waiting2 := b.enter(), b.enter(), b.enter()
	b.lookAfter(time.Hour)
	b.heap = 400 * mib
	bomb.ticks++
	b.lookAfter(time.Hour)
	if bomb.reason == "" || waiting1.reason != "" || waiting2.reason != "" {
		t.Errorf("blamed %q, %q, %q; want the second only", waiting1.reason, bomb.reason, waiting2.reason)
	}
}

func TestWatchdogBlamesNobodyWithoutATick(t *testing.T) {
	b := newBench()
	c, d := b.enter(), b.enter()
	b.heap = 900 * mib
	b.lookAfter(time.Hour)
	b.lookAfter(time.Hour)
	if c.reason != "" || d.reason != "" {
		t.Errorf("blamed %q, %q", c.reason, d.reason)
	}
}

func TestWatchdogWaitsForTheBlamedCall(t *testing.T) {
	b := newBench()
	other, bomb := b.enter(), b.enter()
	b.lookAfter(time.Hour)
	b.heap = 400 * mib
	other.ticks, bomb.ticks = 1, 1
	b.lookAfter(time.Hour)
	b.heap = 800 * mib // the bomb has not stopped yet
	other.ticks = 2
	b.lookAfter(time.Hour)
	if bomb.reason == "" || other.reason != "" {
		t.Fatalf("blamed %q and %q", bomb.reason, other.reason)
	}
	bomb.leave()
	b.lookAfter(time.Hour)
	if other.reason != "" {
		t.Fatalf("blamed for what another left behind: %s", other.reason)
	}
	b.heap = 1100 * mib
	b.lookAfter(time.Hour)
	if other.reason == "" {
		t.Error("a call that grew by itself afterwards was not blamed")
	}
}

func TestWatchdogMeasuresFromTheStart(t *testing.T) {
	b := newBench()
	b.heap = 500 * mib
	c := b.enter()
	b.heap = 700 * mib
	b.lookAfter(time.Hour)
	if c.reason != "" {
		t.Errorf("blamed for the heap before its start: %s", c.reason)
	}
	c.leave()
	c.leave() // harmless
	if len(b.calls) != 0 {
		t.Errorf("%d calls left", len(b.calls))
	}
}

func TestWatchdogRunsByItself(t *testing.T) {
	var heap atomic.Int64
	w := NewWatchdog(WatchdogConfig{Limit: mib, After: time.Millisecond, Every: time.Millisecond, Heap: heap.Load})
	for range 3 { // it must start again after it had nothing to do
		cancelled := make(chan string, 1)
		var once sync.Once
		leave := w.Enter(Call{Ticks: func() uint64 { return 0 }, Cancel: func(r string) { once.Do(func() { cancelled <- r }) }})
		heap.Add(5 * mib)
		select {
		case r := <-cancelled:
			if !strings.Contains(r, "grew by 5 MiB") {
				t.Error(r)
			}
		case <-time.After(time.Minute):
			t.Fatal("not cancelled")
		}
		leave()
		for { // until the timer found nobody and stopped
			w.mu.Lock()
			armed := w.armed
			w.mu.Unlock()
			if !armed {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func TestWatchdogFromManyGoroutines(t *testing.T) {
	w := NewWatchdog(WatchdogConfig{After: time.Microsecond, Every: time.Microsecond})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				var ticks atomic.Uint64
				leave := w.Enter(Call{Ticks: ticks.Load, Cancel: func(r string) { t.Errorf("call %d.%d: %s", g, i, r) }})
				ticks.Add(1)
				leave()
			}
		})
	}
	wg.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) != 0 {
		t.Error(fmt.Sprint(len(w.calls), " calls left"))
	}
}
