package event

import (
	"encoding/json"
	"errors"

	"starling/bus"
)

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
	// Answered is set when a listener answered in the place of the tool.
	Answered *ToolAnswer
	// Notes go behind the result, in order.
	Notes []Note
	// PathsOf finds the paths of rewritten arguments; set by the sender.
	PathsOf func(json.RawMessage) ([]string, bool)
}

// ToolAnswer is a result in the place of the tool's: the tool does not run.
type ToolAnswer struct {
	Content string
	IsError bool
	Details json.RawMessage
	By      string // the plugin
}

// Note is a text behind a result, in somebody's name.
type Note struct{ By, Text string }

// ToolCallAnswer blocks a call, answers it, rewrites its arguments or adds a note.
// A refusal beats an answer, an answer beats a rewrite.
type ToolCallAnswer struct {
	Block     *bus.Refusal
	Answer    *ToolAnswer     // the first one stands
	Arguments json.RawMessage // nil: unchanged
	Note      string
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
	if a.Note != "" {
		e.Notes = append(e.Notes, Note{By: by.Name, Text: a.Note})
	}
	if a.Answer != nil && e.Answered == nil {
		answer := *a.Answer
		answer.By = by.Name
		e.Answered = &answer
	}
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
	// AnsweredBy names the plugin that answered in the place of the tool; empty
	// when the tool ran, or the call was refused.
	AnsweredBy string `field:"answered_by"`
	// Notes go behind the result, in order.
	Notes []Note
}

// ToolResultAnswer changes parts of a result; nil fields stay.
type ToolResultAnswer struct {
	Content *string
	IsError *bool
	Details json.RawMessage
	Note    string // behind the result, named after its plugin
}

// ToolResult is announced for every result, also of blocked calls.
var ToolResult = bus.NewWaterfall("agent/tool-result", func(e *ToolResultEvent, a *ToolResultAnswer, by bus.Owner) error {
	if a.Note != "" {
		e.Notes = append(e.Notes, Note{By: by.Name, Text: a.Note})
	}
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
