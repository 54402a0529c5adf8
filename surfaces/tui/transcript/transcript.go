package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/tview"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// Transcript is the conversation. Its methods belong to one goroutine.
type Transcript struct {
	*tview.Box
	// Copy gets what the mouse selected; may be nil.
	Copy func(text string)

	theme *kit.Theme
	look  Look
	gen   int // of the look besides its width

	entries []*entry
	calls   map[string]*entry
	reply   int // the last block of the reply that is being written; -1 for none

	follow bool
	top    place // the first visible row while it does not follow
	anchor anchor
	fresh  bool // something came below what is read

	frame   uint64
	cached  []*entry // that hold rows, oldest first
	held    int      // rows of cached
	visible []place  // of the last frame, by row
	sel     selection
}

// place is one row of one entry.
type place struct{ entry, row int }

func (p place) before(o place) bool {
	return p.entry < o.entry || p.entry == o.entry && p.row < o.row
}

// entry is a block with its rows at a width.
type entry struct {
	block block
	gap   bool // an empty row stands before it
	width int  // of laid; 0 for none
	gen   int
	frame uint64 // that showed it last
	laid  []Row
}

// maxHeld is how many rows are kept beyond what is seen.
const maxHeld = 20_000

// New returns an empty conversation that follows its end.
func New(theme *kit.Theme, signs *kit.Signs) *Transcript {
	return &Transcript{
		Box: tview.NewBox(), theme: theme, look: Look{Signs: signs},
		calls: map[string]*entry{}, follow: true, reply: -1,
	}
}

// SetTheme changes the colours.
func (t *Transcript) SetTheme(theme *kit.Theme) { t.theme = theme }

// Reset forgets everything.
func (t *Transcript) Reset() {
	t.entries, t.cached, t.visible, t.held = nil, nil, nil, 0
	t.calls, t.reply = map[string]*entry{}, -1
	t.follow, t.fresh, t.top, t.sel = true, false, place{}, selection{}
}

// Empty tells whether nothing was said yet.
func (t *Transcript) Empty() bool { return len(t.entries) == 0 }

// writing is the piece that the model writes on; nil for none.
func (t *Transcript) writing() *prose {
	if t.reply < 0 {
		return nil
	}
	p, _ := t.entries[t.reply].block.(*prose)
	return p
}

// closeProse ends the piece the model was writing.
func (t *Transcript) closeProse() {
	if p := t.writing(); p != nil && p.open {
		p.close()
		t.touch(t.entries[t.reply])
	}
}

// append puts a block at the end: below a reply that is being written, which goes on
// above it.
func (t *Transcript) append(b block) *entry { return t.insert(len(t.entries), b) }

// write puts a piece behind those of the reply that is being written.
func (t *Transcript) write(p *prose) *entry {
	at := len(t.entries)
	if t.reply >= 0 {
		t.closeProse()
		at = t.reply + 1
	}
	t.reply = at
	return t.insert(at, p)
}

func (t *Transcript) insert(at int, b block) *entry {
	var before block
	if at > 0 {
		before = t.entries[at-1].block
	}
	e := &entry{block: b, gap: before != nil}
	if s, ok := b.(spaced); ok && before != nil {
		e.gap = s.gapAfter(before)
	}
	if at < len(t.entries) { // what is read stays the same
		moves := []*int{&t.top.entry, &t.sel.from.entry, &t.sel.to.entry}
		for i := range t.visible {
			moves = append(moves, &t.visible[i].entry)
		}
		for _, entry := range moves {
			if *entry >= at {
				*entry++
			}
		}
	}
	t.entries = slices.Insert(t.entries, at, e)
	t.fresh = t.fresh || !t.follow
	return e
}

// touch has an entry laid out again.
func (t *Transcript) touch(e *entry) {
	e.gen = -1
	t.fresh = t.fresh || !t.follow
}

// Person adds what the person wrote.
func (t *Transcript) Person(text string) { t.said(text, false) }

// Command adds a shell command of the person.
func (t *Transcript) Command(line string) { t.said(line, true) }

func (t *Transcript) said(text string, shell bool) {
	text = strings.TrimRight(kit.Clean(text), "\n")
	all := &whole{lines: strings.Count(text, "\n") + 1}
	for goes := false; ; goes = true {
		piece := text
		if len(piece) > hardPiece {
			piece = piece[:boundary(piece, hardPiece)]
			if i := strings.LastIndexByte(piece, '\n'); i > 0 {
				piece = piece[:i+1]
			}
		}
		text = text[len(piece):]
		if text != "" {
			piece = strings.TrimSuffix(piece, "\n")
		}
		t.append(&said{text: piece, goes: goes, shell: shell, whole: all})
		if text == "" {
			return
		}
	}
}

// Notice adds a line for the person.
func (t *Transcript) Notice(n view.Notice) {
	text := kit.Clean(n.Text)
	if n.From != "" {
		text = kit.CleanLine(n.From) + ": " + text
	}
	if len(text) > hardPiece {
		text = text[:boundary(text, hardPiece)] + " …"
	}
	t.append(&noted{text: strings.TrimRight(text, "\n"), warn: n.Warn})
}

// Write adds a piece of what the model writes or thinks, as it comes. It goes on where
// the reply stands, whatever came below it meanwhile.
func (t *Transcript) Write(text string, thinking bool) {
	goes, fence := false, ""
	for text != "" {
		p := t.writing()
		if p == nil || !p.open || p.thinking != thinking {
			p = &prose{thinking: thinking, open: true, goes: goes, fence: fence, inner: strings.TrimSuffix(fence, "\n")}
			e := t.write(p)
			e.gap = e.gap && !goes
		}
		var full bool
		text, full = p.add(text)
		t.touch(t.entries[t.reply])
		if full {
			goes, fence = true, ""
			if p.inner != "" && !thinking {
				fence = p.inner + "\n"
			}
			blank := p.inner == "" && strings.HasSuffix(p.source(), "\n\n")
			p.close()
			q := &prose{thinking: thinking, open: true, goes: !blank || thinking, fence: fence, inner: p.inner}
			e := t.write(q)
			e.gap = blank && !thinking
		}
	}
}

// EndReply ends what the model writes: the next piece begins anew.
func (t *Transcript) EndReply() {
	t.closeProse()
	t.reply = -1
}

// Begin adds a call that runs; of an id that is known it changes the arguments.
func (t *Transcript) Begin(id, name, arguments string) {
	if e := t.calls[id]; e != nil {
		e.block.(*Call).summary = Summary(arguments)
		t.touch(e)
		return
	}
	c := &Call{id: id, name: kit.RevealLine(name), summary: Summary(arguments)}
	t.calls[id] = t.append(c)
}

// Output adds to what a running call wrote.
func (t *Transcript) Output(id, chunk string) {
	e := t.calls[id]
	if e == nil {
		return
	}
	c := e.block.(*Call)
	if c.state != Running {
		return
	}
	c.output += chunk
	if len(c.output) > 2*keep {
		at := boundary(c.output, len(c.output)-keep)
		c.lost += strings.Count(c.output[:at], "\n")
		c.output = c.output[at:]
	}
	t.touch(e)
}

// Finish settles a call.
func (t *Transcript) Finish(id string, r Result) {
	e := t.calls[id]
	if e == nil {
		return
	}
	minus := "−"
	if t.look.Signs.ASCII {
		minus = "-"
	}
	e.block.(*Call).end(r, minus)
	t.touch(e)
}

// Refuse settles a call that does not run.
func (t *Transcript) Refuse(id, by, why string) {
	if e := t.calls[id]; e != nil {
		c := e.block.(*Call)
		c.state, c.note = Refused, kit.RevealLine("blocked by "+by+": "+why)
		t.touch(e)
	}
}

// Show opens a call as far as output is shown folded.
func (t *Transcript) Show(id string) {
	if e := t.calls[id]; e != nil {
		e.block.(*Call).base = 1
		t.touch(e)
	}
}

// Render adds rows that somebody else makes: below a call, where id names one.
func (t *Transcript) Render(id string, draw func(l Look) []Row) {
	if e := t.calls[id]; e != nil {
		c := e.block.(*Call)
		c.views = []func(l Look) []Row{draw} // the newest drawing is the one that holds
		t.touch(e)
		return
	}
	t.append(&drawn{draw})
}

// ToggleThinking opens or folds all thoughts and tells which.
func (t *Transcript) ToggleThinking() bool {
	t.look.Thinking = !t.look.Thinking
	t.gen++
	return t.look.Thinking
}

// StepOutput opens the output of all calls a step further, also of those that a click has
// opened or folded, and folds it after the last; it tells how far it is open.
func (t *Transcript) StepOutput() Depth {
	t.look.Open = t.look.Open.next()
	for _, e := range t.entries {
		switch b := e.block.(type) {
		case *Call:
			b.set = false
		case *said:
			b.whole.set = false
		}
	}
	t.gen++
	return t.look.Open
}

// SetMore says what shows more of something folded, such as "Alt-O or a click"; "" for
// nothing.
func (t *Transcript) SetMore(by string) {
	t.look.More = by
	t.gen++
}

// rows of an entry at the width at hand, laid out if they are not kept.
func (t *Transcript) rows(i int) []Row {
	e := t.entries[i]
	e.frame = t.frame
	if e.width == t.look.Width && e.gen == t.gen {
		return e.laid
	}
	if e.width == 0 {
		t.cached = append(t.cached, e)
	}
	t.held -= len(e.laid)
	e.laid = t.lay(e)
	e.width, e.gen = t.look.Width, t.gen
	t.held += len(e.laid)
	return e.laid
}

func (t *Transcript) lay(e *entry) []Row {
	rows := e.block.rows(t.look)
	if e.gap && len(rows) > 0 {
		rows = append([]Row{{}}, rows...)
	}
	return rows
}

// evict drops rows that were not seen lately.
func (t *Transcript) evict() {
	for n := len(t.cached); t.held > maxHeld && n > 0; n-- {
		e := t.cached[0]
		t.cached[0] = nil
		t.cached = t.cached[1:]
		if e.frame == t.frame {
			t.cached = append(t.cached, e)
			continue
		}
		t.held -= len(e.laid)
		e.laid, e.width = nil, 0
	}
}

// Text hands the whole conversation to line, one row at a time, without styles: for
// the ordinary screen. It ends at the first error.
func (t *Transcript) Text(width int, line func(string) error) error {
	was := t.look
	defer func() { t.look = was }()
	t.look.Width = max(width, 1)
	for _, e := range t.entries {
		rows := e.laid
		if e.width != t.look.Width || e.gen != t.gen {
			rows = t.lay(e)
		}
		for _, r := range rows {
			if err := line(strings.TrimRight(kit.Spaced(r.Text()), " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Settle ends a command of the person with its status; the output stays as it came.
func (t *Transcript) Settle(id, status string, failed bool) {
	e := t.calls[id]
	if e == nil {
		return
	}
	c := e.block.(*Call)
	c.output = printed(c.output)
	if c.lost > 0 {
		c.output = fmt.Sprintf("[%s before this one are no longer kept]\n", plural(c.lost, "line")) + c.output
	}
	c.state, c.note = Done, kit.CleanLine(status)
	if failed {
		c.state = Failed
	}
	t.touch(e)
}
