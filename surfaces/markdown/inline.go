package markdown

import (
	"strings"
	"unicode/utf8"

	"starling/surfaces"
)

// piece is a part of inline source. What it closes comes before its text, what it
// opens behind.
type piece struct {
	text   string
	style  surfaces.Style // over that around it
	closes int
	opens  []mark // from the inside out
}

// mark begins what a later piece closes.
type mark struct {
	kind markKind
	url  string // of a link or an image
}

type markKind uint8

const (
	markEmphasis markKind = iota
	markStrong
	markStrike
	markLink
	markImage
)

// inlines cuts the text of one block into pieces, from left to right. Signs that may
// open something wait on two stacks, as in the standard.
type inlines struct {
	src    string
	breaks bool // each end of a line is one on the screen
	pos    int
	pieces []piece

	delims   []delim
	top      int // of the stack in delims, -1 when it is empty
	brackets []bracket
	noLink   int // brackets below open no link: one has ended inside of them

	ticks map[int]int // where the last row of as many backticks begins; made when needed
	ends  [4]ending   // of comments and the like
}

// spans returns what inline source looks like; with breaks its lines stay lines.
func spans(src string, style surfaces.Style, breaks bool) []surfaces.Span {
	p := &inlines{src: src, breaks: breaks, top: -1}
	for p.pos < len(src) {
		p.next()
	}
	p.match(-1)
	return paint(p.pieces, style)
}

func (p *inlines) text(s string) {
	if s != "" {
		p.pieces = append(p.pieces, piece{text: s})
	}
}

// literal takes n bytes as they are.
func (p *inlines) literal(n int) {
	p.text(p.src[p.pos : p.pos+n])
	p.pos += n
}

func (p *inlines) next() {
	rest := p.src[p.pos:]
	switch rest[0] {
	case '\\':
		switch {
		case len(rest) > 1 && rest[1] == '\n':
			p.text("\n")
			p.pos += 2
			p.spaces()
		case len(rest) > 1 && punct(rest[1]):
			p.pos++
			p.literal(1)
		default:
			p.literal(1)
		}
	case '`':
		p.code()
	case '*', '_', '~':
		p.run()
	case '!':
		if len(rest) > 1 && rest[1] == '[' {
			p.bracket(2)
			return
		}
		p.literal(1)
	case '[':
		p.bracket(1)
	case ']':
		p.closeBracket()
	case '<':
		p.angle()
	case '&':
		if text, n := entity(rest); n > 0 {
			p.text(text)
			p.pos += n
			return
		}
		p.literal(1)
	case '\n':
		p.lineEnd()
	default:
		n := strings.IndexAny(rest, "\\`*_~![]<&\n")
		if n < 0 {
			n = len(rest)
		}
		p.literal(n)
	}
}

func (p *inlines) spaces() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

// lineEnd breaks the line where lines stay lines, behind two spaces, and where a reference
// is defined: those are shown as they are written. Else it is a space.
func (p *inlines) lineEnd() {
	line := strings.TrimRight(p.src[:p.pos], " \t")
	hard := p.breaks || strings.HasSuffix(p.src[:p.pos], "  ")
	if n := len(p.pieces); n > 0 && len(line) < p.pos {
		last := &p.pieces[n-1].text
		*last = strings.TrimRight(*last, " \t")
	}
	from := strings.LastIndexByte(line, '\n') + 1
	p.pos++
	p.spaces()
	if hard || defines(line[from:]) || defines(p.src[p.pos:]) {
		p.text("\n")
		return
	}
	p.text(" ")
}

// defines tells whether a line says where a reference leads: [name]: target.
func defines(line string) bool {
	if line == "" || line[0] != '[' {
		return false
	}
	end := strings.IndexAny(line[1:], "[]\n")
	return end > 0 && strings.HasPrefix(line[1+end:], "]: ")
}

// code takes a span of code, or a row of backticks that begins none.
func (p *inlines) code() {
	n := ticksAt(p.src[p.pos:])
	if p.ticks == nil {
		p.ticks = map[int]int{}
		for i := p.pos; i < len(p.src); {
			k := ticksAt(p.src[i:])
			if k == 0 {
				i++
				continue
			}
			p.ticks[k] = i
			i += k
		}
	}
	start := p.pos + n
	if p.ticks[n] < start {
		p.literal(n)
		return
	}
	end := start
	for {
		end += strings.IndexByte(p.src[end:], '`')
		k := ticksAt(p.src[end:])
		if k == n {
			break
		}
		end += k
	}
	text := strings.ReplaceAll(p.src[start:end], "\n", " ")
	if k := len(text); k > 2 && text[0] == ' ' && text[k-1] == ' ' && strings.Trim(text, " ") != "" {
		text = text[1 : k-1]
	}
	p.pieces = append(p.pieces, piece{text: text, style: surfaces.Code})
	p.pos = end + n
}

func ticksAt(s string) int {
	n := 0
	for n < len(s) && s[n] == '`' {
		n++
	}
	return n
}

// around returns the characters before and behind a part of the source; the ends of
// the text count as line ends.
func (p *inlines) around(from, to int) (before, after rune) {
	before, after = '\n', '\n'
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(p.src[:from])
	}
	if to < len(p.src) {
		after, _ = utf8.DecodeRuneInString(p.src[to:])
	}
	return before, after
}

// punct tells whether a backslash may stand before the sign.
func punct(b byte) bool {
	return b > ' ' && b < 0x7f && !letter(b) && !digit(b)
}
