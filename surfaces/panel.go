package surfaces

import (
	"context"
	"sync"
	"time"

	"starling/bus/spec"
)

const (
	maxQueue = 256 // messages of one panel
	// caughtUp is how long less than half of them must wait until a panel that was too
	// slow no longer counts as such.
	caughtUp = 10 * time.Second
	// maxChain is how many messages a surface may send itself in a row: each comes
	// out of the one before.
	maxChain = 100
	// statusEvery is how often a status is asked at most.
	statusEvery = time.Second
	// viewEvery is how long messages may keep a panel from being drawn.
	viewEvery = 50 * time.Millisecond
)

// DeafTime is how long a dialog or a question that opens hears no key, and how long a
// person who writes has to rest before it hears theirs: what was typed before it could be
// read answers nothing.
const DeafTime = 300 * time.Millisecond

// panel is one surface. A goroutine runs while there is something to do; all but
// the calls into the plugin happens under mu.
type panel struct {
	h      *Host
	id     ID
	place  Placement
	seq    uint64 // of the registration
	reg    spec.Surface
	model  *spec.Model
	ctx    context.Context
	cancel context.CancelFunc
	stop   func() // watching the model

	mu      sync.Mutex
	gone    bool
	running bool // the goroutine
	queue   []posted
	tick    bool
	asked   bool   // a view is wanted whatever the version
	drawn   uint64 // version of the model that was seen by the last view
	drawnAt time.Time
	said    string // the fault that was reported last
	// behind tells that an overflow was reported and that the queue did not stay low
	// since; it swings around its bound while a panel is too slow.
	behind  bool
	low     time.Time // since when less than half of the queue waits; zero while more does
	dropped int       // messages since the report
	last    *Node     // tree as the last view returned it
	edits   map[string][]edit
	shown   Panel
	// openedAt is when the surface was closed last and is no more.
	openedAt time.Time
	// muted tells that the button that is held went down too early: its drags and its
	// release are not heard either.
	muted bool
	// turning tells that a Tab waits for the plugin; what is typed behind it is held
	// until the widget it is meant for has the keys.
	turning bool
	held    []func() (waits bool)

	sized  bool
	width  int // cells, as resize told
	height int // cells, for pages
}

// posted is a message in the queue.
type posted struct {
	m      Message
	reply  *answer
	chain  int
	raises bool // it came from a command or a tool, and so does what comes out of it
}

func newPanel(h *Host, id ID, place Placement, seq uint64, reg spec.Surface) *panel {
	p := &panel{h: h, id: id, place: place, seq: seq, reg: reg, model: reg.Model, edits: map[string][]edit{}}
	if p.model == nil {
		p.model = spec.NewModel(map[string]any{})
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.shown = Panel{ID: id, Placement: place}
	p.asked = true
	return p
}

// open sends the size, then has the first view made.
func (p *panel) open() {
	width, height := 80, 24
	if p.h.o.Size != nil {
		width, height = p.h.o.Size(p.place)
	}
	stop := p.model.Watch(p.wake)
	p.mu.Lock()
	if p.gone {
		p.mu.Unlock()
		stop()
		return
	}
	p.stop = stop
	p.mu.Unlock()
	p.resize(width, height)
}

func (p *panel) close() {
	p.mu.Lock()
	p.gone = true
	queue, stop := p.queue, p.stop
	p.queue, p.tick, p.asked = nil, false, false
	p.mu.Unlock()
	if stop != nil {
		stop()
	}
	p.cancel()
	for _, q := range queue {
		q.reply.give(false)
	}
}

func (p *panel) snapshot() Panel {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// post queues a message.
func (p *panel) post(m Message, reply *answer) { p.put(posted{m: m, reply: reply}) }

func (p *panel) put(q posted) {
	p.mu.Lock()
	taken, full := p.enqueue(q)
	report, before := full && !p.behind, p.dropped
	if report {
		p.behind, p.dropped = true, 0
	}
	if full {
		p.dropped++
	}
	p.start()
	p.mu.Unlock()
	if !taken {
		q.reply.give(false)
	}
	switch {
	case report && before > 0:
		p.h.report(p.id, "is more than %d messages behind again; %d were dropped since this was said last, and later ones are", maxQueue, before)
	case report:
		p.h.report(p.id, "is more than %d messages behind; later ones are dropped", maxQueue)
	}
}

// level looks at the queue after it grew or shrank: one that stayed low for long has
// caught up. It needs mu.
func (p *panel) level() {
	switch low := len(p.queue) < maxQueue/2; {
	case low && p.low.IsZero():
		p.low = time.Now()
	case !low && !p.low.IsZero():
		p.behind = p.behind && time.Since(p.low) < caughtUp
		p.low = time.Time{}
	}
}

// enqueue needs mu; full tells that the message is dropped. Of several resizes, and of drags of a button in a row, the newest
// stands for all.
func (p *panel) enqueue(q posted) (taken, full bool) {
	if p.gone || p.reg.Update == nil {
		return false, false
	}
	for i := range p.queue {
		if q.m.Kind == ResizeMessage && p.queue[i].m.Kind == ResizeMessage {
			p.queue[i] = q
			return true, false
		}
	}
	if n := len(p.queue); n > 0 && q.m.Kind == MouseMessage && q.m.Action == "drag" {
		if tail := &p.queue[n-1]; tail.m.Kind == MouseMessage && tail.m.Action == "drag" && tail.m.Button == q.m.Button {
			tail.m = q.m
			return false, false
		}
	}
	if len(p.queue) >= maxQueue {
		return false, true
	}
	p.queue = append(p.queue, q)
	p.level()
	return true, false
}

// resize tells the plugin a size that is new to it.
func (p *panel) resize(width, height int) {
	width, height = max(width, 0), max(height, 0)
	p.mu.Lock()
	known := p.sized && p.width == width && p.height == height
	p.sized, p.width, p.height = true, width, height
	p.mu.Unlock()
	if !known {
		p.put(posted{m: Message{Kind: ResizeMessage, Width: width, Height: height}})
	}
}

// early tells whether a dialog opened so lately that what is typed was not meant for
// it.
func (p *panel) early() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.place.Kind == Overlay && time.Since(p.openedAt) < DeafTime
}

// deaf tells whether a message of the person came too early for a dialog.
func (p *panel) deaf(m Message) bool {
	switch m.Kind {
	case KeyMessage, PasteMessage:
		return p.early()
	case MouseMessage:
	default:
		return false
	}
	early := p.early()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Action {
	case "press":
		p.muted = early
	case "drag", "release":
		return early || p.muted
	}
	return early
}
