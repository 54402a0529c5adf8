package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"starling/bus/chat"
)

// effectUnknown is the result of a call whose own was lost.
const effectUnknown = "interrupted: the call did not come back, its effect is unknown"

// wellFormed returns messages as every provider takes them, in a list of its
// own: each call has exactly one result, right behind its message; results
// without a call, blocks and messages without content are left out; arguments
// are JSON objects and names of tools keep to the common alphabet. What is in
// order is not copied.
func wellFormed(messages []chat.Message) []chat.Message {
	out := make([]chat.Message, 0, len(messages))
	for i, m := range messages {
		if m.Role == chat.ToolRole {
			continue // taken where its call stands
		}
		m.Blocks = sendable(m)
		if !hasContent(m) {
			continue
		}
		out = append(out, m)
		if calls := m.Calls(); len(calls) > 0 {
			out = append(out, answers(calls, messages[i+1:])...)
		}
	}
	return out
}

// answers returns one result message for each call, from those that follow
// before the next reply.
func answers(calls []chat.Block, following []chat.Message) []chat.Message {
	results := map[string][]chat.Block{} // with the images of each
	for _, m := range following {
		if m.Role == chat.Assistant {
			break
		}
		id, first := "", false
		for _, b := range m.Blocks {
			switch {
			case b.Kind == chat.Result:
				id, first = b.ID, results[b.ID] == nil
				fallthrough
			case b.Kind == chat.Image && len(b.Data) > 0:
				if first {
					results[id] = append(results[id], b)
				}
			}
		}
	}
	out := make([]chat.Message, 0, len(calls))
	for _, c := range calls {
		blocks := results[c.ID]
		if blocks == nil {
			out = append(out, interruptedResults([]chat.Block{c}, effectUnknown)...)
			continue
		}
		blocks[0].Name = c.Name
		if blocks[0].Text == "" {
			blocks[0].Text = noOutput
		}
		out = append(out, chat.Message{Role: chat.ToolRole, Blocks: blocks})
	}
	return out
}

// sendable returns the blocks of m that may be sent.
func sendable(m chat.Message) []chat.Block {
	fine := true
	for i := range m.Blocks {
		if _, same := sendableBlock(m.Role, m.Blocks[i]); !same {
			fine = false
			break
		}
	}
	if fine {
		return m.Blocks
	}
	blocks := make([]chat.Block, 0, len(m.Blocks))
	for _, b := range m.Blocks {
		if next, _ := sendableBlock(m.Role, b); next.Kind != "" {
			blocks = append(blocks, next)
		}
	}
	return blocks
}

// sendableBlock returns b as it may be sent, without a kind when it may not, and
// whether it is the same.
func sendableBlock(role chat.Role, b chat.Block) (chat.Block, bool) {
	none := chat.Block{}
	switch b.Kind {
	case chat.Text:
		if strings.TrimSpace(b.Text) == "" {
			return none, false
		}
	case chat.Thinking:
		if role != chat.Assistant || b.Text == "" && b.Signature == "" {
			return none, false
		}
	case chat.Image:
		if len(b.Data) == 0 {
			return none, false
		}
	case chat.Call:
		if role != chat.Assistant {
			return none, false
		}
		name, fits := callName(b.Name), isObject(b.Arguments)
		if !fits {
			b.Arguments = "{}"
		}
		same := fits && name == b.Name
		b.Name = name
		return b, same
	default:
		return none, false
	}
	return b, true
}

// hasContent tells whether a message says anything: thoughts alone do not.
func hasContent(m chat.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b chat.Block) bool { return b.Kind != chat.Thinking })
}

// callName makes the name a model called into one that providers take back.
func callName(name string) string {
	if name == "" {
		return "unnamed"
	}
	clean := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			return c
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 64)]
}

func isObject(arguments string) bool {
	return strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{") && json.Valid([]byte(arguments))
}

// object returns arguments for listeners, who get them decoded: what is no
// object is an empty one.
func object(arguments string) json.RawMessage {
	if !isObject(arguments) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// unanswered returns the calls of the newest reply that have no result.
func unanswered(messages []chat.Message) []chat.Block {
	have := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case chat.ToolRole:
			for _, b := range m.Blocks {
				have[b.ID] = true
			}
		case chat.Assistant:
			return slices.DeleteFunc(m.Calls(), func(c chat.Block) bool { return have[c.ID] })
		}
	}
	return nil
}

// interruptedResults answers calls that have no result of their own.
func interruptedResults(calls []chat.Block, text string) []chat.Message {
	var out []chat.Message
	for _, c := range calls {
		out = append(out, chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{
			Kind: chat.Result, ID: c.ID, Name: c.Name, Text: text, IsError: true,
		}}})
	}
	return out
}
