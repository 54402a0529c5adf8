package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"starling/bus/view"
	"starling/surfaces"
)

// inline collects the spans of what stands within a block.
func (b *blocks) inline(n ast.Node, style surfaces.Style) []surfaces.Span {
	var l Line
	b.spans(n, style, &l)
	for i := range l.Spans {
		// An entity may stand for a sign that steers a terminal.
		l.Spans[i].Text = strings.ReplaceAll(view.Clean(l.Spans[i].Text), "\t", "    ")
	}
	return l.Spans
}

func (b *blocks) spans(parent ast.Node, style surfaces.Style, l *Line) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b.span(n, style, l)
	}
}

func (b *blocks) span(n ast.Node, style surfaces.Style, l *Line) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(b.src)
		if n.IsRaw() {
			l.add(string(value), style)
		} else {
			l.add(unescape(value), style)
		}
		switch {
		case n.HardLineBreak():
			l.add("\n", style)
		case n.SoftLineBreak():
			l.add(" ", style)
		}
	case *ast.String:
		l.add(string(n.Value), style)
	case *ast.CodeSpan:
		var in Line
		b.spans(n, 0, &in)
		l.add(strings.ReplaceAll(in.Text(), "\n", " "), style.With(surfaces.Code))
	case *ast.Emphasis:
		emphasis := surfaces.Italic
		if n.Level > 1 {
			emphasis = surfaces.Bold
		}
		b.spans(n, style|emphasis, l)
	case *ast.Link:
		var in Line
		b.spans(n, style, &in)
		for _, s := range in.Spans {
			l.add(s.Text, s.Style.With(surfaces.Accent|surfaces.Underline))
		}
		b.target(in.Text(), string(n.Destination), style, l)
	case *ast.AutoLink:
		l.add(string(n.Label(b.src)), style.With(surfaces.Accent|surfaces.Underline))
	case *ast.Image:
		var in Line
		b.spans(n, style, &in)
		l.add("["+in.Text()+"]", style)
		b.target(in.Text(), string(n.Destination), style, l)
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			at := n.Segments.At(i)
			raw := string(at.Value(b.src))
			if tag := strings.ToLower(strings.Trim(raw, "</> ")); tag == "br" {
				raw = "\n"
			}
			l.add(raw, style)
		}
	case *east.TaskCheckBox:
		sign := "[ ] "
		if n.IsChecked {
			sign = "[x] "
		}
		l.add(sign, style)
	case *east.Strikethrough:
		l.add("~~", surfaces.Dim)
		b.spans(n, style.With(surfaces.Dim), l)
		l.add("~~", surfaces.Dim)
	default:
		b.spans(n, style, l)
	}
}

// target shows where a link goes, unless its text says it.
func (b *blocks) target(text, url string, style surfaces.Style, l *Line) {
	if url == "" || url == text || strings.TrimPrefix(url, "mailto:") == text {
		return
	}
	l.add(" ("+url+")", style.With(surfaces.Dim))
}

// unescape resolves backslashes and entities, as text of a document has them: what
// a backslash made of a sign is no entity any more.
func unescape(text []byte) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case len(rest) > 1 && rest[0] == '\\' && util.IsPunct(rest[1]):
			b.WriteByte(rest[1])
			i++
			continue
		case rest[0] == '&':
			if end := bytes.IndexByte(rest, ';'); end > 0 && end < maxEntity {
				b.Write(util.ResolveEntityNames(util.ResolveNumericReferences(rest[:end+1])))
				i += end
				continue
			}
		}
		b.WriteByte(rest[0])
	}
	return b.String()
}

// maxEntity is longer than the name of any entity, in bytes.
const maxEntity = 34
