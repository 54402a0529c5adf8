package markdown

import (
	"slices"
	"strings"

	"starling/bus/view"
)

// Render returns the lines of a document.
func Render(text string, o Options) []Line {
	s := NewStream(o)
	s.Append(text)
	return s.Lines()
}

// Stream renders a document while it arrives: only the last block is rendered again,
// of open code only the last line. It is not safe for concurrent use.
type Stream struct {
	o      Options
	source strings.Builder // everything, to be rendered at another width

	done  []Line  // of finished blocks, and of open code
	began bool    // there is something before
	tight bool    // no empty line before the next block: a heading is last
	block growing // the block that grows
	rest  []byte  // the last line, not ended yet
}

// growing is a block that may still grow.
type growing struct {
	text  []byte // its ended lines, clean
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
	begun  bool // a line of it is out
}

// maxBlock is how many bytes of a block are read at once: Parts draws the open one again
// with each piece. What is longer is cut between lines; a line
// that is longer alone is shown without markup.
const maxBlock = 8 << 10

// NewStream returns an empty document.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Append adds a piece of text, of any length.
func (s *Stream) Append(text string) {
	s.source.WriteString(text)
	for {
		line, after, ok := strings.Cut(text, "\n")
		s.rest = append(s.rest, line...)
		if !ok {
			return
		}
		s.line(view.Clean(string(s.rest)))
		s.rest, text = s.rest[:0], after
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

// Parts returns the document as it stands: the lines that will not change any more at
// this width, whatever comes, and those of the last block. The first slice grows and
// is shared; it must not be changed.
func (s *Stream) Parts() (settled, open []Line) {
	tail := *s // what follows changes copies only
	tail.done = nil
	if f := s.block.fence; f != nil {
		copied, c := *f, *f.code
		copied.code = &c
		tail.block.fence = &copied
	}
	tail.block.text = slices.Clip(tail.block.text) // what is appended stands elsewhere
	if len(s.rest) > 0 {
		tail.line(view.Clean(string(s.rest)))
	}
	tail.finish()
	return s.done[:len(s.done):len(s.done)], tail.done
}

// Lines returns all lines of the document as it stands.
func (s *Stream) Lines() []Line {
	settled, open := s.Parts()
	return append(settled, open...)
}

// line takes one ended line.
func (s *Stream) line(line string) {
	if f := s.block.fence; f != nil {
		if f.closes(line) {
			s.finish()
			return
		}
		s.put(f.code.line(f.strip(line)), !f.begun)
		f.begun = true
		return
	}
	if strings.TrimSpace(line) == "" {
		if len(s.block.text) > 0 {
			s.block.text = append(s.block.text, '\n')
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
	case len(s.block.text) == 0:
	case open != nil, heading(line) && !(s.block.list && in >= 2):
		s.finish()
	case s.block.blank && !(s.block.list && (item || in >= 2)) && !(in >= 4 && indentOf(string(s.block.text)) >= 4):
		s.finish()
	case len(s.block.text)+len(line) > maxBlock:
		list, head := s.block.list, tableHead(string(s.block.text))
		s.finish()
		s.block.join, s.block.list, s.block.text = true, list, append(s.block.text, head...)
	}
	if open != nil {
		info := strings.TrimSpace(strings.TrimLeft(line, " ")[open.length:])
		language, _, _ := strings.Cut(info, " ")
		open.code = newCode(language, s.o)
		s.block.fence = open
		return
	}
	s.block.text = append(append(s.block.text, line...), '\n')
	s.block.list = s.block.list || item
	s.block.blank = false
}

// tableHead returns the first two lines of a table, which each part of it needs; ""
// for anything else, and for a head that is too long to be read again and again.
func tableHead(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	if len(first)+len(second) > maxBlock/4 || !strings.Contains(first, "|") || !strings.Contains(second, "-") || strings.Trim(second, "|:- \t") != "" {
		return ""
	}
	return first + "\n" + second + "\n"
}

// gap is what parts the next block from the last one.
func (s *Stream) gap() []Line {
	if !s.began || s.tight || s.block.join {
		return nil
	}
	return []Line{{}}
}

// put adds lines, parted from those before where a block begins.
func (s *Stream) put(lines []Line, begins bool) {
	if len(lines) == 0 {
		return
	}
	if begins {
		s.done = append(s.done, s.gap()...)
	}
	s.done = append(s.done, lines...)
	s.began, s.tight = true, false
}

// finish renders the block that grew.
func (s *Stream) finish() {
	switch f := s.block.fence; {
	case f != nil && !f.begun:
		s.put(f.code.line(""), true)
	case f == nil && len(s.block.text) > 0:
		lines, heading := s.o.render(string(s.block.text))
		s.put(lines, true)
		s.tight = s.tight || heading && len(lines) > 0
	}
	s.block = growing{}
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
