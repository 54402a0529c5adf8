package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"starling/bus/chat"
)

// ErrInsideTurn refuses a branch between a call and its result.
var ErrInsideTurn = errors.New("a branch may start at a prompt or after a finished answer only")

// Node is a message in the tree, without its text.
type Node struct {
	ID, Parent string // Parent is "" for a root
	Role       chat.Role
	Time       time.Time // zero when the line has none
	Label      string
	Leaf       bool // nothing follows it
}

// Nodes returns all messages in the order written: parents before children.
func (s *Session) Nodes() []Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := make([]Node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = Node{ID: n.id, Parent: s.idOf(n.parent), Role: n.role, Time: parseTime(n.at), Label: s.labels[i], Leaf: n.leaf}
	}
	return nodes
}

// Head returns the message the next one follows, "" for none.
func (s *Session) Head() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idOf(s.head)
}

// Find returns the id of a message that ref is, or alone begins.
func (s *Session) Find(ref string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(s.nodes))
	for i, n := range s.nodes {
		names[i] = n.id
	}
	id, may := pick(names, ref)
	switch {
	case id != "":
		return id, nil
	case len(may) == 0 || ref == "":
		return "", fmt.Errorf("session %s: no message %q", s.id, ref)
	}
	if len(may) > 8 {
		may = append(may[:8:8], "…")
	}
	return "", fmt.Errorf("session %s: message %q may mean %s", s.id, ref, strings.Join(may, ", "))
}

// Newest returns the message written last under one, itself when nothing follows
// it: where a jump to its branch leads.
func (s *Session) Newest(id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.lookup(id)
	if !ok {
		return "", fmt.Errorf("session %s: no message %q", s.id, id)
	}
	under := make([]bool, len(s.nodes))
	newest := at
	for i := range s.nodes {
		parent := s.nodes[i].parent
		if under[i] = i == at || parent == at || parent != root && under[parent]; under[i] {
			newest = i
		}
	}
	return s.idOf(newest), nil
}

// Usage returns what the replies of all branches used, and the models of those that
// used tokens and have no cost. The error names messages that cannot be read; they
// are not counted.
func (s *Session) Usage() (used chat.Usage, unpriced []string, err error) {
	s.mu.Lock()
	var replies []int
	for i, n := range s.nodes {
		if n.role == chat.Assistant {
			replies = append(replies, i)
		}
	}
	read := s.reader(replies)
	s.mu.Unlock()
	defer read.close()
	var errs []error
	for _, n := range read.nodes {
		m, err := read.message(n)
		if err != nil {
			errs = append(errs, fmt.Errorf("session file %s: message %s: %w", s.path, n.id, err))
			continue
		}
		if m.Usage == nil {
			continue
		}
		used = used.Add(*m.Usage)
		if m.Usage.Cost == 0 && *m.Usage != (chat.Usage{}) && !slices.Contains(unpriced, m.Model) {
			unpriced = append(unpriced, m.Model)
		}
	}
	return used, unpriced, errors.Join(errs...)
}

// Jump makes the next message follow the given one, "" for none. It is refused
// with ErrInsideTurn where that would part a call from its result, unless the
// branch ends there. Further errors are those of Append.
func (s *Session) Jump(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.lookup(id)
	if !ok {
		return fmt.Errorf("session %s: no message %q", s.id, id)
	}
	if at != root && !s.nodes[at].leaf {
		inside, err := s.insideTurn(at)
		if err != nil {
			return err
		}
		if inside {
			return fmt.Errorf("session %s: message %s: %w", s.id, id, ErrInsideTurn)
		}
	}
	return s.moveHead(at)
}

// Branch prepares a branch at a message: before a prompt, whose text is returned
// for editing, or behind a finished answer. Elsewhere it is refused with
// ErrInsideTurn and nothing moves. Further errors are those of Append.
func (s *Session) Branch(id string) (prompt string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.ids[id]
	if !ok {
		return "", fmt.Errorf("session %s: no message %q", s.id, id)
	}
	m, err := s.messageAt(at)
	switch {
	case err != nil:
		return "", err
	case m.Role == chat.User:
		return m.Said(), s.moveHead(s.nodes[at].parent)
	case m.Role == chat.ToolRole || len(m.Calls()) > 0:
		return "", fmt.Errorf("session %s: message %s: %w", s.id, id, ErrInsideTurn)
	}
	return "", s.moveHead(at)
}

func (s *Session) insideTurn(at int) (bool, error) {
	switch s.nodes[at].role {
	case chat.ToolRole:
		return true, nil
	case chat.Assistant:
		m, err := s.messageAt(at)
		return len(m.Calls()) > 0, err
	}
	return false, nil
}

func (s *Session) messageAt(at int) (chat.Message, error) {
	r := s.reader([]int{at})
	defer r.close()
	m, err := r.message(r.nodes[0])
	if err != nil {
		return m, fmt.Errorf("session file %s: message %s: %w", s.path, r.nodes[0].id, err)
	}
	return m, nil
}

// moveHead moves the head; a session that is only read moves its view of it.
func (s *Session) moveHead(at int) error {
	if at == s.head {
		return nil
	}
	if s.log == nil {
		s.head = at
		return nil
	}
	line, err := encode(headLine{Kind: kindHead, At: s.idOf(at), TS: s.store.now()})
	if err != nil {
		return fmt.Errorf("session head: %w", err)
	}
	s.head = at
	s.log.add(line)
	return s.log.flush()
}
