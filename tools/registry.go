package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"starling/bus"
	"starling/bus/spec"
)

// Registry reads the registered tools by one rule, freshly at every call:
//
//   - A built-in keeps its name unless a registration says Replaces; when that
//     one leaves, the built-in is back.
//   - Of several that could have a name, the first in static order has it.
//   - Everybody else who wants the name is a Conflict.
//
// A replacement is never less guarded than what it replaces: it gets at least
// the risk of the built-in, is read-only and parallel only if the built-in is,
// and where it cannot tell the paths it touches, those of the built-in count.
type Registry struct {
	slot    *spec.Registry[spec.Tool]
	schemas schemas
}

// New returns a registry over registrations. It is safe for concurrent use.
func New(registrations *spec.Registry[spec.Tool]) *Registry {
	return &Registry{slot: registrations}
}

// Conflict is a registration that is not in effect.
type Conflict struct {
	Name   string
	Owner  bus.Owner // who has the name; zero where nobody can
	Loser  bus.Owner // whose registration is not in effect
	Reason string    // for people
}

// Lookup returns the effective tool of a name and who registered it.
func (r *Registry) Lookup(name string) (spec.Tool, bus.Owner, bool) {
	for _, t := range resolve(r.slot.All()).owners {
		if t.entry.Value.Name == name {
			return t.tool(), t.entry.Owner, true
		}
	}
	return spec.Tool{}, bus.Owner{}, false
}

// Hidden returns the built-in that the effective tool of a name replaces.
func (r *Registry) Hidden(name string) (spec.Tool, bool) {
	for _, t := range resolve(r.slot.All()).owners {
		if t.entry.Value.Name == name && t.replace != nil {
			return settled(t.replace.Value), true
		}
	}
	return spec.Tool{}, false
}

// List returns the effective tools in static order.
func (r *Registry) List() []spec.Tool {
	owners := resolve(r.slot.All()).owners
	list := make([]spec.Tool, len(owners))
	for i, t := range owners {
		list[i] = t.tool()
	}
	return list
}

// Conflicts returns the registrations that are not in effect, in static order.
func (r *Registry) Conflicts() []Conflict { return resolve(r.slot.All()).conflicts }

// ValidateName refuses what providers do not take as the name of a tool.
func ValidateName(name string) error {
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, strange) {
		return fmt.Errorf("tool name %q: use 1 to 64 letters, digits, _ or -", name)
	}
	return nil
}

type entry = bus.Entry[spec.Tool]

// effective is a registration that has its name, and the built-in it replaces.
type effective struct {
	entry   *entry
	replace *entry
}

type resolution struct {
	owners    []effective // in static order
	conflicts []Conflict
}

func resolve(all []entry) resolution {
	holder := make(map[string]*entry, len(all))
	builtin := map[string]*entry{}
	for i := range all {
		if e := &all[i]; e.Value.Builtin && builtin[e.Value.Name] == nil {
			builtin[e.Value.Name] = e
		}
	}
	for i := range all {
		e := &all[i]
		name, b := e.Value.Name, builtin[e.Value.Name]
		mayHold := b == nil || e == b || e.Value.Replaces && !e.Value.Builtin
		have := holder[name]
		// A replacement comes before the built-in wherever either stands.
		if mayHold && ValidateName(name) == nil && (have == nil || have == b && e != b) {
			holder[name] = e
		}
	}
	var r resolution
	for i := range all {
		e := &all[i]
		name, b := e.Value.Name, builtin[e.Value.Name]
		switch h := holder[name]; {
		case h == e && e != b:
			r.owners = append(r.owners, effective{entry: e, replace: b})
		case h == e:
			r.owners = append(r.owners, effective{entry: e})
		case e != b || h == nil: // a built-in that is replaced is no conflict
			r.conflicts = append(r.conflicts, conflict(e, h, b))
		}
	}
	return r
}

func conflict(e, holder, builtin *entry) Conflict {
	c := Conflict{Name: e.Value.Name, Loser: e.Owner}
	if err := ValidateName(c.Name); err != nil {
		c.Reason = err.Error()
		return c
	}
	c.Owner = holder.Owner
	switch {
	case builtin != nil && !e.Value.Replaces:
		c.Reason = "the name belongs to a built-in tool; register it with replaces=True to take its place"
	case builtin != nil:
		c.Reason = "the built-in is replaced by " + holder.Owner.Name + " already, which comes first in the static order"
	default:
		c.Reason = "the name belongs to " + holder.Owner.Name + ", which comes first in the static order"
	}
	return c
}

// noParameters is sent for a tool that takes nothing.
var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// tool returns the registration as it takes effect.
func (e effective) tool() spec.Tool {
	t := settled(e.entry.Value)
	if e.replace == nil {
		return t
	}
	b := settled(e.replace.Value)
	if rank(t.Risk) < rank(b.Risk) {
		t.Risk = b.Risk
	}
	t.ReadOnly = t.ReadOnly && b.ReadOnly
	t.Sequential = t.Sequential || b.Sequential
	if t.Alone == nil {
		t.Alone = b.Alone
	}
	if t.Paths == nil && b.Paths != nil {
		t.Paths = func(arguments json.RawMessage) ([]string, bool) {
			paths, _ := b.Paths(arguments)
			return paths, false // what else the replacement touches nobody knows
		}
	}
	return t
}

// settled fills in what a registration left open.
func settled(t spec.Tool) spec.Tool {
	if none(t.Parameters) {
		t.Parameters = noParameters
	}
	if rank(t.Risk) < 0 {
		t.Risk = spec.RiskChange
		if t.ReadOnly {
			t.Risk = spec.RiskRead
		}
	}
	return t
}

// rank orders risks, least first; -1 is no risk class.
func rank(r spec.Risk) int {
	return slices.Index([]spec.Risk{spec.RiskRead, spec.RiskChange, spec.RiskDestructive, spec.RiskNetwork}, r)
}
