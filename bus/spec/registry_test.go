package spec_test

import (
	"slices"
	"testing"

	"starling/bus"
	"starling/bus/spec"
)

func TestRegistry(t *testing.T) {
	store := bus.NewStore()
	r := spec.NewRegistries(store)
	put := func(name, position string) (remove bus.Op) {
		add, remove := r.Tools.Slot().Put(bus.At(bus.ClassHome, 0, position), bus.Owner{Name: position}, spec.Tool{Name: name})
		store.Commit(add)
		return remove
	}
	names := func() []string {
		var list []string
		for _, e := range r.Tools.All() {
			list = append(list, e.Owner.Name+" "+e.Value.Name)
		}
		return list
	}
	put("grep", "beta")
	first := put("grep", "alpha") // two of one name stand: who wins is decided elsewhere
	put("edit", "alpha")
	if got := names(); !slices.Equal(got, []string{"alpha grep", "alpha edit", "beta grep"}) {
		t.Errorf("tools %q", got)
	}
	store.Commit(first)
	if got := names(); !slices.Equal(got, []string{"alpha edit", "beta grep"}) {
		t.Errorf("tools %q", got)
	}
	if n := len(r.Commands.All()) + len(r.Surfaces.All()) + len(r.Gates.All()) + len(r.Strategies.All()) + len(r.Evals.All()); n != 0 {
		t.Errorf("%d entries in other registries", n)
	}
	// The same store gives the same registries.
	if again := spec.NewRegistries(store); len(again.Tools.All()) != 2 {
		t.Errorf("again %v", again.Tools.All())
	}
}
