package session

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// scanPrefix is how much of a line a scanner holds, in bytes.
const scanPrefix = 256 << 10

// scanner reads lines of any length in constant memory: of a long one it holds
// the beginning only.
type scanner struct {
	r    *bufio.Reader
	next int64
	long []byte
}

// scannedLine is one line. Bytes are valid until the next one is read.
type scannedLine struct {
	prefix []byte // all of it, unless cut
	cut    bool
	offset int64
	length int64 // without the line break
	last   byte  // its last byte that is no white space, 0 when there is none
	broken bool  // it has no line break: the file ends here
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, scanPrefix)}
}

// line returns the next line, io.EOF behind the last.
func (s *scanner) line() (scannedLine, error) {
	l := scannedLine{offset: s.next}
	for {
		part, err := s.r.ReadSlice('\n')
		s.next += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return l, err
		}
		l.broken = errors.Is(err, io.EOF)
		if l.broken && len(part) == 0 && l.length == 0 {
			return l, io.EOF
		}
		part = bytes.TrimSuffix(part, []byte("\n"))
		if trimmed := bytes.TrimRight(part, " \t\r"); len(trimmed) > 0 {
			l.last = trimmed[len(trimmed)-1]
		}
		switch {
		case l.length > 0: // a further part
			l.cut = l.cut || len(part) > 0
		case full:
			s.long = append(s.long[:0], part...) // the buffer is read over
			l.prefix = s.long
		default:
			l.prefix = part
		}
		l.length += int64(len(part))
		if !full {
			return l, nil
		}
	}
}
