package tui

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The sequences around a bracketed paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// maxPaste is the most bytes of one paste that are kept.
const maxPaste = 16 << 20

// filter reads what a terminal sends before the key decoder does: it takes pastes
// whole and the reply about the background out. It is no more than a state machine:
// bytes in any portions give the same.
type filter struct {
	pasting bool
	body    []byte
	held    []byte // the beginning of something, not passed on yet
	match   int    // bytes of pasteBegin that were passed on
	asked   bool   // a colour reply is awaited
	doubt   []byte // an end of a paste, and what came behind it, that may be text of it

	pasted []string // bodies of the pastes whose end was passed on
	colour string   // the reply, such as "rgb:1e1e/1e1e/1e1e"
}

// full is how many bytes a read has, at least, behind which more is on its way.
const full = 4000

// read is push for what one read of the terminal gave. A pasted text may hold the
// sequence that ends a paste, and keys behind it: a terminal that passes it on would let
// the text send itself, or run a command. So a paste goes on to the last end that came
// at once, and the ends within are no text.
func (f *filter) read(in []byte) []byte {
	more := len(in) >= full
	if f.pasting {
		in = slices.Concat(f.held, f.doubt, in)
		f.held, f.doubt = nil, nil
	}
	last := bytes.LastIndex(in, []byte(pasteEnd))
	start := 0
	if !f.pasting {
		if start = bytes.Index(in, []byte(pasteBegin)); start >= 0 {
			start += len(pasteBegin)
		}
	}
	if last < 0 || start < 0 || start > last {
		return f.push(in)
	}
	out := f.push(in[:start])
	body := in[start:last]
	for bytes.Contains(body, []byte(pasteEnd)) { // taking one out may make another
		body = bytes.ReplaceAll(body, []byte(pasteEnd), nil)
	}
	out = append(out, f.push(body)...)
	rest := in[last:]
	if more && len(rest) > len(pasteEnd) {
		f.doubt = bytes.Clone(rest)
		return out
	}
	return append(out, f.push(rest)...)
}

// push takes bytes and returns those for the key decoder. Of a paste only its two
// markers go on, the end one when it is whole.
func (f *filter) push(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if f.pasting {
			n := bytes.IndexByte(in[i:], 0x1b)
			if len(f.held) == 0 && n != 0 { // the plain part at once
				if n < 0 {
					n = len(in) - i
				}
				f.keep(in[i : i+n])
				i += n - 1
				continue
			}
			out = f.inPaste(in[i], out)
			continue
		}
		out = f.outside(in[i], out)
	}
	return out
}

func (f *filter) keep(b []byte) {
	if room := maxPaste - len(f.body); room > 0 {
		f.body = append(f.body, b[:min(len(b), room)]...)
	}
}

func (f *filter) inPaste(c byte, out []byte) []byte {
	f.held = append(f.held, c)
	for len(f.held) > 0 && !strings.HasPrefix(pasteEnd, string(f.held)) {
		f.keep(f.held[:1])
		f.held = f.held[1:]
	}
	if len(f.held) == len(pasteEnd) {
		f.held = nil
		f.finish()
		out = append(out, pasteEnd...)
	}
	return out
}

// finish ends the paste at hand.
func (f *filter) finish() {
	f.keep(bytes.TrimPrefix(f.doubt, []byte(pasteEnd)))
	f.doubt = nil
	f.pasted = append(f.pasted, pasteText(f.body))
	f.pasting, f.body, f.held = false, nil, nil
}

const colourHead = "\x1b]11;"

func (f *filter) outside(c byte, out []byte) []byte {
	if f.asked && (len(f.held) > 0 || c == 0x1b) {
		return f.reply(c, out)
	}
	return f.pass(c, out)
}

// pass hands one byte on and looks whether a paste begins.
func (f *filter) pass(c byte, out []byte) []byte {
	switch {
	case c == pasteBegin[f.match]:
		f.match++
	case c == 0x1b:
		f.match = 1
	default:
		f.match = 0
	}
	out = append(out, c)
	if f.match == len(pasteBegin) {
		f.match, f.pasting = 0, true
	}
	return out
}

// reply collects the answer to the question for the background. What turns out to be
// something else is passed on.
func (f *filter) reply(c byte, out []byte) []byte {
	f.held = append(f.held, c)
	held := string(f.held)
	if len(held) <= len(colourHead) && strings.HasPrefix(colourHead, held) {
		return out
	}
	if strings.HasPrefix(held, colourHead) && len(held) < 64 {
		body := held[len(colourHead):]
		end := strings.TrimSuffix(strings.TrimSuffix(body, "\x07"), "\x1b\\")
		if end != body {
			f.colour, f.asked, f.held = end, false, nil
		}
		return out
	}
	rest := f.held
	f.held = nil
	for _, b := range rest {
		out = f.pass(b, out)
	}
	return out
}

// giveUp ends the wait for a reply and returns what was held for it.
func (f *filter) giveUp() []byte {
	if !f.asked {
		return nil
	}
	f.asked = false
	rest := f.held
	f.held = nil
	var out []byte
	for _, b := range rest {
		out = f.pass(b, out)
	}
	return out
}

// pasteText makes text of a paste: line ends are "\n", what is no text is gone.
func pasteText(body []byte) string {
	s := strings.ToValidUTF8(string(body), string(utf8.RuneError))
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.ReplaceAll(s, "\r", "\n")
}

// lightColour tells whether a reply such as "rgb:ffff/ffff/ffff" is a light colour.
func lightColour(reply string) (light, ok bool) {
	rest, found := strings.CutPrefix(reply, "rgb:")
	if !found {
		rest, found = strings.CutPrefix(reply, "rgba:")
	}
	parts := strings.Split(rest, "/")
	if !found || len(parts) < 3 {
		return false, false
	}
	sum := 0.0
	for i, weight := range []float64{0.299, 0.587, 0.114} {
		n, err := strconv.ParseUint(parts[i], 16, 32)
		if err != nil || len(parts[i]) == 0 {
			return false, false
		}
		full := float64(uint64(1)<<(4*len(parts[i])) - 1)
		sum += weight * float64(n) / full
	}
	return sum > 0.5, true
}

// lightByEnv reads COLORFGBG, such as "0;15": the background is last.
func lightByEnv(value string) (light, ok bool) {
	_, back, found := strings.Cut(value, ";")
	if i := strings.LastIndexByte(back, ';'); i >= 0 {
		back = back[i+1:]
	}
	n, err := strconv.Atoi(back)
	if !found || err != nil {
		return false, false
	}
	return n == 7 || n >= 9 && n <= 15, true
}
