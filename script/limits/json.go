package limits

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// json is the module of that name within the limits: depth, length of texts, and
// sizes of what a text describes, found before any of it is made.
func (r *rules) json() *starlarkstruct.Module {
	return &starlarkstruct.Module{Name: "json", Members: starlark.StringDict{
		"encode":        jsonFunc("encode", r.encode),
		"encode_indent": jsonFunc("encode_indent", r.encodeIndent),
		"decode":        jsonFunc("decode", r.decode),
		"indent":        jsonFunc("indent", r.indent),
	}}
}

func jsonFunc(name string, fn shadow) *starlark.Builtin {
	native, _ := json.Module.Members[name].(*starlark.Builtin)
	return starlark.NewBuiltin("json."+name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return fn(&method{thread: thread, native: native, args: args, kwargs: kwargs})
	})
}

func (r *rules) encode(m *method) (starlark.Value, error) {
	if v := m.arg(0); v != nil {
		meter := jsonMeter{meter: r.meter(m.native.Name(), r.stringRoom())}
		if err := meter.value(v, 0); err != nil {
			return nil, err
		}
	}
	return m.call()
}

// encodeIndent knows the size of its result only from the compact text.
func (r *rules) encodeIndent(m *method) (starlark.Value, error) {
	plain, _ := json.Module.Members["encode"].(*starlark.Builtin)
	text, err := r.encode(&method{thread: m.thread, native: plain, args: m.args})
	if err != nil {
		return m.unindented(err)
	}
	if err := r.checkIndented(m, string(text.(starlark.String))); err != nil {
		return nil, err
	}
	return m.call()
}

// unindented names this function in an error of json.encode.
func (m *method) unindented(err error) (starlark.Value, error) {
	if what, ok := strings.CutPrefix(err.Error(), "json.encode: "); ok {
		return nil, fmt.Errorf("%s: %s", m.native.Name(), what)
	}
	return nil, err
}

func (r *rules) indent(m *method) (starlark.Value, error) {
	if text, ok := m.arg(0).(starlark.String); ok {
		if err := r.checkIndented(m, string(text)); err != nil {
			return nil, err
		}
	}
	return m.call()
}

// checkIndented measures text as it would be with each item on its own line.
func (r *rules) checkIndented(m *method, text string) error {
	prefix, indent := 0, 1
	for _, kv := range m.kwargs {
		n := starlark.Len(kv[1])
		switch name, _ := starlark.AsString(kv[0]); name {
		case "prefix":
			prefix = max(n, 0)
		case "indent":
			indent = max(n, 0)
		}
	}
	s := jsonScan{what: m.native.Name(), r: r}
	if err := s.text(text); err != nil {
		return err
	}
	room := r.stringRoom() - len(text) - s.breaks
	if s.breaks > 0 && prefix > room/s.breaks {
		return over(m.native.Name(), len(text)+s.breaks*(1+prefix), r.stringRoom(), "bytes", "string")
	}
	room -= s.breaks * prefix
	if s.levels > 0 && indent > room/s.levels {
		return over(m.native.Name(), len(text)+s.breaks*(1+prefix)+s.levels*indent, r.stringRoom(), "bytes", "string")
	}
	return nil
}

// jsonScan goes through a JSON text once, whether it is valid or not, and finds
// what would make reading it dangerous.
type jsonScan struct {
	what   string
	r      *rules
	breaks int   // line breaks indenting would add, at most
	levels int   // sum of their depths
	items  []int // so far, for each open bracket
	digits int   // of the current number
}

func (s *jsonScan) text(text string) error {
	if len(text) > maxJSON {
		return fmt.Errorf("%s: the text has %d bytes, the limit is %d", s.what, len(text), maxJSON)
	}
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		default:
			if err := s.token(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *jsonScan) token(c byte) error {
	if c >= '0' && c <= '9' {
		s.digits++
		return s.r.checkInt(s.what, s.digits*332/100)
	}
	s.digits = 0
	switch c {
	case '[', '{':
		s.items = append(s.items, 1)
		if depth := s.r.depth(); len(s.items) > depth {
			return fmt.Errorf("%s: nested more than %d deep", s.what, depth)
		}
		s.line()
	case ']', '}':
		if len(s.items) > 0 {
			s.items = s.items[:len(s.items)-1]
		}
		s.line()
	case ',':
		s.line()
		if len(s.items) > 0 {
			n := &s.items[len(s.items)-1]
			*n++
			return s.r.checkList(s.what, *n)
		}
	}
	return nil
}

func (s *jsonScan) line() {
	s.breaks++
	s.levels += len(s.items)
}

// jsonMeter measures what encoding a value would write.
type jsonMeter struct{ *meter }

func (m jsonMeter) value(v starlark.Value, depth int) error {
	if depth > m.r.depth() {
		return fmt.Errorf("%s: the value is nested more than %d deep", m.what, m.r.depth())
	}
	switch v := v.(type) {
	case starlark.String:
		return m.spend(jsonLen(string(v)))
	case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, starlark.Bytes:
		return m.meter.value(v, depth)
	case *starlark.List, *starlark.Dict:
		if slices.Contains(m.path, starlark.Value(v)) {
			return nil // the encoder refuses it
		}
		m.path = append(m.path, v)
		defer func() { m.path = m.path[:len(m.path)-1] }()
	}
	switch v := v.(type) {
	case starlark.IterableMapping:
		return m.mapping(v, depth)
	case starlark.Iterable:
		return m.sequence(v, depth)
	case starlark.HasAttrs:
		return m.attrs(v, depth)
	}
	return m.spend(1)
}

func (m jsonMeter) mapping(v starlark.IterableMapping, depth int) error {
	if err := m.spend(2); err != nil {
		return err
	}
	for k, x := range starlark.Entries(v) {
		if err := m.spend(2); err != nil {
			return err
		}
		if err := m.value(k, depth+1); err != nil {
			return err
		}
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m jsonMeter) sequence(v starlark.Iterable, depth int) error {
	if err := m.spend(2); err != nil {
		return err
	}
	for x := range starlark.Elements(v) {
		if err := m.spend(1); err != nil {
			return err
		}
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m jsonMeter) attrs(v starlark.HasAttrs, depth int) error {
	if err := m.spend(2); err != nil {
		return err
	}
	names := v.AttrNames()
	sort.Strings(names)
	for _, name := range names {
		x, err := v.Attr(name)
		if err != nil || x == nil {
			return nil // the encoder refuses it
		}
		if err := m.spend(len(name) + 4); err != nil {
			return err
		}
		if err := m.value(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// jsonLen is the length of the JSON string of s. The encoder writes ASCII text
// plainly and escapes more in all other text.
func jsonLen(s string) int {
	escaped, plain := 2, true
	quotes := 0
	for _, c := range s {
		switch {
		case c < ' ' || c == '<' || c == '>' || c == '&' || c == utf8.RuneError || c == 0x2028 || c == 0x2029:
			escaped += 6
		case c == '"' || c == '\\':
			escaped += 2
			quotes++
		case c == 0x7f: // which the encoder writes as Go does
			escaped += 4
			quotes += 3
		default:
			escaped += utf8.RuneLen(c)
		}
		plain = plain && c >= ' ' && c < utf8.RuneSelf
	}
	if plain {
		return 2 + len(s) + quotes
	}
	return escaped
}
