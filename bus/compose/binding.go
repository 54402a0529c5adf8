package compose

import (
	"slices"
	"sort"
	"sync/atomic"
)

// binding is a key in a realm: who claims it, who owns it, who serves it, who
// uses it.
type binding struct {
	key       *key
	realm     realm
	claimants []*mount // in static order
	owner     *mount   // of the key, by the ownership pass; may itself be waiting
	serving   *mount   // the owner, while it is active
	users     []use
	watchers  map[*mount]struct{} // failed mounts that must be looked at again when it changes

	noted uint64 // the shift that recorded its owner
	freed uint64 // the shift that took its owner away
	dirty bool   // the rows of its claimants may have changed

	// now answers optional keys from any goroutine.
	now atomic.Pointer[load]
}

// use is one entry of a mount's needs.
type use struct {
	m *mount
	i int
}

// key gathers the bindings of one key over all realms.
type key struct {
	name   string
	home   *binding // of the default realm; most keys have no other
	others map[realm]*binding

	dirty bool   // where it is served has changed
	hint  string // where it is served, as of the publication asked
	asked uint64
}

func (k *key) at(r realm) *binding {
	if r == (realm{}) {
		return k.home
	}
	return k.others[r]
}

// each visits the bindings in no particular order.
func (k *key) each(visit func(*binding)) {
	if k.home != nil {
		visit(k.home)
	}
	for _, b := range k.others {
		visit(b)
	}
}

// binding returns the binding of name in r, made at the first call.
func (g *graph) binding(name string, r realm) *binding {
	k := g.keys[name]
	if k == nil {
		k = &key{name: name}
		g.keys[name] = k
	}
	b := k.at(r)
	if b != nil {
		return b
	}
	b = &binding{key: k, realm: r}
	if r == (realm{}) {
		k.home = b
		return b
	}
	if k.others == nil {
		k.others = map[realm]*binding{}
	}
	k.others[r] = b
	return b
}

// sweep frees the bindings that lost their last claimant and user.
func (g *graph) sweep() {
	for _, b := range g.emptied {
		k := b.key
		if len(b.users) > 0 || len(b.claimants) > 0 || k.at(b.realm) != b {
			continue
		}
		g.touch(b)
		if b == k.home {
			k.home = nil
		} else {
			delete(k.others, b.realm)
		}
		if k.home == nil && len(k.others) == 0 {
			delete(g.keys, k.name)
		}
	}
	g.emptied = g.emptied[:0]
}

// find is the index of at among the claimants, or where it would stand.
func (b *binding) find(at place) int {
	return sort.Search(len(b.claimants), func(i int) bool { return !b.claimants[i].rank().before(at) })
}

func (g *graph) attachNeed(m *mount, i int) {
	n := &m.needs[i]
	b := g.binding(n.key, m.table[n.key])
	n.at, n.b = len(b.users), b
	b.users = append(b.users, use{m, i})
	if n.live != nil {
		n.live.Store(b)
	} else if b.serving == nil {
		m.missing++
	}
}

func (g *graph) detachNeed(m *mount, i int) {
	n := &m.needs[i]
	b, last := n.b, len(n.b.users)-1
	moved := b.users[last]
	b.users[n.at] = moved
	moved.m.needs[moved.i].at = n.at
	b.users[last] = use{}
	b.users = b.users[:last]
	if n.live == nil && b.serving == nil {
		m.missing--
	}
	n.b = nil
	g.left(b)
}

func (g *graph) attachOffer(m *mount, name string) *binding {
	b := g.binding(name, m.table[name])
	i := b.find(m.rank())
	b.claimants = append(b.claimants, nil)
	copy(b.claimants[i+1:], b.claimants[i:])
	b.claimants[i] = m
	g.touch(b)
	g.spoil(b)
	return b
}

func (g *graph) detachOffer(m *mount, b *binding) {
	i := b.find(m.rank())
	b.claimants = append(b.claimants[:i], b.claimants[i+1:]...)
	if b.owner == m {
		g.free(b)
		g.vacant = append(g.vacant, vacancy{b, m.rank()})
	}
	g.touch(b)
	g.spoil(b)
	g.left(b)
}

func (g *graph) left(b *binding) {
	if len(b.users) == 0 && len(b.claimants) == 0 {
		g.emptied = append(g.emptied, b)
	}
}

// wire enters a mount's keys into the graph by its needs, provides and realms.
func (g *graph) wire(m *mount) {
	for i := range m.needs {
		g.attachNeed(m, i)
	}
	for i, name := range m.c.Provides {
		if !slices.Contains(m.c.Provides[:i], name) {
			m.offers = append(m.offers, g.attachOffer(m, name))
		}
	}
}

// unwire takes a mount's keys out of the graph. It belongs inside a shift.
func (g *graph) unwire(m *mount) {
	g.note(m)
	m.owns = false
	for i := range m.needs {
		g.detachNeed(m, i)
	}
	for _, b := range m.offers {
		g.detachOffer(m, b)
	}
	m.offers = nil
}

// serve makes m (nil: nobody) the mount that serves a binding, and notes who has
// to be looked at for it: live users whose view is not current any more, waiting
// users that miss nothing now.
func (g *graph) serve(b *binding, m *mount) {
	old := b.serving
	if old == m {
		return
	}
	b.serving = m
	var l *load
	if m != nil {
		l = m.load
	}
	b.now.Store(l)
	g.touch(b)
	if b.key.others != nil && !b.key.dirty {
		b.key.dirty = true
		g.dirtyKeys = append(g.dirtyKeys, b.key)
	}
	for _, u := range b.users {
		if u.m.needs[u.i].live != nil {
			continue
		}
		if old == nil {
			u.m.missing--
		} else if m == nil {
			u.m.missing++
		}
		g.work++
		g.mark(u.m)
		if u.m.load == nil {
			g.wake(u.m)
		} else if u.m.load.providers[u.i] != l {
			g.outdate(u.m, old)
		}
	}
}
