package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"starling/bus"
)

// Scope is the only way to register anything. It is valid until its apply has
// returned; later calls are refused (Defer and Stage then run the undo at once
// and report the misuse; Provide and Mount return an error).
type Scope struct {
	r      *Runtime
	owner  bus.Owner
	pos    bus.Position
	origin string
	offers []string
	depth  int
	view   *View
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	entries []entry
	values  map[string]any
	kids    int
}

// maxDepth bounds how deep children nest, so that a component that mounts itself
// ends with an error.
const maxDepth = 500

var errScopeClosed = errors.New("its apply has returned, so nobody would undo it")

// Context ends when the mount must go, and when its apply runs over the limit.
func (s *Scope) Context() context.Context { return s.ctx }

// Owner names the mount in listeners and registries.
func (s *Scope) Owner() bus.Owner { return s.owner }

// Position of the mount in the static order.
func (s *Scope) Position() bus.Position { return s.pos }

// View of the services this mount was loaded with.
func (s *Scope) View() *View { return s.view }

// Defer records an undo. label is what people read in the roster, such as
// "tool wordcount".
func (s *Scope) Defer(label string, undo Undo) {
	if s.record(entry{label: label, undo: undo}) {
		return
	}
	s.misuse(label)
	if undo == nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.r.marked, s.r.undoLimit)
	defer cancel()
	if err := guarded(func() error { return undo(ctx) }); err != nil {
		s.r.report(s.owner, undoError(s.owner, label, err))
	}
}

// Stage registers an entry of the store: add becomes visible together with
// everything else of this apply, remove is its undo.
func (s *Scope) Stage(label string, add, remove bus.Op) {
	if !s.record(entry{label: label, add: add, remove: remove}) {
		s.misuse(label) // add was never published, so there is nothing to undo
	}
}

// Provide offers a service under a declared key. It becomes visible when the
// mount is active. It is an error when the key is not in provides, when it was
// provided already and after apply has returned.
func (s *Scope) Provide(key string, value any) error {
	if !slices.Contains(s.offers, key) {
		return fmt.Errorf("provide %q: not in provides of %s", key, s.owner.Name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("provide %q: %w", key, errScopeClosed)
	}
	if _, ok := s.values[key]; ok {
		return fmt.Errorf("provide %q: provided already", key)
	}
	if s.values == nil {
		s.values = make(map[string]any, len(s.offers))
	}
	s.values[key] = value
	s.entries = append(s.entries, entry{label: "provide " + key})
	return nil
}

// Mount mounts a child whose realm table starts as a copy of this one's. It is
// accepted when this apply has returned without error, and goes before the
// effects registered before it. Its place in the static order is behind its
// parent; only keys go first to those who nest less. It is an error after apply has returned and when children nest deeper
// than 500.
func (s *Scope) Mount(c Component) (ID, error) {
	if err := valid(c); err != nil {
		return 0, err
	}
	if s.depth >= maxDepth {
		return 0, fmt.Errorf("mount %s: children nest deeper than %d", c.Name, maxDepth)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, fmt.Errorf("mount %s: %w", c.Name, errScopeClosed)
	}
	c.Position = s.pos.Child(s.kids)
	s.kids++
	if c.Origin == "" {
		c.Origin = s.origin
	}
	child := &mount{id: s.r.newID(), c: c}
	s.entries = append(s.entries, entry{label: "mount " + c.Name, child: child})
	return child.id, nil
}

func (s *Scope) record(e entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.entries = append(s.entries, e)
	return true
}

func (s *Scope) misuse(label string) {
	s.r.report(s.owner, fmt.Errorf("%s: %s: %w", s.owner.Name, label, errScopeClosed))
}

func (s *Scope) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// close ends the time of registrations and returns what was registered.
func (s *Scope) close() ([]entry, map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.entries, s.values
}

// On subscribes a listener for as long as the mount is active.
func On[E, A any](s *Scope, p bus.Port[E, A], l bus.Listener[E, A]) {
	add, remove := p.Put(s.Position(), s.Owner(), l)
	s.Stage("on "+p.Topic().Name(), add, remove)
}

// Register puts a value into a slot for as long as the mount is active.
func Register[T any](s *Scope, slot bus.Slot[T], label string, value T) {
	add, remove := slot.Put(s.Position(), s.Owner(), value)
	s.Stage(label, add, remove)
}
