package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Budgets of JSON text that comes from outside.
const (
	JSONDepth = 200
	JSONBytes = 8 << 20
	jsonBits  = 64 << 10 // of one integer
)

// JSON decodes raw into fresh, unfrozen values; numbers without a fraction are
// ints of any size up to 64 Kbit. Text deeper than 200 or longer than 8 MiB, or
// anything behind the value, is an error with its offset.
func JSON(raw json.RawMessage) (starlark.Value, error) {
	return fromHost().decode(raw, 0)
}

func (b *budget) decode(raw []byte, depth int) (starlark.Value, error) {
	if len(raw) > JSONBytes {
		return nil, refuse("JSON text of %d bytes is longer than %d", len(raw), JSONBytes)
	}
	d := decoder{src: raw, budget: b}
	v, err := d.value(depth)
	if err != nil {
		return nil, err
	}
	d.space()
	if d.pos < len(raw) {
		return nil, d.errorf("unexpected %s after the value", d.here())
	}
	return v, nil
}

type decoder struct {
	src    []byte
	pos    int
	budget *budget
}

func (d *decoder) errorf(format string, args ...any) error {
	return refuse("JSON at offset %d: %s", d.pos, fmt.Sprintf(format, args...))
}

func (d *decoder) here() string {
	if d.pos >= len(d.src) {
		return "end of text"
	}
	r, _ := utf8.DecodeRune(d.src[d.pos:])
	return strconv.QuoteRune(r)
}

func (d *decoder) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

func (d *decoder) value(depth int) (starlark.Value, error) {
	d.space()
	if depth > JSONDepth {
		return nil, d.errorf("nested more than %d deep", JSONDepth)
	}
	if err := d.budget.spend(depth, 0); err != nil {
		return nil, err
	}
	if d.pos >= len(d.src) {
		return nil, d.errorf("unexpected end of text")
	}
	switch c := d.src[d.pos]; {
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '"':
		s, err := d.text()
		return starlark.String(s), err
	case c == '-' || c >= '0' && c <= '9':
		return d.number()
	}
	for word, v := range map[string]starlark.Value{"null": starlark.None, "true": starlark.True, "false": starlark.False} {
		if bytes.HasPrefix(d.src[d.pos:], []byte(word)) {
			d.pos += len(word)
			return v, nil
		}
	}
	return nil, d.errorf("unexpected %s", d.here())
}

func (d *decoder) object(depth int) (starlark.Value, error) {
	out := new(starlark.Dict)
	d.pos++
	d.space()
	if d.peek('}') {
		return out, nil
	}
	for {
		d.space()
		if d.pos >= len(d.src) || d.src[d.pos] != '"' {
			return nil, d.errorf("want a string as key, got %s", d.here())
		}
		key, err := d.text()
		if err != nil {
			return nil, err
		}
		d.space()
		if !d.peek(':') {
			return nil, d.errorf("want ':' after the key, got %s", d.here())
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, within(field(key), err)
		}
		if err := out.SetKey(starlark.String(key), v); err != nil {
			return nil, within(field(key), err)
		}
		d.space()
		if d.peek('}') {
			return out, nil
		}
		if !d.peek(',') {
			return nil, d.errorf("want ',' or '}', got %s", d.here())
		}
	}
}

func (d *decoder) array(depth int) (starlark.Value, error) {
	var elems []starlark.Value
	d.pos++
	d.space()
	if d.peek(']') {
		return starlark.NewList(nil), nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, within(index(len(elems)), err)
		}
		elems = append(elems, v)
		d.space()
		if d.peek(']') {
			return starlark.NewList(elems), nil
		}
		if !d.peek(',') {
			return nil, d.errorf("want ',' or ']', got %s", d.here())
		}
	}
}

// peek takes c when it comes next.
func (d *decoder) peek(c byte) bool {
	if d.pos < len(d.src) && d.src[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

// text reads a string literal; the common one without escapes costs one copy.
func (d *decoder) text() (string, error) {
	start := d.pos
	plain := true
	for i := start + 1; i < len(d.src); i++ {
		switch c := d.src[i]; {
		case c == '"':
			lit := d.src[start : i+1]
			d.pos = i + 1
			if plain {
				return string(lit[1 : len(lit)-1]), nil
			}
			var s string
			if err := json.Unmarshal(lit, &s); err != nil {
				d.pos = start
				return "", d.errorf("bad string")
			}
			return s, nil
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			d.pos = i
			return "", d.errorf("control character in a string")
		case c >= utf8.RuneSelf:
			plain = false // Unmarshal mends invalid UTF-8
		}
	}
	return "", d.errorf("a string without end")
}

func (d *decoder) number() (starlark.Value, error) {
	start := d.pos
	for d.pos < len(d.src) && strings.IndexByte("+-0123456789.eE", d.src[d.pos]) >= 0 {
		d.pos++
	}
	lit := d.src[start:d.pos]
	if !json.Valid(lit) {
		d.pos = start
		return nil, d.errorf("bad number")
	}
	v, err := number(string(lit))
	if err != nil {
		d.pos = start
		return nil, d.errorf("%s", err)
	}
	return v, nil
}

// number reads a valid JSON number.
func number(lit string) (starlark.Value, error) {
	if strings.ContainsAny(lit, ".eE") {
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil {
			return nil, refuse("number %s does not fit a float", Clip(lit, 40))
		}
		return starlark.Float(f), nil
	}
	if i, err := strconv.ParseInt(lit, 10, 64); err == nil {
		return starlark.MakeInt64(i), nil
	}
	if len(lit) > jsonBits*3/10 {
		return nil, refuse("a number of %d digits is too long", len(lit))
	}
	i, ok := new(big.Int).SetString(lit, 10)
	if !ok {
		return nil, refuse("bad number %s", Clip(lit, 40))
	}
	return starlark.MakeBigInt(i), nil
}

// ToJSON encodes v with the budgets of Copy. Dicts keep the order of their
// keys, which must be strings; tuples, sets and ranges become arrays, structs
// objects. A float keeps a fraction, so that it comes back as one.
func ToJSON(v starlark.Value) (json.RawMessage, error) {
	e := encoder{budget: crossing()}
	if err := e.value(v, 0); err != nil {
		return nil, err
	}
	return e.out.Bytes(), nil
}

type encoder struct {
	out    bytes.Buffer
	budget *budget
}

func (e *encoder) value(v starlark.Value, depth int) error {
	if err := e.budget.spend(depth, size(v)); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.NoneType:
		e.out.WriteString("null")
	case starlark.Bool:
		e.out.WriteString(strconv.FormatBool(bool(v)))
	case starlark.Int:
		if v.BigInt().BitLen() > jsonBits {
			return refuse("an int of %d bits is too long", v.BigInt().BitLen())
		}
		e.out.WriteString(v.String())
	case starlark.Float:
		return e.float(float64(v))
	case starlark.String:
		e.text(string(v))
	case *starlark.List, starlark.Tuple:
		return e.array(v.(starlark.Indexable), depth)
	case *starlark.Set:
		return e.array(starlark.NewList(setElems(v)), depth)
	case *starlark.Dict:
		return e.dict(v, depth)
	case *starlarkstruct.Struct:
		return e.attrs(v, depth)
	case *View:
		return e.attrs(v, depth)
	case starlark.Indexable:
		if v.Type() == "range" {
			return e.array(v, depth)
		}
		return refuse("a value of type %s has no JSON form", v.Type())
	default:
		if _, ok := v.(starlark.Callable); ok {
			return refuse("a function has no JSON form")
		}
		return refuse("a value of type %s has no JSON form", v.Type())
	}
	return nil
}

func setElems(s *starlark.Set) []starlark.Value {
	elems := make([]starlark.Value, 0, s.Len())
	for x := range s.Elements() {
		elems = append(elems, x)
	}
	return elems
}

func (e *encoder) float(f float64) error {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return refuse("the float %v has no JSON form", f)
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	e.out.WriteString(s)
	if !strings.ContainsAny(s, ".e") {
		e.out.WriteString(".0")
	}
	return nil
}

func (e *encoder) text(s string) {
	enc := json.NewEncoder(&e.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err == nil { // a string into a buffer always encodes
		e.out.Truncate(e.out.Len() - 1)
	}
}

func (e *encoder) array(v starlark.Indexable, depth int) error {
	if err := e.budget.room(v.Len()); err != nil {
		return err
	}
	e.out.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.value(v.Index(i), depth+1); err != nil {
			return within(index(i), err)
		}
	}
	e.out.WriteByte(']')
	return nil
}

func (e *encoder) dict(v *starlark.Dict, depth int) error {
	e.out.WriteByte('{')
	first := true
	for k, x := range v.Entries() {
		key, ok := starlark.AsString(k)
		if !ok {
			return within(member(k), refuse("a key must be a string, not %s", k.Type()))
		}
		if err := e.member(key, x, depth, first); err != nil {
			return within(member(k), err)
		}
		first = false
	}
	e.out.WriteByte('}')
	return nil
}

func (e *encoder) attrs(v starlark.HasAttrs, depth int) error {
	e.out.WriteByte('{')
	for i, name := range v.AttrNames() {
		x, err := v.Attr(name)
		if err != nil {
			return within("."+name, err)
		}
		if err := e.member(name, x, depth, i == 0); err != nil {
			return within("."+name, err)
		}
	}
	e.out.WriteByte('}')
	return nil
}

func (e *encoder) member(key string, x starlark.Value, depth int, first bool) error {
	if !first {
		e.out.WriteByte(',')
	}
	if err := e.budget.spend(depth+1, len(key)); err != nil {
		return err
	}
	e.text(key)
	e.out.WriteByte(':')
	return e.value(x, depth+1)
}
