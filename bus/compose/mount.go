package compose

import (
	"strings"
	"sync/atomic"

	"starling/bus"
)

// mount is one instantiation of a component; only the owner goroutine sees it.
type mount struct {
	id     ID
	c      Component
	rev    uint64 // grows with each replacement
	parent *mount // nil at the top
	depth  int    // mounts above it
	table  table
	needs  []need
	offers []*binding

	state   State
	owns    bool // all its offers
	missing int  // required keys nobody serves in its realms
	removed bool // it goes for good
	gone    bool // its record is freed
	load    *load
	loads   uint64 // how often it became active

	stuck   string // why it was failed from outside
	failure *failure
	trial   bool // counts as not failed while a retry is weighed
	bears   bool // it has mounted children
	tries   int  // applies since the outside change number epoch
	epoch   uint64
	rival   *mount // whom it last lost a key to or took one from
	cause   *mount // the provider it last left for

	next  *Component // the version waiting to take its place
	drain *drain

	row     *Row
	cycle   string // the reason when it waits for itself
	watches []*binding
	queued  bool // in graph.ready
	dirty   bool // in graph.dirty
	checked bool // in graph.recheck
	noted   uint64
	owned   bool // owns as of the shift noted
}

// need is one injected key.
type need struct {
	key string
	b   *binding
	at  int // its index among the users of b
	// live points to the binding for readers on other goroutines; nil for a
	// required key.
	live *atomic.Pointer[binding]
}

// needsOf reads an inject list. A key that is named twice is required as soon as
// one of its entries is.
func needsOf(inject []string) []need {
	needs := make([]need, 0, len(inject))
	seen := make(map[string]int, len(inject))
	for _, entry := range inject {
		name, optional := strings.CutSuffix(entry, "?")
		if i, ok := seen[name]; ok {
			if !optional {
				needs[i].live = nil
			}
			continue
		}
		seen[name] = len(needs)
		n := need{key: name}
		if optional {
			n.live = new(atomic.Pointer[binding])
		}
		needs = append(needs, n)
	}
	return needs
}

func (m *mount) place() place { return place{0, m.c.Position, m.id} }

// rank is its place among claimants. A child comes behind every mount that nests
// less, wherever its parent stands: it is there only while its parent is loaded,
// and if it could take a key from one that is there by configuration, the end
// would depend on who was there first.
func (m *mount) rank() place { return place{m.depth, m.c.Position, m.id} }

func (m *mount) owner() bus.Owner { return bus.Owner{UID: uint64(m.id), Name: m.c.Name} }

// claims tells whether it takes part in the ownership of keys.
func (m *mount) claims() bool {
	return !m.removed && m.c.Off == "" && m.c.Broken == nil && m.stuck == "" && (m.failure == nil || m.trial)
}

func (m *mount) loadable() bool {
	return m.load == nil && m.missing == 0 && m.claims() && (m.owns || len(m.offers) == 0)
}

// rest is the state of a mount that is not live.
func (m *mount) rest() State {
	switch {
	case m.c.Off != "":
		return Inactive
	case m.c.Broken != nil, m.stuck != "", m.failure != nil:
		return Failed
	}
	return Pending
}

// live tells whether it is loading or active and may stay.
func (m *mount) live() bool { return m.load != nil && !m.load.leaving }

// load is one life of a mount, from the start of apply to the last undo.
type load struct {
	m         *mount
	providers []*load // by index of the need; nil for optional ones
	holders   int     // loads that have it among their providers
	scope     *Scope
	values    map[string]any // what it provides; fixed before active is set

	// active is what makes its services visible to optional keys: one step for
	// all of them.
	active  atomic.Bool
	leaving bool
	entries []entry // its undo list, cut from the end while it unwinds
	began   bool    // its undos are running
	// standing: its staged entries are published, its children mounted
	standing bool
	waiting  *mount // the child that has to be gone before the next undo
	released bool   // its parent reached it in its own undo list
}

// entry is one effect of a load.
type entry struct {
	label  string
	undo   Undo
	add    bus.Op
	remove bus.Op
	child  *mount
}
