package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/surfaces"
)

// runs puts the parts of a line together to spans, as they follow each other.
type runs struct {
	text     string
	from, to int // of the last span
	style    surfaces.Style
	spans    []surfaces.Span
}

func (r *runs) add(n int, style surfaces.Style) {
	if style != r.style {
		r.flush()
		r.style = style
	}
	r.to += n
}

func (r *runs) flush() {
	if r.from < r.to {
		r.spans = append(r.spans, surfaces.Span{Text: r.text[r.from:r.to], Style: r.style})
	}
	r.from = r.to
}

// highlight returns the spans of one line. open is the construct the line before left
// open, as index+1, 0 for none; what this one leaves open is returned too.
func (g *language) highlight(text string, open int) ([]surfaces.Span, int) {
	l := &runs{text: text}
	open = g.line(text, open, l)
	l.flush()
	return l.spans, open
}

func (g *language) line(text string, open int, l *runs) int {
	if g.whole {
		l.add(len(text), diffStyle(text))
		return 0
	}
	for text != "" {
		if open > 0 {
			text, open = g.inside(text, open, l)
			continue
		}
		if i := g.opens(text); i >= 0 {
			c := g.constructs[i]
			l.add(len(c.begin), c.style())
			text, open = text[len(c.begin):], i+1
			if text == "" && !c.across {
				open = 0
			}
			continue
		}
		if g.comment(text) {
			l.add(len(text), surfaces.Dim)
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
func (g *language) inside(text string, open int, l *runs) (rest string, still int) {
	c := g.constructs[open-1]
	for i := 0; i < len(text); {
		switch {
		case c.escape && text[i] == '\\':
			_, n := utf8.DecodeRuneInString(text[i+1:])
			i += 1 + n
		case strings.HasPrefix(text[i:], c.end):
			i += len(c.end)
			l.add(i, c.style())
			return text[i:], 0
		default:
			i++
		}
	}
	l.add(len(text), c.style())
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
	for _, sign := range g.comments {
		if strings.HasPrefix(text, sign) {
			return true
		}
	}
	return false
}

// word takes a word, a number or one sign.
func (g *language) word(text string, l *runs) (rest string) {
	r, n := utf8.DecodeRuneInString(text)
	if !g.letter(r) {
		l.add(n, surfaces.Code)
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
	style, known := g.style(key)
	switch {
	case known:
	case number:
		style = surfaces.Warn
	default:
		style = surfaces.Code
	}
	l.add(len(word), style)
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
