package event

import "starling/bus"

// SessionStartEvent announces the recorded session before its first prompt.
type SessionStartEvent struct {
	Memo
	ID       string `field:"id"`
	Path     string `field:"path"`     // of its file
	Reason   string `field:"reason"`   // new, resume or switch
	Restored bool   `field:"restored"` // it goes on with an earlier conversation
}

// SessionStart is announced when a session begins or is gone on with.
var SessionStart = bus.NewEmit[SessionStartEvent]("code/session-start")

// SessionEndEvent announces the end of the session while plugins are still there.
type SessionEndEvent struct {
	Memo
	ID       string `field:"id"`
	Path     string `field:"path"`
	Reason   string `field:"reason"` // end or switch
	Restored bool   `field:"restored"`
}

// SessionEnd is announced before the plugins leave.
var SessionEnd = bus.NewEmit[SessionEndEvent]("code/session-end")
