// Package spec is the plain data of everything that can be registered, and the
// generic registry that holds it in every mode.
//
// It owns shapes, not rules: who wins a name is decided by the package that
// uses the registry. A registry nobody reads is inert, never absent.
package spec

import (
	"slices"

	"starling/bus"
)

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
	Surfaces   *Surfaces
	Gates      *Registry[Gate]
	Strategies *Registry[Strategy]
	Evals      *Registry[Eval]
}

// NewRegistries makes every registry in the store.
func NewRegistries(store *bus.Store) *Registries {
	return &Registries{
		Tools:      NewRegistry[Tool](store, "tools"),
		Commands:   NewRegistry[Command](store, "commands"),
		Surfaces:   NewSurfaces(store, "surfaces"),
		Gates:      NewRegistry[Gate](store, "gates"),
		Strategies: NewRegistry[Strategy](store, "strategies"),
		Evals:      NewRegistry[Eval](store, "evals"),
	}
}

// ByKey returns the registries by the service key they are injected under.
func (r *Registries) ByKey() map[string]any {
	return map[string]any{
		"tools": r.Tools, "commands": r.Commands, "surfaces": r.Surfaces,
		"gates": r.Gates, "strategies": r.Strategies, "evals": r.Evals,
	}
}

// Child returns a registry of the same kind as the one under key, for a realm of
// its own: what is registered there is seen by nobody outside it.
func Child(store *bus.Store, key, realm string) any {
	name := key + " of realm " + realm
	switch key {
	case "tools":
		return NewRegistry[Tool](store, name)
	case "commands":
		return NewRegistry[Command](store, name)
	case "surfaces":
		return NewSurfaces(store, name)
	case "gates":
		return NewRegistry[Gate](store, name)
	case "strategies":
		return NewRegistry[Strategy](store, name)
	case "evals":
		return NewRegistry[Eval](store, name)
	}
	return nil
}

// RegistryKeys are the services under which the registries are injected.
var RegistryKeys = []string{"tools", "commands", "surfaces", "gates", "strategies", "evals"}

// HostKeys are the services of the host: the registries, and those that are called
// with invoke. No plugin may provide one of them.
var HostKeys = append(slices.Clone(RegistryKeys), "processes")
