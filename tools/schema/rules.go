package schema

func (k *keywords) number() *numberRules {
	if !k.any("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf") {
		return nil
	}
	r := &numberRules{min: k.bound("minimum"), max: k.bound("maximum"), step: k.bound("multipleOf")}
	r.min, r.above = k.exclusive("exclusiveMinimum", r.min)
	r.max, r.below = k.exclusive("exclusiveMaximum", r.max)
	if r.step != nil && r.step.sign() <= 0 {
		k.wrong("multipleOf", "must be above 0, not %s", r.step.written)
	}
	return r
}

// exclusive reads a bound that is out of range itself. Draft 4 wrote true beside
// the bound that it changes.
func (k *keywords) exclusive(keyword string, beside *bound) (inclusive, exclusive *bound) {
	if flag, ok := k.doc[keyword].(bool); ok && k.c.draft == 4 {
		if flag {
			return nil, beside
		}
		return beside, nil
	}
	return beside, k.bound(keyword)
}

func (k *keywords) text() *textRules {
	if !k.any("minLength", "maxLength", "pattern") {
		return nil
	}
	r := &textRules{min: k.count("minLength", 0), max: k.count("maxLength", -1)}
	if p, ok := read[string](k, "pattern", "a string"); ok {
		r.pattern = k.pattern("pattern", p)
	}
	return r
}

func (k *keywords) array() *arrayRules {
	if !k.any("minItems", "maxItems", "uniqueItems", "prefixItems", "items", "contains", "unevaluatedItems") {
		return nil
	}
	r := &arrayRules{
		min: k.count("minItems", 0), max: k.count("maxItems", -1),
		prefix: k.schemas("prefixItems"), contains: k.schema("contains"),
		minContains: k.count("minContains", 1), maxContains: k.count("maxContains", -1),
		unevaluated: k.schema("unevaluatedItems"),
	}
	r.unique, _ = read[bool](k, "uniqueItems", "true or false")
	if _, ok := k.doc["items"].([]any); ok { // until draft 2019-09
		r.prefix, r.rest = k.schemas("items"), k.schema("additionalItems")
	} else {
		r.rest = k.schema("items")
	}
	k.c.tracks = k.c.tracks || r.unevaluated != nil
	return r
}

func (k *keywords) object() *objectRules {
	if !k.any("minProperties", "maxProperties", "required", "properties", "patternProperties", "additionalProperties",
		"propertyNames", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties") {
		return nil
	}
	r := &objectRules{
		min: k.count("minProperties", 0), max: k.count("maxProperties", -1), required: k.strings("required"),
		properties: k.schemaMap("properties"), additional: k.schema("additionalProperties"),
		names: k.schema("propertyNames"), dependentSchemas: k.schemaMap("dependentSchemas"),
		unevaluated: k.schema("unevaluatedProperties"),
	}
	patterns := k.schemaMap("patternProperties")
	for _, p := range sortedKeys(patterns) {
		r.patterns = append(r.patterns, patternRule{k.pattern("patternProperties", p), patterns[p]})
	}
	lists, _ := read[map[string]any](k, "dependentRequired", "an object of lists")
	for _, name := range sortedKeys(lists) {
		k.dependency(r, "dependentRequired", name, lists[name])
	}
	both, _ := read[map[string]any](k, "dependencies", "an object of lists or schemas")
	for _, name := range sortedKeys(both) {
		k.dependency(r, "dependencies", name, both[name])
	}
	k.c.tracks = k.c.tracks || r.unevaluated != nil
	return r
}

// dependency reads what a property needs: names, or with the keyword of draft 7
// also a schema.
func (k *keywords) dependency(r *objectRules, keyword, name string, v any) {
	list, ok := v.([]any)
	switch {
	case ok:
		if r.dependentRequired == nil {
			r.dependentRequired = map[string][]string{}
		}
		needs := append(r.dependentRequired[name], k.stringsOf(keyword, list)...)
		r.dependentRequired[name] = needs
	case keyword == "dependentRequired":
		k.wrong(keyword, "must be an object of lists of strings, not %s", shown(k.doc[keyword]))
	default:
		n := k.compile(v, keyword, name)
		if r.dependentSchemas == nil {
			r.dependentSchemas = map[string]*node{}
		}
		if other := r.dependentSchemas[name]; other != nil {
			n = &node{combine: &combination{all: []*node{other, n}}}
		}
		r.dependentSchemas[name] = n
	}
}

func (k *keywords) combination() *combination {
	if !k.any("allOf", "anyOf", "oneOf", "not", "if", "then", "else") {
		return nil
	}
	r := &combination{
		all: k.schemas("allOf"), any: k.schemas("anyOf"), one: k.schemas("oneOf"),
		not: k.schema("not"), condition: k.schema("if"), consequence: k.schema("then"), option: k.schema("else"),
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := k.doc[keyword].([]any); ok && len(list) == 0 {
			k.wrong(keyword, "must hold at least one schema")
		}
	}
	if r.condition == nil {
		r.consequence, r.option = nil, nil
	}
	return r
}
