package input

import (
	"sort"
	"strings"
)

// row is one line on screen: the bytes from up to to of the text.
type row struct{ from, to int }

// layout is a text broken into rows of a width.
type layout struct {
	p     piece
	width int
	rows  []row
}

// newLayout breaks p after spaces where it can, else between characters. Every row
// leaves a cell for the caret.
func newLayout(p piece, width int) *layout {
	l := &layout{p: p, width: max(width-1, 1)}
	start, mark := 0, 0
	for {
		end := strings.IndexByte(p.text[start:], '\n')
		if end < 0 {
			l.wrap(start, len(p.text), mark)
			return l
		}
		l.wrap(start, start+end, mark)
		mark += marks(p.text[start : start+end])
		start += end + 1
	}
}

// wrap breaks one line, whose first fold is the mark-th.
func (l *layout) wrap(from, to, mark int) {
	text := l.p.text
	start, used := from, 0
	space, spaceUsed := -1, 0 // after the last space, and the cells up to there
	for at := from; at < to; {
		n, cells := cluster(text[at:to])
		if text[at] == foldMark {
			cells = width(l.p.folds[mark].String())
			mark++
		}
		if at > start && used+cells > l.width {
			if space > start {
				l.rows = append(l.rows, row{start, space})
				start, used = space, used-spaceUsed
			} else {
				l.rows = append(l.rows, row{start, at})
				start, used = at, 0
			}
			space = -1
			// What moved down with its word may still be too long.
			if at > start && used+cells > l.width {
				l.rows = append(l.rows, row{start, at})
				start, used = at, 0
			}
		}
		at += n
		used += cells
		if text[at-n] == ' ' {
			space, spaceUsed = at, used
		}
	}
	l.rows = append(l.rows, row{start, to})
}

// rowOf returns the row that shows the caret.
func (l *layout) rowOf(caret int) int {
	i := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].from > caret })
	return max(i-1, 0)
}

// column returns the cells before the caret in its row.
func (l *layout) column(caret int) int {
	r := l.rows[l.rowOf(caret)]
	mark := marks(l.p.text[:r.from])
	cells := 0
	for at := r.from; at < caret && at < r.to; {
		n, w := cluster(l.p.text[at:r.to])
		if l.p.text[at] == foldMark {
			w = width(l.p.folds[mark].String())
			mark++
		}
		cells += w
		at += n
	}
	return min(cells, l.width)
}

// at returns the place of the character that covers a cell; the end of the row for
// what is right of it.
func (l *layout) at(rowIndex, column int) int {
	rowIndex = min(max(rowIndex, 0), len(l.rows)-1)
	r := l.rows[rowIndex]
	mark := marks(l.p.text[:r.from])
	cells, at := 0, r.from
	for at < r.to {
		n, w := cluster(l.p.text[at:r.to])
		if l.p.text[at] == foldMark {
			w = width(l.p.folds[mark].String())
			mark++
		}
		if cells+w > column {
			return at
		}
		cells += w
		if next := at + n; next == r.to && rowIndex+1 < len(l.rows) && l.rows[rowIndex+1].from == next {
			return at // the next place is the first of the next row
		}
		at += n
	}
	return at
}
