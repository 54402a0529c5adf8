package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"starling/agent/provider"
	"starling/bus/event"
)

// decide announces agent/provider-error for a request that failed before its
// first token, and tells the person about the pause. It runs on the provider's
// goroutine.
func (t *turnState) decide(ctx context.Context, w *provider.Wait, model string) event.RetryDecision {
	r := t.r
	e := event.ProviderErrorEvent{Kind: string(w.Kind), Attempt: w.Attempt, Model: model}
	if port := r.a.ports.providerError; port.Listening() {
		var f *provider.Failure
		if errors.As(w.Err, &f) {
			e.Status = f.Status
			if f.RetryAfter >= 0 {
				seconds := f.RetryAfter.Seconds()
				e.RetryAfter = &seconds
			}
		}
		port.Send(ctx, &e)
	}
	d := e.Decision
	if t.tried[d.Model] || r.a.o.Models == nil {
		d.Model = "" // it had its turn, or cannot be made
	}
	if d.Stop != nil || d.Model != "" || ctx.Err() != nil {
		return d
	}
	pause := w.For
	if d.WaitMS != nil {
		pause = time.Duration(*d.WaitMS) * time.Millisecond
	}
	r.notice(fmt.Sprintf("%v: attempt %d of %d failed, the next one in %s", w.Err, w.Attempt, w.Of, pause.Round(100*time.Millisecond)))
	return d
}

// fallBack makes the model that a listener named the turn's. Each is tried once a
// turn, so two that fail cannot be asked in turns for ever.
func (t *turnState) fallBack(d event.RetryDecision) {
	before := t.model.name
	t.tried[d.Model] = true
	t.route(d.Model, d.ModelBy)
	if t.model.name != before {
		t.r.notice(fmt.Sprintf("%s does not answer, %s is asked instead (model of %s)", before, t.model.name, d.ModelBy))
	}
}
