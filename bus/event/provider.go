package event

import (
	"errors"

	"starling/bus"
)

// ProviderErrorEvent announces that a request failed for a reason that may pass
// and is about to be sent again. Nothing of its reply had come.
type ProviderErrorEvent struct {
	Memo
	Kind       string   `field:"kind"`        // such as rate_limit, overloaded, server, network or timeout
	Status     int      `field:"status"`      // of HTTP; 0 when there was no answer
	RetryAfter *float64 `field:"retry_after"` // seconds the server asks to wait; nil when it does not
	Attempt    int      `field:"attempt"`     // that failed, from 1
	Model      string   `field:"model"`
	// Decision is what the answers so far come to.
	Decision RetryDecision
}

// RetryDecision is what to do instead of the ordinary retry.
type RetryDecision struct {
	Model   string       // to ask instead; empty for the same
	WaitMS  *int         // before the next attempt; nil for the ordinary wait
	Stop    *bus.Refusal // no further attempt
	ModelBy string       // who named the model
}

// ProviderErrorAnswer is one listener's wish; fields that are not set are no
// opinion.
type ProviderErrorAnswer struct {
	Model  string
	WaitMS *int
	Stop   *bus.Refusal
}

// ProviderError is announced before a retry, never after the first token.
var ProviderError = bus.NewFields("agent/provider-error", func(e *ProviderErrorEvent, a *ProviderErrorAnswer, by bus.Owner) error {
	if a.WaitMS != nil && *a.WaitMS < 0 {
		return errors.New("wait_ms must not be negative")
	}
	d := &e.Decision
	if d.Model == "" && a.Model != "" {
		d.Model, d.ModelBy = a.Model, by.Name
	}
	if d.WaitMS == nil {
		d.WaitMS = a.WaitMS
	}
	if d.Stop == nil && a.Stop != nil {
		stop := *a.Stop
		stop.By = by
		d.Stop = &stop
	}
	return nil
})

// TickEvent tells that time passes.
type TickEvent struct{ Memo }

// Tick is announced every 250 ms while a terminal or a headless run lives; a tick
// that finds the one before still being heard is left out.
var Tick = bus.NewEmit[TickEvent]("code/tick")
