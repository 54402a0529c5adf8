package bus

import (
	"sort"
	"sync"
	"sync/atomic"
)

// Owner says which mount something belongs to.
type Owner struct {
	UID  uint64 // of the mount; never reused
	Name string // of the component, as people know it
}

// Entry is one thing standing in a slot.
type Entry[T any] struct {
	Pos   Position
	Seq   uint64 // order of registration within one position
	Owner Owner
	Value T
}

func (e Entry[T]) before(o Entry[T]) bool {
	if e.Pos != o.Pos {
		return e.Pos < o.Pos
	}
	return e.Seq < o.Seq
}

// Store holds every slot of one program: the listeners of each topic and the
// entries of each registry. Readers load one immutable state; a batch replaces
// it in one step, so nobody sees half of what a component registered.
type Store struct {
	mu    sync.Mutex // held while publishing, never while reading
	cur   atomic.Pointer[state]
	seq   atomic.Uint64
	names map[string]any // slot name -> Slot[T]
	wake  chan struct{}  // closed by the next commit; nil while nobody waits
}

type state struct {
	lists []sized // of list[T], in static order
}

type sized interface{ size() int }

type list[T any] []Entry[T]

func (l list[T]) size() int { return len(l) }

// NewStore returns an empty store.
func NewStore() *Store {
	s := &Store{names: map[string]any{}}
	s.cur.Store(&state{})
	return s
}

// Slot is one ordered list in a store.
type Slot[T any] struct {
	store *Store
	index int
	name  string
}

// SlotOf returns the slot of that name, making it at the first call. It panics
// when the name is taken by a slot of another type: that is a fault of the
// program, not of a user.
func SlotOf[T any](s *Store, name string) Slot[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.names[name]; ok {
		slot, ok := have.(Slot[T])
		if !ok {
			panic("bus: slot " + name + " exists with another type")
		}
		return slot
	}
	old := s.cur.Load()
	slot := Slot[T]{store: s, index: len(old.lists), name: name}
	s.names[name] = slot
	lists := make([]sized, len(old.lists)+1)
	copy(lists, old.lists)
	lists[slot.index] = list[T](nil)
	s.cur.Store(&state{lists: lists})
	return slot
}

// Name of the slot.
func (s Slot[T]) Name() string { return s.name }

// Load returns the entries in static order. The slice is immutable.
func (s Slot[T]) Load() []Entry[T] {
	return s.in(s.store.cur.Load())
}

func (s Slot[T]) in(st *state) list[T] {
	l, _ := st.lists[s.index].(list[T])
	return l
}

// Op is one change of a store, made by Slot.Put and run by Commit.
type Op func(*state)

// Put prepares an entry: add makes it stand, remove takes exactly it away
// (nothing happens when it does not stand). Neither has an effect before
// Store.Commit.
func (s Slot[T]) Put(pos Position, owner Owner, value T) (add, remove Op) {
	e := Entry[T]{Pos: pos, Seq: s.store.seq.Add(1), Owner: owner, Value: value}
	find := func(l list[T]) int {
		return sort.Search(len(l), func(i int) bool { return !l[i].before(e) })
	}
	add = func(st *state) {
		l := s.in(st)
		i := find(l)
		if i == len(l) {
			// The common case of a start: shares the array with older states,
			// which see only their own length.
			st.lists[s.index] = append(l, e)
			return
		}
		next := make(list[T], 0, len(l)+1)
		st.lists[s.index] = append(append(append(next, l[:i]...), e), l[i:]...)
	}
	remove = func(st *state) {
		l := s.in(st)
		i := find(l)
		if i == len(l) || l[i].Seq != e.Seq {
			return
		}
		if i == len(l)-1 {
			// The common case of a shutdown. The capacity is cut, so that the next
			// add cannot write into what older states still see.
			st.lists[s.index] = l[:i:i]
			return
		}
		next := make(list[T], 0, len(l)-1)
		st.lists[s.index] = append(append(next, l[:i]...), l[i+1:]...)
	}
	return add, remove
}

// Commit publishes all changes in one step. The order of ops decides nothing
// but the outcome of an add and a remove of the same entry.
func (s *Store) Commit(ops ...Op) {
	if len(ops) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.cur.Load()
	next := &state{lists: make([]sized, len(old.lists))}
	copy(next.lists, old.lists)
	for _, op := range ops {
		op(next)
	}
	s.cur.Store(next)
	if s.wake != nil {
		close(s.wake)
		s.wake = nil
	}
}

// Changed returns a channel that the next commit closes. Take it before reading
// what is waited for: then no change is missed.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake == nil {
		s.wake = make(chan struct{})
	}
	return s.wake
}

// Size returns the number of entries in every slot together: what leak tests
// count.
func (s *Store) Size() int {
	n := 0
	for _, l := range s.cur.Load().lists {
		n += l.size()
	}
	return n
}
