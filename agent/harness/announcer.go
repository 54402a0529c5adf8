package harness

import "sync"

// announcer makes announcements in order on a goroutine of its own: whoever has
// something to announce may hold what a listener needs.
type announcer struct {
	mu     sync.Mutex
	queue  []func()
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

func newAnnouncer() *announcer {
	a := &announcer{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go a.run()
	return a
}

// later queues an announcement; after close it is dropped.
func (a *announcer) later(announce func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.queue = append(a.queue, announce)
	a.nudge()
}

func (a *announcer) nudge() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *announcer) run() {
	defer close(a.done)
	for range a.wake {
		for {
			a.mu.Lock()
			queue, closed := a.queue, a.closed
			a.queue = nil
			a.mu.Unlock()
			if len(queue) == 0 {
				if closed {
					return
				}
				break
			}
			for _, announce := range queue {
				announce()
			}
		}
	}
}

// close makes the announcements that are queued and ends the goroutine.
func (a *announcer) close() {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.nudge()
	}
	a.mu.Unlock()
	<-a.done
}
