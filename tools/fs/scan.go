package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"starling/tools/fs/match"
)

const (
	scanChunk = 64 << 10
	// maxScanLine is the longest line that is searched; of a longer one only its
	// parts are.
	maxScanLine = 8 << 20
	// shownMatch is how many bytes around a match are shown.
	shownMatch = 300
)

// found is one line that matches.
type found struct {
	line int
	text string
}

// scanner searches one file after the other; it keeps its buffer.
type scanner struct {
	p     *pattern
	limit int // lines of one file whose text is kept
	buf   []byte
	next  []int
	auto  *automaton

	lines  int // before the block
	count  int // lines that match
	found  []found
	binary bool
}

// scan searches the lines of a file. Its result stands in the scanner. Of a
// binary file nothing is found.
func (s *scanner) scan(ctx context.Context, in io.Reader) error {
	s.lines, s.count, s.found, s.binary = 0, 0, nil, false
	if s.buf == nil {
		s.buf = make([]byte, scanChunk)
	}
	have, first := 0, true
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, s.buf[have:])
		have += n
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		block := s.buf[:have]
		if first {
			first = false
			if binary(block[:min(have, sniffed)]) != "" {
				s.binary = true
				return nil
			}
			block = bytes.TrimPrefix(block, []byte("\xef\xbb\xbf"))
		}
		if last {
			s.block(block)
			return nil
		}
		end := bytes.LastIndexByte(block, '\n') + 1
		if end == 0 && have < maxScanLine {
			s.grow(have)
			if len(block) < have { // a byte order mark was taken off
				have = copy(s.buf, block)
			}
			continue
		}
		if end == 0 {
			end = len(wholeRunes(block))
		}
		s.block(block[:end])
		if s.binary {
			return nil
		}
		have = copy(s.buf, block[end:])
	}
}

// grow makes room behind the first n bytes.
func (s *scanner) grow(n int) {
	bigger := make([]byte, 2*len(s.buf))
	copy(bigger, s.buf[:n])
	s.buf = bigger
}

// trim gives back a buffer that a long line made large.
func (s *scanner) trim() {
	if len(s.buf) > 16*scanChunk {
		s.buf = nil
	}
}

func (s *scanner) block(text []byte) {
	if s.auto == nil && s.p.prog != nil {
		s.auto = newAutomaton(s.p.prog)
	}
	c := s.p.in(text, s.next, s.auto)
	s.next = c.next
	counted := 0 // bytes whose line breaks are in s.lines
	for from := 0; from < len(text); {
		at := c.seek(from)
		if at < 0 {
			break
		}
		start := from + bytes.LastIndexByte(text[from:at], '\n') + 1
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		from = end + 1
		line := bytes.TrimSuffix(text[start:end], []byte("\r"))
		if start == len(text) || !s.p.sure && !s.p.line.Match(line) {
			continue
		}
		if bytes.IndexByte(line, 0) >= 0 {
			s.binary, s.count, s.found = true, 0, nil
			return
		}
		s.count++
		if len(s.found) < s.limit {
			s.lines += bytes.Count(text[counted:start], []byte("\n"))
			counted = start
			s.found = append(s.found, found{line: s.lines + 1, text: s.show(line)})
		}
	}
	if len(s.found) < s.limit {
		s.lines += bytes.Count(text[counted:], []byte("\n"))
	}
}

// show clips a line around its match.
func (s *scanner) show(line []byte) string {
	if len(line) <= shownMatch {
		text, _ := match.Legible(line)
		return text
	}
	from := 0
	if at := s.p.line.FindIndex(line); at != nil {
		from = max(0, min((at[0]+min(at[1], at[0]+shownMatch))/2-shownMatch/2, len(line)-shownMatch))
	}
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	part := wholeRunes(line[from:min(len(line), from+shownMatch)])
	text, _ := match.Legible(part)
	if from > 0 {
		text = "… " + text
	}
	if from+len(part) < len(line) {
		text += " …"
	}
	return text
}
