package transcript

import (
	"fmt"
	"strings"

	"starling/surfaces"
	"starling/surfaces/markdown"
	"starling/surfaces/tui/kit"
)

// Row is one line on screen: spans, or cells somebody else drew.
type Row struct {
	Spans []surfaces.Span
	Cells []kit.Cell
	// Goes tells that the row goes on the line of the row before, where it was broken to
	// fit; Gap stood between the two.
	Goes bool
	Gap  string
	Lead int // cells behind the margin that are no text
	// Tip stands behind it on the screen, and is no part of the text.
	Tip surfaces.Span
}

// Text of the row without styles.
func (r Row) Text() string {
	if len(r.Spans) == 1 {
		return r.Spans[0].Text
	}
	var b strings.Builder
	for _, s := range r.Spans {
		b.WriteString(s.Text)
	}
	for _, c := range r.Cells {
		b.WriteString(c.Text)
	}
	return b.String()
}

// margin is how many cells stand before the text: a bar, a sign, or spaces. It is the
// first of several spans.
func (r Row) margin() int {
	if len(r.Spans) < 2 {
		return 0
	}
	return kit.Width(r.Spans[0].Text)
}

// Look is what rows depend on besides their block.
type Look struct {
	Width    int // cells, at least 1
	Signs    *kit.Signs
	Thinking bool // thoughts are open
	Open     Depth
	// More names what shows more of something folded, such as "Alt-O or a click"; "" for
	// nothing.
	More string
}

// Depth is how far the output of calls is open, and what a person wrote at length.
type Depth int

// The depths.
const (
	Folded Depth = iota // one line, or what shows unasked
	Part                // its first lines
	Whole
)

func (d Depth) String() string {
	switch d {
	case Part:
		return fmt.Sprintf("the first %d lines", folded)
	case Whole:
		return "whole"
	}
	return "folded"
}

// next is where one goes from a depth.
func (d Depth) next() Depth { return (d + 1) % (Whole + 1) }

func (l Look) markdown(indent int) markdown.Options {
	return markdown.Options{Width: max(l.Width-indent, 1), Measure: kit.Width, ASCII: l.Signs.ASCII, Breaks: true, Tabs: true}
}

// block is one entry of the conversation.
type block interface {
	rows(l Look) []Row
}

// spaced are blocks with an empty row before them.
type spaced interface{ gapAfter(before block) bool }

func row(spans ...surfaces.Span) Row { return Row{Spans: spans} }

func pieceRow(p kit.Piece, spans ...surfaces.Span) Row {
	return Row{Spans: spans, Goes: p.Goes, Gap: p.Gap}
}

func span(text string, style surfaces.Style) surfaces.Span {
	return surfaces.Span{Text: text, Style: style}
}

// said is a piece of what the person wrote.
type said struct {
	text  string // clean
	goes  bool   // on from the block before
	shell bool   // a command of the person's
	whole *whole // what it is a piece of
}

// whole is what the person wrote at once. A long one is folded like output.
type whole struct {
	lines     int
	open, set bool // set by a click; else it opens with all output
}

func (w *whole) folded(l Look) bool {
	if w.set {
		return !w.open
	}
	return l.Open == Folded
}

func (b *said) gapAfter(block) bool { return !b.goes }

func (b *said) rows(l Look) []Row {
	if !b.whole.folded(l) {
		return b.all(l, b.text)
	}
	if b.goes {
		return nil
	}
	head, _ := firstLines(b.text, folded+1)
	out := b.all(l, head)
	if len(out) <= folded+1 && b.whole.lines <= folded+1 {
		return out
	}
	shown := 0 // lines that begin in sight
	for _, r := range out[:min(folded, len(out))] {
		if !r.Goes {
			shown++
		}
	}
	return append(out[:min(folded, len(out))], rest(l, max(b.whole.lines-shown, 1)))
}

func (b *said) all(l Look, text string) []Row {
	bar := " " + l.Signs.Bar + " "
	style := surfaces.Accent
	if b.shell {
		bar, style = " "+l.Signs.Shell+" ", surfaces.Bad
	}
	var out []Row
	for _, p := range kit.WrapPieces(text, l.Width-kit.Width(bar)) {
		out = append(out, pieceRow(p, span(bar, style), span(p.Text, 0)))
	}
	return out
}

// noted is a notice or an error.
type noted struct {
	text string // clean, with its source in front
	warn bool
}

func (b *noted) gapAfter(before block) bool {
	_, same := before.(*noted)
	return !same
}

func (b *noted) rows(l Look) []Row {
	sign, style := l.Signs.Dot, surfaces.Dim
	if b.warn {
		sign, style = "!", surfaces.Warn
	}
	var out []Row
	for i, p := range kit.WrapPieces(b.text, l.Width-3) {
		if i > 0 {
			sign = strings.Repeat(" ", kit.Width(sign))
		}
		out = append(out, pieceRow(p, span(" "+sign+" ", style), span(p.Text, style)))
	}
	return out
}

// drawn is made by somebody else, such as the view of a plugin below its call.
type drawn struct{ draw func(l Look) []Row }

func (b *drawn) rows(l Look) []Row { return b.draw(l) }

// prose is a piece of what the model wrote, small enough to be laid out within a
// frame.
type prose struct {
	thinking bool
	goes     bool   // on from the block before, without an empty row
	fence    string // the line that opened the code this piece begins in
	open     bool   // more may come
	text     string // once it is not open
	stream   *markdown.Stream
	ascii    bool

	size  int
	line  strings.Builder // the last line, not ended
	inner string          // the fence that is open at the end; "" for none
}

func (b *prose) gapAfter(before block) bool {
	if p, ok := before.(*prose); ok && p.thinking && b.thinking {
		return false
	}
	return !b.goes
}

func (b *prose) source() string {
	if b.stream != nil {
		return b.stream.Text()
	}
	return b.fence + b.text
}

func (b *prose) rows(l Look) []Row {
	if b.thinking {
		return b.thoughts(l)
	}
	o := l.markdown(2)
	var lines []markdown.Line
	switch {
	case !b.open:
		lines = markdown.Render(b.source(), o)
	case b.stream == nil || b.ascii != o.ASCII:
		text := b.source()
		b.stream, b.ascii = markdown.NewStream(o), o.ASCII
		b.stream.Append(text)
		lines = b.stream.Lines()
	default:
		b.stream.SetWidth(o.Width)
		lines = b.stream.Lines()
	}
	out := make([]Row, len(lines))
	for i, line := range lines {
		if len(line.Spans) > 0 {
			out[i].Spans = append([]surfaces.Span{{Text: " "}}, line.Spans...)
		}
		out[i].Goes, out[i].Gap, out[i].Lead = line.Goes, line.Gap, line.Lead
	}
	return out
}

// thoughts are one line while they are folded, as they came when they are open.
func (b *prose) thoughts(l Look) []Row {
	text := strings.TrimSpace(kit.Clean(b.source()))
	if !l.Thinking {
		if b.goes {
			return nil
		}
		first, _, _ := strings.Cut(text, "\n")
		head := " " + l.Signs.Fold + " thinking "
		if whole := head + kit.CleanLine(first); kit.Width(whole) > l.Width-1 {
			whole = kit.Clip(whole, l.Width-1, l.Signs.Ellipsis)
			return []Row{row(span(whole, surfaces.Dim))}
		}
		return []Row{row(span(head, surfaces.Dim), span(kit.CleanLine(first), surfaces.Dim|surfaces.Italic))}
	}
	var out []Row
	for _, p := range kit.WrapPieces(text, l.Width-4) {
		out = append(out, pieceRow(p, span(" "+l.Signs.Down+" ", surfaces.Dim), span(p.Text, surfaces.Dim|surfaces.Italic)))
	}
	return out
}

const (
	// softPiece is where a piece of prose ends at the next empty line, hardPiece at
	// the next line, in bytes; a longer line is cut.
	softPiece = 6 << 10
	hardPiece = 12 << 10
)

// add takes as much of text as belongs to this piece and returns the rest; full tells
// that the rest begins another one.
func (b *prose) add(text string) (rest string, full bool) {
	taken := 0
	for taken < len(text) && !full {
		piece := text[taken:]
		i := strings.IndexByte(piece, '\n')
		switch {
		case i >= 0 && b.line.Len()+i < hardPiece:
			b.line.WriteString(piece[:i])
			line := b.line.String()
			b.line.Reset()
			b.ended(line)
			taken += i + 1
			b.size += i + 1
			blank := strings.TrimSpace(line) == ""
			full = b.size >= hardPiece || b.size >= softPiece && blank && b.inner == ""
		case b.line.Len()+len(piece) < hardPiece:
			b.line.WriteString(piece)
			b.size += len(piece)
			taken = len(text)
		default:
			n := boundary(piece, max(hardPiece-b.line.Len(), 1))
			b.size += n
			taken += n
			b.line.Reset()
			full = true
		}
	}
	part := text[:taken]
	if b.stream != nil {
		b.stream.Append(part)
	} else {
		b.text += part
	}
	return text[taken:], full
}

// boundary returns where to cut text at most n bytes in: behind a space near the end,
// else between two characters.
func boundary(text string, n int) int {
	n = min(n, len(text))
	if i := strings.LastIndexByte(text[:n], ' '); i > n-200 && i >= 0 {
		return i + 1
	}
	for m := n; m > 0 && m > n-8; m-- {
		if m == len(text) || text[m]&0xc0 != 0x80 {
			return m
		}
	}
	return n
}

// ended follows fences, so that a piece which is cut inside code is gone on with as
// code.
func (b *prose) ended(line string) {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	switch {
	case b.inner == "" && n >= 3 && (s[0] == '~' || !strings.Contains(s[n:], "`")):
		b.inner = s
	case b.inner != "" && s[0] == b.inner[0]:
		opened := len(b.inner) - len(strings.TrimLeft(b.inner, b.inner[:1]))
		if n >= opened && strings.TrimSpace(s[n:]) == "" {
			b.inner = ""
		}
	}
}

// close ends the piece.
func (b *prose) close() {
	if b.open {
		if b.stream != nil {
			b.text = strings.TrimPrefix(b.stream.Text(), b.fence)
		}
		b.open, b.stream = false, nil
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
