package command

import (
	"strings"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// Line is one line on screen, not wider than was asked for (but for a single
// character that is).
type Line struct {
	Spans []surfaces.Span
	// ID tells which row the line belongs to; "" for none. The lines of one row stand
	// together.
	ID string
}

// Text of the line without styles.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Body is text that lays itself out at a width. Its methods clean what they are given;
// the zero value is empty.
type Body struct{ parts []part }

// part is a piece of a body.
type part interface {
	lines(width int, signs *kit.Signs) []Line
}

// Empty tells whether there is nothing in it.
func (b Body) Empty() bool { return len(b.parts) == 0 }

// Lines returns what is drawn at a width in cells, at least 1.
func (b Body) Lines(width int, signs *kit.Signs) []Line {
	var out []Line
	for _, p := range b.parts {
		out = append(out, p.lines(max(width, 1), signs)...)
	}
	return out
}

// Text returns the lines without styles, each ended by a line end.
func (b Body) Text(width int, signs *kit.Signs) string {
	var s strings.Builder
	for _, l := range b.Lines(width, signs) {
		s.WriteString(strings.TrimRight(l.Text(), " ") + "\n")
	}
	return s.String()
}

// Say returns a body of one paragraph.
func Say(text string) Body {
	var b Body
	b.say(text)
	return b
}

func (b *Body) say(text string) { b.styled(text, 0) }

func (b *Body) styled(text string, style surfaces.Style) {
	b.parts = append(b.parts, paragraph{text: view.Clean(text), style: style})
}

// title begins a section, with an empty line before all but the first.
func (b *Body) title(text string) {
	b.gap()
	b.styled(text, surfaces.Title)
}

func (b *Body) dim(text string) { b.styled(text, surfaces.Dim) }

// gap is an empty line between two parts.
func (b *Body) gap() {
	if len(b.parts) > 0 {
		b.parts = append(b.parts, paragraph{})
	}
}

// pair is a label and what belongs to it; nothing when that is empty.
func (b *Body) pair(label, text string) { b.styledPair(label, text, 0) }

func (b *Body) styledPair(label, text string, style surfaces.Style) {
	if text = view.Reveal(text); text != "" {
		b.parts = append(b.parts, paragraph{label: label, text: text, style: style})
	}
}

// add puts a table in, unless it has no rows.
func (b *Body) add(t table) {
	if len(t.rows) > 0 {
		b.parts = append(b.parts, t)
	}
}

// paragraph is wrapped text, behind a label where it has one.
type paragraph struct {
	label string
	text  string
	style surfaces.Style
}

// labelled is how far the text of a labelled paragraph stands in, where there is room.
const labelled = 14

func (p paragraph) lines(width int, _ *kit.Signs) []Line {
	if p.label == "" {
		return styledLines(kit.Wrap(p.text, width), p.style)
	}
	beside := max(labelled, kit.Width(p.label)+2)
	if width < beside+20 {
		// Narrow: the label has its own line.
		out := styledLines(kit.Wrap(p.label, width), surfaces.Dim)
		in := indent(width)
		for _, text := range kit.Wrap(p.text, width-in) {
			out = append(out, Line{Spans: []surfaces.Span{{Text: strings.Repeat(" ", in)}, {Text: text, Style: p.style}}})
		}
		return out
	}
	var out []Line
	for i, text := range kit.Wrap(p.text, width-beside) {
		head := ""
		if i == 0 {
			head = p.label
		}
		out = append(out, Line{Spans: []surfaces.Span{{Text: pad(head, beside), Style: surfaces.Dim}, {Text: text, Style: p.style}}})
	}
	return out
}

func styledLines(texts []string, style surfaces.Style) []Line {
	out := make([]Line, len(texts))
	for i, text := range texts {
		if text != "" {
			out[i].Spans = []surfaces.Span{{Text: text, Style: style}}
		}
	}
	return out
}

// pad fills a text with spaces up to a width.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-kit.Width(text), 0))
}
