package schema_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/tools/schema"
)

// TestFaults: what is said, and where.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ rules, document, want string }{
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"type":"integer"}`, `10e-1`, ``},
		{`{"type":"integer"}`, `1.5`, `must be integer, got number`},
		{`{"type":["string","null"]}`, `[]`, `must be null or string, got array`},
		{`{"const":{"a":[1,2]}}`, `{"a":[1.0,2e0]}`, ``},
		{`{"const":"it's"}`, `1`, `value must be 'it\'s'`},
		{`{"enum":["a",1,null,[1,{"b":2}]]}`, `2`, `value must be one of 'a', 1, null, [1, {…}]`},
		{`{"minimum":0.1}`, `0.09999999999999999999`, `minimum: got 0.09999999999999999999, want 0.1`},
		{`{"maximum":9007199254740992}`, `9007199254740993`, `maximum: got 9007199254740993, want 9007199254740992`},
		{`{"exclusiveMinimum":1}`, `1.0`, `exclusiveMinimum: got 1.0, want 1`},
		{`{"exclusiveMaximum":-1}`, `-1`, `exclusiveMaximum: got -1, want -1`},
		{`{"maximum":1e400}`, `1e999999999`, `maximum: got 1e999999999, want 1e400`},
		{`{"multipleOf":0.1}`, `0.3`, ``},
		{`{"multipleOf":0.01}`, `4.021`, `multipleOf: got 4.021, want 0.01`},
		{`{"multipleOf":7}`, `1e999999999`, `multipleOf: got 1e999999999, want 7`},
		{`{"multipleOf":1e-999999999}`, `3`, ``},
		{`{"minLength":2,"maxLength":2}`, `"éé"`, ``},
		{`{"maxLength":1}`, `"éé"`, `maxLength: got 2, want 1`},
		{`{"pattern":"^a+$"}`, `"ab"`, `'ab' does not match pattern '^a+$'`},
		{`{"properties":{"a":{"required":["b","c"]}}}`, `{"a":{}}`, `a: missing "b", "c"`},
		{`{"properties":{"a":true},"patternProperties":{"^x":true},"additionalProperties":false}`, `{"a":1,"x1":1,"b":1,"c":1}`, `unknown "b", "c"`},
		{`{"additionalProperties":{"type":"null"}}`, `{"with space":1,"":2}`, `"": must be null, got number|"with space": must be null, got number`},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1}`, `the name "abc" is not allowed: maxLength: got 3, want 2`},
		{`{"minProperties":2}`, `{}`, `minProperties: got 0, want 2`},
		{`{"maxProperties":0}`, `{"a":1}`, `maxProperties: got 1, want 0`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing "b", which "a" needs`},
		{`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`, `missing "b", which "a" needs|missing "d"`},
		{`{"dependentSchemas":{"a":{"maxProperties":1}},"dependencies":{"a":{"required":["z"]}}}`, `{"a":1,"b":1}`, `maxProperties: got 2, want 1|missing "z"`},
		{`{"items":{"type":"string"}}`, `["a",1,2]`, `[1]: must be string, got number|[2]: must be string, got number`},
		{`{"prefixItems":[true],"items":false}`, `[1,2]`, `[1]: is not allowed`},
		{`{"items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, `[1,1]`, `[0]: must be string, got number|[1]: must be null, got number`},
		{`{"minItems":1}`, `[]`, `minItems: got 0, want 1`},
		{`{"maxItems":1}`, `[1,2]`, `maxItems: got 2, want 1`},
		{`{"uniqueItems":true}`, `[1,{"a":1,"b":2},1.0]`, `items at 0 and 2 are equal`},
		{`{"uniqueItems":true}`, `[[1],["1"],[[1]],"[1]",null,false,0]`, ``},
		{`{"contains":{"type":"string"}}`, `[1]`, `no item fits what the list must contain, at least 1 must: [0]: must be string, got number`},
		{`{"contains":{"type":"string"},"minContains":2}`, `["a"]`, `1 item fits what the list must contain, at least 2 must`},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, `2 items fit, at most 1 may`},
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `missing "a"|missing "b"`},
		{`{"anyOf":[{"type":"string"},{"required":["b"]}]}`, `{}`, `fits none of the alternatives: must be string, got object; or missing "b"`},
		{`{"oneOf":[{"type":"number"},{"minimum":1}]}`, `2`, `fits more than one of alternatives that exclude each other`},
		{`{"not":{"type":"null"}}`, `null`, `has a value that is ruled out`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, `missing "c"`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `missing "b"`},
		{`{"then":false}`, `{}`, ``},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, `unknown "b"`},
		{`{"prefixItems":[true],"contains":{"const":"x"},"unevaluatedItems":false}`, `[1,"x",2]`, `[2]: is not allowed`},
		{`{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"x":1}}}`, `next.next: unknown "x"`},
		{`{"$id":"https://example.com/a/","$ref":"https://example.com/a/#/$defs/x","$defs":{"x":{"type":"null"}}}`, `1`, `must be null, got number`},
		{`{"$ref":"b#t","$defs":{"b":{"$id":"b","$defs":{"i":{"$anchor":"t","$ref":"#/$defs/j"},"j":{"type":"null"}}}}}`, `1`, `must be null, got number`},
		{`{"$ref":"#/elsewhere/0/a~1b%25","elsewhere":[{"a/b%":{"type":"null"}}]}`, `1`, `must be null, got number`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","type":"null","definitions":{"a":{"$id":"#a"}}}`, `1`, ``},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, `exclusiveMinimum: got 1, want 1`},
		{`{"format":"ipv4","contentEncoding":"base64","nullable":true,"x":{"type":7}}`, `"no"`, ``},
		{`true`, `1`, ``},
		{`false`, `1`, `is not allowed`},
	} {
		want := []string{}
		if c.want != "" {
			want = strings.Split(c.want, "|")
		}
		if diff := cmp.Diff(want, append([]string{}, faultsOf(t, c.rules, c.document)...)); diff != "" {
			t.Errorf("%s under %s: %s", c.document, c.rules, diff)
		}
	}
}

// TestWrongSchemas: a keyword of the wrong type is an error that says where.
func TestWrongSchemas(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{`{"type":5}`, `#/type: must be one or a list of null, boolean, integer, number, string, array, object, not 5`},
		{`{"type":"strin"}`, `#/type: must be one or a list of`},
		{`{"type":[]}`, `#/type: must name at least one type`},
		{`{"type":[1]}`, `#/type: `},
		{`{"properties":{"a/b":{"required":"x"}}}`, `#/properties/a~1b/required: must be a list of strings, not 'x'`},
		{`{"required":[1]}`, `#/required: must be a list of strings, not [1]`},
		{`{"enum":1}`, `#/enum: must be a list`},
		{`{"properties":[]}`, `#/properties: must be an object of schemas, not []`},
		{`{"properties":{"a":1}}`, `#/properties/a: a schema is an object, true or false, not 1`},
		{`{"items":"x"}`, `#/items: a schema is`},
		{`{"items":[1]}`, `#/items/0: a schema is`},
		{`{"prefixItems":{}}`, `#/prefixItems: must be a list of schemas`},
		{`{"additionalProperties":"no"}`, `#/additionalProperties: a schema is`},
		{`{"patternProperties":{"(":true}}`, `#/patternProperties: '(' is no pattern of RE2 syntax`},
		{`{"pattern":"(?=a)"}`, `#/pattern: '(?=a)' is no pattern of RE2 syntax`},
		{`{"pattern":1}`, `#/pattern: must be a string, not 1`},
		{`{"minLength":-1}`, `#/minLength: must be a whole number of at least 0, not -1`},
		{`{"maxItems":1.5}`, `#/maxItems: must be a whole number`},
		{`{"minProperties":"1"}`, `#/minProperties: must be a number, not '1'`},
		{`{"minimum":"1"}`, `#/minimum: must be a number`},
		{`{"exclusiveMinimum":true}`, `#/exclusiveMinimum: must be a number, not true`},
		{`{"multipleOf":0}`, `#/multipleOf: must be above 0, not 0`},
		{`{"uniqueItems":1}`, `#/uniqueItems: must be true or false`},
		{`{"anyOf":[]}`, `#/anyOf: must hold at least one schema`},
		{`{"allOf":{}}`, `#/allOf: must be a list of schemas`},
		{`{"not":null}`, `#/not: a schema is an object, true or false, not null`},
		{`{"dependentRequired":{"a":"b"}}`, `#/dependentRequired: must be an object of lists of strings`},
		{`{"dependentRequired":{"a":[1]}}`, `#/dependentRequired: must be a list of strings`},
		{`{"dependencies":{"a":"b"}}`, `#/dependencies/a: a schema is`},
		{`{"$defs":{"a":{"type":5}}}`, `#/$defs/a/type: must be`},
		{`{"$ref":1}`, `#/$ref: must be a string`},
		{`{"$ref":"#/absent"}`, `#/$ref: #/absent: there is nothing at 'absent'`},
		{`{"$ref":"#absent"}`, `#/$ref: #absent: there is no schema of this name`},
		{`{"$ref":"other.json"}`, `other.json: a schema may refer to itself only`},
		{`{"$ref":"http://[x"}`, `#/$ref: `},
		{`{"$ref":"#/enum/0","enum":[1]}`, `#/enum/0: a schema is`},
		{`{"items":{"$ref":"#/items/01"}}`, `there is nothing at '01'`},
		{`{"$ref":"#"}`, `#: leads back to itself`},
		{`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"if":{"$ref":"#/$defs/a"}}}}`, `leads back to itself`},
		{`{"$dynamicRef":"#a"}`, `#/$dynamicRef: is not supported; use $ref`},
		{`{"$id":1}`, `#/$id: must be a string`},
		{`{"$id":":"}`, `#/$id: ':' is no URI`},
		{`{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `#/$defs/b/$anchor: 'x' names two schemas`},
		{`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`, `#/$defs/b/$id: 'x' names two schemas`},
		{`1`, `#: a schema is an object, true or false, not 1`},
		{strings.Repeat(`{"not":`, 600) + `{}` + strings.Repeat(`}`, 600), `nested 500 deep`},
		{`{"` + strings.Repeat("n", 1<<16) + `":{"allOf":[` + strings.Repeat(`{},`, 2000) + `{}]},"$ref":"#/` + strings.Repeat("n", 1<<16) + `"}`, `too large`},
		{`{"allOf":[` + strings.Repeat(`{},`, 100_000) + `{}]}`, `too large`},
	} {
		_, err := compile(c.rules)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 1000 {
			t.Errorf("Compile(%.100s) = %.300v, want %q", c.rules, err, c.want)
		}
	}
}

// TestBounded: what would take forever, or all memory, ends with words.
func TestBounded(t *testing.T) {
	deep := func(open, middle, end string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	fork := `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["z"]},{"properties":{"a":{"$ref":"#"}},"required":["z"]}],"type":"object"}`
	many := `[` + strings.Repeat(`{},`, 50_000) + `{}]`
	for name, c := range map[string]struct{ rules, document string }{
		"two ways at each level": {fork, deep(`{"a":`, `{}`, `}`, 200)},
		"long numbers":           {`{"items":{"multipleOf":3}}`, `[` + strings.Repeat(strings.Repeat("7", 100_000)+",", 20) + `1]`},
		"deeper than checked":    {`{"items":{"allOf":[{"allOf":[{"$ref":"#"}]}]}}`, deep(`[`, ``, `]`, 9000)},
		"wide by wide":           {`{"allOf":[` + strings.Repeat(`{"maxProperties":0},`, 50_000) + `true]}`, `{"a":` + many + `}`},
		"equal lists of lists":   {`{"items":{"$ref":"#"},"uniqueItems":true}`, deep(`[`, many, `]`, 3000)},
	} {
		compiled, err := compile(c.rules)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		document, err := schema.Decode([]byte(c.document))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		faults, err := compiled.Check(document)
		bytes := 0
		for _, f := range faults {
			bytes += len(f)
		}
		if err != nil && !errors.Is(err, schema.ErrTooMuch) || err == nil && len(faults) == 0 || bytes > 1<<26 {
			t.Errorf("%s: %d faults of %d bytes, %v", name, len(faults), bytes, err)
		}
	}
}

// TestSaidBriefly: one fault is short, whatever the names and values are.
func TestSaidBriefly(t *testing.T) {
	long := strings.Repeat("é", 5000)
	var enum, members []string
	for i := range 5000 {
		enum = append(enum, fmt.Sprintf(`"v%d"`, i))
		members = append(members, fmt.Sprintf(`"m%d":1`, i))
	}
	for _, c := range []struct{ rules, document string }{
		{`{"pattern":"^x","const":"` + long + `x"}`, `"` + long + `"`},
		{`{"pattern":"^x"}`, `"` + long + `"`},
		{`{"enum":[` + strings.Join(enum, ",") + `]}`, `1`},
		{`{"additionalProperties":false}`, `{` + strings.Join(members, ",") + `}`},
		{`{"additionalProperties":{"type":"null"}}`, `{"` + long + `":1}`},
		{`{"properties":{"a":{"$ref":"#"}},"type":"object"}`, strings.Repeat(`{"a":`, 2000) + `1` + strings.Repeat(`}`, 2000)},
		{`{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 5000) + `false]}`, `1`},
		{`{"minimum":2}`, `1.` + strings.Repeat("1", 5000)},
	} {
		for _, f := range faultsOf(t, c.rules, c.document) {
			if len(f) > 3000 || strings.ContainsAny(f, "\n\r") {
				t.Errorf("%d bytes: %.200q", len(f), f)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range [][2]string{
		{`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"a":{}}`},
		{`{"anyOf":[{"multipleOf":0.1},{"pattern":"a|b"}],"unevaluatedItems":{"enum":[1,"x"]}}`, `[1e99,-0.5]`},
		{`{"$id":"x:y","$defs":{"a":{"$anchor":"b"}},"$ref":"#b"}`, `null`},
		{`{"if":{"contains":{"const":1}},"then":false,"dependencies":{"a":["b"]}}`, `[1]`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, rules, document string) {
		compiled, err := compile(rules)
		if err != nil {
			return
		}
		value, err := schema.Decode([]byte(document))
		if err != nil {
			return
		}
		first, err1 := compiled.Check(value)
		again, err2 := compiled.Check(value)
		if !errors.Is(err2, err1) || len(first) < 10_000 && !cmp.Equal(first, again) {
			t.Errorf("%s under %s: %q, %v and then %q, %v", document, rules, first, err1, again, err2)
		}
	})
}
