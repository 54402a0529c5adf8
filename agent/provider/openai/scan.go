package openai

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNesting of values inside each other in one event.
const maxNesting = 512

// scanner reads one JSON text in one pass and without allocations but the growth
// of its scratch: a token must not cost more than its bytes. After a fault it is
// bad and gives nothing. Strings it returns live as long as the text and until
// the next reset.
type scanner struct {
	b       []byte
	i       int
	bad     bool
	scratch []byte
}

func (s *scanner) reset(b []byte) { *s = scanner{b: b, scratch: s.scratch[:0]} }

// peek skips blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) fail() { s.bad, s.i = true, len(s.b) }

// enter begins an object or list; false when the next value is another one,
// which is skipped.
func (s *scanner) enter(open byte) bool {
	if s.peek() == open {
		s.i++
		return true
	}
	s.skip()
	return false
}

// more tells whether another element comes before the closing byte; n counts
// them from 0.
func (s *scanner) more(closing byte, n *int) bool {
	c := s.peek()
	if *n > 0 && c == ',' {
		s.i++
		if c = s.peek(); c == closing {
			s.fail()
		}
	} else if *n > 0 && c != closing {
		s.fail()
	}
	if s.bad {
		return false
	}
	if c == closing {
		s.i++
		return false
	}
	*n++
	return true
}

// key returns the name of the next member.
func (s *scanner) key() []byte {
	if s.peek() != '"' {
		s.fail()
		return nil
	}
	name := s.text()
	if s.peek() != ':' {
		s.fail()
		return nil
	}
	s.i++
	return name
}

// text returns a string; of another value it returns nil and skips it.
func (s *scanner) text() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	s.i++
	from := s.i
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			s.i++
			return valid(s.b[from : s.i-1 : s.i-1])
		case '\\':
			return s.escaped(from)
		}
		s.i++
	}
	s.fail()
	return nil
}

// valid replaces bytes that are no UTF-8, as every JSON reader does.
func valid(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

// escaped reads on at the first backslash of a string that began at from.
func (s *scanner) escaped(from int) []byte {
	start := len(s.scratch)
	s.scratch = append(s.scratch, s.b[from:s.i]...)
	for s.i < len(s.b) {
		c := s.b[s.i]
		s.i++
		switch c {
		case '"':
			return valid(s.scratch[start:len(s.scratch):len(s.scratch)])
		case '\\':
			s.escape()
		default:
			s.scratch = append(s.scratch, c)
		}
	}
	s.fail()
	return nil
}

func (s *scanner) escape() {
	if s.i == len(s.b) {
		return
	}
	c := s.b[s.i]
	s.i++
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		s.scratch = utf8.AppendRune(s.scratch, s.unicode())
		return
	default:
		s.fail()
		return
	}
	s.scratch = append(s.scratch, c)
}

// unicode reads the digits behind \u, and a second half where it needs one.
func (s *scanner) unicode() rune {
	r := s.hex()
	if !utf16.IsSurrogate(r) {
		return r
	}
	if s.i+1 < len(s.b) && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
		back := s.i
		s.i += 2
		if pair := utf16.DecodeRune(r, s.hex()); pair != utf8.RuneError {
			return pair
		}
		if !s.bad {
			s.i = back
		}
	}
	return utf8.RuneError
}

func (s *scanner) hex() rune {
	if s.i+4 > len(s.b) {
		s.fail()
		return utf8.RuneError
	}
	var r rune
	for _, c := range s.b[s.i : s.i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			s.fail()
			return utf8.RuneError
		}
		r = r<<4 | rune(c)
	}
	s.i += 4
	return r
}

// number returns a number; false for another value, which is skipped.
func (s *scanner) number() (float64, bool) {
	raw := s.raw()
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' || n > 1<<40 {
			// Rare: a fraction, an exponent, a sign or a giant.
			f, err := strconv.ParseFloat(string(raw), 64)
			if err != nil {
				return 0, false
			}
			return f, true
		}
		n = n*10 + int(c-'0')
	}
	return float64(n), true
}

// raw returns the bytes of the next value.
func (s *scanner) raw() []byte {
	s.peek()
	from := s.i
	s.skip()
	if s.bad {
		return nil
	}
	return s.b[from:s.i:s.i]
}

// skip passes over one value. Of what is inside it only strings and brackets are
// looked at.
func (s *scanner) skip() {
	switch c := s.peek(); c {
	case '"':
		s.skipString()
	case '{', '[':
		s.skipNested()
	default:
		s.skipWord()
	}
}

func (s *scanner) skipNested() {
	var closing [maxNesting]byte
	depth := 0
	for !s.bad {
		switch c := s.peek(); {
		case c == '"':
			s.skipString()
		case c == '{' || c == '[':
			if depth == maxNesting {
				s.fail()
				return
			}
			closing[depth] = c + 2 // '}' and ']' stand two behind
			depth++
			s.i++
		case c == closing[depth-1]:
			depth--
			s.i++
			if depth == 0 {
				return
			}
		case c == ',' || c == ':':
			s.i++
		default:
			s.skipWord()
		}
	}
}

func (s *scanner) skipString() {
	for s.i++; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return
		}
	}
	s.fail()
}

// skipWord passes over a number, true, false or null.
func (s *scanner) skipWord() {
	from := s.i
	for s.i < len(s.b) {
		c := s.b[s.i]
		if c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			break
		}
		s.i++
	}
	word := s.b[from:s.i]
	if len(word) > 0 && (word[0] == '-' || word[0] >= '0' && word[0] <= '9') {
		return
	}
	switch string(word) {
	case "true", "false", "null":
		return
	}
	s.fail()
}

// end tells whether the text was one sound value.
func (s *scanner) end() bool { return !s.bad && s.peek() == 0 && s.i >= len(s.b) }
