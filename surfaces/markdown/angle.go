package markdown

import (
	"strings"

	"starling/surfaces"
)

// angle takes what begins with "<": an address, a tag, or the sign alone.
func (p *inlines) angle() {
	rest := p.src[p.pos:]
	if n := address(rest); n > 0 {
		p.pieces = append(p.pieces, piece{text: rest[1 : n-1], style: surfaces.Accent | surfaces.Underline})
		p.pos += n
		return
	}
	n := element(rest)
	if n == 0 {
		n = p.markup()
	}
	if n == 0 {
		p.literal(1)
		return
	}
	if tag := strings.Trim(rest[:n], "</> "); len(tag) == 2 && strings.EqualFold(tag, "br") {
		p.text("\n")
		p.pos += n
		return
	}
	p.literal(n)
}

// address returns the length of an address in angle brackets, 0 for none.
func address(s string) int {
	end := strings.IndexAny(s[1:], "<> \t\n") + 1
	if end < 2 || s[end] != '>' {
		return 0
	}
	if inner := s[1:end]; isURL(inner) || isMail(inner) {
		return end + 1
	}
	return 0
}

func isURL(s string) bool {
	n := 0
	for n < len(s) && (letter(s[n]) || n > 0 && (digit(s[n]) || s[n] == '+' || s[n] == '.' || s[n] == '-')) {
		n++
	}
	return n >= 2 && n <= 32 && n < len(s) && s[n] == ':'
}

func isMail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" {
		return false
	}
	for i := 0; i < len(local); i++ {
		if !letter(local[i]) && !digit(local[i]) && strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", local[i]) < 0 {
			return false
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := 0; i < len(label); i++ {
			if !letter(label[i]) && !digit(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

// ending remembers where the next end of some markup is, so that it is looked for
// once however often it is begun.
type ending struct{ from, at int }

// find returns where sign stands from pos on, -1 for nowhere. It is asked from left to
// right.
func (e *ending) find(s, sign string, pos int) int {
	if e.at < 0 || e.from > 0 && e.at >= pos {
		return e.at
	}
	e.from, e.at = pos, strings.Index(s[pos:], sign)
	if e.at >= 0 {
		e.at += pos
	}
	return e.at
}

// markup returns the length of a comment, an instruction or a declaration, 0 for none.
func (p *inlines) markup() int {
	rest := p.src[p.pos:]
	sign, skip, e := "", 0, 0
	switch {
	case strings.HasPrefix(rest, "<!-->"):
		return 5
	case strings.HasPrefix(rest, "<!--->"):
		return 6
	case strings.HasPrefix(rest, "<!--"):
		sign, skip, e = "-->", 4, 0
	case strings.HasPrefix(rest, "<?"):
		sign, skip, e = "?>", 2, 1
	case strings.HasPrefix(rest, "<![CDATA["):
		sign, skip, e = "]]>", 9, 2
	case len(rest) > 2 && rest[1] == '!' && letter(rest[2]):
		sign, skip, e = ">", 2, 3
	default:
		return 0
	}
	end := p.ends[e].find(p.src, sign, p.pos+skip)
	if end < 0 {
		return 0
	}
	return end + len(sign) - p.pos
}
