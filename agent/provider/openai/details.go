package openai

import (
	"bytes"
	"encoding/json"
)

// details collects the reasoning_details of a router. They travel back unchanged
// but for one thing: pieces of one entry, which came in chunks, are joined.
type details struct{ list []map[string]json.RawMessage }

// joinedFields hold text that comes in pieces.
var joinedFields = []string{"text", "summary", "data"}

func (d *details) take(raw []byte) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return // not told: what is shown of the thoughts came in another field
	}
	for _, next := range list {
		if n := len(d.list); n > 0 && continues(d.list[n-1], next) {
			join(d.list[n-1], next)
			continue
		}
		d.list = append(d.list, next)
	}
}

func continues(a, b map[string]json.RawMessage) bool {
	if a["index"] == nil && a["id"] == nil {
		// Without either, only running text is one entry.
		return string(a["type"]) == `"reasoning.text"` && bytes.Equal(a["type"], b["type"]) && a["signature"] == nil
	}
	return bytes.Equal(a["type"], b["type"]) && bytes.Equal(a["index"], b["index"]) &&
		(a["id"] == nil || b["id"] == nil || bytes.Equal(a["id"], b["id"]) || string(a["id"]) == "null" || string(b["id"]) == "null")
}

func join(a, b map[string]json.RawMessage) {
	for key, value := range b {
		had, has := "", ""
		for _, field := range joinedFields {
			if key == field && json.Unmarshal(value, &has) == nil {
				_ = json.Unmarshal(a[key], &had) // what is no text counts as none
				value = appendText(nil, had+has)
			}
		}
		if string(value) == "null" && a[key] != nil {
			continue
		}
		a[key] = value
	}
}

// signature is the list as one JSON text, "" for none.
func (d *details) signature() string {
	if len(d.list) == 0 {
		return ""
	}
	text, err := json.Marshal(d.list)
	if err != nil {
		return ""
	}
	return string(text)
}
