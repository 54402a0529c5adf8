package markdown

import (
	"strings"
	"unicode/utf8"

	"starling/surfaces"
)

// Line is one line on screen, not wider than was asked for (but for a single
// character that is).
type Line struct {
	Spans []surfaces.Span
	// Goes tells that it goes on the line before, which was broken to fit; Gap stood
	// between the two.
	Goes bool
	Gap  string
	// Lead is how many cells at its beginning are no text.
	Lead int
}

// Text of the line without styles.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Options of a rendering.
type Options struct {
	// Width of a line in cells; less than 1 counts as 1.
	Width int
	// Measure returns the cells a text takes; nil counts a character as one.
	Measure func(string) int
	// ASCII draws bullets, bars and rules with ASCII signs.
	ASCII bool
	// Breaks keeps the ends of lines within a paragraph, which Markdown makes spaces: who
	// writes a message means them.
	Breaks bool
	// Tabs leaves tabs in code, for a screen whose Measure counts them.
	Tabs bool
}

func (o Options) width() int { return max(o.Width, 1) }

func (o Options) measure(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	if o.Measure != nil {
		return o.Measure(s)
	}
	n := 0
	for s != "" {
		s = s[surfaces.Cluster(s):]
		n++
	}
	return n
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// sign picks a sign for the screen.
func (o Options) sign(wide, ascii string) string {
	if o.ASCII {
		return ascii
	}
	return wide
}

// add puts a span at the end of a line, into the last one where the style is the
// same.
func (l *Line) add(text string, style surfaces.Style) {
	if text == "" {
		return
	}
	if n := len(l.Spans); n > 0 && l.Spans[n-1].Style == style {
		l.Spans[n-1].Text += text
		return
	}
	l.Spans = append(l.Spans, surfaces.Span{Text: text, Style: style})
}

// wrapper breaks spans into lines of a width at spaces, else between characters.
type wrapper struct {
	o     Options
	width int
	lines []Line
	line  Line
	text  []byte // of the last span of line, not in it yet
	style surfaces.Style
	used  int // cells of line
	// word is what stands after the last space and may move to the next line.
	word []surfaces.Span
	size int
	gap  surfaces.Span // the space before the word
}

// wrap breaks spans into lines of at most width cells; "\n" in a span ends a line.
func (o Options) wrap(spans []surfaces.Span, width int) []Line {
	w := &wrapper{o: o, width: max(width, 1)}
	for _, s := range spans {
		s.Text = strings.ReplaceAll(s.Text, "\t", "    ")
		w.span(s)
	}
	w.flush()
	w.next()
	return w.lines
}

// add puts text at the end of the line.
func (w *wrapper) add(text string, style surfaces.Style) {
	if style != w.style {
		w.endSpan()
		w.style = style
	}
	w.text = append(w.text, text...)
}

func (w *wrapper) endSpan() {
	if len(w.text) > 0 {
		w.line.Spans = append(w.line.Spans, surfaces.Span{Text: string(w.text), Style: w.style})
		w.text = w.text[:0]
	}
}

func (w *wrapper) span(s surfaces.Span) {
	text := s.Text
	for text != "" {
		switch i := strings.IndexAny(text, " \n"); {
		case i < 0:
			w.part(text, s.Style)
			return
		case i > 0:
			w.part(text[:i], s.Style)
			text = text[i:]
		case text[0] == '\n':
			w.flush()
			w.next()
			text = text[1:]
		default:
			w.flush()
			n := len(text) - len(strings.TrimLeft(text, " "))
			if w.used > 0 {
				w.gap = surfaces.Span{Text: text[:n], Style: s.Style}
			}
			text = text[n:]
		}
	}
}

func (w *wrapper) part(text string, style surfaces.Style) {
	w.word = append(w.word, surfaces.Span{Text: text, Style: style})
	w.size += w.o.measure(text)
}

// next ends the line and begins another.
func (w *wrapper) next() {
	w.endSpan()
	w.lines = append(w.lines, w.line)
	w.line, w.used, w.gap = Line{}, 0, surfaces.Span{}
}

// flush puts the word down.
func (w *wrapper) flush() {
	if len(w.word) == 0 {
		return
	}
	gap := len(w.gap.Text)
	if w.used > 0 && w.used+gap+w.size > w.width {
		between := w.gap.Text
		w.next()
		w.line.Goes, w.line.Gap = true, between
		gap = 0
	}
	if gap > 0 {
		w.add(w.gap.Text, w.gap.Style)
		w.used += gap
		w.gap = surfaces.Span{}
	}
	for _, s := range w.word {
		w.put(s.Text, s.Style)
	}
	w.word, w.size = w.word[:0], 0
}

// put writes text, broken between characters where it does not fit.
func (w *wrapper) put(text string, style surfaces.Style) {
	if n := w.o.measure(text); w.used+n <= w.width {
		w.add(text, style)
		w.used += n
		return
	}
	for text != "" {
		n := surfaces.Cluster(text)
		cells := w.o.measure(text[:n])
		if w.used > 0 && w.used+cells > w.width {
			w.next()
			w.line.Goes = true
		}
		w.add(text[:n], style)
		w.used += cells
		text = text[n:]
	}
}

// chop breaks spans at the width only, and keeps every space: for code.
func (o Options) chop(spans []surfaces.Span, width int) []Line {
	w := &wrapper{o: o, width: max(width, 1)}
	for _, s := range spans {
		w.put(s.Text, s.Style)
	}
	w.next()
	return w.lines
}

// indent puts a prefix before lines: one before the first, one before the others.
func indent(lines []Line, first, rest surfaces.Span) []Line {
	out := make([]Line, len(lines))
	for i, l := range lines {
		p := rest
		if i == 0 {
			p = first
		}
		n := Line{Goes: l.Goes, Gap: l.Gap}
		if i > 0 && (l.Goes || l.Lead > 0) {
			n.Lead = l.Lead + utf8.RuneCountInString(p.Text)
		}
		if len(l.Spans) == 0 {
			p.Text = strings.TrimRight(p.Text, " ")
		}
		n.add(p.Text, p.Style)
		for _, s := range l.Spans {
			n.add(s.Text, s.Style)
		}
		out[i] = n
	}
	return out
}
