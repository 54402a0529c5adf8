package input

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// deaf keeps keys from a question that a person cannot have read yet. It begins with
// the first frame that shows the question. A key that came in the time, or was waiting
// in a queue, is ignored and begins the time anew: whoever is typing has not seen it.
type deaf struct {
	shown bool
	until time.Time
}

func (d *deaf) show(now time.Time) {
	if !d.shown {
		d.shown, d.until = true, now.Add(surfaces.DeafTime)
	}
}

// ignores tells whether a key pressed at a time is to be ignored.
func (d *deaf) ignores(at time.Time) bool {
	if !d.shown {
		return true
	}
	if !at.Before(d.until) {
		return false
	}
	if next := at.Add(surfaces.DeafTime); next.After(d.until) {
		d.until = next
	}
	return true
}

// line of a dialog's body.
type line []surfaces.Span

func span(text string, style surfaces.Style) surfaces.Span {
	return surfaces.Span{Text: text, Style: style}
}

// wrapped breaks a text into lines between words; nothing of it is hidden.
func wrapped(text string, width int, style surfaces.Style) []line {
	var out []line
	for _, l := range kit.Wrap(kit.Reveal(text), width) {
		out = append(out, line{span(l, style)})
	}
	return out
}

// chopped breaks a text at the width and changes nothing of it: what a person agrees
// to is what runs, spaces and all. Each line begins with a bar, which no text can
// draw for itself.
func chopped(text string, width int, style surfaces.Style, g *kit.Signs) []line {
	text = strings.ReplaceAll(strings.TrimSuffix(kit.Reveal(text), "\n"), "\t", "    ")
	var out []line
	for _, p := range kit.ChopPieces(text, width-2) {
		out = append(out, line{span(g.Down+" ", surfaces.Dim), span(p.Text, style)})
	}
	return out
}

// detail shows a diff as one, and whatever else as it is.
func detail(text string, width int, g *kit.Signs) []line {
	if text == "" {
		return nil
	}
	if !isDiff(text) {
		return chopped(text, width, surfaces.Code, g)
	}
	var out []line
	for _, l := range surfaces.PatchLines(text) {
		sign := string(l.Sign)
		if l.Sign == '=' || l.Sign == '@' {
			sign = ""
		}
		out = append(out, chopped(sign+l.Text, width, l.Style(), g)...)
	}
	return out
}

// isDiff tells whether a line of the text begins a part of a unified diff.
func isDiff(text string) bool {
	return strings.HasPrefix(text, "@@ -") || strings.Contains(text, "\n@@ -")
}

// body is lines that scroll.
type body struct {
	lines []line
	top   int
	rows  int // drawn last
}

func (b *body) scroll(by int) {
	b.top = max(min(b.top+by, len(b.lines)-b.rows), 0)
}

// shows tells whether lines are in sight, or as many of them as fit.
func (b *body) shows(from, to int) bool {
	return b.top <= from && min(to, from+b.rows) <= b.top+b.rows
}

// reveal scrolls lines into sight, the first ones where not all fit.
func (b *body) reveal(from, to int) {
	b.top = min(max(b.top, to-b.rows), from)
	b.scroll(0)
}

// key scrolls; false for any other.
func (b *body) key(c string) bool {
	switch c {
	case "up":
		b.scroll(-1)
	case "down":
		b.scroll(1)
	case "pageup":
		b.scroll(-max(b.rows-1, 1))
	case "pagedown", "space":
		b.scroll(max(b.rows-1, 1))
	case "home":
		b.scroll(-len(b.lines))
	case "end":
		b.scroll(len(b.lines))
	default:
		return false
	}
	return true
}

func (b *body) draw(s tcell.Screen, r kit.Rect, t *kit.Theme) {
	b.rows = max(r.H, 0)
	b.scroll(0)
	for i := range min(b.rows, len(b.lines)-b.top) {
		kit.PutSpans(s, r.X, r.Y+i, r.W, b.lines[b.top+i], t)
	}
}

// place says which lines are seen; empty when all are.
func (b *body) place(g *kit.Signs) string {
	if len(b.lines) <= b.rows {
		return ""
	}
	text := fmt.Sprintf("%d-%d of %d", b.top+1, min(b.top+b.rows, len(b.lines)), len(b.lines))
	if b.top+b.rows < len(b.lines) {
		text += " " + g.Arrow
	}
	return text
}

// modal is what dialogs and pickers share.
type modal struct {
	*tview.Box
	host kit.Host
	done bool
	now  func() time.Time
	when func(*tcell.EventKey) time.Time
}

func newModal(host kit.Host) modal {
	return modal{
		Box: tview.NewBox(), host: host, now: time.Now,
		when: func(ev *tcell.EventKey) time.Time { return ev.When() },
	}
}

// Done tells whether the dialog is over.
func (m *modal) Done() bool { return m.done }

// room is a place in the middle for so many columns and rows inside a frame; all of a
// small screen.
func room(screen kit.Rect, columns, rows int) kit.Rect {
	w, h := min(columns+4, screen.W), min(rows+2, screen.H)
	if screen.W < 50 {
		w = screen.W
	}
	return kit.Rect{X: screen.X + (screen.W-w)/2, Y: screen.Y + (screen.H-h)/2, W: w, H: h}
}

// frame clears the room, draws the border with a title and returns what is inside.
func (m *modal) frame(s tcell.Screen, title string, style tcell.Style) kit.Rect {
	x, y, w, h := m.GetRect()
	r := kit.Rect{X: x, Y: y, W: w, H: h}
	if w < 6 || h < 3 {
		return kit.Rect{X: x, Y: y}
	}
	kit.Fill(s, r, " ", m.host.Theme().Style(0))
	kit.Frame(s, r, title, style, m.host.Signs())
	return kit.Rect{X: x + 2, Y: y + 1, W: w - 4, H: h - 2}
}

// choice is one answer and its key.
type choice struct {
	key, label string
}

// choiceLines sets choices in lines of a width: "y yes   n no".
func choiceLines(choices []choice, width int) []line {
	var out []line
	var now line
	used := 0
	for _, c := range choices {
		text := " " + c.label
		n := kit.Width(c.key + text)
		if used > 0 && used+3+n > width {
			out, now, used = append(out, now), nil, 0
		}
		if used > 0 {
			now = append(now, span("   ", 0))
			used += 3
		}
		now = append(now, span(c.key, surfaces.Accent|surfaces.Bold), span(text, 0))
		used += n
	}
	return append(out, now)
}
