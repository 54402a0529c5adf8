package limits

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Hashing a tuple visits its parts as often as they are reached, and a failed
// lookup prints it. So tuples are measured where they are made, and none can
// exist that is exponentially larger than what it is made of.

// tuple lets v pass if it is no tuple or one of bounded size.
func (r *rules) tuple(v starlark.Value) (starlark.Value, error) {
	t, ok := v.(starlark.Tuple)
	if !ok {
		return v, nil
	}
	nested, bytes := false, 0
	for _, x := range t {
		switch x := x.(type) {
		case starlark.String:
			bytes += len(x)
		case starlark.Bytes:
			bytes += len(x)
		case starlark.Tuple, *starlarkstruct.Struct:
			nested = true
		}
	}
	if nested || r.String > 0 && bytes > 2*r.String {
		return v, r.hashable(v)
	}
	return v, nil
}

// measured is r.tuple for the results of an operation, structs included.
func (r *rules) measured(v starlark.Value, err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	if _, ok := v.(*starlarkstruct.Struct); ok {
		return v, r.hashable(v)
	}
	return r.tuple(v)
}

// hashable refuses a tuple or struct that would take too long to hash or print.
func (r *rules) hashable(v starlark.Value) error {
	nodes, bytes := r.hashNodes(), 2*r.String
	if r.String <= 0 {
		bytes = int(^uint(0) >> 1)
	}
	if !weighHashable(v, &nodes, &bytes, maxDepth) {
		return fmt.Errorf("%s: too large: more than %d values or %d bytes, counting shared parts again", v.Type(), r.hashNodes(), 2*r.String)
	}
	return nil
}

// hashNodes is the number of values a tuple may hold at all levels.
func (r *rules) hashNodes() int {
	if r.List <= 0 {
		return maxNodes
	}
	return min(2*r.List, maxNodes)
}

func weighHashable(v starlark.Value, nodes, bytes *int, depth int) bool {
	*nodes--
	switch v := v.(type) {
	case starlark.String:
		*bytes -= len(v)
	case starlark.Bytes:
		*bytes -= len(v)
	case starlark.Tuple:
		if len(v) > *nodes || depth == 0 {
			return false
		}
		for _, x := range v {
			if !weighHashable(x, nodes, bytes, depth-1) {
				return false
			}
		}
	case *starlarkstruct.Struct:
		if v.Len() > *nodes || depth == 0 {
			return false
		}
		for _, x := range v.Entries() {
			if !weighHashable(x, nodes, bytes, depth-1) {
				return false
			}
		}
	}
	return *nodes >= 0 && *bytes >= 0
}

// meter measures what printing a value would write, without writing it. It spends
// bytes and nodes, and counts shared parts as often as they would be printed.
type meter struct {
	what  string
	r     *rules
	bytes int
	nodes int
	float int              // bytes of a large float
	path  []starlark.Value // lists and dicts being printed, as the printer keeps them
}

func (r *rules) meter(what string, bytes int) *meter {
	return &meter{what: what, r: r, bytes: bytes, nodes: maxNodes, float: 24}
}

func (m *meter) spend(bytes int) error {
	m.bytes -= bytes
	m.nodes--
	if m.bytes < 0 {
		return fmt.Errorf("%s: the text would be longer than this plugin's limit of %d bytes (limits = {\"string\": …} changes it)", m.what, m.r.stringRoom())
	}
	if m.nodes < 0 {
		return fmt.Errorf("%s: more than %d values in one value, counting shared parts again", m.what, maxNodes)
	}
	return nil
}

// text measures v as str prints it, or as repr does if quoted.
func (m *meter) text(v starlark.Value, quoted bool) error {
	if !quoted {
		switch v := v.(type) {
		case starlark.String:
			return m.spend(len(v))
		case starlark.Bytes:
			return m.spend(len(v))
		}
	}
	return m.value(v, 0)
}

func (m *meter) value(v starlark.Value, depth int) error {
	if depth > m.r.depth() {
		return fmt.Errorf("%s: the value is nested more than %d deep", m.what, m.r.depth())
	}
	switch v := v.(type) {
	case starlark.String:
		return m.quoted(string(v))
	case starlark.Bytes:
		return m.quoted(string(v))
	case starlark.Int:
		n, ok := v.Int64()
		if !ok {
			return m.spend(bitLen(v)/3 + 2)
		}
		return m.spend(bits.Len64(uint64(max(n, -n)))/3 + 2)
	case starlark.NoneType, starlark.Bool:
		return m.spend(5)
	case starlark.Float:
		if v > 1e15 || v < -1e15 {
			return m.spend(m.float)
		}
		return m.spend(24)
	case *starlark.List:
		return m.inside(v, func() error { return m.items(v.Len(), v.Index, depth) })
	case starlark.Tuple:
		return m.items(len(v), v.Index, depth)
	case *starlark.Dict:
		return m.inside(v, func() error { return m.dict(v, depth) })
	case *starlark.Set:
		return m.set(v, depth)
	case *starlarkstruct.Struct:
		return m.structure(v, depth)
	case starlark.Iterable:
		return m.view(v)
	}
	return m.spend(64)
}

// view measures a range, or a view of a string such as s.elems(), which is printed
// as that string.
func (m *meter) view(v starlark.Iterable) error {
	if v.Type() == "range" {
		return m.spend(64)
	}
	for x := range starlark.Elements(v) {
		n := 10 // the longest escape of a rune
		if s, ok := x.(starlark.String); ok && len(s) == 1 {
			n = 4
		}
		if err := m.spend(n); err != nil {
			return err
		}
	}
	return m.spend(64)
}

// inside measures a container that may hold itself; the printer then writes dots.
func (m *meter) inside(v starlark.Value, body func() error) error {
	if slices.Contains(m.path, v) {
		return m.spend(5)
	}
	m.path = append(m.path, v)
	err := body()
	m.path = m.path[:len(m.path)-1]
	return err
}

func (m *meter) items(n int, at func(int) starlark.Value, depth int) error {
	if err := m.spend(3 + 2*n); err != nil {
		return err
	}
	for i := range n {
		if err := m.value(at(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) dict(v *starlark.Dict, depth int) error {
	if err := m.spend(2 + 4*v.Len()); err != nil {
		return err
	}
	for k, x := range v.Entries() {
		if err := m.value(k, depth+1); err != nil {
			return err
		}
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) set(v *starlark.Set, depth int) error {
	if err := m.spend(7 + 2*v.Len()); err != nil {
		return err
	}
	for x := range v.Elements() {
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// structure starts a new path, as the printer of structs does: a list that holds
// itself through a struct is only ended by the depth.
func (m *meter) structure(v *starlarkstruct.Struct, depth int) error {
	path := m.path
	m.path = nil
	defer func() { m.path = path }()
	if err := m.spend(2); err != nil {
		return err
	}
	if err := m.value(v.Constructor(), depth+1); err != nil {
		return err
	}
	for name, x := range v.Entries() {
		if err := m.spend(len(name) + 5); err != nil {
			return err
		}
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// quoted measures the literal of s. Where every byte needing four would fit, the
// exact length does not matter.
func (m *meter) quoted(s string) error {
	n := 3
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\' || c >= '\a' && c <= '\r':
				n += 2
			case c < ' ' || c == 0x7f:
				n += 4
			default:
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			n += 4
		case strconv.IsPrint(r):
			n += size
		case r < 0x10000:
			n += 6
		default:
			n += 10
		}
		i += size
	}
	return m.spend(n)
}
