package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"starling/bus/chat"
)

// ErrRunning is returned by what cannot be done while a run goes.
var ErrRunning = errors.New("a run is going: stop it, or wait for its end")

// Note puts a message of the person into the conversation and asks nobody to answer
// it: at once, or at the next place of the run that goes where one may stand.
func (a *Agent) Note(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the text is empty")
	}
	a.mu.Lock()
	a.notes = append(a.notes, chat.TextMessage(chat.User, text))
	a.mu.Unlock()
	a.takeNotes()
	return nil
}

// takeNotes appends the notes that wait, unless a run goes: that takes them itself.
func (a *Agent) takeNotes() {
	for a.noted() && a.turn.TryLock() {
		r := newRun(context.Background(), a)
		r.takeNotes()
		r.cancel(nil)
		a.turn.Unlock()
	}
}

func (a *Agent) noted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.notes) > 0
}

// takeNotes appends the notes that wait. It is called only where a message may
// stand.
func (r *run) takeNotes() {
	a := r.a
	a.mu.Lock()
	notes := a.notes
	a.notes = nil
	a.mu.Unlock()
	if len(notes) > 0 {
		r.add(notes...)
	}
}

// ErrNoRun is returned by Steer when no run would answer.
var ErrNoRun = errors.New("no run goes on that could answer it: send it as a prompt")

// Steer adds a message of the person to the run that goes, at the next place where
// one may stand; the model answers it before the run ends.
func (a *Agent) Steer(text string, attached ...chat.Block) error {
	if strings.TrimSpace(text) == "" && len(attached) == 0 {
		return errors.New("the text is empty")
	}
	a.mu.Lock()
	r := a.current
	a.mu.Unlock()
	if r == nil {
		return ErrNoRun
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || r.ending || r.ctx.Err() != nil {
		return ErrNoRun
	}
	r.queue = append(r.queue, edit{message: told(text, attached), person: true})
	return nil
}

// addressed tells whether a person said something the run has not answered; when
// they did not, it takes nothing more.
func (r *run) addressed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.queue {
		if e.person {
			return true
		}
	}
	r.ending = true
	return false
}

// Reset goes on with another conversation: nothing of the one before counts any
// more. While a run goes it is ErrRunning.
func (a *Agent) Reset(transcript []chat.Message) error {
	if !a.busy.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer a.busy.Store(false)
	a.turn.Lock()
	defer a.turn.Unlock()
	clear(a.sent)
	clear(a.told)
	clear(a.refused)
	a.unrecorded = ""
	a.system.composed = false
	a.mu.Lock()
	defer a.mu.Unlock()
	a.messages, a.notes, a.weighed = slices.Clone(transcript), nil, weighed{}
	return nil
}

// weighed is how many bytes the first messages of the transcript have.
type weighed struct{ messages, bytes int }

// Tokens estimates the size of a request that carries the whole conversation and
// this system prompt. It looks at each message once.
func (a *Agent) Tokens(system string) int {
	a.mu.Lock()
	w := &a.weighed
	for _, m := range a.messages[w.messages:] {
		w.bytes += weight(m)
	}
	w.messages = len(a.messages)
	bytes := w.bytes
	a.mu.Unlock()
	return (bytes + fixedWeight(system, a.o.Tools.List())) / bytesPerToken
}

// present lets the host add what screens show of a result to its details. They stay
// as they are where it makes nothing of them that can be stored.
func (t *turnState) present(c *call, content string, isError bool, details json.RawMessage) json.RawMessage {
	r := t.r
	if r.a.o.Present == nil {
		return details
	}
	with, err := await(r.listenerCtx(), func() (json.RawMessage, error) {
		return valid(r.a.o.Present(r.listenerCtx(), Presented{
			ID: c.block.ID, Name: c.block.Name, Arguments: c.arguments, Content: content, IsError: isError, Details: details,
		})), nil
	})
	if err != nil || with == nil {
		return details
	}
	return with
}
