package tui

import (
	"context"
	"reflect"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

// page is an open view of a command: text to scroll, rows to mark, keys at the foot. It
// implements kit.Modal.
type page struct {
	*tview.Box
	s     *Session
	v     *command.View
	body  command.Body
	ready bool // body was read
	done  bool
	mark  string // the id of the marked row; "" for none
	top   int    // the first visible line

	// Of the last frame.
	lines  []command.Line
	height int
	gen    int // of what is read: an older answer is dropped
}

var _ kit.Modal = (*page)(nil)

func newPage(s *Session, v *command.View) *page {
	p := &page{Box: tview.NewBox(), s: s, v: v}
	p.load()
	if v.Every > 0 {
		p.again()
	}
	return p
}

// again reads what is shown anew as often as the view wants it.
func (p *page) again() {
	time.AfterFunc(p.v.Every, func() {
		p.s.in.quiet(func() {
			if !p.done {
				p.load()
				p.again()
			}
		})
	})
}

// load reads what is shown; what is the same as before draws nothing.
func (p *page) load() {
	p.gen++
	gen := p.gen
	host{p.s}.Go(func() {
		b := p.v.Load(p.s.ctx)
		p.s.in.quiet(func() {
			if gen != p.gen || p.ready && reflect.DeepEqual(p.body, b) {
				return
			}
			p.body, p.ready = b, true
			p.s.redraw()
		})
	}, nil)
}

// Room is all of the screen but the status lines.
func (p *page) Room(screen kit.Rect) kit.Rect {
	if screen.H > 8 {
		screen.Y, screen.H = screen.Y+1, screen.H-2
	}
	return screen
}

// Done tells whether the page was left.
func (p *page) Done() bool { return p.done }

// Draw paints the page.
func (p *page) Draw(screen tcell.Screen) {
	x, y, w, h := p.GetRect()
	th, g := p.s.theme, p.s.signs
	r := kit.Rect{X: x, Y: y, W: w, H: h}
	kit.Fill(screen, r, " ", th.Style(0))
	kit.Frame(screen, r, p.v.Title, th.Focus, g)
	in := r.Inset(1)
	if in.W < 2 || in.H < 1 {
		return
	}
	foot := p.foot(in.W-2, min(in.H-2, max(in.H/3, 1)), g)
	p.height = in.H - len(foot)
	for i, row := range foot {
		kit.Put(screen, in.X+1, in.Y+p.height+i, in.W-2, kit.Clip(row, in.W-2, g.Ellipsis), th.Style(surfaces.Dim))
	}
	p.lines = p.body.Lines(in.W-2, g)
	if !p.ready {
		kit.Put(screen, in.X+1, in.Y, in.W-2, g.Ellipsis, th.Style(surfaces.Dim))
		return
	}
	p.settle()
	for i := 0; i < p.height && p.top+i < len(p.lines); i++ {
		line := p.lines[p.top+i]
		kit.PutSpans(screen, in.X+1, in.Y+i, in.W-2, line.Spans, th)
		if line.ID != "" && line.ID == p.mark {
			for c := in.X; c < in.X+in.W; {
				text, style, n := screen.Get(c, in.Y+i)
				screen.Put(c, in.Y+i, text, kit.Over(style, th.Mark))
				c += max(n, 1)
			}
		}
	}
}

// settle keeps the mark on a row there is, and both in sight.
func (p *page) settle() {
	first, last := -1, -1
	some := ""
	for i, line := range p.lines {
		if line.ID == "" {
			continue
		}
		if some == "" {
			some = line.ID
		}
		if line.ID == p.mark {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		p.mark = some
	} else {
		if last >= p.top+p.height {
			p.top = last - p.height + 1
		}
		if first < p.top {
			p.top = first
		}
	}
	p.top = max(min(p.top, len(p.lines)-p.height), 0)
}

// foot is the keys of the page in at most so many rows. Where there is no room for all,
// the last ones give way: how to leave stays.
func (p *page) foot(width, rows int, g *kit.Signs) []string {
	if rows < 1 {
		return nil
	}
	const leave = "Esc leaves"
	var keys []string
	for _, k := range p.v.Keys {
		if k.Help != "" {
			keys = append(keys, kit.Spell(k.Chord)+" "+k.Help)
		}
	}
	for n := len(keys); n > 0; n-- {
		if out := packed(append(keys[:n:n], leave), width); len(out) <= rows {
			return out
		}
	}
	return []string{kit.Clip(leave, width, g.Ellipsis)}
}

// packed puts words into as few rows as hold them whole.
func packed(words []string, width int) []string {
	var rows []string
	for _, w := range words {
		if last := len(rows) - 1; last >= 0 && kit.Width(rows[last])+2+kit.Width(w) <= width {
			rows[last] += "  " + w
			continue
		}
		rows = append(rows, w)
	}
	return rows
}

// ids lists the rows that can be marked, in order.
func (p *page) ids() []string {
	var out []string
	for _, line := range p.lines {
		if line.ID != "" && (len(out) == 0 || out[len(out)-1] != line.ID) {
			out = append(out, line.ID)
		}
	}
	return out
}

// move goes n rows on, or scrolls where there are none to mark.
func (p *page) move(n int) {
	ids := p.ids()
	if len(ids) == 0 {
		p.top += n
		return
	}
	at := 0
	for i, id := range ids {
		if id == p.mark {
			at = i
		}
	}
	p.mark = ids[max(min(at+n, len(ids)-1), 0)]
}

// Key moves, leaves, or does what the view has a key for.
func (p *page) Key(ev *tcell.EventKey) bool {
	chord := kit.Chord(ev)
	for _, k := range p.v.Keys {
		if k.Chord == chord && (k.Whole || p.mark != "") {
			p.press(k)
			return true
		}
	}
	switch chord {
	case "esc", "q":
		p.done = true
	case "up", "k":
		p.move(-1)
	case "down", "j":
		p.move(1)
	case "pageup":
		p.move(-max(p.height-1, 1))
	case "pagedown", "space":
		p.move(max(p.height-1, 1))
	case "home":
		p.move(-len(p.lines))
		p.top = 0
	case "end":
		p.move(len(p.lines))
	}
	return true
}

// press does what a key is for. One that leaves the page may lead to another session, so
// what is sent meanwhile waits for it; another may wait for the person.
func (p *page) press(k command.Key) {
	id := p.mark
	if k.Leaves {
		p.done = true
		p.s.perform(k.Help, func(ctx context.Context, _ Driver) command.Reply { return k.Do(ctx, id) })
		return
	}
	var r command.Reply
	host{p.s}.Go(func() { r = k.Do(p.s.ctx, id) }, func() {
		if !p.done && !r.Body.Empty() && r.View == nil && r.Pick == nil {
			// Here it is seen, in the conversation it stays.
			p.s.hint(oneLine(r.Body.Text(1<<12, p.s.signs)), hintTime)
		}
		p.s.apply(r)
		if !p.done {
			p.load()
		}
	})
}

// Paste takes nothing.
func (p *page) Paste(string) bool { return true }

// Mouse scrolls, and marks the row that is pressed.
func (p *page) Mouse(ev kit.Mouse) bool {
	_, y, _, _ := p.GetRect()
	switch ev.Action {
	case kit.WheelUp:
		p.move(-3)
	case kit.WheelDown:
		p.move(3)
	case kit.Press:
		if i := p.top + ev.Y - y - 1; i >= 0 && i < len(p.lines) && p.lines[i].ID != "" {
			p.mark = p.lines[i].ID
		}
	}
	return true
}
