package markdown

import (
	"strings"

	"starling/surfaces"
)

// minColumn is the least width a column of a table may have; a table that needs less
// is shown as a list of its cells.
const minColumn = 4

// grid is a table with its cells rendered.
type grid struct {
	o     Options
	align []align
	rows  [][][]surfaces.Span // the first one is the header; a row may be short
}

func (o Options) table(n *node, width int) []Line {
	g := grid{o: o, align: n.align}
	for i, row := range n.rows {
		style := surfaces.Style(0)
		if i == 0 {
			style = surfaces.Bold
		}
		cells := make([][]surfaces.Span, len(row))
		for k, text := range row {
			cells[k] = cellSpans(text, style)
		}
		g.rows = append(g.rows, cells)
	}
	widths, ok := g.widths(width)
	if !ok {
		return g.list(width)
	}
	return g.draw(widths)
}

func cellSpans(text string, style surfaces.Style) []surfaces.Span {
	out := spans(text, style, false)
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "\n", " ")
	}
	return out
}

func (g *grid) size(spans []surfaces.Span) int { return g.o.measure(Line{Spans: spans}.Text()) }

// widths shares the room among the columns: each gets what it needs, the widest give
// way first. ok is false when there is too little for all.
func (g *grid) widths(room int) (widths []int, ok bool) {
	widths = make([]int, len(g.align))
	total := 3 * (len(widths) - 1) // separators
	least := total
	for _, row := range g.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], g.size(cell))
		}
	}
	for i, w := range widths {
		widths[i] = max(w, 1)
		total += widths[i]
		least += min(widths[i], minColumn)
	}
	if least > room {
		return nil, false
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			return nil, false
		}
		// Down to the next one, or as far as needed.
		second := minColumn
		for i, w := range widths {
			if i != widest && w < widths[widest] {
				second = max(second, w)
			}
		}
		less := max(min(widths[widest]-second, total-room), 1)
		widths[widest] -= less
		total -= less
	}
	return widths, true
}

func (g *grid) draw(widths []int) []Line {
	bar := " " + g.o.sign("│", "|") + " "
	var out []Line
	for i, row := range g.rows {
		out = append(out, g.row(row, widths, bar)...)
		if i == 0 {
			var l Line
			for c, w := range widths {
				if c > 0 {
					l.add(g.o.sign("─┼─", "-+-"), surfaces.Dim)
				}
				l.add(strings.Repeat(g.o.sign("─", "-"), w), surfaces.Dim)
			}
			out = append(out, l)
		}
	}
	return out
}

// row draws one row, as many lines as its highest cell has.
func (g *grid) row(cells [][]surfaces.Span, widths []int, bar string) []Line {
	columns := make([][]Line, len(widths))
	height := 1
	for i, cell := range cells {
		columns[i] = g.o.wrap(cell, widths[i])
		height = max(height, len(columns[i]))
	}
	out := make([]Line, height)
	for y := range out {
		for i, lines := range columns {
			if i > 0 {
				out[y].add(bar, surfaces.Dim)
			}
			var part Line
			if y < len(lines) {
				part = lines[y]
			}
			left, right := 0, max(widths[i]-g.size(part.Spans), 0)
			switch g.align[i] {
			case alignRight:
				left, right = right, 0
			case alignCenter:
				left, right = right/2, right-right/2
			}
			out[y].add(strings.Repeat(" ", left), 0)
			for _, s := range part.Spans {
				out[y].add(s.Text, s.Style)
			}
			if i < len(columns)-1 {
				out[y].add(strings.Repeat(" ", right), 0)
			}
		}
	}
	return out
}

// list shows a table in too little room: a line for each cell.
func (g *grid) list(width int) []Line {
	heads := make([]string, len(g.align))
	for i, head := range g.rows[0] {
		heads[i] = g.short(Line{Spans: head}.Text(), width) + ": "
	}
	var out []Line
	for i, row := range g.rows[1:] {
		if i > 0 {
			out = append(out, Line{})
		}
		for c, cell := range row {
			spans := append([]surfaces.Span{{Text: heads[c], Style: surfaces.Bold}}, cell...)
			out = append(out, g.o.wrap(spans, width)...)
		}
	}
	return out
}

// short cuts the head of a column to the width: it is repeated for each row.
func (g *grid) short(head string, width int) string {
	if g.o.measure(head) <= width {
		return head
	}
	more := g.o.sign("…", "...")
	n, room := 0, width-g.o.measure(more)
	for n < len(head) {
		size := surfaces.Cluster(head[n:])
		if room -= g.o.measure(head[n : n+size]); room < 0 {
			break
		}
		n += size
	}
	return head[:n] + more
}
