package markdown

import "unicode"

// delim is a row of signs that may open or close emphasis. Those still open are linked
// from the last one down.
type delim struct {
	piece       int // in pieces
	sign        byte
	length      int // as written
	left        int // signs not used yet
	opens       bool
	closes      bool
	below, next int // on the stack, -1 for none
}

// run takes a row of "*", "_" or "~".
func (p *inlines) run() {
	sign, n := p.src[p.pos], 1
	for p.pos+n < len(p.src) && p.src[p.pos+n] == sign {
		n++
	}
	before, after := p.around(p.pos, p.pos+n)
	p.literal(n)
	if sign == '~' && n != 2 {
		return // about 3~4, home in ~/x
	}
	// A row belongs to the word it touches.
	left := !unicode.IsSpace(after) && (!isPunct(after) || unicode.IsSpace(before) || isPunct(before))
	right := !unicode.IsSpace(before) && (!isPunct(before) || unicode.IsSpace(after) || isPunct(after))
	d := delim{piece: len(p.pieces) - 1, sign: sign, length: n, left: n, opens: left, closes: right, below: p.top, next: -1}
	if sign == '_' { // not within a word
		d.opens = left && (!right || isPunct(before))
		d.closes = right && (!left || isPunct(after))
	}
	if !d.opens && !d.closes {
		return
	}
	if p.top >= 0 {
		p.delims[p.top].next = len(p.delims)
	}
	p.top = len(p.delims)
	p.delims = append(p.delims, d)
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// match pairs the delimiters above one of the stack and takes them all off.
func (p *inlines) match(bottom int) {
	// floors is below which no opener fits, by what the closer is: it is never looked
	// for twice.
	var floors [3][2][3]int
	for i := range floors {
		for j := range floors[i] {
			floors[i][j] = [3]int{bottom, bottom, bottom}
		}
	}
	at := p.first(bottom)
	for at >= 0 {
		c := &p.delims[at]
		if !c.closes {
			at = c.next
			continue
		}
		floor := &floors[signIndex(c.sign)][b2i(c.opens)][c.length%3]
		from := c.below
		for from > *floor && !p.fits(from, at) {
			from = p.delims[from].below
		}
		if from <= *floor {
			*floor = c.below
			next := c.next
			if !c.opens {
				p.unlink(at)
			}
			at = next
			continue
		}
		p.pair(from, at)
		p.delims[from].next, c.below = at, from // what is between opens nothing
		if p.delims[from].left == 0 {
			p.unlink(from)
		}
		if c.left == 0 {
			next := c.next
			p.unlink(at)
			at = next
		}
	}
	p.top = bottom
	if bottom >= 0 {
		p.delims[bottom].next = -1
	}
}

// first returns the lowest delimiter above one of the stack, -1 for none.
func (p *inlines) first(bottom int) int {
	at := p.top
	if at <= bottom {
		return -1
	}
	for p.delims[at].below > bottom {
		at = p.delims[at].below
	}
	return at
}

func (p *inlines) fits(opener, closer int) bool {
	o, c := p.delims[opener], p.delims[closer]
	if o.sign != c.sign || !o.opens {
		return false
	}
	// Rows that might do both do not pair to a multiple of three.
	return !o.closes && !c.opens || (o.length+c.length)%3 != 0 || o.length%3 == 0
}

// pair uses the inner signs of two rows up.
func (p *inlines) pair(opener, closer int) {
	o, c := &p.delims[opener], &p.delims[closer]
	kind, n := markEmphasis, 1
	if o.left > 1 && c.left > 1 {
		kind, n = markStrong, 2
	}
	if o.sign == '~' {
		kind = markStrike
	}
	o.left -= n
	c.left -= n
	begin, end := &p.pieces[o.piece], &p.pieces[c.piece]
	begin.text = begin.text[:o.left]
	begin.opens = append(begin.opens, mark{kind: kind})
	end.text = end.text[:c.left]
	end.closes++
}

func (p *inlines) unlink(at int) {
	d := p.delims[at]
	if d.below >= 0 {
		p.delims[d.below].next = d.next
	}
	if d.next >= 0 {
		p.delims[d.next].below = d.below
	} else {
		p.top = d.below
	}
}

func signIndex(sign byte) int {
	switch sign {
	case '*':
		return 0
	case '_':
		return 1
	}
	return 2
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
