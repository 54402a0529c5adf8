package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/bus"
	"starling/bus/spec"
	"starling/tools"
)

// shelf is a registry and the store under it.
type shelf struct {
	store *bus.Store
	slot  *spec.Registry[spec.Tool]
	reg   *tools.Registry
}

func newShelf() *shelf {
	store := bus.NewStore()
	slot := spec.NewRegistry[spec.Tool](store, "tools")
	return &shelf{store: store, slot: slot, reg: tools.New(slot)}
}

// put registers a tool and returns how to take it back.
func (s *shelf) put(class bus.Class, owner string, t spec.Tool) (leave func()) {
	add, remove := s.slot.Slot().Put(bus.At(class, 0, owner), bus.Owner{Name: owner}, t)
	s.store.Commit(add)
	return func() { s.store.Commit(remove) }
}

func (s *shelf) owner(name string) string {
	_, owner, ok := s.reg.Lookup(name)
	if !ok {
		return "nobody"
	}
	return owner.Name
}

func builtin(name string) spec.Tool {
	return spec.Tool{Name: name, Builtin: true, Risk: spec.RiskChange, Sequential: true}
}

// of two plugins the first in static order owns a name, in whatever order
// they came; the other one is told; the name is free when the owner leaves.
func TestTwoPluginsOneName(t *testing.T) {
	for _, order := range [][]string{{"p1", "p2"}, {"p2", "p1"}} {
		s := newShelf()
		leave := map[string]func(){}
		for _, p := range order {
			leave[p] = s.put(bus.ClassHome, p, spec.Tool{Name: "search"})
		}
		if got := s.owner("search"); got != "p1" {
			t.Errorf("came as %v: owner is %s", order, got)
		}
		c := s.reg.Conflicts()
		if len(c) != 1 || c[0].Loser.Name != "p2" || c[0].Owner.Name != "p1" ||
			c[0].Name != "search" || c[0].Reason != "the name belongs to p1, which comes first in the static order" {
			t.Errorf("came as %v: conflicts %v", order, c)
		}
		leave["p1"]()
		if got := s.owner("search"); got != "p2" || len(s.reg.Conflicts()) != 0 {
			t.Errorf("after the owner left: %s, %v", got, s.reg.Conflicts())
		}
		leave["p2"]()
		if got := s.owner("search"); got != "nobody" {
			t.Errorf("after both left: %s", got)
		}
	}
}

func TestBuiltinKeepsItsName(t *testing.T) {
	for _, class := range []bus.Class{bus.ClassHost, bus.ClassLast} { // wherever it stands
		s := newShelf()
		s.put(class, "host", builtin("write"))
		s.put(bus.ClassHome, "sneaky", spec.Tool{Name: "write"})
		if got := s.owner("write"); got != "host" {
			t.Errorf("owner is %s", got)
		}
		c := s.reg.Conflicts()
		if len(c) != 1 || c[0].Loser.Name != "sneaky" || !strings.Contains(c[0].Reason, "replaces=True") {
			t.Errorf("conflicts %v", c)
		}
		leave := s.put(bus.ClassWorkspace, "open", spec.Tool{Name: "write", Replaces: true})
		late := s.put(bus.ClassFlag, "late", spec.Tool{Name: "write", Replaces: true})
		if got := s.owner("write"); got != "open" {
			t.Errorf("replaced, owner is %s", got)
		}
		if c := s.reg.Conflicts(); len(c) != 2 || c[1].Loser.Name != "late" || !strings.Contains(c[1].Reason, "replaced by open") {
			t.Errorf("conflicts %v", c)
		}
		leave()
		if got := s.owner("write"); got != "late" {
			t.Errorf("the first replacement left, owner is %s", got)
		}
		late()
		if got := s.owner("write"); got != "host" {
			t.Errorf("the replacements left, owner is %s", got)
		}
	}
}

// A replacement cannot make the tool look more harmless than it was.
func TestReplacementIsNotLessGuarded(t *testing.T) {
	paths := func(json.RawMessage) ([]string, bool) { return []string{"a"}, true }
	for _, c := range []struct {
		risk, want spec.Risk
		readOnly   bool
	}{
		{spec.RiskRead, spec.RiskChange, true},
		{"", spec.RiskChange, false},
		{spec.RiskNetwork, spec.RiskNetwork, false},
		{spec.RiskDestructive, spec.RiskDestructive, false},
	} {
		s := newShelf()
		b := builtin("write")
		b.Paths = paths
		b.Alone = func(json.RawMessage) bool { return true }
		s.put(bus.ClassHost, "host", b)
		s.put(bus.ClassHome, "p", spec.Tool{Name: "write", Replaces: true, Risk: c.risk, ReadOnly: c.readOnly})
		got, _, _ := s.reg.Lookup("write")
		if got.Risk != c.want || got.ReadOnly || !got.Sequential || got.Alone == nil || !got.Alone(nil) {
			t.Errorf("risk %q, read-only %v: got %q, %v, sequential %v", c.risk, c.readOnly, got.Risk, got.ReadOnly, got.Sequential)
		}
		if p, all := got.Paths(nil); !slices.Equal(p, []string{"a"}) || all {
			t.Errorf("paths %v, all %v", p, all)
		}
	}
}

func TestSettledTools(t *testing.T) {
	s := newShelf()
	s.put(bus.ClassHome, "a", spec.Tool{Name: "plain"})
	s.put(bus.ClassHome, "b", spec.Tool{Name: "look", ReadOnly: true, Parameters: json.RawMessage(`{"type":"object","properties":{"x":{}}}`)})
	s.put(bus.ClassHome, "c", spec.Tool{Name: "bad name", Builtin: true})
	list := s.reg.List()
	if len(list) != 2 || list[0].Name != "plain" || list[1].Name != "look" {
		t.Fatalf("list %v", list)
	}
	if string(list[0].Parameters) != `{"type":"object","properties":{}}` || list[0].Risk != spec.RiskChange {
		t.Errorf("plain: %s, %s", list[0].Parameters, list[0].Risk)
	}
	if string(list[1].Parameters) != `{"type":"object","properties":{"x":{}}}` || list[1].Risk != spec.RiskRead {
		t.Errorf("look: %s, %s", list[1].Parameters, list[1].Risk)
	}
	if c := s.reg.Conflicts(); len(c) != 1 || !strings.Contains(c[0].Reason, "1 to 64 letters") {
		t.Errorf("conflicts %v", c)
	}
}

func TestValidateName(t *testing.T) {
	for name, ok := range map[string]bool{
		"read": true, "word_count": true, "a-B_9": true, strings.Repeat("x", 64): true,
		"": false, "a b": false, "a.b": false, "ä": false, "a\n": false, strings.Repeat("x", 65): false,
	} {
		if err := tools.ValidateName(name); (err == nil) != ok {
			t.Errorf("ValidateName(%q) = %v", name, err)
		}
	}
}

// The rule as a property: it depends on what is registered, not on the order in
// which it came; every registration is in effect, replaced, or a conflict.
func TestRuleIsIndependentOfArrival(t *testing.T) {
	type reg struct {
		class bus.Class
		owner string
		tool  spec.Tool
	}
	rapid.Check(t, func(t *rapid.T) {
		var regs []reg
		for i := range rapid.IntRange(0, 8).Draw(t, "count") {
			b := rapid.IntRange(0, 3).Draw(t, "builtin") == 0
			class := rapid.SampledFrom([]bus.Class{bus.ClassHome, bus.ClassWorkspace, bus.ClassFlag}).Draw(t, "class")
			if b {
				class = rapid.SampledFrom([]bus.Class{bus.ClassHost, bus.ClassLast}).Draw(t, "host")
			}
			regs = append(regs, reg{class, fmt.Sprint("p", i), spec.Tool{
				Name:     rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
				Replaces: !b && rapid.Bool().Draw(t, "replaces"), Builtin: b,
			}})
		}
		picture := func(regs []reg) (string, *shelf) {
			s := newShelf()
			for _, r := range regs {
				s.put(r.class, r.owner, r.tool)
			}
			var b strings.Builder
			for _, tool := range s.reg.List() {
				fmt.Fprintln(&b, tool.Name, s.owner(tool.Name))
			}
			for _, c := range s.reg.Conflicts() {
				fmt.Fprintln(&b, c)
			}
			return b.String(), s
		}
		want, s := picture(regs)
		if got, _ := picture(rapid.Permutation(regs).Draw(t, "order")); got != want {
			t.Fatalf("another order of arrival:\n%s\nwant:\n%s", got, want)
		}
		replaced := 0
		for _, r := range regs {
			tool, _, ok := s.reg.Lookup(r.tool.Name)
			if !ok {
				t.Fatalf("nobody owns %s", r.tool.Name)
			}
			if r.tool.Builtin && !tool.Builtin {
				if !tool.Replaces {
					t.Fatalf("built-in %s was replaced by one that did not say so", tool.Name)
				}
				replaced++
			}
		}
		shown := len(s.reg.List()) + len(s.reg.Conflicts())
		// Of a replaced name the first built-in is neither; further ones conflict.
		if shown > len(regs) || shown < len(regs)-replaced {
			t.Fatalf("%d registrations, %d accounted for, %d replaced", len(regs), shown, replaced)
		}
	})
}
