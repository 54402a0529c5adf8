package openai

import (
	"bytes"

	"starling/agent/provider"
	"starling/bus/chat"
)

// call is one tool call while its pieces come.
type call struct {
	index    int // the server's, -1 for none
	id, name string
	block    int    // of the reply, -1 before its start
	sentID   string // with the start
	pending  []byte // arguments that came before the start
	blank    bool   // no argument but blanks so far
	shape    shape
}

// assembler joins the pieces of tool calls, whatever a server leaves out of them
// or repeats, and starts their blocks in the order of the calls.
type assembler struct {
	calls   []*call
	started int
	emit    func(provider.Event)
	block   func() int // takes the next block index
}

// take adds the deltas of one chunk.
func (a *assembler) take(deltas []callDelta) {
	for i, d := range deltas {
		c := a.find(d, i > 0)
		if len(d.id) > 0 && c.id == "" {
			c.id = string(d.id)
		}
		if len(d.name) > 0 {
			c.rename(d.name)
		}
		if len(d.args) > 0 {
			a.arguments(c, d.args)
		}
		a.advance(false)
	}
}

// find returns the call a delta belongs to. An index decides, then an id; a
// delta without both goes on with the newest call, unless it begins like another
// one. beside tells that the delta came beside another one in the same list.
func (a *assembler) find(d callDelta, beside bool) *call {
	if d.index >= 0 {
		// The newest: an index that was taken over is used twice.
		for i := len(a.calls) - 1; i >= 0; i-- {
			if c := a.calls[i]; c.index == d.index {
				if a.another(c, d) {
					break
				}
				return c
			}
		}
		if c := a.withID(d.id); c != nil && len(d.name) == 0 {
			return c // the index counts pieces, not calls
		}
		return a.add(d)
	}
	last, named := a.last(), len(d.name) > 0
	if len(d.id) > 0 {
		if c := a.withID(d.id); c != nil && !(c.shape.whole() && named && len(d.args) > 0) {
			return c
		}
		if last != nil && !beside && last.goesOn(d) {
			return last
		}
		return a.add(d)
	}
	if last == nil || named && (beside || last.shape.whole() || last.blank && last.name != "" && string(d.name) != last.name) {
		return a.add(d)
	}
	return last
}

// goesOn tells whether a delta with an id not seen before is a piece of the
// newest call: its id came late, or is made up for each piece.
func (c *call) goesOn(d callDelta) bool {
	if c.id == "" {
		return len(d.name) == 0 || c.name == "" || c.name == string(d.name) && !c.shape.whole()
	}
	return len(d.name) == 0 && !c.shape.whole()
}

// another tells whether a delta that points at c begins another call: it has
// another id and a name, while c is whole or has no arguments. A new id alone is
// nothing: some servers make one up for each piece.
func (a *assembler) another(c *call, d callDelta) bool {
	return len(d.id) > 0 && c.id != "" && c.id != string(d.id) && len(d.name) > 0 && (c.blank || c.shape.whole())
}

func (a *assembler) last() *call {
	if len(a.calls) == 0 {
		return nil
	}
	return a.calls[len(a.calls)-1]
}

func (a *assembler) withID(id []byte) *call {
	for _, c := range a.calls {
		if len(id) > 0 && c.id == string(id) {
			return c
		}
	}
	return nil
}

func (a *assembler) add(d callDelta) *call {
	c := &call{index: d.index, id: string(d.id), block: -1, blank: true}
	a.calls = append(a.calls, c)
	return c
}

// rename takes a name, or a further piece of one. Behind the start and the first
// argument it stands.
func (c *call) rename(name []byte) {
	switch {
	case c.block >= 0 || c.name == string(name):
	case bytes.HasPrefix(name, []byte(c.name)):
		c.name = string(name)
	case c.blank:
		c.name += string(name)
	}
}

func (a *assembler) arguments(c *call, piece []byte) {
	c.shape.add(piece)
	if c.blank && len(bytes.TrimSpace(piece)) > 0 {
		c.blank = false
	}
	if c.block < 0 {
		c.pending = append(c.pending, piece...)
		return
	}
	a.emit(provider.Event{Kind: provider.Delta, Index: c.block, Data: piece})
}

// advance starts the blocks of calls whose name is known for good: once their
// arguments came, or a later call, or the end.
func (a *assembler) advance(end bool) {
	for a.started < len(a.calls) {
		c := a.calls[a.started]
		newest := a.started == len(a.calls)-1
		if !end && (c.name == "" || newest && c.blank) {
			return
		}
		c.block, c.sentID = a.block(), c.id
		a.emit(provider.Event{Kind: provider.BlockStart, Index: c.block, Block: chat.Call, ID: c.id, Name: c.name})
		if len(c.pending) > 0 {
			a.emit(provider.Event{Kind: provider.Delta, Index: c.block, Data: c.pending})
			c.pending = nil
		}
		a.started++
	}
}

// finish ends all calls. Of a reply that was cut by its length a newest call
// without arguments is left out: nobody knows what they were to be.
func (a *assembler) finish(stop chat.StopReason) {
	if last := a.last(); last != nil && stop == chat.StopLength && last.blank && last.block < 0 {
		a.calls = a.calls[:len(a.calls)-1]
	}
	a.advance(true)
	for _, c := range a.calls {
		late := ""
		if c.sentID == "" {
			late = c.id
		}
		a.emit(provider.Event{Kind: provider.BlockEnd, Index: c.block, ID: late})
	}
}

// shape follows JSON text just far enough to know whether an object is whole.
type shape struct {
	depth             int
	begun             bool
	inString, escaped bool
}

func (s *shape) add(piece []byte) {
	for _, c := range piece {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped = c == '\\'
			s.inString = c != '"'
		case c == '"':
			s.inString, s.begun = true, true
		case c == '{' || c == '[':
			s.depth++
			s.begun = true
		case c == '}' || c == ']':
			s.depth--
		}
	}
}

func (s *shape) whole() bool { return s.begun && s.depth <= 0 && !s.inString }
