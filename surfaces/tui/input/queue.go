package input

import (
	"slices"
	"strings"
)

// Queue is the lines that wait for the end of the run, first one first.
type Queue struct {
	waiting []queued
	popped  func() // the first one was taken: the places of the others moved
}

type queued struct {
	entry Entry
	p     piece
}

// Len counts them.
func (q *Queue) Len() int { return len(q.waiting) }

// Push puts one at the end.
func (q *Queue) Push(e Entry) {
	q.waiting = append(q.waiting, queued{e, pieceOf(e)})
}

// pieceOf is an entry as it was written, with its folds.
func pieceOf(e Entry) piece {
	var p piece
	rest := e.Text
	for _, path := range e.Attached {
		before, after, _ := strings.Cut(rest, Mention(path))
		p = p.join(folded(before)).join(foldPiece(fileFold(path)))
		rest = after
	}
	return p.join(folded(rest))
}

func folded(text string) piece {
	if strings.Count(text, "\n") >= foldLines || len(text) > foldBytes {
		return pasted(text)
	}
	return plainPiece(text)
}

// Pop takes the first one; false when none waits.
func (q *Queue) Pop() (Entry, bool) {
	if len(q.waiting) == 0 {
		return Entry{}, false
	}
	first := q.take(0)
	if q.popped != nil {
		q.popped()
	}
	return first.entry, true
}

// DropQueued takes away the i-th line that waits; false where there is none.
func (e *Editor) DropQueued(i int) bool {
	if i < 0 || i >= e.queue.Len() {
		return false
	}
	e.queue.take(i)
	if e.marked > i || e.marked >= e.queue.Len() {
		e.marked-- // the mark stays on its line
	}
	return true
}

// Entries lists them.
func (q *Queue) Entries() []Entry {
	var out []Entry
	for _, w := range q.waiting {
		out = append(out, w.entry)
	}
	return out
}

func (q *Queue) take(i int) queued {
	w := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return w
}

// line is how one looks in a row.
func (q *Queue) line(i int) string {
	p := q.waiting[i].p
	var b strings.Builder
	n := 0
	for _, r := range p.text {
		switch r {
		case foldMark:
			b.WriteString(p.folds[n].String())
			n++
		case '\n', '\t':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// first is the first queued line of n that are shown: with the marked one, else with the
// newest.
func (e *Editor) first(n int) int {
	if e.marked >= 0 {
		return max(e.marked-n+1, 0)
	}
	return max(e.queue.Len()-n, 0)
}

// enterQueue gives the keys to the last queued line.
func (e *Editor) enterQueue() bool {
	if e.queue.Len() == 0 || e.marked >= 0 {
		return false
	}
	e.marked = e.queue.Len() - 1
	e.pop.close()
	return true
}

// queueKey handles the keys of the marked line: Up and Down move, Enter takes it back
// into the editor, Del drops it, Alt-Enter steers with it. Whatever else leaves it, and
// does what it does besides.
func (e *Editor) queueKey(c string) bool {
	if e.marked >= e.queue.Len() {
		e.marked = -1
		return false
	}
	switch c {
	case "up":
		if e.marked > 0 {
			e.marked--
			return true
		}
		e.marked = -1
		e.recall(-1)
	case "down":
		if e.marked++; e.marked >= e.queue.Len() {
			e.marked = -1
		}
	case "enter":
		e.unqueue()
	case "delete", "backspace", "ctrl+d":
		e.queue.take(e.marked)
		e.marked = min(e.marked, e.queue.Len()-1)
	case "alt+enter", "ctrl+alt+m":
		if e.o.Steer == nil {
			return true
		}
		w := e.queue.take(e.marked)
		e.marked = -1
		e.o.Steer(w.entry)
	default: // Esc is the program's too, which stops the run
		e.marked = -1
		return false
	}
	return true
}

// unqueue takes the marked line back for editing; what was being written stands
// behind it.
func (e *Editor) unqueue() {
	w := e.queue.take(e.marked)
	e.marked = -1
	p := w.p
	if e.b.p.text != "" {
		p = p.join(plainPiece("\n")).join(e.b.p)
	}
	e.b.change(0, len(e.b.p.text), p)
	e.b.to(len(w.p.text))
	e.changed()
}
