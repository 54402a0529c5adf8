package shell

import (
	"strings"
	"time"
)

// Outcome is how a command ended.
type Outcome struct {
	ID int // in the process list; 0 when nothing was started
	// Status is the exit code, or -1 when a signal ended the command.
	Status int
	Signal string // such as "SIGKILL", when a signal ended the command
	// Stdout and Stderr are the two streams, Output both in the order their
	// pieces arrived, which is the true one after Command.Merge alone. Bytes are kept as they came, also those that are no UTF-8.
	Stdout, Stderr, Output Text
	Truncated              bool // Output is not whole
	TimedOut               bool
	Stopped                bool // by Stop, StopOrigin or Close
	Cancelled              bool // by the context of Run
	// Background says that a child lives on: it is in the process list, can be
	// stopped, and what it still prints is thrown away.
	Background bool
	// Left are the children that live on, at most 16 of them.
	Left []Child
	// Dir is the folder the shell was in when it ended, links resolved: of
	// Command.KeepDir alone, and "" when the shell did not say: it was killed,
	// replaced by exec or given another EXIT trap, or the folder is gone.
	Dir string
	// NeedsTerminal says that the command failed, or was ended, because it wanted to
	// talk to a terminal, by what it printed.
	NeedsTerminal bool
	Elapsed       time.Duration
	// Spill is the file with the first SpillBytes bytes of Output, when Output
	// is truncated and the engine has a folder for it.
	Spill      string
	SpillBytes int64
	SpillErr   error // why the spill file is missing or incomplete
}

// wantsTerminal are what programs print, in lower case, when they want to ask
// or draw and find no terminal.
var wantsTerminal = []string{
	"/dev/tty", "not a tty", "not a terminal", "not to a terminal", "not from a terminal",
	"inappropriate ioctl for device", "terminal is required", "needs a terminal", "requires a terminal", "terminal is dumb",
	"terminal prompts disabled", "could not read username", "could not read password",
	"failed tty get", "term environment variable not set",
	"control echo on the terminal", "no tty present", "cannot open tty", "error opening terminal",
}

// lastWords is how many bytes at the end of a merged output may say why a
// command failed.
const lastWords = 1 << 10

// needsTerminal looks at stderr only, so that a search for one of these
// sentences is not taken for one; at the last words of all output when the
// command's errors are there.
func needsTerminal(merged bool, stderr, output Text) bool {
	parts := []string{stderr.Head, stderr.Tail}
	if merged {
		last := output.Head + output.Tail
		parts = append(parts, last[max(len(last)-lastWords, 0):])
	}
	for _, part := range parts {
		low := strings.ToLower(part)
		for _, s := range wantsTerminal {
			if strings.Contains(low, s) {
				return true
			}
		}
	}
	return false
}

// mergesItself tells whether a line sends errors where its output goes.
func mergesItself(line string) bool {
	return strings.Contains(line, ">&1") || strings.Contains(line, "&>") || strings.Contains(line, "|&")
}
