package transcript

// Follows tells whether the end is shown as it grows.
func (t *Transcript) Follows() bool { return t.follow }

// End shows the end and follows it.
func (t *Transcript) End() { t.follow, t.fresh = true, false }

// Home shows the beginning.
func (t *Transcript) Home() {
	if len(t.entries) > 0 {
		t.follow, t.top = false, place{}
	}
}

// Page scrolls by screens, up with a negative number; two rows stay.
func (t *Transcript) Page(n int) {
	_, _, _, height := t.GetInnerRect()
	t.Scroll(n * max(height-2, 1))
}

// Scroll moves what is seen by rows, up with a negative number. At the end it
// follows.
func (t *Transcript) Scroll(n int) {
	_, _, width, height := t.GetInnerRect()
	if width <= 0 || height <= 0 || len(t.entries) == 0 {
		return
	}
	t.look.Width = width
	if t.follow {
		if n >= 0 {
			return
		}
		t.top = t.tail(height)
		t.follow = false
	}
	if n < 0 {
		t.top = t.up(t.top, -n)
		if t.top == (place{}) && t.atEnd(height) {
			t.End() // it all fits
		}
		return
	}
	t.top = t.down(t.top, n)
	if t.atEnd(height) {
		t.End()
	}
}

// tail is the first row on a screen that shows the end.
func (t *Transcript) tail(height int) place {
	for i := len(t.entries) - 1; i >= 0; i-- {
		n := len(t.rows(i))
		if n >= height {
			return place{i, n - height}
		}
		height -= n
	}
	return place{}
}

// up goes n rows up.
func (t *Transcript) up(p place, n int) place {
	for {
		if n <= p.row {
			return place{p.entry, p.row - n}
		}
		n -= p.row
		if p.entry == 0 {
			return place{}
		}
		p.entry--
		p.row = len(t.rows(p.entry))
	}
}

// down goes n rows down, not beyond the last row.
func (t *Transcript) down(p place, n int) place {
	for {
		left := len(t.rows(p.entry)) - p.row
		if n < left {
			return place{p.entry, p.row + n}
		}
		if p.entry == len(t.entries)-1 {
			return place{p.entry, max(len(t.rows(p.entry))-1, 0)}
		}
		n -= left
		p = place{p.entry + 1, 0}
	}
}

// atEnd tells whether the rows from top on fit.
func (t *Transcript) atEnd(height int) bool {
	left := height + t.top.row
	for i := t.top.entry; i < len(t.entries); i++ {
		if left -= len(t.rows(i)); left < 0 {
			return false
		}
	}
	return true
}

// settle moves top to the row that holds the same text at a new width or look.
func (t *Transcript) settle() {
	if t.follow {
		return
	}
	t.top.entry = min(t.top.entry, len(t.entries)-1)
	e := t.entries[t.top.entry]
	if e.width == 0 || e.width == t.look.Width && e.gen == t.gen {
		t.top.row = max(min(t.top.row, len(t.rows(t.top.entry))-1), 0)
		return
	}
	if e.gen == -1 && e.width == t.look.Width {
		// Only its end grew.
		t.top.row = max(min(t.top.row, len(t.rows(t.top.entry))-1), 0)
		return
	}
	if t.anchor.entry != e || t.anchor.row != t.top.row {
		t.anchor = anchor{entry: e}
		row := min(t.top.row, len(e.laid))
		for _, r := range e.laid[:row] {
			t.anchor.seen += letters(r)
		}
		t.anchor.gap = row < len(e.laid) && letters(e.laid[row]) == 0
	}
	seen, gap := t.anchor.seen, t.anchor.gap
	rows := t.rows(t.top.entry)
	at := 0
	for at < len(rows)-1 {
		n := letters(rows[at])
		if n > seen || n == 0 && seen == 0 && gap {
			break
		}
		seen -= n
		at++
	}
	t.top.row = at
	t.anchor.row = at
}

// anchor is what is read: a place in the text, which stays while the width goes to and fro.
// The row it is in begins before it at most widths.
type anchor struct {
	entry *entry
	row   int  // where it was put; at another one somebody scrolled
	seen  int  // letters of its entry before it
	gap   bool // it is an empty row
}

// letters counts what a row holds of the text itself, which does not change with the
// width.
func letters(r Row) int {
	n := 0
	for i, s := range r.Spans {
		if i == 0 && len(r.Spans) > 1 {
			continue // the margin
		}
		for _, c := range s.Text {
			if c != ' ' && c != '\t' {
				n++
			}
		}
	}
	return n
}
