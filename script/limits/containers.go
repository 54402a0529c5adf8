package limits

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
)

func (r *rules) listExtend(l *starlark.List, m *method) (starlark.Value, error) {
	it, ok := m.arg(0).(starlark.Iterable)
	if !ok || len(m.args) != 1 || len(m.kwargs) > 0 {
		return m.call()
	}
	if err := r.extendList(m.thread, "extend", l, it); err != nil {
		return nil, err
	}
	return starlark.None, nil
}

func (r *rules) listIndex(l *starlark.List, m *method) (starlark.Value, error) {
	y := m.arg(0)
	if y == nil || cheap(y) || len(m.args) > 1 || len(m.kwargs) > 0 {
		return m.searched(y, l)
	}
	i, err := newComparer("").find(l, y, 0, l.Len())
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if i < 0 {
		return nil, errors.New("index: value not in list")
	}
	return starlark.MakeInt(i), nil
}

// searched lets the interpreter search l, after the cost was found bearable.
func (m *method) searched(y starlark.Value, l *starlark.List) (starlark.Value, error) {
	if y != nil && !cheap(y) {
		if _, err := newComparer("").find(l, y, 0, l.Len()); err != nil {
			return nil, fmt.Errorf("%s: %w", m.native.Name(), err)
		}
	}
	return m.call()
}

func (r *rules) listRemove(l *starlark.List, m *method) (starlark.Value, error) {
	return m.searched(m.arg(0), l)
}

// dictItems checks pairs whose keys are tuples: they are tuples of tuples that no
// syntax built.
func (r *rules) dictItems(d *starlark.Dict, m *method) (starlark.Value, error) {
	if err := r.checkList("items", d.Len()); err != nil {
		return nil, err
	}
	v, err := m.call()
	if err != nil {
		return nil, err
	}
	return v, r.pairs(v.(*starlark.List), m.thread)
}

func (r *rules) pairs(l *starlark.List, thread *starlark.Thread) error {
	loop := work{r: r, thread: thread}
	for i := range l.Len() {
		t, _ := l.Index(i).(starlark.Tuple)
		if !leaves(t) {
			if _, err := r.tuple(t); err != nil {
				return err
			}
			if err := loop.add(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves tells whether at most one item of t could be a tuple or long text.
func leaves(t starlark.Tuple) bool {
	n := 0
	for _, x := range t {
		switch x := x.(type) {
		case starlark.String:
			if len(x) > 4096 {
				n++
			}
		case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, *starlark.List, *starlark.Dict:
		default:
			n++
		}
	}
	return n <= 1
}

func (r *rules) dictPopitem(_ *starlark.Dict, m *method) (starlark.Value, error) {
	return r.measured(m.call())
}

func (r *rules) dictUpdate(d *starlark.Dict, m *method) (starlark.Value, error) {
	if len(m.args) != 1 {
		return m.call()
	}
	return r.fill(m, "update", d, true)
}

func (r *rules) setUnion(s *starlark.Set, m *method) (starlark.Value, error) {
	return r.fill(m, m.native.Name(), s, false)
}

// setOther checks the methods whose result is no larger than the set and its
// argument.
func (r *rules) setOther(s *starlark.Set, m *method) (starlark.Value, error) {
	if m.native.Name() == "symmetric_difference" {
		return r.fill(m, m.native.Name(), s, false)
	}
	loop := work{r: r, thread: m.thread}
	for _, keys := range append(starlark.Tuple{s}, m.args...) {
		if it, ok := keys.(starlark.Iterable); ok {
			if err := checkKeys(&loop, m.native.Name(), it, starlark.Len(it)); err != nil {
				return nil, err
			}
		}
	}
	return r.looping(m, 0)
}

// fill calls a method that adds the items of its arguments to base.
func (r *rules) fill(m *method, what string, base starlark.Iterable, pairs bool) (starlark.Value, error) {
	if err := r.checkGrowth(m.thread, what, base, m.args, pairs); err != nil {
		return nil, err
	}
	return r.looping(m, 0)
}

// looping calls a method whose arguments are watched while it loops over them.
func (r *rules) looping(m *method, limit int) (starlark.Value, error) {
	args := make(starlark.Tuple, len(m.args))
	watches := make([]*watch, len(m.args))
	for i, x := range m.args {
		if _, ok := x.(starlark.IterableMapping); ok {
			args[i] = x // read as pairs, which a watch would hide
			continue
		}
		v, w, err := r.bounded(m.thread, m.native.Name(), x, limit, "list")
		if err != nil {
			return nil, err
		}
		args[i], watches[i] = v, w
	}
	out, err := m.native.CallInternal(m.thread, args, m.kwargs)
	for _, w := range watches {
		if e := w.failed(); e != nil {
			return nil, e
		}
	}
	return out, err
}

// checkGrowth refuses to add the items of others to base, a dict, a set or nil,
// where it would end over the limit or its keys would collide too often. Keys are
// only looked at one by one where the lengths leave it open.
func (r *rules) checkGrowth(thread *starlark.Thread, what string, base starlark.Iterable, others starlark.Tuple, pairs bool) error {
	size, loop := 0, work{r: r, thread: thread}
	if base != nil {
		size = starlark.Len(base)
		if err := checkKeys(&loop, what, base, size); err != nil {
			return err
		}
	}
	most, open := size, false
	for _, v := range others {
		it, ok := v.(starlark.Iterable)
		if !ok {
			return nil // the builtin refuses it
		}
		n := starlark.Len(v)
		if err := checkKeys(&loop, what, keys{it, pairs}, n); err != nil {
			return err
		}
		most += max(n, 0)
		open = open || n < 0
	}
	if r.Dict <= 0 || !open && most <= r.Dict {
		return nil
	}
	return r.countGrowth(thread, what, base, size, others, pairs)
}

func (r *rules) countGrowth(thread *starlark.Thread, what string, base starlark.Iterable, size int, others starlark.Tuple, pairs bool) error {
	fresh, loop := new(starlark.Set), work{r: r, thread: thread}
	for _, v := range others {
		it, ok := v.(starlark.Iterable)
		if !ok {
			return nil
		}
		for k := range starlark.Elements(keys{it, pairs}) {
			if holds(base, k) {
				continue
			}
			if err := fresh.Insert(k); err != nil {
				return nil // the builtin refuses it
			}
			if err := r.checkDict(what, size+fresh.Len()); err != nil {
				return err
			}
			if err := loop.add(k); err != nil {
				return err
			}
		}
	}
	return nil
}

func holds(base starlark.Iterable, k starlark.Value) bool {
	var found bool
	switch base := base.(type) {
	case *starlark.Dict:
		_, found, _ = base.Get(k)
	case *starlark.Set:
		found, _ = base.Has(k)
	}
	return found
}

// keys hands out the keys a dict or set would be filled with: of a mapping its
// keys, of pairs their first items, of others the items.
type keys struct {
	starlark.Iterable
	pairs bool
}

func (k keys) Iterate() starlark.Iterator {
	if _, ok := k.Iterable.(starlark.IterableMapping); ok || !k.pairs {
		return k.Iterable.Iterate()
	}
	return firstItems{k.Iterable.Iterate()}
}

type firstItems struct{ starlark.Iterator }

func (it firstItems) Next(p *starlark.Value) bool {
	if !it.Iterator.Next(p) {
		return false
	}
	if pair, ok := (*p).(starlark.Indexable); ok && pair.Len() == 2 {
		*p = pair.Index(0)
	}
	return true
}
