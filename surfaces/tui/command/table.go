package command

import (
	"strings"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// table is rows of cells in columns.
type table struct {
	columns []column
	rows    []row
	// wrap shows all of the last column, over several lines; else it is cut.
	wrap bool
}

// column of a table. The last one takes the room that is left.
type column struct {
	title string
	right bool
	// drop says which columns go first where there is no room: the highest; one of 0
	// stays.
	drop int
	// most cells it takes; 0 is as many as it needs.
	most int
}

type row struct {
	id    string
	cells []cell
}

type cell struct {
	text  string
	style surfaces.Style
}

const (
	// between are the cells between two columns.
	between = 2
	// leastLast is what the last column has before others go, or more on a wide screen.
	leastLast = 16
)

// row puts a row in; cells are texts, or cells with a style.
func (t *table) row(id string, cells ...any) {
	r := row{id: id}
	for _, c := range cells {
		one, styled := c.(cell)
		if !styled {
			text, _ := c.(string)
			one = cell{text: text}
		}
		one.text = view.RevealLine(one.text)
		r.cells = append(r.cells, one)
	}
	t.rows = append(t.rows, r)
}

func (t table) lines(width int, signs *kit.Signs) []Line {
	l := t.fit(width)
	var out []Line
	if t.titled() && !l.stacked {
		head := row{}
		for _, c := range t.columns {
			head.cells = append(head.cells, cell{c.title, surfaces.Dim})
		}
		out = append(out, t.line(head, l, signs)...)
	}
	for _, r := range t.rows {
		out = append(out, t.line(r, l, signs)...)
	}
	return out
}

func (t table) titled() bool {
	for _, c := range t.columns {
		if c.title != "" {
			return true
		}
	}
	return false
}

// layout is which columns are shown, and how wide each is.
type layout struct {
	shown, widths []int
	// stacked puts the last column below the others: there is no room beside them.
	stacked bool
	width   int
}

// fit chooses the columns that have room, and their widths.
func (t table) fit(width int) layout {
	last := len(t.columns) - 1
	natural := t.natural()
	gone := make([]bool, len(t.columns))
	for i := range last {
		gone[i] = natural[i] == 0
	}
	least := min(natural[last], max(leastLast, width/3))
	need := func() int {
		n := least
		for i := range last {
			if !gone[i] {
				n += natural[i] + between
			}
		}
		return n
	}
	for need() > width {
		worst := -1
		for i := range last {
			if c := t.columns[i]; !gone[i] && c.drop > 0 && (worst < 0 || c.drop > t.columns[worst].drop) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		gone[worst] = true
	}
	l := layout{width: width, stacked: t.wrap && need() > width}
	if l.stacked {
		gone[last] = true
	}
	// Where it still does not fit, the widest of the others give way.
	for !l.stacked && need() > width {
		widest := 0
		for i := range last {
			if !gone[i] && natural[i] > natural[widest] {
				widest = i
			}
		}
		if gone[widest] || natural[widest] <= 4 {
			break
		}
		natural[widest]--
	}
	left := width
	for i := range t.columns {
		if gone[i] {
			continue
		}
		w := natural[i]
		if i == last && !t.columns[i].right {
			w = left
		}
		// A wide character needs two, also one of the title above empty cells.
		enough := min(max(natural[i], kit.Width(t.columns[i].title)), 2)
		if w = max(min(w, left), 0); w >= enough && w > 0 {
			left -= w + between
			l.shown, l.widths = append(l.shown, i), append(l.widths, w)
		}
	}
	return l
}

// natural is how wide each column would be; 0 for one without a text.
func (t table) natural() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, r := range t.rows {
			widths[i] = max(widths[i], kit.Width(r.cells[i].text))
		}
		if widths[i] > 0 {
			widths[i] = max(widths[i], kit.Width(c.title))
		}
		if c.most > 0 {
			widths[i] = min(widths[i], c.most)
		}
	}
	return widths
}

// indent is how far a line stands in below another one, where there is room.
func indent(width int) int {
	if width < 2*between {
		return 0
	}
	return between
}

// line lays one row out: one line, or several where the last column wraps.
func (t table) line(r row, l layout, signs *kit.Signs) []Line {
	out := Line{ID: r.id}
	last := len(t.columns) - 1
	var rest []string
	used := 0
	for n, i := range l.shown {
		c, w := r.cells[i], l.widths[n]
		text := c.text
		if i == last && t.wrap {
			wrapped := kit.Wrap(text, w)
			text, rest = wrapped[0], wrapped[1:]
		} else {
			text = kit.Clip(text, w, signs.Ellipsis)
		}
		if t.columns[i].right {
			text = strings.Repeat(" ", max(w-kit.Width(text), 0)) + text
		} else if n < len(l.shown)-1 {
			text = pad(text, w)
		}
		if n > 0 {
			out.Spans = append(out.Spans, surfaces.Span{Text: strings.Repeat(" ", between)})
			used += between
		}
		out.Spans = append(out.Spans, surfaces.Span{Text: text, Style: c.style})
		if i != last {
			used += w
		}
	}
	if l.stacked {
		used = indent(l.width)
		rest = kit.Wrap(r.cells[last].text, l.width-used)
	}
	lines := []Line{out}
	for _, text := range rest {
		lines = append(lines, Line{ID: r.id, Spans: []surfaces.Span{{Text: strings.Repeat(" ", used)}, {Text: text, Style: r.cells[last].style}}})
	}
	return lines
}

func dim(text string) cell { return cell{text, surfaces.Dim} }
