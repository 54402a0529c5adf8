package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Decode reads one JSON document as Check takes it: map[string]any, []any,
// string, bool, nil, and json.Number with every digit kept. Its errors are those
// of encoding/json, with io.ErrUnexpectedEOF for a document that ends too early.
func Decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("invalid character after top-level value")
	}
	return document, nil
}

// kinds is a set of the kinds that type names.
type kinds uint8

const (
	null kinds = 1 << iota
	boolean
	integer
	number
	text
	array
	object
)

// kindNames are the words of type, in the order of the bits.
var kindNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// kindOf returns the kind of a decoded value; an integer is a number here.
func kindOf(v any) kinds {
	switch v.(type) {
	case nil:
		return null
	case bool:
		return boolean
	case json.Number:
		return number
	case string:
		return text
	case []any:
		return array
	case map[string]any:
		return object
	}
	return 0
}

func (k kinds) names() []string {
	var names []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
