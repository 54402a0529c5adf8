package input

import (
	"slices"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// parts are what the body of a question is put together of, laid out for a width.
type parts struct {
	head, what []line
	before     []line // of why it is asked: what stands before the first reason
	reason     []line // the first one
	after      []line
	from, to   int // the rows of the marked option, with all others in head
}

// shortDetail is how many lines of what is asked about stand before the reasons.
const shortDetail = 12

// compose lays the parts out for a width.
func (d *question) compose(width int) {
	if d.width == width {
		return
	}
	d.width, d.parts = width, parts{}
	g, p := d.host.Signs(), &d.parts
	if d.stage == scoping {
		p.head = wrapped("From now on this runs without a question:", width, 0)
		for _, rule := range d.q.Always {
			p.head = append(p.head, chopped(rule, width, surfaces.Code, g)...)
		}
		p.head = append(p.head, wrapped("/policy shows it and takes it back.", width, surfaces.Dim)...)
		return
	}
	t := Tell(d.q, g.Dot)
	say := func(text string, style surfaces.Style) []line {
		if text == "" {
			return nil
		}
		return wrapped(text, width, style)
	}
	p.head = say(t.Head, surfaces.Bold)
	p.before = append(say(t.Floor, surfaces.Warn), say(t.Risk, surfaces.Dim)...)
	for i, reason := range t.Reasons {
		if i == 0 {
			p.reason = say(reason, surfaces.Dim)
			continue
		}
		p.after = append(p.after, say(reason, surfaces.Dim)...)
	}
	p.after = append(p.after, say(t.Cut, surfaces.Warn)...)
	if d.q.Kind != "question" {
		p.what = detail(t.What, width, g)
		return
	}
	whole := slices.Concat(p.head, wrapped(t.What, width, 0), p.before, p.reason, p.after)
	from, to := 0, 0
	if d.stage == choosing {
		for i := range d.q.Options {
			option := d.optionLines(i, width)
			if i == d.mark {
				from, to = len(whole), len(whole)+len(option)
			}
			whole = append(whole, option...)
		}
	}
	*p = parts{head: whole, from: from, to: to}
}

func (p *parts) len() int {
	return len(p.head) + len(p.what) + len(p.before) + len(p.reason) + len(p.after)
}

// lines puts the parts in order. What would run comes first, unless that pushed the
// reasons out of sight; in any case so many rows show how it begins and the first reason.
func (p *parts) lines(rows, width int, g *kit.Signs) []line {
	why := slices.Concat(p.before, p.reason, p.after)
	switch {
	case len(p.what)+len(p.reason) == 0:
		return slices.Concat(p.head, why)
	case len(p.what) <= shortDetail && len(p.head)+len(p.what)+len(p.before)+len(p.reason) <= rows:
		return slices.Concat(p.head, p.what, why)
	case len(p.head)+len(why)+min(len(p.what), 1) <= rows:
		return slices.Concat(p.head, why, p.what)
	}
	// What is cut here stands below as a whole.
	first, rest, room := p.head, p.what, max(rows/2, rows-len(p.reason), 1)
	if len(first) == 0 {
		first, rest, room = p.what, nil, 1
	}
	begins, whole := opening(first, room, width, g)
	return slices.Concat(begins, p.reason, p.before, p.after, whole, rest)
}

// opening is the first rows of a text that was wrapped, and all of it where they are not
// all of it.
func opening(text []line, rows, width int, g *kit.Signs) (first, whole []line) {
	if len(text) <= rows {
		return text, nil
	}
	last := slices.Clone(text[rows-1])
	if end := &last[len(last)-1]; len(last) == 1 { // it ends between words: the next one may begin
		end.Text = kit.Clip(end.Text+" "+text[rows][0].Text, width, g.Ellipsis)
	} else {
		end.Text = kit.Clip(end.Text, width-kit.Width(last[0].Text)-kit.Width(g.Ellipsis), "") + g.Ellipsis
	}
	return append(slices.Clone(text[:rows-1]), last), text
}
