package panel

import (
	"slices"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// wheelRows is how far one turn of the wheel scrolls.
const wheelRows = 3

// Reserved tells whether a key never reaches a plugin: F6, Escape and Ctrl-C.
func Reserved(ev *tcell.EventKey) bool {
	switch kit.Chord(ev) {
	case "f6", "esc", "ctrl+c":
		return true
	}
	return false
}

// Key hands a key to the panel. It takes every key that has a name but those that are
// Reserved: what neither a widget nor the plugin uses scrolls the panel, a moment
// later.
func (v *View) Key(ev *tcell.EventKey) bool {
	code, mods := kit.Code(ev)
	if code == "" || Reserved(ev) {
		return false
	}
	if code == "j" && slices.Equal(mods, []string{"ctrl"}) {
		code = "enter" // how terminals without extended keys send Ctrl-Enter
	}
	m := surfaces.Message{Kind: surfaces.KeyMessage, Code: code, Modifiers: mods}
	v.source.Key(v.id, m, func(used bool) {
		if !used && len(mods) == 0 {
			v.host.Do(func() { v.scrollKey(code) })
		}
	})
	return true
}

// Paste hands pasted text to the panel.
func (v *View) Paste(text string) bool {
	v.source.Paste(v.id, text)
	return true
}

// scrollKey scrolls the panel by a key nobody used.
func (v *View) scrollKey(code string) {
	_, _, _, h := v.GetRect()
	page := max(h-1, 1)
	switch code {
	case "up":
		v.scroll(-1)
	case "down":
		v.scroll(1)
	case "pageup":
		v.scroll(-page)
	case "pagedown", "space":
		v.scroll(page)
	case "home":
		v.scroll(-v.total)
	case "end":
		v.scroll(v.total)
	}
}

// scroll moves the content; it tells whether there was anything to move.
func (v *View) scroll(rows int) bool {
	_, _, _, h := v.GetRect()
	to := min(max(v.top+rows, 0), max(v.total-h, 0))
	if to == v.top {
		return false
	}
	v.top = to
	v.scrolls++
	v.host.Redraw()
	return true
}

// hit is what is at a cell of the panel, counted from its corner.
type hit struct {
	b     box
	ok    bool
	index int // item, branch or byte of a text; -1 for none
}

func (v *View) at(x, y int) hit {
	y += v.top
	for _, b := range v.boxes {
		if !b.at.Has(x, y) {
			continue
		}
		h := hit{b, true, -1}
		line, w := y-b.at.Y+v.offsets[b.n.Key], v.m.widgets[b.n.Key]
		switch b.n.Type {
		case surfaces.List:
			h.index = within(line, len(b.n.Items))
		case surfaces.Table:
			if y > b.at.Y { // not the titles
				h.index = within(line-1, len(b.n.Rows))
			}
		case surfaces.Tree:
			h.index = within(line, len(v.m.branches(b.n)))
		case surfaces.Button:
			if y != b.at.Y || x >= b.at.X+kit.Width(b.n.Label)+4 {
				return hit{index: -1} // its room may be larger than what is to be seen
			}
		case surfaces.Input:
			column := max(x-b.at.X-gutter, 0)
			rows := []row{{min(v.offsets[b.n.Key+"\x00"], len(w.Text)), len(w.Text)}}
			if b.n.Multiline {
				rows = v.m.inputRows(b.n, b.at.W)
			} else {
				line = 0
			}
			r := rows[min(max(line, 0), len(rows)-1)]
			h.index = r.from + offset(w.Text[r.from:r.to], column)
		}
		return h
	}
	return hit{index: -1}
}

func within(i, n int) int {
	if i < 0 || i >= n {
		return -1
	}
	return i
}

var buttons = []struct {
	mask tcell.ButtonMask
	name string
}{{tcell.ButtonPrimary, "left"}, {tcell.ButtonMiddle, "middle"}, {tcell.ButtonSecondary, "right"}}

// Mouse tells the plugin what the mouse did; where it does not consume that, a press
// of the left button marks and presses what is there, and the wheel scrolls. After a
// press in the panel the drags and the release are its own wherever they are.
func (v *View) Mouse(ev kit.Mouse) bool {
	x, y, w, h := v.GetRect()
	inside := rect(x, y, w, h).Has(ev.X, ev.Y)
	if !inside && v.drag == 0 || w <= 0 || h <= 0 || v.panel.Tree == nil {
		return false
	}
	column, line := min(max(ev.X-x, 0), w-1), min(max(ev.Y-y, 0), h-1)
	m := surfaces.Message{Kind: surfaces.MouseMessage, Row: line, Column: column, Host: "terminal"}
	target := hit{index: -1}
	if inside {
		target = v.at(column, line)
	}
	if target.ok {
		m.Target = target.b.n.ID
	}
	var unused func()
	switch ev.Action {
	case kit.Press:
		v.drag, m.Action = ev.Button, "press"
		if ev.Button == tcell.ButtonPrimary && target.ok {
			unused = func() { v.source.Click(v.id, target.b.n.Key, target.index) }
		}
	case kit.Release:
		if m.Action = "release"; ev.Button == 0 {
			ev.Button = v.drag
		}
		v.drag = 0
	case kit.Drag:
		m.Action = "drag"
	case kit.WheelUp:
		m.Button, m.Action = "wheel-up", "wheel"
		unused = func() { v.wheel(target, -wheelRows) }
	case kit.WheelDown:
		m.Button, m.Action = "wheel-down", "wheel"
		unused = func() { v.wheel(target, wheelRows) }
	default:
		return inside
	}
	for _, b := range buttons {
		if ev.Button&b.mask != 0 && m.Button == "" {
			m.Button = b.name
		}
	}
	if m.Button == "" {
		return inside
	}
	v.source.Post(v.id, m, func(consumed bool) {
		if !consumed && unused != nil {
			v.host.Do(unused)
		}
	})
	return true
}

// wheel scrolls the widget under the mouse where it can be, else the panel.
func (v *View) wheel(at hit, rows int) {
	if at.ok && v.m != nil {
		_, _, lines := v.markOf(at.b)
		off := v.offsets[at.b.n.Key]
		to := min(max(off+rows, 0), max(lines-v.itemRows(at.b), 0))
		if lines > 0 && to != off {
			v.offsets[at.b.n.Key] = to
			v.scrolls++
			v.host.Redraw()
			return
		}
	}
	v.scroll(rows)
}
