package surfaces_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/surfaces"
)

func decode(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestParse(t *testing.T) {
	half := 0.5
	in := `{"type": "rows", "gap": 1, "children": ["plain", null,
		{"type": "cols", "size": 3, "children": [{"type": "rule"}, {"type": "spacer", "grow": 2}]},
		{"type": "text", "spans": ["a", {"text": "b", "style": "bold accent"}], "wrap": false, "align": "center"},
		{"type": "diff", "path": "a.go", "before": "x", "after": "y"},
		{"type": "list", "id": "l", "items": ["one", {"text": "two", "id": "2"}], "selected": "2"},
		{"type": "table", "columns": ["a", {"title": "b", "width": 4, "align": "right"}], "rows": [["1"], {"cells": ["1", "2"], "id": "r"}], "selected": 1},
		{"type": "tree", "nodes": [{"text": "x", "id": "x", "children": ["y"]}], "expanded": ["x"], "selected": "x"},
		{"type": "input", "id": "i", "text": "a\nb", "multiline": true},
		{"type": "input", "id": "j", "text": "a\nb"},
		{"type": "button", "id": "b", "label": "Go"},
		{"type": "progress", "value": 0.5, "label": "l"}, {"type": "progress"},
		{"type": "sparkline", "values": [1, 2.5], "max": 3},
		{"type": "markdown", "text": "# \u001b[31mred\u202e"}]}`
	want := &surfaces.Node{Type: surfaces.Rows, Key: "#rows", Gap: 1, Children: []*surfaces.Node{
		{Type: surfaces.Text, Key: "#rows.0", Text: "plain"},
		{Type: surfaces.Cols, Key: "#rows.1", Size: 3, Children: []*surfaces.Node{
			{Type: surfaces.Rule, Key: "#rows.1.0"}, {Type: surfaces.Spacer, Key: "#rows.1.1", Grow: 2},
		}},
		{Type: surfaces.Text, Key: "#rows.2", Spans: []surfaces.Span{{Text: "a"}, {Text: "b", Style: surfaces.Accent | surfaces.Bold}}, NoWrap: true, Align: surfaces.Center},
		{Type: surfaces.Diff, Key: "#rows.3", Path: "a.go", Before: "x", After: "y"},
		{Type: surfaces.List, Key: "l", ID: "l", Items: []surfaces.Item{{Text: "one"}, {Text: "two", ID: "2"}}, Selected: &surfaces.Choice{ID: "2"}},
		{
			Type: surfaces.Table, Key: "#rows.5", Columns: []surfaces.Column{{Title: "a"}, {Title: "b", Width: 4, Align: surfaces.Right}},
			Rows: []surfaces.Row{{Cells: []string{"1"}}, {Cells: []string{"1", "2"}, ID: "r"}}, Selected: &surfaces.Choice{Index: 1},
		},
		{
			Type: surfaces.Tree, Key: "#rows.6", Nodes: []surfaces.TreeNode{{Key: "x", Text: "x", ID: "x", Children: []surfaces.TreeNode{{Key: "#0/0", Text: "y"}}}},
			Expanded: []string{"x"}, Selected: &surfaces.Choice{ID: "x"},
		},
		{Type: surfaces.Input, Key: "i", ID: "i", Text: "a\nb", Multiline: true},
		{Type: surfaces.Input, Key: "j", ID: "j", Text: "a b"},
		{Type: surfaces.Button, Key: "b", ID: "b", Label: "Go"},
		{Type: surfaces.Progress, Key: "#rows.10", Value: &half, Label: "l"},
		{Type: surfaces.Progress, Key: "#rows.11"},
		{Type: surfaces.Sparkline, Key: "#rows.12", Values: []float64{1, 2.5}, Max: 3},
		{Type: surfaces.Markdown, Key: "#rows.13", Text: "# red"},
	}}
	got, err := surfaces.Parse(decode(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var again surfaces.Node
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(got, &again); d != "" {
		t.Errorf("after JSON: %s", d)
	}
}
