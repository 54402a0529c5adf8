package input

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

func (d *question) title() string {
	name := titleOf(d.q)
	if d.q.Origin != "" && d.q.Origin != "main" {
		name += " " + d.host.Signs().Dot + " " + view.RevealLine(d.q.Origin)
	}
	if d.more > 0 {
		name += fmt.Sprintf(" (%d more)", d.more)
	}
	return name
}

// left is the time until the engine answers.
func (d *question) left() string {
	left := max(view.AnswerTime-d.now().Sub(d.asked), 0)
	return fmt.Sprintf("%d:%02d", int(left.Minutes()), int(left.Seconds())%60)
}

// optionLines are a numbered option; the marked one has a sign besides its colour.
func (d *question) optionLines(i, width int) []line {
	lead, style := "  ", surfaces.Style(0)
	if i == d.mark {
		lead, style = d.host.Signs().Fold+" ", surfaces.Bold
	}
	lead += strconv.Itoa(i+1) + "  "
	var out []line
	for j, l := range kit.Wrap(view.RevealLine(d.q.Options[i]), max(width-kit.Width(lead), 1)) {
		if j > 0 {
			lead = strings.Repeat(" ", kit.Width(lead))
		}
		out = append(out, line{span(lead, surfaces.Accent), span(l, style)})
	}
	return out
}

// foot is the rows below the body: field, problem, choices.
func (d *question) foot(width int) (fieldRows int, problem, choices []line) {
	if d.problem != "" {
		problem = wrapped(d.problem, width, surfaces.Warn)
	}
	if d.field != nil {
		fieldRows = d.field.rows(width - 2)
	}
	return fieldRows, problem, choiceLines(d.choices(), width-6)
}

// dialogColumns is how wide a question is where the screen has room.
const dialogColumns = 96

// Room is what the question needs, at most all of the screen.
func (d *question) Room(screen kit.Rect) kit.Rect {
	w := min(dialogColumns, screen.W-4)
	d.compose(max(w, 1))
	field, problem, choices := d.foot(max(w, 1))
	return room(screen, w, d.parts.len()+field+len(problem)+len(choices)+1)
}

// Draw paints it. The first frame begins the time in which keys are ignored.
func (d *question) Draw(s tcell.Screen) {
	d.deaf.show(d.now())
	t, g := d.host.Theme(), d.host.Signs()
	r := d.frame(s, d.title(), t.Style(surfaces.Warn))
	if r.W <= 0 || r.H <= 0 {
		return
	}
	d.compose(r.W)
	field, problem, choices := d.foot(r.W)
	problem = problem[:min(len(problem), max(r.H-len(choices)-2, 0), 3)]
	// What is written gets half at most, so that what it is about stays in sight.
	low := r.H - len(choices) - len(problem)
	field = min(field, max(low/2, 1))
	rest := max(low-field-1, 0)
	d.body.lines = d.parts.lines(rest, r.W, g)
	d.body.draw(s, kit.Rect{X: r.X, Y: r.Y, W: r.W, H: rest}, t)
	y := r.Y + rest
	kit.Fill(s, kit.Rect{X: r.X, Y: y, W: r.W, H: 1}, g.Across, t.Border)
	if place := d.body.place(g); place != "" {
		kit.Put(s, r.X+1, y, r.W-2, " "+place+" ", t.Style(surfaces.Warn))
	}
	y++
	if d.field != nil {
		kit.Put(s, r.X, y, 2, g.Prompt, t.Style(surfaces.Accent))
		d.field.draw(s, kit.Rect{X: r.X + 2, Y: y, W: r.W - 2, H: field}, t, true)
		y += field
	}
	if low := y + len(problem); d.field == nil && low < r.Y+r.H {
		s.ShowCursor(r.X, low) // on the first key that answers
	}
	for _, l := range slices.Concat(problem, choices) {
		if y >= r.Y+r.H {
			break
		}
		kit.PutSpans(s, r.X, y, r.W, l, t)
		y++
	}
	if left := d.left(); !d.trust() && y-1 < r.Y+r.H {
		kit.Put(s, r.X+r.W-len(left), y-1, len(left), left, t.Style(surfaces.Dim))
	}
}
