package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
)

// decode reads checked arguments, key by key and exactly: encoding/json would take
// "ITEMS" for items, which a guard that looked at the same arguments did not.
func decode(arguments json.RawMessage, into any, names ...string) error {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &keys); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	for k := range keys {
		if !slices.Contains(names, k) {
			return fmt.Errorf("arguments: unknown %q", k)
		}
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// details encodes plain values: strings, numbers, lists and items of them.
func details(fields map[string]any) json.RawMessage {
	b, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return b
}

// noPaths is of tools that touch no file.
func noPaths(json.RawMessage) (paths []string, all bool) { return nil, true }
