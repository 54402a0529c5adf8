package tui

import (
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
)

const (
	// colourWait is how long the answer about the background may take.
	colourWait = 150 * time.Millisecond
	// pasteWait ends a paste whose end never comes.
	pasteWait = time.Second
	readSize  = 32 << 10
	// escapeWait is how long the rest of a key may take that began with Escape.
	escapeWait = 60 * time.Millisecond
)

// terminal sees every byte before tcell does: it takes pastes whole, and asks what
// the background is.
type terminal struct {
	tcell.Tty
	// late hears a paste that was ended because nothing more came. Any goroutine.
	late func(text string)
	// typed hears Esc, or a character that was typed right behind it, where the decoder
	// would wait for more. Any goroutine.
	typed func(r rune)
	// background hears the answer. Any goroutine.
	background func(light bool)

	mu     sync.Mutex
	f      filter
	e      escapes
	ready  []byte // for tcell
	spare  []byte
	quiet  *time.Timer
	asking bool
	size   tcell.WindowSize // the last one that was one
}

func newTerminal(tty tcell.Tty) *terminal {
	return &terminal{Tty: tty, spare: make([]byte, readSize)}
}

// Start begins raw mode, and asks for the background where somebody listens.
func (t *terminal) Start() error {
	if err := t.Tty.Start(); err != nil {
		return err
	}
	t.mu.Lock()
	ask := t.background != nil && !t.asking
	t.asking = t.asking || ask
	t.f.asked = t.f.asked || ask
	t.mu.Unlock()
	if ask {
		if _, err := t.Write([]byte("\x1b]11;?\x1b\\")); err != nil {
			return err
		}
	}
	return nil
}

// WindowSize is the last known size where the terminal tells none, as after a
// hang-up: with a screen of no cells drawing would go round for ever.
func (t *terminal) WindowSize() (tcell.WindowSize, error) {
	size, err := t.Tty.WindowSize()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && size.Width > 0 && size.Height > 0 {
		t.size = size
	}
	if t.size.Width == 0 {
		t.size = tcell.WindowSize{Width: 80, Height: 24}
	}
	return t.size, nil
}

// Read returns what is for tcell; it may be nothing.
func (t *terminal) Read(p []byte) (int, error) {
	if n := t.take(p); n > 0 {
		return n, nil
	}
	n, err := t.Tty.Read(t.spare)
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 {
		t.ready = oneEscape(append(t.ready, t.e.apart(t.f.read(t.spare[:n]))...))
		t.after()
	}
	m := copy(p, t.ready)
	t.ready = t.ready[m:]
	if m > 0 {
		err = nil // comes again with the next call
	}
	return m, err
}

func (t *terminal) take(p []byte) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n
}

// after looks what the last bytes changed. It needs mu.
func (t *terminal) after() {
	if t.f.colour != "" {
		if light, ok := lightColour(t.f.colour); ok && t.background != nil {
			go t.background(light)
		}
		t.f.colour = ""
	}
	if t.quiet != nil {
		t.quiet.Stop()
		t.quiet = nil
	}
	if t.f.pasting {
		t.quiet = time.AfterFunc(pasteWait, t.endPaste)
	}
	if t.e.timer != nil {
		t.e.timer.Stop()
		t.e.timer = nil
	}
	if len(t.e.held) > 0 {
		t.e.timer = time.AfterFunc(escapeWait, t.endEscape)
	}
}

// endEscape ends the wait for the rest of a sequence: Esc and a character were typed.
func (t *terminal) endEscape() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.e.giveUp(); r != 0 && t.typed != nil {
		go t.typed(r)
	}
}

func (t *terminal) endPaste() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.f.pasting {
		return
	}
	t.f.finish()
	last := len(t.f.pasted) - 1
	text := t.f.pasted[last]
	t.f.pasted = t.f.pasted[:last]
	if t.late != nil {
		go t.late(text)
	}
}

// stopAsking ends the wait for the background; what was held is given as it is.
func (t *terminal) stopAsking() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = oneEscape(append(t.ready, t.e.apart(t.f.giveUp())...))
	t.after() // an Esc among it waits for its rest, which may never come
}

// oneEscape makes one press of Esc of several that came at once. The key decoder waits
// for ever for what follows the second one, and hears no Esc any more.
func oneEscape(b []byte) []byte {
	for n := len(b); n > 1 && b[n-1] == 0x1b && b[n-2] == 0x1b; n-- {
		b = b[:n-1]
	}
	return b
}

// pasted returns the oldest paste whose end tcell has told; false when there is none.
func (t *terminal) pasted() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.f.pasted) == 0 {
		return "", false
	}
	text := t.f.pasted[0]
	t.f.pasted = t.f.pasted[1:]
	return text, true
}
