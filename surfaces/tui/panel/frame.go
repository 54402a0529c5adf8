package panel

import (
	"strconv"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// edges are the signs of a frame. Those of the panel that has the keys are heavier, so
// that colour is not all that tells it.
type edges struct {
	across, down     string
	corners          [4]string // upper left, upper right, lower left, lower right
	fromLeft, fromUp string    // a column's border that goes on: ├ and ┤
}

func edgesOf(g *kit.Signs, active bool) edges {
	switch {
	case active && g.ASCII:
		return edges{"=", "#", [4]string{"#", "#", "#", "#"}, "#", "#"}
	case active:
		return edges{"━", "┃", [4]string{"┏", "┓", "┗", "┛"}, "┣", "┫"}
	}
	return edges{g.Across, g.Down, g.Corners, g.Joins[3], g.Joins[2]}
}

// Draw paints the panels and the strip of tabs, but no dialog.
func (m *Manager) Draw(s tcell.Screen) {
	for _, p := range m.placed.Places {
		if p.Kind != surfaces.Overlay {
			m.draw(s, p)
		}
	}
	m.strip(s)
}

// DrawDialogs paints the dialogs of plugins over what is there.
func (m *Manager) DrawDialogs(s tcell.Screen) {
	for _, p := range m.placed.Places {
		if p.Kind == surfaces.Overlay {
			s.HideCursor() // what is below has no caret any more
			m.draw(s, p)
		}
	}
}

func (m *Manager) draw(s tcell.Screen, p Place) {
	v := m.views[p.ID]
	v.Draw(s) // first: the frame says how much is hidden
	m.frame(s, p, v)
}

func (m *Manager) frame(s tcell.Screen, p Place, v *View) {
	theme, signs := m.o.Host.Theme(), m.o.Host.Signs()
	active := m.choices.Focus == p.ID
	e, style := edgesOf(signs, active), theme.Border
	if active {
		style = theme.Focus
	}
	f := p.Frame
	right, low := f.X+f.W-1, f.Y+f.H-1
	fill := func(x, y, w, h int, sign string, style tcell.Style) {
		kit.Fill(s, rect(x, y, w, h), sign, style)
	}
	if p.Border&BorderTop != 0 {
		fill(f.X, f.Y, f.W, 1, e.across, style)
	}
	if p.Border&BorderBottom != 0 {
		fill(f.X, low, f.W, 1, e.across, style)
	}
	if p.Border&BorderLeft != 0 {
		fill(f.X, f.Y, 1, f.H, e.down, style)
	}
	if p.Border&BorderRight != 0 {
		fill(right, f.Y, 1, f.H, e.down, style)
	}
	switch {
	case p.Border == BorderBox:
		s.Put(f.X, f.Y, e.corners[0], style)
		s.Put(right, f.Y, e.corners[1], style)
		s.Put(f.X, low, e.corners[2], style)
		s.Put(right, low, e.corners[3], style)
	case p.Border&BorderLeft != 0:
		s.Put(f.X, f.Y, pick(p.First, e.corners[0], e.fromLeft), style)
		fill(f.X+1, f.Y+1, 1, f.H-1, " ", tcell.StyleDefault)
	case p.Border&BorderRight != 0:
		s.Put(right, f.Y, pick(p.First, e.corners[1], e.fromUp), style)
		fill(right-1, f.Y+1, 1, f.H-1, " ", tcell.StyleDefault)
	}
	m.title(s, p, v, active)
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// title writes the name of a panel into its upper border, and how many rows are out of
// sight at the end of it; of a folded one, whose tab is the title, into the lower.
func (m *Manager) title(s tcell.Screen, p Place, v *View, active bool) {
	theme, signs := m.o.Host.Theme(), m.o.Host.Signs()
	f, y := p.Frame, p.Frame.Y
	if p.Folded {
		y = f.Y + f.H - 1
	}
	hidden := ""
	if above, below := v.Hidden(); above+below > 0 {
		if above > 0 {
			hidden += signs.Up + strconv.Itoa(above) + " "
		}
		if below > 0 {
			hidden += signs.Arrow + strconv.Itoa(below) + " "
		}
		hidden = " " + hidden
	}
	room := f.W - 4
	if w := kit.Width(hidden); hidden != "" && w <= room {
		kit.Put(s, f.X+f.W-2-w, y, w, hidden, theme.Style(surfaces.Dim))
		room -= w + 1
	}
	if p.Folded || room < 3 {
		return
	}
	style := theme.Style(surfaces.Title)
	if active {
		style = theme.Style(surfaces.Accent | surfaces.Bold)
	}
	kit.Put(s, f.X+2, y, room, " "+kit.Clip(Name(p.ID), room-2, signs.Ellipsis)+" ", style)
}

// strip draws the tabs. The one that has the keys stands in brackets.
func (m *Manager) strip(s tcell.Screen) {
	if empty(m.placed.Strip) {
		return
	}
	theme, signs := m.o.Host.Theme(), m.o.Host.Signs()
	kit.Fill(s, m.placed.Strip, " ", tcell.StyleDefault)
	hidden := 0
	end := m.placed.Strip.X
	for _, t := range m.placed.Tabs {
		if empty(t.Rect) {
			hidden++
			continue
		}
		end = max(end, t.Rect.X+t.Rect.W)
		left, right, style := " ", " ", theme.Style(surfaces.Dim)
		if t.ID == m.choices.Focus {
			left, right, style = "[", "]", theme.Style(surfaces.Accent|surfaces.Bold)
		}
		kit.Put(s, t.Rect.X, t.Rect.Y, t.Rect.W, left+kit.Clip(Name(t.ID), t.Rect.W-2, signs.Ellipsis)+right, style)
	}
	if hidden > 0 {
		kit.Put(s, end, m.placed.Strip.Y, m.placed.Strip.X+m.placed.Strip.W-end, "+"+strconv.Itoa(hidden), theme.Style(surfaces.Dim))
	}
}
