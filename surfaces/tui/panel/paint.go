package panel

import (
	"math"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
	"starling/surfaces/markdown"
	"starling/surfaces/tui/kit"
)

// painter draws the widgets of a view.
type painter struct {
	v     *View
	c     *canvas
	theme *kit.Theme
	signs *kit.Signs
}

// box draws one widget within its room and the view.
func (p *painter) box(b box) {
	b.at.Y -= p.v.top
	if b.at.W <= 0 || b.at.Y >= p.c.h || b.at.Y+b.at.H <= 0 {
		return
	}
	y := max(b.at.Y, 0)
	p.c.clip = rect(b.at.X, y, min(b.at.W, p.c.w-b.at.X), min(b.at.Y+b.at.H, p.c.h)-y)
	if p.c.clip.W <= 0 {
		return
	}
	switch b.n.Type {
	case surfaces.Text, surfaces.Markdown, surfaces.Diff:
		p.lines(b)
	case surfaces.List:
		p.list(b)
	case surfaces.Table:
		p.table(b)
	case surfaces.Tree:
		p.tree(b)
	case surfaces.Input:
		p.input(b)
	case surfaces.Button:
		p.button(b)
	case surfaces.Progress:
		p.progress(b)
	case surfaces.Gauge:
		for i, value := range b.n.Values {
			p.gauge(b, i, value)
		}
	case surfaces.Sparkline:
		p.sparkline(b)
	case surfaces.Rule:
		if b.cols {
			for i := range b.at.H {
				p.c.repeat(b.at.X, b.at.Y+i, 1, p.signs.Down, p.theme.Border)
			}
		} else {
			p.c.repeat(b.at.X, b.at.Y, b.at.W, p.signs.Across, p.theme.Border)
		}
	}
}

// has tells whether a widget has the keys.
func (p *painter) has(b box) bool { return p.v.active && p.v.panel.Focus == b.n.Key }

// visible is the range of lines of a box from y on that are in the clip.
func (p *painter) visible(y, lines int) (from, to int) {
	return max(p.c.clip.Y-y, 0), min(p.c.clip.Y+p.c.clip.H-y, lines)
}

func (p *painter) spans(x, y, width int, line markdown.Line) {
	for _, s := range line.Spans {
		used := p.c.put(x, y, width, s.Text, p.theme.Style(s.Style))
		x, width = x+used, width-used
	}
}

func (p *painter) lines(b box) {
	lines := p.v.m.lines(b.n, b.at.W)
	from, to := p.visible(b.at.Y, len(lines))
	for i := from; i < to; i++ {
		x := b.at.X
		if b.n.Align != surfaces.Left {
			x += shift(b.n.Align, b.at.W-kit.Width(lines[i].Text()))
		}
		p.spans(x, b.at.Y+i, b.at.X+b.at.W-x, lines[i])
	}
}

// shift is how far a text with room to spare stands from the left.
func shift(a surfaces.Align, spare int) int {
	switch a {
	case surfaces.Center:
		return max(spare, 0) / 2
	case surfaces.Right:
		return max(spare, 0)
	}
	return 0
}

// clip shortens one line of foreign text. The ellipsis goes where it would hide more
// than it tells.
func (p *painter) clip(text string, width int) string {
	text = kit.CleanLine(text)
	if width <= 2*len(p.signs.Ellipsis) && p.signs.ASCII {
		head, _ := kit.Cut(text, max(width, 0))
		return head
	}
	return kit.Clip(text, width, p.signs.Ellipsis)
}

// clipped draws a text that ends in an ellipsis where it does not fit.
func (p *painter) clipped(x, y, width int, text string, style tcell.Style) {
	p.c.put(x, y, width, p.clip(text, width), style)
}

// mark draws the sign of the marked line: with a background while the widget has the
// keys, else as far as the plugin chose it.
func (p *painter) mark(b box, y int) {
	switch {
	case p.has(b):
		p.c.put(b.at.X, y, 1, p.signs.Prompt, p.theme.Style(surfaces.Accent|surfaces.Bold))
		p.c.over(b.at.X, y, b.at.W, p.theme.Mark)
	case b.n.Selected != nil || p.v.active:
		p.c.put(b.at.X, y, 1, p.signs.Prompt, p.theme.Style(surfaces.Dim))
	}
}

func (p *painter) list(b box) {
	off, w := p.v.offsets[b.n.Key], p.v.m.widgets[b.n.Key]
	from, to := p.visible(b.at.Y-off, len(b.n.Items))
	for i := max(from, off); i < to; i++ {
		it, y := b.n.Items[i], b.at.Y+i-off
		p.clipped(b.at.X+gutter, y, b.at.W-gutter, it.Text, p.theme.Style(it.Style))
		if i == w.Index {
			p.mark(b, y)
		}
	}
}

func (p *painter) table(b box) {
	off, w := p.v.offsets[b.n.Key], p.v.m.widgets[b.n.Key]
	widths := p.v.m.tableWidths(b.n, max(b.at.W-gutter, 0))
	line := func(y int, cells func(int) string, style tcell.Style) {
		x := b.at.X + gutter
		for i, width := range widths {
			width = min(width, b.at.X+b.at.W-x)
			text := p.clip(cells(i), width)
			p.c.put(x+shift(b.n.Columns[i].Align, width-kit.Width(text)), y, width, text, style)
			x += width + between
		}
	}
	line(b.at.Y, func(i int) string { return b.n.Columns[i].Title }, p.theme.Style(surfaces.Title|surfaces.Underline))
	from, to := p.visible(b.at.Y+1-off, len(b.n.Rows))
	for i := max(from, off); i < to; i++ {
		r, y := b.n.Rows[i], b.at.Y+1+i-off
		line(y, func(c int) string {
			if c < len(r.Cells) {
				return r.Cells[c]
			}
			return ""
		}, p.theme.Style(r.Style))
		if i == w.Index {
			p.mark(b, y)
		}
	}
}

func (p *painter) tree(b box) {
	off, w := p.v.offsets[b.n.Key], p.v.m.widgets[b.n.Key]
	list := p.v.m.branches(b.n)
	from, to := p.visible(b.at.Y-off, len(list))
	for i := max(from, off); i < to; i++ {
		br, y := list[i], b.at.Y+i-off
		x := b.at.X + gutter + 2*min(br.Depth, max(b.at.W-gutter-8, 0)/2)
		sign := " "
		switch {
		case br.Open:
			sign = p.signs.Open
		case len(br.Children) > 0:
			sign = p.signs.Fold
		}
		p.c.put(x, y, 1, sign, p.theme.Style(surfaces.Dim))
		p.clipped(x+2, y, b.at.X+b.at.W-x-2, br.Text, p.theme.Style(br.Style))
		if i == w.Index {
			p.mark(b, y)
		}
	}
}

func (p *painter) input(b box) {
	w, on := p.v.m.widgets[b.n.Key], p.has(b)
	prompt, field := p.theme.Style(surfaces.Dim), p.theme.Style(0)
	if on {
		prompt = p.theme.Style(surfaces.Accent | surfaces.Bold)
	}
	p.c.put(b.at.X, b.at.Y, 1, p.signs.Prompt, prompt)
	x, width := b.at.X+gutter, inputWidth(b)
	rows, off := []row{{0, len(w.Text)}}, p.v.offsets[b.n.Key]
	if b.n.Multiline {
		rows = p.v.m.inputRows(b.n, b.at.W)
	} else {
		rows[0].from, off = p.v.slide(b.n.Key, w, width), 0
	}
	if w.Text == "" {
		p.clipped(x, b.at.Y, width, b.n.Placeholder, p.theme.Style(surfaces.Dim))
	}
	from, to := p.visible(b.at.Y-off, len(rows))
	for i := max(from, off); i < to; i++ {
		p.c.put(x, b.at.Y+i-off, width, w.Text[rows[i].from:rows[i].to], field)
	}
	if !on {
		return
	}
	at := rowOf(rows, w.Caret)
	cx, cy := x+cells(w.Text[rows[at].from:max(min(w.Caret, rows[at].to), rows[at].from)]), b.at.Y+at-off
	if p.c.clip.Has(cx, cy) {
		p.v.caret.x, p.v.caret.y, p.v.caret.on = cx, cy, true
	}
}

// slide returns the first byte of a single-line input that is shown: the caret stays
// in sight.
func (v *View) slide(key string, w surfaces.Widget, width int) int {
	at := min(v.offsets[key+"\x00"], len(w.Text))
	if w.Caret < at {
		at = w.Caret
	}
	for at < w.Caret && cells(w.Text[at:w.Caret]) > width {
		// Jump over what cannot fit, then go on by characters.
		if far := w.Caret - 64*width; far > at {
			at = far
			for at < w.Caret && w.Text[at]&0xc0 == 0x80 {
				at++
			}
			continue
		}
		at += surfaces.Cluster(w.Text[at:])
	}
	v.offsets[key+"\x00"] = at
	return at
}

func (p *painter) button(b box) {
	left, style := " ", p.theme.Style(surfaces.Accent)
	if p.has(b) {
		left, style = p.signs.Prompt, kit.Over(p.theme.Style(surfaces.Accent|surfaces.Bold), p.theme.Mark)
	}
	label := p.clip(b.n.Label, max(b.at.W-4, 0))
	p.c.put(b.at.X, b.at.Y, b.at.W, "["+left+label+" ]", style)
}

// bar draws a share of a width, with at least a trace of what is not nothing.
func (p *painter) bar(x, y, width int, part float64, style tcell.Style) {
	on := int(math.Round(part * float64(width)))
	if on == 0 && part > 0 {
		on = min(1, width)
	}
	p.c.repeat(x, y, on, p.signs.On, style)
	p.c.repeat(x+on, y, width-on, p.signs.Off, p.theme.Style(surfaces.Dim))
}

func (p *painter) progress(b box) {
	x, width := b.at.X, b.at.W
	label := kit.CleanLine(b.n.Label)
	if b.n.Value == nil {
		p.v.busy = true
		p.c.put(x, b.at.Y, 1, p.signs.Spinner[p.v.phase%len(p.signs.Spinner)], p.theme.Style(surfaces.Accent))
		p.clipped(x+2, b.at.Y, width-2, label, p.theme.Style(0))
		return
	}
	part := bound(*b.n.Value)
	tail := " " + strconv.Itoa(int(part*100)) + "%"
	tail = strings.Repeat(" ", max(5-len(tail), 0)) + tail
	if room := width / 2; label != "" && room > 2 {
		label = p.clip(label, room-1)
		p.c.put(x, b.at.Y, room, label, p.theme.Style(0))
		used := kit.Width(label) + 1
		x, width = x+used, width-used
	}
	if width < 8 {
		tail = ""
	}
	p.bar(x, b.at.Y, width-len(tail), part, p.theme.Style(surfaces.Accent))
	p.c.put(x+width-len(tail), b.at.Y, len(tail), tail, p.theme.Style(0))
}

// bound keeps a share within 0 and 1.
func bound(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1)
}

// most is what the values of a gauge or sparkline are held against.
func most(n *surfaces.Node) float64 {
	top := n.Max
	if top <= 0 {
		for _, f := range n.Values {
			top = max(top, f)
		}
	}
	return top
}

func ratio(value, top float64) float64 {
	if top <= 0 || math.IsInf(top, 0) {
		return 0
	}
	return bound(value / top)
}

func (p *painter) gauge(b box, i int, value float64) {
	tail := " " + strconv.FormatFloat(value, 'g', 4, 64)
	if top := b.n.Max; top > 0 {
		tail += "/" + strconv.FormatFloat(top, 'g', 4, 64)
	}
	if b.at.W < len(tail)+4 {
		tail = ""
	}
	width := b.at.W - len(tail)
	p.bar(b.at.X, b.at.Y+i, width, ratio(value, most(b.n)), p.theme.Style(surfaces.Accent))
	p.c.put(b.at.X+width, b.at.Y+i, len(tail), tail, p.theme.Style(0))
}

// sparkline draws the newest values, as many as fit.
func (p *painter) sparkline(b box) {
	values, top, steps := b.n.Values, most(b.n), p.signs.Steps
	values = values[max(len(values)-b.at.W, 0):]
	for i, f := range values {
		step := int(math.Round(ratio(f, top) * float64(len(steps)-1)))
		p.c.put(b.at.X+i, b.at.Y, 1, steps[step], p.theme.Style(surfaces.Accent))
	}
}
