package panel

import (
	"strings"

	"starling/surfaces"
	"starling/surfaces/markdown"
	"starling/surfaces/tui/kit"
)

const tab = "    "

// wrapSpans breaks styled text as kit.Wrap breaks plain text: at line ends, then at
// spaces, else between characters. There is always one line.
func wrapSpans(spans []surfaces.Span, width int) []markdown.Line {
	if len(spans) == 1 {
		lines := kit.Wrap(spans[0].Text, width)
		out := make([]markdown.Line, len(lines))
		for i, l := range lines {
			out[i] = one(l, spans[0].Style)
		}
		return out
	}
	var text strings.Builder
	for _, s := range spans {
		text.WriteString(strings.ReplaceAll(s.Text, "\t", tab))
	}
	if text.Len() == 0 {
		return []markdown.Line{{}}
	}
	// The lines of the whole text stand in it one after another, with at most spaces
	// and a line end between them: each is cut out of the spans.
	var out []markdown.Line
	cut := cutter{spans: spans}
	rest := text.String()
	for _, l := range kit.Wrap(rest, width) {
		skip := strings.Index(rest, l)
		cut.take(skip)
		out = append(out, markdown.Line{Spans: cut.take(len(l))})
		rest = rest[skip+len(l):]
	}
	return out
}

// cutter takes bytes off the front of spans, tabs written out.
type cutter struct {
	spans []surfaces.Span
	text  string // of the first span, what is left of it
	begun bool
}

func (c *cutter) take(n int) []surfaces.Span {
	var out []surfaces.Span
	for n > 0 && len(c.spans) > 0 {
		if !c.begun {
			c.text, c.begun = strings.ReplaceAll(c.spans[0].Text, "\t", tab), true
		}
		k := min(n, len(c.text))
		if k > 0 {
			out = append(out, surfaces.Span{Text: c.text[:k], Style: c.spans[0].Style})
		}
		c.text, n = c.text[k:], n-k
		if c.text == "" {
			c.spans, c.begun = c.spans[1:], false
		}
	}
	return out
}

func one(text string, style surfaces.Style) markdown.Line {
	if text == "" {
		return markdown.Line{}
	}
	return markdown.Line{Spans: []surfaces.Span{{Text: text, Style: style}}}
}

// diffLines are the lines of a diff widget: the path, then number, sign and text of
// each line, broken between characters. A narrow panel has no numbers.
func diffLines(n *surfaces.Node, width int) []markdown.Line {
	var out []markdown.Line
	if n.Path != "" {
		head, _ := kit.Cut(kit.CleanLine(n.Path), width)
		out = append(out, one(head, surfaces.Bold))
	}
	lines := n.DiffLines()
	digits := 0
	for _, l := range lines {
		digits = max(digits, len(number(max(l.Old, l.New))))
	}
	if width < digits+24 {
		digits = 0
	}
	for _, l := range lines {
		first, rest := "", ""
		text := strings.ReplaceAll(l.Text, "\t", tab)
		if l.Sign == '+' || l.Sign == '-' || l.Sign == ' ' {
			if digits > 0 {
				at := number(max(l.Old, l.New))
				first = strings.Repeat(" ", digits-len(at)) + at + " "
			}
			first += string(rune(l.Sign)) + " "
			rest = strings.Repeat(" ", len(first))
		}
		for room := max(width-len(first), 1); ; first = rest {
			head, tail := kit.Cut(text, room)
			if head == "" && tail != "" {
				head, tail, _ = kit.Cluster(tail)
			}
			out = append(out, one(first+head, l.Style()))
			if text = tail; text == "" {
				break
			}
		}
	}
	if len(out) == 0 {
		out = append(out, one("no changes", surfaces.Dim))
	}
	return out
}

// row is a line of an input on screen: bytes from to to of its text.
type row struct{ from, to int }

// inputRows breaks the text of a multi-line input between characters; the caret has
// a cell after the last one.
func inputRows(text string, width int) []row {
	var out []row
	from, used := 0, 0
	for at := 0; at < len(text); {
		if text[at] == '\n' {
			out = append(out, row{from, at})
			at++
			from, used = at, 0
			continue
		}
		cluster, _, w := kit.Cluster(text[at:])
		if text[at] < 0x20 {
			w = 1
		}
		if used > 0 && used+w > width {
			out = append(out, row{from, at})
			from, used = at, 0
		}
		used += w
		at += len(cluster)
	}
	return append(out, row{from, len(text)})
}

// cells is the width of a piece of an input, where a tab takes one cell.
func cells(s string) int { return kit.Width(strings.ReplaceAll(s, "\t", " ")) }

// rowOf is the row the caret stands in: the last that begins at or before it.
func rowOf(rows []row, caret int) int {
	i := len(rows) - 1
	for i > 0 && rows[i].from > caret {
		i--
	}
	return i
}

// offset is the byte of a line at a column.
func offset(line string, column int) int {
	used := 0
	for at := 0; at < len(line); {
		cluster, _, w := kit.Cluster(line[at:])
		if line[at] < 0x20 {
			w = 1
		}
		if used += w; used > column {
			return at
		}
		at += len(cluster)
	}
	return len(line)
}
