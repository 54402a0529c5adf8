package provider

import (
	"context"
	"fmt"

	"starling/bus/chat"
	"starling/bus/spec"
)

// Request is everything a model is sent for one reply. Providers only read it.
type Request struct {
	System string
	// Messages are valid: each call has its result right behind its message, no
	// content is empty, arguments of calls are JSON objects. System messages may
	// stand among them.
	Messages []chat.Message
	// Suffix is text behind the last message, other in every request: it never
	// stands under a cache breakpoint. Empty for none.
	Suffix string
	Tools  []spec.Tool
	Model  string
	// Thinking is a level of the ladder off, minimal, low, medium, high, xhigh,
	// max that the model has; "" leaves it to the server.
	Thinking string
	// MaxTokens is the most tokens of the reply; 0 leaves it to the model's own
	// setting.
	MaxTokens int
	// Headers are sent besides the provider's own.
	Headers map[string]string
}

// Provider answers requests.
type Provider interface {
	// Stream sends req and gives the events of the reply to sink, one after
	// another, until it returns. It never panics and returns no error: the last
	// event is Done or Failed. It returns soon after ctx ends, with or without
	// one. Waiting events come before all others.
	Stream(ctx context.Context, req Request, sink Sink)
}

// Sink takes the events of one stream. It is called by one goroutine at a time
// and keeps no reference to Event.Data.
type Sink func(Event)

// Kind of an Event.
type Kind uint8

// The kinds of events.
const (
	BlockStart Kind = iota + 1 // Index, Block; ID and Name of a tool call
	Delta                      // Index, Data
	BlockEnd                   // Index; Signature of a thinking block, ID of a call that came late
	Done                       // Stop, Usage: the terminal mark
	Failed                     // Err; Usage as far as it is known
	Waiting                    // Wait: the request failed and is sent again after a pause
)

// Event is one step of a reply.
type Event struct {
	Kind  Kind
	Index int // of the block, from 0, in the order of their starts
	Block chat.BlockKind
	// ID and Name of a tool call. An empty ID is made up.
	ID, Name string
	// Data of a delta: text, or a piece of the JSON of a call's arguments. It is
	// valid during the call of the sink only.
	Data      []byte
	Signature string
	Stop      chat.StopReason
	Usage     chat.Usage
	Err       error
	Wait      *Wait
}

// Guarded wraps a provider so that a panic in it is a failed stream.
func Guarded(p Provider) Provider { return guarded{p} }

type guarded struct{ p Provider }

func (g guarded) Stream(ctx context.Context, req Request, sink Sink) {
	defer func() {
		if v := recover(); v != nil {
			sink(Event{Kind: Failed, Err: fmt.Errorf("the provider failed: %v", v)})
		}
	}()
	g.p.Stream(ctx, req, sink)
}
