// Package spec is the plain data of everything that can be registered, and the
// generic registry that holds it in every mode.
//
// It owns shapes, not rules: who wins a name is decided by the package that
// uses the registry. A registry nobody reads is inert, never absent.
package spec

import "starling/bus"

// Registry is an ordered set of registrations of one kind.
type Registry[T any] struct{ slot bus.Slot[T] }

// NewRegistry returns the registry of that name in the store.
func NewRegistry[T any](store *bus.Store, name string) *Registry[T] {
	return &Registry[T]{bus.SlotOf[T](store, name)}
}

// Slot the registrations stand in.
func (r *Registry[T]) Slot() bus.Slot[T] { return r.slot }

// All returns the registrations in static order.
func (r *Registry[T]) All() []bus.Entry[T] { return r.slot.Load() }

// Registries are the host's registries: one each, in every mode.
type Registries struct {
	Tools      *Registry[Tool]
	Commands   *Registry[Command]
	Surfaces   *Registry[Surface]
	Gates      *Registry[Gate]
	Strategies *Registry[Strategy]
	Evals      *Registry[Eval]
}

// NewRegistries makes every registry in the store.
func NewRegistries(store *bus.Store) *Registries {
	return &Registries{
		Tools:      NewRegistry[Tool](store, "tools"),
		Commands:   NewRegistry[Command](store, "commands"),
		Surfaces:   NewRegistry[Surface](store, "surfaces"),
		Gates:      NewRegistry[Gate](store, "gates"),
		Strategies: NewRegistry[Strategy](store, "strategies"),
		Evals:      NewRegistry[Eval](store, "evals"),
	}
}

// HostKeys are the services under which the registries are injected; no plugin
// may provide one of them.
var HostKeys = []string{"tools", "commands", "surfaces", "gates", "strategies", "evals"}
