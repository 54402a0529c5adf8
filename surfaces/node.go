package surfaces

import "slices"

// Type of a widget.
type Type string

// The types.
const (
	Rows      Type = "rows"
	Cols      Type = "cols"
	Text      Type = "text"
	Markdown  Type = "markdown"
	Diff      Type = "diff"
	List      Type = "list"
	Table     Type = "table"
	Tree      Type = "tree"
	Input     Type = "input"
	Button    Type = "button"
	Progress  Type = "progress"
	Gauge     Type = "gauge"
	Sparkline Type = "sparkline"
	Rule      Type = "rule"
	Spacer    Type = "spacer"
)

// Types returns every type, in the order of their description.
func Types() []Type {
	return []Type{Rows, Cols, Text, Markdown, Diff, List, Table, Tree, Input, Button, Progress, Gauge, Sparkline, Rule, Spacer}
}

// OwnFields returns the fields of a type without those any widget has.
func OwnFields(t Type) []string { return slices.Clone(fields[t]) }

// Focusable tells whether a widget of this type takes keys: lists, tables, trees,
// inputs and buttons.
func (t Type) Focusable() bool {
	return slices.Contains([]Type{List, Table, Tree, Input, Button}, t)
}

// fields of each type as plugins write them; the first is the one a constructor
// takes by position.
var fields = map[Type][]string{
	Rows:      {"children", "gap"},
	Cols:      {"children", "gap"},
	Text:      {"text", "spans", "wrap", "align", "style", "id"},
	Markdown:  {"text"},
	Diff:      {"path", "before", "after", "patch", "id"},
	List:      {"items", "selected", "id"},
	Table:     {"columns", "rows", "selected", "id"},
	Tree:      {"nodes", "selected", "expanded", "id"},
	Input:     {"id", "text", "placeholder", "multiline"},
	Button:    {"id", "label"},
	Progress:  {"value", "label"},
	Gauge:     {"values", "max"},
	Sparkline: {"values", "max"},
	Rule:      {},
	Spacer:    {},
}

// placed are the fields of any widget: its share of the rows or columns it is in.
var placed = []string{"size", "grow"}

// Fields returns the names of the fields of a type besides "type", the positional
// one first ("rule" and "spacer" have none); nil for an unknown type.
func Fields(t Type) []string {
	own, ok := fields[t]
	if !ok {
		return nil
	}
	return slices.Concat(own, placed)
}

// Align is where text stands in its room; the zero value is left.
type Align string

// The alignments.
const (
	Left   Align = ""
	Center Align = "center"
	Right  Align = "right"
)

// Node is one widget with what is in it. Trees come from Parse, which cleans and
// checks every text; they are never changed afterwards and may be shared. Fields
// of other types are zero.
type Node struct {
	Type Type
	// Key tells the widget from the others of its tree: its ID, else "#" and its
	// path from the root. It is derived, not part of the JSON.
	Key string
	ID  string // as the plugin named it; "" for none

	Size int // cells within the rows or columns it is in; 0 = not fixed
	Grow int // share of the room that is left; 0 = as much as it needs

	Children []*Node // rows, cols
	Gap      int     // rows, cols: empty cells between the children

	Text   string // text (of one style), markdown, input
	Spans  []Span // text, instead of Text
	Style  Style  // text
	NoWrap bool   // text: cut at the edge instead
	Align  Align  // text

	Path   string // diff
	Before string // diff; unless there is a patch
	After  string // diff; unless there is a patch
	Patch  string // diff, a unified one

	Items   []Item     // list
	Columns []Column   // table
	Rows    []Row      // table
	Nodes   []TreeNode // tree

	Selected *Choice  // list, table, tree; nil leaves it to the host
	Expanded []string // tree: ids; nil leaves it to the host

	Placeholder string // input
	Multiline   bool   // input

	Label  string    // button, progress
	Value  *float64  // progress, 0 to 1; nil = busy
	Values []float64 // gauge, sparkline
	Max    float64   // gauge, sparkline; 0 = the largest of the values
}

// Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
}

// Item is one line of a list.
type Item struct {
	Text  string
	Style Style
	ID    string
}

// Column of a table.
type Column struct {
	Title string
	Width int // cells; 0 = as wide as what is in it
	Align Align
}

// Row of a table.
type Row struct {
	Cells []string
	Style Style
	ID    string
}

// TreeNode is one branch of a tree.
type TreeNode struct {
	// Key tells the branch from the others: its ID, else "#" and its path of
	// indices, such as "#0/2". It is derived, not part of the JSON.
	Key      string
	Text     string
	ID       string
	Style    Style
	Children []TreeNode
}

// Choice names one item: by its id where that is not empty, else by its place.
type Choice struct {
	ID    string
	Index int // zero-based
}

// Value is what a message carries of the choice: the id, or the index as int64.
func (c Choice) Value() any {
	if c.ID != "" {
		return c.ID
	}
	return int64(c.Index)
}

// All calls f for the node and everything in it, parents first, until f returns
// false.
func (n *Node) All(f func(*Node) bool) bool {
	if !f(n) {
		return false
	}
	for _, c := range n.Children {
		if !c.All(f) {
			return false
		}
	}
	return true
}

// Find returns the widget with this id, or nil.
func (n *Node) Find(id string) *Node {
	var found *Node
	n.All(func(m *Node) bool {
		if m.ID == id && id != "" {
			found = m
		}
		return found == nil
	})
	return found
}
