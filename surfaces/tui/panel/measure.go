package panel

import (
	"maps"
	"math"
	"strconv"
	"strings"

	"starling/surfaces"
	"starling/surfaces/markdown"
	"starling/surfaces/tui/kit"
)

const (
	gutter    = 2 // columns before items and inputs: the mark and a space
	leastRows = 3 // rows a list, table, tree or input keeps where rooms are short
	tallInput = 10
	between   = 2 // columns between the columns of a table
)

// measure knows how large the widgets of one tree are. It keeps what is dear: broken
// lines and the sizes of containers. It is used by one goroutine at a time.
type measure struct {
	tree    *surfaces.Node
	widgets map[string]surfaces.Widget
	ascii   bool
	lined   map[sized][]markdown.Line
	natural map[sized]int
	least   map[sized]int
	wide    map[*surfaces.Node]int
	columns map[sized][]int

	branched map[*surfaces.Node][]surfaces.Branch
	typed    map[sized]typed
}

type sized struct {
	n     *surfaces.Node
	width int
}

func newMeasure(tree *surfaces.Node, widgets map[string]surfaces.Widget, ascii bool) *measure {
	return &measure{
		tree: tree, widgets: widgets, ascii: ascii, lined: map[sized][]markdown.Line{},
		natural: map[sized]int{}, least: map[sized]int{}, wide: map[*surfaces.Node]int{}, columns: map[sized][]int{},
		branched: map[*surfaces.Node][]surfaces.Branch{}, typed: map[sized]typed{},
	}
}

// setWidgets takes what a person did: only an opened branch or a typed text makes
// something higher or lower.
func (m *measure) setWidgets(w map[string]surfaces.Widget) {
	for key, now := range w {
		if was := m.widgets[key]; was.Text != now.Text || !maps.Equal(was.Expanded, now.Expanded) {
			clear(m.natural)
			clear(m.least)
			clear(m.branched)
			break
		}
	}
	m.widgets = w
}

// branches are the visible ones of a tree.
func (m *measure) branches(n *surfaces.Node) []surfaces.Branch {
	list, ok := m.branched[n]
	if !ok {
		list = surfaces.Branches(n, m.widgets[n.Key])
		m.branched[n] = list
	}
	return list
}

// typed are the rows of a multi-line input.
type typed struct {
	text string
	rows []row
}

// inputRows are the rows of a multi-line input within a width, the gutter and the cell
// for the caret not counted.
func (m *measure) inputRows(n *surfaces.Node, width int) []row {
	key, text := sized{n, width}, m.widgets[n.Key].Text
	t, ok := m.typed[key]
	if !ok || t.text != text {
		t = typed{text, inputRows(text, max(width-gutter-1, 1))}
		m.typed[key] = t
	}
	return t.rows
}

// dear tells whether a tree may take so long to measure that the event loop must not
// do it: markup and diffs count more than plain text.
func dear(tree *surfaces.Node) bool {
	const enough = 48 << 10
	total := 0
	tree.All(func(n *surfaces.Node) bool {
		total += 16 + len(n.Text)
		switch n.Type {
		case surfaces.Markdown:
			total += 7 * len(n.Text)
		case surfaces.Diff:
			total += 8 * (len(n.Before) + len(n.After) + len(n.Patch))
		}
		for _, s := range n.Spans {
			total += len(s.Text)
		}
		for _, r := range n.Rows {
			for _, c := range r.Cells {
				total += len(c)
			}
		}
		for _, it := range n.Items {
			total += len(it.Text)
		}
		return total < enough
	})
	return total >= enough
}

// lines of a text, markdown or diff at a width.
func (m *measure) lines(n *surfaces.Node, width int) []markdown.Line {
	width = max(width, 1)
	key := sized{n, width}
	if l, ok := m.lined[key]; ok {
		return l
	}
	var l []markdown.Line
	switch n.Type {
	case surfaces.Text:
		spans := n.Spans
		if spans == nil {
			spans = []surfaces.Span{{Text: n.Text}}
		}
		if n.Style != 0 {
			styled := make([]surfaces.Span, len(spans))
			for i, s := range spans {
				styled[i] = surfaces.Span{Text: s.Text, Style: n.Style.With(s.Style)}
			}
			spans = styled
		}
		if n.NoWrap {
			l = wrapSpans(spans, math.MaxInt32)
		} else {
			l = wrapSpans(spans, width)
		}
	case surfaces.Markdown:
		l = markdown.Render(n.Text, markdown.Options{Width: width, Measure: kit.Width, ASCII: m.ascii})
	case surfaces.Diff:
		l = diffLines(n, width)
	}
	m.lined[key] = l
	return l
}

// rows is how many rows a widget takes at a width where there is enough room.
func (m *measure) rows(n *surfaces.Node, width int) int {
	key := sized{n, width}
	if r, ok := m.natural[key]; ok {
		return r
	}
	r := 1
	switch n.Type {
	case surfaces.Rows:
		r = gaps(n)
		for _, c := range n.Children {
			r += m.rowsWithin(c, width)
		}
	case surfaces.Cols:
		for i, w := range m.widths(n, width) {
			r = max(r, m.rows(n.Children[i], w))
		}
	case surfaces.Text, surfaces.Markdown, surfaces.Diff:
		r = max(len(m.lines(n, width)), 1)
	case surfaces.List:
		r = max(len(n.Items), 1)
	case surfaces.Table:
		r = 1 + len(n.Rows)
	case surfaces.Tree:
		r = max(len(m.branches(n)), 1)
	case surfaces.Input:
		if n.Multiline {
			r = min(max(len(m.inputRows(n, width)), leastRows), tallInput)
		}
	case surfaces.Gauge:
		r = max(len(n.Values), 1)
	}
	m.natural[key] = r
	return r
}

// rowsWithin is rows, unless the plugin fixed the size.
func (m *measure) rowsWithin(n *surfaces.Node, width int) int {
	if n.Size > 0 {
		return n.Size
	}
	return m.rows(n, width)
}

func gaps(n *surfaces.Node) int { return n.Gap * max(len(n.Children)-1, 0) }

// leastRows is how few rows a widget may get: lists, tables and trees scroll.
func (m *measure) leastRows(n *surfaces.Node, width int) int {
	key := sized{n, width}
	if r, ok := m.least[key]; ok {
		return r
	}
	r := m.rows(n, width)
	switch n.Type {
	case surfaces.List, surfaces.Table, surfaces.Tree:
		r = min(r, leastRows)
	case surfaces.Rows:
		r = gaps(n)
		for _, c := range n.Children {
			r += m.leastWithin(c, width)
		}
	case surfaces.Cols:
		r = 1
		for i, w := range m.widths(n, width) {
			r = max(r, m.leastRows(n.Children[i], w))
		}
	}
	m.least[key] = r
	return r
}

func (m *measure) leastWithin(n *surfaces.Node, width int) int {
	if n.Size > 0 {
		return n.Size
	}
	return m.leastRows(n, width)
}

// heights shares the rows of a column of widgets: each gets its least; what is left
// brings those that do not grow to what they would take, the rest goes to those that
// grow. Where there is not even the least, what is taller than the room is as tall as
// it, and the panel scrolls.
func (m *measure) heights(n *surfaces.Node, width, height int) []int {
	out := make([]int, len(n.Children))
	left, wishes := height-gaps(n), make([]int, len(n.Children))
	grow := 0
	for i, c := range n.Children {
		out[i] = m.leastWithin(c, width)
		left -= out[i]
		if c.Size == 0 {
			grow += c.Grow
			if c.Grow == 0 {
				wishes[i] = m.rows(c, width) - out[i]
			}
		}
	}
	if left < 0 {
		for i := range out {
			out[i] += min(wishes[i], max(height-out[i], 0))
		}
		return out
	}
	wished := 0
	for _, w := range wishes {
		wished += w
	}
	if wished > left {
		for i, more := range share(left, wishes) {
			out[i] += more
		}
		return out
	}
	for i := range out {
		out[i] += wishes[i]
	}
	for i, more := range portions(left-wished, grow, n.Children) {
		out[i] += more
	}
	return out
}

// portions divides cells among the children that grow.
func portions(left, grow int, children []*surfaces.Node) []int {
	out := make([]int, len(children))
	for i, c := range children {
		if c.Size == 0 && c.Grow > 0 && left > 0 {
			out[i] = int(int64(left) * int64(c.Grow) / int64(grow))
			left -= out[i]
			grow -= c.Grow
		}
	}
	return out
}

// widths shares the columns of a row of widgets as heights does; what does not fit is
// cut.
func (m *measure) widths(n *surfaces.Node, width int) []int {
	key := sized{n, width}
	if w, ok := m.columns[key]; ok {
		return w
	}
	out, wishes := make([]int, len(n.Children)), make([]int, len(n.Children))
	left, grow, wished := width-gaps(n), 0, 0
	for i, c := range n.Children {
		switch {
		case c.Size > 0:
			out[i] = max(min(c.Size, left), 0)
			left -= out[i]
		case c.Grow > 0:
			grow += c.Grow
		default:
			wishes[i] = m.width(c)
			wished += wishes[i]
		}
	}
	left = max(left, 0)
	if wished > left {
		wishes = share(left, wishes)
		wished = left
	}
	for i, w := range wishes {
		out[i] += w
	}
	for i, more := range portions(left-wished, grow, n.Children) {
		out[i] += more
	}
	m.columns[key] = out
	return out
}

// width is how many columns a widget takes where there is enough room.
func (m *measure) width(n *surfaces.Node) int {
	if w, ok := m.wide[n]; ok {
		return w
	}
	w := 1
	widest := func(text string) {
		for line := range strings.SplitSeq(text, "\n") {
			w = max(w, kit.Width(strings.ReplaceAll(line, "\t", tab)))
		}
	}
	switch n.Type {
	case surfaces.Rows:
		for _, c := range n.Children {
			w = max(w, m.width(c))
		}
	case surfaces.Cols:
		w = gaps(n)
		for _, c := range n.Children {
			if c.Size > 0 {
				w += c.Size
			} else {
				w += m.width(c)
			}
		}
	case surfaces.Text:
		var text strings.Builder
		text.WriteString(n.Text)
		for _, s := range n.Spans {
			text.WriteString(s.Text)
		}
		widest(text.String())
	case surfaces.Markdown:
		widest(n.Text)
	case surfaces.Diff:
		for _, l := range m.lines(n, math.MaxInt32) {
			widest(l.Text())
		}
	case surfaces.List:
		for _, it := range n.Items {
			widest(it.Text)
		}
		w += gutter
	case surfaces.Table:
		w = gutter
		for i, c := range m.tableWidths(n, math.MaxInt32) {
			w += c
			if i > 0 {
				w += between
			}
		}
	case surfaces.Tree:
		for _, b := range m.branches(n) {
			w = max(w, 2*b.Depth+2+kit.Width(b.Text))
		}
		w += gutter
	case surfaces.Input:
		w = gutter + 24
	case surfaces.Button:
		w = kit.Width(n.Label) + 4
	case surfaces.Progress:
		w = kit.Width(n.Label) + 16
	case surfaces.Gauge:
		w = 16
	case surfaces.Sparkline:
		w = max(len(n.Values), 1)
	}
	m.wide[n] = w
	return w
}

// tableWidths are the columns of a table within a width, the gutter not counted:
// fixed ones as asked, others as wide as what is in them, less where there is no room.
func (m *measure) tableWidths(n *surfaces.Node, width int) []int {
	key := sized{n, width}
	if w, ok := m.columns[key]; ok {
		return w
	}
	out := make([]int, len(n.Columns))
	left := max(width-between*max(len(out)-1, 0), 0)
	wishes, wished := make([]int, len(out)), 0
	for i, c := range n.Columns {
		if c.Width > 0 {
			out[i] = min(c.Width, left)
			left -= out[i]
			continue
		}
		w := kit.Width(c.Title)
		for _, r := range n.Rows {
			if i < len(r.Cells) {
				w = max(w, kit.Width(r.Cells[i]))
			}
		}
		wishes[i] = w
		wished += w
	}
	if wished > left {
		wishes = share(left, wishes)
	}
	for i, w := range wishes {
		out[i] += w
	}
	m.columns[key] = out
	return out
}

func number(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// box is where a widget stands in the content of its panel.
type box struct {
	n    *surfaces.Node
	at   kit.Rect
	cols bool // it stands in columns: a rule is upright
}

// flow places the widgets of a tree, containers left out, and returns how tall all is.
func (m *measure) flow(width, height int) (boxes []box, total int) {
	var place func(n *surfaces.Node, at kit.Rect, cols bool)
	place = func(n *surfaces.Node, at kit.Rect, cols bool) {
		switch n.Type {
		case surfaces.Rows:
			y := at.Y
			for i, h := range m.heights(n, at.W, at.H) {
				place(n.Children[i], rect(at.X, y, at.W, h), false)
				y += h + n.Gap
			}
		case surfaces.Cols:
			x := at.X
			for i, w := range m.widths(n, at.W) {
				place(n.Children[i], rect(x, at.Y, max(min(w, at.X+at.W-x), 0), at.H), true)
				x += w + n.Gap
			}
		default:
			boxes = append(boxes, box{n, at, cols})
			total = max(total, at.Y+at.H)
		}
	}
	room := height
	if m.tree.Type != surfaces.Rows { // rows share what there is, then go on below it
		room = max(height, m.leastRows(m.tree, width))
	}
	place(m.tree, rect(0, 0, width, room), false)
	return boxes, max(total, 1)
}
