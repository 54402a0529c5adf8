package compose_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sort"
	"strings"

	"starling/bus"
)

// spec is a generated component, for the model and for the runtime alike.
type spec struct {
	name     string
	version  int
	needs    []string
	optional []string
	provides []string
	isolate  map[string]string
	children []*spec
	off      string
	broken   bool

	salt     uint32
	odds     int // of a failing apply, in hundredths
	panics   bool
	forgets  bool // fails by leaving a key unprovided, where it can
	badUndos int  // bits: which undos fail, every other one by a panic
	extra    int  // plain undos
	drains   bool
}

func (s *spec) content() string { return fmt.Sprintf("%s@%d", s.name, s.version) }

// fails decides by content alone: its own and that of its providers.
func (s *spec) fails(providers []string) bool {
	h := fnv.New32a()
	fmt.Fprint(h, s.salt, providers)
	return int(h.Sum32()%100) < s.odds
}

// The model: composition rules as a program that looks at everything in every
// step, extended by realms and children. It shares no code with the package.

type modelRealm struct{ shared, private string }

type modelMount struct {
	s      *spec
	path   string
	pos    bus.Position
	parent *modelMount
	realms map[string]modelRealm
	rev    int
	stuck  string
	inst   int   // number of its life; 0: not live
	view   []int // lives of its providers
	failed bool
	with   []string // the providers it failed with
	tries  int
}

type model struct {
	mounts   []*modelMount // in static order
	lives    int
	unstable bool // somebody ran out of tries
}

type modelKey struct {
	key   string
	realm modelRealm
}

func (m *model) insert(n *modelMount) {
	i := sort.Search(len(m.mounts), func(i int) bool { return n.pos < m.mounts[i].pos })
	m.mounts = slices.Insert(m.mounts, i, n)
}

func (m *model) find(name string) *modelMount {
	for _, n := range m.mounts {
		if n.path == name {
			return n
		}
	}
	return nil
}

func (n *modelMount) table() map[string]modelRealm {
	t := map[string]modelRealm{}
	if n.parent != nil {
		maps.Copy(t, n.parent.realms)
	}
	for key, name := range n.s.isolate {
		if name == "" {
			t[key] = modelRealm{private: n.path}
		} else {
			t[key] = modelRealm{shared: name}
		}
	}
	return t
}

func (m *model) mount(s *spec, parent *modelMount, pos bus.Position) {
	n := &modelMount{s: s, path: s.name, pos: pos, parent: parent}
	n.realms = n.table()
	m.insert(n)
}

func (m *model) remove(n *modelMount) {
	m.takeDown(n)
	m.mounts = slices.DeleteFunc(m.mounts, func(o *modelMount) bool { return o == n })
}

// takeDown ends a life; children go with their parent.
func (m *model) takeDown(n *modelMount) {
	n.inst, n.view = 0, nil
	for _, o := range slices.Clone(m.mounts) {
		if o.parent == n {
			m.remove(o)
		}
	}
}

func (m *model) replace(n *modelMount, s *spec) {
	if s.broken && !n.s.broken {
		return
	}
	m.takeDown(n)
	n.s, n.stuck, n.failed = s, "", false
	n.rev++
	n.realms = n.table()
}

func (m *model) move(n *modelMount, isolate map[string]string) {
	s := *n.s
	s.isolate = isolate
	n.s = &s
	for _, o := range m.mounts { // parents stand before their children
		o.realms = o.table()
	}
}

func (n *modelMount) enabled() bool { return n.s.off == "" && n.stuck == "" && !n.s.broken }

func (n *modelMount) key(key string) modelKey { return modelKey{key, n.realms[key]} }

func (n *modelMount) depth() int {
	if n.parent == nil {
		return 0
	}
	return 1 + n.parent.depth()
}

// byDepth is the order of claims: children come behind who nests less.
func (m *model) byDepth() []*modelMount {
	list := slices.Clone(m.mounts)
	sort.SliceStable(list, func(i, j int) bool { return list[i].depth() < list[j].depth() })
	return list
}

// owners is the ownership pass over everybody; trial counts as not failed.
func (m *model) owners(trial *modelMount) (own map[modelKey]*modelMount, eligible map[*modelMount]bool) {
	own, eligible = map[modelKey]*modelMount{}, map[*modelMount]bool{}
	for _, n := range m.byDepth() {
		if !n.enabled() || n.failed && n != trial {
			continue
		}
		free := true
		for _, k := range n.s.provides {
			free = free && own[n.key(k)] == nil
		}
		if free {
			eligible[n] = true
			for _, k := range n.s.provides {
				own[n.key(k)] = n
			}
		}
	}
	return own, eligible
}

func (n *modelMount) providers(own map[modelKey]*modelMount) (ids []string, idle bool) {
	for _, k := range n.s.needs {
		o := own[n.key(k)]
		if o == nil {
			ids, idle = append(ids, ""), true
			continue
		}
		ids = append(ids, fmt.Sprintf("%s#%d", o.path, o.rev))
		idle = idle || o.inst == 0
	}
	return ids, idle
}

func (m *model) mayRetry(n *modelMount) bool {
	before, _ := m.owners(nil)
	own, eligible := m.owners(n)
	displaces := false
	for k, o := range before {
		displaces = displaces || o != n && own[k] == n
	}
	now, idle := n.providers(own)
	if displaces {
		idle = !m.attainable(n, own)
	}
	return !slices.Equal(now, n.with) || !eligible[n] || idle
}

// attainable tells whether what n needs could be there, by who owns what: the
// least fixpoint.
func (m *model) attainable(n *modelMount, own map[modelKey]*modelMount) bool {
	can := map[*modelMount]bool{}
	all := func(o *modelMount) bool {
		for _, k := range o.s.needs {
			if p := own[o.key(k)]; p == nil || !can[p] {
				return false
			}
		}
		return true
	}
	for more := true; more; {
		more = false
		for _, o := range m.mounts {
			if !can[o] && all(o) {
				can[o], more = true, true
			}
		}
	}
	return all(n)
}

// settle runs to the end; it gives up, unstable, when a mount is out of tries.
func (m *model) settle() {
	for _, n := range m.mounts {
		n.tries = 0
	}
	m.unstable = false
	for !m.unstable && m.step() {
	}
}

func (m *model) step() bool {
	var again []*modelMount
	changed := false
	for _, n := range m.mounts {
		switch {
		case n.failed && !n.enabled():
			n.failed, changed = false, true
		case n.failed && m.mayRetry(n):
			if n.tries >= 4 {
				m.unstable = true
				return false
			}
			again = append(again, n)
		}
	}
	for _, n := range again {
		n.failed, changed = false, true
	}
	own, eligible := m.owners(nil)
	for _, n := range m.mounts {
		if n.inst == 0 {
			continue
		}
		ok := eligible[n]
		for i, k := range n.s.needs {
			o := own[n.key(k)]
			ok = ok && o != nil && o.inst != 0 && o.inst == n.view[i]
		}
		if !ok {
			m.takeDown(n)
			return true
		}
	}
	if changed {
		return true
	}
	for _, n := range m.mounts {
		if n.inst == 0 && eligible[n] && m.bringUp(n, own) {
			return true
		}
	}
	return false
}

func (m *model) bringUp(n *modelMount, own map[modelKey]*modelMount) bool {
	var contents []string
	var view []int
	for _, k := range n.s.needs {
		o := own[n.key(k)]
		if o == nil || o.inst == 0 {
			return false
		}
		contents = append(contents, o.s.content())
		view = append(view, o.inst)
	}
	if n.tries++; n.tries > 4 && len(n.s.children) > 0 {
		m.unstable = true
		return true
	}
	if n.s.fails(contents) {
		n.failed = true
		n.with, _ = n.providers(own)
		return true
	}
	m.lives++
	n.inst, n.view = m.lives, view
	for i, c := range n.s.children {
		m.mount(c, n, n.pos.Child(i))
	}
	return true
}

// shape is the end of a history, for comparing: states, and who provides what.
func (m *model) shape() string {
	var b strings.Builder
	for _, n := range m.mounts {
		state := "pending"
		switch {
		case n.s.off != "":
			state = "inactive"
		case n.stuck != "" || n.s.broken || n.failed:
			state = "failed"
		case n.inst != 0:
			state = "active"
		}
		fmt.Fprintf(&b, "%s %s\n", n.s.content(), state)
	}
	own, _ := m.owners(nil)
	var lines []string
	for k, o := range own {
		if o.inst != 0 {
			lines = append(lines, fmt.Sprintf("%s in %v by %s\n", k.key, k.realm, o.path))
		}
	}
	sort.Strings(lines)
	return b.String() + strings.Join(lines, "")
}
