package bash

import (
	"context"
	"encoding/json"

	"starling/bus/spec"
	"starling/tools/shell"
)

// The most bytes of output that one call shows, from its start and from its end.
// Of a long output the end says more: the error, the summary.
const (
	MaxHead = 16 << 10
	MaxTail = 32 << 10
)

// noPrompts keeps programs that find no terminal from asking elsewhere, such as in
// a window.
var noPrompts = map[string]string{"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}

// Details of a result, for screens.
type Details struct {
	Status        int    `json:"status"` // exit status; -1 after a signal
	Signal        string `json:"signal,omitempty"`
	TimedOut      bool   `json:"timed_out"`
	Stopped       bool   `json:"stopped"` // by a person, or cancelled
	NeedsTerminal bool   `json:"needs_terminal,omitempty"`
	ElapsedMS     int64  `json:"elapsed_ms"`
	Bytes         int64  `json:"bytes"` // of the whole output
	Lines         int64  `json:"lines"` // of the whole output
	Binary        bool   `json:"binary,omitempty"`
	Truncated     bool   `json:"truncated"`
	// Spill is the file that holds the output when it is truncated.
	Spill string `json:"spill,omitempty"`
	// Cwd is where a command runs that follows this one alone; absolute. Of calls side
	// by side only one that Moved takes the next ones along.
	Cwd   string `json:"cwd"`
	Moved bool   `json:"moved,omitempty"`
	// Process is the id in the process list, Background the processes that live on.
	Process    int   `json:"process"`
	Background []int `json:"background,omitempty"`
}

// execute runs one call.
func (b *Bash) execute(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a, err := decode(call.Arguments)
	if err != nil {
		return spec.ToolResult{}, err
	}
	dir, reset, err := b.start(a.Command)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer b.end()
	p := newPump(call.Progress)
	out, err := b.engine.Run(ctx, shell.Command{
		Line: a.Command, Dir: dir, Timeout: a.timeout(), Origin: origin(call.Origin), Queue: true, Merge: true,
		Env: noPrompts, Head: MaxHead, Tail: MaxTail, KeepDir: !b.stays(a.Command, dir), OnOutput: p.take,
	})
	p.close()
	if err != nil {
		return spec.ToolResult{}, err
	}
	cwd, moved := b.keep(a.Command, dir, out)
	shown := show(out)
	d := Details{
		Status: out.Status, Signal: out.Signal, TimedOut: out.TimedOut, Stopped: out.Stopped || out.Cancelled,
		NeedsTerminal: out.NeedsTerminal, ElapsedMS: out.Elapsed.Milliseconds(),
		Bytes: out.Output.Bytes, Lines: out.Output.Lines, Binary: shown.binary, Truncated: out.Truncated, Spill: out.Spill,
		Cwd: cwd, Moved: cwd != dir || reset != "", Process: out.ID,
	}
	for _, c := range out.Left {
		d.Background = append(d.Background, c.PID)
	}
	details, err := json.Marshal(d)
	if err != nil {
		return spec.ToolResult{}, err
	}
	return spec.ToolResult{
		Content: shown.text + notes(a, out, shown, reset, moved),
		IsError: out.Status != 0 || d.TimedOut || d.Stopped,
		Details: details,
	}, nil
}

// origin is how the process list names who started a command.
func origin(agent string) string {
	if agent == "" || agent == "main" {
		return "bash"
	}
	return "bash " + agent
}
