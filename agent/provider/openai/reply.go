package openai

import (
	"bytes"
	"errors"
	"fmt"

	"starling/agent/provider"
	"starling/agent/provider/sse"
	"starling/agent/provider/wire"
	"starling/bus/chat"
)

// maxReply is the most bytes of one reply, all blocks together.
const maxReply = 64 << 20

var doneMark = []byte("[DONE]")

// reply turns chunks into events.
type reply struct {
	sink    provider.Sink
	hide    wire.Mask
	keep    bool // reasoning_details
	price   func(chat.Usage) float64
	parser  reader
	calls   assembler
	details details

	blocks          int // started so far
	text, reasoning int // open blocks, -1 for none
	key             string
	finish          string
	finished        bool // a finish reason, or the mark
	refused         bool
	usage           usage
	bytes           int
	failure         error
}

func newReply(sink provider.Sink, hide wire.Mask, keepDetails bool, price func(chat.Usage) float64) *reply {
	r := &reply{sink: sink, hide: hide, keep: keepDetails, price: price, text: -1, reasoning: -1}
	r.calls.emit, r.calls.block = r.emit, r.nextBlock
	return r
}

func (r *reply) nextBlock() int {
	r.blocks++
	return r.blocks - 1
}

func (r *reply) emit(e provider.Event) {
	if r.bytes += len(e.Data); r.bytes > maxReply && r.failure == nil {
		r.failure = protocol(fmt.Sprintf("the reply is above the limit of %d bytes", maxReply), nil)
	}
	r.sink(e)
}

// event takes the data of one event; false when nothing counts behind it.
func (r *reply) event(e sse.Event) bool {
	data := bytes.TrimSpace(e.Data)
	switch {
	case len(data) == 0:
		return true
	case bytes.Equal(data, doneMark):
		r.finished = true
		return false
	}
	c, ok := r.parser.parse(data)
	switch {
	case !ok && e.Cut:
		return false // half an event: the stream was cut
	case !ok:
		r.failure = protocol("the model server sent an event that is no JSON object: "+r.quoted(data), nil)
		return false
	case c.fault == nil && string(e.Name) == "error":
		c.fault = data
	}
	return r.take(c)
}

func protocol(message string, cause error) error {
	return &provider.Failure{Kind: provider.Protocol, Message: message, RetryAfter: -1, Cause: cause}
}

func (r *reply) quoted(data []byte) string {
	const most = 200
	text := r.hide.Text(string(data))
	if len(text) > most {
		return fmt.Sprintf("%.*q and %d more bytes", most, text, len(text)-most)
	}
	return fmt.Sprintf("%q", text)
}

// take tells what one chunk says.
func (r *reply) take(c *chunk) bool {
	if c.usage.seen {
		r.usage = c.usage // some servers count up in each chunk: the last one counts
	}
	if c.fault != nil {
		r.failure = wire.InBand(c.fault, r.hide)
		return false
	}
	if len(c.reasoning) > 0 {
		r.think(c)
	}
	if c.details != nil && r.keep {
		r.details.take(c.details)
	}
	r.say(c.text)
	if len(c.refusal) > 0 {
		r.refused = true
		r.say(c.refusal)
	}
	if len(c.calls) > 0 {
		r.calls.take(c.calls)
		if r.calls.started > 0 {
			r.endThought()
		}
	}
	if len(c.finish) > 0 && !bytes.Equal(c.finish, []byte(r.finish)) {
		r.finish = string(c.finish)
	}
	r.finished = r.finished || len(c.finish) > 0
	return r.failure == nil
}

func (r *reply) think(c *chunk) {
	if r.reasoning < 0 {
		r.endText()
		r.reasoning = r.nextBlock()
		r.key = c.key
		r.emit(provider.Event{Kind: provider.BlockStart, Index: r.reasoning, Block: chat.Thinking})
	}
	r.emit(provider.Event{Kind: provider.Delta, Index: r.reasoning, Data: c.reasoning})
}

func (r *reply) say(text []byte) {
	if len(text) == 0 {
		return
	}
	r.endThought()
	if r.text < 0 {
		r.text = r.nextBlock()
		r.emit(provider.Event{Kind: provider.BlockStart, Index: r.text, Block: chat.Text})
	}
	r.emit(provider.Event{Kind: provider.Delta, Index: r.text, Data: text})
}

// endThought closes the thoughts; their signature is the field they came in, for
// the way back.
func (r *reply) endThought() {
	if r.reasoning >= 0 {
		r.emit(provider.Event{Kind: provider.BlockEnd, Index: r.reasoning, Signature: r.key})
		r.reasoning = -1
	}
}

func (r *reply) endText() {
	if r.text >= 0 {
		r.emit(provider.Event{Kind: provider.BlockEnd, Index: r.text})
		r.text = -1
	}
}

// end gives the last event. err is why reading ended, nil for the end of the
// body.
func (r *reply) end(err error) {
	switch {
	case r.failure == nil && r.finish == "error":
		r.failure = protocol("the model server ended the reply with an error and did not say which", nil)
	case r.failure == nil && !r.finished:
		r.failure = unfinished(err)
	}
	if r.failure != nil {
		r.endThought()
		r.endText()
		r.emit(provider.Event{Kind: provider.Failed, Err: r.failure, Usage: r.spent()})
		return
	}
	stop := stopOf(r.finish, r.refused, len(r.calls.calls) > 0)
	r.endThought()
	r.endText()
	r.calls.finish(stop)
	if signature := r.details.signature(); signature != "" {
		block := r.nextBlock()
		r.emit(provider.Event{Kind: provider.BlockStart, Index: block, Block: chat.Thinking})
		r.emit(provider.Event{Kind: provider.BlockEnd, Index: block, Signature: signature})
	}
	r.emit(provider.Event{Kind: provider.Done, Stop: stop, Usage: r.spent()})
}

func (r *reply) spent() chat.Usage {
	u := r.usage.plain()
	if u.Cost == 0 {
		u.Cost = r.price(u)
	}
	return u
}

// unfinished is the failure of a stream without a mark.
func unfinished(err error) error {
	var f *provider.Failure
	switch {
	case errors.Is(err, sse.ErrTooLong):
		return protocol("the reply broke off: "+err.Error(), err)
	case errors.As(err, &f) && !errors.Is(err, provider.ErrCut):
		return err
	}
	return &provider.Failure{Kind: provider.Network, Message: provider.ErrCut.Error(), RetryAfter: -1, Cause: provider.ErrCut}
}
