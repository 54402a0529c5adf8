package input

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// Entry is what a person sends.
type Entry struct {
	// Text as the model reads it: pastes in full, cited and attached files as @path.
	Text string
	// Attached are the files to send as files.
	Attached []string
}

// EditorOptions of an editor. Host and Send are needed.
type EditorOptions struct {
	Host kit.Host
	// Send takes an entry, which is not empty. The editor is empty again by then, and
	// the history has it.
	Send func(Entry)
	// Steer takes a queued line that should not wait for the end of the run.
	Steer func(Entry)
	// Empty hears that Enter was pressed with nothing written; nil for nobody.
	Empty func()
	// External opens the text in the person's editor; the answer comes by SetText.
	External func(text string)
	// Ask has completions looked for; they come by Offer with the generation of r.
	Ask func(r Request)
	// Exists tells whether there is a file of that path, beside the event loop; nil for
	// an editor in which a path stays text.
	Exists func(path string) bool
	// Changed is called after the text changed; nil for nobody.
	Changed func()
	// Pending tells whether more input waits; nil when that is not known.
	Pending func() bool
	// History is looked through with Up and Down; nil for an own, empty one.
	History *History
	// Keys; nil for DefaultKeys.
	Keys Keymap
	// Placeholder stands in the empty editor.
	Placeholder string
}

// Editor is where a prompt is written: a rule, the queued lines, the text. It implements
// kit.Sized. Its list of completions is drawn above it by DrawPopup, after all other
// parts.
type Editor struct {
	*tview.Box
	o     EditorOptions
	b     *buffer
	queue Queue
	// marked is the queued line that has the keys; -1 when the text has.
	marked int
	burst  burst
	pop    completion

	lay        *layout
	layVersion int
	layWidth   int
	layBurst   int
	top        int // first visible row of the text
	textY      int // screen row of the first visible row

	when  func(*tcell.EventKey) time.Time
	now   func() time.Time
	after func(d time.Duration, f func())
}

// NewEditor returns an empty editor.
func NewEditor(o EditorOptions) *Editor {
	if o.History == nil {
		o.History = NewHistory()
	}
	if o.Keys == nil {
		o.Keys = defaultKeys
	}
	e := &Editor{Box: tview.NewBox(), o: o, b: newBuffer(), marked: -1}
	e.queue.popped = func() { e.marked = max(e.marked-1, -1) } // the mark stays on its line
	e.when = func(ev *tcell.EventKey) time.Time { return ev.When() }
	e.now = time.Now
	e.after = func(d time.Duration, f func()) { o.Host.Go(func() { time.Sleep(d) }, f) }
	return e
}

// Text is what was typed, pastes in full.
func (e *Editor) Text() string {
	e.flush()
	return e.b.p.whole()
}

// Empty tells whether nothing was typed.
func (e *Editor) Empty() bool { return e.b.p.text == "" && e.burst.empty() }

// SetText replaces the text, as one step that can be undone, and puts the caret at
// its end. It is for texts that come back from an editor or a plugin.
func (e *Editor) SetText(text string) {
	e.flush()
	p := plainPiece(tidy(text))
	if len(p.text) > HistoryBytes {
		p = pasted(text)
	}
	e.b.change(0, len(e.b.p.text), p)
	e.changed()
}

// Insert puts text in at the caret, as typed.
func (e *Editor) Insert(text string) {
	e.flush()
	e.b.insert(plainPiece(tidy(text)))
	e.changed()
}

// Clear empties the editor; undo brings the text back.
func (e *Editor) Clear() {
	e.flush()
	e.b.change(0, len(e.b.p.text), piece{})
	e.changed()
}

// AttachFile puts a file in at the caret, with a blank around it.
func (e *Editor) AttachFile(path string) {
	e.flush()
	p := foldPiece(fileFold(view.CleanLine(path))).join(plainPiece(" "))
	if before := e.b.p.text[:e.b.caret]; before != "" && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\n") {
		p = plainPiece(" ").join(p)
	}
	e.b.insert(p)
	e.changed()
}

// Attached are the files that go with what is written, in order.
func (e *Editor) Attached() []string { return e.b.p.files() }

// Detach takes all attached files out of what is written, as one step that can be undone.
func (e *Editor) Detach() {
	e.flush()
	p := e.b.p
	for i := 0; i < len(p.folds); {
		if p.folds[i].file == "" {
			i++
			continue
		}
		at := place(p.text, i)
		end := at + 1
		if strings.HasPrefix(p.text[end:], " ") {
			end++
		}
		p = p.replace(at, end, piece{})
	}
	e.b.change(0, len(e.b.p.text), p)
	e.changed()
}

// Shell tells whether what is written is a command for the shell.
func (e *Editor) Shell() bool { return strings.HasPrefix(e.b.p.text, "!") }

// Queue is what waits for the end of the run.
func (e *Editor) Queue() *Queue { return &e.queue }

// Return puts an entry back that was not taken, where nothing else is written.
func (e *Editor) Return(entry Entry) {
	if e.Empty() {
		e.b.set(pieceOf(entry))
		e.changed()
	}
}

// Paste puts a paste in: one entry, one step back, never sent.
func (e *Editor) Paste(text string) bool {
	e.flush()
	e.marked = -1
	e.b.insert(pasted(text))
	e.changed()
	e.dropped(text)
	return true
}

// changed is called after each change of the text or the caret.
func (e *Editor) changed() {
	e.complete()
	if e.o.Changed != nil {
		e.o.Changed()
	}
}

// Key handles a key. Those it has no use for, Esc without a list among them, are the
// program's.
func (e *Editor) Key(ev *tcell.EventKey) bool {
	if e.burstKey(ev) {
		return true
	}
	return e.press(chord(ev), letter(ev))
}

// press handles a key that is part of no burst.
func (e *Editor) press(c string, r rune) bool {
	if e.marked >= 0 && e.queueKey(c) {
		return true
	}
	if e.popKey(c) {
		return true
	}
	if r != 0 {
		e.b.typed(r)
		e.changed()
		return true
	}
	action, bound := e.o.Keys[c]
	if !bound {
		return false
	}
	return e.act(action)
}

func (e *Editor) act(a Action) bool {
	b := e.b
	version := b.version
	switch a {
	case Send:
		e.send()
		return true
	case Complete:
		e.openCompletion()
		return true
	case External:
		if e.o.External == nil {
			return false
		}
		e.o.External(e.Text())
		return true
	case Delete:
		if b.p.text == "" {
			return false // Ctrl-D in an empty input may mean something else
		}
	}
	if !b.act(a, e.layout) {
		switch a {
		case Up:
			if !e.enterQueue() {
				e.recall(-1)
			}
			return true
		case Down:
			e.recall(1)
			return true
		}
		return false
	}
	if b.version != version {
		e.changed()
	} else {
		e.moved()
	}
	return true
}

// recall shows another entry of the history. It opens no list, which would take the
// keys that go on through the history.
func (e *Editor) recall(steps int) {
	p, ok := e.o.History.move(steps, e.b.p)
	if !ok {
		return
	}
	e.b.set(p)
	if steps < 0 { // Down goes on from the last row, Up from the first
		e.b.to(e.firstRowEnd())
	}
	e.pop.close()
	e.pop.kind, e.pop.refused = 0, false
	if e.o.Changed != nil {
		e.o.Changed()
	}
}

// firstRowEnd is where Up leaves the caret, so that the next Up goes on.
func (e *Editor) firstRowEnd() int {
	l := e.layout()
	return l.at(0, l.width)
}

func (e *Editor) send() {
	entry := entryOf(e.b.p)
	if strings.TrimSpace(entry.Text) == "" {
		if e.o.Empty != nil && e.b.p.text == "" {
			e.o.Empty()
		}
		return
	}
	e.o.History.add(entry)
	e.b.set(piece{})
	e.top = 0
	e.changed()
	e.o.Send(entry)
}

func entryOf(p piece) Entry {
	return Entry{Text: strings.TrimRight(p.whole(), " \n\t"), Attached: p.files()}
}
