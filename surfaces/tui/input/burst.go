package input

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// A terminal without bracketed paste sends a paste as keys. People do not type two
// characters within ten milliseconds, so keys that close together are a burst: they
// are put in at once, as one step, and no line end among several lines sends. A burst
// of one line whose last key is Enter does send: that is how programs that type for a
// person look, and nothing tells it from a paste.
const (
	burstGap = 10 * time.Millisecond
	// linesGap ends a burst of several lines; it is longer, since a slow connection
	// has holes and sending half a paste is the worse mistake.
	linesGap = 50 * time.Millisecond
	// hole is how long after several lines the next burst may be more of them: its first
	// line end sends nothing either. Enter by itself does.
	hole = 500 * time.Millisecond
)

// burst is keys that came too close together to be typed.
type burst struct {
	text  []byte
	lines int // line ends in text
	last  time.Time
	ended time.Time // last of the latest burst of several lines
	// held is Enter or Tab whose meaning depends on what follows; "" for none.
	held string
	// cr tells that the last character came of an Enter: a line feed after it is the
	// same line end.
	cr    bool
	timer bool
}

func (u *burst) empty() bool { return len(u.text) == 0 && u.held == "" }

func (u *burst) gap() time.Duration {
	if u.lines > 0 {
		return linesGap
	}
	return burstGap
}

func (u *burst) add(r rune) {
	u.text = utf8.AppendRune(u.text, r)
	u.cr = false
	if r == '\n' {
		u.lines++
	}
}

// release gives the held key its meaning as text.
func (u *burst) release() {
	switch u.held {
	case "enter":
		u.add('\n')
	case "tab":
		u.add('\t')
	}
	u.held = ""
}

// burstKey takes a key that is part of a burst, or may be the beginning of one; false
// leaves it to press.
func (e *Editor) burstKey(ev *tcell.EventKey) bool {
	u := &e.burst
	at, c, r := e.when(ev), chord(ev), letter(ev)
	follows := !u.last.IsZero() && at.Sub(u.last) < u.gap()
	if !follows {
		e.flush()
		if u.lines > 0 {
			u.ended = u.last
		}
		u.lines = 0
	}
	enter, tab := isEnter(c), c == "tab"
	if r == 0 && !enter && !tab {
		e.flush()
		u.last = time.Time{}
		return false
	}
	u.last = at
	switch {
	case e.marked >= 0:
		return false
	case c == "enter" && u.lines == 0 && u.held == "tab":
		e.flush() // a program that types for a person: complete, then send
		u.held = c
	case c == "enter" && u.lines == 0:
		// Another Enter behind one that is held: the held one was a line end. So is one
		// within what goes on with a paste.
		isLine := u.held != "" || follows && at.Sub(u.ended) < hole
		u.release()
		if isLine {
			u.add('\n')
			u.cr = true
			break
		}
		u.held = c
	case tab && u.lines == 0 && e.pop.open:
		u.release()
		u.held = c
	case !follows:
		return false
	case enter:
		if c == "ctrl+j" && (u.held == "enter" || u.cr) {
			u.release()
			u.cr = false
			break
		}
		u.release()
		u.add('\n')
		u.cr = c == "enter"
	case tab:
		u.release()
		u.add('\t')
	default:
		u.release()
		u.add(r)
	}
	e.arm()
	return true
}

// arm has the burst looked at when it may be over.
func (e *Editor) arm() {
	if e.burst.timer {
		return
	}
	e.burst.timer = true
	e.after(e.burst.gap(), func() {
		e.burst.timer = false
		if e.burst.empty() {
			return
		}
		waits := e.o.Pending != nil && e.o.Pending()
		if waits || e.now().Sub(e.burst.last) < e.burst.gap() {
			e.arm()
			return
		}
		e.flush()
	})
}

// flush puts the text of a burst in, and does what a held key means by itself: no
// character followed it.
func (e *Editor) flush() {
	held := e.burst.held
	e.burst.held = ""
	e.putBurst()
	if held != "" {
		e.press(held, 0)
	}
}

func (e *Editor) putBurst() {
	u := &e.burst
	if len(u.text) == 0 {
		return
	}
	p := burstPiece(string(u.text))
	u.text, u.cr = nil, false
	e.b.insert(p)
	e.changed()
}

func burstPiece(s string) piece {
	if strings.Contains(s, "\n") {
		return pasted(s)
	}
	return plainPiece(tidy(s))
}
