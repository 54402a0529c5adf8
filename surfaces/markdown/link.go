package markdown

import "strings"

// bracket is an open "[" or "![".
type bracket struct {
	piece int
	image bool
	delim int // top of the delimiters when it came
}

func (p *inlines) bracket(n int) {
	p.literal(n)
	p.brackets = append(p.brackets, bracket{piece: len(p.pieces) - 1, image: n == 2, delim: p.top})
}

// closeBracket makes a link or an image of what stands before, or takes "]" as text.
func (p *inlines) closeBracket() {
	last := len(p.brackets) - 1
	if last < 0 {
		p.literal(1)
		return
	}
	b := p.brackets[last]
	p.brackets = p.brackets[:last]
	dead := last < p.noLink && !b.image
	p.noLink = min(p.noLink, last)
	url, n := target(p.src[p.pos+1:])
	if dead || n == 0 {
		p.literal(1)
		return
	}
	p.match(b.delim)
	kind := markImage
	if !b.image {
		kind, p.noLink = markLink, last
	}
	p.pieces[b.piece].text = ""
	p.pieces[b.piece].opens = []mark{{kind: kind, url: url}}
	p.pieces = append(p.pieces, piece{closes: 1})
	p.pos += 1 + n
}

// maxParens is how many parentheses may be open in the target of a link.
const maxParens = 32

// target reads what follows the text of a link: "(url)", "(url "title")", and its
// length, 0 for something else.
func target(s string) (url string, n int) {
	if s == "" || s[0] != '(' {
		return "", 0
	}
	rest := strings.TrimLeft(s[1:], " \t\n")
	raw, after, ok := destination(rest)
	if !ok {
		return "", 0
	}
	rest = strings.TrimLeft(after, " \t\n")
	if len(rest) < len(after) && rest != "" && rest[0] != ')' {
		if after, ok = title(rest); !ok {
			return "", 0
		}
		rest = strings.TrimLeft(after, " \t\n")
	}
	if rest == "" || rest[0] != ')' {
		return "", 0
	}
	return unescape(raw), len(s) - len(rest) + 1
}

// destination takes the address off s.
func destination(s string) (raw, rest string, ok bool) {
	if strings.HasPrefix(s, "<") {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '>':
				return s[1:i], s[i+1:], true
			case '<', '\n':
				return "", "", false
			}
		}
		return "", "", false
	}
	open, i := 0, 0
scan:
	for ; i < len(s); i++ {
		switch b := s[i]; {
		case b == '\\' && i+1 < len(s) && punct(s[i+1]):
			i++
		case b == '(':
			if open++; open > maxParens {
				return "", "", false
			}
		case b == ')':
			if open == 0 {
				break scan
			}
			open--
		case b <= ' ' || b == 0x7f:
			break scan
		}
	}
	return s[:i], s[i:], open == 0
}

// title takes the title off s. It is not shown.
func title(s string) (rest string, ok bool) {
	end := s[0]
	switch end {
	case '"', '\'':
	case '(':
		end = ')'
	default:
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return s[i+1:], true
		case s[0]:
			return "", false
		}
	}
	return "", false
}

// unescape resolves backslashes and entities.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && punct(s[i+1]) {
				i++
			}
		case '&':
			if text, n := entity(s[i:]); n > 0 {
				b.WriteString(text)
				i += n - 1
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
