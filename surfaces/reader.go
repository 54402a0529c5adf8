package surfaces

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"

	"starling/bus/spec"
	"starling/bus/view"
)

// The limits of one tree. Everything that is listed counts as a node: widgets,
// spans, items, columns, rows, cells, branches, ids and values.
const (
	MaxDepth = 32      // widgets within widgets, branches within branches
	MaxNodes = 10_000  // of one tree
	MaxText  = 1 << 20 // bytes of all texts of one tree
	maxID    = 200     // bytes of one id
)

// parser is what one tree may still spend, and the ids it has used.
type parser struct {
	nodes, text int
	ids         map[string]bool
}

func newParser() *parser { return &parser{nodes: MaxNodes, text: MaxText, ids: map[string]bool{}} }

// room takes n nodes from the budget, before anything is made of them.
func (p *parser) room(n int) error {
	if n > p.nodes {
		return failf("the tree has more than %d parts; show only what fits the panel", MaxNodes)
	}
	p.nodes -= n
	return nil
}

// bytes takes n bytes of text from the budget.
func (p *parser) bytes(n int) error {
	if n > p.text {
		return failf("the texts of the tree are longer than %d bytes; show a part of them", MaxText)
	}
	p.text -= n
	return nil
}

// clean is text that cannot steer a terminal; line asks for a single line. What is
// no text is an error.
func (p *parser) clean(v any, line bool) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", failf("must be a text, not %s%s", kindOf(v), toText(v))
	}
	if err := p.bytes(len(s)); err != nil {
		return "", err
	}
	if line {
		return view.CleanLine(s), nil
	}
	return view.Clean(s), nil
}

// toText is the cure for a number where a text belongs.
func toText(v any) string {
	if _, ok := number(v); ok {
		return "; str(x) makes one"
	}
	return ""
}

// reader reads the fields of one dict. The first error stays in err, with the field
// in its path; what is read after it is zero.
type reader struct {
	p   *parser
	m   map[string]any
	err error
}

func (p *parser) reader(m map[string]any) *reader { return &reader{p: p, m: m} }

// fail keeps the first error; field "" is the dict itself.
func (r *reader) fail(field string, err error) {
	if r.err != nil || err == nil {
		return
	}
	if field != "" {
		err = within(field, err)
	}
	r.err = err
}

// allow refuses fields that are not in names, but those in besides; what says whose
// fields they are.
func (r *reader) allow(names []string, what string, besides ...string) {
	for _, key := range slices.Sorted(maps.Keys(r.m)) {
		if !slices.Contains(names, key) && !slices.Contains(besides, key) {
			r.fail("", failf("%s has no field %s%s", what, quote(key), orOneOf(key, names)))
			return
		}
	}
}

// get returns a field; a None counts as absent.
func (r *reader) get(field string) (any, bool) {
	if r.err != nil {
		return nil, false
	}
	v := r.m[field]
	return v, v != nil
}

// need is get for a field that must be there.
func (r *reader) need(field string) (any, bool) {
	v, ok := r.get(field)
	if !ok {
		r.fail("", failf("needs %q", field))
	}
	return v, ok
}

func (r *reader) line(field string) string { return r.str(field, true) }

func (r *reader) str(field string, line bool) string {
	v, ok := r.get(field)
	if !ok {
		return ""
	}
	s, err := r.p.clean(v, line)
	r.fail(field, err)
	return s
}

// id reads an id as it is: it is compared, never shown.
func (r *reader) id(field string) string {
	v, ok := r.get(field)
	if !ok {
		return ""
	}
	id, err := idOf(v)
	if err == nil {
		err = r.p.bytes(len(id))
	}
	r.fail(field, err)
	return id
}

func idOf(v any) (string, error) {
	s, ok := v.(string)
	switch {
	case !ok:
		return "", failf("must be a text, not %s%s", kindOf(v), toText(v))
	case s == "":
		return "", failf("must not be empty")
	case len(s) > maxID:
		return "", failf("is longer than %d bytes", maxID)
	case !utf8.ValidString(s):
		return "", failf("is no UTF-8")
	}
	return s, nil
}

// unique notes an id and refuses one that is taken, or reads like the key of a
// widget without one.
func unique(seen map[string]bool, id string) error {
	if id == "" {
		return nil
	}
	if id[0] == '#' {
		return failf("must not begin with \"#\"; that is how a place is named")
	}
	if seen[id] {
		return failf("the id %s is used twice", quote(id))
	}
	seen[id] = true
	return nil
}

func (r *reader) style() Style {
	v, ok := r.get("style")
	if !ok {
		return 0
	}
	text, ok := v.(string)
	if !ok {
		r.fail("style", failf("must be a text such as \"accent bold\", not %s", kindOf(v)))
		return 0
	}
	s, err := ParseStyle(text)
	r.fail("style", err)
	return s
}

// name reads one of a few names.
func (r *reader) name(field string, must bool, names ...string) string {
	v, ok := r.get(field)
	if !ok {
		if must {
			r.fail("", failf("needs %q: %s", field, alternatives(names)))
		}
		return ""
	}
	s, ok := v.(string)
	if !ok {
		r.fail(field, failf("must be a text, not %s", kindOf(v)))
		return ""
	}
	if !slices.Contains(names, s) {
		r.fail(field, failf("unknown %s %s%s", field, quote(s), orOneOf(s, names)))
		return ""
	}
	return s
}

func (r *reader) align() Align {
	a := Align(r.name("align", false, "left", "center", "right"))
	if a == "left" {
		return Left
	}
	return a
}

// number reads a whole number from lo to hi.
func (r *reader) number(field string, lo, hi, absent int) int {
	v, ok := r.get(field)
	if !ok {
		return absent
	}
	n, err := whole(v, lo, hi)
	r.fail(field, err)
	return n
}

func whole(v any, lo, hi int) (int, error) {
	f, ok := number(v)
	switch {
	case !ok:
		return 0, failf("must be a whole number, not %s", kindOf(v))
	case f != math.Trunc(f):
		return 0, failf("must be a whole number, not %v", f)
	case f < float64(lo):
		return 0, failf("must be at least %d, not %.0f", lo, f)
	case f > float64(hi):
		return 0, failf("must be at most %d, not %.0f", hi, f)
	}
	return int(f), nil
}

// number is v as a float, if it is a number at all.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

func finite(v any) (float64, error) {
	f, ok := number(v)
	if !ok {
		return 0, failf("must be a number, not %s", kindOf(v))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, failf("must be a finite number")
	}
	if f == 0 {
		return 0, nil // no -0: it has no canonical form
	}
	return f, nil
}

func (r *reader) flag(field string, absent bool) bool {
	v, ok := r.get(field)
	if !ok {
		return absent
	}
	b, ok := v.(bool)
	if !ok {
		r.fail(field, failf("must be True or False, not %s", kindOf(v)))
	}
	return b
}

// list returns the items of a field and takes their nodes from the budget.
func (r *reader) list(field string, must bool) []any {
	v, ok := r.get(field)
	if !ok {
		if must {
			r.need(field)
		}
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		r.fail(field, failf("must be a list, not %s", kindOf(v)))
		return nil
	}
	r.fail(field, r.p.room(len(list)))
	if r.err != nil {
		return nil
	}
	return list
}

// each reads the items of a list field with one function.
func each[T any](r *reader, field string, must bool, read func(v any) (T, error)) []T {
	list := r.list(field, must)
	if len(list) == 0 {
		return nil
	}
	out := make([]T, 0, len(list))
	for i, v := range list {
		x, err := read(v)
		if err != nil {
			r.fail(at(field, i), err)
			return nil
		}
		out = append(out, x)
	}
	return out
}

// dict is v as a dict with texts as keys.
func dict(v any) (map[string]any, error) {
	if frozen, ok := v.(spec.Payload); ok {
		v = frozen.Plain()
	}
	switch m := v.(type) {
	case map[string]any:
		return m, nil
	case map[any]any:
		return nil, failf("has a key that is no text")
	}
	return nil, failf("must be a dict, not %s", kindOf(v))
}

// kindOf names the kind of a value in the words of plugins.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "True or False"
	case string:
		return "a text"
	case []byte:
		return "bytes"
	case []any:
		return "a list"
	case map[string]any:
		if name, ok := v["type"].(string); ok && fields[Type(name)] != nil {
			return "a widget of type " + name
		}
		return "a dict"
	case map[any]any:
		return "a dict"
	}
	if _, ok := number(v); ok {
		return "a number"
	}
	return "something that is no data"
}
