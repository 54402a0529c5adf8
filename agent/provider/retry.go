package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Defaults of RetryOptions.
const (
	DefaultAttempts  = 5
	DefaultBaseWait  = time.Second
	DefaultMaxWait   = 30 * time.Second
	DefaultLongWait  = 2 * time.Minute
	DefaultTotalWait = 10 * time.Minute
)

// RetryOptions say how often and how long to wait. Zero values are the defaults.
type RetryOptions struct {
	// Attempts is the most requests for one reply.
	Attempts int
	// BaseWait is the first wait; each next one doubles, up to MaxWait. A random
	// part of up to a half is taken off, so that many clients spread.
	BaseWait, MaxWait time.Duration
	// LongWait is the longest wait a server may ask for: above it the request
	// fails at once.
	LongWait time.Duration
	// TotalWait is the most that all waits of one reply may take together.
	TotalWait time.Duration
	// Sleep waits for a time or until ctx ends; nil is the machine's clock.
	Sleep func(ctx context.Context, d time.Duration) error
	// Random returns a number in [0, 1); nil is the machine's.
	Random func() float64
}

// Retrying sends a request again when it failed for a reason that may pass and
// nothing of the reply had come. It is the only layer that does. Each wait is a
// Waiting event, and ends with ctx.
func Retrying(p Provider, o RetryOptions) Provider {
	if o.Attempts < 1 {
		o.Attempts = DefaultAttempts
	}
	fill(&o.BaseWait, DefaultBaseWait)
	fill(&o.MaxWait, DefaultMaxWait)
	fill(&o.LongWait, DefaultLongWait)
	fill(&o.TotalWait, DefaultTotalWait)
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return &retrying{p: p, o: o}
}

func fill(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type retrying struct {
	p Provider
	o RetryOptions
}

// Stream sends req until it is answered, or has failed for good.
func (r *retrying) Stream(ctx context.Context, req Request, sink Sink) {
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		failed := r.once(ctx, req, sink)
		if failed == nil || ctx.Err() != nil {
			return
		}
		wait, err := r.wait(failed.Err, attempt, waited)
		if err != nil {
			failed.Err = err
			sink(*failed)
			return
		}
		var f *Failure
		errors.As(failed.Err, &f)
		w := &Wait{Kind: f.Kind, Attempt: attempt, Of: r.o.Attempts, For: wait, Err: failed.Err}
		sink(Event{Kind: Waiting, Wait: w})
		if w.Stop != nil {
			failed.Err = w.Stop
			sink(*failed)
			return
		}
		if r.o.Sleep(ctx, w.For) != nil {
			return
		}
		waited += w.For
	}
}

// once makes one attempt and returns its failure when nothing had come before
// it; every other event went to sink.
func (r *retrying) once(ctx context.Context, req Request, sink Sink) *Event {
	var failed *Event
	begun := false
	r.p.Stream(ctx, req, func(e Event) {
		switch {
		case failed != nil:
			return // nothing counts behind the end
		case e.Kind == Failed && !begun:
			held := e
			failed = &held
			return
		}
		begun = true
		sink(e)
	})
	if failed == nil && !begun && ctx.Err() == nil {
		failed = &Event{Kind: Failed, Err: &Failure{
			Kind: Network, Message: ErrCut.Error(), RetryAfter: -1, Cause: ErrCut,
		}}
	}
	return failed
}

// wait returns how long to wait after a failed attempt, or the error to end
// with.
func (r *retrying) wait(err error, attempt int, waited time.Duration) (time.Duration, error) {
	var f *Failure
	if !errors.As(err, &f) || !f.Passing() {
		return 0, withAttempts(err, attempt)
	}
	if f.RetryAfter > r.o.LongWait {
		return 0, fmt.Errorf("%w (it asks to wait %s; the longest wait is %s: try later or use another model)",
			withAttempts(err, attempt), rounded(f.RetryAfter), r.o.LongWait)
	}
	if attempt == r.o.Attempts {
		return 0, withAttempts(err, attempt)
	}
	pause := r.o.MaxWait
	if shift := attempt - 1; shift < 30 && r.o.BaseWait<<shift < r.o.MaxWait {
		pause = r.o.BaseWait << shift
	}
	jitter := r.o.Random() / 2
	if f.RetryAfter >= 0 {
		// Never before the time the server named: what is random comes on top.
		pause = f.RetryAfter + time.Duration(jitter*float64(min(pause, r.o.BaseWait)))
	} else {
		pause -= time.Duration(jitter * float64(pause))
	}
	if waited+pause > r.o.TotalWait {
		return 0, withAttempts(err, attempt)
	}
	return pause, nil
}

func withAttempts(err error, attempts int) error {
	if attempts == 1 {
		return err
	}
	return fmt.Errorf("%w (after %d attempts)", err, attempts)
}

func rounded(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return d.Round(time.Second).String()
}
