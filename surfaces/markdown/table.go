package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"starling/surfaces"
)

// minColumn is the least width a column of a table may have; a table that needs less
// is shown as a list of its cells.
const minColumn = 4

// grid is a table with its cells rendered.
type grid struct {
	o     Options
	align []east.Alignment
	rows  [][][]surfaces.Span // the first one is the header
}

func (b *blocks) table(n *east.Table, width int) []Line {
	g := grid{o: b.o, align: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := surfaces.Style(0)
		if row.Kind() == east.KindTableHeader {
			style = surfaces.Bold
		}
		cells := make([][]surfaces.Span, len(g.align))
		i := 0
		for cell := row.FirstChild(); cell != nil && i < len(cells); cell = cell.NextSibling() {
			cells[i] = b.cell(cell, style)
			i++
		}
		g.rows = append(g.rows, cells)
	}
	widths, ok := g.widths(width)
	if !ok {
		return g.list(width)
	}
	return g.draw(widths)
}

func (b *blocks) cell(n ast.Node, style surfaces.Style) []surfaces.Span {
	spans := b.inline(n, style)
	for i := range spans {
		spans[i].Text = strings.ReplaceAll(spans[i].Text, "\n", " ")
	}
	return spans
}

func (g *grid) size(spans []surfaces.Span) int { return g.o.measure(Line{spans}.Text()) }

// widths shares the room among the columns: each gets what it needs, the widest give
// way first. ok is false when there is too little for all.
func (g *grid) widths(room int) (widths []int, ok bool) {
	widths = make([]int, len(g.align))
	total := 3 * (len(widths) - 1) // separators
	for i := range widths {
		widths[i] = 1
		for _, row := range g.rows {
			widths[i] = max(widths[i], g.size(row[i]))
		}
		total += widths[i]
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
	columns := make([][]Line, len(cells))
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
			case east.AlignRight:
				left, right = right, 0
			case east.AlignCenter:
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
	var out []Line
	for i, row := range g.rows[1:] {
		if i > 0 {
			out = append(out, Line{})
		}
		for c, cell := range row {
			head := Line{g.rows[0][c]}.Text()
			spans := append([]surfaces.Span{{Text: head + ": ", Style: surfaces.Bold}}, cell...)
			out = append(out, g.o.wrap(spans, width)...)
		}
	}
	return out
}
