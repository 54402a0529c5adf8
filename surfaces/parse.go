package surfaces

import (
	"strconv"
	"strings"

	"starling/bus/spec"
	"starling/bus/view"
)

// Parse reads a widget tree from plain data: a dict with "type" and the fields of
// that type, or a text, which is a text widget. A None among children is left out.
// All texts come out clean (see view.Clean). An error is an *Error, which names the
// path, what is wrong, and the name that was meant. The limits are MaxDepth,
// MaxNodes and MaxText.
func Parse(v any) (*Node, error) {
	if frozen, ok := v.(spec.Payload); ok {
		v = frozen.Plain()
	}
	p := newParser()
	if err := p.room(1); err != nil {
		return nil, err
	}
	n, err := p.node(v, 1)
	if err != nil {
		if m, ok := v.(map[string]any); ok {
			if t, _ := m["type"].(string); fields[Type(t)] != nil {
				err = within(t, err)
			}
		}
		return nil, err
	}
	n.setKeys(string(n.Type))
	return n, nil
}

// setKeys gives every widget its key.
func (n *Node) setKeys(path string) {
	if n.Key = n.ID; n.Key == "" {
		n.Key = "#" + path
	}
	for i, c := range n.Children {
		c.setKeys(path + "." + strconv.Itoa(i))
	}
}

func setBranchKeys(list []TreeNode, path string) {
	for i := range list {
		b, own := &list[i], path+strconv.Itoa(i)
		if b.Key = b.ID; b.Key == "" {
			b.Key = own
		}
		setBranchKeys(b.Children, own+"/")
	}
}

func (p *parser) node(v any, depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, failf("widgets are nested more than %d deep", MaxDepth)
	}
	if text, ok := v.(string); ok {
		s, err := p.clean(text, false)
		return &Node{Type: Text, Text: s}, err
	}
	m, err := dict(v)
	if err != nil {
		if _, keys := v.(map[any]any); keys {
			return nil, err
		}
		return nil, failf("must be a widget (a dict with \"type\", or a text), not %s", kindOf(v))
	}
	kind, ok := m["type"].(string)
	switch {
	case m["type"] == nil:
		return nil, failf("needs \"type\", such as {\"type\": \"text\", \"text\": \"…\"}")
	case !ok:
		return nil, within("type", failf("must be a text, not %s", kindOf(m["type"])))
	case fields[Type(kind)] == nil:
		return nil, failf("unknown widget type %s%s", quote(kind), orOneOf(kind, typeNames()))
	}
	n := &Node{Type: Type(kind)}
	r := p.reader(m)
	r.allow(Fields(n.Type), kind, "type")
	n.Size, n.Grow = r.number("size", 1, maxCells, 0), r.number("grow", 1, maxCells, 0)
	if n.Size > 0 && n.Grow > 0 {
		r.fail("", failf("has both \"size\" and \"grow\"; choose one"))
	}
	n.ID = r.id("id")
	r.fail("id", unique(p.ids, n.ID))
	r.read(n, depth)
	if r.err != nil {
		return nil, r.err
	}
	return n, nil
}

func typeNames() []string {
	var names []string
	for _, t := range Types() {
		names = append(names, string(t))
	}
	return names
}

// read fills in the fields of the type.
func (r *reader) read(n *Node, depth int) {
	switch n.Type {
	case Rows, Cols:
		n.Gap = r.number("gap", 0, 100, 0)
		n.Children = r.children(depth)
	case Text:
		r.textWidget(n)
	case Markdown:
		r.need("text")
		n.Text = r.str("text", false)
	case Diff:
		r.diff(n)
	case List:
		ids := map[string]bool{}
		n.Items = each(r, "items", true, func(v any) (Item, error) { return r.p.item(v, ids) })
		n.Selected = r.choice(true)
	case Table:
		r.table(n)
	case Tree:
		ids := map[string]bool{}
		n.Nodes = each(r, "nodes", true, func(v any) (TreeNode, error) { return r.p.branch(v, ids, 1) })
		setBranchKeys(n.Nodes, "#")
		n.Selected = r.choice(false)
		if _, given := r.get("expanded"); given {
			n.Expanded = append([]string{}, each(r, "expanded", false, r.p.listedID)...)
		}
	case Input:
		r.need("id")
		n.Multiline = r.flag("multiline", false)
		n.Text = r.str("text", !n.Multiline)
		n.Placeholder = r.line("placeholder")
	case Button:
		r.need("id")
		r.need("label")
		n.Label = r.line("label")
	case Progress:
		if v, ok := r.get("value"); ok {
			f, err := finite(v)
			if err == nil && (f < 0 || f > 1) {
				err = failf("must be from 0 to 1, or None for busy, not %v", f)
			}
			r.fail("value", err)
			n.Value = &f
		}
		n.Label = r.line("label")
	case Gauge, Sparkline:
		n.Values = each(r, "values", true, finite)
		if v, ok := r.get("max"); ok {
			f, err := finite(v)
			if err == nil && f <= 0 {
				err = failf("must be above 0, not %v", f)
			}
			r.fail("max", err)
			n.Max = f
		}
	}
}

func (r *reader) children(depth int) []*Node {
	var out []*Node
	for i, v := range r.list("children", true) {
		if v == nil {
			continue
		}
		c, err := r.p.node(v, depth+1)
		if err != nil {
			r.fail(at("children", i), err)
			return nil
		}
		out = append(out, c)
	}
	return out
}

func (r *reader) textWidget(n *Node) {
	_, one := r.get("text")
	_, many := r.get("spans")
	switch {
	case one && many:
		r.fail("", failf("has both \"text\" and \"spans\"; choose one"))
	case !one && !many:
		r.fail("", failf("needs \"text\" or \"spans\""))
	}
	n.Text = r.str("text", false)
	n.Spans = each(r, "spans", false, r.p.span)
	n.Style = r.style()
	n.NoWrap = !r.flag("wrap", true)
	n.Align = r.align()
}

// part reads a text, or a dict with a text and a style.
func (p *parser) part(v any, what string, allowed ...string) (*reader, error) {
	if s, ok := v.(string); ok {
		return p.reader(map[string]any{"text": s}), nil
	}
	m, err := dict(v)
	if err != nil {
		return nil, failf("must be a text or a dict, not %s%s", kindOf(v), toText(v))
	}
	r := p.reader(m)
	r.allow(allowed, what)
	r.need("text")
	return r, r.err
}

func (p *parser) span(v any) (Span, error) {
	r, err := p.part(v, "a span", "text", "style")
	if err != nil {
		return Span{}, err
	}
	return Span{r.str("text", false), r.style()}, r.err
}

func (p *parser) item(v any, ids map[string]bool) (Item, error) {
	r, err := p.part(v, "an item", "text", "style", "id")
	if err != nil {
		return Item{}, err
	}
	it := Item{r.line("text"), r.style(), r.id("id")}
	r.fail("id", unique(ids, it.ID))
	return it, r.err
}

func (p *parser) listedID(v any) (string, error) {
	id, err := idOf(v)
	if err == nil {
		err = p.bytes(len(id))
	}
	return id, err
}

func (r *reader) table(n *Node) {
	n.Columns = each(r, "columns", true, r.p.column)
	ids := map[string]bool{}
	n.Rows = each(r, "rows", false, func(v any) (Row, error) { return r.p.row(v, len(n.Columns), ids) })
	n.Selected = r.choice(true)
}

func (p *parser) column(v any) (Column, error) {
	if s, ok := v.(string); ok {
		title, err := p.clean(s, true)
		return Column{Title: title}, err
	}
	m, err := dict(v)
	if err != nil {
		return Column{}, failf("must be a text or a dict with \"title\", not %s", kindOf(v))
	}
	r := p.reader(m)
	r.allow([]string{"title", "width", "align"}, "a column")
	return Column{r.line("title"), r.number("width", 1, maxCells, 0), r.align()}, r.err
}

func (p *parser) row(v any, columns int, ids map[string]bool) (Row, error) {
	if list, ok := v.([]any); ok {
		v = map[string]any{"cells": list}
		row, err := p.row(v, columns, ids)
		if e, ok := err.(*Error); ok && len(e.Path) > len("cells") {
			err = &Error{Path: e.Path[len("cells"):], Msg: e.Msg} // the path as it was written
		} else if ok {
			err = &Error{Msg: e.Msg}
		}
		return row, err
	}
	m, err := dict(v)
	if err != nil {
		return Row{}, failf("must be a list of texts or a dict with \"cells\", not %s", kindOf(v))
	}
	r := p.reader(m)
	r.allow([]string{"cells", "style", "id"}, "a row")
	row := Row{Cells: each(r, "cells", true, func(v any) (string, error) { return p.clean(v, true) })}
	if len(row.Cells) > columns {
		r.fail("cells", failf("%d cells do not fit %d columns", len(row.Cells), columns))
	}
	row.Style, row.ID = r.style(), r.id("id")
	r.fail("id", unique(ids, row.ID))
	return row, r.err
}

func (p *parser) branch(v any, ids map[string]bool, depth int) (TreeNode, error) {
	if depth > MaxDepth {
		return TreeNode{}, failf("branches are nested more than %d deep", MaxDepth)
	}
	r, err := p.part(v, "a branch", "text", "id", "style", "children")
	if err != nil {
		return TreeNode{}, err
	}
	b := TreeNode{Text: r.line("text"), ID: r.id("id"), Style: r.style()}
	r.fail("id", unique(ids, b.ID))
	b.Children = each(r, "children", false, func(v any) (TreeNode, error) { return p.branch(v, ids, depth+1) })
	return b, r.err
}

// choice reads "selected": an id, or where index is set a zero-based number too.
func (r *reader) choice(index bool) *Choice {
	v, ok := r.get("selected")
	if !ok {
		return nil
	}
	if _, text := v.(string); text || !index {
		return &Choice{ID: r.id("selected")}
	}
	if _, ok := number(v); !ok {
		r.fail("selected", failf("must be a zero-based number or an id, not %s", kindOf(v)))
	}
	return &Choice{Index: r.number("selected", 0, MaxNodes, 0)}
}

func (r *reader) diff(n *Node) {
	n.Path = r.line("path")
	_, patch := r.get("patch")
	_, before := r.get("before")
	_, after := r.get("after")
	switch {
	case patch && (before || after):
		r.fail("", failf("has both \"patch\" and \"before\" or \"after\"; choose one"))
	case !patch && !before && !after:
		r.fail("", failf("needs \"before\" and \"after\", or \"patch\""))
	}
	n.Before, n.After, n.Patch = r.str("before", false), r.str("after", false), r.str("patch", false)
}

// maxStatus bounds the text of a status in bytes; the screen cuts it to its room.
const maxStatus = 512

// parseStatus reads what the view of a status returns: a text, of which the first
// line counts.
func parseStatus(v any) (string, error) {
	if _, widget := v.(map[string]any); widget {
		return "", failf("a status is a text, not %s", kindOf(v))
	}
	s, err := newParser().clean(v, false)
	s, _, _ = strings.Cut(strings.TrimLeft(s, "\n"), "\n")
	return view.CleanLine(cut(s, maxStatus)), err
}
