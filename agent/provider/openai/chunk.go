package openai

import (
	"strings"

	"starling/bus/chat"
)

// chunk is what one event says, or a whole reply that was not streamed.
type chunk struct {
	text, reasoning, refusal []byte
	// key is the field the reasoning came in.
	key     string
	details []byte // the raw list of reasoning_details
	calls   []callDelta
	finish  []byte
	choices bool // there was one
	usage   usage
	fault   []byte // the raw error object
}

// callDelta is a piece of one call. index is -1 where none came.
type callDelta struct {
	index          int
	id, name, args []byte
}

type usage struct {
	seen                       bool
	prompt, completion, total  int
	cached, written, reasoning int
	cost                       float64
}

// reasoningKeys are the fields that servers put thoughts in, the best first: some
// send the same text in two of them.
var reasoningKeys = []string{"reasoning_content", "reasoning", "reasoning_text", "thinking"}

func reasoningRank(key string) int {
	for i, k := range reasoningKeys {
		if k == key {
			return i
		}
	}
	return len(reasoningKeys)
}

// reader parses chunks; it keeps its memory from one to the next.
type reader struct {
	s scanner
	c chunk
}

// parse reads one JSON text. What it returns lives until the next call.
func (r *reader) parse(b []byte) (*chunk, bool) {
	r.s.reset(b)
	r.c = chunk{calls: r.c.calls[:0]}
	s := &r.s
	if s.peek() != '{' {
		return &r.c, false
	}
	s.i++
	for n := 0; s.more('}', &n); {
		switch string(s.key()) {
		case "choices":
			r.choices()
		case "usage":
			r.usage()
		case "error":
			if raw := s.raw(); string(raw) != "null" {
				r.c.fault = raw
			}
		case "object":
			if string(s.text()) == "error" {
				r.c.fault = b
			}
		case "x_groq":
			r.inside("usage", r.usage)
		default:
			s.skip()
		}
	}
	return &r.c, s.end()
}

// inside reads one member of an object and skips the others.
func (r *reader) inside(name string, read func()) {
	if !r.s.enter('{') {
		return
	}
	for n := 0; r.s.more('}', &n); {
		if string(r.s.key()) == name {
			read()
		} else {
			r.s.skip()
		}
	}
}

// choices reads the first choice; others were not asked for.
func (r *reader) choices() {
	s := &r.s
	if !s.enter('[') {
		return
	}
	for n := 0; s.more(']', &n); {
		if s.peek() != '{' || !r.first() {
			s.skip()
			continue
		}
		s.i++
		r.c.choices = true
		for n := 0; s.more('}', &n); {
			switch string(s.key()) {
			case "delta", "message":
				r.delta()
			case "finish_reason":
				r.c.finish = s.text()
			case "usage":
				r.usage()
			case "error":
				if raw := s.raw(); string(raw) != "null" {
					r.c.fault = raw
				}
			default:
				s.skip()
			}
		}
	}
}

// first looks ahead whether the object at hand is choice 0.
func (r *reader) first() bool {
	s := &r.s
	back, scratch := s.i, len(s.scratch)
	defer func() { s.i, s.scratch = back, s.scratch[:scratch] }()
	s.i++ // most servers put the index first: then this is cheap
	for n := 0; s.more('}', &n); {
		if string(s.key()) == "index" {
			index, ok := s.number()
			return !ok || index == 0
		}
		s.skip()
	}
	s.bad = false // a fault is found again, and told, by the real reading
	return true
}

func (r *reader) delta() {
	s := &r.s
	if !s.enter('{') {
		return
	}
	for n := 0; s.more('}', &n); {
		switch key := s.key(); string(key) {
		case "content":
			r.content()
		case "refusal":
			r.c.refusal = s.text()
		case "reasoning_details":
			if raw := s.raw(); len(raw) > 2 && raw[0] == '[' {
				r.c.details = raw
			}
		case "reasoning_content", "reasoning", "reasoning_text", "thinking":
			rank := reasoningRank(string(key))
			if text := s.text(); len(text) > 0 && rank < reasoningRank(r.c.key) {
				r.c.reasoning, r.c.key = text, reasoningKeys[rank]
			}
		case "tool_calls":
			if !s.enter('[') {
				continue
			}
			for n := 0; s.more(']', &n); {
				r.call()
			}
		case "function_call": // of the first tool protocol
			d := callDelta{index: -1}
			if s.peek() == '{' {
				r.function(&d)
				r.c.calls = append(r.c.calls, d)
			} else {
				s.skip()
			}
		default:
			s.skip()
		}
	}
}

// content is text, or a list of parts, of which some are thoughts.
func (r *reader) content() {
	s := &r.s
	if s.peek() != '[' {
		r.c.text = s.text()
		return
	}
	s.i++
	for n := 0; s.more(']', &n); {
		if s.peek() == '"' {
			r.c.text = append(r.c.text[:len(r.c.text):len(r.c.text)], s.text()...)
			continue
		}
		if s.enter('{') {
			r.part()
		}
	}
}

// part reads one part behind its brace. Thoughts are a list of parts of their
// own.
func (r *reader) part() {
	s := &r.s
	for n := 0; s.more('}', &n); {
		switch string(s.key()) {
		case "text":
			r.c.text = append(r.c.text[:len(r.c.text):len(r.c.text)], s.text()...)
		case "thinking":
			if s.peek() == '"' {
				r.thought(s.text())
				continue
			}
			if !s.enter('[') {
				continue
			}
			for n := 0; s.more(']', &n); {
				r.inside("text", func() { r.thought(s.text()) })
			}
		default:
			s.skip()
		}
	}
}

func (r *reader) thought(text []byte) {
	r.c.reasoning = append(r.c.reasoning[:len(r.c.reasoning):len(r.c.reasoning)], text...)
	if r.c.key == "" {
		r.c.key = reasoningKeys[0]
	}
}

func (r *reader) call() {
	s := &r.s
	d := callDelta{index: -1}
	if !s.enter('{') {
		return
	}
	for n := 0; s.more('}', &n); {
		switch string(s.key()) {
		case "index":
			if index, ok := s.number(); ok && index >= 0 && index < 1<<20 {
				d.index = int(index)
			}
		case "id":
			d.id = s.text()
		case "function":
			r.function(&d)
		default:
			s.skip()
		}
	}
	r.c.calls = append(r.c.calls, d)
}

func (r *reader) function(d *callDelta) {
	s := &r.s
	if !s.enter('{') {
		return
	}
	for n := 0; s.more('}', &n); {
		switch string(s.key()) {
		case "name":
			d.name = s.text()
		case "arguments":
			if s.peek() == '"' {
				d.args = s.text()
			} else if raw := s.raw(); string(raw) != "null" {
				d.args = raw // an object where its text should be
			}
		default:
			s.skip()
		}
	}
}

func (r *reader) usage() {
	s := &r.s
	if !s.enter('{') {
		return
	}
	u := usage{seen: true}
	for n := 0; s.more('}', &n); {
		switch string(s.key()) {
		case "prompt_tokens":
			s.count(&u.prompt)
		case "completion_tokens":
			s.count(&u.completion)
		case "total_tokens":
			s.count(&u.total)
		case "prompt_cache_hit_tokens":
			s.count(&u.cached)
		case "cost":
			if cost, ok := s.number(); ok && cost > 0 {
				u.cost = cost
			}
		case "prompt_tokens_details":
			if !s.enter('{') {
				continue
			}
			for n := 0; s.more('}', &n); {
				switch string(s.key()) {
				case "cached_tokens":
					s.count(&u.cached)
				case "cache_write_tokens", "cache_creation_tokens":
					s.count(&u.written)
				default:
					s.skip()
				}
			}
		case "completion_tokens_details":
			r.inside("reasoning_tokens", func() { s.count(&u.reasoning) })
		default:
			s.skip()
		}
	}
	r.c.usage = u
}

// count reads a number of tokens; what is none leaves the count as it is.
func (s *scanner) count(to *int) {
	if n, ok := s.number(); ok && n >= 0 && n < 1<<40 && n > float64(*to) {
		*to = int(n)
	}
}

// plain returns the usage in our terms: input that came neither from nor went to
// a cache, and output with the thoughts.
func (u usage) plain() chat.Usage {
	out := u.completion
	if u.reasoning > 0 && u.total == u.prompt+u.completion+u.reasoning {
		out += u.reasoning // a server that does not count thoughts as output
	}
	return chat.Usage{
		Input:  max(u.prompt-u.cached-u.written, 0),
		Output: out, CacheRead: u.cached, CacheWrite: u.written, Cost: u.cost,
	}
}

// stopOf maps a finish reason; tools tells whether the reply has calls.
func stopOf(reason string, refused, tools bool) chat.StopReason {
	switch r := strings.ToLower(reason); {
	case r == "length" || r == "max_tokens" || r == "model_length" || r == "max_output_tokens":
		return chat.StopLength
	case r == "content_filter" || r == "safety" || r == "recitation" || r == "sensitive":
		return chat.StopFilter
	case r == "refusal" || refused && !tools:
		return chat.StopRefusal
	case tools:
		return chat.StopTools
	}
	return chat.StopEnd
}
