package compose

import "fmt"

// maxTries is how often a mount may be at odds with the others between two
// outside changes: how often it may fail, and how often it may load when its
// children undo it. Nothing else can go on for ever, so who is merely dragged
// along is not counted.
const maxTries = 4

// failure is why a mount failed by itself, and with which providers: it belongs
// to them, and ends when the mount would get others.
type failure struct {
	reason string
	with   []provider // by required need, in order
	// contradiction: it ran out of tries. It stays reported until a try is given,
	// since where the others ended depends on it.
	contradiction string
	// clean: it did not fail, it only was undone too often.
	clean bool
}

// provider is a mount and its version.
type provider struct {
	id  ID
	rev uint64
}

func (m *mount) providers(of func(*binding) *mount) []provider {
	var list []provider
	for i := range m.needs {
		if m.needs[i].live != nil {
			continue
		}
		if p := of(m.needs[i].b); p != nil {
			list = append(list, provider{p.id, p.rev})
		} else {
			list = append(list, provider{})
		}
	}
	return list
}

func owning(b *binding) *mount  { return b.owner }
func serving(b *binding) *mount { return b.serving }

// touch has every failed mount looked at again whose retry depends on b.
func (g *graph) touch(b *binding) {
	for m := range b.watchers {
		g.check(m)
	}
}

func (g *graph) touchOffers(m *mount) {
	for _, b := range m.offers {
		g.touch(b)
	}
}

func (g *graph) check(m *mount) {
	if !m.checked && m.failure != nil {
		m.checked = true
		g.recheck = append(g.recheck, m)
	}
}

// watch replaces the set of bindings a failed mount is looked at again for.
func (g *graph) watch(m *mount, bs ...*binding) {
	for _, b := range m.watches {
		delete(b.watchers, m)
	}
	m.watches = m.watches[:0]
	for _, b := range bs {
		if b.watchers == nil {
			b.watchers = map[*mount]struct{}{}
		}
		b.watchers[m] = struct{}{}
		m.watches = append(m.watches, b)
	}
}

// fail records a failure of m; the caller sees to its load and its keys.
func (g *graph) fail(m *mount, f *failure) {
	m.failure = f
	g.mark(m)
	g.check(m)
}

func (g *graph) forgive(m *mount) {
	if m.failure != nil {
		m.failure = nil
		g.watch(m)
		g.mark(m)
	}
}

// reconsider forgets every failure whose time is over, all in one step: each is
// weighed against what stood before any of them was forgotten.
func (g *graph) reconsider() {
	list := g.recheck
	g.recheck = nil
	var again []*mount
	for _, m := range list {
		m.checked = false
		if m.failure == nil || m.gone || !g.retry(m) {
			continue
		}
		if g.triesOf(m) < maxTries {
			again = append(again, m)
			continue
		}
		g.contradict(m)
	}
	if len(again) == 0 {
		return
	}
	for _, m := range again {
		g.forgive(m)
	}
	g.reclaim(again...)
	for _, m := range again {
		if m.load == nil {
			g.idle(m)
		}
	}
}

// retry tells whether m may be tried again: the providers it would get differ,
// or one of them is not active and owning its keys again takes none from
// another, or one of them could not be active if it did, or it does not own its
// keys any more (and waits for them). It leaves m watching all that the answer
// depends on.
func (g *graph) retry(m *mount) bool {
	f := m.failure
	if f.clean || f.contradiction != "" {
		return true // as soon as it has tries again
	}
	m.trial = true
	g.begin()
	if len(m.offers) > 0 {
		g.pass(m)
	}
	owns := m.owns || len(m.offers) == 0
	displaces := false
	for _, n := range g.notedBindings {
		if n.owner != nil && n.owner != m && n.b.owner == m {
			displaces, m.rival = true, n.owner
		}
	}
	now := m.providers(owning)
	if !owns {
		for _, b := range m.offers {
			if b.owner != nil && b.owner != m {
				m.rival = b.owner
			}
		}
	}
	idle := false
	for i := range m.needs {
		n := &m.needs[i]
		if n.live == nil && (n.b.owner == nil || n.b.serving != n.b.owner) {
			idle = true
		}
	}
	var deps []*binding
	for _, w := range g.weighed {
		deps = append(deps, w.offers...)
	}
	stays := !displaces || g.attainable(m, &deps)
	g.rollback()
	m.trial = false
	deps = append(deps, m.offers...)
	for i := range m.needs {
		if m.needs[i].live == nil {
			deps = append(deps, m.needs[i].b)
		}
	}
	g.watch(m, deps...)
	return !owns || !same(now, f.with) || idle && !displaces || !stays
}

// attainable tells whether all providers m would get could be active at all, by
// who owns what in the trial that runs and as if nobody else failed. A failure
// with a provider that cannot be there is a thing of the past: loaded from
// nothing, m would wait for it. The bindings the answer depends on are added to
// deps.
func (g *graph) attainable(m *mount, deps *[]*binding) bool {
	// What is upstream of m, and how many owners each of it still lacks.
	lacks := map[*mount]int{m: 0}
	users := map[*mount][]*mount{}
	var list, can []*mount
	for list = append(list, m); len(list) > 0; list = list[1:] {
		u := list[0]
		for i := range u.needs {
			n := &u.needs[i]
			if n.live != nil {
				continue
			}
			*deps = append(*deps, n.b)
			lacks[u]++
			p := n.b.owner
			if p == nil {
				continue // lacks it for good
			}
			users[p] = append(users[p], u)
			if _, seen := lacks[p]; !seen {
				lacks[p] = 0
				list = append(list, p)
			}
		}
		if lacks[u] == 0 {
			can = append(can, u)
		}
	}
	for ; len(can) > 0; can = can[1:] {
		if can[0] == m {
			return true
		}
		for _, u := range users[can[0]] {
			if lacks[u]--; lacks[u] == 0 {
				can = append(can, u)
			}
		}
	}
	return false
}

func same(a, b []provider) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// contradict names the two that keep undoing each other. The next outside change
// gives m its tries back.
func (g *graph) contradict(m *mount) {
	g.contradicted = append(g.contradicted, m)
	if m.failure.contradiction == "" {
		m.failure.contradiction = contradiction(m)
		g.mark(m)
	}
}

func contradiction(m *mount) string {
	other := m.rival
	if other == nil || other == m {
		other = m.cause
	}
	if other == nil || other == m {
		return "contradiction: " + m.c.Name + " excludes itself"
	}
	if other.place().before(m.place()) {
		m, other = other, m
	}
	return fmt.Sprintf("contradiction: %s and %s exclude each other", m.c.Name, other.c.Name)
}

func (g *graph) triesOf(m *mount) int {
	if m.epoch != g.epoch {
		m.epoch, m.tries = g.epoch, 0
	}
	return m.tries
}

// outside starts a new count of tries: something changed that was asked for.
func (g *graph) outside() {
	g.epoch++
	for _, m := range g.contradicted {
		g.check(m)
	}
	g.contradicted = nil
}
