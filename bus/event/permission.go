package event

import (
	"encoding/json"

	"starling/bus"
)

// PermissionEvent asks plugins whether a call may run, on its final arguments.
type PermissionEvent struct {
	Memo
	Tool       string          `field:"tool"`
	Arguments  json.RawMessage `field:"arguments"` // decoded for plugins
	Paths      []string        `field:"paths"`
	PathsKnown bool            `field:"paths_known"`
	Cwd        string          `field:"cwd"`     // where a command would run, absolute
	Summary    string          `field:"summary"` // the call in one line
	Risk       string          `field:"risk"`    // read, change, destructive or network
	Tainted    bool            `field:"tainted"` // an argument repeats text from outside
	Floor      bool            `field:"floor"`   // the safety floor asks, whatever is answered
	Origin     string          `field:"origin"`
	// Verdict is the strongest opinion; NoOpinion when nobody had one.
	Verdict bus.Verdict
}

// Permission is announced before a call runs that a plugin's opinion can change.
// It fails closed: a listener that fails denies.
var Permission = bus.NewVerdicts("code/permission", bus.Closed,
	func(e *PermissionEvent) *bus.Verdict { return &e.Verdict })

// QuestionEvent announces a question to the person.
type QuestionEvent struct {
	Memo
	ID      string   `field:"id"`
	Kind    string   `field:"kind"`    // permission, trust or question
	Tool    string   `field:"tool"`    // of kinds permission and question
	Summary string   `field:"summary"` // what is asked, in one line
	Detail  string   `field:"detail"`  // the command, the diff, the text
	Reasons []string `field:"reasons"` // why it is asked
	Risk    string   `field:"risk"`    // class of the call; "" of other kinds
	Origin  string   `field:"origin"`  // main, a sub-agent or plugin NAME
	Options []string `field:"options"` // what may be answered; empty for free text
	// Floor tells a screen that no plugin may answer it.
	Floor bool
	// Always are the rules that the answer "always" stores.
	Always []string
	// Arguments of the call, for an answer that edits them.
	Arguments json.RawMessage
}

// Question is announced when a person is needed.
var Question = bus.NewEmit[QuestionEvent]("code/question")

// AnswerEvent announces how a question was answered.
type AnswerEvent struct {
	Memo
	ID    string `field:"id"`
	Value string `field:"value"`
	By    string `field:"by"` // person, host, timeout or plugin NAME
}

// Answer is announced when a question is settled, by whomever.
var Answer = bus.NewEmit[AnswerEvent]("code/answer")

// ProcessExitEvent announces the end of a process of the shell tool or a plugin.
type ProcessExitEvent struct {
	Memo
	ID        int    `field:"id"`
	Origin    string `field:"origin"` // bash, tui or plugin NAME
	Command   string `field:"command"`
	Status    string `field:"status"` // as in the list of processes
	ElapsedMS int    `field:"elapsed_ms"`
}

// ProcessExit is announced once nothing of the process is left.
var ProcessExit = bus.NewEmit[ProcessExitEvent]("code/process-exit")

// FileChangeEvent announces a changed file: by a file tool, or found by
// comparison after a command.
type FileChangeEvent struct {
	Memo
	Path   string `field:"path"`   // workspace-relative, absolute outside
	Kind   string `field:"kind"`   // created, modified or deleted
	Before string `field:"before"` // SHA-256 of the content in hex; empty when there was none, or it is not known
	After  string `field:"after"`
}

// FileChange is announced after the change stands.
var FileChange = bus.NewEmit[FileChangeEvent]("code/file-change")
