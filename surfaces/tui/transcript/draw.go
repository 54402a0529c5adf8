package transcript

import (
	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// Draw paints the visible rows. The room is blank before: the program clears the screen
// for each frame, which is much cheaper than a cell at a time.
func (t *Transcript) Draw(screen tcell.Screen) {
	x, y, width, height := t.GetInnerRect()
	t.visible = t.visible[:0]
	if width <= 0 || height <= 0 {
		return
	}
	t.frame++
	if width != t.look.Width {
		t.sel = selection{}
		t.look.Width = width
	}
	if len(t.entries) == 0 {
		return
	}
	t.settle()
	if !t.follow && t.atEnd(height) {
		t.End()
	}
	at := t.top
	if t.follow {
		at = t.tail(height)
	}
	from, to, selected := t.sel.ends()
	for line := 0; line < height && at.entry < len(t.entries); {
		rows := t.rows(at.entry)
		for ; at.row < len(rows) && line < height; at.row++ {
			if r := rows[at.row]; r.Cells != nil {
				kit.PutCells(screen, x, y+line, width, r.Cells)
			} else {
				used := kit.PutSpans(screen, x, y+line, width, r.Spans, t.theme)
				kit.Put(screen, x+used, y+line, width-used, r.Tip.Text, t.theme.Style(r.Tip.Style))
			}
			if selected {
				t.mark(screen, x, y+line, width, at, from, to)
			}
			t.visible = append(t.visible, at)
			line++
		}
		if at.row >= len(rows) {
			at = place{at.entry + 1, 0}
		}
	}
	t.evict()
	if t.fresh && !t.follow {
		g := t.look.Signs
		text := " " + g.Arrow + " new output " + g.Dot + " End "
		text = kit.Clip(text, width, g.Ellipsis)
		kit.Put(screen, x+width-kit.Width(text), y+height-1, width, text, t.theme.Mark)
	}
}

// mark shows what is selected of one row.
func (t *Transcript) mark(screen tcell.Screen, x, y, width int, at place, from, to spot) {
	first, last := 0, width
	if at.before(from.place) || to.place.before(at) {
		return
	}
	if at == from.place {
		first = from.column
	}
	if at == to.place {
		last = min(to.column+1, width)
	}
	for c := first; c < last; {
		text, style, w := screen.Get(x+c, y)
		screen.Put(x+c, y, text, kit.Over(style, t.theme.Mark))
		c += max(w, 1)
	}
}
