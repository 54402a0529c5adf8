package schema

import "fmt"

func (s *state) object(rules *objectRules, v map[string]any) {
	if !s.spend((len(v) + len(rules.required) + len(rules.dependentRequired) + len(rules.dependentSchemas)) / 4) {
		return
	}
	if len(v) < rules.min {
		s.wrong("minProperties: got %d, want %d", len(v), rules.min)
	}
	if rules.max >= 0 && len(v) > rules.max {
		s.wrong("maxProperties: got %d, want %d", len(v), rules.max)
	}
	if lacks := missing(v, rules.required); lacks != nil {
		s.wrong("missing %s", quoted(lacks))
	}
	s.members(rules, v)
	if !s.more() {
		return
	}
	for name, needs := range rules.dependentRequired {
		if _, there := v[name]; !there {
			continue
		}
		if lacks := missing(v, needs); s.spend(len(needs)/4) && lacks != nil {
			s.wrong("missing %s, which %q needs", quoted(lacks), cut(name))
		}
	}
	for name, n := range rules.dependentSchemas {
		if _, there := v[name]; there && s.more() {
			s.apply(n)
		}
	}
}

func missing(v map[string]any, names []string) []string {
	var lacks []string
	for _, name := range names {
		if _, there := v[name]; !there {
			lacks = append(lacks, name)
		}
	}
	return lacks
}

// members holds names and values against their schemas.
func (s *state) members(rules *objectRules, v map[string]any) {
	if rules.properties == nil && rules.patterns == nil && rules.additional == nil && rules.names == nil {
		return
	}
	var unknown []string
	for name, value := range v {
		if !s.more() {
			return
		}
		if rules.names != nil {
			s.name(rules.names, name)
		}
		known := false
		at := s.at.key(name)
		if n := rules.properties[name]; n != nil {
			known = true
			s.child(n, value, at)
		}
		for _, p := range rules.patterns {
			if s.spend(1+len(name)/64) && p.name.MatchString(name) {
				known = true
				s.child(p.node, value, at)
			}
		}
		if n := rules.additional; n != nil && !known {
			known = true
			if n.verdict == never {
				unknown = append(unknown, name)
			} else {
				s.child(n, value, at)
			}
		}
		if known {
			s.noteName(name)
		}
	}
	if unknown != nil {
		s.wrong("unknown %s", quoted(unknown))
	}
}

func (s *state) name(n *node, name string) {
	var f *faults
	if s.f != nil {
		f = &faults{run: s.run}
	}
	if _, ok := s.check(n, name, &place{}, f); ok {
		return
	}
	s.ok = false
	if f != nil {
		s.f.add(s.at, "the name %q is not allowed: %s", cut(name), joined(f.sorted(), " and "))
	}
}

func (s *state) array(rules *arrayRules, v []any) {
	if len(v) < rules.min {
		s.wrong("minItems: got %d, want %d", len(v), rules.min)
	}
	if rules.max >= 0 && len(v) > rules.max {
		s.wrong("maxItems: got %d, want %d", len(v), rules.max)
	}
	if rules.unique {
		s.unique(v)
	}
	known := min(len(v), len(rules.prefix))
	for i, n := range rules.prefix[:known] {
		s.child(n, v[i], s.at.item(i))
	}
	if rules.rest != nil {
		for i := known; i < len(v) && s.more(); i++ {
			s.child(rules.rest, v[i], s.at.item(i))
		}
		known = len(v)
	}
	s.noteItems(known)
	if rules.contains != nil && s.more() {
		s.contains(rules, v)
	}
}

func (s *state) unique(v []any) {
	seen := make(map[string]int, len(v))
	for i, item := range v {
		key := canonical(nil, item)
		if !s.spend(1 + len(key)/8) {
			return
		}
		if first, twice := seen[string(key)]; twice {
			s.wrong("items at %d and %d are equal", first, i)
			return
		}
		seen[string(key)] = i
	}
}

func (s *state) contains(rules *arrayRules, v []any) {
	fit := 0
	for i, item := range v {
		if _, ok := s.check(rules.contains, item, s.at.item(i), nil); ok {
			fit++
			s.noteItem(i)
		}
		if s.stopped {
			return
		}
	}
	if rules.maxContains >= 0 && fit > rules.maxContains {
		s.wrong("%s, at most %d may", fitting(fit), rules.maxContains)
	}
	if fit >= rules.minContains {
		return
	}
	why := ""
	if s.f != nil && fit == 0 && len(v) > 0 {
		f := &faults{run: s.run}
		s.check(rules.contains, v[0], s.at.item(0), f)
		why = ": " + joined(f.sorted(), " and ")
	}
	s.wrong("%s what the list must contain, at least %d must%s", fitting(fit), rules.minContains, why)
}

func fitting(n int) string {
	switch n {
	case 0:
		return "no item fits"
	case 1:
		return "1 item fits"
	}
	return fmt.Sprintf("%d items fit", n)
}

// evaluated is what of one value some schema looked at: the values below names,
// or the items.
type evaluated struct {
	names map[string]bool
	first int // so many items from the start
	items map[int]bool
}

func (s *state) notes() *evaluated {
	if s.seen == nil {
		s.seen = &evaluated{names: map[string]bool{}, items: map[int]bool{}}
	}
	return s.seen
}

func (s *state) noteName(name string) {
	if s.tracks {
		s.notes().names[name] = true
	}
}

func (s *state) noteItems(first int) {
	if s.tracks {
		s.notes().first = max(s.notes().first, first)
	}
}

func (s *state) noteItem(i int) {
	if s.tracks {
		s.notes().items[i] = true
	}
}

// note takes over what a schema that fits evaluated of the same value.
func (s *state) note(e *evaluated) {
	if e == nil || !s.spend(len(e.names)+len(e.items)) {
		return
	}
	for name := range e.names {
		s.noteName(name)
	}
	for i := range e.items {
		s.noteItem(i)
	}
	s.noteItems(e.first)
}

// unevaluated applies the rules for what no other schema looked at.
func (s *state) unevaluated() {
	switch v := s.v.(type) {
	case map[string]any:
		if s.n.object != nil && s.n.object.unevaluated != nil {
			s.unevaluatedNames(s.n.object.unevaluated, v)
		}
	case []any:
		if s.n.array == nil || s.n.array.unevaluated == nil {
			return
		}
		seen := s.notes()
		for i := seen.first; i < len(v) && s.more(); i++ {
			if !seen.items[i] {
				s.child(s.n.array.unevaluated, v[i], s.at.item(i))
			}
		}
		s.noteItems(len(v))
	}
}

func (s *state) unevaluatedNames(n *node, v map[string]any) {
	if !s.spend(len(v) / 4) {
		return
	}
	seen := s.notes()
	var unknown []string
	for name, value := range v {
		switch {
		case !s.more():
			return
		case seen.names[name]:
		case n.verdict == never:
			unknown = append(unknown, name)
		default:
			s.child(n, value, s.at.key(name))
		}
		s.noteName(name)
	}
	if unknown != nil {
		s.wrong("unknown %s", quoted(unknown))
	}
}
