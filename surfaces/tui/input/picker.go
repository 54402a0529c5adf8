package input

import (
	"fmt"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// Item is one line of a picker.
type Item struct {
	Text string // what is matched by the filter
	Note string // beside it
	// Detail is shown for the marked item: lines of text; a unified diff is coloured.
	Detail string
	// Value is the caller's.
	Value any
}

// PickAction is what a key does with the marked item.
type PickAction struct {
	// Key is a chord: enter, delete, or one with ctrl or alt. Letters belong to the
	// filter.
	Key   string
	Label string
	// Do gets the item; true closes the picker.
	Do func(Item) bool
}

// PickerOptions of a picker. Host is needed.
type PickerOptions struct {
	Host  kit.Host
	Title string
	Items []Item
	// Mark is the item that is marked first.
	Mark    int
	Actions []PickAction
	// Empty stands where there are no items.
	Empty string
}

// Picker is a list to choose from, with a filter. It implements kit.Modal.
type Picker struct {
	modal
	o      PickerOptions
	filter *field
	shown  []int // of the items, best first
	mark   int
	top    int
	rows   int
	detail body
	// of is what the detail was made for.
	of struct{ item, width int }
}

// NewPicker opens one.
func NewPicker(o PickerOptions) *Picker {
	p := &Picker{modal: newModal(o.Host), o: o, filter: newField("", true, defaultKeys), mark: o.Mark}
	p.SetItems(o.Items)
	return p
}

// SetItems replaces the items; the mark stays where it is.
func (p *Picker) SetItems(items []Item) {
	p.o.Items = make([]Item, len(items))
	for i, it := range items {
		it.Text, it.Note = view.CleanLine(it.Text), view.CleanLine(it.Note)
		p.o.Items[i] = it
	}
	p.narrow()
}

func (p *Picker) narrow() {
	p.shown = rank(p.filter.text(), len(p.o.Items), func(i int) string { return p.o.Items[i].Text })
	p.mark = max(min(p.mark, len(p.shown)-1), 0)
	p.of.item = -1
}

// Marked is the item under the mark; false when there is none.
func (p *Picker) Marked() (Item, bool) {
	if p.mark >= len(p.shown) {
		return Item{}, false
	}
	return p.o.Items[p.shown[p.mark]], true
}

// Key moves, filters or acts. Every key is the picker's.
func (p *Picker) Key(ev *tcell.EventKey) bool {
	c := chord(ev)
	for _, a := range p.o.Actions {
		if a.Key == c {
			if it, ok := p.Marked(); ok && a.Do(it) {
				p.done = true
			}
			return true
		}
	}
	switch c {
	case "esc":
		if p.filter.text() != "" {
			p.filter = newField("", true, defaultKeys)
			p.narrow()
			return true
		}
		p.done = true
	case "up", "ctrl+p", "backtab":
		p.move(-1)
	case "down", "ctrl+n", "tab":
		p.move(1)
	case "pageup":
		p.move(-max(p.rows-1, 1))
	case "pagedown":
		p.move(max(p.rows-1, 1))
	case "ctrl+home":
		p.move(-len(p.shown))
	case "ctrl+end":
		p.move(len(p.shown))
	case "alt+up":
		p.detail.scroll(-1)
	case "alt+down":
		p.detail.scroll(1)
	default:
		before := p.filter.text()
		p.filter.key(ev)
		if p.filter.text() != before {
			p.mark = 0
			p.narrow()
		}
	}
	return true
}

func (p *Picker) move(by int) { p.mark = max(min(p.mark+by, len(p.shown)-1), 0) }

// Paste goes into the filter.
func (p *Picker) Paste(text string) bool {
	p.filter.paste(text)
	p.mark = 0
	p.narrow()
	return true
}

// Mouse marks a line, and takes it when it was marked before.
func (p *Picker) Mouse(ev kit.Mouse) bool {
	x, y, w, _ := p.GetRect()
	switch ev.Action {
	case kit.WheelUp:
		p.move(-1)
	case kit.WheelDown:
		p.move(1)
	case kit.Press:
		at := p.top + ev.Y - y - 2
		if ev.X <= x || ev.X >= x+w-1 || ev.Y < y+2 || ev.Y >= y+2+p.rows || at >= len(p.shown) {
			return true
		}
		if at != p.mark {
			p.mark = at
			return true
		}
		for _, a := range p.o.Actions {
			if it, ok := p.Marked(); ok && a.Key == "enter" && a.Do(it) {
				p.done = true
			}
		}
	}
	return true
}

const (
	pickerColumns = 96
	detailRows    = 8
)

func (p *Picker) hasDetail() bool {
	it, ok := p.Marked()
	return ok && it.Detail != ""
}

// Room is what the items need, at most all of the screen.
func (p *Picker) Room(screen kit.Rect) kit.Rect {
	rows := max(len(p.o.Items), 1) + 2
	for _, it := range p.o.Items {
		if it.Detail != "" {
			rows += detailRows + 1
			break
		}
	}
	return room(screen, min(pickerColumns, screen.W-4), rows)
}

// Draw paints filter, list, detail and keys.
func (p *Picker) Draw(s tcell.Screen) {
	t, g := p.host.Theme(), p.host.Signs()
	title := view.CleanLine(p.o.Title)
	if len(p.shown) < len(p.o.Items) {
		title += fmt.Sprintf(" (%d of %d)", len(p.shown), len(p.o.Items))
	}
	r := p.frame(s, title, t.Focus)
	if r.W <= 0 || r.H <= 0 {
		return
	}
	choices := choiceLines(p.keys(), r.W)
	choices = choices[:min(len(choices), max(r.H-2, 0), 2)]
	below := len(choices)
	if p.hasDetail() && r.H >= 10 {
		below += min(detailRows, (r.H-2)/2) + 1
	}
	kit.Put(s, r.X, r.Y, 2, g.Prompt, t.Style(surfaces.Accent))
	p.filter.draw(s, kit.Rect{X: r.X + 2, Y: r.Y, W: r.W - 2, H: 1}, t, true)
	p.rows = max(r.H-1-below, 0)
	p.top = max(min(max(p.top, p.mark-p.rows+1), p.mark, len(p.shown)-p.rows), 0)
	p.drawList(s, kit.Rect{X: r.X, Y: r.Y + 1, W: r.W, H: p.rows})
	y := r.Y + 1 + p.rows
	if rows := below - len(choices) - 1; rows > 0 {
		p.compose(r.W)
		kit.Fill(s, kit.Rect{X: r.X, Y: y, W: r.W, H: 1}, g.Across, t.Border)
		p.detail.draw(s, kit.Rect{X: r.X, Y: y + 1, W: r.W, H: rows}, t)
		if place := p.detail.place(g); place != "" {
			kit.Put(s, r.X+1, y, r.W-2, " "+place+" "+g.Dot+" "+kit.Spell("alt+up")+" "+kit.Spell("alt+down")+" ", t.Style(surfaces.Dim))
		}
		y += rows + 1
	}
	for i, l := range choices {
		kit.PutSpans(s, r.X, y+i, r.W, l, t)
	}
}

func (p *Picker) compose(width int) {
	item := p.shown[p.mark]
	if p.of.item == item && p.of.width == width {
		return
	}
	p.of.item, p.of.width = item, width
	text := p.o.Items[item].Detail
	p.detail = body{}
	if isDiff(text) {
		p.detail.lines = detail(text, width, p.host.Signs())
	} else {
		p.detail.lines = wrapped(text, width, 0)
	}
}

func (p *Picker) drawList(s tcell.Screen, r kit.Rect) {
	t, g := p.host.Theme(), p.host.Signs()
	if len(p.shown) == 0 && r.H > 0 {
		text := p.o.Empty
		if len(p.o.Items) > 0 {
			text = "nothing fits; Esc clears it"
		}
		kit.Put(s, r.X+2, r.Y, r.W-2, text, t.Style(surfaces.Dim))
	}
	for i := range min(r.H, len(p.shown)-p.top) {
		it := p.o.Items[p.shown[p.top+i]]
		lead, plain, dim := "  ", t.Style(0), t.Style(surfaces.Dim)
		if p.top+i == p.mark {
			lead, plain, dim = g.Fold+" ", kit.Over(plain, t.Mark), kit.Over(dim, t.Mark)
			kit.Fill(s, kit.Rect{X: r.X, Y: r.Y + i, W: r.W, H: 1}, " ", plain)
		}
		note := kit.Clip(it.Note, max(r.W/2, r.W-4-kit.Width(it.Text)), g.Ellipsis)
		room := r.W - 2
		if note != "" {
			room -= kit.Width(note) + 2
			kit.Put(s, r.X+r.W-kit.Width(note), r.Y+i, kit.Width(note), note, dim)
		}
		kit.Put(s, r.X, r.Y+i, room+2, lead+kit.Clip(it.Text, room, g.Ellipsis), plain)
	}
}

// keys says what can be done.
func (p *Picker) keys() []choice {
	var out []choice
	for _, a := range p.o.Actions {
		out = append(out, choice{kit.Spell(a.Key), a.Label})
	}
	return append(out, choice{"Esc", "close"})
}

var (
	_ kit.Modal = (*Picker)(nil)
	_ kit.Modal = (*Questions)(nil)
	_ kit.Sized = (*Editor)(nil)
)
