package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"starling/agent/provider"
	"starling/bus/chat"
)

// flaky plays one list of events an attempt, and notes when each came.
type flaky struct {
	replies [][]provider.Event
	at      []time.Time
}

func (f *flaky) Stream(_ context.Context, _ provider.Request, sink provider.Sink) {
	n := len(f.at)
	f.at = append(f.at, time.Now())
	for _, e := range f.replies[min(n, len(f.replies)-1)] {
		sink(e)
	}
}

func (f *flaky) gaps() []time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(f.at); i++ {
		gaps = append(gaps, f.at[i].Sub(f.at[i-1]))
	}
	return gaps
}

func fails(kind provider.FailureKind, after time.Duration) []provider.Event {
	return []provider.Event{{Kind: provider.Failed, Err: &provider.Failure{
		Kind: kind, Status: 429, Message: "slow down", RetryAfter: after,
	}}}
}

var fine = []provider.Event{start(0, chat.Text), delta(0, "hi"), end(0), done}

type waits []provider.Wait

func (f *flaky) run(ctx context.Context, o provider.RetryOptions) (*provider.Reply, waits) {
	r := &provider.Reply{}
	var w waits
	provider.Retrying(f, o).Stream(ctx, provider.Request{}, func(e provider.Event) {
		r.Take(e)
		if e.Kind == provider.Waiting {
			w = append(w, *e.Wait)
		}
	})
	return r, w
}

const never = -time.Second

func TestE07RetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{fails(provider.RateLimited, 3*time.Second), fails(provider.RateLimited, 3*time.Second), fine}}
		r, w := f.run(t.Context(), provider.RetryOptions{})
		if r.Err() != nil || r.Message().Text() != "hi" || len(w) != 2 || len(f.at) != 3 {
			t.Errorf("%v, %q, %d waits, %d requests", r.Err(), r.Message().Text(), len(w), len(f.at))
		}
		for i, gap := range f.gaps() {
			if gap < 3*time.Second || gap > 4*time.Second || gap != w[i].For {
				t.Errorf("gap %d is %s, announced as %s", i, gap, w[i].For)
			}
			if w[i].Attempt != i+1 || w[i].Kind != provider.RateLimited || w[i].Err == nil || w[i].Of != provider.DefaultAttempts {
				t.Errorf("wait %d: %+v", i, w[i])
			}
		}
	})
}

func TestRetryWaitsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			random float64
			want   []time.Duration
		}{
			"the longest":  {0, []time.Duration{1e9, 2e9, 4e9, 8e9, 10e9, 10e9}},
			"the shortest": {0.999999, []time.Duration{5e8, 1e9, 2e9, 4e9, 5e9, 5e9}},
		} {
			f := &flaky{replies: [][]provider.Event{fails(provider.ServerError, never)}}
			r, _ := f.run(t.Context(), provider.RetryOptions{
				Attempts: 7, MaxWait: 10 * time.Second, Random: func() float64 { return c.random },
			})
			gaps := f.gaps()
			if len(gaps) != len(c.want) {
				t.Fatalf("%s: %v", name, gaps)
			}
			for i, gap := range gaps {
				if d := gap - c.want[i]; d < -time.Millisecond || d > time.Millisecond {
					t.Errorf("%s: gap %d is %s, want %s", name, i, gap, c.want[i])
				}
			}
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), "429: slow down (after 7 attempts)") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestE07FailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			events []provider.Event
			want   string
		}{
			"16 days":         {fails(provider.RateLimited, 16*24*time.Hour), "slow down (it asks to wait 16 days; the longest wait is 2m0s"},
			"above the cap":   {fails(provider.Overloaded, 121*time.Second), "it asks to wait 2m1s"},
			"quota":           {fails(provider.Quota, time.Second), "429: slow down"},
			"400":             {fails(provider.BadRequest, never), "slow down"},
			"key":             {fails(provider.Auth, never), "slow down"},
			"no model":        {fails(provider.NotFound, never), "slow down"},
			"too long":        {fails(provider.TooLong, never), "slow down"},
			"no answer at it": {fails(provider.Protocol, never), "slow down"},
			"another error":   {[]provider.Event{{Kind: provider.Failed, Err: errors.New("odd")}}, "odd"},
		} {
			f := &flaky{replies: [][]provider.Event{c.events}}
			before := time.Now()
			r, w := f.run(t.Context(), provider.RetryOptions{})
			if len(f.at) != 1 || len(w) != 0 || !time.Now().Equal(before) {
				t.Errorf("%s: %d requests in %s", name, len(f.at), time.Since(before))
			}
			if err := r.Err(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "attempts") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What has come stays the only reply: nothing is asked twice.
func TestNoRetryBehindTheFirstToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{append([]provider.Event{start(0, chat.Text), delta(0, "half")}, fails(provider.Network, never)...)}}
		r, _ := f.run(t.Context(), provider.RetryOptions{})
		if m := r.Message(); len(f.at) != 1 || m.Text() != "half" || m.Stop != chat.StopError {
			t.Errorf("%d requests, %+v", len(f.at), m)
		}
		// One that came after a wait is no other.
		f = &flaky{replies: [][]provider.Event{fails(provider.Network, never), f.replies[0]}}
		if r, w := f.run(t.Context(), provider.RetryOptions{}); len(f.at) != 2 || r.Message().Text() != "half" || len(w) != 1 {
			t.Errorf("%d requests, %+v", len(f.at), r.Message())
		}
	})
}

func TestRetryOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{nil, fine}}
		if r, _ := f.run(t.Context(), provider.RetryOptions{}); r.Err() != nil || len(f.at) != 2 {
			t.Errorf("%v after %d requests", r.Err(), len(f.at))
		}
		f = &flaky{replies: [][]provider.Event{nil}}
		if r, _ := f.run(t.Context(), provider.RetryOptions{Attempts: 2}); !errors.Is(r.Err(), provider.ErrCut) || len(f.at) != 2 {
			t.Errorf("%v after %d requests", r.Err(), len(f.at))
		}
	})
}

// Esc in a wait ends it at once.
func TestE07CancelStopsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{fails(provider.RateLimited, 100*time.Second)}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		before := time.Now()
		r, w := f.run(ctx, provider.RetryOptions{})
		if took := time.Since(before); took != 5*time.Second || len(f.at) != 1 || len(w) != 1 {
			t.Errorf("took %s, %d requests", took, len(f.at))
		}
		if !errors.Is(r.Err(), provider.ErrCut) {
			t.Errorf("got %v", r.Err())
		}
	})
}

func TestTotalWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{fails(provider.RateLimited, 50*time.Second)}}
		before := time.Now()
		r, _ := f.run(t.Context(), provider.RetryOptions{Attempts: 100, TotalWait: 3 * time.Minute})
		if took := time.Since(before); took > 3*time.Minute || len(f.at) != 4 || !strings.Contains(r.Err().Error(), "after 4 attempts") {
			t.Errorf("took %s, %d requests, %v", took, len(f.at), r.Err())
		}
	})
}

// Who takes the event may set the wait, and end the request.
func TestWaitIsDecidedByTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{replies: [][]provider.Event{fails(provider.RateLimited, never), fails(provider.RateLimited, never), fine}}
		stopped := errors.New("stopped by a plugin")
		r := &provider.Reply{}
		provider.Retrying(f, provider.RetryOptions{}).Stream(t.Context(), provider.Request{}, func(e provider.Event) {
			if e.Kind == provider.Waiting {
				e.Wait.For = 7 * time.Second
				if e.Wait.Attempt == 2 {
					e.Wait.Stop = stopped
				}
			}
			r.Take(e)
		})
		if gaps := f.gaps(); len(gaps) != 1 || gaps[0] != 7*time.Second {
			t.Errorf("gaps %v", gaps)
		}
		if !errors.Is(r.Err(), stopped) {
			t.Errorf("got %v", r.Err())
		}
	})
}
