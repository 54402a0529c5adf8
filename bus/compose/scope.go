package compose

import (
	"context"

	"starling/bus"
)

// Scope is the only way to register anything. It is valid until its apply has
// returned; later calls are refused (Defer and Stage then run the undo at once
// and report the misuse; Provide and Mount return an error).
type Scope struct{}

// Context of the apply; it ends at the limit or when the mount must go.
func (s *Scope) Context() context.Context { panic("stub") }

// Owner names the mount in listeners and registries.
func (s *Scope) Owner() bus.Owner { panic("stub") }

// Position of the mount in the static order.
func (s *Scope) Position() bus.Position { panic("stub") }

// Defer records an undo. label is what people read in the roster, such as
// "tool wordcount".
func (s *Scope) Defer(label string, undo Undo) { panic("stub") }

// Stage registers an entry of the store: add becomes visible together with
// everything else of this apply, remove is its undo.
func (s *Scope) Stage(label string, add, remove bus.Op) { panic("stub") }

// Provide offers a service under a declared key. It becomes visible when the
// mount is active.
func (s *Scope) Provide(key string, value any) error { panic("stub") }

// Mount mounts a child whose realm table starts as a copy of this one's. The
// child goes before the effects registered before it.
func (s *Scope) Mount(c Component) (ID, error) { panic("stub") }

// View of the services this mount was loaded with.
func (s *Scope) View() *View { panic("stub") }

// View is the committed view of one load: readable until its last undo has run.
type View struct{}

// Get returns the value of an injected key. Required keys answer from the
// committed view; optional ones as they are now. During apply an optional key is
// an error, since the answer would depend on load order; a key that is not in
// inject is an error that names it; after the last undo every key is.
func (v *View) Get(key string) (any, error) { panic("stub") }

// Has tells whether an injected key can be called now; the same errors as Get,
// but absence of an optional key is false.
func (v *View) Has(key string) (bool, error) { panic("stub") }

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
