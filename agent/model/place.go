package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth of values inside each other in models.json.
const maxDepth = 32

// document is a JSON file a person edits: errors name line and column.
type document struct {
	path string
	data []byte
	errs []error
}

// value is a JSON value with its place. Its content is nil, bool, string,
// json.Number, []value or []member.
type value struct {
	at      int // byte offset
	content any
}

type member struct {
	key   string
	at    int
	value value
}

func (d *document) fail(at int, format string, args ...any) {
	d.errs = append(d.errs, fmt.Errorf("%s: %s", d.place(at), fmt.Sprintf(format, args...)))
}

// place is PATH:LINE:COL; columns count characters from 1.
func (d *document) place(at int) string {
	before := d.data[:min(max(at, 0), len(d.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", d.path, line, column)
}

// parse reads the whole file as one value; false when it is no JSON.
func (d *document) parse() (value, bool) {
	var whole json.RawMessage
	if err := json.Unmarshal(d.data, &whole); err != nil {
		at := len(d.data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && !strings.HasPrefix(err.Error(), "unexpected end") {
			at = int(syntax.Offset) - 1 // it counts the byte it stumbled over
		}
		d.fail(at, "no JSON: %v", err)
		return value{}, false
	}
	dec := json.NewDecoder(bytes.NewReader(d.data))
	dec.UseNumber()
	v, err := d.value(dec, 0)
	if err != nil {
		d.errs = append(d.errs, err)
	}
	return v, err == nil
}

// next is where the next token starts: the decoder tells only where one ended.
func (d *document) next(dec *json.Decoder) int {
	at := int(dec.InputOffset())
	for at < len(d.data) && strings.IndexByte(" \t\r\n,:", d.data[at]) >= 0 {
		at++
	}
	return at
}

func (d *document) value(dec *json.Decoder, depth int) (value, error) {
	v := value{at: d.next(dec)}
	if depth > maxDepth {
		return v, fmt.Errorf("%s: more than %d values inside each other", d.place(v.at), maxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return v, fmt.Errorf("%s: %w", d.place(v.at), err)
	}
	switch token {
	case json.Delim('['):
		v.content, err = d.items(dec, depth)
	case json.Delim('{'):
		v.content, err = d.members(dec, depth)
	default:
		v.content = token
	}
	return v, err
}

func (d *document) items(dec *json.Decoder, depth int) ([]value, error) {
	list := []value{}
	for dec.More() {
		v, err := d.value(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, err
}

func (d *document) members(dec *json.Decoder, depth int) ([]member, error) {
	list := []member{}
	seen := map[string]bool{}
	for dec.More() {
		m := member{at: d.next(dec)}
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m.key, _ = token.(string)
		if m.value, err = d.value(dec, depth+1); err != nil {
			return nil, err
		}
		if seen[m.key] {
			d.fail(m.at, "%q is there twice; keep one", m.key)
		}
		seen[m.key] = true
		list = append(list, m)
	}
	_, err := dec.Token()
	return list, err
}

// kind names the type of a value for people.
func (v value) kind() string {
	switch v.content.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case []value:
		return "a list"
	case []member:
		return "an object"
	}
	return "a number"
}
