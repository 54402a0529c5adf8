package view

import "time"

// Command is one entry of the list that / opens.
type Command struct {
	Name        string // as it is typed, without the slash; name:2 for a second one
	Description string
	From        string // the plugin; empty for a built-in
}

// Model is one that can be chosen.
type Model struct {
	ID       string // full id
	Name     string
	Provider string
	Levels   []string // of thinking, lowest first; empty when it has none
	Context  int      // tokens; 0 when not known
}

// Session is one that can be gone on with.
type Session struct {
	ID       string
	Title    string
	Changed  time.Time
	Messages int // 0 when they were not counted
	Folder   string
}

// Tool is one the model can call now.
type Tool struct {
	Name        string
	Description string
	Risk        string
	From        string // the plugin; empty for a built-in
}

// Process is one that the shell tool, a person or a plugin started.
type Process struct {
	ID, PID int
	Origin  string
	Command string
	Status  string
	Running bool
	Elapsed time.Duration
}

// Ended is how a command of the person ended.
type Ended struct {
	Status string // in the words of the list of processes
	Failed bool   // it ended in any other way than with status 0
}

// Skill is one the model may read.
type Skill struct {
	Name, Description, Path string
}

// Status is what the status line shows.
type Status struct {
	Workspace string // name of its folder
	Branch    string // of git; empty for none
	Model     string
	Thinking  string
	Mode      string
	Tokens    int // of the conversation as it would be sent
	Context   int // tokens the model takes; 0 when not known
	Cost      float64
	Session   string // id; empty before the first prompt
	Waiting   int    // plugins that do not run yet and should
	Failed    int    // plugins that failed
}
