package bus

import (
	"context"
	"slices"
	"sync/atomic"
)

// Listener is one subscription.
type Listener[E, A any] struct {
	// Do handles the event. A nil answer is no opinion. The payload is
	// read-only: what a listener wants changed it answers.
	Do func(ctx context.Context, e *E) (*A, error)
	// Borrows says that Do keeps nothing of e itself beyond the call, so that a sender
	// of many may use one payload again.
	Borrows bool
	// FailClosed makes an error count as a refusal on an open refusable topic.
	FailClosed bool

	strikes *strikes
}

type strikes struct {
	row atomic.Int32 // failures in a row
	off atomic.Bool
}

// StrikeLimit is the number of failures in a row after which a listener of an
// open topic is switched off until its plugin is loaded again.
const StrikeLimit = 3

// Failure is one error of a listener, for people.
type Failure struct {
	Topic  string
	Owner  Owner
	Err    error
	Closed bool // it refused
	Off    bool // it switched the listener off
}

// Bus joins topics to a store.
type Bus struct {
	store *Store
	// Report hears of every failed listener. Set once, before the first
	// dispatch; it must not block.
	Report func(context.Context, Failure)
	// Barrier is waited for before a refusable or verdicts dispatch, so that a
	// guard that is just being replaced is not missing from it. Set once.
	Barrier func(context.Context) error
	// Gate is asked before a refusable or verdicts dispatch whether an absent
	// guard refuses it; it returns nil when none does. Set once.
	Gate func(topic string) *Refusal
}

// New returns a bus over the store.
func New(store *Store) *Bus { return &Bus{store: store} }

// Store under the bus.
func (b *Bus) Store() *Store { return b.store }

// Port is a topic on one bus: get it once, at construction.
type Port[E, A any] struct {
	bus   *Bus
	topic *Topic[E, A]
	slot  Slot[Listener[E, A]]
}

// PortOf returns the port of a topic on b. Topics are told apart by name.
func PortOf[E, A any](b *Bus, t *Topic[E, A]) Port[E, A] {
	slot := SlotOf[Listener[E, A]](b.store, "event "+t.name)
	return Port[E, A]{bus: b, topic: t, slot: slot}
}

// Topic of the port.
func (p Port[E, A]) Topic() *Topic[E, A] { return p.topic }

// Put prepares a subscription, as Slot.Put does.
func (p Port[E, A]) Put(pos Position, owner Owner, l Listener[E, A]) (add, remove Op) {
	l.strikes = &strikes{}
	return p.slot.Put(pos, owner, l)
}

// Listening tells whether anybody would hear an event now: ask before building
// a payload that costs something.
func (p Port[E, A]) Listening() bool { return len(p.slot.Load()) > 0 }

// Stands tells whether owner has a listener here now.
func (p Port[E, A]) Stands(owner Owner) bool {
	return slices.ContainsFunc(p.slot.Load(), func(entry Entry[Listener[E, A]]) bool { return entry.Owner == owner })
}

// Send dispatches e to the listeners that stand at this moment and leaves the
// combined outcome in e. Listeners added meanwhile do not hear it.
func (p Port[E, A]) Send(ctx context.Context, e *E) {
	if p.topic.mode == Refusable || p.topic.mode == Verdicts {
		if p.bus.Barrier != nil {
			if err := p.bus.Barrier(ctx); err != nil {
				p.refuse(e, Refusal{Why: "the composition did not settle: " + err.Error(), Err: err})
				return
			}
		}
		if p.bus.Gate != nil {
			if r := p.bus.Gate(p.topic.name); r != nil {
				p.refuse(e, *r)
				return
			}
		}
	}
	p.Snapshot().Send(ctx, e)
}

func (p Port[E, A]) refuse(e *E, r Refusal) {
	switch p.topic.mode {
	case Refusable:
		p.topic.refuse(e, r)
	case Verdicts:
		*p.topic.verdict(e) = Verdict{Kind: Deny, Why: r.Why, By: r.By, Err: r.Err}
	}
}

// Snapshot is a fixed set of listeners: the per-token path takes one per
// response.
type Snapshot[E, A any] struct {
	port Port[E, A]
	list []Entry[Listener[E, A]]
}

// Snapshot fixes the listeners that stand now.
func (p Port[E, A]) Snapshot() Snapshot[E, A] { return Snapshot[E, A]{p, p.slot.Load()} }

// Without returns the snapshot less the listeners of these owners.
func (s Snapshot[E, A]) Without(owners ...Owner) Snapshot[E, A] {
	if len(owners) == 0 {
		return s
	}
	rest := make([]Entry[Listener[E, A]], 0, len(s.list))
	for _, entry := range s.list {
		if !slices.Contains(owners, entry.Owner) {
			rest = append(rest, entry)
		}
	}
	return Snapshot[E, A]{s.port, rest}
}

// Same tells whether two snapshots of one port hold the same listeners.
func (s Snapshot[E, A]) Same(o Snapshot[E, A]) bool {
	return slices.EqualFunc(s.list, o.list, func(a, b Entry[Listener[E, A]]) bool { return a.Seq == b.Seq })
}

// FailClosed tells whether a listener of owner fails closed.
func (s Snapshot[E, A]) FailClosed(owner Owner) bool {
	return slices.ContainsFunc(s.list, func(entry Entry[Listener[E, A]]) bool {
		return entry.Owner == owner && entry.Value.FailClosed
	})
}

// Borrow tells whether every listener of the snapshot only borrows the payload.
func (s Snapshot[E, A]) Borrow() bool {
	return !slices.ContainsFunc(s.list, func(entry Entry[Listener[E, A]]) bool { return !entry.Value.Borrows })
}

// Listening tells whether the snapshot holds any listener.
func (s Snapshot[E, A]) Listening() bool { return len(s.list) > 0 }

// Send runs the listeners of the snapshot over e.
func (s Snapshot[E, A]) Send(ctx context.Context, e *E) {
	if len(s.list) == 0 {
		return
	}
	if s.port.topic.exclusive {
		if Inside(ctx, s.port.topic.name) {
			return
		}
		ctx = context.WithValue(ctx, exclusiveKey(s.port.topic.name), true)
	}
	d := dispatch[E, A]{port: s.port, e: e}
	for i := range s.list {
		d.run(ctx, &s.list[i])
	}
}

// exclusiveKey marks, by topic name, a context from inside a dispatch of it.
type exclusiveKey string

// Inside tells whether ctx comes from a listener of that not re-entrant topic.
func Inside(ctx context.Context, topic string) bool {
	return ctx.Value(exclusiveKey(topic)) != nil
}

// dispatch is the state of one Send; it lives on the stack.
type dispatch[E, A any] struct {
	port    Port[E, A]
	e       *E
	refused bool
}

func (d *dispatch[E, A]) run(ctx context.Context, entry *Entry[Listener[E, A]]) {
	t, l := d.port.topic, &entry.Value
	if l.strikes.off.Load() {
		return
	}
	answer, err := safely(ctx, l, d.e)
	if err == nil && answer != nil {
		err = d.take(answer, entry.Owner)
	}
	if err == nil {
		l.strikes.row.Store(0)
		return
	}
	f := Failure{Topic: t.name, Owner: entry.Owner, Err: err}
	f.Closed = t.policy == Closed || l.FailClosed && t.mode == Refusable
	if f.Closed {
		d.fail(entry.Owner, err)
	} else if l.strikes.row.Add(1) >= StrikeLimit {
		f.Off = !l.strikes.off.Swap(true)
	}
	if d.port.bus.Report != nil {
		d.port.bus.Report(ctx, f)
	}
}

// take applies one answer by the law of the topic's mode.
func (d *dispatch[E, A]) take(a *A, by Owner) error {
	t := d.port.topic
	switch t.mode {
	case Waterfall, Fields:
		return t.fold(d.e, a, by)
	case Refusable:
		if d.refused {
			return nil // the first refusal stands, and nothing changes after it
		}
		if r := t.refusal(a); r != nil {
			r.By = by
			d.refused = true
			t.refuse(d.e, *r)
			return nil
		}
		if t.fold != nil {
			return t.fold(d.e, a, by)
		}
	case Verdicts:
		v := any(a).(*Verdict)
		if have := t.verdict(d.e); v.Kind > have.Kind {
			next := *v
			next.By = by
			*have = next
		}
	}
	return nil
}

// fail makes an error of a closed listener a refusal.
func (d *dispatch[E, A]) fail(by Owner, err error) {
	why := by.Name + " failed to decide: " + err.Error()
	switch t := d.port.topic; t.mode {
	case Refusable:
		if !d.refused {
			d.refused = true
			t.refuse(d.e, Refusal{Why: why, By: by, Err: err})
		}
	case Verdicts:
		if have := t.verdict(d.e); have.Kind < Deny {
			*have = Verdict{Kind: Deny, Why: why, By: by, Err: err}
		}
	}
}

func safely[E, A any](ctx context.Context, l *Listener[E, A], e *E) (a *A, err error) {
	defer func() {
		if v := recover(); v != nil {
			a, err = nil, &PanicError{v}
		}
	}()
	return l.Do(ctx, e)
}
