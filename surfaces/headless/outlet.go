package headless

import (
	"context"
	"io"
	"sync"
	"syscall"
	"time"
)

const (
	// chunk is the most that one write takes, in bytes: what is left counts.
	chunk = 32 << 10
	// lookEvery is how often watch asks whether somebody reads.
	lookEvery = 100 * time.Millisecond
	// lastWait is how long a reader has after an interrupt or the time limit to
	// take what is left.
	lastWait = 3 * time.Second
)

// outlet writes to w from a goroutine of its own, so that a slow reader holds up
// nobody who adds.
type outlet struct {
	w      io.Writer
	failed func(error) // hears of the first failed write
	wake   chan struct{}
	done   chan struct{} // closed when everything is written or a write failed

	mu     sync.Mutex
	queue  []byte
	closed bool
	err    error
}

func newOutlet(w io.Writer, failed func(error)) *outlet {
	o := &outlet{w: w, failed: failed, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// add puts data behind what waits. After a failed write it is dropped.
func (o *outlet) add(data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.queue = append(o.queue, data...)
	}
	o.notify()
}

func (o *outlet) notify() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// waiting is the number of bytes not yet written.
func (o *outlet) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue)
}

// failure is why nothing can be written any more; nil while it can.
func (o *outlet) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *outlet) run() {
	defer close(o.done)
	for range o.wake {
		for {
			o.mu.Lock()
			next, closed := o.queue[:min(chunk, len(o.queue))], o.closed
			o.mu.Unlock()
			if len(next) == 0 {
				if closed {
					return
				}
				break
			}
			// The bytes of next stay as they are: add only appends.
			_, err := o.w.Write(next)
			o.mu.Lock()
			if err != nil {
				o.err = err
			}
			if o.queue = o.queue[min(len(next), len(o.queue)):]; len(o.queue) == 0 || o.err != nil {
				o.queue = nil
			}
			o.mu.Unlock()
			if err != nil {
				o.failed(err)
				return
			}
		}
	}
}

// watch notices a reader that left also while there is nothing to write, until
// ctx ends.
func (o *outlet) watch(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if readerLeft(o.w) {
				o.mu.Lock()
				o.err, o.queue = syscall.EPIPE, nil
				o.mu.Unlock()
				o.failed(syscall.EPIPE)
				return
			}
		}
	}
}

// close waits until everything is written, a write failed, or lastWait after ctx
// ended. It returns the bytes that no one took.
func (o *outlet) close(ctx context.Context) (left int) {
	o.mu.Lock()
	o.closed = true
	o.notify()
	o.mu.Unlock()
	select {
	case <-o.done:
		return 0
	case <-ctx.Done():
	}
	last := time.NewTimer(lastWait)
	defer last.Stop()
	select {
	case <-o.done:
		return 0
	case <-last.C:
		return o.waiting()
	}
}
