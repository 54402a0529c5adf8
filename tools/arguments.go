package tools

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Decode reads checked arguments, key by key and exactly: encoding/json would take
// "PATH" for path, which a guard that looked at the same arguments did not. Any key
// but names is an error.
func Decode(arguments json.RawMessage, into any, names ...string) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	for name := range given {
		if !slices.Contains(names, name) {
			return fmt.Errorf("arguments: unknown %q", name)
		}
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// Details encodes what a result tells screens: strings, numbers, truth values and
// lists of them. What cannot be encoded is left out.
func Details(fields map[string]any) json.RawMessage {
	b, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return b
}
