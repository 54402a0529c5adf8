package compose

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"starling/bus"
)

// Options of a Runtime.
type Options struct {
	Store *bus.Store
	// ApplyLimit and UndoLimit default to 10 s and 5 s.
	ApplyLimit time.Duration
	UndoLimit  time.Duration
	// Report hears of failing and late undos and of misuse; it must not block.
	Report func(owner bus.Owner, err error)
	// Settled hears the roster after each settle; it must not block. A settle that
	// leaves nothing but a swap that waits for a running call counts.
	Settled func(*Roster)
}

// Runtime owns the graph. All its methods are safe for concurrent use.
type Runtime struct {
	applyLimit time.Duration
	undoLimit  time.Duration
	reportTo   func(bus.Owner, error)
	heard      func(*Roster)
	marked     context.Context // of every apply and undo

	last   atomic.Uint64 // the newest ID
	roster atomic.Pointer[Roster]
	busy   atomic.Pointer[gate] // nil: settled, but for swaps that wait
	wake   chan struct{}
	ended  chan struct{} // closed when the owner goroutine is gone
	errs   error         // of the undos of Shutdown; set before ended is closed

	mu     sync.Mutex
	inbox  []func(*graph)
	known  map[ID]struct{} // mounts a request may name
	open   *gate           // nil: nothing asked for is left to be done
	closed bool            // Shutdown was called
	over   bool            // and the owner goroutine takes no more requests
}

// gate is closed when what it stands for is over.
type gate struct{ done chan struct{} }

type markKey struct{ r *Runtime }

// ErrShutdown is returned by requests after Shutdown.
var ErrShutdown = errors.New("the composition was shut down")

// ErrInside is returned where waiting for a settle from inside an apply or an
// undo would wait for itself.
var ErrInside = errors.New("the composition cannot settle while an apply or undo waits for it")

// New starts a runtime; Shutdown ends it.
func New(o Options) *Runtime {
	r := &Runtime{
		applyLimit: o.ApplyLimit, undoLimit: o.UndoLimit, reportTo: o.Report, heard: o.Settled,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), known: map[ID]struct{}{},
	}
	if r.applyLimit <= 0 {
		r.applyLimit = 10 * time.Second
	}
	if r.undoLimit <= 0 {
		r.undoLimit = 5 * time.Second
	}
	store := o.Store
	if store == nil {
		store = bus.NewStore()
	}
	r.marked = context.WithValue(context.Background(), markKey{r}, true)
	r.roster.Store(&Roster{})
	go newGraph(r, store).run()
	return r
}

// Mount accepts a component and returns its id; it loads in the settle that
// follows. It is an error after Shutdown.
func (r *Runtime) Mount(c Component) (ID, error) {
	if err := valid(c); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return 0, fmt.Errorf("mount %s: %w", c.Name, ErrShutdown)
	}
	m := &mount{id: r.newID(), c: c}
	r.known[m.id] = struct{}{}
	r.put(func(g *graph) {
		g.outside()
		g.accept(m)
	})
	return m.id, nil
}

// Unmount takes a mount away; the record is freed. The work is done in the settle
// that follows. It is an error for an id that is not mounted and after Shutdown.
func (r *Runtime) Unmount(id ID) error {
	return r.ask("unmount", id, true, func(g *graph, m *mount) { g.dismiss(m) })
}

// Switch turns a mount off with a reason for people, or on when off is "". Either
// also forgives a failure. It is an error for an id that is not mounted and after
// Shutdown.
func (r *Runtime) Switch(id ID, off string) error {
	return r.ask("switch", id, false, func(g *graph, m *mount) { g.switchTo(m, off) })
}

// Replace puts a new version in the place of a mount: the old one is drained,
// undone, and the new one loads with the same id record kept in the roster. A
// component with Broken set is refused and the old one keeps running. A second
// Replace while the old version drains ends the drain's context. It is an error
// for an id that is not mounted and after Shutdown.
func (r *Runtime) Replace(id ID, c Component) error {
	if err := valid(c); err != nil {
		return err
	}
	if c.Broken == nil {
		return r.ask("replace", id, false, func(g *graph, m *mount) { g.replace(m, c) })
	}
	err := r.ask("replace", id, false, func(g *graph, m *mount) {
		if m.c.Broken != nil { // nothing runs that could be kept: show the newer fault
			g.replace(m, c)
		}
	})
	if err != nil {
		return err
	}
	return fmt.Errorf("replace %s: %w", c.Name, c.Broken)
}

// Move changes the realms of a mount without rebuilding it. It is an error for an
// id that is not mounted and after Shutdown.
func (r *Runtime) Move(id ID, isolate map[string]string) error {
	return r.ask("move", id, false, func(g *graph, m *mount) { g.move(m, isolate) })
}

// Fail unmounts a mount whose call was abandoned: it is failed with this reason
// until it is replaced or switched. It is an error for an id that is not mounted
// and after Shutdown.
func (r *Runtime) Fail(id ID, reason string) error {
	return r.ask("fail", id, false, func(g *graph, m *mount) { g.abandon(m, reason) })
}

// Settle waits until everything asked for so far is done, swaps that wait for a
// running call included. From inside an apply or an undo it is an error.
func (r *Runtime) Settle(ctx context.Context) error {
	if r.inside(ctx) {
		return ErrInside
	}
	r.mu.Lock()
	open := r.open
	r.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.wait(ctx)
}

// Barrier waits for a settle that is running; it returns at once when none is,
// from inside an apply or undo, and while a swap waits for a running call.
func (r *Runtime) Barrier(ctx context.Context) error {
	busy := r.busy.Load()
	if busy == nil || r.inside(ctx) {
		return nil
	}
	return busy.wait(ctx)
}

// Shutdown takes everything down, dependents first, in a deterministic order, and
// ends the runtime. Errors of undos are joined. When ctx ends first its error is
// returned and the work goes on. From inside an apply or an undo it is an error.
func (r *Runtime) Shutdown(ctx context.Context) error {
	if r.inside(ctx) {
		return ErrInside
	}
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		r.put(func(g *graph) {
			g.outside()
			g.shut()
		})
	}
	r.mu.Unlock()
	select {
	case <-r.ended:
		return r.errs
	case <-ctx.Done():
		return fmt.Errorf("shutdown: %w", ctx.Err())
	}
}

// Roster returns the newest picture; it takes no lock.
func (r *Runtime) Roster() *Roster { return r.roster.Load() }

func valid(c Component) error {
	if c.Name == "" {
		return errors.New("a component needs a name")
	}
	return nil
}

func (r *Runtime) newID() ID { return ID(r.last.Add(1)) }

func (r *Runtime) inside(ctx context.Context) bool { return ctx.Value(markKey{r}) != nil }

func (r *Runtime) report(owner bus.Owner, err error) {
	if r.reportTo != nil {
		r.reportTo(owner, err)
	}
}

// ask queues a request about one mount: an outside change.
func (r *Runtime) ask(what string, id ID, last bool, op func(*graph, *mount)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("%s: %w", what, ErrShutdown)
	}
	if _, ok := r.known[id]; !ok {
		return fmt.Errorf("%s: no mount has the id %d", what, id)
	}
	if last {
		delete(r.known, id)
	}
	r.put(func(g *graph) {
		g.outside()
		if m := g.mounts[id]; m != nil && !m.removed {
			op(g, m)
		}
	})
	return nil
}

// post queues what a drain has to say.
func (r *Runtime) post(op func(*graph)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(op)
}

func (r *Runtime) put(op func(*graph)) {
	if r.over {
		return
	}
	r.inbox = append(r.inbox, op)
	if r.open == nil {
		r.open = newGate()
	}
	if r.busy.Load() == nil {
		r.busy.Store(newGate())
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take empties the inbox.
func (r *Runtime) take() []func(*graph) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ops := r.inbox
	r.inbox = nil
	return ops
}

// settled publishes the roster and opens the gates, unless a request came in.
func (r *Runtime) settled(g *graph) bool {
	r.mu.Lock()
	pending, busy := len(r.inbox) > 0, r.busy.Load() != nil
	r.mu.Unlock()
	if pending {
		return false
	}
	if !busy {
		return true
	}
	roster := g.publish(r.roster.Load())
	r.roster.Store(roster)
	if r.heard != nil {
		r.heard(roster)
	}
	over := g.closing && len(g.mounts) == 0
	if over {
		r.errs = errors.Join(g.errs...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inbox) > 0 && !over {
		return false
	}
	r.over = over
	close(r.busy.Swap(nil).done)
	if g.draining == 0 {
		close(r.open.done)
		r.open = nil
	}
	return true
}

func (r *Runtime) know(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[id] = struct{}{}
}

func (r *Runtime) forget(id ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, id)
}

func newGate() *gate { return &gate{make(chan struct{})} }

func (g *gate) wait(ctx context.Context) error {
	select {
	case <-g.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
