package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/surfaces"
)

// highlight adds the spans of one line to l. open is the construct the line before
// left open, as index+1, 0 for none; what this one leaves open is returned.
func (g *language) highlight(text string, open int, l *Line) int {
	if g.whole {
		l.add(text, diffStyle(text))
		return 0
	}
	for text != "" {
		if open > 0 {
			text, open = g.inside(text, open, l)
			continue
		}
		if i := g.opens(text); i >= 0 {
			c := g.constructs[i]
			l.add(c.begin, c.style())
			text, open = text[len(c.begin):], i+1
			if text == "" && !c.across {
				open = 0
			}
			continue
		}
		if g.comment(text) {
			l.add(text, surfaces.Dim)
			return 0
		}
		text = g.word(text, l)
	}
	return open
}

func (c construct) style() surfaces.Style {
	if c.comment {
		return surfaces.Dim
	}
	return surfaces.Good
}

// inside goes on in an open construct, to its end or that of the line.
func (g *language) inside(text string, open int, l *Line) (rest string, still int) {
	c := g.constructs[open-1]
	for i := 0; i < len(text); {
		switch {
		case c.escape && text[i] == '\\':
			_, n := utf8.DecodeRuneInString(text[i+1:])
			i += 1 + n
		case strings.HasPrefix(text[i:], c.end):
			i += len(c.end)
			l.add(text[:i], c.style())
			return text[i:], 0
		default:
			i++
		}
	}
	l.add(text, c.style())
	if !c.across {
		open = 0
	}
	return "", open
}

func (g *language) opens(text string) int {
	for i, c := range g.constructs {
		if strings.HasPrefix(text, c.begin) {
			return i
		}
	}
	return -1
}

func (g *language) comment(text string) bool {
	for _, sign := range g.line {
		if strings.HasPrefix(text, sign) {
			return true
		}
	}
	return false
}

// word takes a word, a number or one sign.
func (g *language) word(text string, l *Line) (rest string) {
	r, n := utf8.DecodeRuneInString(text)
	if !g.letter(r) {
		l.add(text[:n], surfaces.Code)
		return text[n:]
	}
	number := unicode.IsDigit(r)
	end := n
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !g.letter(r) && !(number && r == '.') && !strings.ContainsRune(g.letters, r) {
			break
		}
		end += n
	}
	word := text[:end]
	key := word
	if g.fold {
		key = strings.ToLower(word)
	}
	style := surfaces.Code
	keyword, known := g.words()[key]
	switch {
	case keyword:
		style = surfaces.Accent
	case known, number:
		style = surfaces.Warn
	}
	l.add(word, style)
	return text[end:]
}

func (g *language) letter(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// diffStyle is how a line of a unified diff looks.
func diffStyle(line string) surfaces.Style {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return surfaces.Bold
	case strings.HasPrefix(line, "+"):
		return surfaces.Good
	case strings.HasPrefix(line, "-"):
		return surfaces.Bad
	case strings.HasPrefix(line, "@@"):
		return surfaces.Accent
	}
	return surfaces.Code
}
