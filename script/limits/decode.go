package limits

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// decode is json.decode. The language's own makes all values of a text in one
// step, which can be hundreds of megabytes; this one can be stopped meanwhile.
func (r *rules) decode(m *method) (starlark.Value, error) {
	var (
		text     string
		fallback starlark.Value
	)
	if err := starlark.UnpackArgs("json.decode", m.args, m.kwargs, "x", &text, "default?", &fallback); err != nil {
		return nil, err
	}
	if len(m.args) < 1 {
		return nil, errors.New("json.decode: unexpected keyword argument x")
	}
	s := jsonScan{what: "json.decode", r: r}
	if err := s.text(text); err != nil {
		return nil, err
	}
	d := decoder{text: text, loop: work{r: r, thread: m.thread}}
	v, err := d.document()
	var invalid *syntaxError
	if errors.As(err, &invalid) {
		if fallback != nil {
			return fallback, nil
		}
		return nil, fmt.Errorf("json.decode: at offset %d, %w", d.at, err)
	}
	return v, err
}

// syntaxError says what is wrong with the text at the decoder's place.
type syntaxError struct{ msg string }

func (e *syntaxError) Error() string { return e.msg }

func invalid(format string, args ...any) error {
	return &syntaxError{fmt.Sprintf(format, args...)}
}

type decoder struct {
	text string
	at   int
	loop work
}

func (d *decoder) document() (starlark.Value, error) {
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	if d.skipSpace() {
		return nil, invalid("unexpected character %q after value", d.text[d.at])
	}
	return v, nil
}

// skipSpace tells whether there is more text behind the space.
func (d *decoder) skipSpace() bool {
	for ; d.at < len(d.text); d.at++ {
		switch d.text[d.at] {
		case ' ', '\t', '\n', '\r':
		default:
			return true
		}
	}
	return false
}

func (d *decoder) next() (byte, error) {
	if !d.skipSpace() {
		return 0, invalid("unexpected end of file")
	}
	return d.text[d.at], nil
}

func (d *decoder) value() (starlark.Value, error) {
	c, err := d.next()
	if err != nil {
		return nil, err
	}
	if err := d.loop.add(nil); err != nil {
		return nil, err
	}
	switch {
	case c == '"':
		return d.quoted()
	case c == '[':
		return d.array()
	case c == '{':
		return d.object()
	case d.word("null"):
		return starlark.None, nil
	case d.word("true"):
		return starlark.True, nil
	case d.word("false"):
		return starlark.False, nil
	case c == '-' || isDigit(c):
		return d.number()
	}
	return nil, invalid("unexpected character %q", c)
}

func (d *decoder) word(w string) bool {
	if !strings.HasPrefix(d.text[d.at:], w) {
		return false
	}
	d.at += len(w)
	return true
}

func (d *decoder) quoted() (starlark.Value, error) {
	plain, end := true, d.at+1
	for ; end < len(d.text) && d.text[end] != '"'; end++ {
		switch c := d.text[end]; {
		case c == '\\':
			plain = false
			end++
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	if end >= len(d.text) {
		return nil, invalid("unclosed string literal")
	}
	literal := d.text[d.at : end+1]
	d.at = end + 1
	if plain {
		return starlark.String(literal[1 : len(literal)-1]), nil
	}
	var s string
	if err := stdjson.Unmarshal([]byte(literal), &s); err != nil {
		return nil, invalid("%s", err)
	}
	return starlark.String(s), nil
}

func (d *decoder) array() (starlark.Value, error) {
	var items []starlark.Value
	d.at++
	c, err := d.next()
	for more := c != ']'; more && err == nil; {
		var v starlark.Value
		if v, err = d.value(); err != nil {
			return nil, err
		}
		items = append(items, v)
		if more, err = d.another(']', "got %q, want ',' or ']'"); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	d.at++
	return starlark.NewList(items), nil
}

// another tells whether a comma follows, and steps over it; otherwise the end
// must follow.
func (d *decoder) another(end byte, format string) (bool, error) {
	c, err := d.next()
	switch {
	case err != nil:
		return false, err
	case c == ',':
		d.at++
		return true, nil
	case c != end:
		return false, invalid(format, c)
	}
	return false, nil
}

func (d *decoder) object() (starlark.Value, error) {
	dict := new(starlark.Dict)
	d.loop.n += 16 // an empty dict has some 500 bytes
	d.at++
	c, err := d.next()
	for more := c != '}'; more && err == nil; {
		if err = d.member(dict); err != nil {
			return nil, err
		}
		if more, err = d.another('}', "in object, got %q, want ',' or '}'"); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	d.at++
	return dict, nil
}

func (d *decoder) member(dict *starlark.Dict) error {
	key, err := d.value()
	if err != nil {
		return err
	}
	if _, ok := key.(starlark.String); !ok {
		return invalid("got %s for object key, want string", key.Type())
	}
	c, err := d.next()
	if err != nil {
		return err
	}
	if c != ':' {
		return invalid("after object key, got %q, want ':' ", c)
	}
	d.at++
	v, err := d.value()
	if err != nil {
		return err
	}
	return dict.SetKey(key, v)
}

func (d *decoder) number() (starlark.Value, error) {
	start, isFloat := d.at, false
	for d.at++; d.at < len(d.text); d.at++ {
		c := d.text[d.at]
		if isDigit(c) {
			continue
		}
		if !strings.ContainsRune(".eE+-", rune(c)) {
			break
		}
		isFloat = true
	}
	literal := d.text[start:d.at]
	digits := strings.TrimPrefix(literal, "-")
	if digits == "" || len(digits) > 1 && digits[0] == '0' && isDigit(digits[1]) {
		return nil, invalid("invalid number: %s", literal)
	}
	if isFloat {
		f, err := strconv.ParseFloat(literal, 64)
		if err != nil {
			return nil, invalid("invalid number: %s", literal)
		}
		return starlark.Float(f), nil
	}
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return starlark.MakeInt64(i), nil
	}
	i, ok := new(big.Int).SetString(literal, 10)
	if !ok {
		return nil, invalid("invalid number: %s", literal)
	}
	return starlark.MakeBigInt(i), nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
