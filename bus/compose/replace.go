package compose

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// drain is a swap that waits for the running calls of the old version.
type drain struct {
	cancel context.CancelFunc
	forced *time.Timer // runs since it was told to end
}

// swapReason is what people read while a swap waits.
const swapReason = "the new version waits for a running call"

// replace puts c in the place of m's component.
func (g *graph) replace(m *mount, c Component) {
	if c.Position == "" || m.parent != nil {
		c.Position = m.c.Position
	}
	if c.Origin == "" {
		c.Origin = m.c.Origin
	}
	m.next = &c
	switch {
	case m.load == nil:
		g.install(m)
		g.idle(m)
	case m.drain != nil:
		g.force(m) // the second request does not wait for the calls any more
	case m.state == Active && m.live() && m.c.Drain != nil:
		g.startDrain(m)
	default:
		g.leave(m)
	}
}

// install makes the version that waits the one that counts. The mount is not
// live.
func (g *graph) install(m *mount) {
	c := m.next
	m.next = nil
	g.forgive(m)
	m.stuck = ""
	g.begin()
	g.unwire(m)
	if m.row != nil && m.c.Position != c.Position {
		g.retired[m.row] = true
		m.row = nil
	}
	m.c = *c
	m.rev++
	m.needs = needsOf(m.c.Inject)
	var above table
	if m.parent != nil {
		above = m.parent.table
	}
	m.table = above.with(m.id, m.c.Isolate)
	g.wire(m)
	g.pass(m)
	g.end()
	g.touchOffers(m)
}

func (g *graph) startDrain(m *mount) {
	ctx, cancel := context.WithCancel(g.r.marked)
	d := &drain{cancel: cancel}
	m.drain = d
	g.draining++
	g.mark(m)
	wait := m.c.Drain
	go func() {
		err := guarded(func() error { return wait(ctx) })
		g.r.post(func(g *graph) { g.drained(m, d, err) })
	}()
}

// force ends a drain: its context ends, and what does not return within the
// limit of an undo is not waited for.
func (g *graph) force(m *mount) {
	d := m.drain
	if d.forced != nil {
		return
	}
	d.cancel()
	limit := g.r.undoLimit
	d.forced = time.AfterFunc(limit, func() {
		g.r.post(func(g *graph) {
			g.drained(m, d, fmt.Errorf("did not end within %s of being told to", limit))
		})
	})
}

func (g *graph) drained(m *mount, d *drain, err error) {
	if m.drain != d {
		return
	}
	if err != nil && (d.forced == nil || !errors.Is(err, context.Canceled)) {
		g.r.report(m.owner(), fmt.Errorf("%s: waiting for running calls: %w", m.c.Name, err))
	}
	g.stopDrain(m)
	g.leave(m)
}

// stopDrain forgets a drain; the version that waits takes over at the end of
// this load.
func (g *graph) stopDrain(m *mount) {
	if m.drain != nil {
		m.drain.cancel()
		if m.drain.forced != nil {
			m.drain.forced.Stop()
		}
		m.drain = nil
		g.draining--
		g.mark(m)
	}
}
