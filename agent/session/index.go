package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"starling/bus/chat"
)

// root is where messages without a parent hang.
const root = -1

// maxProblems is how many damaged lines are named one by one.
const maxProblems = 20

// node is a message in the index: its text stays on disk.
type node struct {
	id     string
	parent int
	role   chat.Role
	at     string // time as written
	offset int64
	length int64
	leaf   bool
}

// tail is how a file ends.
type tail struct {
	size     int64 // of its whole lines
	fragment int64 // length of a half line behind them
	unbroken bool  // the last whole line lacks its break
}

func (t tail) appender(path string, f File) *appender {
	a := &appender{path: path, file: f, size: t.size, fragment: t.fragment}
	if t.unbroken {
		a.pending = []byte("\n")
	}
	return a
}

// index reads a file of the given size once, without holding its messages.
func (s *Session) index(f io.ReaderAt, size int64) error {
	sc := newScanner(io.NewSectionReader(f, 0, size))
	first := true
	for number := 1; ; number++ {
		l, err := sc.line()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		whole := true
		switch {
		case l.last == 0 && !l.broken:
		case first:
			if err := s.readHeader(l); err != nil {
				return err
			}
			first = false
		default:
			whole = s.readLine(f, l, number)
		}
		if l.broken {
			s.ends(l, whole && l.last == '}')
			break
		}
		s.tail.size = l.offset + l.length + 1
	}
	if first {
		return errors.New("is empty; remove it")
	}
	return nil
}

// ends takes note of a last line without a break.
func (s *Session) ends(l scannedLine, whole bool) {
	if whole {
		s.tail.size, s.tail.unbroken = l.offset+l.length, true
		return
	}
	s.tail.fragment = l.length
	s.problem("the last line was cut off after %d bytes; they are set aside in a file %s%s.torn-N before the next entry is written",
		l.length, s.id, suffix)
}

func (s *Session) readHeader(l scannedLine) error {
	var h headerLine
	if err := json.Unmarshal(l.prefix, &h); err != nil || h.Kind != kindSession {
		return errors.New("has no header: it is no session, or its beginning is damaged; restore the file or remove it")
	}
	switch {
	case h.Version > Version:
		return fmt.Errorf("has version %d, this starling knows version %d: use a newer starling", h.Version, Version)
	case h.Version < 1:
		return errors.New("has no version in its header; restore the file or remove it")
	}
	s.meta, s.started, s.forked = h.Meta, h.Started, h.Forked
	return nil
}

// readLine indexes a line and tells whether it is a whole one: an object, known
// or not.
func (s *Session) readLine(f io.ReaderAt, l scannedLine, number int) bool {
	k, ok := skimmed{}, false
	// What ends in mid-line may look whole by its last byte.
	if l.last == '}' && !l.broken {
		k, ok = skim(l.prefix)
	}
	if !ok {
		text, err := l.text(f)
		if err == nil {
			err = json.Unmarshal(text, &k)
		}
		if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) && !ours(k.Kind) {
			return true // fields of a kind we do not know
		}
		if err != nil {
			if !l.broken {
				s.problem("line %d is damaged and was passed over: %v", number, err)
			}
			return false
		}
	}
	switch k.Kind {
	case kindMessage:
		s.readMessage(k, l, number)
	case kindHead:
		if at, ok := s.lookup(k.At); ok {
			s.head = at
		} else {
			s.problem("line %d: head at the unknown message %q was passed over", number, k.At)
		}
	case kindLabel:
		if at, ok := s.lookup(k.Node); ok {
			s.labels[at] = k.Text
			if at == root {
				s.titleAt = l.offset
			}
		} else {
			s.problem("line %d: label of the unknown message %q was passed over", number, k.Node)
		}
	}
	return true
}

func ours(kind string) bool {
	return kind == "" || kind == kindSession || kind == kindMessage || kind == kindHead || kind == kindLabel
}

// text returns all of a line.
func (l scannedLine) text(f io.ReaderAt) ([]byte, error) {
	switch {
	case !l.cut:
		return l.prefix, nil
	case l.length > MaxLine:
		return nil, fmt.Errorf("its %d bytes are more than %d", l.length, MaxLine)
	}
	text := make([]byte, l.length)
	_, err := f.ReadAt(text, l.offset)
	return text, err
}

// readMessage adds a message to the index. What does not fit the tree is hung
// behind the message before it, the best guess there is.
func (s *Session) readMessage(k skimmed, l scannedLine, number int) {
	before := len(s.nodes) - 1
	parent, ok := s.lookup(k.Parent)
	if _, twice := s.ids[k.ID]; twice || k.ID == "" {
		if twice {
			s.problem("line %d: a second message %s, it counts as one of its own", number, k.ID)
		}
		if k.ID == "" && k.Parent == "" {
			parent = before
		}
		k.ID = s.spareID(number)
	}
	if !ok {
		s.problem("line %d: message %s follows %q, which is not there; it was hung behind the message before it", number, k.ID, k.Parent)
		parent = before
	}
	s.insert(node{id: k.ID, parent: parent, role: k.Role, at: k.TS, offset: l.offset, length: l.length})
}

// spareID names a message that has no id of its own.
func (s *Session) spareID(number int) string {
	id := "line-" + strconv.Itoa(number)
	for _, taken := s.ids[id]; taken; _, taken = s.ids[id] {
		id += "-"
	}
	return id
}

// insert adds a node and moves the head to it.
func (s *Session) insert(n node) {
	n.leaf = true
	if n.parent != root {
		s.nodes[n.parent].leaf = false
	}
	s.ids[n.id] = len(s.nodes)
	s.head = len(s.nodes)
	s.nodes = append(s.nodes, n)
	if v, err := strconv.Atoi(n.id); err == nil && v > s.last && v < 1<<48 {
		s.last = v
	}
}

// lookup finds a node by its id; "" is the root.
func (s *Session) lookup(id string) (int, bool) {
	if id == "" {
		return root, true
	}
	i, ok := s.ids[id]
	return i, ok
}

func (s *Session) problem(format string, args ...any) {
	s.faults++
	switch {
	case s.faults <= maxProblems:
		s.problems = append(s.problems, fmt.Sprintf("session "+s.id+": "+format, args...))
	case s.faults == maxProblems+1:
		s.problems = append(s.problems, fmt.Sprintf("session %s: further damage is not listed", s.id))
	}
}

func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
