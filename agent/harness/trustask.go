package harness

import (
	"context"
	"slices"
	"sync"

	"starling/trust"
)

// trustAsks are the questions about trust of a session.
type trustAsks struct {
	mu sync.Mutex
	// seen are the versions of units that were asked about.
	seen map[string]bool
	open []*asking
}

// asking is a question about trust that is open. The person may leave it so for long, and
// what it is about may change meanwhile: then it is withdrawn, and another one asked.
type asking struct {
	batch     batch
	withdrawn context.Context
	withdraw  context.CancelFunc
}

// new tells whether a version of a unit was not asked about before, and marks it.
func (a *trustAsks) new(u unit) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	version := u.name + "\x00" + string(u.bundle.Digest())
	if a.seen[version] {
		return false
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	a.seen[version] = true
	return true
}

func (a *trustAsks) begin(b batch) *asking {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := &asking{batch: b}
	open.withdrawn, open.withdraw = context.WithCancel(context.Background())
	a.open = append(a.open, open)
	return open
}

func (a *trustAsks) end(open *asking) {
	open.withdraw()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(o *asking) bool { return o == open })
}

// within is ctx until the question is withdrawn.
func (o *asking) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(o.withdrawn, cancel)
	return ctx, func() { stop(); cancel() }
}

// withdraw takes open questions back whose batch is old, and puts what is left of them
// into b: what is as it was asked about, and not in b.
func (a *trustAsks) withdraw(b *batch, old func(batch) bool, found composition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(o *asking) bool {
		if !old(o.batch) {
			return false
		}
		o.withdraw()
		b.take(o.batch, found)
		return true
	})
}

// take puts what is left of an older question into this one.
func (b *batch) take(old batch, found composition) {
	for _, u := range old.units {
		if !b.hasUnit(u.name) && u.stands(found) {
			b.add(u, found.settings)
		}
	}
	for _, c := range old.changes {
		if !b.hasChange(c.key) && c.stands(found) {
			b.changes = append(b.changes, c)
			b.grants[c.key] = old.grants[c.key]
		}
	}
	b.about.units = b.units
}

func (b *batch) hasUnit(name string) bool {
	return slices.ContainsFunc(b.units, func(u unit) bool { return u.name == name })
}

func (b *batch) hasChange(k string) bool {
	return slices.ContainsFunc(b.changes, func(c pending) bool { return c.key == k })
}

// overlaps tells whether both are about another version of one thing.
func (b batch) overlaps(o batch) bool {
	return slices.ContainsFunc(b.units, func(u unit) bool { return o.hasUnit(u.name) }) ||
		slices.ContainsFunc(b.changes, func(c pending) bool { return o.hasChange(c.key) })
}

// stands tells whether everything in it is on the disk as it was asked about.
func (b batch) stands(found composition) bool {
	return !slices.ContainsFunc(b.units, func(u unit) bool { return !u.stands(found) }) &&
		!slices.ContainsFunc(b.changes, func(c pending) bool { return !c.stands(found) })
}

func (u unit) stands(found composition) bool {
	return slices.ContainsFunc(found.units, func(now unit) bool {
		return now.name == u.name && now.bundle.Digest() == u.bundle.Digest() && now.verdict != trust.Approved
	})
}

func (c pending) stands(found composition) bool {
	i := slices.IndexFunc(found.plugins, func(pl plugin) bool { return key(pl.file) == c.key })
	if i < 0 {
		return c.next == nil
	}
	return c.next != nil && contentOf(&found.plugins[i]) == contentOf(c.next)
}
