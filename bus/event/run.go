package event

import (
	"errors"
	"time"

	"starling/bus"
	"starling/bus/chat"
)

// Run is the handle on a live run that events carry as cx. Its methods return
// ErrRunEnded after the run ended instead of losing what was asked.
type Run interface {
	// Note appends a system message.
	Note(text string) error
	// PushUser appends a user message.
	PushUser(text string) error
	// Cancel ends the run; why stands in its stop text.
	Cancel(why string) error
	// Hold keeps the request back that agent/request announces; it works only
	// inside that event, once a plugin and request. After the release, or at the
	// limit (0 for none), the event is announced again.
	Hold(limit time.Duration) (Hold, error)
	Cancelled() bool
	Model() string
	Turn() int // from 0
	Usage() chat.Usage
	// Budget is the share 0..1 of the cap that is used; ok is false without a cap.
	Budget() (share float64, ok bool)
	// Task is the text of the prompt the run began with.
	Task() string
}

// Hold is a request that is kept back. Its methods may be called from anywhere.
type Hold interface {
	// Release lets the request go; again, it does nothing.
	Release()
	// Released tells whether it was let go, by whomever: also at the limit, and
	// when the run ended.
	Released() bool
}

// Attributed is a Run that can act in somebody's name. A bridge that hands cx to
// a plugin hands on what As returns, so that a limit the plugin runs into can
// name it, and a hold ends with its holder. Run handles of the loop are
// Attributed.
type Attributed interface {
	Run
	// As returns the same run; what is asked through it is asked by owner.
	As(owner bus.Owner) Run
}

// ErrRunEnded is returned by a Run handle that outlived its run.
var ErrRunEnded = errors.New("the run has ended")

// ErrNotHere is returned by a Run method that has no effect in the event it was
// called from.
var ErrNotHere = errors.New("not in this event")

// ErrHeld is returned by Run.Hold when the same plugin held the request already.
var ErrHeld = errors.New("this plugin has held this request already")
