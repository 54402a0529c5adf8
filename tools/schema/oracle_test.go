package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"starling/tools/schema"
)

// oracle is another reading of the standard: whether the document fits.
func oracle(t interface{ Fatalf(string, ...any) }, rules, document string) bool {
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(rules)))
	if err != nil {
		t.Fatalf("oracle: %v in %s", err, rules)
	}
	if err := c.AddResource("tool:///parameters", doc); err != nil {
		t.Fatalf("oracle: %v in %s", err, rules)
	}
	compiled, err := c.Compile("tool:///parameters")
	if err != nil {
		t.Fatalf("oracle: %v in %s", err, rules)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(document)))
	if err != nil {
		t.Fatalf("oracle: %v in %s", err, document)
	}
	return compiled.Validate(value) == nil
}

func faultsOf(t interface{ Fatalf(string, ...any) }, rules, document string) []string {
	compiled, err := compile(rules)
	if err != nil {
		t.Fatalf("Compile(%s): %v", rules, err)
	}
	value, err := schema.Decode([]byte(document))
	if err != nil {
		t.Fatalf("Decode(%s): %v", document, err)
	}
	faults, err := compiled.Check(value)
	if err != nil {
		t.Fatalf("Check(%s) under %s: %v", document, rules, err)
	}
	return faults
}

func compile(rules string) (*schema.Schema, error) {
	document, err := schema.Decode([]byte(rules))
	if err != nil {
		return nil, err
	}
	return schema.Compile(document)
}

// Names, numbers and texts are few, so that random documents often fit.
var (
	names    = rapid.SampledFrom([]string{"a", "b", "c", "ab", "x1"})
	texts    = rapid.SampledFrom([]string{"", "a", "ab", "é", "éa1", "x1"})
	patterns = rapid.SampledFrom([]string{"^a", "b$", "[0-9]", "^.$", "é", "^[abc]$"})
	numbers  = rapid.SampledFrom([]json.Number{
		"0", "-0", "1", "-1", "1.0", "2", "2.5", "1e2", "100", "0.1", "0.3", "1E-1", "30e-2", "3", "-0.25",
		"12345678901234567890", "12345678901234567891.0", "1.2345678901234567890e19", "0.30000000000000000001",
	})
	steps  = rapid.SampledFrom([]json.Number{"1", "2", "0.1", "0.25", "3", "10", "1e-20", "7e3", "1.5"})
	counts = rapid.SampledFrom([]json.Number{"0", "1", "2", "3", "2.0", "1e0"})
)

func value(t *rapid.T, depth int) any {
	most := 6
	if depth == 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return numbers.Draw(t, "number")
	case 3, 4:
		return texts.Draw(t, "text")
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			list = append(list, value(t, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		m[names.Draw(t, "name")] = value(t, depth-1)
	}
	return m
}

// author writes random schemas. A reference at the same value leads to a later
// definition only; below the value it may lead anywhere, so recursion ends with
// the document.
type author struct {
	*rapid.T
	old bool // draft 7
}

const definitions = 3

func (a author) document() map[string]any {
	s, ok := a.schema(3, 0).(map[string]any)
	if !ok {
		s = map[string]any{}
	}
	defs := map[string]any{}
	for i := range definitions {
		d, ok := a.schema(2, i+1).(map[string]any)
		if !ok {
			d = map[string]any{}
		}
		if !a.old {
			d["$anchor"] = fmt.Sprintf("n%d", i)
		}
		defs[fmt.Sprintf("d/%d", i)] = d
	}
	if a.old {
		s["$schema"] = "http://json-schema.org/draft-07/schema#"
		s["definitions"] = defs
	} else {
		s["$defs"] = defs
	}
	return s
}

func (a author) schema(depth, from int) any {
	if depth == 0 || rapid.IntRange(0, 9).Draw(a.T, "leaf") == 0 {
		return rapid.SampledFrom([]any{true, true, false, map[string]any{}, map[string]any{"type": "string"}, map[string]any{"type": "number"}}).Draw(a.T, "leaf schema")
	}
	s := map[string]any{}
	for range rapid.IntRange(1, 4).Draw(a.T, "keywords") {
		a.keyword(s, depth, from)
	}
	if s["$ref"] != nil && a.old {
		// Draft 7 ignores these beside $ref, the oracle does not.
		for _, keyword := range []string{"type", "const", "enum"} {
			delete(s, keyword)
		}
	}
	return s
}

func (a author) list(depth, from int) []any {
	list := []any{}
	for range rapid.IntRange(1, 3).Draw(a.T, "schemas") {
		list = append(list, a.schema(depth-1, from))
	}
	return list
}

func (a author) members(depth, from int, key *rapid.Generator[string]) map[string]any {
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(a.T, "members") {
		m[key.Draw(a.T, "key")] = a.schema(depth-1, from)
	}
	return m
}

func (a author) nameList() []any {
	list := []any{}
	for _, n := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID[string]).Draw(a.T, "names") {
		list = append(list, n)
	}
	return list
}

func (a author) ref(from int) string {
	i := rapid.IntRange(from, definitions-1).Draw(a.T, "definition")
	switch {
	case a.old:
		return fmt.Sprintf("#/definitions/d~1%d", i)
	case rapid.Bool().Draw(a.T, "anchor"):
		return fmt.Sprintf("#n%d", i)
	}
	return fmt.Sprintf("#/$defs/d~1%d", i)
}

// keyword sets one keyword; from is the first definition that may be named at
// this value.
func (a author) keyword(s map[string]any, depth, from int) {
	below := func() any {
		if depth == 1 || rapid.IntRange(0, 4).Draw(a.T, "refer") == 0 {
			return map[string]any{"$ref": a.ref(0)}
		}
		return a.schema(depth-1, 0)
	}
	kinds := rapid.SampledFrom([]any{"object", "array", "string", "number", "integer", "boolean", "null"})
	common := []func(){
		func() { s["type"] = kinds.Draw(a.T, "type") },
		func() { s["type"] = rapid.SliceOfNDistinct(kinds, 1, 4, rapid.ID[any]).Draw(a.T, "types") },
		func() { s["const"] = value(a.T, 2) },
		func() {
			s["enum"] = []any{[]any{value(a.T, 1)}, "ab", json.Number("1.0"), map[string]any{"a": value(a.T, 1)}}
		},
		func() { s["enum"] = []any{value(a.T, 2)} },
		func() { s["minimum"] = numbers.Draw(a.T, "minimum") },
		func() { s["maximum"] = numbers.Draw(a.T, "maximum") },
		func() { s["exclusiveMinimum"] = numbers.Draw(a.T, "above") },
		func() { s["exclusiveMaximum"] = numbers.Draw(a.T, "below") },
		func() { s["multipleOf"] = steps.Draw(a.T, "step") },
		func() { s["minLength"] = counts.Draw(a.T, "minLength") },
		func() { s["maxLength"] = counts.Draw(a.T, "maxLength") },
		func() { s["pattern"] = patterns.Draw(a.T, "pattern") },
		func() { s["minItems"] = counts.Draw(a.T, "minItems") },
		func() { s["maxItems"] = counts.Draw(a.T, "maxItems") },
		func() { s["uniqueItems"] = rapid.Bool().Draw(a.T, "unique") },
		func() { s["items"] = below() },
		func() { s["contains"] = below() },
		func() { s["minProperties"] = counts.Draw(a.T, "minProperties") },
		func() { s["maxProperties"] = counts.Draw(a.T, "maxProperties") },
		func() { s["required"] = a.nameList() },
		func() { s["properties"] = a.members(depth, 0, names) },
		func() { s["properties"] = map[string]any{"a": below(), "b": below()} },
		func() { s["patternProperties"] = a.members(depth, 0, patterns) },
		func() { s["additionalProperties"] = below() },
		func() { s["additionalProperties"] = false },
		func() { s["propertyNames"] = below() },
		func() { s["allOf"] = a.list(depth, from) },
		func() { s["anyOf"] = a.list(depth, from) },
		func() { s["oneOf"] = a.list(depth, from) },
		func() { s["not"] = a.schema(depth-1, from) },
		func() {
			s["if"], s["then"], s["else"] = a.schema(depth-1, from), a.schema(depth-1, from), a.schema(depth-1, from)
		},
		func() { s["title"], s["x-unknown"] = "words", []any{json.Number("1")} },
		func() {
			if from < definitions {
				s["$ref"] = a.ref(from)
			}
		},
	}
	draft2020 := []func(){
		func() { s["prefixItems"] = a.list(depth, 0) },
		func() { s["minContains"], s["contains"] = counts.Draw(a.T, "minContains"), below() },
		func() { s["maxContains"], s["contains"] = counts.Draw(a.T, "maxContains"), below() },
		func() { s["dependentRequired"] = map[string]any{"a": a.nameList(), "ab": a.nameList()} },
		func() { s["dependentSchemas"] = a.members(depth, from, names) },
		func() { s["unevaluatedProperties"] = below() },
		func() { s["unevaluatedProperties"] = false },
		func() { s["unevaluatedItems"] = below() },
		func() { s["unevaluatedItems"] = false },
		func() { s["format"] = "ipv4" },
	}
	draft7 := []func(){
		func() { s["items"], s["additionalItems"] = a.list(depth, 0), below() },
		func() { s["dependencies"] = map[string]any{"a": a.nameList(), "b": a.schema(depth-1, from)} },
	}
	if a.old {
		common = append(common, draft7...)
	} else {
		common = append(common, draft2020...)
	}
	common[rapid.IntRange(0, len(common)-1).Draw(a.T, "keyword")]()
}

func written(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOracle: random schemas of both drafts give random documents the verdict
// that another implementation gives.
func TestOracle(t *testing.T) {
	fits, breaks := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		rules := written(t, author{t, rapid.Bool().Draw(t, "old")}.document())
		for range 5 {
			document := written(t, value(t, 3))
			faults := faultsOf(t, rules, document)
			want := oracle(t, rules, document)
			if want != (len(faults) == 0) {
				t.Fatalf("schema %s\ndocument %s\nfaults %q, the oracle says fit: %v", rules, document, faults, want)
			}
			if want {
				fits++
			} else {
				breaks++
			}
		}
	})
	if fits < 20 || breaks < 20 {
		t.Errorf("%d documents fit and %d do not: the test holds too little", fits, breaks)
	}
}
