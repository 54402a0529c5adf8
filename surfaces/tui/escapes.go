package tui

import (
	"fmt"
	"strings"
	"time"
)

// escapes tells what a person typed right behind Esc from the sequences a terminal
// sends: the key decoder takes some of those characters for the beginning of a string
// and swallows what is typed from then on. Like filter it is a state machine that sees
// every byte; the body of a paste is not among them.
type escapes struct {
	text  bool   // inside of a string the terminal sends
	esc   bool   // its last byte was Escape
	held  []byte // Escape, or it and a character that may begin a key
	timer *time.Timer
}

// keysOfO are what follows ESC O in a key.
const keysOfO = "ABCDFHMPQRSEItuvlwx"

// apart takes bytes and returns those for the key decoder: Esc and a character that
// begin no key come as one with Alt.
func (e *escapes) apart(in []byte) []byte {
	in = oneEscape(append(e.held, in...))
	e.held = nil
	out := make([]byte, 0, len(in)+8)
	for i := 0; i < len(in); i++ {
		c := in[i]
		if e.text {
			out = append(out, c)
			e.text = c != 0x07 && !(e.esc && c == '\\')
			e.esc = c == 0x1b
			continue
		}
		if c != 0x1b {
			out = append(out, c)
			continue
		}
		if i+1 == len(in) { // what was typed right behind it may come by itself
			e.held = []byte{c}
			break
		}
		next, rest := in[i+1], in[i+2:]
		switch {
		case next >= 0x80: // the decoder would forget the Esc
			out = append(out, "\x1b[27u"...)
		case (next == 'O' || next == '[') && len(rest) == 0:
			e.held = []byte{c, next}
			i++
		case next == ']' && begins(rest):
			e.text, e.esc = true, false
			out = append(out, c)
		case strings.IndexByte("NX^_\\]", next) >= 0, next == 'O' && strings.IndexByte(keysOfO, rest[0]) < 0:
			out = fmt.Appendf(out, "\x1b[%d;3u", next)
			i++
		default:
			out = append(out, c)
		}
	}
	return out
}

// begins tells whether bytes behind ESC ] begin what a terminal says: a number.
func begins(rest []byte) bool { return len(rest) > 1 && rest[0] >= '0' && rest[0] <= '9' }

// giveUp returns the character that is held behind an Escape, or Escape itself; 0 for
// none.
func (e *escapes) giveUp() rune {
	if len(e.held) == 0 {
		return 0
	}
	r := rune(e.held[len(e.held)-1])
	e.held = nil
	return r
}
