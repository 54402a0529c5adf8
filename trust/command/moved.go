package command

import "slices"

// move is a file that a part puts elsewhere. What discards something there later
// discards its bytes, which no finding names so far.
type move struct {
	part     int
	from, to []string // absolute; from is empty when nobody knows, and so is to
}

// moved notes what mv does with its operands.
func (c *command) moved(from, to []value) {
	m := move{part: c.part}
	for _, v := range to {
		at := c.r.places(c.st, v.text)
		if !v.known || at == nil {
			m.to = nil
			break
		}
		m.to = append(m.to, at...)
	}
	for _, v := range from {
		at := c.r.globFolder(v, c.st)
		if v.known {
			at = c.r.names(c.st, v.text)
		}
		if at == nil {
			m.from = nil
			break
		}
		m.from = append(m.from, at...)
	}
	if !c.r.guessing {
		c.r.moves = append(c.r.moves, m)
	}
}

// lossOfMoved reports what was moved to where a later part discards something.
func (r *reader) lossOfMoved() {
	for _, m := range r.moves {
		for _, f := range slices.Clone(r.out.Floor) {
			if f.Loss == nil || f.Part == m.part || f.Part < m.part && !r.tangled || !f.Loss.meets(m.to) {
				continue
			}
			loss := &Loss{Dir: f.Loss.Dir, Kinds: []Lost{File}, Names: m.from}
			if len(m.from) == 0 {
				loss.anywhere()
			}
			r.find(Finding{Part: f.Part, Why: "what this line moves there is lost: " + r.list(m.from), Paths: slices.Clone(m.from), Loss: loss})
			break
		}
	}
}

// meets tells whether a loss may be about one of these places.
func (l *Loss) meets(places []string) bool {
	if len(l.Names) == 0 || len(places) == 0 {
		return slices.ContainsFunc(l.Kinds, func(k Lost) bool { return k != Stash && k != Branch && k != InTheWay && k != IgnoredInTheWay })
	}
	return slices.ContainsFunc(l.Names, func(name string) bool {
		return slices.ContainsFunc(places, func(to string) bool { return below(name, to) || below(to, name) })
	})
}
