package compose

import "starling/bus"

// place is a spot in the static order, which is total: by position, then by id.
// In the order of claims how deep a mount nests counts first.
type place struct {
	depth int
	pos   bus.Position
	id    ID
}

func (p place) before(o place) bool {
	if p.depth != o.depth {
		return p.depth < o.depth
	}
	if p.pos != o.pos {
		return p.pos < o.pos
	}
	return p.id < o.id
}

type queued[T any] struct {
	at place
	v  T
}

// queue is a heap in static order, or in the reverse of it. It keeps the place
// each value had when it was pushed, so a value that moves cannot break it.
type queue[T any] struct {
	list    []queued[T]
	reverse bool
}

func (q *queue[T]) empty() bool { return len(q.list) == 0 }

func (q *queue[T]) above(i, j int) bool {
	if q.reverse {
		return q.list[j].at.before(q.list[i].at)
	}
	return q.list[i].at.before(q.list[j].at)
}

func (q *queue[T]) push(at place, v T) {
	q.list = append(q.list, queued[T]{at, v})
	for i := len(q.list) - 1; i > 0; {
		up := (i - 1) / 2
		if !q.above(i, up) {
			return
		}
		q.list[i], q.list[up] = q.list[up], q.list[i]
		i = up
	}
}

func (q *queue[T]) pop() T {
	top, last := q.list[0], len(q.list)-1
	q.list[0] = q.list[last]
	q.list[last] = queued[T]{}
	q.list = q.list[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && q.above(child+1, child) {
			child++
		}
		if !q.above(child, i) {
			break
		}
		q.list[i], q.list[child] = q.list[child], q.list[i]
		i = child
	}
	if last == 0 {
		q.list = nil // a burst must not pin its memory
	}
	return top.v
}
