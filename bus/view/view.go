package view

import "starling/bus/chat"

// Plugin is one row of the roster as people see it.
type Plugin struct {
	Name     string `json:"name"`
	Origin   string `json:"origin"`   // home, workspace, flag, embedded or host
	Approval string `json:"approval"` // approved, not approved or refused
	State    string `json:"state"`
	// Reason why it is not active, or would not be.
	Reason      string   `json:"reason,omitempty"`
	Path        string   `json:"path,omitempty"`
	Description string   `json:"description,omitempty"`
	Inject      []string `json:"inject"`
	Missing     []string `json:"-"` // of Inject, what nothing provides now
	Provides    []string `json:"provides"`
	Emits       []string `json:"emits"`
	Uses        []string `json:"uses"`
	// Registrations, such as "tool wordcount"; by static reading in a listing,
	// as they stand in a session.
	Registrations []string `json:"registrations"`
	// Notes are remarks that stop nothing, such as an event nothing announces.
	Notes []string `json:"notes,omitempty"`
	// Cost in US dollars of what it asked models in this session.
	Cost float64 `json:"cost,omitempty"`
}

// Outcome is how a run ended.
type Outcome struct {
	// Stop is end, error, aborted, limit, stopped or rejected.
	Stop  string     `json:"stop"`
	Why   string     `json:"why,omitempty"` // of a stop that is not end
	Text  string     `json:"text"`          // the final answer
	Turns int        `json:"turns"`
	Usage chat.Usage `json:"usage"`
	// Denied counts the tool calls that were refused.
	Denied int `json:"denied"`
	// Session is the id of the recorded session; empty without one.
	Session string `json:"session,omitempty"`
	// Unsaved is why the session is not on disk as a whole; empty when it is.
	Unsaved string `json:"unsaved,omitempty"`
	// Untaken: what was sent was refused before anything ran, as for a file that cannot
	// be sent along.
	Untaken bool `json:"-"`
}

// Notice is one line for the person.
type Notice struct {
	From string // plugin; empty for the program itself
	Text string
	Warn bool
}

// CommandReply is what a command showed.
type CommandReply struct {
	Lines []string
	// Found is false when no command has the name; Known then lists those there are.
	Found bool
	Known []string
	// Ran is how the prompt ended that the command typed and that was run at once;
	// nil for none. Its text is one of Lines.
	Ran *Outcome
	// Renewed tells that another session is on since.
	Renewed bool
}

// Listing is the answer of --list-plugins.
type Listing struct {
	Plugins []Plugin `json:"plugins"` // in static order
	Notices []string `json:"notices,omitempty"`
}
