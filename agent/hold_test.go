package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"starling/agent"
	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
)

// holder subscribes a listener that holds the first announcement of every request
// and puts what it waited for into the next.
func holder(l *lab, name string, limit time.Duration, closed bool, held func(event.Hold)) (leave func()) {
	owner := bus.Owner{UID: uint64(len(name)), Name: name}
	asked := map[int]int{}
	add, remove := bus.PortOf(l.bus, event.Request).Put(bus.At(bus.ClassHome, 0, name), owner, bus.Listener[event.RequestEvent, event.RequestAnswer]{
		FailClosed: closed,
		Do: func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
			if asked[e.Turn]++; asked[e.Turn] == 1 {
				h, err := e.Run.(event.Attributed).As(owner).Hold(limit)
				if err != nil {
					return nil, err
				}
				held(h)
				return &event.RequestAnswer{Suffix: ptr("too early")}, nil
			}
			return &event.RequestAnswer{Suffix: ptr(fmt.Sprintf("%s, asked %d times", name, asked[e.Turn]))}, nil
		},
	})
	l.store.Commit(add)
	return func() { l.store.Commit(remove) }
}

// A request that is held goes out after the release, shaped from what came
// meanwhile, by everybody.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab([]spec.Step{say("fine")}, nil)
		l.tool(echo("echo"))
		announced := 0
		watch(l, event.Request, func(*event.RequestEvent) { announced++ })
		var mu sync.Mutex
		var holds []event.Hold
		release := func(after time.Duration) func(event.Hold) {
			return func(h event.Hold) {
				mu.Lock()
				holds = append(holds, h)
				mu.Unlock()
				time.AfterFunc(after, func() {
					_ = l.agent.CurrentRun().Note("compacted by " + after.String())
					h.Release()
					h.Release()
				})
			}
		}
		holder(l, "slow", 0, true, release(time.Hour))
		holder(l, "quick", time.Minute, true, release(time.Second))
		time.AfterFunc(time.Second*2, func() {
			mu.Lock()
			defer mu.Unlock()
			if len(holds) != 2 || holds[0].Released() == holds[1].Released() {
				t.Error("one of the two is let go")
			}
			l.tool(echo("late"))
		})
		began := time.Now()
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopEnd || time.Since(began) != time.Hour || announced != 2 {
			t.Errorf("%+v after %v, announced %d times", o, time.Since(began), announced)
		}
		req := l.requests[0]
		if req.Suffix != "quick, asked 2 times\n\nslow, asked 2 times" || len(req.Tools) != 2 || len(l.requests) != 1 {
			t.Errorf("request %+v", req)
		}
		if got := roles(req.Messages); got != "user go\nsystem compacted by 1s\nsystem compacted by 1h0m0s" {
			t.Errorf("sent\n%s", got)
		}
	})
}

// At the limit, and when the holder unloads, the request is shaped without it; a
// fail_closed holder ends the run instead.
func TestHoldThatIsNotReleased(t *testing.T) {
	for name, c := range map[string]struct {
		unload bool
		closed bool
		after  time.Duration
		why    string
	}{
		"the limit":             {false, false, 5 * time.Minute, "h held the request and did not let it go within 5m0s: it is shaped without it"},
		"unloaded":              {true, false, time.Second, "h held the request and was unloaded: it is shaped without it"},
		"the limit, closed":     {false, true, 5 * time.Minute, "h held the request and did not let it go within 5m0s; it is fail_closed, so nothing is sent without it"},
		"unloaded, fail closed": {true, true, time.Second, "h held the request and was unloaded; it is fail_closed, so nothing is sent without it"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab([]spec.Step{say("fine")}, nil)
				var held event.Hold
				leave := holder(l, "h", 5*time.Minute, c.closed, func(h event.Hold) { held = h })
				shape(l, "other", event.RequestAnswer{Suffix: ptr("other")})
				time.AfterFunc(time.Millisecond*500, func() { l.tool(echo("other change")) })
				if c.unload {
					time.AfterFunc(time.Second, leave)
				}
				out := logAll(l)
				began := time.Now()
				o := l.agent.Run(t.Context(), "go")
				if time.Since(began) != c.after || !held.Released() {
					t.Errorf("after %v, released %v", time.Since(began), held.Released())
				}
				if c.closed {
					if len(l.failures) != 0 {
						t.Errorf("it was asked again: %v", l.failures)
					}
					if o.Stop != agent.StopStopped || o.StopWhy != c.why || len(l.requests) != 0 {
						t.Errorf("%+v, %d requests", o, len(l.requests))
					}
					return
				}
				if o.Stop != agent.StopEnd || len(l.requests) != 1 || l.requests[0].Suffix != "other" || !strings.Contains(out.String(), "notice "+c.why) {
					t.Errorf("%+v, requests %+v\n%s", o, l.requests, out)
				}
			})
		})
	}
}

// A holder that is left out of one request is asked about the next.
func TestHolderIsBackAtTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
		l.tool(echo("echo"))
		holder(l, "h", time.Second, false, func(h event.Hold) {
			if l.agent.CurrentRun().Turn() == 1 {
				h.Release()
			}
		})
		l.agent.Run(t.Context(), "go")
		if l.requests[0].Suffix != "" || l.requests[1].Suffix != "h, asked 2 times" {
			t.Errorf("suffixes %q %q", l.requests[0].Suffix, l.requests[1].Suffix)
		}
	})
}

// hold works only inside agent/request, once a plugin and request.
func TestHoldElsewhere(t *testing.T) {
	l := newLab([]spec.Step{say("fine")}, nil)
	var errs []error
	var kept event.Run
	try := func(r event.Run) {
		_, err := r.Hold(time.Second)
		errs = append(errs, err)
	}
	a, b := bus.Owner{Name: "a"}, bus.Owner{Name: "b"}
	watch(l, event.Request, func(e *event.RequestEvent) {
		if kept != nil {
			try(e.Run.(event.Attributed).As(a))
			return
		}
		kept = e.Run
		for _, by := range []bus.Owner{a, a, b} {
			h, err := e.Run.(event.Attributed).As(by).Hold(0)
			if errs = append(errs, err); err == nil {
				h.Release()
			}
		}
		try(l.agent.CurrentRun())
	})
	watch(l, event.Message, func(e *event.MessageEvent) { try(e.Run); try(kept) })
	l.agent.Run(t.Context(), "go")
	try(kept)
	want := []error{nil, event.ErrHeld, nil, event.ErrNotHere, event.ErrHeld, event.ErrNotHere, event.ErrNotHere, event.ErrRunEnded}
	if fmt.Sprint(errs) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", errs, want)
	}
}

// Esc ends a run that is held at once and sends nothing.
func TestCancelOfAHeldRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab([]spec.Step{say("never")}, nil)
		var held event.Hold
		announced := 0
		watch(l, event.Request, func(*event.RequestEvent) { announced++ })
		holder(l, "h", 0, true, func(h event.Hold) { held = h })
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(errors.New("Esc")) })
		began := time.Now()
		o := l.agent.Run(ctx, "go")
		if o.Stop != agent.StopAborted || o.StopWhy != "Esc" || o.Turns != 0 || len(l.requests) != 0 || time.Since(began) > time.Minute+100*time.Millisecond {
			t.Errorf("%+v after %v", o, time.Since(began))
		}
		if !held.Released() || announced != 1 || len(l.failures) != 0 {
			t.Errorf("released %v, announced %d times, failures %v", held.Released(), announced, l.failures)
		}
	})
}
