package surfaces

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"starling/bus"
	"starling/bus/spec"
)

// ID names a surface.
type ID struct{ Plugin, Name string }

func (id ID) String() string { return id.Plugin + "/" + id.Name }

// Options of a host. No function may block; all but Surfaces may be nil.
type Options struct {
	Surfaces *spec.Surfaces
	// Size returns the cells a surface would have; asked when one appears. Without
	// it every one has 80x24.
	Size func(Placement) (width, height int)
	// Changed hears that Panel of this surface returns something else, or that the
	// surface came or went. It is called from any goroutine, without a lock.
	Changed func(ID)
	// Release hears that a surface gives the keys back.
	Release func(ID)
	// Report shows a fault of a plugin to the person.
	Report func(plugin, text string)
	// Prompt queues a text like a line a person typed.
	Prompt func(plugin, text string) error
	// Running tells whether a run goes, for surfaces of kind status.
	Running func() bool
}

// Host keeps the panels of a session: their queues, their trees and what the person
// did to their widgets. It is safe for concurrent use; nothing but Settle and Close
// waits.
type Host struct {
	o Options

	mu     sync.Mutex
	panels map[ID]*panel
	order  []*panel
	past   map[ID]past
	closed bool
	busy   int           // panels at work
	idle   chan struct{} // closed when busy falls to 0; nil while nobody waits
}

// New returns a host without panels; Sync brings them.
func New(o Options) *Host { return &Host{o: o, panels: map[ID]*panel{}, past: map[ID]past{}} }

// Panel is what a screen shows of one surface. It is immutable.
type Panel struct {
	ID        ID
	Placement Placement
	// Version moves whenever anything else here does.
	Version uint64
	// Raised moves when a person who left the surface wants to see it again: it opened
	// after its view had closed it, or a command or a tool showed it. That the plugin was
	// loaded anew does not move it.
	Raised uint64
	// Tree to draw; nil while the surface is closed, and always for a status.
	Tree *Node
	// Text of a status; "" for none.
	Text string
	// Err is why the last view failed; Tree says it too.
	Err string
	// UpdateErr is why the last update failed; "" since one did not. It moves no
	// Version: nothing of it is drawn.
	UpdateErr string
	// Focus is the key of the widget that takes the keys; "" for none.
	Focus string
	// Widgets are what the host keeps of lists, tables, trees and inputs, by key.
	Widgets map[string]Widget
}

// past is what is kept of a surface when it is registered anew.
type past struct {
	model  *spec.Model
	raised uint64 // of the model
	open   bool
	count  uint64 // Panel.Raised
}

// Open tells whether there is anything to show.
func (p Panel) Open() bool { return p.Tree != nil || p.Text != "" }

// Follow calls Sync after every commit of the store until ctx ends.
func (h *Host) Follow(ctx context.Context, store *bus.Store) {
	for {
		changed := store.Changed()
		h.Sync()
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// Sync reads the registry: new surfaces get a panel, those that are gone or were
// registered anew lose theirs with everything in it but the model.
func (h *Host) Sync() {
	var came, went []*panel
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	stay := map[ID]*panel{}
	h.order = h.order[:0:0]
	for _, e := range h.o.Surfaces.All() {
		id := ID{e.Owner.Name, e.Value.Name}
		if stay[id] != nil {
			continue // the first of one name has it
		}
		p := h.panels[id]
		if p == nil || p.seq != e.Seq {
			place, err := ParsePlacement(e.Value.Placement)
			if err != nil {
				continue // bind refused it already
			}
			p = newPanel(h, id, place, e.Seq, e.Value)
			p.shown.Raised = h.past[id].count
			came = append(came, p)
		}
		stay[id] = p
		h.order = append(h.order, p)
	}
	for id, p := range h.panels {
		if stay[id] != p {
			went = append(went, p)
		}
	}
	h.panels = stay
	h.mu.Unlock()
	for _, p := range went {
		p.close()
		h.changed(p.id)
	}
	for _, p := range came {
		p.open()
		h.changed(p.id)
	}
}

// Panels returns every surface in static order, closed ones too.
func (h *Host) Panels() []Panel {
	h.mu.Lock()
	order := slices.Clone(h.order)
	h.mu.Unlock()
	list := make([]Panel, len(order))
	for i, p := range order {
		list[i] = p.snapshot()
	}
	return list
}

// Panel returns one surface; false when there is none.
func (h *Host) Panel(id ID) (Panel, bool) {
	p := h.find(id)
	if p == nil {
		return Panel{}, false
	}
	return p.snapshot(), true
}

// stands tells whether a registration is still there: Sync hears of it a moment later.
func (h *Host) stands(seq uint64) bool {
	return slices.ContainsFunc(h.o.Surfaces.All(), func(e bus.Entry[spec.Surface]) bool { return e.Seq == seq })
}

// raised is Panel.Raised after a view: raised is that of the model, open tells what the
// view says.
func (h *Host) raised(p *panel, raised uint64, open bool) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.past[p.id]
	now := past{p.model, raised, open, was.count}
	if open && !was.open || was.model == p.model && was.raised != raised {
		now.count++
	}
	h.past[p.id] = now
	return now.count
}

func (h *Host) find(id ID) *panel {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.panels[id]
}

func (h *Host) each(f func(*panel)) {
	h.mu.Lock()
	order := slices.Clone(h.order)
	h.mu.Unlock()
	for _, p := range order {
		f(p)
	}
}

// Post queues a message for a surface. answer, where it is not nil, is told once
// whether the update consumed it: from any goroutine, after 50 ms at the latest
// (then with false), at once where nobody would see the message. What a dialog is deaf
// to counts as consumed: the mouse in its first 300 ms, and the rest of such a press.
func (h *Host) Post(id ID, m Message, answer func(consumed bool)) {
	p := h.find(id)
	if p == nil {
		if answer != nil {
			answer(false)
		}
		return
	}
	if p.deaf(m) {
		if answer != nil {
			answer(true)
		}
		return
	}
	p.post(m, newAnswer(answer))
}

// Resize tells a surface its room in cells, the frame not counted.
func (h *Host) Resize(id ID, width, height int) {
	if p := h.find(id); p != nil {
		p.resize(width, height)
	}
}

// Tick goes to every surface that wants it and is done with the one before, and
// lets surfaces of kind status be asked again. Call it every 250 ms.
func (h *Host) Tick() { h.each((*panel).tickNow) }

// Ticks tells whether a registered surface would do anything at a Tick.
func (h *Host) Ticks() bool {
	return slices.ContainsFunc(h.o.Surfaces.All(), func(e bus.Entry[spec.Surface]) bool {
		place, err := ParsePlacement(e.Value.Placement)
		return e.Value.Tick || err == nil && place.Kind == Status
	})
}

// Settle waits until no panel has work, or ctx ends.
func (h *Host) Settle(ctx context.Context) error {
	for {
		h.mu.Lock()
		if h.busy == 0 {
			h.mu.Unlock()
			return nil
		}
		if h.idle == nil {
			h.idle = make(chan struct{})
		}
		idle := h.idle
		h.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
			return fmt.Errorf("panels are still at work: %w", context.Cause(ctx))
		}
	}
}

// Close takes all panels away, cancels what they do, and waits for it until ctx
// ends.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	gone := h.order
	h.panels, h.order = map[ID]*panel{}, nil
	h.mu.Unlock()
	for _, p := range gone {
		p.close()
	}
	return h.Settle(ctx)
}

// work counts panels at work.
func (h *Host) work(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy += n; h.busy == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}

func (h *Host) changed(id ID) {
	if h.o.Changed != nil {
		h.o.Changed(id)
	}
}

func (h *Host) report(id ID, format string, args ...any) {
	if h.o.Report != nil {
		h.o.Report(id.Plugin, fmt.Sprintf("surface %q: ", id.Name)+fmt.Sprintf(format, args...))
	}
}
