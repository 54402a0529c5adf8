package compose

// The ownership of keys is one pass in static order (children behind everybody
// who nests less): a mount whose claimed keys
// are all free owns all of them, even while it waits for something itself; any
// other owns none. A shift does that pass only for those a change can reach.

// begin starts a shift: note and free remember what stood before it.
func (g *graph) begin() {
	g.shift++
	g.notedMounts, g.notedBindings = g.notedMounts[:0], g.notedBindings[:0]
	g.weighed = g.weighed[:0]
}

// vacancy is a binding whose owner was taken out of the graph in a shift. Who
// comes next is looked up when the pass begins, since the next in line may have
// been taken out too.
type vacancy struct {
	b  *binding
	at place
}

type ownedBy struct {
	b     *binding
	owner *mount
}

func (g *graph) note(m *mount) {
	if m.noted != g.shift {
		m.noted, m.owned = g.shift, m.owns
		g.notedMounts = append(g.notedMounts, m)
	}
}

func (g *graph) own(b *binding, m *mount) {
	if b.noted != g.shift {
		b.noted = g.shift
		g.notedBindings = append(g.notedBindings, ownedBy{b, b.owner})
	}
	b.owner = m
}

// free takes a binding's owner away; the claimants behind it may have it.
func (g *graph) free(b *binding) {
	g.own(b, nil)
	b.freed = g.shift
}

// pass brings the ownership up to date, from the mounts given and the vacancies
// on to whoever is behind them in static order.
func (g *graph) pass(from ...*mount) {
	for _, m := range from {
		g.claiming.push(m.rank(), m)
	}
	for _, v := range g.vacant {
		g.passOn(v.b, v.at)
	}
	g.vacant = g.vacant[:0]
	for !g.claiming.empty() {
		m := g.claiming.pop()
		g.weighed = append(g.weighed, m)
		if len(m.offers) > 0 && !m.gone {
			g.weigh(m)
		}
	}
}

func (g *graph) weigh(m *mount) {
	g.work++
	can := m.claims()
	for _, b := range m.offers {
		// An owner behind m is left over from before and will be displaced.
		if b.owner != nil && b.owner.rank().before(m.rank()) {
			can = false
			break
		}
	}
	switch {
	case can && !m.owns:
		g.note(m)
		m.owns = true
		for _, b := range m.offers {
			if b.owner != nil {
				g.claiming.push(b.owner.rank(), b.owner)
			}
			g.own(b, m)
		}
	case !can && m.owns:
		g.note(m)
		m.owns = false
		for _, b := range m.offers {
			if b.owner == m {
				g.free(b)
			}
			g.passOn(b, m.rank())
		}
	case !can:
		for _, b := range m.offers {
			if b.freed == g.shift {
				g.passOn(b, m.rank())
			}
		}
	}
}

// passOn lets the next claimant behind a place have a look at a free binding.
func (g *graph) passOn(b *binding, at place) {
	if b.owner != nil {
		return
	}
	i := b.find(at)
	if i < len(b.claimants) && b.claimants[i].rank() == at {
		i++
	}
	if i < len(b.claimants) {
		g.claiming.push(b.claimants[i].rank(), b.claimants[i])
	}
}

// end makes the outcome of a shift count.
func (g *graph) end() {
	for _, n := range g.notedBindings {
		b, was := n.b, n.owner
		if b.owner == was {
			continue
		}
		if b.owner != nil && was != nil {
			b.owner.rival, was.rival = was, b.owner
		}
		g.touch(b)
		g.spoil(b)
	}
	for _, m := range g.notedMounts {
		if m.owns == m.owned {
			continue
		}
		g.touchOffers(m)
		g.mark(m)
		if m.owns {
			g.wake(m)
		} else if m.live() && len(m.offers) > 0 {
			g.stale = append(g.stale, m)
		}
	}
}

// rollback makes a shift undone.
func (g *graph) rollback() {
	for _, n := range g.notedBindings {
		n.b.owner = n.owner
	}
	for _, m := range g.notedMounts {
		m.owns = m.owned
	}
}

// reclaim is a whole shift for mounts whose right to claim may have changed.
func (g *graph) reclaim(ms ...*mount) {
	g.begin()
	g.pass(ms...)
	g.end()
	for _, m := range ms {
		g.touchOffers(m)
	}
}
