package shell

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is what was kept of a stream: all of it in Head, or its start and its
// end. Neither is cut inside a UTF-8 character.
type Text struct {
	Head, Tail string
	// Bytes and Lines are of the whole stream; a last line without a line
	// break counts.
	Bytes, Lines int64
}

// Omitted returns how many bytes lie between Head and Tail.
func (t Text) Omitted() int64 { return t.Bytes - int64(len(t.Head)+len(t.Tail)) }

// String returns the text, with a line that says how much is missing.
func (t Text) String() string {
	n := t.Omitted()
	if n == 0 {
		return t.Head + t.Tail
	}
	lines := t.Lines - countLines(t.Head, true) - countLines(t.Tail, false)
	return fmt.Sprintf("%s\n[… %d bytes, about %d lines, left out …]\n%s", t.Head, n, max(lines, 0), t.Tail)
}

func countLines(s string, start bool) int64 {
	n := int64(strings.Count(s, "\n"))
	if s != "" && !start && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// capture keeps the start and the end of a stream in bounded memory.
type capture struct {
	headMax, tailMax int
	head             []byte
	ring             []byte // the last bytes after head; wraps at pos once full
	pos              int
	bytes, breaks    int64
	open             bool // the last line has no line break yet
}

func (c *capture) add(b []byte) {
	if len(b) == 0 {
		return
	}
	c.bytes += int64(len(b))
	c.breaks += int64(bytes.Count(b, []byte{'\n'}))
	c.open = b[len(b)-1] != '\n'
	if room := min(c.headMax-len(c.head), len(b)); room > 0 {
		c.head = append(c.head, b[:room]...)
		b = b[room:]
	}
	if len(b) >= c.tailMax {
		c.ring = append(c.ring[:0], b[len(b)-c.tailMax:]...)
		c.pos = 0
		return
	}
	if room := min(c.tailMax-len(c.ring), len(b)); room > 0 {
		c.ring = append(c.ring, b[:room]...)
		b = b[room:]
	}
	for len(b) > 0 {
		n := copy(c.ring[c.pos:], b)
		b = b[n:]
		c.pos = (c.pos + n) % c.tailMax
	}
}

// whole tells whether n more bytes would still all be kept.
func (c *capture) whole(n int) bool { return c.bytes+int64(n) <= int64(c.headMax+c.tailMax) }

// tail returns the kept end in order.
func (c *capture) tail() []byte {
	return append(bytes.Clone(c.ring[c.pos:]), c.ring[:c.pos]...)
}

func (c *capture) text() Text {
	t := Text{Bytes: c.bytes, Lines: c.breaks}
	if c.open {
		t.Lines++
	}
	tail := c.tail()
	if int64(len(c.head)+len(tail)) == c.bytes {
		t.Head = string(c.head) + string(tail)
		return t
	}
	t.Head, t.Tail = string(trimEnd(c.head)), string(trimStart(tail))
	return t
}

// trimEnd drops the first bytes of a character whose rest was cut off.
func trimEnd(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		last := b[len(b)-i:]
		if utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}

// trimStart drops the last bytes of a character whose start was cut off.
func trimStart(b []byte) []byte {
	for i := 0; i < utf8.UTFMax-1 && i < len(b); i++ {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b
}
