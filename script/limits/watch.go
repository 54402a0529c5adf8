package limits

import (
	"go.starlark.net/starlark"
)

// directItems is the length up to which a builtin may loop over a value itself.
const directItems = 1024

// watch is an iterable whose iteration ends at a limit or when the thread is
// cancelled; err then says why. Builtins that loop are given one instead of a long
// iterable, and so can be interrupted without writing them anew.
type watch struct {
	starlark.Iterable
	r      *rules
	thread *starlark.Thread
	what   string
	limit  int
	capped bool
	n      int // items handed out
	work   int // since the last tick; long strings weigh more
	full   bool
	err    error
}

func (r *rules) watch(thread *starlark.Thread, what string, it starlark.Iterable, limit int, capped bool) *watch {
	return &watch{Iterable: it, r: r, thread: thread, what: what, limit: limit, capped: capped}
}

// Iterate starts counting.
func (w *watch) Iterate() starlark.Iterator {
	return &watchIterator{Iterator: w.Iterable.Iterate(), w: w}
}

type watchIterator struct {
	starlark.Iterator
	w *watch
}

func (it *watchIterator) Next(p *starlark.Value) bool {
	w := it.w
	if w.err != nil || !it.Iterator.Next(p) {
		return false
	}
	w.n++
	if w.capped && w.n > w.limit {
		w.full = true
		w.err = over(w.what, w.n, w.limit, "items", "list")
		return false
	}
	w.work++
	if s, ok := (*p).(starlark.String); ok {
		w.work += len(s) >> 8
	}
	if w.work >= 1024 {
		w.work = 0
		w.err = w.r.tick(w.thread)
	}
	return w.err == nil
}

// bounded prepares v for a builtin that loops over it: a value known to be short
// stays, one known to be over the limit is refused, all others are watched. What
// is not iterable is left for the builtin to refuse. limit 0 is no limit.
func (r *rules) bounded(thread *starlark.Thread, what string, v starlark.Value, limit int, name string) (starlark.Value, *watch, error) {
	it, ok := v.(starlark.Iterable)
	if !ok {
		return v, nil, nil
	}
	n := starlark.Len(v)
	if n >= 0 && limit > 0 && n > limit {
		return nil, nil, over(what, n, limit, "items", name)
	}
	if n >= 0 && n <= directItems {
		return v, nil, nil
	}
	w := r.watch(thread, what, it, limit, limit > 0)
	return w, w, nil
}

// failed is the reason why a watched iteration ended early.
func (w *watch) failed() error {
	if w == nil {
		return nil
	}
	return w.err
}

// work counts the steps of a loop in a builtin and looks at the cancellation now
// and then.
type work struct {
	r      *rules
	thread *starlark.Thread
	n      int
}

func (w *work) add(v starlark.Value) error {
	w.n++
	if s, ok := v.(starlark.String); ok {
		w.n += len(s) >> 8
	}
	if w.n < 1024 {
		return nil
	}
	w.n = 0
	if w.r == nil {
		return nil
	}
	return w.r.tick(w.thread)
}
