package markdown

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"starling/surfaces"
)

// reader is the parser, made when the first text is rendered.
var reader = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// maxNest is how deep quotes and lists are drawn inside each other; what is deeper
// is drawn at that depth.
const maxNest = 12

// blocks renders the blocks of a text.
type blocks struct {
	o   Options
	src []byte
}

// render returns the lines of one or more whole blocks, and whether the last one is
// a heading.
func (o Options) render(src string) (lines []Line, heading bool) {
	if len(src) > 2*maxBlock {
		return o.wrap([]surfaces.Span{{Text: strings.TrimRight(src, "\n")}}, o.width()), false
	}
	b := &blocks{o, []byte(src)}
	root := reader().Parse(text.NewReader(b.src))
	last := root.LastChild()
	return b.children(root, o.width(), 0, true), last != nil && last.Kind() == ast.KindHeading
}

// children renders the blocks within one, an empty line between them unless tight.
func (b *blocks) children(parent ast.Node, width, depth int, loose bool) []Line {
	var out []Line
	var last ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		lines := b.block(n, width, depth)
		if len(lines) == 0 {
			continue
		}
		if last != nil && loose && last.Kind() != ast.KindHeading {
			out = append(out, Line{})
		}
		out = append(out, lines...)
		last = n
	}
	return out
}

func (b *blocks) block(n ast.Node, width, depth int) []Line {
	switch n := n.(type) {
	case *ast.Heading:
		style := surfaces.Title | surfaces.Bold
		if n.Level > 2 {
			style = surfaces.Bold
		}
		return b.o.wrap(b.inline(n, style), width)
	case *ast.Paragraph, *ast.TextBlock:
		return b.o.wrap(b.inline(n, 0), width)
	case *ast.ThematicBreak:
		return []Line{{[]surfaces.Span{{Text: strings.Repeat(b.o.sign("─", "-"), width), Style: surfaces.Dim}}}}
	case *ast.FencedCodeBlock:
		return b.code(string(n.Language(b.src)), n, width)
	case *ast.CodeBlock:
		return b.code("", n, width)
	case *ast.HTMLBlock:
		raw := b.raw(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(b.src))
		}
		return b.o.wrap([]surfaces.Span{{Text: strings.TrimRight(raw, "\n")}}, width)
	case *ast.Blockquote:
		return b.nested(n, surfaces.Span{Text: b.o.sign("│ ", "| "), Style: surfaces.Dim}, surfaces.Span{}, width, depth, true)
	case *ast.List:
		return b.list(n, width, depth)
	case *east.Table:
		return b.table(n, width)
	}
	return b.children(n, width, depth, true)
}

// nested renders what is inside a quote or an item behind a prefix.
func (b *blocks) nested(n ast.Node, first, rest surfaces.Span, width, depth int, loose bool) []Line {
	if rest.Text == "" {
		rest = first
	}
	if depth >= maxNest || b.o.measure(first.Text) >= width {
		return b.children(n, width, depth+1, loose)
	}
	lines := b.children(n, width-b.o.measure(first.Text), depth+1, loose)
	if len(lines) == 0 {
		lines = []Line{{}}
	}
	return indent(lines, first, rest)
}

func (b *blocks) list(n *ast.List, width, depth int) []Line {
	number, last := n.Start, n.Start+n.ChildCount()-1
	var out []Line
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		sign := b.o.sign("•", "-") + " "
		if n.IsOrdered() {
			sign = strconv.Itoa(number) + ". "
			sign = strings.Repeat(" ", max(len(strconv.Itoa(last))+2-len(sign), 0)) + sign
			number++
		}
		if len(out) > 0 && !n.IsTight {
			out = append(out, Line{})
		}
		first := surfaces.Span{Text: sign, Style: surfaces.Dim}
		rest := surfaces.Span{Text: strings.Repeat(" ", b.o.measure(sign))}
		out = append(out, b.nested(item, first, rest, width, depth, !n.IsTight)...)
	}
	return out
}

// raw is the source of a block's lines.
func (b *blocks) raw(n ast.Node) string {
	var s strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		at := lines.At(i)
		s.Write(at.Value(b.src))
	}
	return s.String()
}

func (b *blocks) code(language string, n ast.Node, width int) []Line {
	o := b.o
	o.Width = width
	w := newCode(language, o)
	var out []Line
	for _, line := range strings.Split(strings.TrimSuffix(b.raw(n), "\n"), "\n") {
		out = append(out, w.line(line)...)
	}
	return out
}
