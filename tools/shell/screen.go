package shell

import "bytes"

// screen watches the output of a command for one that draws on a terminal: an editor
// or a pager, which would wait for keys until the command's time is over.
type screen struct {
	tail    []byte // the end of what came before: a sign may be in two pieces
	entered bool   // the alternate screen
	placed  bool   // the cursor was placed since
	warned  bool   // an editor said that it goes on without a terminal
	told    bool
	within  bool // what follows, or tail, is within a line
}

// What an editor that goes on regardless says at the start of a line.
var warnings = [][]byte{
	[]byte("Vim: Warning: Input is not from a terminal"),
	[]byte("Vim: Warning: Output is not to a terminal"),
}

// longestSign is how many bytes of a sign may be missing at the end of a piece.
const longestSign = 64

// see takes a piece of the output and tells, once, that it is a screen.
func (s *screen) see(piece []byte) bool {
	if len(s.tail) == 0 && bytes.IndexByte(piece, 0x1b) < 0 && bytes.IndexByte(piece, 'V') < 0 && !s.entered {
		s.within = len(piece) > 0 && piece[len(piece)-1] != '\n'
		return false
	}
	all := append(s.tail, piece...)
	for _, w := range warnings {
		if i := bytes.Index(all, w); i == 0 && !s.within || i > 0 && all[i-1] == '\n' {
			s.warned = true
		}
	}
	rest := all
	for {
		i := bytes.IndexByte(rest, 0x1b)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if len(rest) > 0 && rest[0] == '[' {
			s.sequence(rest[1:])
		}
	}
	s.tail = s.tail[:0]
	if from := max(len(all)-longestSign, 0); bytes.IndexByte(all[from:], 0x1b) >= 0 || bytes.IndexByte(all[from:], 'V') >= 0 {
		s.tail, s.within = append(s.tail, all[from:]...), s.within && from == 0 || from > 0 && all[from-1] != '\n'
	} else {
		s.within = all[len(all)-1] != '\n'
	}
	if s.told || !s.on() {
		return false
	}
	s.told = true
	return true
}

// sequence reads a control sequence behind its start; what is not whole comes again.
func (s *screen) sequence(text []byte) {
	end := bytes.IndexFunc(text[:min(len(text), longestSign)], func(r rune) bool { return r >= 0x40 && r <= 0x7e })
	if end < 0 {
		return
	}
	switch string(text[:end+1]) {
	case "?1049h", "?1047h", "?47h":
		s.entered = true
	case "?1049l", "?1047l", "?47l":
		s.entered, s.placed = false, false
	default:
		s.placed = s.placed || s.entered && (text[end] == 'H' || text[end] == 'f')
	}
}

// on tells that something draws, or waits to.
func (s *screen) on() bool { return s.warned || s.entered && s.placed }
