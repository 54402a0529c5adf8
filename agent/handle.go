package agent

import (
	"errors"
	"strings"
	"time"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

var _ event.Attributed = handle{}

// handle is what listeners hold of a run.
type handle struct {
	r  *run
	by bus.Owner // who acts, where it is known
	// shaping is the announcement of agent/request that carried this handle; nil
	// for every other event.
	shaping *shaping
}

// As returns a handle that acts in the name of owner.
func (h handle) As(owner bus.Owner) event.Run {
	h.by = owner
	return h
}

// Hold keeps the request back that agent/request announces.
func (h handle) Hold(limit time.Duration) (event.Hold, error) {
	h.r.mu.Lock()
	over := h.r.over
	h.r.mu.Unlock()
	if over {
		return nil, event.ErrRunEnded
	}
	return h.shaping.hold(h.by, limit)
}

// Note asks for a system message at the next place where one may stand.
func (h handle) Note(text string) error { return h.ask(chat.System, text) }

// PushUser asks for a user message at the next place where one may stand.
func (h handle) PushUser(text string) error { return h.ask(chat.User, text) }

func (h handle) ask(role chat.Role, text string) error {
	if h.shaping.isOpen() {
		return event.ErrNotHere
	}
	if strings.TrimSpace(text) == "" {
		return errors.New("the text is empty")
	}
	r := h.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return event.ErrRunEnded
	}
	r.queue = append(r.queue, edit{message: chat.TextMessage(role, text), by: h.by.Name})
	return nil
}

// Cancel ends the run as aborted.
func (h handle) Cancel(why string) error {
	h.r.mu.Lock()
	over := h.r.over
	h.r.mu.Unlock()
	if over {
		return event.ErrRunEnded
	}
	h.r.cancel(&cancelled{why: why, by: h.by.Name})
	return nil
}

func (h handle) Cancelled() bool { return h.r.ctx.Err() != nil }
func (h handle) Task() string    { return h.r.task }

// Model of the turn.
func (h handle) Model() string {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.model
}

func (h handle) Turn() int {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.turn
}

func (h handle) Usage() chat.Usage {
	h.r.mu.Lock()
	defer h.r.mu.Unlock()
	return h.r.out.Usage
}

// Budget is the share of the purse that is used.
func (h handle) Budget() (float64, bool) { return h.r.a.o.Purse.Share() }

// cancelled is the cause of a run that was cancelled through a handle.
type cancelled struct{ why, by string }

func (c *cancelled) Error() string {
	text := "cancelled"
	if c.by != "" {
		text += " by " + c.by
	}
	if c.why != "" {
		text += ": " + c.why
	}
	return text
}
