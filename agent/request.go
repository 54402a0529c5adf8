package agent

import (
	"slices"
	"strings"
	"sync/atomic"

	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// bytesPerToken is a rule of thumb for estimates of a request's size.
const bytesPerToken = 4

// request asks listeners for the shape of this turn's request and builds it.
// The transcript never changes by it.
func (t *turnState) request() provider.Request {
	r := t.r
	history := r.a.transcript()
	offered := r.a.o.Tools.List()
	if port := r.a.ports.request; port.Listening() {
		var shaping atomic.Bool
		shaping.Store(true)
		e := event.RequestEvent{
			Run:      handle{r: r, shaping: &shaping},
			Turn:     t.index,
			MaxTurns: r.a.o.MaxTurns,
			RunStart: r.first,
			Length:   len(history),
			Tokens:   estimate(r.system, history, offered),
			Model:    r.a.o.Model,
			Messages: func() []chat.Message { return wellFormed(history) },
		}
		port.Send(r.listenerCtx(), &e)
		shaping.Store(false)
		t.shape = e.Shape
	}
	return shaped(provider.Request{
		System: r.system, Messages: history, Tools: offered, Model: r.a.o.Model,
	}, t.shape)
}

// shaped applies a shape to a request and makes it valid.
func shaped(req provider.Request, s event.Shape) provider.Request {
	if s.System != nil {
		req.System = *s.System
	}
	history := wellFormed(req.Messages)
	if s.PromptPrefix != "" {
		history = prefixed(history, s.PromptPrefix)
	}
	if len(s.Prefix) > 0 {
		history = append(wellFormed(s.Prefix), history...)
	}
	req.Messages = history
	req.Suffix = strings.Join(s.Suffix, "\n\n")
	if len(s.Exclude) > 0 {
		req.Tools = slices.DeleteFunc(req.Tools, func(t spec.Tool) bool { return s.Exclude[t.Name] })
	}
	return req
}

// prefixed puts text before the first user message.
func prefixed(messages []chat.Message, text string) []chat.Message {
	for i, m := range messages {
		if m.Role != chat.User {
			continue
		}
		blocks := slices.Clone(m.Blocks)
		if j := slices.IndexFunc(blocks, func(b chat.Block) bool { return b.Kind == chat.Text }); j >= 0 {
			blocks[j].Text = text + "\n\n" + blocks[j].Text
		} else {
			blocks = append([]chat.Block{{Kind: chat.Text, Text: text}}, blocks...)
		}
		messages[i].Blocks = blocks // messages is the request's own list
		break
	}
	return messages
}

func estimate(system string, messages []chat.Message, offered []spec.Tool) int {
	n := len(system)
	for _, m := range messages {
		for _, b := range m.Blocks {
			n += len(b.Text) + len(b.Name) + len(b.Arguments)
		}
	}
	for _, t := range offered {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n / bytesPerToken
}
