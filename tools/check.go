package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"starling/bus/spec"
	"starling/tools/schema"
)

// Check returns the arguments of a call as one JSON object. Nothing, blanks and
// null are an empty object. Arguments that are no JSON object or break the
// tool's schema are an error that names every fault at once.
func (r *Registry) Check(tool spec.Tool, arguments string) (json.RawMessage, error) {
	raw, value, err := parse(arguments)
	if err != nil {
		return nil, err
	}
	if none(tool.Parameters) {
		return raw, nil
	}
	compiled, err := r.schemas.compiled(tool.Parameters)
	if err != nil {
		return nil, fmt.Errorf("tool %s cannot be called, its %w", tool.Name, err)
	}
	faults, err := compiled.Check(value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("arguments cannot be checked: %w", err)
	case len(faults) > 0:
		return nil, &ArgumentError{Faults: faults}
	}
	return raw, nil
}

// ValidateSchema refuses a schema that does not compile or does not describe
// one object. Nothing at all, and {}, mean no parameters.
func ValidateSchema(parameters json.RawMessage) error {
	if none(parameters) {
		return nil
	}
	_, err := compile(parameters)
	return err
}

// CheckJSON holds a JSON document, such as the settings of a plugin, against a
// schema of one object. Its error names every fault at once.
func CheckJSON(rules, document json.RawMessage) error {
	compiled, err := compile(rules)
	if err != nil {
		return err
	}
	value, err := schema.Decode(document)
	if err != nil {
		return err
	}
	faults, err := compiled.Check(value)
	if err == nil && len(faults) > 0 {
		err = errors.New(strings.Join(faults, "; "))
	}
	return err
}

// parse reads the text of arguments as one JSON object.
func parse(arguments string) (json.RawMessage, any, error) {
	text := strings.TrimSpace(arguments)
	if text == "" || text == "null" {
		text = "{}"
	}
	value, err := schema.Decode([]byte(text))
	if err != nil {
		return nil, nil, &ArgumentError{Faults: []string{"not valid JSON: " + words(err, text)}}
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, nil, &ArgumentError{Faults: []string{"not a JSON object but " + kindOf(value)}}
	}
	return json.RawMessage(text), value, nil
}

// words tells where JSON stops being JSON.
func words(err error, text string) string {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && int(syntax.Offset) < len(text):
		at := max(int(syntax.Offset)-1, 0)
		near := strings.ToValidUTF8(text[max(at-20, 0):min(at+20, len(text))], "")
		return fmt.Sprintf("%v at byte %d, near %q", err, at, near)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax):
		return fmt.Sprintf("it ends too early, after %d bytes", len(text))
	}
	return err.Error()
}

func kindOf(value any) string {
	switch value.(type) {
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

// none tells whether a schema says that there are no parameters.
func none(parameters json.RawMessage) bool {
	p := bytes.TrimSpace(parameters)
	return len(p) == 0 || string(p) == "{}" || string(p) == "null"
}

// schemas keeps compiled schemas by their bytes. Reloads bring new bytes, so it
// starts over when full instead of growing.
type schemas struct {
	mu   sync.Mutex
	kept map[string]*schema.Schema
}

const maxKept = 256

func (s *schemas) compiled(parameters json.RawMessage) (*schema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.kept[string(parameters)]; have != nil {
		return have, nil
	}
	compiled, err := compile(parameters)
	if err != nil {
		return nil, err
	}
	if s.kept == nil || len(s.kept) >= maxKept {
		s.kept = map[string]*schema.Schema{}
	}
	s.kept[string(parameters)] = compiled
	return compiled, nil
}

func compile(parameters json.RawMessage) (*schema.Schema, error) {
	document, err := schema.Decode(parameters)
	if err != nil {
		return nil, fmt.Errorf("parameter schema is not valid JSON: %w", err)
	}
	object, ok := document.(map[string]any)
	if !ok || object["type"] != "object" {
		return nil, errors.New(`parameter schema must be {"type": "object", …}: arguments are always one object`)
	}
	compiled, err := schema.Compile(document)
	if err != nil {
		return nil, fmt.Errorf("parameter schema: %w", err)
	}
	return compiled, nil
}
