package bus_test

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"starling/bus"
)

func TestPositionOrder(t *testing.T) {
	p := bus.At(bus.ClassHome, 0, "plugin")
	ordered := []bus.Position{
		bus.At(bus.ClassHost, 7, "z"),
		bus.At(bus.ClassEmbedded, 1, "z"),
		bus.At(bus.ClassEmbedded, 2, "a"),
		bus.At(bus.ClassEmbedded, 300, "a"),
		bus.At(bus.ClassHome, 0, "plug"),
		p, p.Child(0), p.Child(0).Child(9), p.Child(1), p.Child(256),
		bus.At(bus.ClassHome, 0, "plugin2"),
		bus.At(bus.ClassWorkspace, 0, "a"),
		bus.At(bus.ClassFlag, 0, "a"),
		bus.At(bus.ClassLast, 0, "memory"),
	}
	for i := 1; i < len(ordered); i++ {
		if ordered[i-1] >= ordered[i] {
			t.Errorf("position %d (%q) is not before %d (%q)", i-1, ordered[i-1], i, ordered[i])
		}
	}
}

// TestStoreAgainstModel: slots hold what a sorted list would, after any batches
// in any order, and no picture taken earlier ever changes.
func TestStoreAgainstModel(t *testing.T) {
	type op struct {
		slot        int
		pos         bus.Position
		value       int
		add, remove bus.Op
	}
	rapid.Check(t, func(t *rapid.T) {
		store := bus.NewStore()
		slots := []bus.Slot[int]{bus.SlotOf[int](store, "one"), bus.SlotOf[int](store, "two")}
		var made []*op // in the order of registration
		standing := make([][]*op, len(slots))
		type picture struct {
			list []bus.Entry[int]
			want []int
		}
		var kept []picture
		values := func(slot int) []int {
			list := slices.Clone(standing[slot])
			sort.SliceStable(list, func(i, j int) bool {
				if list[i].pos != list[j].pos {
					return list[i].pos < list[j].pos
				}
				return list[i].value < list[j].value
			})
			out := make([]int, len(list))
			for i, o := range list {
				out[i] = o.value
			}
			return out
		}
		for range rapid.IntRange(1, 15).Draw(t, "batches") {
			var batch []bus.Op
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				if len(made) > 0 && rapid.Bool().Draw(t, "remove") {
					o := made[rapid.IntRange(0, len(made)-1).Draw(t, "which")]
					batch = append(batch, o.remove)
					standing[o.slot] = slices.DeleteFunc(standing[o.slot], func(x *op) bool { return x == o })
					continue
				}
				o := &op{slot: rapid.IntRange(0, 1).Draw(t, "slot"), value: len(made)}
				o.pos = bus.At(bus.ClassHome, 0, fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "position")))
				o.add, o.remove = slots[o.slot].Put(o.pos, bus.Owner{UID: 1}, o.value)
				made = append(made, o)
				batch = append(batch, o.add)
				standing[o.slot] = append(standing[o.slot], o)
			}
			store.Commit(batch...)
			for i, slot := range slots {
				kept = append(kept, picture{slot.Load(), values(i)})
			}
			if want := len(standing[0]) + len(standing[1]); store.Size() != want {
				t.Fatalf("size %d, want %d", store.Size(), want)
			}
		}
		for _, p := range kept {
			got := make([]int, len(p.list))
			for i, e := range p.list {
				got[i] = e.Value
			}
			if !slices.Equal(got, p.want) {
				t.Fatalf("got %v, want %v", got, p.want)
			}
		}
	})
}

func TestSlots(t *testing.T) {
	store := bus.NewStore()
	tools := bus.SlotOf[string](store, "tools")
	add, remove := tools.Put("p", bus.Owner{Name: "alpha"}, "x")
	if len(tools.Load()) != 0 {
		t.Error("an entry stands before it was committed")
	}
	store.Commit(add)
	late := bus.SlotOf[int](store, "late") // a new slot keeps what stands
	if got := bus.SlotOf[string](store, "tools").Load(); len(got) != 1 || got[0].Value != "x" || got[0].Owner.Name != "alpha" {
		t.Errorf("got %v", got)
	}
	if tools.Name() != "tools" || late.Load() != nil {
		t.Errorf("name %q, late %v", tools.Name(), late.Load())
	}
	store.Commit(remove, remove)
	store.Commit(remove)
	if store.Size() != 0 {
		t.Errorf("size %d", store.Size())
	}
	defer func() {
		if recover() == nil {
			t.Error("a slot of another type was given out")
		}
	}()
	bus.SlotOf[int](store, "tools")
}

// TestStoreManyWriters: readers never see half a batch.
func TestStoreManyWriters(t *testing.T) {
	store := bus.NewStore()
	one, two := bus.SlotOf[int](store, "one"), bus.SlotOf[int](store, "two")
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				pos := bus.At(bus.ClassHome, w, "")
				a, removeA := one.Put(pos, bus.Owner{}, i)
				b, removeB := one.Put(pos, bus.Owner{}, -i)
				c, removeC := two.Put(pos, bus.Owner{}, i)
				store.Commit(a, b, c)
				sum := 0
				for _, e := range one.Load() {
					sum += e.Value
				}
				if sum != 0 || len(one.Load())%2 != 0 {
					t.Errorf("half a batch is seen: sum %d", sum)
				}
				store.Commit(removeA, removeB, removeC)
			}
		})
	}
	wg.Wait()
	if store.Size() != 0 {
		t.Errorf("size %d", store.Size())
	}
}
