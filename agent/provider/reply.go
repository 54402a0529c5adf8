package provider

import (
	"fmt"
	"strings"

	"starling/bus/chat"
)

// Reply collects the events of one stream into a message. Each block has one
// buffer that only grows; what Take returns is a range of it, so a token is
// copied once. The zero value is ready; use it from one goroutine at a time.
type Reply struct {
	blocks []*block
	done   bool // the terminal mark was seen
	err    error
	stop   chat.StopReason
	usage  chat.Usage
}

type block struct {
	head chat.Block // all but the text
	text strings.Builder
	end  bool
}

// Take adds an event and returns the text it brought, "" when none. An event
// that does not fit the stream so far makes the reply a failed one; after the
// end nothing counts.
func (r *Reply) Take(e Event) string {
	if r.done || r.err != nil {
		return ""
	}
	switch e.Kind {
	case BlockStart:
		r.start(e)
	case Delta:
		if b := r.open(e); b != nil {
			from := b.text.Len()
			b.text.Write(e.Data)
			return b.text.String()[from:]
		}
	case BlockEnd:
		if b := r.open(e); b != nil {
			b.end, b.head.Signature = true, e.Signature
			if b.head.ID == "" {
				b.head.ID = e.ID
			}
		}
	case Waiting: // nothing of the reply
	case Done:
		r.done, r.stop, r.usage = true, e.Stop, e.Usage
	case Failed:
		r.err, r.usage = e.Err, e.Usage
		if r.err == nil {
			r.err = fmt.Errorf("the provider failed without a reason")
		}
	default:
		r.misfit("an unknown event %d", e.Kind)
	}
	return ""
}

func (r *Reply) start(e Event) {
	if e.Index != len(r.blocks) {
		r.misfit("block %d started after %d", e.Index, len(r.blocks))
		return
	}
	switch e.Block {
	case chat.Text, chat.Thinking, chat.Call:
		r.blocks = append(r.blocks, &block{head: chat.Block{Kind: e.Block, ID: e.ID, Name: e.Name}})
	default:
		r.misfit("a block of kind %q", e.Block)
	}
}

func (r *Reply) open(e Event) *block {
	if e.Index < 0 || e.Index >= len(r.blocks) || r.blocks[e.Index].end {
		r.misfit("block %d is not open", e.Index)
		return nil
	}
	return r.blocks[e.Index]
}

func (r *Reply) misfit(format string, args ...any) {
	r.err = fmt.Errorf("the provider broke its stream: "+format, args...)
}

// Block returns the kind of a block that has started, "" for none.
func (r *Reply) Block(index int) chat.BlockKind {
	if index < 0 || index >= len(r.blocks) {
		return ""
	}
	return r.blocks[index].head.Kind
}

// Err returns why the reply failed, nil when it did not. A reply that has not
// seen its terminal mark has failed with ErrCut.
func (r *Reply) Err() error {
	if r.err == nil && !r.done {
		return ErrCut
	}
	return r.err
}

// Message returns what has arrived as an assistant message. Blocks without
// content are left out, and of a failed reply the calls that were not complete:
// half of a call is nothing to run or to send back.
func (r *Reply) Message() chat.Message {
	m := chat.Message{Role: chat.Assistant, Stop: r.stop}
	if r.usage != (chat.Usage{}) {
		u := r.usage
		m.Usage = &u
	}
	for _, b := range r.blocks {
		part := b.head
		switch {
		case part.Kind != chat.Call:
			part.Text = b.text.String()
			if part.Text == "" && part.Signature == "" {
				continue
			}
		case !b.end && r.Err() != nil:
			continue
		default:
			part.Arguments = b.text.String()
			switch strings.TrimSpace(part.Arguments) {
			case "", "null", `""`:
				part.Arguments = "{}"
			}
		}
		m.Blocks = append(m.Blocks, part)
	}
	if err := r.Err(); err != nil {
		m.Stop, m.Error = chat.StopError, err.Error()
	} else if m.Stop == "" {
		m.Stop = chat.StopEnd
		if len(m.Calls()) > 0 {
			m.Stop = chat.StopTools
		}
	}
	return m
}
