package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"starling/agent"
	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// failing answers nothing: it waits a second between attempts, or what the sink
// makes of that, and gives up after three.
func failing(f *provider.Failure) provider.Provider {
	return streamFunc(func(ctx context.Context, sink provider.Sink) {
		for attempt := 1; attempt < 3; attempt++ {
			w := &provider.Wait{Kind: f.Kind, Attempt: attempt, Of: 3, For: time.Second, Err: f}
			sink(provider.Event{Kind: provider.Waiting, Wait: w})
			select {
			case <-time.After(w.For):
			case <-ctx.Done():
				return
			}
		}
		sink(provider.Event{Kind: provider.Failed, Err: f})
	})
}

var busy = &provider.Failure{Kind: provider.RateLimited, Status: 429, Message: "slow down", RetryAfter: 7 * time.Second}

// What listeners of agent/provider-error decide, and what becomes of the request.
func TestProviderError(t *testing.T) {
	wait := 60_000
	type answer = event.ProviderErrorAnswer
	for name, c := range map[string]struct {
		answers []answer
		stop    agent.Stop
		text    string // the reply, or why there is none
		took    time.Duration
		notices string
	}{
		"nobody": {
			nil, agent.StopError, "the model server answered 429: slow down", 2 * time.Second,
			"the model server answered 429: slow down: attempt 1 of 3 failed, the next one in 1s\n" +
				"the model server answered 429: slow down: attempt 2 of 3 failed, the next one in 1s\n",
		},
		"no opinion": {
			[]answer{{}},
			agent.StopError, "the model server answered 429: slow down", 2 * time.Second,
			"the model server answered 429: slow down: attempt 1 of 3 failed, the next one in 1s\n" +
				"the model server answered 429: slow down: attempt 2 of 3 failed, the next one in 1s\n",
		},
		"a longer wait": {
			[]answer{{WaitMS: &wait}},
			agent.StopError, "the model server answered 429: slow down", 2 * time.Minute,
			"the model server answered 429: slow down: attempt 1 of 3 failed, the next one in 1m0s\n" +
				"the model server answered 429: slow down: attempt 2 of 3 failed, the next one in 1m0s\n",
		},
		"stop": {
			[]answer{{Stop: &bus.Refusal{Why: "enough"}, Model: "good"}},
			agent.StopError,
			"the model server answered 429: slow down (no further attempt: p0: enough)", 0, "",
		},
		"stop without a word": {
			[]answer{{Stop: &bus.Refusal{}}},
			agent.StopError,
			"the model server answered 429: slow down (no further attempt: p0 stopped it)", 0, "",
		},
		"another model": {
			[]answer{{}, {Model: "good"}, {Model: "bad"}},
			agent.StopEnd, "fine", 0,
			"script:test does not answer, good is asked instead (model of p1)\n",
		},
		"another that fails too": {
			[]answer{{Model: "bad"}},
			agent.StopError, "the model server answered 429: slow down", 2 * time.Second,
			"script:test does not answer, bad is asked instead (model of p0)\n" +
				"the model server answered 429: slow down: attempt 1 of 3 failed, the next one in 1s\n" +
				"the model server answered 429: slow down: attempt 2 of 3 failed, the next one in 1s\n",
		},
		"one that is not to be had": {
			[]answer{{Model: "absent"}},
			agent.StopError, "the model server answered 429: slow down", 2 * time.Second,
			"model of p0: the model \"absent\" is not to be had, script:test answers instead: no such model\n" +
				"the model server answered 429: slow down: attempt 1 of 3 failed, the next one in 1s\n" +
				"the model server answered 429: slow down: attempt 2 of 3 failed, the next one in 1s\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(nil, func(o *agent.Options) {
					o.Provider = failing(busy)
					o.Models = func(_ context.Context, name string) (provider.Provider, string, error) {
						switch name {
						case "good":
							return scripted.New([]spec.Step{say("fine")}, noPause), name, nil
						case "bad":
							return failing(busy), name, nil
						}
						return nil, "", errors.New("no such model")
					}
				})
				for i, a := range c.answers {
					listen(l, fmt.Sprintf("p%d", i), event.ProviderError, func(context.Context, *event.ProviderErrorEvent) (*answer, error) { return &a, nil })
				}
				out := logAll(l)
				began := time.Now()
				o := l.agent.Run(t.Context(), "go")
				got := o.Text
				if o.Err != nil {
					got = o.Err.Error()
				}
				if o.Stop != c.stop || got != c.text || time.Since(began) != c.took || o.Turns != 1 {
					t.Errorf("%+v after %v", o, time.Since(began))
				}
				notices, kinds := "", ""
				for line := range strings.Lines(out.String()) {
					if rest, ok := strings.CutPrefix(line, "notice "); ok {
						notices += rest
					}
					if rest, ok := strings.CutPrefix(line, "event "); ok {
						kinds += strings.Fields(rest)[0] + " "
					}
				}
				if notices != c.notices {
					t.Errorf("notices\n%s\nwant\n%s", notices, c.notices)
				}
				if want := "start error "; c.stop == agent.StopError && kinds != want {
					t.Errorf("events %s", kinds)
				}
				if strings.Count(kinds, "start ") != 1+strings.Count(kinds, "block_start ") {
					t.Errorf("events %s", kinds)
				}
			})
		})
	}
}

// The payload, with and without what a server told.
func TestProviderErrorPayload(t *testing.T) {
	for _, c := range []struct {
		f    *provider.Failure
		want string
	}{
		{busy, "rate_limit 429 7 1 script:test"},
		{&provider.Failure{Kind: provider.Network, Message: "no route", RetryAfter: -1}, "network 0 none 1 script:test"},
	} {
		l := newLab(nil, func(o *agent.Options) { o.Provider = failing(c.f) })
		got := ""
		listen(l, "p", event.ProviderError, func(_ context.Context, e *event.ProviderErrorEvent) (*event.ProviderErrorAnswer, error) {
			after := "none"
			if e.RetryAfter != nil {
				after = fmt.Sprint(*e.RetryAfter)
			}
			got = fmt.Sprintf("%s %d %s %d %s", e.Kind, e.Status, after, e.Attempt, e.Model)
			return &event.ProviderErrorAnswer{Stop: &bus.Refusal{}}, nil
		})
		l.agent.Run(t.Context(), "go")
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// An event of a kind that this version does not know changes nothing.
func TestUnknownEventOfAProvider(t *testing.T) {
	l := newLab(nil, func(o *agent.Options) {
		o.Provider = streamFunc(func(_ context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: 200})
			sink(provider.Event{Kind: provider.Waiting}) // without saying what for
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("fine")})
			sink(provider.Event{Kind: provider.BlockEnd})
			sink(provider.Event{Kind: provider.Done})
		})
	})
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || o.Text != "fine" {
		t.Errorf("%+v", o)
	}
}
