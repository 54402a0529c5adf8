package match

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"
)

// kind of a difference that a projection takes away.
type kind uint8

const (
	lineEnds kind = 1 << iota
	quotes
	dashes
	spaces
	trailing
	invisible
	odd // a byte that is no text, as \xNN
)

// String names the differences in words.
func (k kind) String() string {
	var b []byte
	for i, name := range []string{"line ends", "quotes", "dashes", "kinds of blanks", "trailing blanks", "invisible marks", "bytes shown as \\xNN"} {
		if k&(1<<i) == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, name...)
	}
	return string(b)
}

// token is a place where the projected text differs from its original: size
// bytes at orig became width bytes at at.
type token struct {
	at, width  int
	orig, size int
	kind       kind
}

// projection is a text as it is compared, and the way back to the original.
type projection struct {
	text   []byte
	tokens []token // in order; between them both texts are equal
}

// project takes away the differences of line ends, or (loose) every one of them.
func project(b []byte, loose bool) projection {
	if !loose {
		return projectLineEnds(b)
	}
	p := projection{text: make([]byte, 0, len(b))}
	for i := 0; i < len(b); {
		if size := blanksBeforeBreak(b[i:]); size > 0 {
			p.add("", i, size, trailing)
			i += size
			continue
		}
		c := b[i]
		if c < utf8.RuneSelf {
			if c == '\r' && i+1 < len(b) && b[i+1] == '\n' {
				p.add("\n", i, 2, lineEnds)
				i += 2
				continue
			}
			p.text = append(p.text, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.add(fmt.Sprintf(`\x%02X`, c), i, 1, odd)
		default:
			if plain, k := plainOf(r); k != 0 {
				p.add(plain, i, size, k)
			} else {
				p.text = append(p.text, b[i:i+size]...)
			}
		}
		i += size
	}
	return p
}

func projectLineEnds(b []byte) projection {
	n := bytes.Count(b, []byte("\r\n"))
	if n == 0 {
		return projection{text: b}
	}
	p := projection{text: make([]byte, 0, len(b)-n), tokens: make([]token, 0, n)}
	for i := 0; ; {
		at := bytes.Index(b[i:], []byte("\r\n"))
		if at < 0 {
			p.text = append(p.text, b[i:]...)
			return p
		}
		p.text = append(p.text, b[i:i+at]...)
		p.add("\n", i+at, 2, lineEnds)
		i += at + 2
	}
}

func (p *projection) add(text string, orig, size int, k kind) {
	p.tokens = append(p.tokens, token{at: len(p.text), width: len(text), orig: orig, size: size, kind: k})
	p.text = append(p.text, text...)
}

// plainOf is what a keyboard has for a typographic mark.
func plainOf(r rune) (string, kind) {
	switch {
	case r == '‘' || r == '’' || r == '‚' || r == '‛' || r == '′' || r == 'ʼ':
		return "'", quotes
	case r == '“' || r == '”' || r == '„' || r == '‟' || r == '″':
		return `"`, quotes
	case r >= '\u2010' && r <= '\u2015' || r == '\u2212':
		return "-", dashes
	case isBlankRune(r):
		return " ", spaces
	case r == '\u200B' || r == '\u2060' || r == '\uFEFF':
		return "", invisible
	}
	return "", 0
}

func isBlankRune(r rune) bool {
	return r == '\u00A0' || r >= '\u2000' && r <= '\u200A' || r == '\u202F' || r == '\u205F' || r == '\u3000'
}

// blanksBeforeBreak is the size of the blanks at the start of b when a line break
// or the end follows them, else 0.
func blanksBeforeBreak(b []byte) int {
	i := 0
	for i < len(b) {
		if b[i] == ' ' || b[i] == '\t' {
			i++
			continue
		}
		if b[i] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRune(b[i:])
		if !isBlankRune(r) {
			break
		}
		i += size
	}
	if i == len(b) || b[i] == '\n' || bytes.HasPrefix(b[i:], []byte("\r\n")) {
		return i
	}
	return 0
}

// last returns the index of the last token that starts at or before the
// projected offset n, -1 for none.
func (p *projection) last(n int) int {
	return sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].at > n }) - 1
}

// start is the original offset of the character at the projected offset n.
func (p *projection) start(n int) int {
	i := p.last(n)
	if i < 0 {
		return n
	}
	t := p.tokens[i]
	if n < t.at+t.width {
		return t.orig
	}
	return t.orig + t.size + n - t.at - t.width
}

// end is the original offset behind the character before the projected offset n.
func (p *projection) end(n int) int {
	if n == 0 {
		return 0
	}
	i := p.last(n - 1)
	if i < 0 {
		return n
	}
	t := p.tokens[i]
	if n-1 < t.at+t.width {
		return t.orig + t.size
	}
	return t.orig + t.size + n - t.at - t.width
}

// whole tells that the projected offset n cuts no token in two.
func (p *projection) whole(n int) bool {
	i := p.last(n)
	return i < 0 || n == p.tokens[i].at || n >= p.tokens[i].at+p.tokens[i].width
}

// projected is the way from an original offset, which cuts no character, to the
// projected one.
func (p *projection) projected(o int) int {
	i := sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].orig > o }) - 1
	if i < 0 {
		return o
	}
	t := p.tokens[i]
	if o < t.orig+t.size {
		return t.at
	}
	return t.at + t.width + o - t.orig - t.size
}

// kinds of the tokens between two projected offsets.
func (p *projection) kinds(from, to int) kind {
	var k kind
	for i := sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].at >= from }); i < len(p.tokens) && p.tokens[i].at < to; i++ {
		k |= p.tokens[i].kind
	}
	return k
}
