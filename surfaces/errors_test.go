package surfaces_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"starling/surfaces"
)

type dict = map[string]any

func nested(n int) any {
	v := any("x")
	for range n {
		v = dict{"type": "rows", "children": []any{v}}
	}
	return v
}

func branches(n int) any {
	v := dict{"text": "x"}
	for range n {
		v = dict{"text": "x", "children": []any{v}}
	}
	return v
}

func TestParseErrors(t *testing.T) {
	rows := func(children ...any) any { return dict{"type": "rows", "children": children} }
	w := func(kind string, kv ...any) dict {
		m := dict{"type": kind}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1]
		}
		return m
	}
	list := func(v ...any) []any { return v }
	for _, c := range []struct {
		in   any
		want string
	}{
		{nil, `must be a widget (a dict with "type", or a text), not None`},
		{int64(3), `must be a widget (a dict with "type", or a text), not a number`},
		{list("a"), `must be a widget (a dict with "type", or a text), not a list`},
		{map[any]any{1: 2}, `has a key that is no text`},
		{dict{}, `needs "type", such as {"type": "text", "text": "…"}`},
		{dict{"type": 3}, `type: must be a text, not a number`},
		{w("lst"), `unknown widget type "lst"; did you mean "list"?`},
		{w("colum"), `unknown widget type "colum"; did you mean "cols"?`},
		{w("Text"), `unknown widget type "Text"; did you mean "text"?`},
		{w("xyzzy"), `unknown widget type "xyzzy"; it is "rows", "cols", "text", "markdown", "diff", "list", "table", "tree", "input", "button", "progress", "gauge", "sparkline", "rule" or "spacer"`},
		{w("a\x1b[31m"), `unknown widget type "a"; it is "rows", "cols", "text", "markdown", "diff", "list", "table", "tree", "input", "button", "progress", "gauge", "sparkline", "rule" or "spacer"`},
		{rows("a", "b", w("lst")), `rows.children[2]: unknown widget type "lst"; did you mean "list"?`},
		{rows(rows(true)), `rows.children[0].children[0]: must be a widget (a dict with "type", or a text), not True or False`},
		{w("rows"), `rows: needs "children"`},
		{w("rows", "children", "a"), `rows.children: must be a list, not a text`},
		{w("rows", "children", list(), "gap", int64(-1)), `rows.gap: must be at least 0, not -1`},
		{w("rows", "children", list(), "gap", 1.5), `rows.gap: must be a whole number, not 1.5`},
		{w("rows", "children", list(), "grap", int64(1)), `rows: rows has no field "grap"; did you mean "gap"?`},
		{w("rule", "text", "x"), `rule: rule has no field "text"; it is "size" or "grow"`},
		{rows(w("spacer", "size", int64(0))), `rows.children[0].size: must be at least 1, not 0`},
		{rows(w("spacer", "size", int64(-4))), `rows.children[0].size: must be at least 1, not -4`},
		{rows(w("spacer", "grow", new(big.Int).Lsh(big.NewInt(1), 70))), `rows.children[0].grow: must be at most 10000, not 1180591620717411303424`},
		{rows(w("spacer", "grow", int64(1), "size", int64(1))), `rows.children[0]: has both "size" and "grow"; choose one`},
		{w("text"), `text: needs "text" or "spans"`},
		{w("text", "text", "a", "spans", list()), `text: has both "text" and "spans"; choose one`},
		{w("text", "text", int64(5)), `text.text: must be a text, not a number; str(x) makes one`},
		{w("text", "txt", "a"), `text: text has no field "txt"; did you mean "text"?`},
		{w("text", "text", "a", "align", "middle"), `text.align: unknown align "middle"; it is "left", "center" or "right"`},
		{w("text", "text", "a", "align", "centre"), `text.align: unknown align "centre"; did you mean "center"?`},
		{w("text", "text", "a", "wrap", "yes"), `text.wrap: must be True or False, not a text`},
		{w("text", "text", "a", "style", "red"), `text.style: unknown style "red"; it is "title", "dim", "accent", "good", "warn", "bad", "code", "bold", "italic" or "underline"`},
		{w("text", "text", "a", "style", "boldd"), `text.style: unknown style "boldd"; did you mean "bold"?`},
		{w("text", "text", "a", "style", "good bad"), `text.style: "good" and "bad" cannot be one style; choose one of them`},
		{w("text", "text", "a", "style", list("good")), `text.style: must be a text such as "accent bold", not a list`},
		{w("text", "spans", list("a", dict{"txt": "b"})), `text.spans[1]: a span has no field "txt"; did you mean "text"?`},
		{w("text", "spans", list(dict{"style": "dim"})), `text.spans[0]: needs "text"`},
		{w("text", "spans", list(int64(1))), `text.spans[0]: must be a text or a dict, not a number; str(x) makes one`},
		{w("text", "text", "a", "id", ""), `text.id: must not be empty`},
		{w("text", "text", "a", "id", int64(3)), `text.id: must be a text, not a number; str(x) makes one`},
		{w("text", "text", "a", "id", "#1"), `text.id: must not begin with "#"; that is how a place is named`},
		{w("text", "text", "a", "id", "\xff"), `text.id: is no UTF-8`},
		{w("text", "text", "a", "id", strings.Repeat("x", 201)), `text.id: is longer than 200 bytes`},
		{rows(w("button", "id", "b", "label", "x"), w("input", "id", "b")), `rows.children[1].id: the id "b" is used twice`},
		{w("markdown"), `markdown: needs "text"`},
		{w("diff", "path", "x"), `diff: needs "before" and "after", or "patch"`},
		{w("diff", "patch", "x", "after", "y"), `diff: has both "patch" and "before" or "after"; choose one`},
		{w("list"), `list: needs "items"`},
		{w("list", "items", list("a", nil)), `list.items[1]: must be a text or a dict, not None`},
		{w("list", "items", list("a", w("text", "text", "b"))), `list.items[1]: an item has no field "type"; did you mean "style"?`},
		{w("list", "items", list(dict{"text": "a", "id": "1"}, dict{"text": "b", "id": "1"})), `list.items[1].id: the id "1" is used twice`},
		{w("list", "items", list("a"), "selected", int64(-1)), `list.selected: must be at least 0, not -1`},
		{w("list", "items", list("a"), "selected", true), `list.selected: must be a zero-based number or an id, not True or False`},
		{w("table", "rows", list()), `table: needs "columns"`},
		{w("table", "columns", list(int64(1))), `table.columns[0]: must be a text or a dict with "title", not a number`},
		{w("table", "columns", list(dict{"title": "a", "width": int64(0)})), `table.columns[0].width: must be at least 1, not 0`},
		{w("table", "columns", list("a"), "rows", list(list("x"), list("x", "y"))), `table.rows[1]: 2 cells do not fit 1 columns`},
		{w("table", "columns", list("a"), "rows", list(list(int64(4)))), `table.rows[0][0]: must be a text, not a number; str(x) makes one`},
		{w("table", "columns", list("a"), "rows", list(dict{"cells": list(nil)})), `table.rows[0].cells[0]: must be a text, not None`},
		{w("table", "columns", list("a"), "rows", list("x")), `table.rows[0]: must be a list of texts or a dict with "cells", not a text`},
		{w("tree", "nodes", list(dict{"text": "a", "children": list(dict{"id": "x"})})), `tree.nodes[0].children[0]: needs "text"`},
		{w("tree", "nodes", list("a"), "selected", int64(0)), `tree.selected: must be a text, not a number; str(x) makes one`},
		{w("tree", "nodes", list("a"), "expanded", list(int64(0))), `tree.expanded[0]: must be a text, not a number; str(x) makes one`},
		{w("input"), `input: needs "id"`},
		{w("input", "id", "i", "text", nil, "placholder", "x"), `input: input has no field "placholder"; did you mean "placeholder"?`},
		{w("input", "id", "i", "multiline", int64(1)), `input.multiline: must be True or False, not a number`},
		{w("button", "id", "b"), `button: needs "label"`},
		{w("progress", "value", 1.5), `progress.value: must be from 0 to 1, or None for busy, not 1.5`},
		{w("progress", "value", "50%"), `progress.value: must be a number, not a text`},
		{w("progress", "value", math.NaN()), `progress.value: must be a finite number`},
		{w("gauge", "values", list(1.0, math.Inf(1))), `gauge.values[1]: must be a finite number`},
		{w("sparkline", "values", list(), "max", int64(0)), `sparkline.max: must be above 0, not 0`},
		{nested(32), strings.Repeat("rows.children[0]", 1) + strings.Repeat(".children[0]", 31) + `: widgets are nested more than 32 deep`},
		{w("tree", "nodes", list(branches(32))), `tree.nodes[0]` + strings.Repeat(".children[0]", 32) + `: branches are nested more than 32 deep`},
		{w("list", "items", make([]any, 10_000)), `list.items: the tree has more than 10000 parts; show only what fits the panel`},
		{w("text", "text", strings.Repeat("x", 1<<20+1)), `text.text: the texts of the tree are longer than 1048576 bytes; show a part of them`},
		{rows(strings.Repeat("x", 1<<19), strings.Repeat("x", 1<<19), "x"), `rows.children[2]: the texts of the tree are longer than 1048576 bytes; show a part of them`},
	} {
		n, err := surfaces.Parse(c.in)
		if err == nil {
			t.Errorf("no error, want %s", c.want)
			continue
		}
		if n != nil {
			t.Errorf("a tree beside the error %v", err)
		}
		if err.Error() != c.want {
			t.Errorf("got  %s\nwant %s", err, c.want)
		}
	}
}

func TestPlacement(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string // the placement, or its error
	}{
		{dict{"kind": "side"}, "{side right 0 0 0}"},
		{dict{"kind": "side", "side": "left", "width": int64(40), "order": int64(-1)}, "{side left -1 40 0}"},
		{dict{"kind": "status"}, "{status  0 0 0}"},
		{dict{"kind": "overlay", "width": 60.0, "height": int64(10)}, "{overlay  0 60 10}"},
		{dict{"kind": "bottom", "height": int64(3), "extra": nil}, `bottom placement has no field "extra"; it is "kind" or "height"`},
		{dict{"kind": "bottom", "height": int64(3)}, "{bottom  0 0 3}"},
		{"side", `must be a dict such as {"kind": "side", "side": "right"}, not a text`},
		{dict{}, `needs "kind": "side", "status", "overlay" or "bottom"`},
		{dict{"kind": "sidebar"}, `kind: unknown kind "sidebar"; did you mean "side"?`},
		{dict{"kind": "side", "side": "top"}, `side: unknown side "top"; it is "left" or "right"`},
		{dict{"kind": "side", "with": int64(3)}, `side placement has no field "with"; did you mean "width"?`},
		{dict{"kind": "side", "width": int64(-3)}, `width: must be at least 1, not -3`},
		{dict{"kind": "status", "width": int64(3)}, `status placement has no field "width"; it is "kind"`},
		{dict{"kind": 3}, `kind: must be a text, not a number`},
	} {
		p, err := surfaces.ParsePlacement(c.in)
		got := fmt.Sprint(p)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestStyle(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "bold accent": "accent bold", " italic  underline bold ": "bold italic underline",
		"dim dim": "dim", "code underline": "code underline",
	} {
		s, err := surfaces.ParseStyle(text)
		if err != nil || s.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, s, err, want)
		}
		if again, err := surfaces.ParseStyle(s.String()); err != nil || again != s {
			t.Errorf("%q does not come back: %v, %v", s, again, err)
		}
	}
	for _, name := range surfaces.StyleNames() {
		if s, err := surfaces.ParseStyle(name); err != nil || s.String() != name {
			t.Errorf("%s: %q, %v", name, s, err)
		}
	}
	if got := (surfaces.Dim | surfaces.Bold).With(surfaces.Code | surfaces.Italic).String(); got != "code bold italic" {
		t.Errorf("laid over: %q", got)
	}
	if got := (surfaces.Dim | surfaces.Bold).With(surfaces.Underline).String(); got != "dim bold underline" {
		t.Errorf("laid over: %q", got)
	}
}
