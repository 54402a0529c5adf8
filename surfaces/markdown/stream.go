package markdown

import (
	"strings"

	"starling/bus/view"
)

// Render returns the lines of a document.
func Render(text string, o Options) []Line {
	s := NewStream(o)
	s.Append(text)
	lines, _ := s.Lines()
	return lines
}

// Stream renders a document while it arrives: only the last block is rendered again,
// of open code only the last line. It is not safe for concurrent use.
type Stream struct {
	o      Options
	source strings.Builder // everything, to be rendered at another width

	done  []Line  // of finished blocks
	tight bool    // no empty line before the next block: a heading is last
	block growing // the block that grows
	rest  string  // the last line, not ended yet
}

// growing is a block that may still grow.
type growing struct {
	text  string // its ended lines, clean
	list  bool   // holds a list, whose items may stand apart
	blank bool   // an empty line is last
	join  bool   // goes on with what became too long before it
	fence *fence // set within a block of code that a fence began
}

// fence is open code.
type fence struct {
	sign   byte
	length int
	indent int // of the fence: as much is taken off each line
	code   *code
	lines  []Line // of its ended lines
	any    bool
}

// maxBlock is how many bytes of a block are parsed at once: some texts take time that
// grows with the square of their length. What is longer is cut between lines; a line
// that is longer alone is shown without markup.
const maxBlock = 8 << 10

// NewStream returns an empty document.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Append adds a piece of text, of any length.
func (s *Stream) Append(text string) {
	s.source.WriteString(text)
	s.rest += text
	for {
		line, rest, ok := strings.Cut(s.rest, "\n")
		if !ok {
			return
		}
		s.rest = rest
		s.line(view.Clean(line))
	}
}

// SetWidth renders everything at another width.
func (s *Stream) SetWidth(width int) {
	if width == s.o.Width {
		return
	}
	s.o.Width = width
	text := s.source.String()
	*s = Stream{o: s.o}
	s.Append(text)
}

// Text returns everything that was appended, as it came.
func (s *Stream) Text() string { return s.source.String() }

// Lines returns the document as it stands. The first settled lines will not change
// any more at this width, whatever comes.
func (s *Stream) Lines() (lines []Line, settled int) {
	settled = len(s.done)
	tail := *s // what follows changes copies only
	tail.done = s.done[:settled:settled]
	if f := s.block.fence; f != nil {
		settled += len(s.gap()) + len(f.lines)
		open := *f
		open.lines = f.lines[:len(f.lines):len(f.lines)]
		c := *f.code
		open.code = &c
		tail.block.fence = &open
	}
	if s.rest != "" {
		tail.line(view.Clean(s.rest))
	}
	tail.finish()
	return tail.done, settled
}

// line takes one ended line.
func (s *Stream) line(line string) {
	if f := s.block.fence; f != nil {
		if f.closes(line) {
			s.finish()
			return
		}
		f.any = true
		f.lines = append(f.lines, f.code.line(f.strip(line))...)
		return
	}
	if strings.TrimSpace(line) == "" {
		if s.block.text != "" {
			s.block.text += "\n"
			s.block.blank = true
		}
		return
	}
	in := indentOf(line)
	open := fenceOf(line)
	if open != nil && s.block.list && in >= 2 {
		open = nil // belongs to an item
	}
	item := in < 4 && isItem(line)
	switch {
	case s.block.text == "":
	case open != nil, heading(line) && !(s.block.list && in >= 2):
		s.finish()
	case s.block.blank && !(s.block.list && (item || in >= 2)) && !(in >= 4 && indentOf(s.block.text) >= 4):
		s.finish()
	case len(s.block.text)+len(line) > maxBlock:
		list, head := s.block.list, tableHead(s.block.text)
		s.finish()
		s.block.join, s.block.list, s.block.text = true, list, head
	}
	if open != nil {
		info := strings.TrimSpace(strings.TrimLeft(line, " ")[open.length:])
		language, _, _ := strings.Cut(info, " ")
		open.code = newCode(language, s.o)
		s.block.fence = open
		return
	}
	s.block.text += line + "\n"
	s.block.list = s.block.list || item
	s.block.blank = false
}

// tableHead returns the first two lines of a table, which each part of it needs; ""
// for anything else.
func tableHead(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	if !strings.Contains(first, "|") || !strings.Contains(second, "-") || strings.Trim(second, "|:- \t") != "" {
		return ""
	}
	return first + "\n" + second + "\n"
}

// gap is what parts the next block from the last one.
func (s *Stream) gap() []Line {
	if len(s.done) == 0 || s.tight || s.block.join {
		return nil
	}
	return []Line{{}}
}

// finish renders the block that grew.
func (s *Stream) finish() {
	b, gap := s.block, s.gap()
	s.block = growing{}
	var lines []Line
	tight := false
	switch {
	case b.fence != nil && b.fence.any:
		lines = b.fence.lines
	case b.fence != nil:
		lines = b.fence.code.line("")
	case b.text != "":
		lines, tight = s.o.render(b.text)
	}
	if len(lines) == 0 {
		return
	}
	s.done = append(append(s.done, gap...), lines...)
	s.tight = tight
}

// heading tells whether a line begins with one to six "#".
func heading(line string) bool {
	s := strings.TrimLeft(line, " ")
	n := len(s) - len(strings.TrimLeft(s, "#"))
	return indentOf(line) < 4 && n > 0 && n <= 6 && (len(s) == n || s[n] == ' ' || s[n] == '\t')
}

func indentOf(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// isItem tells whether a line begins an item of a list.
func isItem(line string) bool {
	s := strings.TrimLeft(line, " \t")
	digits := 0
	for digits < len(s) && digits < 9 && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	switch {
	case s == "":
		return false
	case digits > 0:
		s = s[digits:]
		if s == "" || s[0] != '.' && s[0] != ')' {
			return false
		}
	case s[0] != '-' && s[0] != '*' && s[0] != '+':
		return false
	}
	return len(s) == 1 || s[1] == ' ' || s[1] == '\t'
}

// fenceOf reads a line that begins code; nil for any other.
func fenceOf(line string) *fence {
	s := strings.TrimLeft(line, " ")
	indent := len(line) - len(s)
	if indent > 3 || len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return nil
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return nil
	}
	return &fence{sign: s[0], length: n, indent: indent}
}

func (f *fence) closes(line string) bool {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 {
		return false
	}
	s = strings.TrimRight(s, " \t")
	return len(s) >= f.length && strings.Trim(s, string(f.sign)) == ""
}

// strip takes the indentation of the fence off a line.
func (f *fence) strip(line string) string {
	for i := 0; i < f.indent && strings.HasPrefix(line, " "); i++ {
		line = line[1:]
	}
	return line
}
