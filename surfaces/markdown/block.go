package markdown

import (
	"strconv"
	"strings"

	"starling/surfaces"
)

// maxNest is how deep quotes and lists are drawn inside each other; what is deeper
// is drawn at that depth.
const maxNest = 12

// render returns the lines of one or more whole blocks, and whether the last one is
// a heading.
func (o Options) render(src string) (lines []Line, heading bool) {
	if len(src) > 2*maxBlock {
		return o.wrap([]surfaces.Span{{Text: strings.TrimRight(src, "\n")}}, o.width()), false
	}
	root := parse(src)
	last := root.last()
	return o.children(root, o.width(), 0, true), last != nil && last.kind == kindHeading
}

// children renders the blocks within one, an empty line between them unless tight.
func (o Options) children(parent *node, width, depth int, loose bool) []Line {
	var out []Line
	var last *node
	for _, n := range parent.kids {
		lines := o.block(n, width, depth)
		if len(lines) == 0 {
			continue
		}
		if last != nil && loose && last.kind != kindHeading {
			out = append(out, Line{})
		}
		out = append(out, lines...)
		last = n
	}
	return out
}

func (o Options) block(n *node, width, depth int) []Line {
	switch n.kind {
	case kindHeading:
		style := surfaces.Title | surfaces.Bold
		if n.level > 2 {
			style = surfaces.Bold
		}
		return o.wrap(spans(n.text, style, o.Breaks), width)
	case kindParagraph:
		return o.wrap(n.words(o.Breaks), width)
	case kindRule:
		return []Line{{Spans: []surfaces.Span{{Text: strings.Repeat(o.sign("─", "-"), width), Style: surfaces.Dim}}}}
	case kindCode:
		return o.code(n, width)
	case kindHTML:
		return o.wrap([]surfaces.Span{{Text: n.text}}, width)
	case kindQuote:
		bar := surfaces.Span{Text: o.sign("│ ", "| "), Style: surfaces.Dim}
		return o.nested(n, bar, bar, width, depth, true)
	case kindList:
		return o.list(n, width, depth)
	case kindTable:
		return o.table(n, width)
	}
	return o.children(n, width, depth, true)
}

// words are the spans of a paragraph.
func (n *node) words(breaks bool) []surfaces.Span {
	out := spans(n.text, 0, breaks)
	if n.task == 0 {
		return out
	}
	return append([]surfaces.Span{{Text: "[" + string(n.task) + "] "}}, out...)
}

// nested renders what is inside a quote or an item behind a prefix.
func (o Options) nested(n *node, first, rest surfaces.Span, width, depth int, loose bool) []Line {
	if depth >= maxNest || o.measure(first.Text)+2 > width { // a character may be two wide
		return o.children(n, width, depth+1, loose)
	}
	lines := o.children(n, width-o.measure(first.Text), depth+1, loose)
	if len(lines) == 0 {
		lines = []Line{{}}
	}
	return indent(lines, first, rest)
}

func (o Options) list(n *node, width, depth int) []Line {
	number, last := n.start, n.start+len(n.kids)-1
	var out []Line
	for _, item := range n.kids {
		sign := o.sign("•", "-") + " "
		if n.ordered {
			sign = strconv.Itoa(number) + ". "
			sign = strings.Repeat(" ", max(len(strconv.Itoa(last))+2-len(sign), 0)) + sign
			number++
		}
		if len(out) > 0 && n.loose {
			out = append(out, Line{})
		}
		first := surfaces.Span{Text: sign, Style: surfaces.Dim}
		rest := surfaces.Span{Text: strings.Repeat(" ", o.measure(sign))}
		out = append(out, o.nested(item, first, rest, width, depth, n.loose)...)
	}
	return out
}

func (o Options) code(n *node, width int) []Line {
	language, _, _ := strings.Cut(n.info, " ")
	o.Width = width
	w := newCode(language, o)
	var out []Line
	for line := range strings.SplitSeq(strings.TrimSuffix(n.text, "\n"), "\n") {
		out = append(out, w.line(line)...)
	}
	return out
}
