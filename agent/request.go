package agent

import (
	"slices"
	"strings"

	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// bytesPerToken is a rule of thumb for estimates of a request's size.
const bytesPerToken = 4

// request asks listeners for the shape of this turn's request and builds it. It
// waits while a listener holds the request back, and asks anew afterwards. When
// the run ended meanwhile, what it returns is not to be sent.
func (t *turnState) request() provider.Request {
	r := t.r
	held := map[bus.Owner]bool{}
	var lapsed []bus.Owner
	for {
		history, offered := r.a.transcript(), r.a.o.Tools.List()
		heard := r.a.ports.request.Snapshot().Without(lapsed...)
		holds := t.announce(heard, history, offered, held)
		if len(holds) == 0 || r.ended() {
			req := shaped(provider.Request{
				System: r.system, Messages: history, Tools: offered, Model: t.model.name, Thinking: t.model.thinking,
			}, t.shape, r.first)
			req.Messages = r.a.withoutRefused(tightened(req.Messages, r.a.tight))
			return req
		}
		lapsed = append(lapsed, r.waitFor(holds, heard)...)
		if r.ended() {
			return provider.Request{}
		}
		r.apply()
	}
}

// announce sends agent/request, takes the shape that comes of it and returns the
// holds that listeners placed.
func (t *turnState) announce(heard bus.Snapshot[event.RequestEvent, event.RequestAnswer], history []chat.Message, offered []spec.Tool, held map[bus.Owner]bool) []*hold {
	r := t.r
	t.shape = event.Shape{}
	if !heard.Listening() {
		return nil
	}
	s := &shaping{open: true, held: held}
	all := func(run bool) []chat.Message {
		if run {
			return wellFormed(history[r.first:])
		}
		return wellFormed(history)
	}
	e := event.RequestEvent{
		Run:      handle{r: r, shaping: s},
		Turn:     t.index,
		MaxTurns: r.a.o.MaxTurns,
		RunStart: r.first,
		Length:   len(history),
		Tokens:   estimate(r.system, history, offered),
		Model:    t.model.name,
		Tail:     tailOf(history[r.first:], t.index, r.a.readOnly),
		Messages: func() []chat.Message { return all(false) },
		History:  all,
	}
	if share, capped := r.handle().Budget(); capped {
		e.Budget = &share
	}
	heard.Send(r.listenerCtx(), &e)
	t.shape = e.Shape
	return s.close()
}

// readOnly tells whether a tool of that name stands and only reads.
func (a *Agent) readOnly(name string) bool {
	tool, _, known := a.o.Tools.Lookup(name)
	return known && tool.ReadOnly
}

// shaped applies a shape to a request and makes it valid. The run began at
// message first.
func shaped(req provider.Request, s event.Shape, first int) provider.Request {
	if s.System != nil {
		req.System = *s.System
	}
	history := wellFormed(s.Messages)
	if len(history) == 0 { // nothing to send is no wish
		if s.History == event.HistoryRun {
			req.Messages = req.Messages[first:]
		}
		history = wellFormed(req.Messages)
	}
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
	n := fixedWeight(system, offered)
	for _, m := range messages {
		n += weight(m)
	}
	return n / bytesPerToken
}

// fixedWeight is how many bytes a request has without a conversation.
func fixedWeight(system string, offered []spec.Tool) int {
	n := len(system)
	for _, t := range offered {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n
}

// weight is how many bytes of a request a message takes.
func weight(m chat.Message) int {
	n := 0
	for _, b := range m.Blocks {
		n += len(b.Text) + len(b.Name) + len(b.Arguments)
		if b.Kind == chat.Image {
			n += chat.ImageTokens * bytesPerToken
		}
	}
	return n
}
