package compose

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"starling/bus"
)

// call is the one apply or undo that is running. It runs on a goroutine of its
// own, so that it can be abandoned.
type call struct {
	limit  time.Duration
	timed  bool
	cancel func(error)
	done   chan error
	then   func(error)
}

func (g *graph) start(limit time.Duration, cancel func(error), run func() error, then func(error)) {
	c := &call{limit: limit, cancel: cancel, done: make(chan error, 1), then: then}
	g.call = c
	go func() {
		err := errGoexit
		defer func() { c.done <- err }()
		err = guarded(run)
	}()
}

var errGoexit = errors.New("ended its goroutine")

// guarded turns a panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &bus.PanicError{Value: v}
		}
	}()
	return f()
}

// bringUp starts the first mount in static order that may load.
func (g *graph) bringUp() bool {
	for !g.ready.empty() {
		m := g.ready.pop()
		m.queued = false
		if m.gone || !m.loadable() {
			continue
		}
		if g.triesOf(m) >= maxTries && m.bears {
			g.fail(m, &failure{clean: true, with: m.providers(serving)})
			g.reclaim(m)
			g.idle(m)
			return true
		}
		g.load(m)
		return true
	}
	return false
}

// load starts the apply of a mount that misses nothing.
func (g *graph) load(m *mount) {
	m.tries++
	m.state = Loading
	delete(g.waiting, m)
	m.cycle = ""
	view := &View{}
	l := &load{m: m, providers: make([]*load, len(m.needs))}
	for i := range m.needs {
		n := &m.needs[i]
		if n.live != nil {
			if view.optional == nil {
				view.optional = map[string]*atomic.Pointer[binding]{}
			}
			view.optional[n.key] = n.live
			continue
		}
		p := n.b.serving.load
		p.holders++
		l.providers[i] = p
		if view.required == nil {
			view.required = make(map[string]any, len(m.needs))
		}
		view.required[n.key] = p.values[n.key]
	}
	s := &Scope{
		r: g.r, owner: m.owner(), pos: m.c.Position, origin: m.c.Origin,
		offers: m.c.Provides, depth: m.depth, view: view,
	}
	s.ctx, s.cancel = context.WithCancelCause(g.r.marked)
	l.scope = s
	m.load = l
	check, apply := m.c.Check, m.c.Apply
	then := func(err error) { g.applied(m, l, err) }
	if check == nil && apply == nil {
		then(nil)
		return
	}
	g.start(g.r.applyLimit, s.cancel, func() error {
		if check != nil {
			if err := check(); err != nil {
				return settingsError{err}
			}
		}
		if apply == nil {
			return nil
		}
		return apply(s)
	}, then)
}

// settingsError is the answer of a Check.
type settingsError struct{ error }

// applied ends the loading of m: it becomes active, or everything it registered
// is undone.
func (g *graph) applied(m *mount, l *load, err error) {
	l.entries, l.values = l.scope.close()
	if l.leaving { // its view went away meanwhile; what it says does not count
		g.descend(l)
		return
	}
	if err == nil {
		for _, name := range m.c.Provides {
			if _, ok := l.values[name]; !ok {
				err = fmt.Errorf("left %q unprovided", name)
				break
			}
		}
	}
	if err != nil {
		reason := "apply: " + err.Error()
		var s settingsError
		if errors.As(err, &s) {
			reason = "settings: " + s.Error()
		}
		g.fail(m, &failure{reason: reason, with: m.providers(serving)})
		g.leave(m)
		g.reclaim(m)
		return
	}
	g.publishLoad(m, l)
}

// publishLoad makes everything one apply registered visible in one step.
func (g *graph) publishLoad(m *mount, l *load) {
	l.standing = true
	var adds []bus.Op
	for i := range l.entries {
		if add := l.entries[i].add; add != nil {
			adds = append(adds, add)
		}
	}
	m.state = Active
	m.loads++
	g.mark(m)
	l.scope.view.phase.Store(standing)
	for _, b := range m.offers {
		g.serve(b, m)
	}
	l.active.Store(true)
	g.store.Commit(adds...)
	for i := range l.entries {
		if child := l.entries[i].child; child != nil {
			child.parent, m.bears = m, true
			g.r.know(child.id)
			g.accept(child)
		}
	}
}

// leave starts the unloading of a live mount: it is out of service at once, its
// dependents go first.
func (g *graph) leave(m *mount) {
	l := m.load
	if l == nil || l.leaving {
		return
	}
	l.leaving = true
	g.leaving++
	g.stopDrain(m)
	l.scope.cancel(errLeaving)
	if m.state == Loading && !l.scope.isClosed() {
		return // its apply is running: the undos begin when it has returned
	}
	m.state = Unloading
	l.active.Store(false)
	for _, b := range m.offers {
		if b.serving == m {
			g.serve(b, nil)
		}
	}
	g.descend(l)
}

// descend queues a leaving load for its next undo, unless somebody is before it.
func (g *graph) descend(l *load) {
	if l.leaving && l.holders == 0 && l.waiting == nil {
		l.m.state = Unloading
		g.down.push(l.m.place(), l)
	}
}

// takeDown runs the next undo. Of those nobody holds, the last in static order
// goes first; a child whose parent is leaving too is left to the parent, which
// comes to it in its own undo list.
func (g *graph) takeDown() bool {
	for !g.down.empty() {
		l := g.down.pop()
		if !l.due() {
			continue
		}
		if !l.released && !l.began && l.m.orphaned() {
			g.late.push(l.m.place(), l)
			continue
		}
		g.unwind(l)
		return true
	}
	for !g.late.empty() {
		if l := g.late.pop(); l.due() {
			g.unwind(l)
			return true
		}
	}
	return false
}

func (l *load) due() bool { return l.m.load == l && l.leaving && l.holders == 0 && l.waiting == nil }

// orphaned tells whether a mount above is leaving.
func (m *mount) orphaned() bool {
	for p := m.parent; p != nil; p = p.parent {
		if p.load != nil && p.load.leaving {
			return true
		}
	}
	return false
}

// unwind runs undos from the last to the first, until one has to be waited for.
// Entries of the store with no undo between them go in one step.
func (g *graph) unwind(l *load) {
	l.began = true
	var removes []bus.Op
	for len(l.entries) > 0 {
		last := len(l.entries) - 1
		e := l.entries[last]
		if c := e.child; c != nil && l.standing && !c.gone {
			g.store.Commit(removes...)
			g.takeChild(l, c)
			return
		}
		l.entries[last] = entry{}
		l.entries = l.entries[:last]
		if e.remove != nil && l.standing {
			removes = append(removes, e.remove)
		}
		if e.undo != nil {
			g.store.Commit(removes...)
			g.undo(l, e)
			return
		}
	}
	g.store.Commit(removes...)
	g.unloaded(l)
}

// takeChild has a child go before the next undo of its parent.
func (g *graph) takeChild(parent *load, c *mount) {
	parent.waiting = c
	if c.load != nil {
		c.load.released = true
	}
	if c.load == nil || !c.load.leaving {
		g.dismiss(c)
		return
	}
	if !c.removed { // it is leaving for another reason and would have come back
		c.removed = true
		g.reclaim(c)
	}
	g.descend(c.load)
}

func (g *graph) undo(l *load, e entry) {
	ctx, cancel := context.WithTimeout(g.r.marked, g.r.undoLimit)
	g.start(g.r.undoLimit, func(error) {}, func() error {
		defer cancel()
		return e.undo(ctx)
	}, func(err error) {
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				err = fmt.Errorf("%w of %s", errLimit, g.r.undoLimit)
			}
			err = undoError(l.m.owner(), e.label, err)
			g.r.report(l.m.owner(), err)
			if g.closing {
				g.errs = append(g.errs, err)
			}
		}
		g.unwind(l)
	})
}

func undoError(o bus.Owner, label string, err error) error {
	return fmt.Errorf("%s: undo of %s: %w", o.Name, label, err)
}

// unloaded ends a load: its last undo has run.
func (g *graph) unloaded(l *load) {
	m := l.m
	l.scope.view.phase.Store(ended)
	for _, p := range l.providers {
		if p == nil {
			continue
		}
		if p.holders--; p.holders == 0 {
			g.descend(p)
		}
	}
	l.providers = nil
	m.load = nil
	g.leaving--
	if m.next != nil && !m.removed {
		g.install(m)
	}
	if m.removed {
		g.release(m)
	} else {
		g.idle(m)
	}
}
