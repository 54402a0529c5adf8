package permit

import (
	"encoding/json"

	"starling/bus"
	"starling/bus/spec"
	"starling/trust"
	"starling/trust/command"
)

// Mode is how much runs without asking.
type Mode string

// The modes.
const (
	ModeAsk      Mode = "ask"       // reads run, changes ask
	ModeAutoEdit Mode = "auto-edit" // edits inside the workspace run too; commands of class change ask
	ModePlan     Mode = "plan"      // read-only tools alone
	ModeYolo     Mode = "yolo"      // everything but the floor runs
)

// Call is a tool call on its final arguments.
type Call struct {
	Tool       string
	Arguments  json.RawMessage
	Paths      []string // workspace-relative with links followed, absolute outside
	PathsKnown bool
	Cwd        string // where a command would run, absolute
	Risk       spec.Risk
	ReadOnly   bool
	// Command is what the reader made of a shell line; nil for other tools.
	Command *command.Reading
	// Rewritten calls are not allowed by plugins: only a person or a rule does.
	Rewritten bool
	// Replaced: a plugin took the place of a built-in of this name.
	Replaced bool
	Origin   string // main, a sub-agent, plugin NAME
}

// Policy is what holds at the moment of a call.
type Policy struct {
	Mode  Mode
	Rules *Rules // nil: none
	// AllowPaths are the globs of --allow-path: each opens floor paths that match.
	AllowPaths []string
	At         trust.Folders
	// Extra are further folders that count as workspace (--add-dir), resolved.
	Extra     []string
	StateHome string
	// Dirty tells whether a finding that discards work has work to discard; nil
	// takes it that every one has.
	Dirty func(command.Finding) bool
}

// Effect of a decision.
type Effect string

// The effects.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Decision about one call.
type Decision struct {
	Effect Effect
	// By names who decided: "floor", "rule deny bash(rm *)", "plugin NAME",
	// "mode plan", "read".
	By string
	// Reasons in words, most important first; for the question and the model.
	Reasons []string
	// Floor: the safety floor asks. No rule, mode or plugin changes that.
	Floor bool
	// Losses must be held in a snapshot before the call runs, whoever allowed it.
	Losses []command.Loss
	// Uncovered are the parts of a command no rule covers, as the question names
	// them.
	Uncovered []string
	// Always are the rules that the answer "always" would store; empty where
	// always is no answer (the floor).
	Always []string
	// Hint is the flag or rule that would allow the call headless; "" for none.
	Hint string
}

// Verdicts asks plugins for their opinion; it is called at most once and only
// where an opinion can change something. floor tells them that the safety floor
// asks, whatever they say.
type Verdicts func(floor bool) bus.Verdict
