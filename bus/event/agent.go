package event

import (
	"encoding/json"

	"starling/bus"
	"starling/bus/chat"
)

// PromptEvent announces a prompt before anything is appended or sent.
type PromptEvent struct {
	Memo
	Text  string `field:"text"`
	First bool   `field:"first"` // the first message of the conversation
	// Rejected is the first rejection.
	Rejected *bus.Refusal
}

// PromptAnswer rewrites or rejects a prompt.
type PromptAnswer struct {
	Text   *string
	Reject *bus.Refusal
}

// Prompt is announced once per prompt.
var Prompt = bus.NewRefusable("agent/prompt", bus.Open,
	func(a *PromptAnswer) *bus.Refusal { return a.Reject },
	func(e *PromptEvent, r bus.Refusal) { e.Rejected = &r },
	func(e *PromptEvent, a *PromptAnswer, _ bus.Owner) error {
		if a.Text != nil {
			e.Text = *a.Text
			e.Clear()
		}
		return nil
	})

// RunStartEvent announces a run.
type RunStartEvent struct {
	Memo
	Run Run `field:"cx"`
}

// RunStart is announced when the user message stands.
var RunStart = bus.NewEmit[RunStartEvent]("agent/run-start")

// TurnStartEvent announces a turn.
type TurnStartEvent struct {
	Memo
	Run Run `field:"cx"`
}

// TurnStart is announced before each request is shaped.
var TurnStart = bus.NewEmit[TurnStartEvent]("agent/turn-start")

// StreamEvent is one step of a reply as it arrives.
type StreamEvent struct {
	Memo
	// Kind is start, block_start, delta, block_end, done or error.
	Kind  string `field:"kind"`
	Turn  int    `field:"turn"`
	Index int    `field:"index"` // of the block
	Block string `field:"block"` // text, thinking or tool_call
	Text  string `field:"text"`  // of a delta; the reason of an error
	Stop  string `field:"stop"`  // of done and error
}

// Stream is announced once per token; late readers may be given joined deltas.
var Stream = bus.NewEmit[StreamEvent]("agent/event").Coalesce()

// MessageEvent announces a committed assistant message.
type MessageEvent struct {
	Memo
	Run      Run           `field:"cx"`
	Text     string        `field:"text"`
	Thinking string        `field:"thinking"`
	Calls    []MessageCall `field:"tool_calls"`
	Usage    chat.Usage    `field:"usage"`
}

// MessageCall is a tool call as agent/message shows it.
type MessageCall struct {
	ID        string          `field:"id"`
	Name      string          `field:"name"`
	Arguments json.RawMessage `field:"arguments"` // decoded for plugins
}

// Message is announced when a reply was committed.
var Message = bus.NewEmit[MessageEvent]("agent/message")

// ToolProgressEvent carries output of a running call.
type ToolProgressEvent struct {
	Memo
	ID    string `field:"id"`
	Tool  string `field:"tool"`
	Chunk string `field:"chunk"`
}

// ToolProgress is announced while a tool runs.
var ToolProgress = bus.NewEmit[ToolProgressEvent]("agent/tool-progress").Coalesce()

// TurnEndEvent announces the end of a turn.
type TurnEndEvent struct {
	Memo
	Run        Run        `field:"cx"`
	StopReason string     `field:"stop_reason"`
	Calls      int        `field:"tool_calls"` // number of calls
	Usage      chat.Usage `field:"usage"`
	Error      string     `field:"error"`
	Stopped    *bus.Refusal
}

// TurnEndAnswer stops the run.
type TurnEndAnswer struct{ Stop *bus.Refusal }

// TurnEnd is announced after the results of a turn are committed.
var TurnEnd = bus.NewRefusable("agent/turn-end", bus.Open,
	func(a *TurnEndAnswer) *bus.Refusal { return a.Stop },
	func(e *TurnEndEvent, r bus.Refusal) { e.Stopped = &r },
	nil)

// RunEndEvent announces the end of a run.
type RunEndEvent struct {
	Memo
	Run     Run        `field:"cx"`
	Stop    string     `field:"stop"` // end, error, aborted, limit or stopped
	Turns   int        `field:"turns"`
	Usage   chat.Usage `field:"usage"`
	Error   string     `field:"error"`
	Success *bool      `field:"success"` // nil: unknown
}

// RunEnd is announced when the outcome stands.
var RunEnd = bus.NewEmit[RunEndEvent]("agent/run-end")

// SystemPromptEvent carries the system prompt while it is composed.
type SystemPromptEvent struct {
	Memo
	Text string `field:"text"`
}

// SystemPromptAnswer replaces the text or appends to it, in that order.
type SystemPromptAnswer struct {
	Replace *string
	Append  string
}

// SystemPrompt is announced when the system prompt is composed.
var SystemPrompt = bus.NewWaterfall("code/system-prompt", func(e *SystemPromptEvent, a *SystemPromptAnswer, _ bus.Owner) error {
	if a.Replace != nil {
		e.Text = *a.Replace
	}
	if a.Append != "" {
		if e.Text != "" {
			e.Text += "\n\n"
		}
		e.Text += a.Append
	}
	e.Clear()
	return nil
})

// NoticeEvent carries a line for the person.
type NoticeEvent struct {
	Memo
	Text string `field:"text"`
}

// Notice is announced for every line shown to the person; what a listener of it
// causes is not announced again.
var Notice = bus.NewEmit[NoticeEvent]("code/notice").NotReentrant()
