// Package chat is the plain data of a conversation: messages, blocks, usage.
//
// It owns no behaviour but small questions about its own values, and it never
// changes what it was given.
package chat

import "encoding/json"

// Role of a message.
type Role string

// The roles. A tool result is a message of role tool.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// BlockKind says which fields of a Block count.
type BlockKind string

// The kinds of blocks.
const (
	Text     BlockKind = "text"
	Thinking BlockKind = "thinking"
	Call     BlockKind = "tool_call"
	Result   BlockKind = "tool_result"
	Image    BlockKind = "image"
)

// ImageTokens is what an image counts as in estimates. Providers bill one by its size in
// pixels, and shrink large ones to about this.
const ImageTokens = 1500

// Block is one part of a message.
type Block struct {
	Kind BlockKind `json:"kind"`
	// Text of a text, thinking or tool result block.
	Text string `json:"text,omitempty"`
	// Signature of a thinking block, opaque to us; the provider wants it back.
	Signature string `json:"signature,omitempty"`
	// ID of the call, in call and result blocks.
	ID string `json:"id,omitempty"`
	// Name of the tool, in call and result blocks.
	Name string `json:"name,omitempty"`
	// Arguments of a call: the JSON text of one object, as the model sent it.
	Arguments string `json:"arguments,omitempty"`
	// IsError marks a result the model should read as a failure.
	IsError bool `json:"is_error,omitempty"`
	// Details of a result, for screens; never sent to the model.
	Details json.RawMessage `json:"details,omitempty"`
	// MIME type and bytes of an image.
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Message is one entry of a transcript.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
	// Stop, Usage and Model of an assistant message.
	Stop  StopReason `json:"stop,omitempty"`
	Usage *Usage     `json:"usage,omitempty"`
	Model string     `json:"model,omitempty"`
	// Error of a turn that failed; the blocks hold what had arrived.
	Error string `json:"error,omitempty"`
}

// TextMessage makes a message of one text block.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Blocks: []Block{{Kind: Text, Text: text}}}
}

// Text joins the text blocks of m.
func (m Message) Text() string { return m.join(Text) }

// Said is what a person wrote of a message of theirs: its first text. What stands behind
// it are files that they sent along.
func (m Message) Said() string {
	for _, b := range m.Blocks {
		if b.Kind == Text {
			return b.Text
		}
	}
	return ""
}

// Thinking joins the thinking blocks of m.
func (m Message) Thinking() string { return m.join(Thinking) }

func (m Message) join(kind BlockKind) string {
	s := ""
	for _, b := range m.Blocks {
		if b.Kind == kind {
			s += b.Text
		}
	}
	return s
}

// Calls returns the tool calls of m in order.
func (m Message) Calls() []Block {
	var calls []Block
	for _, b := range m.Blocks {
		if b.Kind == Call {
			calls = append(calls, b)
		}
	}
	return calls
}

// StopReason says why a reply ended.
type StopReason string

// The reasons.
const (
	StopEnd     StopReason = "end"        // the model was done
	StopTools   StopReason = "tool_calls" // it wants tools
	StopLength  StopReason = "length"     // its output limit
	StopFilter  StopReason = "filter"     // the provider's content filter
	StopRefusal StopReason = "refusal"    // the model refused; the text says why
	StopError   StopReason = "error"      // the turn failed
	StopAborted StopReason = "aborted"    // cancelled
)

// Usage counts tokens of one or more requests.
type Usage struct {
	// Input neither came from nor went to a cache; Output is with the thoughts.
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
	// Cost in US dollars; 0 where the price is not known.
	Cost float64 `json:"cost,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input: u.Input + o.Input, Output: u.Output + o.Output,
		CacheRead: u.CacheRead + o.CacheRead, CacheWrite: u.CacheWrite + o.CacheWrite,
		Cost: u.Cost + o.Cost,
	}
}
