package transcript

import (
	"strings"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// spot is a cell of a row.
type spot struct {
	place
	column int
}

// selection is what the mouse marks.
type selection struct {
	from, to spot
	down     bool // the button is held
	on       bool // it moved since
}

func (s selection) ends() (from, to spot, ok bool) {
	from, to = s.from, s.to
	if to.before(from.place) || to.place == from.place && to.column < from.column {
		from, to = to, from
	}
	return from, to, s.on
}

// Key takes no key: the program scrolls.
func (t *Transcript) Key(*tcell.EventKey) bool { return false }

// Paste takes nothing.
func (t *Transcript) Paste(string) bool { return false }

// wheel is how many rows one step of the wheel scrolls.
const wheel = 3

// Mouse scrolls, selects and opens calls.
func (t *Transcript) Mouse(ev kit.Mouse) bool {
	switch ev.Action {
	case kit.WheelUp:
		t.Scroll(-wheel)
	case kit.WheelDown:
		t.Scroll(wheel)
	case kit.Press:
		if ev.Button&tcell.ButtonPrimary == 0 {
			return false
		}
		at, ok := t.spotAt(ev.X, ev.Y)
		t.sel = selection{from: at, to: at, down: ok}
	case kit.Drag:
		if !t.sel.down {
			return false
		}
		_, y, _, height := t.GetInnerRect()
		switch { // beyond the edge: more comes into view
		case ev.Y < y:
			t.Scroll(-1)
		case ev.Y >= y+height:
			t.Scroll(1)
		}
		if at, ok := t.spotAt(ev.X, ev.Y); ok && at != t.sel.to {
			t.sel.to, t.sel.on = at, true
		}
	case kit.Release:
		if !t.sel.down {
			return false
		}
		t.sel.down = false
		if t.sel.on {
			if text := t.Selected(); text != "" && t.Copy != nil {
				t.Copy(text)
			}
			return true
		}
		t.click(t.sel.from)
	default:
		return false
	}
	return true
}

// spotAt returns the row under a cell of the screen, the nearest one for a cell
// outside.
func (t *Transcript) spotAt(x, y int) (spot, bool) {
	left, top, width, _ := t.GetInnerRect()
	if len(t.visible) == 0 || width <= 0 {
		return spot{}, false
	}
	line := max(min(y-top, len(t.visible)-1), 0)
	return spot{t.visible[line], max(min(x-left, width-1), 0)}, true
}

func (t *Transcript) click(at spot) {
	if at.entry >= len(t.entries) {
		return
	}
	fresh := t.fresh
	switch b := t.entries[at.entry].block.(type) {
	case *Call:
		b.toggle(t.look)
		t.touch(t.entries[at.entry])
	case *said:
		b.whole.open, b.whole.set = b.whole.folded(t.look), true
		for _, e := range t.entries {
			if p, ok := e.block.(*said); ok && p.whole == b.whole {
				t.touch(e)
			}
		}
	}
	t.fresh = fresh
}

// Selected returns the text that is marked, without bars and margins; "" for none. Lines
// are those of the text: what was broken to fit is whole again.
func (t *Transcript) Selected() string {
	from, to, ok := t.sel.ends()
	if !ok {
		return ""
	}
	var b strings.Builder
	line := "" // the one that may go on
	for i := from.entry; i <= to.entry && i < len(t.entries); i++ {
		for j, r := range t.rows(i) {
			at := place{i, j}
			if at.before(from.place) || to.place.before(at) {
				continue
			}
			text := r.Text()
			if at == to.place {
				text, _ = kit.Cut(text, to.column+1)
			}
			skip := r.margin() + r.Lead
			if at == from.place {
				skip = max(skip, from.column)
			}
			_, text = kit.Cut(text, skip)
			switch {
			case at == from.place:
			case r.Goes:
				line += r.Gap
			default:
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = ""
			}
			line += text
		}
	}
	b.WriteString(strings.TrimRight(line, " "))
	return b.String()
}

// Unselect drops the mark and tells whether there was one.
func (t *Transcript) Unselect() bool {
	was := t.sel.on
	t.sel = selection{}
	return was
}
