package limits

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Call is one plugin call as the watchdog sees it. All fields must be set; the
// functions are called from the watchdog's goroutine while the call runs.
type Call struct {
	// Ticks counts the ticks of the call's own thread, such as those of a step
	// hook. It moves while the call computes and rests while it waits.
	Ticks func() uint64
	// Cancel stops the call for the given reason. It must not block and must not
	// call the watchdog.
	Cancel func(reason string)
}

// WatchdogConfig sets a watchdog up. Zero fields have the defaults of the plugin
// API.
type WatchdogConfig struct {
	Limit int64            // bytes the heap may grow above the start of a call; 256 MiB
	After time.Duration    // age from which a call is looked at; 5 ms
	Every time.Duration    // between two looks; 2 ms
	Heap  func() int64     // bytes of objects on the heap; the runtime's own figure
	Now   func() time.Time // time.Now
}

// Watchdog cancels calls that let the heap grow too far. It samples the whole
// process, so it blames a call only if it ran alone, or if it is the one that
// started last of those whose own ticks moved since the last look: never one that
// merely waits. It looks only while a call is older than a few milliseconds and
// holds no goroutine otherwise. Its methods may be called from any goroutine.
type Watchdog struct {
	cfg WatchdogConfig

	mu     sync.Mutex
	calls  []*watched // in order of their start
	timer  *time.Timer
	armed  bool
	last   sample
	blamed *watched // until it has left
}

type watched struct {
	call  Call
	start time.Time
	base  int64 // heap at the start
	ticks uint64
	known bool // ticks holds a count of an earlier look
	swept bool // a collection was asked for on its account
}

type sample struct {
	at   time.Time
	heap int64
}

const mib = 1 << 20

// NewWatchdog returns a watchdog that runs whenever calls do.
func NewWatchdog(cfg WatchdogConfig) *Watchdog {
	if cfg.Limit <= 0 {
		cfg.Limit = 256 * mib
	}
	if cfg.After <= 0 {
		cfg.After = 5 * time.Millisecond
	}
	if cfg.Every <= 0 {
		cfg.Every = 2 * time.Millisecond
	}
	if cfg.Heap == nil {
		cfg.Heap = heapReader()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Watchdog{cfg: cfg}
}

// heapReader reads the runtime's figure, which costs about a microsecond and
// stops nothing. The result is used under the watchdog's lock only.
func heapReader() func() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	return func() int64 {
		metrics.Read(s)
		if s[0].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(s[0].Value.Uint64())
	}
}

// Enter registers a call that starts now. The function it returns must be called
// once when the call has returned, or is given up.
func (w *Watchdog) Enter(call Call) (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.cfg.Now()
	// While the watchdog runs its last sample is fresh enough, so that a burst of
	// short calls does not read the heap for each.
	if now.Sub(w.last.at) >= w.cfg.After {
		w.last = sample{now, w.cfg.Heap()}
	}
	c := &watched{call: call, start: now, base: w.last.heap}
	w.calls = append(w.calls, c)
	w.arm(w.cfg.After)
	return func() { w.leave(c) }
}

func (w *Watchdog) leave(c *watched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, x := range w.calls {
		if x == c {
			w.calls = append(w.calls[:i], w.calls[i+1:]...)
			break
		}
	}
	if w.blamed == c {
		w.forgive()
	}
}

// forgive lets the other calls start from the heap as the blamed one left it.
func (w *Watchdog) forgive() {
	w.blamed = nil
	heap := w.cfg.Heap()
	for _, c := range w.calls {
		c.base = max(c.base, heap)
	}
}

// arm sets the timer unless it is running.
func (w *Watchdog) arm(d time.Duration) {
	if w.armed {
		return
	}
	w.armed = true
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.fire)
		return
	}
	w.timer.Reset(d)
}

func (w *Watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	if len(w.calls) == 0 {
		return
	}
	w.arm(w.look())
}

// look samples the heap if a call is old enough, blames one if need be, and
// returns when to look again.
func (w *Watchdog) look() time.Duration {
	now := w.cfg.Now()
	if age := now.Sub(w.calls[0].start); age < w.cfg.After {
		return w.cfg.After - age
	}
	w.last = sample{now, w.cfg.Heap()}
	w.sweep()
	if c := w.culprit(); c != nil {
		w.blamed = c
		grown := (w.last.heap - c.base) / mib
		c.call.Cancel(fmt.Sprintf("memory: the heap grew by %d MiB during this call, the limit is %d MiB", grown, w.cfg.Limit/mib))
	}
	for _, c := range w.calls {
		c.ticks, c.known = c.call.Ticks(), true
	}
	return w.cfg.Every
}

// sweep asks for a garbage collection once when a call is half way: what the
// process merely has not freed yet is nobody's fault.
func (w *Watchdog) sweep() {
	for _, c := range w.calls {
		if !c.swept && w.last.heap-c.base > w.cfg.Limit/2 {
			c.swept = true
			go runtime.GC()
			return
		}
	}
}

// culprit is the call to blame for the heap as it is now, or nil. While one that
// was blamed is still there, what the heap does may be its doing.
func (w *Watchdog) culprit() *watched {
	if w.blamed != nil {
		return nil
	}
	suspect := w.calls[0]
	if len(w.calls) > 1 {
		suspect = w.lastTicking()
	}
	if suspect == nil || w.last.heap-suspect.base <= w.cfg.Limit {
		return nil
	}
	return suspect
}

func (w *Watchdog) lastTicking() *watched {
	for i := len(w.calls) - 1; i >= 0; i-- {
		if c := w.calls[i]; c.known && c.call.Ticks() != c.ticks {
			return c
		}
	}
	return nil
}
