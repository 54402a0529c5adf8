package script

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// waitLimit ends any wait for a plugin.
const waitLimit = 30 * time.Second

// Locks knows who waits for which plugin. All instances that may call each other
// share one, so that calls which would wait for each other are found at once.
type Locks struct {
	mu      sync.Mutex
	waiting []*waiter // in the order of their coming
	// spare has calls that ended and that nobody was given: most of what a short
	// listener costs would else be the collection of its Call.
	spare sync.Pool
}

// newCall returns an empty call.
func (l *Locks) newCall() *Call {
	if c, ok := l.spare.Get().(*Call); ok {
		return c
	}
	return &Call{}
}

// recycle keeps an ended call for another one.
func (l *Locks) recycle(c *Call) {
	*c = Call{}
	l.spare.Put(c)
}

// NewLocks returns an empty table.
func NewLocks() *Locks { return &Locks{} }

// waiter is a call that waits for its turn.
type waiter struct {
	call  *Call
	ready chan error // one answer: nil is admitted
}

func (i *Instance) top() *Call {
	if n := len(i.stack); n > 0 {
		return i.stack[n-1]
	}
	return nil
}

// admissible tells whether c may run now: nobody runs, or c came out of the call
// that stands on top and is inside Host.
func (i *Instance) admissible(c *Call) bool {
	top := i.top()
	return top == nil || top.pauses > 0 && c.under(top)
}

// under tells whether c came out of the call p.
func (c *Call) under(p *Call) bool {
	for a := c.parent; a != nil; a = a.parent {
		if a == p {
			return true
		}
	}
	return false
}

// refusal is why no call can enter any more.
func (i *Instance) refusal() error {
	switch {
	case i.stuck != nil:
		return i.stuck
	case i.closed:
		return &UnloadedError{i.Name()}
	}
	return nil
}

// enter waits for the turn of c and puts it on the stack.
func (i *Instance) enter(ctx context.Context, c *Call) error {
	l := i.locks
	l.mu.Lock()
	if err := i.refusal(); err != nil {
		l.mu.Unlock()
		return err
	}
	if p := c.parent; p != nil && p.running() {
		l.mu.Unlock()
		return fmt.Errorf("plugin %s: %s: the call comes out of plugin %s, which is running its own code: the builtin must call from inside Host, a goroutine needs a context of its own",
			i.Name(), c.info, p.inst.Name())
	}
	if i.admissible(c) {
		i.admit(c)
		l.mu.Unlock()
		return nil
	}
	w := &waiter{call: c, ready: make(chan error, 1)}
	l.waiting = append(l.waiting, w)
	i.queue = append(i.queue, w)
	if err := l.deadlock(w); err != nil {
		i.drop(w)
		l.mu.Unlock()
		return err
	}
	l.mu.Unlock()
	return i.wait(ctx, w)
}

func (i *Instance) wait(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(waitLimit)
	defer timer.Stop()
	var why error
	select {
	case err := <-w.ready:
		return err
	case <-ctx.Done():
		why = fmt.Errorf("plugin %s: %s: %w", i.Name(), w.call.info, endOf(ctx))
	case <-timer.C:
	}
	l := i.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-w.ready: // its turn came at the same moment
		return err
	default:
	}
	if why == nil {
		why = &BusyError{i.Name(), i.stack[0].info.String()}
	}
	i.drop(w)
	return why
}

// drop takes a waiter out of the queue.
func (i *Instance) drop(w *waiter) {
	i.locks.waiting = without(i.locks.waiting, w)
	i.queue = without(i.queue, w)
}

// without returns the list less x, in the same array.
func without[T comparable](list []T, x T) []T {
	for n, other := range list {
		if other == x {
			return append(list[:n], list[n+1:]...)
		}
	}
	return list
}

// refuseAll answers every waiter with err.
func (i *Instance) refuseAll(err error) {
	for len(i.queue) > 0 {
		w := i.queue[0]
		i.drop(w)
		w.ready <- err
	}
}

// admit puts c on the stack and makes it ready to run.
func (i *Instance) admit(c *Call) {
	i.stack = append(i.stack, c)
	c.live = true
	i.prepare(c)
}

// dispatch gives the turn to whoever may have it now: the call on top that wants
// to go on, else the first in the queue that is admissible.
func (i *Instance) dispatch() {
	if top := i.top(); top != nil && top.resume != nil {
		top.goOn()
		return
	}
	for _, w := range i.queue {
		if i.admissible(w.call) {
			i.drop(w)
			i.admit(w.call)
			w.ready <- nil
			return
		}
	}
}

// blockers are the calls that must end before c can enter.
func (i *Instance) blockers(c *Call) []*Call {
	var out []*Call
	for _, f := range i.stack {
		if !c.under(f) {
			out = append(out, f)
		}
	}
	return out
}

// deadlock looks for a circle of calls that wait for each other and begins at w.
// A call waits for those that run where it wants to go; such a call waits for
// whatever was called out of it.
func (l *Locks) deadlock(w *waiter) error {
	seen := map[*waiter]bool{}
	var trail []*waiter
	var visit func(*waiter) bool
	visit = func(at *waiter) bool {
		seen[at] = true
		trail = append(trail, at)
		for _, f := range at.call.inst.blockers(at.call) {
			for _, other := range l.waiting {
				if !other.call.under(f) {
					continue
				}
				if other == w || !seen[other] && visit(other) {
					return true
				}
			}
		}
		trail = trail[:len(trail)-1]
		return false
	}
	if !visit(w) {
		return nil
	}
	e := &DeadlockError{}
	var parts []string
	for _, at := range trail {
		from := at.call.origin()
		e.Plugins = append(e.Plugins, from.inst.Name())
		parts = append(parts, fmt.Sprintf("%s in %s waits for %s", from.inst.Name(), from.info, at.call.inst.Name()))
	}
	e.detail = "plugins would wait for each other: " + strings.Join(parts, ", ")
	return e
}

// origin is the innermost live call that c came out of; c itself without one.
func (c *Call) origin() *Call {
	for p := c.parent; p != nil; p = p.parent {
		if p.live {
			return p
		}
	}
	return c
}
