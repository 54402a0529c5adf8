package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"starling/bus/view"
	"starling/surfaces"
)

// oracle is another reading of the standard.
var oracle = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// outline writes a tree down, a block a line, with the spans of its text.
type outline struct {
	out   strings.Builder
	depth int
}

func (o *outline) line(format string, args ...any) {
	fmt.Fprintf(&o.out, "%s%s\n", strings.Repeat("  ", o.depth), fmt.Sprintf(format, args...))
}

func marks(spans []surfaces.Span) string {
	var l Line
	for _, s := range spans {
		l.add(s.Text, s.Style)
	}
	var b strings.Builder
	for _, s := range l.Spans {
		fmt.Fprintf(&b, "«%s:%q»", s.Style, s.Text)
	}
	return b.String()
}

func (o *outline) code(info, text string) {
	name, _, _ := strings.Cut(info, " ")
	o.line("code %q", name)
	for line := range strings.SplitSeq(strings.TrimRight(text, " \t\n"), "\n") {
		if line = expand(line, Options{}); strings.TrimSpace(line) == "" {
			line = ""
		}
		o.line("  %q", line)
	}
}

// ours is the outline of a document by our parser.
func ours(src string) string {
	o := &outline{}
	o.node(parse(src))
	return o.out.String()
}

func (o *outline) node(n *node) {
	switch n.kind {
	case kindDocument:
		o.depth--
	case kindQuote:
		o.line("quote")
	case kindList:
		o.line("list ordered=%v start=%d loose=%v", n.ordered, n.start, n.loose)
	case kindItem:
		o.line("item")
	case kindParagraph:
		o.line("text %s", marks(n.words(false)))
	case kindHeading:
		o.line("heading %d %s", n.level, marks(spans(n.text, 0, false)))
	case kindCode:
		o.code(n.info, n.text)
	case kindHTML:
		o.line("html %q", n.text)
	case kindRule:
		o.line("rule")
	case kindTable:
		o.line("table %v", n.align)
		for _, row := range n.rows {
			for _, cell := range row {
				o.line("  | %s", marks(cellSpans(cell, 0)))
			}
			for range len(n.align) - len(row) {
				o.line("  | ")
			}
			o.line("  ---")
		}
	}
	o.depth++
	for _, kid := range n.kids {
		o.node(kid)
	}
	o.depth--
}

// theirs is the outline by the oracle.
func theirs(src string) string {
	o := &oracleOutline{src: []byte(src)}
	o.node(oracle().Parse(text.NewReader(o.src)))
	return o.out.String()
}

type oracleOutline struct {
	outline
	src []byte
}

func (o *oracleOutline) node(n ast.Node) {
	kids := true
	switch n := n.(type) {
	case *ast.Document:
		o.depth--
	case *ast.Blockquote:
		o.line("quote")
	case *ast.List:
		start := 0
		if n.IsOrdered() {
			start = n.Start
		}
		o.line("list ordered=%v start=%d loose=%v", n.IsOrdered(), start, !n.IsTight)
	case *ast.ListItem:
		o.line("item")
	case *ast.Paragraph, *ast.TextBlock:
		o.line("text %s", o.marks(n))
		kids = false
	case *ast.Heading:
		o.line("heading %d %s", n.Level, o.marks(n))
		kids = false
	case *ast.CodeBlock:
		o.code("", o.raw(n))
	case *ast.FencedCodeBlock:
		o.code(string(n.Language(o.src)), o.raw(n))
	case *ast.HTMLBlock:
		raw := o.raw(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(o.src))
		}
		o.line("html %q", strings.TrimRight(raw, " \t\n"))
	case *ast.ThematicBreak:
		o.line("rule")
	case *east.Table:
		o.table(n)
		kids = false
	default:
		o.line("%s", n.Kind())
	}
	if !kids {
		return
	}
	o.depth++
	for kid := n.FirstChild(); kid != nil; kid = kid.NextSibling() {
		o.node(kid)
	}
	o.depth--
}

func (o *oracleOutline) table(n *east.Table) {
	var aligns []align
	for _, a := range n.Alignments {
		aligns = append(aligns, map[east.Alignment]align{
			east.AlignNone: alignNone, east.AlignLeft: alignLeft, east.AlignRight: alignRight, east.AlignCenter: alignCenter,
		}[a])
	}
	o.line("table %v", aligns)
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			o.line("  | %s", o.marks(cell))
		}
		o.line("  ---")
	}
}

func (o *oracleOutline) raw(n ast.Node) string {
	var s strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		s.Write(at.Value(o.src))
	}
	return s.String()
}

func (o *oracleOutline) marks(n ast.Node) string {
	var l Line
	o.spans(n, 0, &l)
	for i := range l.Spans {
		l.Spans[i].Text = strings.ReplaceAll(view.Clean(l.Spans[i].Text), "\t", "    ")
	}
	return marks(l.Spans)
}

func (o *oracleOutline) spans(parent ast.Node, style surfaces.Style, l *Line) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		o.span(n, style, l)
	}
}

func (o *oracleOutline) span(n ast.Node, style surfaces.Style, l *Line) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(o.src)
		if n.IsRaw() {
			l.add(string(value), style)
		} else {
			l.add(oracleUnescape(value), style)
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
		o.spans(n, 0, &in)
		l.add(strings.ReplaceAll(in.Text(), "\n", " "), style.With(surfaces.Code))
	case *ast.Emphasis:
		o.spans(n, style|[]surfaces.Style{0, surfaces.Italic, surfaces.Bold}[n.Level], l)
	case *ast.Link:
		var in Line
		o.spans(n, style, &in)
		for _, s := range in.Spans {
			l.add(s.Text, s.Style.With(surfaces.Accent|surfaces.Underline))
		}
		o.target(in.Text(), oracleUnescape(n.Destination), style, l)
	case *ast.AutoLink:
		l.add(string(n.Label(o.src)), style.With(surfaces.Accent|surfaces.Underline))
	case *ast.Image:
		var in Line
		o.spans(n, style, &in)
		l.add("["+in.Text()+"]", style)
		o.target(in.Text(), oracleUnescape(n.Destination), style, l)
	case *ast.RawHTML:
		raw := string(n.Segments.Value(o.src))
		if tag := strings.ToLower(strings.Trim(raw, "</> ")); tag == "br" {
			raw = "\n"
		}
		l.add(raw, style)
	case *east.TaskCheckBox:
		l.add(map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked], style)
	case *east.Strikethrough:
		l.add("~~", surfaces.Dim)
		o.spans(n, style.With(surfaces.Dim), l)
		l.add("~~", surfaces.Dim)
	default:
		l.add(n.Kind().String(), style)
	}
}

func (o *oracleOutline) target(text, url string, style surfaces.Style, l *Line) {
	if url != "" && url != text && strings.TrimPrefix(url, "mailto:") != text {
		l.add(" ("+url+")", style.With(surfaces.Dim))
	}
}

func oracleUnescape(text []byte) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		if len(rest) > 1 && rest[0] == '\\' && util.IsPunct(rest[1]) {
			b.WriteByte(rest[1])
			i++
			continue
		}
		if end := bytes.IndexByte(rest, ';'); rest[0] == '&' && end > 0 && end < maxEntity {
			if resolved := util.ResolveEntityNames(util.ResolveNumericReferences(rest[:end+1])); !bytes.Equal(resolved, rest[:end+1]) {
				b.Write(resolved)
				i += end
				continue
			}
		}
		b.WriteByte(rest[0])
	}
	return b.String()
}
