package panel

import (
	"slices"
	"sync/atomic"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// Options of a manager.
type Options struct {
	Source Source // nil before SetSource
	Host   kit.Host
}

// Manager owns which panel is where and which of them has the keys. Changed, Release
// and Size may be called from any goroutine, the rest on the event loop. A frame is
// Arrange, then Draw, then, above all else, DrawDialogs.
type Manager struct {
	o     Options
	views map[surfaces.ID]*View
	order []surfaces.ID // of the registrations
	lines []StatusText

	area    kit.Rect
	placed  Placed
	choices Choices
	raised  map[surfaces.ID]uint64 // of dismissed dialogs, when they were
	before  surfaces.ID            // had the keys before a dialog took them; zero for the input
	grabbed surfaces.ID            // the mouse was pressed in it

	stale atomic.Bool
	room  atomic.Pointer[kit.Rect] // for Size
}

// StatusText is what a surface of kind status says.
type StatusText struct {
	ID   surfaces.ID
	Text string // "NAME: text", clean, at most 60 cells
}

const statusCells = 60

// NewManager returns a manager without panels; the first Arrange brings them.
func NewManager(o Options) *Manager {
	m := &Manager{o: o, views: map[surfaces.ID]*View{}, raised: map[surfaces.ID]uint64{}}
	m.choices.Dismissed = map[surfaces.ID]bool{}
	m.stale.Store(true)
	return m
}

// Changed hears that a panel shows something else: give it to surfaces.Options.
func (m *Manager) Changed(surfaces.ID) {
	m.stale.Store(true)
	m.o.Host.Redraw()
}

// Release hears that a plugin gives the keys back: give it to surfaces.Options.
func (m *Manager) Release(id surfaces.ID) {
	m.o.Host.Do(func() {
		if m.choices.Focus == id {
			m.Leave()
		}
	})
}

// Size returns the most room a surface would have alone, in cells, the frame not
// counted: give it to surfaces.Options.
func (m *Manager) Size(p surfaces.Placement) (width, height int) {
	area := rect(0, 0, 80, 22)
	if r := m.room.Load(); r != nil {
		area = *r
	}
	id := surfaces.ID{Plugin: "?", Name: "?"}
	tall := func(int) int { return area.H }
	alone := Layout(area, []Want{{ID: id, Placement: p, Rows: tall}}, Choices{Focus: id})
	if at, ok := alone.Find(id); ok {
		return at.Inner.W, at.Inner.H
	}
	return area.W, 1
}

// SetSource gives the manager its panels, when they come after the screen.
func (m *Manager) SetSource(s Source) {
	m.o.Source = s
	m.stale.Store(true)
}

// SetNoSides hides the side panels, or shows them again.
func (m *Manager) SetNoSides(hide bool) { m.choices.NoSides = hide }

// NoSides tells whether side panels are hidden.
func (m *Manager) NoSides() bool { return m.choices.NoSides }

// SetQuestion tells whether a question of the app is open: no dialog of a plugin is
// shown then, and the keys are not a panel's.
func (m *Manager) SetQuestion(open bool) {
	if id := m.choices.Focus; open {
		m.Leave()
		delete(m.choices.Dismissed, id) // the person has not left it
	}
	m.choices.NoOverlays = open
}

// Arrange reads what changed, lays everything out in an area, tells the panels their
// size, and returns what is left for the transcript. Call it before each Draw.
func (m *Manager) Arrange(area kit.Rect) (transcript kit.Rect) {
	if area != m.area || m.room.Load() == nil {
		m.area = area
		m.room.Store(&area)
		m.stale.Store(true) // closed panels have another size too
	}
	stale := m.stale.Swap(false)
	if stale && m.o.Source != nil {
		m.read()
	}
	m.layout()
	if m.choices.Focus != (surfaces.ID{}) && !slices.Contains(m.ring(), m.choices.Focus) {
		m.Leave()
		m.layout()
	}
	for _, p := range m.placed.Places {
		m.views[p.ID].SetRect(p.Inner.X, p.Inner.Y, p.Inner.W, p.Inner.H)
		m.o.Source.Resize(p.ID, p.Inner.W, p.Inner.H)
	}
	if stale {
		for id, v := range m.views {
			if _, shown := m.placed.Find(id); !shown {
				w, h := m.Size(v.panel.Placement)
				m.o.Source.Resize(id, w, h)
			}
		}
	}
	return m.placed.Transcript
}

func (m *Manager) layout() {
	var wants []Want
	for _, id := range m.order {
		if v := m.views[id]; v.panel.Tree != nil {
			wants = append(wants, Want{ID: id, Placement: v.panel.Placement, Rows: v.Rows})
		}
	}
	m.placed = Layout(m.area, wants, m.choices)
}

// read takes the panels as they are. A dialog that opens takes the keys.
func (m *Manager) read() {
	m.order, m.lines = m.order[:0], nil
	seen := map[surfaces.ID]bool{}
	for _, p := range m.o.Source.Panels() {
		if p.Placement.Kind == surfaces.Status {
			if p.Text != "" {
				m.lines = append(m.lines, StatusText{p.ID, m.status(p)})
			}
			continue
		}
		v := m.views[p.ID]
		if v == nil {
			v = NewView(p.ID, m.o.Source, m.o.Host)
			m.views[p.ID] = v
		}
		was := v.panel.Tree
		seen[p.ID] = true
		m.order = append(m.order, p.ID)
		v.SetPanel(p)
		again := m.choices.Dismissed[p.ID] && p.Raised != m.raised[p.ID]
		if again {
			delete(m.choices.Dismissed, p.ID)
		}
		opens := p.Tree != nil && (was == nil && !m.choices.Dismissed[p.ID] || again)
		if opens && p.Placement.Kind == surfaces.Overlay && !m.choices.NoOverlays {
			m.Focus(p.ID)
		}
	}
	for id := range m.views {
		if !seen[id] {
			delete(m.views, id) // a dialog that was left stays so when its plugin comes back
		}
	}
}

func (m *Manager) status(p surfaces.Panel) string {
	return kit.Clip(kit.CleanLine(p.ID.Name+": "+p.Text), statusCells, m.o.Host.Signs().Ellipsis)
}

// Statuses are the texts of the surfaces of kind status, in order.
func (m *Manager) Statuses() []StatusText { return m.lines }

// Placed is the layout of the last Arrange.
func (m *Manager) Placed() Placed { return m.placed }

// ring lists the panels F6 goes through: as they are placed, then those that are
// folded, then dialogs the person left.
func (m *Manager) ring() []surfaces.ID {
	var ids []surfaces.ID
	for _, p := range m.placed.Places {
		if !p.Folded && p.Kind != surfaces.Overlay {
			ids = append(ids, p.ID)
		}
	}
	for _, t := range m.placed.Tabs {
		ids = append(ids, t.ID)
	}
	if m.choices.NoOverlays {
		return ids
	}
	for _, id := range m.order {
		if v := m.views[id]; v.panel.Placement.Kind == surfaces.Overlay && v.panel.Tree != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Open tells whether a panel shows something, be it out of sight.
func (m *Manager) Open() bool {
	return slices.ContainsFunc(m.order, func(id surfaces.ID) bool { return m.views[id].panel.Tree != nil })
}

// FocusedOverlay tells whether an overlay has the keys.
func (m *Manager) FocusedOverlay() bool {
	id, ok := m.Focused()
	return ok && m.views[id].panel.Placement.Kind == surfaces.Overlay
}

// Focused returns the panel that has the keys; false when it is the input.
func (m *Manager) Focused() (surfaces.ID, bool) {
	return m.choices.Focus, m.choices.Focus != (surfaces.ID{})
}

// Focus gives the keys to a panel; false when it has nothing to show.
func (m *Manager) Focus(id surfaces.ID) bool {
	v := m.views[id]
	if v == nil || v.panel.Tree == nil {
		return false
	}
	if m.choices.Focus == id {
		return true
	}
	if v.panel.Placement.Kind == surfaces.Overlay {
		m.before = m.choices.Focus
	}
	m.release()
	delete(m.choices.Dismissed, id)
	m.choices.Focus = id
	v.SetActive(true)
	m.o.Source.Focus(id, true)
	m.o.Host.Redraw()
	return true
}

// release takes the keys away from the panel that has them.
func (m *Manager) release() {
	old := m.choices.Focus
	if old == (surfaces.ID{}) {
		return
	}
	m.choices.Focus = surfaces.ID{}
	if v := m.views[old]; v != nil {
		v.SetActive(false)
		if v.panel.Placement.Kind == surfaces.Overlay && v.panel.Tree != nil {
			m.choices.Dismissed[old], m.raised[old] = true, v.panel.Raised
		}
	}
	m.o.Source.Focus(old, false)
}

// Leave gives the keys back: to the input, or, where a dialog closed, to the panel
// that had them before.
func (m *Manager) Leave() {
	old := m.choices.Focus
	if old == (surfaces.ID{}) {
		return
	}
	v := m.views[old]
	closed := v == nil || v.panel.Tree == nil
	m.release()
	before := m.before
	m.before = surfaces.ID{}
	if closed && before != old && slices.Contains(m.ring(), before) && m.Focus(before) {
		return
	}
	m.o.Host.Redraw()
}

// Cycle gives the keys to the next panel, or to the one before where step is -1; after
// the last one to the input. It tells whether a panel has them.
func (m *Manager) Cycle(step int) bool {
	ring := m.ring()
	i := slices.Index(ring, m.choices.Focus) // -1 is the input
	if i < 0 && step < 0 {
		i = len(ring)
	}
	if i += step; i < 0 || i >= len(ring) {
		m.before = surfaces.ID{}
		m.Leave()
		return false
	}
	return m.Focus(ring[i])
}

// Key takes a key while a panel has the keys: F6 and Escape move them, what is left of
// the Reserved ones is the program's, the rest goes to the panel. A dialog that is
// left with Escape stays out of sight until it opens after it was closed, a command or a
// tool shows it, or the person goes there.
func (m *Manager) Key(ev *tcell.EventKey) bool {
	id, ok := m.Focused()
	if !ok {
		return false
	}
	switch kit.Chord(ev) {
	case "f6":
		m.Cycle(1)
		return true
	case "shift+f6":
		m.Cycle(-1)
		return true
	case "esc":
		m.before = surfaces.ID{}
		m.Leave()
		return true
	}
	return m.views[id].Key(ev)
}

// Paste hands pasted text to the panel that has the keys.
func (m *Manager) Paste(text string) bool {
	id, ok := m.Focused()
	return ok && m.views[id].Paste(text)
}

// Mouse takes what the mouse did on a panel or a tab: a press there gives it the keys.
// Until the release the mouse is the panel's wherever it goes.
func (m *Manager) Mouse(ev kit.Mouse) bool {
	id, ok := m.placed.At(ev.X, ev.Y)
	if ev.Action == kit.Drag || ev.Action == kit.Release {
		id, ok = m.grabbed, m.grabbed != (surfaces.ID{})
	}
	if ev.Action == kit.Release {
		m.grabbed = surfaces.ID{}
	}
	v := m.views[id]
	if !ok || v == nil {
		return false
	}
	if ev.Action == kit.Press {
		m.grabbed = id
		m.Focus(id)
	}
	v.Mouse(ev) // the frame and the tab are ours too
	return true
}

// Busy tells whether something on screen moves by itself: then call Step some times a
// second.
func (m *Manager) Busy() bool {
	for _, p := range m.placed.Places {
		if m.views[p.ID].Busy() {
			return true
		}
	}
	return false
}

// Step moves what is busy on, and asks for a frame.
func (m *Manager) Step() {
	for _, p := range m.placed.Places {
		m.views[p.ID].Step()
	}
	m.o.Host.Redraw()
}
