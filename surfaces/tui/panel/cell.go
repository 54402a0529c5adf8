package panel

import (
	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// cell is one place of what a view drew. The second half of a wide character has no
// text and no width.
type cell struct {
	text  string
	style tcell.Style
	width int
}

// canvas is what a view drew last. What is outside of the clip is not drawn.
type canvas struct {
	w, h  int
	cells []cell
	clip  kit.Rect
}

func newCanvas(w, h int) *canvas {
	c := &canvas{w: w, h: h, cells: make([]cell, w*h), clip: rect(0, 0, w, h)}
	for i := range c.cells {
		c.cells[i] = cell{" ", tcell.StyleDefault, 1}
	}
	return c
}

// put draws one line of text from x to at most width cells on, cut at the clip, and
// returns the cells it took. Line ends and tabs show as spaces.
func (c *canvas) put(x, y, width int, text string, style tcell.Style) int {
	used := 0
	for text != "" && used < width {
		cluster, rest, w := kit.Cluster(text)
		text = rest
		if cluster[0] < 0x20 {
			cluster, w = " ", 1
		}
		if w == 0 {
			continue
		}
		if used+w > width {
			break
		}
		c.set(x+used, y, cluster, w, style)
		used += w
	}
	return used
}

func (c *canvas) set(x, y int, cluster string, w int, style tcell.Style) {
	if y < c.clip.Y || y >= c.clip.Y+c.clip.H || x < c.clip.X || x+w > c.clip.X+c.clip.W {
		return
	}
	at := y*c.w + x
	c.cells[at] = cell{cluster, style, w}
	for i := 1; i < w; i++ {
		c.cells[at+i] = cell{"", style, 0}
	}
}

// repeat draws a sign of one cell n times.
func (c *canvas) repeat(x, y, n int, sign string, style tcell.Style) {
	for i := range n {
		c.set(x+i, y, sign, 1, style)
	}
}

// over puts a style over the cells of a line, the mark of a list.
func (c *canvas) over(x, y, n int, style tcell.Style) {
	for i := max(x, c.clip.X); i < min(x+n, c.clip.X+c.clip.W); i++ {
		if y >= c.clip.Y && y < c.clip.Y+c.clip.H {
			at := &c.cells[y*c.w+i]
			at.style = kit.Over(at.style, style)
		}
	}
}

// blit copies the canvas to a part of the screen; what does not fit is cut, what is
// left is empty.
func (c *canvas) blit(s tcell.Screen, r kit.Rect) {
	for y := range r.H {
		for x := 0; x < r.W; x++ {
			if x >= c.w || y >= c.h {
				s.Put(r.X+x, r.Y+y, " ", tcell.StyleDefault)
				continue
			}
			at := c.cells[y*c.w+x]
			switch {
			case at.width > r.W-x: // a wide one cut by a smaller room
				s.Put(r.X+x, r.Y+y, " ", at.style)
			case at.width > 0:
				s.Put(r.X+x, r.Y+y, at.text, at.style)
				x += at.width - 1
			}
		}
	}
}
