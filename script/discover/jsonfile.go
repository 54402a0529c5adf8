package discover

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"

	"starling/trust/jsonplace"
)

// jsonLimit of one file, in bytes; jsonDepth of its values; integerDigits of a
// number, as long as the integers of plugins may get (64 Kbit).
const (
	jsonLimit     = 1 << 20
	jsonDepth     = 200
	integerDigits = 19728
)

// jsonFile is a JSON file a person edits: errors name line and column.
type jsonFile struct{ jsonplace.File }

type (
	node   = jsonplace.Value
	member = jsonplace.Member
)

func newJSONFile(path string, data []byte) *jsonFile {
	return &jsonFile{jsonplace.File{Path: path, Data: data, Depth: jsonDepth}}
}

// plain makes the plain data of bus/spec from a value.
func (f *jsonFile) plain(n node) (any, bool) {
	switch content := n.Content.(type) {
	case json.Number:
		return f.number(n.At, content.String())
	case []node:
		list := make([]any, 0, len(content))
		for _, item := range content {
			value, ok := f.plain(item)
			if !ok {
				return nil, false
			}
			list = append(list, value)
		}
		return list, true
	case []member:
		return f.plainObject(content)
	}
	return n.Content, true
}

func (f *jsonFile) plainObject(members []member) (map[string]any, bool) {
	object := make(map[string]any, len(members))
	for _, m := range members {
		value, ok := f.plain(m.Value)
		if !ok {
			return nil, false
		}
		object[m.Key] = value
	}
	return object, true
}

func (f *jsonFile) number(at int, text string) (any, bool) {
	if strings.ContainsAny(text, ".eE") {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			f.Fail(at, "a number this large does not fit")
			return nil, false
		}
		return value, true
	}
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, true
	}
	value, ok := new(big.Int).SetString(text, 10)
	if !ok || len(text) > integerDigits {
		f.Fail(at, "a number of more than %d digits does not fit", integerDigits)
		return nil, false
	}
	return value, true
}
