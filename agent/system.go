package agent

import (
	"starling/bus"
	"starling/bus/event"
)

// systemPrompt is kept byte for byte while nobody who has a say in it changed:
// another one would break the provider's cache. It belongs to the run's
// goroutine.
type systemPrompt struct {
	text     string
	composed bool
	by       bus.Snapshot[event.SystemPromptEvent, event.SystemPromptAnswer]
}

// Recompose has the system prompt composed anew at the next run, though its
// listeners did not change.
func (a *Agent) Recompose() { a.stale.Store(true) }

// compose returns the system prompt of the run. One that is not finished, since
// the run was cancelled, is not kept.
func (r *run) compose() (string, error) {
	a := r.a
	if a.o.System == nil {
		return "", nil
	}
	by := a.ports.system.Snapshot()
	again := a.stale.Swap(false)
	if a.system.composed && !again && by.Same(a.system.by) {
		return a.system.text, nil
	}
	text, err := await(r.ctx, func() (string, error) { return a.o.System(r.ctx), nil })
	if err != nil || r.ctx.Err() != nil {
		a.system.composed = false
		return "", err
	}
	a.system = systemPrompt{text: text, composed: true, by: by}
	return text, nil
}
