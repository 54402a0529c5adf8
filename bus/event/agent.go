package event

import (
	"encoding/json"
	"errors"

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

// ToolCallEvent announces a call before it runs.
type ToolCallEvent struct {
	Memo
	ID            string          `field:"id"`
	Name          string          `field:"name"`
	Arguments     json.RawMessage `field:"arguments"` // decoded for plugins
	ArgumentsJSON string          `field:"arguments_json"`
	Paths         []string        `field:"paths"`
	PathsKnown    bool            `field:"paths_known"`
	Known         bool            `field:"known"` // a tool of that name exists
	Blocked       bool            `field:"blocked"`
	Recheck       bool            `field:"recheck"` // second pass, over rewritten arguments
	Origin        string          `field:"origin"`
	// Refused is the first refusal; Stop in it ends the run after the batch.
	Refused *bus.Refusal
	// Rewritten names who changed the arguments last; empty when nobody did.
	Rewritten string
	// PathsOf finds the paths of rewritten arguments; set by the sender.
	PathsOf func(json.RawMessage) ([]string, bool)
}

// ToolCallAnswer blocks a call or rewrites its arguments.
type ToolCallAnswer struct {
	Block     *bus.Refusal
	Arguments json.RawMessage // nil: unchanged
}

// ToolCall is the guard event: it fails closed.
var ToolCall = bus.NewRefusable("agent/tool-call", bus.Closed,
	func(a *ToolCallAnswer) *bus.Refusal { return a.Block },
	func(e *ToolCallEvent, r bus.Refusal) {
		e.Blocked, e.Refused = true, &r
		e.Clear()
	},
	foldToolCall)

func foldToolCall(e *ToolCallEvent, a *ToolCallAnswer, by bus.Owner) error {
	if a.Arguments == nil {
		return nil
	}
	if e.Recheck {
		return errors.New("arguments were rewritten once already; a second rewrite refuses the call")
	}
	e.Arguments, e.ArgumentsJSON, e.Rewritten = a.Arguments, string(a.Arguments), by.Name
	if e.PathsOf != nil {
		e.Paths, e.PathsKnown = e.PathsOf(a.Arguments)
	}
	e.Clear()
	return nil
}

// ToolProgressEvent carries output of a running call.
type ToolProgressEvent struct {
	Memo
	ID    string `field:"id"`
	Tool  string `field:"tool"`
	Chunk string `field:"chunk"`
}

// ToolProgress is announced while a tool runs.
var ToolProgress = bus.NewEmit[ToolProgressEvent]("agent/tool-progress").Coalesce()

// ToolResultEvent announces a result before it is committed.
type ToolResultEvent struct {
	Memo
	ID        string          `field:"id"`
	Name      string          `field:"name"`
	Arguments json.RawMessage `field:"arguments"` // decoded for plugins
	Turn      int             `field:"turn"`
	Content   string          `field:"content"`
	IsError   bool            `field:"is_error"`
	Details   json.RawMessage `field:"details"` // decoded for plugins
}

// ToolResultAnswer changes parts of a result; nil fields stay.
type ToolResultAnswer struct {
	Content *string
	IsError *bool
	Details json.RawMessage
}

// ToolResult is announced for every result, also of blocked calls.
var ToolResult = bus.NewWaterfall("agent/tool-result", func(e *ToolResultEvent, a *ToolResultAnswer, _ bus.Owner) error {
	if a.Content != nil {
		e.Content = *a.Content
	}
	if a.IsError != nil {
		e.IsError = *a.IsError
	}
	if a.Details != nil {
		e.Details = a.Details
	}
	e.Clear()
	return nil
})

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
