package surfaces

import (
	"bytes"
	"encoding/json"
)

// Plain returns the tree as fresh plain data in canonical form: what Parse made of
// it, without what is absent or as it would be anyway. Parse of it gives an equal
// tree. Whole numbers are int64.
func (n *Node) Plain() map[string]any {
	m := object{"type": string(n.Type)}
	m.text("id", n.ID)
	m.whole("size", n.Size)
	m.whole("grow", n.Grow)
	switch n.Type {
	case Rows, Cols:
		m["children"] = plainList(n.Children, func(c *Node) any { return c.Plain() })
		m.whole("gap", n.Gap)
	case Text:
		if n.Spans != nil {
			m["spans"] = plainList(n.Spans, Span.plain)
		} else {
			m["text"] = n.Text
		}
		m.text("style", n.Style.String())
		m.text("align", string(n.Align))
		if n.NoWrap {
			m["wrap"] = false
		}
	case Markdown:
		m["text"] = n.Text
	case Diff:
		m.text("path", n.Path)
		if n.Patch != "" {
			m["patch"] = n.Patch
		} else {
			m["before"], m["after"] = n.Before, n.After
		}
	case List:
		m["items"] = plainList(n.Items, Item.plain)
		m.choice(n.Selected)
	case Table:
		m["columns"] = plainList(n.Columns, Column.plain)
		if len(n.Rows) > 0 {
			m["rows"] = plainList(n.Rows, Row.plain)
		}
		m.choice(n.Selected)
	case Tree:
		m["nodes"] = plainList(n.Nodes, TreeNode.plain)
		m.choice(n.Selected)
		if n.Expanded != nil {
			m["expanded"] = plainList(n.Expanded, func(id string) any { return id })
		}
	case Input:
		m.text("text", n.Text)
		m.text("placeholder", n.Placeholder)
		if n.Multiline {
			m["multiline"] = true
		}
	case Button:
		m["label"] = n.Label
	case Progress:
		if n.Value != nil {
			m["value"] = *n.Value
		}
		m.text("label", n.Label)
	case Gauge, Sparkline:
		m["values"] = plainList(n.Values, func(f float64) any { return f })
		if n.Max != 0 {
			m["max"] = n.Max
		}
	}
	return m
}

// object is a dict of plain data in the making: what is zero is left out.
type object map[string]any

func (m object) text(field, s string) {
	if s != "" {
		m[field] = s
	}
}

func (m object) whole(field string, n int) {
	if n != 0 {
		m[field] = int64(n)
	}
}

func (m object) choice(c *Choice) {
	if c != nil {
		m["selected"] = c.Value()
	}
}

func plainList[T any](list []T, plain func(T) any) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = plain(x)
	}
	return out
}

// bare is a text alone where nothing else is set.
func bare(field string, m object) any {
	if len(m) == 1 {
		return m[field]
	}
	return map[string]any(m)
}

func (s Span) plain() any {
	m := object{"text": s.Text}
	m.text("style", s.Style.String())
	return bare("text", m)
}

func (it Item) plain() any {
	m := object{"text": it.Text}
	m.text("style", it.Style.String())
	m.text("id", it.ID)
	return bare("text", m)
}

func (c Column) plain() any {
	m := object{"title": c.Title}
	m.whole("width", c.Width)
	m.text("align", string(c.Align))
	return bare("title", m)
}

func (r Row) plain() any {
	m := object{"cells": plainList(r.Cells, func(s string) any { return s })}
	m.text("style", r.Style.String())
	m.text("id", r.ID)
	return bare("cells", m)
}

func (b TreeNode) plain() any {
	m := object{"text": b.Text}
	m.text("style", b.Style.String())
	m.text("id", b.ID)
	if len(b.Children) > 0 {
		m["children"] = plainList(b.Children, TreeNode.plain)
	}
	return bare("text", m)
}

// MarshalJSON writes the canonical form: fields in the order of their names.
func (n *Node) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(n.Plain()); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// UnmarshalJSON reads a tree as Parse does; its errors are those of Parse.
func (n *Node) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	parsed, err := Parse(v)
	if err != nil {
		return err
	}
	*n = *parsed
	return nil
}
