package surfaces_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces"
)

// anyText is text with everything foreign text may hold.
var anyText = rapid.OneOf(rapid.StringMatching(`[a-z ]{0,8}`), rapid.String(), rapid.StringMatching(`(\x1b\[31m|\x{9b}|\x{202e}|\n|\t|漢|é|👩‍👩‍👧){0,4}`))

// maybe draws a field or leaves it out.
func maybe[T any](t *rapid.T, m dict, field string, g *rapid.Generator[T]) {
	if rapid.Bool().Draw(t, field+"?") {
		m[field] = g.Draw(t, field)
	}
}

func style(t *rapid.T) any {
	names := append([]string{""}, surfaces.StyleNames()...)
	return rapid.SampledFrom(names).Draw(t, "style") + " " + rapid.SampledFrom([]string{"", "bold", "italic"}).Draw(t, "emphasis")
}

func anyList(t *rapid.T, what string, item func() any) []any {
	out := []any{}
	for range rapid.IntRange(0, 4).Draw(t, what) {
		out = append(out, item())
	}
	return out
}

// tree draws a tree as a plugin may write it.
func tree(t *rapid.T, depth int) any {
	kind := rapid.SampledFrom(surfaces.Types()).Draw(t, "type")
	if depth > 3 && (kind == surfaces.Rows || kind == surfaces.Cols) {
		return anyText.Draw(t, "bare")
	}
	m := dict{"type": string(kind)}
	text := func(what string) any { return anyText.Draw(t, what) }
	id := rapid.Map(rapid.Uint64(), func(n uint64) any {
		return "id " + string(rune('a'+n%26)) + string(rune('a'+n/26%26)) + string(rune('a'+n/676%26))
	})
	switch rapid.IntRange(0, 2).Draw(t, "place") {
	case 0:
		m["size"] = int64(rapid.IntRange(1, 99).Draw(t, "size"))
	case 1:
		m["grow"] = int64(rapid.IntRange(1, 9).Draw(t, "grow"))
	}
	part := func(withID bool) any {
		if rapid.Bool().Draw(t, "bare") {
			return text("text")
		}
		p := dict{"text": text("text"), "style": style(t)}
		if withID {
			maybe(t, p, "id", id)
		}
		return p
	}
	switch kind {
	case surfaces.Rows, surfaces.Cols:
		m["children"] = anyList(t, "children", func() any { return tree(t, depth+1) })
		maybe(t, m, "gap", rapid.Int64Range(0, 3))
	case surfaces.Text:
		if rapid.Bool().Draw(t, "spans?") {
			m["spans"] = anyList(t, "spans", func() any { return part(false) })
		} else {
			m["text"] = text("text")
		}
		m["style"] = style(t)
		maybe(t, m, "wrap", rapid.Bool())
		maybe(t, m, "align", rapid.SampledFrom([]string{"left", "center", "right"}))
	case surfaces.Markdown:
		m["text"] = text("text")
	case surfaces.Diff:
		m["path"] = text("path")
		if rapid.Bool().Draw(t, "patch?") {
			m["patch"] = text("patch")
		} else {
			m["before"], m["after"] = text("before"), text("after")
		}
	case surfaces.List:
		m["items"] = anyList(t, "items", func() any { return part(true) })
		maybe(t, m, "selected", rapid.Map(rapid.Int64Range(0, 5), func(n int64) any { return n }))
	case surfaces.Table:
		m["columns"] = []any{text("column"), dict{"title": text("title"), "width": int64(4), "align": "right"}}
		m["rows"] = anyList(t, "rows", func() any {
			cells := []any{text("cell"), text("cell")}
			if rapid.Bool().Draw(t, "bare") {
				return cells
			}
			row := dict{"cells": cells, "style": style(t)}
			maybe(t, row, "id", id)
			return row
		})
		maybe(t, m, "selected", id)
	case surfaces.Tree:
		var branch func(depth int) any
		branch = func(depth int) any {
			b := part(true)
			if d, ok := b.(dict); ok && depth < 3 {
				d["children"] = anyList(t, "branches", func() any { return branch(depth + 1) })
			}
			return b
		}
		m["nodes"] = anyList(t, "nodes", func() any { return branch(0) })
		maybe(t, m, "selected", id)
		if rapid.Bool().Draw(t, "expanded?") {
			m["expanded"] = anyList(t, "expanded", func() any { return id.Draw(t, "id") })
		}
	case surfaces.Input:
		m["id"] = id.Draw(t, "id")
		m["text"] = text("text")
		maybe(t, m, "placeholder", anyText)
		maybe(t, m, "multiline", rapid.Bool())
	case surfaces.Button:
		m["id"], m["label"] = id.Draw(t, "id"), text("label")
	case surfaces.Progress:
		maybe(t, m, "value", rapid.Float64Range(0, 1))
		maybe(t, m, "label", anyText)
	case surfaces.Gauge, surfaces.Sparkline:
		m["values"] = anyList(t, "values", func() any {
			return rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }).Draw(t, "value")
		})
		maybe(t, m, "max", rapid.Float64Range(0.1, 1e9))
	}
	return m
}

// Any tree that is accepted comes back from its JSON and from its plain form, and
// holds no text that steers a terminal.
func TestRoundTrip(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		n, err := surfaces.Parse(tree(t, 0))
		if err != nil {
			if !bytes.Contains([]byte(err.Error()), []byte("used twice")) {
				t.Fatal(err)
			}
			return
		}
		accepted++
		comesBack(t, n)
		isClean(t, n)
	})
	if accepted < 20 {
		t.Errorf("only %d trees were accepted", accepted)
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func comesBack(t failer, n *surfaces.Node) {
	t.Helper()
	again, err := surfaces.Parse(n.Plain())
	if err != nil {
		t.Fatalf("the plain form is refused: %v", err)
	}
	if d := cmp.Diff(n, again); d != "" {
		t.Fatalf("from plain: %s", d)
	}
	raw, err := json.Marshal(n)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var back surfaces.Node
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	if d := cmp.Diff(n, &back); d != "" {
		t.Fatalf("from JSON: %s", d)
	}
	second, err := json.Marshal(&back)
	if err != nil || !bytes.Equal(raw, second) {
		t.Fatalf("the JSON is not canonical: %v\n%s\n%s", err, raw, second)
	}
}

func isClean(t failer, n *surfaces.Node) {
	t.Helper()
	check := func(line bool, texts ...string) {
		for _, s := range texts {
			for _, r := range s {
				if view.Steers(r) && (line || r != '\n' && r != '\t') {
					t.Fatalf("%s has %U in %q", n.Type, r, s)
				}
			}
			if !utf8.ValidString(s) {
				t.Fatalf("%s has invalid bytes in %q", n.Type, s)
			}
		}
	}
	n.All(func(n *surfaces.Node) bool {
		check(false, n.Text, n.Before, n.After, n.Patch)
		check(true, n.Path, n.Placeholder, n.Label)
		for _, s := range n.Spans {
			check(false, s.Text)
		}
		for _, it := range n.Items {
			check(true, it.Text)
		}
		for _, c := range n.Columns {
			check(true, c.Title)
		}
		for _, r := range n.Rows {
			check(true, r.Cells...)
		}
		return true
	})
}

// FuzzParse: no JSON makes the parser panic, and what it accepts comes back.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/trees/*.json")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range seeds {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return
		}
		n, err := surfaces.Parse(v)
		if err != nil {
			for _, r := range err.Error() {
				if view.Steers(r) {
					t.Fatalf("%U in the error %q", r, err)
				}
			}
			return
		}
		comesBack(t, n)
		isClean(t, n)
	})
}
