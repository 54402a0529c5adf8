package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"starling/bus/chat"
	"starling/trust"
)

// ErrClosed is returned by writes to a session that is closed or was opened for
// reading.
var ErrClosed = errors.New("the session is not open for writing")

// titleEvery is how many bytes may follow the title before it is repeated: half
// of what a listing reads from the end.
const titleEvery = tailWindow / 2

// ResumeBytes is how much of a conversation a resume takes at most: far more
// than any model reads, and small enough to hold. See Recent.
const ResumeBytes = 48 << 20

// Session is one conversation: an index in memory, its messages on disk. It may
// be used by several goroutines.
type Session struct {
	store   Store
	id      string
	path    string
	meta    Meta
	started time.Time
	forked  string

	mu       sync.Mutex
	nodes    []node
	ids      map[string]int
	labels   map[int]string
	titleAt  int64 // offset of the newest title
	head     int
	last     int // highest number among the ids
	tail     tail
	log      *appender // nil unless open for writing
	gone     bool      // closed, with nothing in its file
	faults   int
	problems []string
	recorder *Recorder
}

// ID of the session.
func (s *Session) ID() string { return s.id }

// Path of its file.
func (s *Session) Path() string { return s.path }

// Meta returns what the header says.
func (s *Session) Meta() Meta { return s.meta }

// Started returns when the session began, UTC.
func (s *Session) Started() time.Time { return s.started }

// ForkedFrom returns the ID:NODE this session was forked from, "" for none.
func (s *Session) ForkedFrom() string { return s.forked }

// Problems tells what was wrong with the file when it was opened, for people.
func (s *Session) Problems() []string { return slices.Clone(s.problems) }

// Append adds messages behind the head, one after another, with one write and
// one sync for all of them. An *UnsavedError says that they are kept in memory
// and will be written later; any other error that they are not taken.
func (s *Session) Append(messages ...chat.Message) error {
	return s.append(messages, (*appender).flush)
}

// AppendEarly is Append that does not wait for the sync: what comes next does. A
// sync that failed is told then. It is for a message whose sync may go on beside
// a request to the model.
func (s *Session) AppendEarly(messages ...chat.Message) error {
	return s.append(messages, (*appender).early)
}

func (s *Session) append(messages []chat.Message, write func(*appender) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return fmt.Errorf("session %s: %w", s.id, ErrClosed)
	}
	if len(messages) == 0 {
		return nil
	}
	// All are encoded before the first is taken, so that none or all are.
	lines, nodes, err := s.encoded(messages)
	if err != nil {
		return err
	}
	for i, line := range lines {
		nodes[i].offset = s.log.add(line)
		nodes[i].length = int64(len(line) - 1)
		s.insert(nodes[i])
	}
	s.repeatTitle()
	return write(s.log)
}

func (s *Session) encoded(messages []chat.Message) ([][]byte, []node, error) {
	var lines [][]byte
	var nodes []node
	now, parent, parentID := s.store.now(), s.head, s.idOf(s.head)
	for i, m := range messages {
		id := strconv.Itoa(s.last + 1 + i)
		line, err := encodeMessage(messageLine{
			Kind: kindMessage, ID: id, Parent: parentID, TS: now, Message: s.store.Mask.storable(m),
		})
		if err != nil {
			return nil, nil, err
		}
		lines = append(lines, line)
		nodes = append(nodes, node{id: id, parent: parent, role: m.Role, at: now.Format(time.RFC3339Nano)})
		parent, parentID = len(s.nodes)+i, id
	}
	return lines, nodes, nil
}

func (s *Session) idOf(i int) string {
	if i == root {
		return ""
	}
	return s.nodes[i].id
}

// repeatTitle keeps the title near the end of the file.
func (s *Session) repeatTitle() {
	title, ok := s.labels[root]
	end := s.log.size + int64(len(s.log.pending))
	if !ok || end-s.titleAt <= titleEvery {
		return
	}
	if line, err := encode(labelLine{Kind: kindLabel, Text: title, TS: s.store.now()}); err == nil {
		s.titleAt = s.log.add(line)
	}
}

// Label names a message, which names its branch; "" names the session itself.
// The newest one counts. Errors are those of Append.
func (s *Session) Label(id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.lookup(id)
	switch {
	case s.log == nil:
		return fmt.Errorf("session %s: %w", s.id, ErrClosed)
	case !ok:
		return fmt.Errorf("session %s: no message %q", s.id, id)
	}
	text = s.store.Mask.Text(strings.ToValidUTF8(text, "\uFFFD"))
	line, err := encode(labelLine{Kind: kindLabel, Node: id, Text: text, TS: s.store.now()})
	if err != nil {
		return fmt.Errorf("session label: %w", err)
	}
	offset := s.log.add(line)
	s.labels[at] = text
	if at == root {
		s.titleAt = offset
	}
	return s.log.flush()
}

// Title returns the name of the session, "" for none.
func (s *Session) Title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.labels[root]
}

// Messages returns the messages from the root to the head as they were stored:
// of a call whose result never came there is none. Messages that cannot be read
// are left out and named by the error, which is then not alone: the others are
// returned with it.
func (s *Session) Messages() ([]chat.Message, error) {
	messages, _, err := s.Recent(0)
	return messages, err
}

// Recent returns the newest messages up to the head whose lines have together
// about limit bytes, 0 for no limit. They begin with a message of the user, so
// that no call is parted from its result; all tells whether none is left out.
// Errors are those of Messages.
func (s *Session) Recent(limit int64) (messages []chat.Message, all bool, err error) {
	s.mu.Lock()
	path := s.pathTo(s.head)
	first := s.firstWithin(path, limit)
	path = path[first:]
	read := s.reader(path)
	s.mu.Unlock()
	defer read.close()
	messages = make([]chat.Message, 0, len(path))
	var errs []error
	for _, n := range read.nodes {
		m, err := read.message(n)
		if err != nil {
			errs = append(errs, fmt.Errorf("session file %s: message %s: %w", s.path, n.id, err))
			continue
		}
		messages = append(messages, m)
	}
	return messages, first == 0, errors.Join(errs...)
}

// firstWithin returns the index in a path from which on it is within limit.
func (s *Session) firstWithin(path []int, limit int64) int {
	if limit <= 0 {
		return 0
	}
	first, sum := len(path), int64(0)
	for first > 0 && sum+s.nodes[path[first-1]].length <= limit {
		first--
		sum += s.nodes[path[first]].length
	}
	if first == 0 {
		return 0
	}
	for i := first; i < len(path); i++ {
		if s.nodes[path[i]].role == chat.User {
			return i
		}
	}
	for first = min(first, len(path)-1); first > 0 && s.nodes[path[first]].role != chat.User; first-- {
	}
	return max(first, 0)
}

// pathTo returns the nodes from the root to one. Parents come before their
// children in the file, so it ends.
func (s *Session) pathTo(i int) []int {
	var path []int
	for ; i != root; i = s.nodes[i].parent {
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}

// reader reads messages from the file, or from what waits to be written.
type reader struct {
	file    *os.File
	err     error
	size    int64 // where the file ends and pending begins
	pending []byte
	nodes   []node
	buf     []byte
}

func (s *Session) reader(path []int) *reader {
	r := &reader{nodes: make([]node, len(path))}
	for i, n := range path {
		r.nodes[i] = s.nodes[n]
	}
	r.size = 1<<63 - 1
	if s.log != nil {
		r.size, r.pending = s.log.size, slices.Clone(s.log.pending)
	}
	r.file, r.err = trust.OpenRegular(s.path, os.O_RDONLY, 0)
	return r
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close()
	}
}

// line returns the line of a node; it is valid until the next one is read.
func (r *reader) line(n node) ([]byte, error) {
	switch {
	case n.offset >= r.size:
		from := n.offset - r.size
		return r.pending[from : from+n.length], nil
	case r.err != nil:
		return nil, r.err
	case n.length > MaxLine:
		return nil, fmt.Errorf("its line of %d bytes is longer than %d", n.length, MaxLine)
	}
	if int64(cap(r.buf)) < n.length {
		r.buf = make([]byte, n.length)
	}
	buf := r.buf[:n.length]
	if cap(r.buf) > 1<<20 {
		r.buf = nil // a long line is no measure for the others
	}
	_, err := r.file.ReadAt(buf, n.offset)
	return buf, err
}

func (r *reader) message(n node) (chat.Message, error) {
	line, err := r.line(n)
	if err != nil {
		return chat.Message{}, err
	}
	var l struct{ chat.Message }
	err = json.Unmarshal(line, &l)
	return l.Message, err
}

// Err returns nil, or an *UnsavedError as long as entries could not be written.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return nil
	}
	s.log.settle()
	return s.log.unsaved()
}

// ResumeRef returns what the session may be resumed with. It is refused with an
// error when something is not saved, or when there is nothing yet.
func (s *Session) ResumeRef() (string, error) {
	if err := s.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.nodes) == 0 {
		return "", fmt.Errorf("session %s: it has no message yet", s.id)
	}
	return s.id, nil
}

// Flush tries to write what could not be written, and the plugin record.
func (s *Session) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush()
}

func (s *Session) flush() error {
	var err error
	if s.log != nil {
		if s.log.settle(); s.log.err != nil {
			err = s.log.flush()
		}
	}
	if s.recorder != nil {
		err = errors.Join(err, s.recorder.Flush())
	}
	return err
}

// OnDisk tells whether anything of the session is in its file, so that it can be opened.
func (s *Session) OnDisk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return !s.gone
	}
	return s.log.size+int64(s.log.written) > 0
}

// Close flushes and gives the lock back. A session nothing was said in, or nothing of
// which could be written, leaves no file. After an *UnsavedError what waited is lost.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log == nil {
		return nil
	}
	var err error // the log flushes itself
	if s.recorder != nil {
		err = errors.Join(s.recorder.Flush(), s.recorder.close())
	}
	open := s.log.file != nil
	if len(s.nodes) > 0 || len(s.labels) > 0 || s.log.size > 0 {
		err = errors.Join(err, s.log.flush())
	}
	if s.gone = s.log.size == 0; s.gone && (open || s.log.file != nil) {
		err = errors.Join(err, os.Remove(s.path))
	}
	if s.log.file != nil {
		err = errors.Join(err, s.log.file.Close())
	}
	s.log = nil
	return err
}
