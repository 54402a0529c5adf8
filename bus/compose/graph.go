package compose

import (
	"errors"
	"fmt"
	"time"

	"starling/bus"
)

// graph is everything the owner goroutine knows. Nobody else touches it.
type graph struct {
	r     *Runtime
	store *bus.Store

	mounts map[ID]*mount
	keys   map[string]*key

	// What is to be done, most urgent first.
	stale    []*mount      // live mounts that must leave
	recheck  []*mount      // failed mounts that may be tried again
	down     queue[*load]  // leaving, nobody holds them, in reverse static order
	late     queue[*load]  // the same, but their parent would take them along
	ready    queue[*mount] // may load, in static order
	leaving  int           // loads that have not ended yet
	draining int           // swaps that wait for a running call
	call     *call

	// One shift of the ownership.
	shift         uint64
	claiming      queue[*mount]
	notedMounts   []*mount
	notedBindings []ownedBy
	weighed       []*mount
	vacant        []vacancy

	epoch        uint64 // counts outside changes
	contradicted []*mount
	closing      bool
	errs         []error // of undos, while closing

	// What the next publication has to look at.
	dirty         []*mount
	dirtyBindings []*binding
	dirtyKeys     []*key
	emptied       []*binding
	retired       map[*Row]bool
	waiting       map[*mount]struct{} // pending mounts that could be part of a cycle
	publications  uint64

	work uint64 // mounts looked at so far: what the cost is measured by
}

func newGraph(r *Runtime, store *bus.Store) *graph {
	return &graph{
		r: r, store: store,
		mounts: map[ID]*mount{}, keys: map[string]*key{},
		down: queue[*load]{reverse: true}, late: queue[*load]{reverse: true},
		retired: map[*Row]bool{}, waiting: map[*mount]struct{}{},
	}
}

// run is the owner goroutine.
func (g *graph) run() {
	defer close(g.r.ended)
	limit := time.NewTimer(time.Hour)
	limit.Stop()
	for {
		asked := g.r.take()
		for _, op := range asked {
			op(g)
			g.flush()
		}
		if g.call == nil && g.step() {
			continue
		}
		if g.call == nil && g.r.settled(g) {
			if g.closing && len(g.mounts) == 0 {
				return
			}
			<-g.r.wake
			continue
		}
		if g.call != nil {
			g.await(limit)
		}
	}
}

// await waits for the running call, its limit or a request.
func (g *graph) await(limit *time.Timer) {
	c := g.call
	if !c.timed {
		c.timed = true
		limit.Reset(c.limit)
	}
	select {
	case err := <-c.done:
		limit.Stop()
		g.call = nil
		c.then(err)
		g.flush()
	case <-limit.C:
		g.call = nil
		c.cancel(errLimit)
		select {
		case err := <-c.done: // in time after all
			c.then(err)
		default:
			c.then(fmt.Errorf("%w of %s", errLimit, c.limit))
		}
		g.flush()
	case <-g.r.wake:
	}
}

// step does the most urgent thing and tells whether there was any.
func (g *graph) step() bool {
	switch {
	case len(g.recheck) > 0:
		g.reconsider()
	case g.takeDown():
	case g.leaving == 0 && !g.closing && g.bringUp():
	default:
		return false
	}
	g.flush()
	return true
}

// flush lets everybody leave whose view or right to a key is gone. It loops
// instead of recursing, however long the chain.
func (g *graph) flush() {
	for len(g.stale) > 0 {
		m := g.stale[len(g.stale)-1]
		g.stale = g.stale[:len(g.stale)-1]
		g.leave(m)
	}
	g.stale = nil
	g.sweep()
}

// accept enters a mount into the graph.
func (g *graph) accept(m *mount) {
	var above table
	if m.parent != nil {
		above, m.depth = m.parent.table, m.parent.depth+1
	}
	m.table = above.with(m.id, m.c.Isolate)
	m.needs = needsOf(m.c.Inject)
	g.mounts[m.id] = m
	g.begin()
	g.wire(m)
	g.pass(m)
	g.end()
	g.idle(m)
}

// idle puts a mount that is not live into the state where it waits, or stays.
func (g *graph) idle(m *mount) {
	m.state = m.rest()
	g.mark(m)
	if m.state == Pending && len(m.needs) > 0 && len(m.offers) > 0 {
		g.waiting[m] = struct{}{}
	} else {
		delete(g.waiting, m)
		m.cycle = ""
	}
	g.check(m)
	g.wake(m)
}

// wake queues a mount that may load now.
func (g *graph) wake(m *mount) {
	if !m.queued && m.loadable() {
		m.queued = true
		g.ready.push(m.place(), m)
	}
}

// outdate notes that a live mount's view is not current any more.
func (g *graph) outdate(m, because *mount) {
	m.cause = because
	g.stale = append(g.stale, m)
}

// dismiss takes a mount away for good.
func (g *graph) dismiss(m *mount) {
	if m.gone || m.removed {
		return
	}
	m.removed = true
	g.reclaim(m)
	g.stopDrain(m)
	if m.load != nil {
		g.leave(m)
	} else {
		g.release(m)
	}
}

// release frees the record of a mount that is not live.
func (g *graph) release(m *mount) {
	g.forgive(m)
	g.begin()
	g.unwire(m)
	g.pass()
	g.end()
	m.gone = true
	m.rival, m.cause = nil, nil
	delete(g.mounts, m.id)
	delete(g.waiting, m)
	g.r.forget(m.id)
	g.mark(m)
	if p := m.parent; p != nil && p.load != nil && p.load.waiting == m {
		p.load.waiting = nil
		g.descend(p.load)
	}
}

// switchTo turns a mount off with a reason, or on.
func (g *graph) switchTo(m *mount, off string) {
	m.c.Off = off
	if m.next != nil {
		m.next.Off = off
	}
	if off == "" && m.live() {
		g.mark(m)
		return
	}
	g.forgive(m)
	m.stuck = ""
	g.reclaim(m)
	if m.load != nil {
		g.leave(m)
	} else {
		g.idle(m)
	}
}

// abandon fails a mount from outside.
func (g *graph) abandon(m *mount, reason string) {
	g.forgive(m)
	m.stuck = reason
	g.reclaim(m)
	if m.load != nil {
		g.leave(m)
	} else {
		g.idle(m)
	}
}

// move changes the realms of a mount and of the children that share them,
// rebuilding nothing: what is provided from inside travels, what was merely
// shared stays.
func (g *graph) move(m *mount, isolate map[string]string) {
	m.c.Isolate = isolate
	if m.next != nil {
		m.next.Isolate = isolate
	}
	var above table
	if m.parent != nil {
		above = m.parent.table
	}
	type move struct {
		m   *mount
		old []*binding
	}
	var moves []move
	tables := map[*mount]table{m: above.with(m.id, isolate)}
	for list := []*mount{m}; len(list) > 0; list = list[1:] {
		c, next := list[0], tables[list[0]]
		if sameRealms(c, next) {
			c.table = next
		} else {
			moves = append(moves, move{c, append([]*binding(nil), c.offers...)})
		}
		if c.load == nil {
			continue
		}
		for i := range c.load.entries {
			if child := c.load.entries[i].child; child != nil && !child.gone && c.load.standing {
				tables[child] = next.with(child.id, child.c.Isolate)
				list = append(list, child)
			}
		}
	}
	g.begin()
	for _, mv := range moves {
		g.unwire(mv.m)
		mv.m.table = tables[mv.m]
	}
	moved := make([]*mount, len(moves))
	for i, mv := range moves {
		g.wire(mv.m)
		moved[i] = mv.m
	}
	g.pass(moved...)
	g.end()
	for _, mv := range moves {
		if mv.m.state == Active && mv.m.live() && mv.m.owns {
			for _, b := range mv.m.offers {
				g.serve(b, mv.m)
			}
		}
		for _, b := range mv.old {
			if b.serving == mv.m && b.owner != mv.m {
				g.serve(b, nil)
			}
		}
	}
	for _, m := range moved {
		g.mark(m)
		g.check(m)
		if m.load == nil {
			g.idle(m)
		} else if gone := m.lost(); m.live() && gone != nil {
			g.outdate(m, gone.m)
		}
	}
}

// lost returns a load of the committed view that does not serve the mount's
// realm any more, or nil.
func (m *mount) lost() *load {
	for i := range m.needs {
		n := &m.needs[i]
		if n.live != nil {
			continue
		}
		if n.b.serving == nil || n.b.serving.load != m.load.providers[i] {
			return m.load.providers[i]
		}
	}
	return nil
}

func sameRealms(m *mount, next table) bool {
	for i := range m.needs {
		if name := m.needs[i].key; m.table[name] != next[name] {
			return false
		}
	}
	for _, b := range m.offers {
		if next[b.key.name] != b.realm {
			return false
		}
	}
	return true
}

// shut takes everything down.
func (g *graph) shut() {
	g.closing = true
	var top []*mount
	for _, m := range g.mounts {
		g.stopDrain(m)
		if m.parent == nil && !m.removed {
			m.removed = true
			top = append(top, m)
		}
	}
	sortMounts(top)
	for _, m := range top {
		if m.load != nil {
			g.leave(m)
		} else {
			g.release(m)
		}
	}
}

var (
	errLimit   = errors.New("ran over its limit")
	errLeaving = errors.New("the mount must go")
)
