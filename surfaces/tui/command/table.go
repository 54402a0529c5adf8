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
	// leastLast is what the last column is left with before others go.
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
		one.text = view.CleanLine(one.text)
		r.cells = append(r.cells, one)
	}
	t.rows = append(t.rows, r)
}

func (t table) lines(width int, signs *kit.Signs) []Line {
	shown, widths := t.fit(width)
	var out []Line
	if t.titled() {
		head := row{}
		for _, c := range t.columns {
			head.cells = append(head.cells, cell{c.title, surfaces.Dim})
		}
		out = append(out, t.line(head, shown, widths, signs)...)
	}
	for _, r := range t.rows {
		out = append(out, t.line(r, shown, widths, signs)...)
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

// fit chooses the columns that have room, and their widths.
func (t table) fit(width int) (shown, widths []int) {
	last := len(t.columns) - 1
	natural := make([]int, len(t.columns))
	empty := make([]bool, len(t.columns))
	for i, c := range t.columns {
		empty[i] = true
		for _, r := range t.rows {
			natural[i] = max(natural[i], kit.Width(r.cells[i].text))
		}
		if natural[i] > 0 {
			empty[i] = false
			natural[i] = max(natural[i], kit.Width(c.title))
		}
		if c.most > 0 {
			natural[i] = min(natural[i], c.most)
		}
	}
	gone := make([]bool, len(t.columns))
	for i := range t.columns {
		gone[i] = empty[i] && i != last
	}
	need := func() int {
		n := min(natural[last], leastLast)
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
	left := width
	for i := range t.columns {
		if gone[i] {
			continue
		}
		w := natural[i]
		if i == last {
			w = left
		}
		w = max(min(w, left), 0)
		left -= w + between
		if w > 0 {
			shown, widths = append(shown, i), append(widths, w)
		}
	}
	return shown, widths
}

// line lays one row out: one line, or several where the last column wraps.
func (t table) line(r row, shown, widths []int, signs *kit.Signs) []Line {
	var spans []surfaces.Span
	var rest []string
	used := 0
	for n, i := range shown {
		c, w := r.cells[i], widths[n]
		text := c.text
		if i == len(t.columns)-1 && t.wrap {
			wrapped := kit.Wrap(text, w)
			text, rest = wrapped[0], wrapped[1:]
		} else {
			text = kit.Clip(text, w, signs.Ellipsis)
		}
		room := w - kit.Width(text)
		if t.columns[i].right {
			text = strings.Repeat(" ", max(room, 0)) + text
		} else if n < len(shown)-1 {
			text = pad(text, w)
		}
		if n > 0 {
			spans = append(spans, surfaces.Span{Text: strings.Repeat(" ", between)})
			used += between
		}
		spans = append(spans, surfaces.Span{Text: text, Style: c.style})
		if n < len(shown)-1 {
			used += w
		}
	}
	out := []Line{{Spans: spans, ID: r.id}}
	last := cell{}
	if len(r.cells) > 0 {
		last = r.cells[len(r.cells)-1]
	}
	for _, text := range rest {
		out = append(out, Line{ID: r.id, Spans: []surfaces.Span{{Text: strings.Repeat(" ", used)}, {Text: text, Style: last.style}}})
	}
	return out
}

func dim(text string) cell { return cell{text, surfaces.Dim} }
