package panel

import (
	"cmp"
	"slices"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

const (
	minTranscript = 20 // columns the transcript keeps beside side columns
	maxSide       = 40 // columns of a side column that asked for no width
	minSideRows   = 3  // rows of a panel in a side column, its title too
	minBottomRows = 2
	overlayWidth  = 60
	edge          = 2 // columns of a side column's border and its margin
)

func rect(x, y, w, h int) kit.Rect { return kit.Rect{X: x, Y: y, W: w, H: h} }

func empty(r kit.Rect) bool { return r.W <= 0 || r.H <= 0 }

// Want is an open panel and what it asks for. Surfaces of kind status have none.
type Want struct {
	ID        surfaces.ID
	Placement surfaces.Placement
	// Rows returns how many rows its content takes at a width; nil counts as one.
	Rows func(width int) int
}

func (w Want) rows(width int) int {
	if w.Rows == nil {
		return 1
	}
	return max(w.Rows(max(width, 1)), 1)
}

// Choices are what the person and the app decided about the layout.
type Choices struct {
	// Focus is the panel that has the keys; zero for none. A folded one is shown
	// while it has them, and a dialog that has them is on top.
	Focus surfaces.ID
	// NoSides leaves side panels out.
	NoSides bool
	// NoOverlays leaves dialogs of plugins out: a question of the app is open.
	NoOverlays bool
	// Dismissed are dialogs the person left; they are shown while they have the keys.
	Dismissed map[surfaces.ID]bool
}

// Border is which edges of a frame are drawn besides its title.
type Border uint8

// The borders.
const (
	BorderLeft  Border = 1 << iota // of a right side column
	BorderRight                    // of a left side column
	BorderTop                      // where the title stands
	BorderBottom
	BorderBox = BorderLeft | BorderRight | BorderTop | BorderBottom
)

// Place is where one panel stands. The content has Inner, the border the rest of
// Frame.
type Place struct {
	ID           surfaces.ID
	Kind         surfaces.Kind
	Frame, Inner kit.Rect
	Border       Border
	// First of its column: its border begins there.
	First bool
	// Folded panels have a tab instead of a title.
	Folded bool
}

// Tab is a folded panel in the strip. Rect is empty where there is no room for it.
type Tab struct {
	ID   surfaces.ID
	Rect kit.Rect
}

// Placed is the layout of an area.
type Placed struct {
	Transcript kit.Rect
	// Places in the order they are drawn: left, right, bottom, the open tab, dialogs.
	// Only dialogs cover something.
	Places []Place
	// Strip is the row of tabs; empty when nothing is folded.
	Strip kit.Rect
	Tabs  []Tab
}

// Find returns the place of a panel.
func (p Placed) Find(id surfaces.ID) (Place, bool) {
	i := slices.IndexFunc(p.Places, func(x Place) bool { return x.ID == id })
	if i < 0 {
		return Place{}, false
	}
	return p.Places[i], true
}

// At returns the topmost panel at a cell of the screen, tabs included.
func (p Placed) At(x, y int) (surfaces.ID, bool) {
	for _, at := range slices.Backward(p.Places) {
		if at.Frame.Has(x, y) {
			return at.ID, true
		}
	}
	for _, t := range p.Tabs {
		if t.Rect.Has(x, y) {
			return t.ID, true
		}
	}
	return surfaces.ID{}, false
}

// Layout shares an area of the screen between the transcript and the panels: side
// columns of the asked width, else of a third and 40 columns at most; bottom panels
// under all of it, in half of the rows at most; dialogs over the middle. Panels of one
// side share it by order and wanted rows. Where the transcript would get less than 20
// columns, or a panel less than a title and two rows, the panels of that kind fold
// into a strip of tabs. It is a pure function.
func Layout(area kit.Rect, wants []Want, c Choices) Placed {
	area.W, area.H = max(area.W, 0), max(area.H, 0)
	var left, right, bottom, dialogs, folded []Want
	for _, w := range wants {
		switch w.Placement.Kind {
		case surfaces.Side:
			switch {
			case c.NoSides:
			case w.Placement.Side == "left":
				left = append(left, w)
			default:
				right = append(right, w)
			}
		case surfaces.Bottom:
			bottom = append(bottom, w)
		case surfaces.Overlay:
			if !c.NoOverlays && (!c.Dismissed[w.ID] || w.ID == c.Focus) {
				dialogs = append(dialogs, w)
			}
		}
	}
	byOrder := func(a, b Want) int { return cmp.Compare(a.Placement.Order, b.Placement.Order) }
	slices.SortStableFunc(left, byOrder)
	slices.SortStableFunc(right, byOrder)

	// The strip takes a row: what folds is decided as if it were there.
	if len(bottom)*minBottomRows > (area.H-1)/2 {
		folded, bottom = append(folded, bottom...), nil
	}
	room := area.H
	if len(folded) > 0 {
		room--
	}
	low := bottomRows(bottom, area.W, room)
	leftWidth, rightWidth, fit := sideWidths(area.W, left, right)
	tall := room - low
	sides := []Want{}
	if !fit || len(left)*minSideRows > tall || len(right)*minSideRows > tall {
		sides = append(append(sides, left...), right...)
		left, right, leftWidth, rightWidth = nil, nil, 0, 0
	}
	folded = append(sides, folded...)

	p := Placed{}
	rest := area
	if len(folded) > 0 && area.H > 1 {
		p.Strip = rect(area.X, area.Y, area.W, 1)
		p.Tabs = tabs(p.Strip, folded, c.Focus)
		rest.Y, rest.H = rest.Y+1, rest.H-1
		low = bottomRows(bottom, area.W, rest.H)
	}
	upper := rest
	upper.H -= low
	p.column(left, rect(upper.X, upper.Y, leftWidth, upper.H), BorderRight)
	p.column(right, rect(upper.X+upper.W-rightWidth, upper.Y, rightWidth, upper.H), BorderLeft)
	p.bottom(bottom, rect(rest.X, upper.Y+upper.H, rest.W, low))
	p.Transcript = rect(upper.X+leftWidth, upper.Y, upper.W-leftWidth-rightWidth, upper.H)
	p.open(folded, c.Focus)
	p.dialogs(dialogs, area, c.Focus)
	return p
}

// sideWidths returns the columns of both sides, borders counted; fit is false where
// the transcript would not keep its columns.
func sideWidths(width int, left, right []Want) (l, r int, fit bool) {
	usual := min(maxSide, width/3)
	widest := func(list []Want) int {
		most := 0
		for _, w := range list {
			want := usual
			if w.Placement.Width > 0 {
				want = w.Placement.Width + edge
			}
			most = max(most, want)
		}
		return most
	}
	l, r = widest(left), widest(right)
	// What was asked for beyond the usual width is given up first.
	if over := l + r - (width - minTranscript); over > 0 {
		for _, side := range []*int{&r, &l} {
			cut := min(max(*side-usual, 0), over)
			*side -= cut
			over -= cut
		}
	}
	return l, r, width-l-r >= min(minTranscript, width) && (len(left) == 0 || l > edge) && (len(right) == 0 || r > edge)
}

// share divides rows between panels: each gets what it wants where there is enough,
// else the modest ones do and the others share the rest; what is left goes to the
// last.
func share(rows int, want []int) []int {
	got := make([]int, len(want))
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(want[a], want[b]) })
	left := rows
	for k, i := range order {
		got[i] = min(want[i], max(left/(len(order)-k), 0))
		left -= got[i]
	}
	if n := len(got); n > 0 {
		got[n-1] += max(left, 0)
	}
	return got
}

func (p *Placed) column(list []Want, at kit.Rect, border Border) {
	inner := rect(at.X, at.Y+1, max(at.W-edge, 0), 0)
	if border == BorderLeft {
		inner.X += edge
	}
	want := make([]int, len(list))
	for i, w := range list {
		want[i] = max(w.rows(inner.W)+1, minSideRows)
	}
	y := at.Y
	for i, rows := range share(at.H, want) {
		frame := rect(at.X, y, at.W, rows)
		inner.Y, inner.H = y+1, rows-1
		p.Places = append(p.Places, Place{ID: list[i].ID, Kind: surfaces.Side, Frame: frame, Inner: inner, Border: border | BorderTop, First: i == 0})
		y += rows
	}
}

// bottomWants are the rows of each bottom panel, its title too.
func bottomWants(list []Want, width int) []int {
	want := make([]int, len(list))
	for i, w := range list {
		if want[i] = w.Placement.Height + 1; want[i] == 1 {
			want[i] += w.rows(width)
		}
	}
	return want
}

// bottomRows is how many rows bottom panels take together.
func bottomRows(list []Want, width, height int) int {
	total := 0
	for _, n := range bottomWants(list, width) {
		total += n
	}
	return min(total, height/2)
}

func (p *Placed) bottom(list []Want, at kit.Rect) {
	y := at.Y
	for i, rows := range share(at.H, bottomWants(list, at.W)) {
		frame := rect(at.X, y, at.W, rows)
		inner := rect(at.X, y+1, at.W, max(rows-1, 0))
		p.Places = append(p.Places, Place{ID: list[i].ID, Kind: surfaces.Bottom, Frame: frame, Inner: inner, Border: BorderTop, First: i == 0})
		y += rows
	}
}

// open shows the folded panel that has the keys between the strip and the transcript.
func (p *Placed) open(folded []Want, focus surfaces.ID) {
	i := slices.IndexFunc(folded, func(w Want) bool { return w.ID == focus })
	if i < 0 || empty(p.Strip) {
		return
	}
	at := p.Transcript
	if at.H < 2 {
		return
	}
	rows := min(folded[i].rows(at.W)+1, max(at.H*2/3, 2))
	frame := rect(at.X, at.Y, at.W, rows)
	inner := frame
	inner.H--
	p.Transcript.Y, p.Transcript.H = at.Y+rows, at.H-rows
	p.Places = append(p.Places, Place{ID: focus, Kind: folded[i].Placement.Kind, Frame: frame, Inner: inner, Border: BorderBottom, First: true, Folded: true})
}

func (p *Placed) dialogs(list []Want, area kit.Rect, focus surfaces.ID) {
	if area.W < 3 || area.H < 3 {
		return
	}
	slices.SortStableFunc(list, func(a, b Want) int {
		switch {
		case a.ID == b.ID || a.ID != focus && b.ID != focus:
			return 0
		case a.ID == focus:
			return 1
		}
		return -1
	})
	for _, w := range list {
		inner := kit.Rect{W: w.Placement.Width, H: w.Placement.Height}
		if inner.W == 0 {
			inner.W = min(overlayWidth, area.W-8)
		}
		inner.W = min(max(inner.W, 1), area.W-2)
		if inner.H == 0 {
			inner.H = w.rows(inner.W)
		}
		inner.H = min(max(inner.H, 1), area.H-2)
		frame := kit.Rect{W: inner.W + 2, H: inner.H + 2}
		frame.X, frame.Y = area.X+(area.W-frame.W)/2, area.Y+(area.H-frame.H)/2
		inner.X, inner.Y = frame.X+1, frame.Y+1
		p.Places = append(p.Places, Place{ID: w.ID, Kind: surfaces.Overlay, Frame: frame, Inner: inner, Border: BorderBox, First: true})
	}
}

// tabs gives each folded panel a tab as wide as its name with a margin. Where they do
// not all fit, those before the one that has the keys go first.
func tabs(strip kit.Rect, folded []Want, focus surfaces.ID) []Tab {
	list := make([]Tab, len(folded))
	width := func(i int) int { return kit.Width(Name(folded[i].ID)) + 2 }
	shown := max(slices.IndexFunc(folded, func(w Want) bool { return w.ID == focus }), 0)
	begin, used := shown, min(width(shown), strip.W)
	for begin > 0 && used+width(begin-1) <= strip.W {
		begin--
		used += width(begin)
	}
	x := strip.X
	for i := range folded {
		if i < begin {
			continue
		}
		n := width(i)
		if i == shown {
			n = min(n, strip.W)
		}
		if x+n > strip.X+strip.W {
			break
		}
		list[i].Rect = rect(x, strip.Y, n, 1)
		x += n
	}
	for i := range list {
		list[i].ID = folded[i].ID
	}
	return list
}

// Name is how a panel is called on screen: by its plugin alone where both names are
// the same.
func Name(id surfaces.ID) string {
	if id.Plugin == id.Name || id.Plugin == "" {
		return kit.CleanLine(id.Name)
	}
	return kit.CleanLine(id.Plugin + "/" + id.Name)
}
