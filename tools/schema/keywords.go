package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// keywords reads the keywords of one schema object; the first wrong one is kept.
type keywords struct {
	c     *compiler
	doc   map[string]any
	where string    // JSON pointer of doc
	in    *resource // what its references are relative to
	depth int
	err   error
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (k *keywords) wrong(keyword, format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf("#%s: %s", pointer(k.where, keyword), fmt.Sprintf(format, args...))
	}
}

// read returns the value of a keyword; want says what a value of another type
// should have been.
func read[T any](k *keywords, keyword, want string) (T, bool) {
	given, there := k.doc[keyword]
	v, ok := given.(T)
	if there && !ok {
		k.wrong(keyword, "must be %s, not %s", want, shown(given))
	}
	return v, ok
}

// count reads a keyword that counts; absent is the answer where there is none.
func (k *keywords) count(keyword string, absent int) int {
	n, ok := read[json.Number](k, keyword, "a number")
	if !ok {
		return absent
	}
	c, ok := decimalOf(n).count()
	if !ok {
		k.wrong(keyword, "must be a whole number of at least 0, not %s", shown(n))
	}
	return c
}

func (k *keywords) bound(keyword string) *bound {
	n, ok := read[json.Number](k, keyword, "a number")
	if !ok {
		return nil
	}
	return &bound{decimalOf(n), cut(string(n))}
}

func (k *keywords) strings(keyword string) []string {
	list, ok := read[[]any](k, keyword, "a list of strings")
	if !ok {
		return nil
	}
	return k.stringsOf(keyword, list)
}

func (k *keywords) stringsOf(keyword string, list []any) []string {
	names := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			k.wrong(keyword, "must be a list of strings, not %s", shown(list))
			return nil
		}
		names = append(names, s)
	}
	return names
}

func (k *keywords) pattern(keyword, text string) *regexp.Regexp {
	p, err := regexp.Compile(text)
	if err != nil {
		k.wrong(keyword, "%s is no pattern of RE2 syntax: %v", shown(text), err)
	}
	return p
}

// schema reads a keyword that holds one schema.
func (k *keywords) schema(keyword string) *node {
	v, ok := k.doc[keyword]
	if !ok {
		return nil
	}
	return k.compile(v, keyword)
}

func (k *keywords) schemas(keyword string) []*node {
	list, ok := read[[]any](k, keyword, "a list of schemas")
	if !ok {
		return nil
	}
	nodes := make([]*node, len(list))
	for i, v := range list {
		nodes[i] = k.compile(v, keyword, fmt.Sprint(i))
	}
	return nodes
}

func (k *keywords) schemaMap(keyword string) map[string]*node {
	m, ok := read[map[string]any](k, keyword, "an object of schemas")
	if !ok || len(m) == 0 {
		return nil
	}
	nodes := make(map[string]*node, len(m))
	for _, name := range sortedKeys(m) {
		nodes[name] = k.compile(m[name], keyword, name)
	}
	return nodes
}

func (k *keywords) compile(v any, steps ...string) *node {
	if k.err != nil {
		return nil
	}
	n, err := k.c.compile(v, pointer(k.where, steps...), k.in, k.depth+1)
	k.err = err
	return n
}

func (k *keywords) types() kinds {
	given, ok := k.doc["type"]
	if !ok {
		return 0
	}
	list, ok := given.([]any)
	if !ok {
		list = []any{given}
	}
	var all kinds
	for _, v := range list {
		name, _ := v.(string)
		i := slices.Index(kindNames[:], name)
		if i < 0 {
			k.wrong("type", "must be one or a list of %s, not %s", strings.Join(kindNames[:], ", "), shown(given))
			return 0
		}
		all |= 1 << i
	}
	if all == 0 {
		k.wrong("type", "must name at least one type")
	}
	return all
}

func (k *keywords) values() *values {
	var vs values
	if v, ok := k.doc["const"]; ok {
		vs.sets = append(vs.sets, map[string]bool{string(canonical(nil, v)): true})
		vs.words = append(vs.words, "value must be "+shown(v))
	}
	if list, ok := read[[]any](k, "enum", "a list"); ok {
		set := make(map[string]bool, len(list))
		var words []string
		for _, v := range list {
			set[string(canonical(nil, v))] = true
			words = append(words, shown(v))
		}
		say := "value must be one of "
		if len(list) == 1 {
			say = "value must be "
		}
		vs.sets = append(vs.sets, set)
		vs.words = append(vs.words, say+joined(words, ", "))
	}
	if vs.sets == nil {
		return nil
	}
	return &vs
}

// any tells whether one of the keywords is there.
func (k *keywords) any(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := k.doc[name]; return ok })
}
