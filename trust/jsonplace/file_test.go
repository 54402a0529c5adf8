package jsonplace_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"starling/trust/jsonplace"
)

func TestFaultsNameTheirPlace(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   bool
		errs string
	}{
		"fine":              {"\ufeff{\"a\": [1, null]}", true, ""},
		"no UTF-8":          {"{\n \"é\xff\"}", false, "f:2:4: a byte that is no UTF-8"},
		"no JSON":           {"{\n  oops}", false, "f:2:3: no JSON: invalid character 'o' looking for beginning of object key string"},
		"cut off":           {"{\n\"é\": ", false, "f:2:6: no JSON: unexpected end of JSON input"},
		"empty":             {"", false, "f:1:1: no JSON: unexpected end of JSON input"},
		"twice":             {"{\"é\": 1, \"é\": 2,\n \"é\": 3}", true, "f:1:10: \"é\" is there twice; keep one\nf:2:2: \"é\" is there twice; keep one"},
		"too deep":          {"[[[[]]]]", false, "f:1:4: more than 2 values inside each other"},
		"deep, and no more": {"[[{}]]", true, ""},
	} {
		f := &jsonplace.File{Path: "f", Data: []byte(c.text), Depth: 2}
		v, ok := f.Parse()
		got := ""
		if err := errors.Join(f.Errs...); err != nil {
			got = err.Error()
		}
		if ok != c.ok || got != c.errs || v.Doubtful != (name == "twice") {
			t.Errorf("%s: %v doubtful %v\n%s\nwant\n%s", name, ok, v.Doubtful, got, c.errs)
		}
	}
}

// plain is what encoding/json makes of the same text, with the last of equal keys.
func plain(t *testing.T, text string, v jsonplace.Value) any {
	rest := text[v.At:]
	switch c := v.Content.(type) {
	case []jsonplace.Value:
		list := []any{}
		for _, item := range c {
			list = append(list, plain(t, text, item))
		}
		if rest[0] != '[' {
			t.Errorf("a list begins with %.10q", rest)
		}
		return list
	case []jsonplace.Member:
		object := map[string]any{}
		for _, m := range c {
			object[m.Key] = plain(t, text, m.Value)
			if text[m.At] != '"' {
				t.Errorf("a key begins with %.10q", text[m.At:])
			}
		}
		if rest[0] != '{' {
			t.Errorf("an object begins with %.10q", rest)
		}
		return object
	case json.Number:
		if !strings.HasPrefix(rest, c.String()) {
			t.Errorf("the number %s stands at %.10q", c, rest)
		}
	}
	return v.Content
}

// Every value is that of the standard library, and stands where it says.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a": [1, -2.5e3, true, null, "x\n"], "b": {"c": {}}}`, ` [ ] `, "\ufeff1", `"\ud800"`, "{\"a\":1,\n\"a\":2}", "[1,", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := &jsonplace.File{Path: "f", Data: []byte(text), Depth: 1000}
		v, ok := file.Parse()
		if !ok {
			if len(file.Errs) == 0 {
				t.Error("refused without a fault")
			}
			return
		}
		text = string(file.Data)
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("no JSON was taken: %v", err)
		}
		if got := plain(t, text, v); !reflect.DeepEqual(got, want) {
			t.Errorf("%#v, want %#v", got, want)
		}
		if v.Doubtful != (len(file.Errs) > 0) {
			t.Errorf("doubtful %v with the faults %v", v.Doubtful, file.Errs)
		}
	})
}
