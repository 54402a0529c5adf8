package schema

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Limits of a schema. Those of tools are a hundredth of them.
const (
	maxSchemas     = 100_000
	maxSchemaDepth = 500
	maxPlaceBytes  = 64 << 20 // of all JSON pointers made: long names above many schemas
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root   *node
	tracks bool // unevaluated* is somewhere, so checks note what was evaluated
}

// Compile compiles a decoded schema, see Decode. Its error names the JSON
// pointer of the first fault; $ref to what is not in the document is one.
func Compile(document any) (*Schema, error) {
	base, err := url.Parse("tool:///parameters")
	if err != nil {
		return nil, err
	}
	c := &compiler{
		document: document, nodes: map[string]*node{}, draft: draftOf(document),
		resources: map[string]*resource{}, anchors: map[string]string{},
	}
	top := &resource{id: base}
	c.resources[base.String()] = top
	root, err := c.compile(document, "", top, 0)
	if err != nil {
		return nil, err
	}
	// Resolving may compile more, which may bring further references.
	for i := 0; i < len(c.pending); i++ {
		if err := c.resolve(c.pending[i]); err != nil {
			return nil, err
		}
	}
	if err := c.loops(); err != nil {
		return nil, err
	}
	return &Schema{root: root, tracks: c.tracks}, nil
}

type compiler struct {
	document  any
	draft     int // 4, 6 or 7 when $schema says so, else 0
	nodes     map[string]*node
	pending   []reference
	resources map[string]*resource // by absolute URI without a fragment
	anchors   map[string]string    // URI#name to JSON pointer
	tracks    bool
	places    int // bytes of the JSON pointers made so far
}

// resource is a part of the document with an $id of its own.
type resource struct {
	id    *url.URL
	where string // JSON pointer
}

// reference is a $ref that still has to be resolved.
type reference struct {
	from  *node
	where string
	text  string
	in    *resource
}

func draftOf(document any) int {
	top, _ := document.(map[string]any)
	dialect, _ := top["$schema"].(string)
	for draft, name := range map[int]string{4: "draft-04", 6: "draft-06", 7: "draft-07"} {
		if strings.Contains(dialect, name) {
			return draft
		}
	}
	return 0
}

// pointer appends steps to a JSON pointer.
func pointer(where string, steps ...string) string {
	for _, step := range steps {
		where += "/" + escape.Replace(step)
	}
	return where
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// compile returns the node of the schema at a place, and makes it at the first
// visit.
func (c *compiler) compile(v any, where string, in *resource, depth int) (*node, error) {
	if n := c.nodes[where]; n != nil {
		return n, nil
	}
	if err := c.spend(where); err != nil {
		return nil, err
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("schemas may be nested %d deep, and this one goes deeper", maxSchemaDepth)
	}
	n := &node{}
	c.nodes[where] = n
	switch v := v.(type) {
	case bool:
		n.verdict = never
		if v {
			n.verdict = always
		}
		return n, nil
	case map[string]any:
		k := &keywords{c: c, doc: v, where: where, in: in, depth: depth}
		k.fill(n)
		return n, k.err
	}
	return nil, fmt.Errorf("#%s: a schema is an object, true or false, not %s", where, shown(v))
}

func (c *compiler) spend(where string) error {
	if c.places += len(where); c.places > maxPlaceBytes || len(c.nodes) >= maxSchemas {
		return fmt.Errorf("the schema is too large: at most %d schemas inside it can be kept, and fewer below long names", maxSchemas)
	}
	return nil
}

// fill compiles every keyword of a schema object.
func (k *keywords) fill(n *node) {
	ref, refers := read[string](k, "$ref", "a string")
	alone := refers && k.c.draft != 0 // until draft 7 nothing counted beside $ref
	if !alone {
		k.name()
	}
	if refers {
		k.c.pending = append(k.c.pending, reference{n, k.where, ref, k.in})
	}
	if alone {
		k.schemaMap("definitions")
		return
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if k.any(keyword) {
			k.wrong(keyword, "is not supported; use $ref")
		}
	}
	k.schemaMap("$defs")
	k.schemaMap("definitions")
	n.types, n.values = k.types(), k.values()
	n.number, n.text, n.array, n.object = k.number(), k.text(), k.array(), k.object()
	n.combine = k.combination()
}

// name registers what $id and $anchor call this schema.
func (k *keywords) name() {
	keyword := "$id"
	if k.c.draft == 4 {
		keyword = "id"
	}
	if id, ok := read[string](k, keyword, "a string"); ok {
		if anchor, is := strings.CutPrefix(id, "#"); is { // until draft 7
			k.anchor(keyword, anchor)
		} else if at, err := k.in.id.Parse(id); err != nil {
			k.wrong(keyword, "%s is no URI: %v", shown(id), err)
		} else {
			at.Fragment = ""
			k.in = &resource{id: at, where: k.where}
			if k.c.resources[at.String()] != nil && k.where != "" {
				k.wrong(keyword, "%s names two schemas", shown(id))
			}
			k.c.resources[at.String()] = k.in
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := read[string](k, keyword, "a string"); ok {
			k.anchor(keyword, name)
		}
	}
}

func (k *keywords) anchor(keyword, name string) {
	key := k.in.id.String() + "#" + name
	if _, twice := k.c.anchors[key]; twice {
		k.wrong(keyword, "%s names two schemas", shown(name))
	}
	k.c.anchors[key] = k.where
}

// resolve finds the schema that a reference means.
func (c *compiler) resolve(r reference) error {
	wrong := func(why string) error {
		return fmt.Errorf("#%s: %s: %s", pointer(r.where, "$ref"), cut(r.text), why)
	}
	uri, err := r.in.id.Parse(r.text)
	if err != nil {
		return wrong(err.Error())
	}
	fragment := uri.Fragment
	uri.Fragment = ""
	if strings.HasPrefix(r.text, "#") {
		uri = r.in.id
	}
	in := c.resources[uri.String()]
	if in == nil {
		return wrong("a schema may refer to itself only")
	}
	where, v := in.where, any(nil)
	switch at, named := c.anchors[uri.String()+"#"+fragment]; {
	case fragment == "" || strings.HasPrefix(fragment, "/"):
		where += fragment
	case named:
		where = at
	default:
		return wrong("there is no schema of this name")
	}
	if err := c.spend(where); err != nil {
		return err
	}
	if v, err = c.at(where); err != nil {
		return wrong(err.Error())
	}
	// The pointer may be written in more than one way; a node has one place.
	r.from.ref, err = c.compile(v, clean(where), in, 0)
	return err
}

func clean(where string) string {
	if where == "" {
		return ""
	}
	var b strings.Builder
	for step := range strings.SplitSeq(where[1:], "/") {
		b.WriteString("/" + escape.Replace(unescape.Replace(step)))
	}
	return b.String()
}

// at walks a JSON pointer.
func (c *compiler) at(where string) (any, error) {
	v := c.document
	if where == "" {
		return v, nil
	}
	for step := range strings.SplitSeq(where[1:], "/") {
		there := false
		switch parent := v.(type) {
		case map[string]any:
			v, there = parent[unescape.Replace(step)]
		case []any:
			if i, ok := index(step); ok && i < len(parent) {
				v, there = parent[i], true
			}
		}
		if !there {
			return nil, errors.New("there is nothing at " + shown(step))
		}
	}
	return v, nil
}

// index reads a step of a JSON pointer into a list.
func index(step string) (int, bool) {
	if step == "" || len(step) > 9 || step != "0" && step[0] == '0' {
		return 0, false
	}
	n := 0
	for _, r := range step {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, true
}

// loops refuses a schema that leads back to itself while it looks at one value:
// no check of it would end.
func (c *compiler) loops() error {
	const open, done = 1, 2
	state := make(map[*node]int, len(c.nodes))
	var visit func(n *node) bool
	visit = func(n *node) bool {
		state[n] = open
		round := false
		n.inPlace(func(m *node) {
			round = round || state[m] == open || state[m] == 0 && visit(m)
		})
		state[n] = done
		return round
	}
	for _, where := range sortedKeys(c.nodes) {
		if n := c.nodes[where]; state[n] == 0 && visit(n) {
			return fmt.Errorf("#%s: leads back to itself at the same value, which no document can end", where)
		}
	}
	return nil
}
