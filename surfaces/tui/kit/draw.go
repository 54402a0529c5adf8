package kit

import (
	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
)

// Rect is a part of the screen in cells.
type Rect struct{ X, Y, W, H int }

// Has tells whether a cell is inside.
func (r Rect) Has(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// Inset returns the rectangle without n cells on each side.
func (r Rect) Inset(n int) Rect {
	return Rect{r.X + n, r.Y + n, max(r.W-2*n, 0), max(r.H-2*n, 0)}
}

// Put draws one line of clean text at most width cells wide and returns the cells it
// took. A character that would be cut in half is left out.
func Put(s tcell.Screen, x, y, width int, text string, style tcell.Style) int {
	used := 0
	for text != "" && used < width {
		cluster, rest, w := Cluster(text)
		text = rest
		if w == 0 {
			continue
		}
		if used+w > width {
			break
		}
		if cluster == "\t" {
			for i := range w {
				s.Put(x+used+i, y, " ", style)
			}
		} else {
			s.Put(x+used, y, cluster, style)
		}
		used += w
	}
	return used
}

// PutSpans draws styled text as Put does.
func PutSpans(s tcell.Screen, x, y, width int, spans []surfaces.Span, t *Theme) int {
	used := 0
	for _, span := range spans {
		used += Put(s, x+used, y, width-used, span.Text, t.Style(span.Style))
		if used >= width {
			break
		}
	}
	return used
}

// Fill sets every cell of a rectangle to one character.
func Fill(s tcell.Screen, r Rect, char string, style tcell.Style) {
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			s.Put(x, y, char, style)
		}
	}
}

// Frame draws a border round a rectangle, with a title in its upper line.
func Frame(s tcell.Screen, r Rect, title string, style tcell.Style, g *Signs) {
	if r.W < 2 || r.H < 2 {
		return
	}
	right, low := r.X+r.W-1, r.Y+r.H-1
	Fill(s, Rect{r.X, r.Y, r.W, 1}, g.Across, style)
	Fill(s, Rect{r.X, low, r.W, 1}, g.Across, style)
	Fill(s, Rect{r.X, r.Y, 1, r.H}, g.Down, style)
	Fill(s, Rect{right, r.Y, 1, r.H}, g.Down, style)
	s.Put(r.X, r.Y, g.Corners[0], style)
	s.Put(right, r.Y, g.Corners[1], style)
	s.Put(r.X, low, g.Corners[2], style)
	s.Put(right, low, g.Corners[3], style)
	if title != "" && r.W > 6 {
		Put(s, r.X+2, r.Y, r.W-4, " "+Clip(title, r.W-6, g.Ellipsis)+" ", style)
	}
}

// Cell is one character on the screen.
type Cell struct {
	Text  string
	Style tcell.Style
	Width int // cells, 1 or 2
}

// PutCells draws cells at most width wide.
func PutCells(s tcell.Screen, x, y, width int, cells []Cell) {
	used := 0
	for _, c := range cells {
		if used+c.Width > width {
			return
		}
		s.Put(x+used, y, c.Text, c.Style)
		used += c.Width
	}
}
