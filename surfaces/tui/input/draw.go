package input

import (
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// width of one line in cells.
func width(s string) int { return kit.Width(s) }

const (
	queueRows = 4 // of the queue that are shown
	popupRows = 8
	leastLine = 20 // cells of a queued line beside what its keys do
	// margin is the sign before the text with the space round it.
	margin = 3
)

// shown is the text with the burst that is not in it yet.
func (e *Editor) shown() (p piece, caret int) {
	if len(e.burst.text) == 0 {
		return e.b.p, e.b.caret
	}
	var with piece
	if len(e.burst.text) > foldBytes || e.burst.lines >= foldLines {
		with = foldPiece(fold{label: "pasting " + kit.Grouped(e.burst.lines+1) + " lines"})
	} else {
		with = burstPiece(string(e.burst.text))
	}
	return e.b.p.replace(e.b.caret, e.b.caret, with), e.b.caret + len(with.text)
}

// layout of the text at the width it was drawn last.
func (e *Editor) layout() *layout {
	w := e.layWidth
	if w == 0 {
		_, _, full, _ := e.GetRect()
		w = max(full-margin-1, 1)
	}
	return e.layoutAt(w)
}

func (e *Editor) layoutAt(w int) *layout {
	if e.lay == nil || e.layVersion != e.b.version || e.layWidth != w || e.layBurst != len(e.burst.text) {
		p, _ := e.shown()
		e.lay = newLayout(p, w)
		e.layVersion, e.layWidth, e.layBurst = e.b.version, w, len(e.burst.text)
	}
	return e.lay
}

// Rows is what the editor would fill: its rule, the queued lines, every row of the
// text. It is drawn in less by scrolling.
func (e *Editor) Rows(width int) int {
	return 1 + min(e.queue.Len(), queueRows) + len(e.layoutAt(max(width-margin-1, 1)).rows)
}

// Draw paints the editor and, when it has the focus, puts the cursor on the caret.
func (e *Editor) Draw(s tcell.Screen) {
	x, y, w, h := e.GetRect()
	if w <= 0 || h <= 0 {
		return
	}
	t, g := e.o.Host.Theme(), e.o.Host.Signs()
	plain := t.Style(0)
	kit.Fill(s, kit.Rect{X: x, Y: y, W: w, H: h}, " ", plain)
	shell := e.Shell()
	border, sign, signStyle := t.Border, g.Prompt, t.Style(surfaces.Accent)
	if e.HasFocus() {
		border = t.Focus
	}
	if shell {
		border, sign, signStyle = t.Shell, g.Shell, t.Shell
	}
	bottom := y + h
	if h > 1 { // a single row is the text's
		kit.Fill(s, kit.Rect{X: x, Y: y, W: w, H: 1}, g.Across, border)
		if shell {
			kit.Put(s, x+2, y, w-4, " shell ", border)
		}
		y++
	}
	y += e.drawQueue(s, kit.Rect{X: x, Y: y, W: w, H: bottom - y - 1})
	rows := bottom - y
	lay := e.layoutAt(max(w-margin-1, 1))
	p, caret := e.shown()
	at := lay.rowOf(caret)
	e.top = min(max(e.top, at-rows+1), at, max(len(lay.rows)-rows, 0))
	e.top = max(e.top, 0)
	e.textY = y
	kit.Put(s, x+1, y, w-1, sign, signStyle)
	if p.text == "" {
		kit.Put(s, x+margin, y, w-margin, kit.Clip(e.o.Placeholder, w-margin, g.Ellipsis), t.Style(surfaces.Dim))
	}
	for i := range min(rows, len(lay.rows)-e.top) {
		lay.draw(s, x+margin, y+i, w-margin, e.top+i, t)
	}
	if e.HasFocus() && e.marked < 0 {
		s.ShowCursor(x+min(margin+lay.column(caret), w-1), y+at-e.top)
	}
}

func (l *layout) draw(s tcell.Screen, x, y, w, i int, t *kit.Theme) {
	r := l.rows[i]
	mark := marks(l.p.text[:r.from])
	used := 0
	for at := r.from; at < r.to && used < w; {
		n, _ := cluster(l.p.text[at:r.to])
		switch c := l.p.text[at : at+n]; c[0] {
		case '\t':
			used += min(tabCells, w-used)
		case foldMark:
			used += kit.Put(s, x+used, y, w-used, l.p.folds[mark].String(), t.Style(surfaces.Code))
			mark++
		default:
			used += kit.Put(s, x+used, y, w-used, c, t.Style(0))
		}
		at += n
	}
}

// drawQueue draws the queued lines and returns how many rows they took. The marked
// one says what its keys do.
func (e *Editor) drawQueue(s tcell.Screen, r kit.Rect) int {
	n := min(e.queue.Len(), queueRows, r.H)
	if n <= 0 {
		return 0
	}
	t, g := e.o.Host.Theme(), e.o.Host.Signs()
	first := e.first(n)
	for i := range n {
		at := first + i
		style := t.Style(surfaces.Dim)
		marked := at == e.marked
		if marked {
			style = kit.Over(t.Style(0), t.Mark)
			kit.Fill(s, kit.Rect{X: r.X, Y: r.Y + i, W: r.W, H: 1}, " ", style)
		}
		tail := ""
		switch {
		case marked && e.HasFocus():
			tail = "Enter edits " + g.Dot + " Alt-Enter steers " + g.Dot + " Del drops"
			if r.W < width(tail)+leastLine {
				tail = "Del drops"
			}
		case i == 0 && first > 0:
			tail = strconv.Itoa(first) + " more before"
		case i == n-1 && first+n < e.queue.Len():
			tail = strconv.Itoa(e.queue.Len()-first-n) + " more"
		}
		lead := strconv.Itoa(at+1) + " "
		if marked {
			lead = g.Fold + lead
		} else {
			lead = " " + lead
		}
		room := r.W - 2
		if tail != "" {
			room -= width(tail) + 2
		}
		kit.Put(s, r.X+1, r.Y+i, room, kit.Clip(lead+e.queue.line(at), room, g.Ellipsis), style)
		if tail != "" {
			kit.Put(s, r.X+r.W-width(tail)-1, r.Y+i, width(tail), tail, style)
		}
		if marked && e.HasFocus() {
			s.ShowCursor(r.X+1, r.Y+i)
		}
	}
	return n
}

// PopupRoom is where the list of completions is drawn; empty when it is closed.
func (e *Editor) PopupRoom() kit.Rect {
	x, y, w, _ := e.GetRect()
	n := min(len(e.pop.shown), popupRows, y)
	if !e.pop.open || n <= 0 || w < 4 {
		return kit.Rect{}
	}
	return kit.Rect{X: x, Y: y - n, W: w, H: n}
}

// DrawPopup draws the list of completions over what is above the editor. Call it
// after every other part was drawn.
func (e *Editor) DrawPopup(s tcell.Screen) {
	r := e.PopupRoom()
	if r.H == 0 || !e.HasFocus() {
		return
	}
	t, g, c := e.o.Host.Theme(), e.o.Host.Signs(), &e.pop
	c.top = min(max(c.top, c.mark-r.H+1), c.mark, max(len(c.shown)-r.H, 0))
	names := 0
	for _, one := range c.shown[c.top : c.top+r.H] {
		names = max(names, width(one.Text))
	}
	names = min(names+1, max(r.W/2, r.W-30))
	for i := range r.H {
		one := c.shown[c.top+i]
		base := t.Style(0)
		lead := "  "
		if c.top+i == c.mark {
			base, lead = kit.Over(base, t.Mark), g.Fold+" "
		}
		kit.Fill(s, kit.Rect{X: r.X, Y: r.Y + i, W: r.W, H: 1}, " ", base)
		style := func(st surfaces.Style) tcell.Style {
			if c.top+i == c.mark {
				return kit.Over(t.Style(st), t.Mark)
			}
			return t.Style(st)
		}
		kit.Put(s, r.X+1, r.Y+i, r.W-1, lead+kit.Clip(one.Text, names, g.Ellipsis), style(surfaces.Accent))
		tail := ""
		if one.From != "" {
			tail = one.From
		}
		switch {
		case c.kind == Files && c.top+i == c.mark && r.W >= 50:
			tail = e.citing(g)
		case i == r.H-1 && c.top+r.H < len(c.shown):
			tail = strings.TrimSpace(tail + "  " + strconv.Itoa(len(c.shown)-c.top-r.H) + " more")
		}
		tail = kit.Clip(tail, r.W/2, g.Ellipsis)
		from := r.X + 4 + names
		to := r.X + r.W - 1
		if tail != "" {
			to -= width(tail)
			if to > from-2 {
				kit.Put(s, to, r.Y+i, width(tail), tail, style(surfaces.Dim))
			}
			to -= 2
		}
		if to > from {
			kit.Put(s, from, r.Y+i, to-from, kit.Clip(one.Help, to-from, g.Ellipsis), style(surfaces.Dim))
		}
	}
}

// citing says what can be done with a file of the list.
func (e *Editor) citing(g *kit.Signs) string {
	var does []string
	if key := e.o.Keys.Key(Send); key != "" {
		does = append(does, key+" cites")
	}
	if key := e.o.Keys.Key(Attach); key != "" {
		does = append(does, key+" attaches")
	}
	return strings.Join(does, " "+g.Dot+" ")
}

// Mouse puts the caret where the mouse was pressed, marks a queued line, or takes a
// completion.
func (e *Editor) Mouse(ev kit.Mouse) bool {
	x, y, w, h := e.GetRect()
	if pop := e.PopupRoom(); pop.Has(ev.X, ev.Y) {
		switch ev.Action {
		case kit.Press:
			e.pop.mark = e.pop.top + ev.Y - pop.Y
			e.accept()
		case kit.WheelUp:
			e.pop.mark, e.pop.moved = max(e.pop.mark-1, 0), true
		case kit.WheelDown:
			e.pop.mark, e.pop.moved = min(e.pop.mark+1, len(e.pop.shown)-1), true
		}
		return true
	}
	if ev.Action != kit.Press || !(kit.Rect{X: x, Y: y, W: w, H: h}).Has(ev.X, ev.Y) {
		return false
	}
	e.flush()
	if ev.Y < e.textY {
		first := e.first(e.textY - y - 1)
		if at := first + ev.Y - y - 1; at >= 0 && at < e.queue.Len() {
			e.marked = at
		}
		return true
	}
	e.marked = -1
	l := e.layout()
	e.b.to(l.at(e.top+ev.Y-e.textY, max(ev.X-x-margin, 0)))
	e.moved()
	return true
}
