package harness

import (
	"context"
	"sync"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
)

// notices shows lines to the person at once and announces them as code/notice
// from a goroutine of its own: whoever notifies may hold the lock of a plugin
// that listens.
type notices struct {
	show func(view.Notice)
	port bus.Port[event.NoticeEvent, bus.None]

	mu     sync.Mutex
	queue  []string
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

func newNotices(b *bus.Bus, show func(view.Notice)) *notices {
	n := &notices{show: show, port: bus.PortOf(b, event.Notice), wake: make(chan struct{}, 1), done: make(chan struct{})}
	go n.run()
	return n
}

// say shows a notice and queues its announcement, unless it was caused by a
// listener of code/notice.
func (n *notices) say(ctx context.Context, notice view.Notice) {
	n.show(notice)
	if bus.Inside(ctx, event.Notice.Name()) || !n.port.Listening() {
		return
	}
	text := notice.Text
	if notice.From != "" {
		text = notice.From + ": " + text
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	n.queue = append(n.queue, text)
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

func (n *notices) run() {
	defer close(n.done)
	for range n.wake {
		for {
			n.mu.Lock()
			queue, closed := n.queue, n.closed
			n.queue = nil
			n.mu.Unlock()
			if len(queue) == 0 {
				if closed {
					return
				}
				break
			}
			for _, text := range queue {
				n.port.Send(context.Background(), &event.NoticeEvent{Text: text})
			}
		}
	}
}

// close announces what is queued and ends the goroutine.
func (n *notices) close() {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		select {
		case n.wake <- struct{}{}:
		default:
		}
	}
	n.mu.Unlock()
	<-n.done
}
