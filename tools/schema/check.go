package schema

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"unicode/utf8"
)

// Limits of one check.
const (
	maxWork  = 2_000_000 // schemas applied, words said, and a step for every few bytes compared
	maxDepth = 10_000    // schemas inside schemas, about the depth of the document
)

// ErrTooMuch is a document that would take too long, or is nested too deeply, to
// be held against its schema.
var ErrTooMuch = errors.New("checking the document against its schema takes too long; make it smaller or less nested")

// Check returns every fault of a decoded document, see Decode, one line each and
// ordered by place; none means that it fits. At most 10 000 are listed. The error
// is ErrTooMuch or nil.
func (s *Schema) Check(document any) ([]string, error) {
	r := &run{work: maxWork, tracks: s.tracks}
	f := &faults{run: r}
	r.check(s.root, document, &place{}, f)
	if r.stopped {
		return nil, ErrTooMuch
	}
	return f.sorted(), nil
}

// run is one check of one document.
type run struct {
	work, depth int
	stopped     bool // out of work or too deep: no verdict counts
	tracks      bool
}

// spend takes steps of work and tells whether the check goes on.
func (r *run) spend(steps int) bool {
	if r.work -= steps; r.work < 0 {
		r.stopped = true
	}
	return !r.stopped
}

// check holds v against n. It returns whether v fits, and when evaluations are
// tracked, what of v the schema evaluated. With f nil it stops at the first fault.
func (r *run) check(n *node, v any, at *place, f *faults) (*evaluated, bool) {
	if !r.spend(1) {
		return nil, false
	}
	switch n.verdict {
	case always:
		return nil, true
	case never:
		f.add(at, "is not allowed")
		return nil, false
	}
	if r.depth++; r.depth > maxDepth {
		r.stopped = true
	}
	defer func() { r.depth-- }()
	// A value of the wrong kind has no other fault worth a word.
	if !r.fitsType(n.types, v) {
		f.add(at, "must be %s, got %s", strings.Join(n.types.names(), " or "), strings.Join(kindOf(v).names(), ""))
		return nil, false
	}
	if n.values != nil && !r.among(n.values, v, at, f) {
		return nil, false
	}
	st := state{run: r, n: n, v: v, at: at, f: f, ok: true}
	if n.ref != nil {
		st.apply(n.ref)
	}
	st.kinds()
	if n.combine != nil && st.more() {
		st.combine(n.combine)
	}
	if st.more() {
		st.unevaluated()
	}
	return st.seen, st.ok && !r.stopped
}

func (r *run) fitsType(types kinds, v any) bool {
	if types == 0 {
		return true
	}
	if n, ok := v.(json.Number); ok && types&integer != 0 && types&number == 0 {
		return r.spend(len(n)/64) && decimalOf(n).isInteger()
	}
	return types&kindOf(v) != 0
}

func (r *run) among(vs *values, v any, at *place, f *faults) bool {
	key := canonical(nil, v)
	if !r.spend(len(key) / 8) {
		return false
	}
	for i, set := range vs.sets {
		if !set[string(key)] {
			f.add(at, "%s", vs.words[i])
			return false
		}
	}
	return true
}

// state is a value under one schema.
type state struct {
	*run
	n    *node
	v    any
	at   *place
	f    *faults
	ok   bool
	seen *evaluated
}

// more tells whether the rest of the schema is of interest.
func (s *state) more() bool { return !s.stopped && (s.ok || s.f != nil) }

func (s *state) wrong(format string, args ...any) {
	s.ok = false
	s.f.add(s.at, format, args...)
}

// apply holds the value itself against another schema.
func (s *state) apply(n *node) {
	seen, ok := s.check(n, s.v, s.at, s.f)
	s.ok = s.ok && ok
	if ok {
		s.note(seen)
	}
}

// child holds a part of the value against its schema.
func (s *state) child(n *node, v any, at *place) {
	_, ok := s.check(n, v, at, s.f)
	s.ok = s.ok && ok
}

// kinds applies the rules for the kind of the value.
func (s *state) kinds() {
	if !s.more() {
		return
	}
	switch v := s.v.(type) {
	case json.Number:
		if s.n.number != nil {
			s.number(s.n.number, v)
		}
	case string:
		if s.n.text != nil {
			s.text(s.n.text, v)
		}
	case []any:
		if s.n.array != nil {
			s.array(s.n.array, v)
		}
	case map[string]any:
		if s.n.object != nil {
			s.object(s.n.object, v)
		}
	}
}

func (s *state) number(rules *numberRules, v json.Number) {
	if !s.spend(len(v) / 32) {
		return
	}
	d := decimalOf(v)
	fits := func(keyword string, b *bound, ok func(int) bool) {
		if b != nil && !ok(d.cmp(b.decimal)) {
			s.wrong("%s: got %s, want %s", keyword, shown(v), b.written)
		}
	}
	fits("minimum", rules.min, func(c int) bool { return c >= 0 })
	fits("maximum", rules.max, func(c int) bool { return c <= 0 })
	fits("exclusiveMinimum", rules.above, func(c int) bool { return c > 0 })
	fits("exclusiveMaximum", rules.below, func(c int) bool { return c < 0 })
	// The remainder of long numbers is the one rule that is not linear.
	if rules.step != nil && s.spend(square(len(d.digits)+len(rules.step.digits))) && !d.multipleOf(rules.step.decimal) {
		s.wrong("multipleOf: got %s, want %s", shown(v), rules.step.written)
	}
}

// square returns the steps for arithmetic on numbers of so many digits.
func square(digits int) int {
	if digits > 1<<20 {
		return math.MaxInt / 2
	}
	return digits * digits / 10_000
}

func (s *state) text(rules *textRules, v string) {
	if !s.spend(len(v) / 64) {
		return
	}
	length := utf8.RuneCountInString(v)
	if length < rules.min {
		s.wrong("minLength: got %d, want %d", length, rules.min)
	}
	if rules.max >= 0 && length > rules.max {
		s.wrong("maxLength: got %d, want %d", length, rules.max)
	}
	if rules.pattern != nil && !rules.pattern.MatchString(v) {
		s.wrong("%s does not match pattern %s", shown(v), shown(rules.pattern.String()))
	}
}

func (s *state) combine(c *combination) {
	for _, n := range c.all {
		if !s.more() {
			return
		}
		s.apply(n)
	}
	if c.any != nil {
		s.alternatives(c.any, false)
	}
	if c.one != nil && s.more() {
		s.alternatives(c.one, true)
	}
	if c.not != nil && s.more() {
		if _, ok := s.check(c.not, s.v, s.at, nil); ok {
			s.wrong("has a value that is ruled out")
		}
	}
	if c.condition == nil || !s.more() {
		return
	}
	seen, ok := s.check(c.condition, s.v, s.at, nil)
	next := c.option
	if ok {
		s.note(seen)
		next = c.consequence
	}
	if next != nil {
		s.apply(next)
	}
}

// alternatives is anyOf, or oneOf when only one may fit.
func (s *state) alternatives(list []*node, exclusive bool) {
	fit := 0
	for _, n := range list {
		if seen, ok := s.check(n, s.v, s.at, nil); ok {
			fit++
			s.note(seen)
			if exclusive && fit > 1 || !exclusive && !s.tracks {
				break
			}
		}
		if s.stopped {
			return
		}
	}
	switch {
	case fit == 0 && s.f == nil:
		s.ok = false
	case fit == 0:
		// Said only now: words for alternatives that turn out to fit cost most.
		var all []string
		for _, n := range list {
			f := &faults{run: s.run}
			s.check(n, s.v, s.at, f)
			all = append(all, joined(f.sorted(), " and "))
		}
		s.wrong("fits none of the alternatives: %s", joined(all, "; or "))
	case exclusive && fit > 1:
		s.wrong("fits more than one of alternatives that exclude each other")
	}
}
