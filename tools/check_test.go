package tools_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"starling/bus/spec"
	"starling/tools"
)

const editSchema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1},
    "mode": {"enum": ["a", "b"]},
    "n": {"type": "integer", "minimum": 1},
    "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    "edits": {"type": "array", "items": {
      "type": "object",
      "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
      "required": ["old", "new"], "additionalProperties": false}}
  },
  "required": ["path"],
  "additionalProperties": false
}`

func edit() spec.Tool { return spec.Tool{Name: "edit", Parameters: json.RawMessage(editSchema)} }

// E-09: nothing, blanks and null are an empty object, and a tool that needs
// something says so in words.
func TestEmptyArguments(t *testing.T) {
	r := newShelf().reg
	for _, text := range []string{"", "  \n", "null", " null ", "{}", " {} "} {
		got, err := r.Check(spec.Tool{Name: "now"}, text)
		if err != nil || string(got) != "{}" {
			t.Errorf("Check(%q) = %s, %v", text, got, err)
		}
		if _, err := r.Check(edit(), text); err == nil || err.Error() != `bad arguments: missing "path"` {
			t.Errorf("Check(%q) with a required field: %v", text, err)
		}
	}
}

func TestFaultsAreNamedAllAtOnce(t *testing.T) {
	r := newShelf().reg
	for _, c := range []struct{ arguments, want string }{
		{
			`{"path": 3, "mode": "c", "n": 0, "edits": [{"old": "x", "extra": 1}, {"old": 1, "new": "y"}, 7], "what": 1}`,
			`bad arguments, 8 faults:
- edits[0]: missing "new"
- edits[0]: unknown "extra"
- edits[1].old: must be string, got number
- edits[2]: must be object, got number
- mode: value must be one of 'a', 'b'
- n: minimum: got 0, want 1
- path: must be string, got number
- unknown "what"`,
		},
		{`{"path": "a", "either": true}`, `bad arguments: either: fits none of the alternatives: ` +
			`either: must be string, got boolean; or either: must be integer, got boolean`},
		{`[1]`, `bad arguments: not a JSON object but an array`},
		{`"{\"path\": \"a\"}"`, `bad arguments: not a JSON object but a string`},
		{`7`, `bad arguments: not a JSON object but a number`},
		{`{"path": "a"`, `bad arguments: not valid JSON: it ends too early, after 12 bytes`},
		{`{"path": a}`, `bad arguments: not valid JSON: invalid character 'a' looking for beginning of value at byte 9, near "{\"path\": a}"`},
	} {
		_, err := r.Check(edit(), c.arguments)
		if err == nil || err.Error() != c.want {
			t.Errorf("Check(%s):\n%v\nwant:\n%s", c.arguments, err, c.want)
		}
	}
	if _, err := r.Check(edit(), `{"path": "a"} {}`); err == nil || !strings.Contains(err.Error(), "not valid JSON") {
		t.Errorf("two objects: %v", err)
	}
}

func TestManyFaultsAreCut(t *testing.T) {
	items := strings.Repeat(`{},`, 1000)
	_, err := newShelf().reg.Check(edit(), `{"path": "a", "edits": [`+strings.TrimSuffix(items, ",")+`]}`)
	if err == nil || len(err.Error()) > 4000 || !strings.HasSuffix(err.Error(), "- and 950 more") {
		t.Errorf("%d bytes: %.100v", len(err.Error()), err)
	}
}

func TestCheckKeepsTheText(t *testing.T) {
	text := `{"path": "a", "n": 12345678901234567890}`
	got, err := newShelf().reg.Check(edit(), " "+text+"\n")
	if err != nil || string(got) != text {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestValidateSchema(t *testing.T) {
	for _, ok := range []string{"", "{}", "null", editSchema, `{"type":"object","properties":{"self":{"$ref":"#"}}}`} {
		if err := tools.ValidateSchema(json.RawMessage(ok)); err != nil {
			t.Errorf("ValidateSchema(%s) = %v", ok, err)
		}
	}
	for bad, want := range map[string]string{
		`{"type":`:                            "not valid JSON",
		`[]`:                                  "arguments are always one object",
		`true`:                                "arguments are always one object",
		`{"type":"string"}`:                   "arguments are always one object",
		`{"properties":{"a":{}}}`:             "arguments are always one object",
		`{"type":"object","required":"path"}`: "parameter schema",
		`{"type":"object","properties":{"a":{"type":"strin"}}}`:                "parameter schema",
		`{"type":"object","properties":{"a":{"$ref":"#/absent"}}}`:             "parameter schema",
		`{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}`: "may refer to itself only",
		`{"type":"object","properties":{"a":{"$ref":"http://localhost/x"}}}`:   "may refer to itself only",
		`{"type":"object","properties":{"a":{"pattern":"("}}}`:                 "parameter schema",
	} {
		if err := tools.ValidateSchema(json.RawMessage(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ValidateSchema(%s) = %v, want %q", bad, err, want)
		}
	}
	if _, err := newShelf().reg.Check(spec.Tool{Name: "x", Parameters: json.RawMessage(`[]`)}, "{}"); err == nil ||
		!strings.Contains(err.Error(), "tool x cannot be called") {
		t.Errorf("a call of a tool with a broken schema: %v", err)
	}
}

// Checks run beside each other and more schemas come than are kept.
func TestCheckIsConcurrent(t *testing.T) {
	r := newShelf().reg
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				schema := fmt.Sprintf(`{"type":"object","required":["f%d"]}`, g*200+i)
				_, err := r.Check(spec.Tool{Parameters: json.RawMessage(schema)}, "{}")
				if want := fmt.Sprintf(`bad arguments: missing "f%d"`, g*200+i); err == nil || err.Error() != want {
					t.Errorf("%v, want %s", err, want)
				}
			}
		})
	}
	wg.Wait()
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "{}", `{"path":"a"}`, `{"path":1}`, `[`, "null", `{"edits":[{"old":""}]}`, "\xff", `{"a":1e999}`} {
		f.Add(s)
	}
	r := newShelf().reg
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := r.Check(edit(), s)
		var object map[string]any
		if err == nil && (json.Unmarshal(raw, &object) != nil || object["path"] == nil) {
			t.Errorf("Check(%q) let %q pass", s, raw)
		}
	})
}
