package limits

import (
	"fmt"
	"sort"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// sorter compares many values in one builtin call.
type sorter struct {
	r      *rules
	thread *starlark.Thread
	what   string
	prefix string // of an error that is not wrapped
	loop   work
	values []starlark.Value
	keys   []starlark.Value // values itself without a key function
	err    error
}

func newSorter(r *rules, thread *starlark.Thread, what string) *sorter {
	return &sorter{r: r, thread: thread, what: what, loop: work{r: r, thread: thread}}
}

// compare is starlark.Compare; it fails when the thread was cancelled.
func (s *sorter) compare(op syntax.Token, x, y starlark.Value) (bool, error) {
	if err := s.loop.add(x); err != nil {
		return false, err
	}
	switch x.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set, *starlarkstruct.Struct:
	default:
		return starlark.Compare(op, x, y)
	}
	c := newComparer(s.prefix)
	ok, err := c.compare(op, x, y, starlark.CompareLimit)
	s.loop.n += maxNodes - c.nodes + (maxCompared-c.bytes)>>8
	return ok, err
}

func (s *sorter) sorted(in starlark.Iterable, key starlark.Callable, reverse bool) (starlark.Value, error) {
	s.prefix = s.what + ": "
	v, w, err := s.r.bounded(s.thread, s.what, in, s.r.List, "list")
	if err != nil {
		return nil, err
	}
	iter := v.(starlark.Iterable).Iterate()
	defer iter.Done()
	var x starlark.Value
	for iter.Next(&x) {
		s.values = append(s.values, x)
	}
	if err := w.failed(); err != nil {
		return nil, err
	}
	s.keys = s.values
	if key != nil {
		s.keys = make([]starlark.Value, len(s.values))
		for i, x := range s.values {
			if s.keys[i], err = starlark.Call(s.thread, key, starlark.Tuple{x}, nil); err != nil {
				return nil, err // as it is, with its own traceback
			}
		}
	}
	by := &byKey{s}
	if reverse {
		sort.Stable(sort.Reverse(by))
	} else {
		sort.Stable(by)
	}
	return starlark.NewList(s.values), s.err
}

// byKey orders the values of a sorter.
type byKey struct{ *sorter }

func (b *byKey) Len() int { return len(b.values) }

func (b *byKey) Less(i, j int) bool {
	if b.err != nil {
		return false
	}
	less, err := b.compare(syntax.LT, b.keys[i], b.keys[j])
	b.err = err
	return less && err == nil
}

func (b *byKey) Swap(i, j int) {
	b.values[i], b.values[j] = b.values[j], b.values[i]
	if &b.keys[0] != &b.values[0] {
		b.keys[i], b.keys[j] = b.keys[j], b.keys[i]
	}
}

// extremum is min or max of the items of in.
func (s *sorter) extremum(in starlark.Iterable, key starlark.Callable) (starlark.Value, error) {
	op := syntax.LT
	if s.what == "max" {
		op = syntax.GT
	}
	if err := s.r.checkList(s.what, starlark.Len(in)); err != nil {
		return nil, err
	}
	iter := in.Iterate()
	defer iter.Done()
	var best, bestKey, x starlark.Value
	for iter.Next(&x) {
		k := x
		if key != nil {
			var err error
			if k, err = starlark.Call(s.thread, key, starlark.Tuple{x}, nil); err != nil {
				return nil, err // as it is, with its own traceback
			}
		}
		if best != nil {
			better, err := s.compare(op, k, bestKey)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.what, err)
			}
			if !better {
				continue
			}
		}
		best, bestKey = x, k
	}
	if best == nil {
		return nil, fmt.Errorf("%s: argument is an empty sequence", s.what)
	}
	return best, nil
}
