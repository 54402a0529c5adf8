package panel

import (
	"maps"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// Source is what a panel needs of *surfaces.Host. No method waits for a plugin.
type Source interface {
	Panels() []surfaces.Panel
	Key(id surfaces.ID, m surfaces.Message, answer func(used bool))
	Paste(id surfaces.ID, text string)
	Click(id surfaces.ID, widget string, index int)
	Focus(id surfaces.ID, gained bool)
	Resize(id surfaces.ID, width, height int)
	Post(id surfaces.ID, m surfaces.Message, answer func(consumed bool))
}

var (
	_ Source    = (*surfaces.Host)(nil)
	_ kit.Sized = (*View)(nil)
)

// keptWidths is at how many widths the lines of a tree are kept.
const keptWidths = 8

// View draws one panel, its frame not counted, and hands keys, pastes and the mouse to
// it. It is drawn anew only when the panel, its size or its looks changed.
type View struct {
	*tview.Box
	id     surfaces.ID
	source Source
	host   kit.Host

	panel  surfaces.Panel
	active bool // the panel has the keys
	phase  int  // of busy widgets

	m        *measure // of the tree that is shown; older than panel.Tree while a worker is busy
	working  bool
	measured int // width m was made for
	widths   int // how many m was asked for
	dear     bool

	boxes []box
	total int // rows of the content
	top   int // first row that is shown
	// above and below count the lines of widgets that scroll by themselves.
	above, below int
	// offsets are the first lines shown of widgets that scroll, by key; of a
	// single-line input the first byte.
	offsets map[string]int
	marks   map[string]int // where the mark or caret was when the offset followed it
	focused string         // widget the scrolling followed last

	scrolls int              // how often something was scrolled by hand
	drag    tcell.ButtonMask // of a press in the panel that was not released yet

	drawn  looks
	canvas *canvas
	busy   bool // something moves by itself
	caret  struct {
		x, y int
		on   bool
	}
	drawings int // how often the canvas was made
}

// looks is everything a drawing depends on.
type looks struct {
	version       uint64
	m             *measure
	width, height int
	active        bool
	phase         int
	theme         *kit.Theme
	signs         *kit.Signs
	scrolls       int
}

// NewView returns the view of one panel.
func NewView(id surfaces.ID, source Source, host kit.Host) *View {
	return &View{Box: tview.NewBox(), id: id, source: source, host: host, offsets: map[string]int{}, marks: map[string]int{}}
}

// ID of the panel.
func (v *View) ID() surfaces.ID { return v.id }

// SetPanel takes what the panel shows now.
func (v *View) SetPanel(p surfaces.Panel) {
	if p.Version == v.panel.Version && p.Tree == v.panel.Tree {
		return
	}
	if p.Tree != v.panel.Tree {
		v.dear = p.Tree != nil && dear(p.Tree)
	}
	v.panel = p
	if p.Tree == nil {
		v.m, v.canvas, v.boxes, v.busy = nil, nil, nil, false
		v.top, v.focused = 0, ""
		clear(v.offsets)
		clear(v.marks)
	}
}

// SetActive tells whether the panel has the keys.
func (v *View) SetActive(active bool) { v.active = active }

// prepare brings the measure in line with the tree and a width. What is dear is done
// beside the event loop; until it is over the old tree is shown. It tells whether
// there is something to show.
func (v *View) prepare(width int) bool {
	tree, ascii := v.panel.Tree, v.host.Signs().ASCII
	if tree == nil {
		return false
	}
	if v.known(width) {
		if !maps.EqualFunc(v.m.widgets, v.panel.Widgets, sameWidget) {
			v.m.setWidgets(v.panel.Widgets)
		}
		return true
	}
	if !v.dear {
		if v.m == nil || v.m.tree != tree || v.m.ascii != ascii || v.widths > keptWidths {
			v.m, v.widths = newMeasure(tree, v.panel.Widgets, ascii), 0
		} else {
			v.m.setWidgets(v.panel.Widgets)
		}
		v.measured = width
		v.widths++
		return true
	}
	if !v.working {
		v.working = true
		next := newMeasure(tree, v.panel.Widgets, ascii)
		v.host.Go(func() { next.flow(width, 1) }, func() {
			v.working = false
			if v.panel.Tree != nil {
				v.m, v.measured = next, width
				v.host.Redraw()
			}
		})
	}
	return v.m != nil
}

// known tells whether the measure is that of the tree at this width.
func (v *View) known(width int) bool {
	return v.m != nil && v.m.tree == v.panel.Tree && v.measured == width && v.m.ascii == v.host.Signs().ASCII
}

func sameWidget(a, b surfaces.Widget) bool {
	return a.Index == b.Index && a.Branch == b.Branch && a.Text == b.Text && a.Caret == b.Caret && maps.Equal(a.Expanded, b.Expanded)
}

// Rows returns how many rows the content takes at a width, at least 1; while a large
// tree is being measured, what was known before.
func (v *View) Rows(width int) int {
	width = max(width, 1)
	switch {
	case v.panel.Tree == nil:
		return 1
	case v.dear && !v.known(width): // drawing will ask for it
		return max(v.total, 1)
	}
	v.prepare(width)
	return v.m.rows(v.m.tree, width)
}

// Draw paints the panel into its room, and shows the cursor of an input that has the
// keys.
func (v *View) Draw(s tcell.Screen) {
	x, y, w, h := v.GetRect()
	if w <= 0 || h <= 0 {
		return
	}
	v.render(w, h)
	if v.canvas == nil {
		kit.Fill(s, rect(x, y, w, h), " ", tcell.StyleDefault)
		return
	}
	v.canvas.blit(s, rect(x, y, w, h))
	if v.caret.on && v.active {
		s.ShowCursor(x+v.caret.x, y+v.caret.y)
	}
}

// render brings the canvas up to date.
func (v *View) render(w, h int) {
	if !v.prepare(w) || v.measured != w {
		return // the last drawing is better than a stopped screen
	}
	now := looks{
		version: v.panel.Version, m: v.m, width: w, height: h, active: v.active,
		theme: v.host.Theme(), signs: v.host.Signs(), scrolls: v.scrolls,
	}
	if v.busy {
		now.phase = v.phase
	}
	if v.canvas != nil && now == v.drawn {
		return
	}
	v.boxes, v.total = v.m.flow(w, h)
	v.follow(h)
	v.top = min(max(v.top, 0), max(v.total-h, 0))
	v.canvas, v.busy, v.caret.on = newCanvas(w, h), false, false
	p := painter{v: v, c: v.canvas, theme: now.theme, signs: now.signs}
	for _, b := range v.boxes {
		p.box(b)
	}
	if v.busy {
		now.phase = v.phase
	}
	v.drawn = now
	v.drawings++
}

// Busy tells whether something in the panel moves by itself.
func (v *View) Busy() bool { return v.busy }

// Step moves what is busy on.
func (v *View) Step() { v.phase++ }

// Hidden returns how many rows there are above and below what is shown, those of
// lists that scroll by themselves too.
func (v *View) Hidden() (above, below int) {
	_, _, _, h := v.GetRect()
	if v.canvas == nil {
		return 0, 0
	}
	return v.top + v.above, max(v.total-h-v.top, 0) + v.below
}

// follow scrolls to the widget that has the keys where it, its mark or its caret
// moved.
func (v *View) follow(height int) {
	v.above, v.below = 0, 0
	for _, b := range v.boxes {
		if b.at.H <= 0 {
			continue
		}
		mark, line, lines := v.markOf(b)
		if lines == 0 {
			continue
		}
		was, known := v.marks[b.n.Key]
		moved := !known || was != mark
		v.marks[b.n.Key] = mark
		off := v.offsets[b.n.Key]
		room := v.itemRows(b)
		if moved && line >= 0 {
			off = min(max(off, line-room+1), line)
		}
		off = min(max(off, 0), max(lines-room, 0))
		v.offsets[b.n.Key] = off
		v.above += off
		v.below += max(lines-room-off, 0)
		if b.n.Key != v.panel.Focus || !moved && v.focused == b.n.Key {
			continue
		}
		first := !known && v.focused == ""
		v.focused = b.n.Key
		at := b.at.Y + b.at.H - room + max(line-off, 0)
		// The first drawing of a panel begins at its top.
		if !first {
			v.top = min(max(v.top, at-height+1), at)
		}
	}
}

// markOf returns what the offset of a widget follows: a value that moves with the mark
// or caret, its line, and how many lines there are; none for a widget that takes no
// keys.
func (v *View) markOf(b box) (mark, line, lines int) {
	w := v.m.widgets[b.n.Key]
	switch b.n.Type {
	case surfaces.List:
		return w.Index, w.Index, max(len(b.n.Items), 1)
	case surfaces.Table:
		return w.Index, w.Index, max(len(b.n.Rows), 1)
	case surfaces.Tree:
		return w.Index, w.Index, max(len(v.m.branches(b.n)), 1)
	case surfaces.Input:
		if b.n.Multiline {
			rows := v.m.inputRows(b.n, b.at.W)
			return w.Caret, rowOf(rows, w.Caret), len(rows)
		}
		return w.Caret, 0, 1
	case surfaces.Button:
		return 0, 0, 1
	}
	return 0, 0, 0
}

// itemRows is how many items of a widget are on screen: a table has a title above.
func (v *View) itemRows(b box) int {
	if b.n.Type == surfaces.Table {
		return max(b.at.H-1, 1)
	}
	return b.at.H
}

// inputWidth is the room of an input's text; the caret needs a cell behind it.
func inputWidth(b box) int { return max(b.at.W-gutter-1, 1) }
