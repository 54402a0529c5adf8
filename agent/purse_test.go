package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/agent"
	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

func TestPurse(t *testing.T) {
	for name, c := range map[string]struct {
		caps  agent.Caps
		spend chat.Usage
		want  string
	}{
		"no cap":          {agent.Caps{}, chat.Usage{Input: 1 << 40, Cost: 1e9}, "0 false  "},
		"half the tokens": {agent.Caps{Tokens: 100}, chat.Usage{Input: 20, Output: 15, CacheRead: 10, CacheWrite: 5, Cost: 9}, "0.5 true  "},
		"the nearest cap": {agent.Caps{Tokens: 100, Cost: 2}, chat.Usage{Input: 10, Cost: 1.5}, "0.75 true  "},
		"tokens":          {agent.Caps{Tokens: 100}, chat.Usage{Output: 100}, "1 true tokens the session reached its limit of 100 tokens (it used 100)"},
		"cost":            {agent.Caps{Tokens: 100, Cost: 2}, chat.Usage{Output: 1, Cost: 2.5}, "1 true cost the session reached its limit of $2 (it spent $2.5)"},
	} {
		p := agent.NewPurse(c.caps)
		p.Spend(c.spend)
		share, capped := p.Share()
		limit, why := p.Over()
		if got := fmt.Sprintf("%v %v %s %s", share, capped, limit, why); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	p, wait := agent.NewPurse(agent.Caps{}), sync.WaitGroup{}
	for range 50 {
		wait.Go(func() { p.Spend(chat.Usage{Input: 1, Cost: 0.5}) })
	}
	if wait.Wait(); p.Spent() != (chat.Usage{Input: 50, Cost: 25}) {
		t.Errorf("spent %+v", p.Spent())
	}
}

// A session that is gone on with counts as a whole, whoever paid for it; what a purse
// paid stays paid through every change of sessions.
func TestPurseCarries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		usd := rapid.IntRange(0, 40)
		p := agent.NewPurse(agent.Caps{Cost: 20})
		all, session := 0, 0
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			n := usd.Draw(t, "dollars")
			if rapid.Bool().Draw(t, "another session") {
				session = n
				p.Carry(chat.Usage{Cost: float64(n), Output: n})
			} else {
				all, session = all+n, session+n
				p.Spend(chat.Usage{Cost: float64(n), Output: n})
			}
			want := max(all, session)
			_, why := p.Over()
			if got := p.Spent(); got.Cost != float64(want) || got.Output != want || (why != "") != (want >= 20) {
				t.Fatalf("spent %+v, want %d; over: %q", got, want, why)
			}
		}
	})
}

// costs answers with a call until the tokens of a reply were paid n times.
func costs(u chat.Usage) provider.Provider {
	return streamFunc(func(_ context.Context, sink provider.Sink) {
		sink(provider.Event{Kind: provider.BlockStart, Block: chat.Call, Name: "echo"})
		sink(provider.Event{Kind: provider.Delta, Data: []byte(`{"text":"a"}`)})
		sink(provider.Event{Kind: provider.BlockEnd})
		sink(provider.Event{Kind: provider.Done, Usage: u})
	})
}

// Each limit is reported as itself; one purse pays for runs and plugins, and
// outlives a run.
func TestLimitsAreNamed(t *testing.T) {
	reply := chat.Usage{Input: 6, Output: 4, Cost: 0.25}
	for name, c := range map[string]struct {
		caps    agent.Caps
		plugins chat.Usage // spent by them at each message
		limit   agent.Limit
		turns   int
		why     string
	}{
		"tokens":            {agent.Caps{Tokens: 25}, chat.Usage{}, agent.LimitTokens, 3, "25 tokens (it used 30)"},
		"cost":              {agent.Caps{Cost: 0.5, Tokens: 1000}, chat.Usage{}, agent.LimitCost, 2, "$0.5 (it spent $0.5)"},
		"cost with plugins": {agent.Caps{Cost: 0.5}, chat.Usage{Cost: 0.25}, agent.LimitCost, 1, "$0.5 (it spent $0.5)"},
		"turns":             {agent.Caps{Tokens: 1000}, chat.Usage{}, agent.LimitTurns, 5, "5 turns"},
	} {
		purse := agent.NewPurse(c.caps)
		l := newLab(nil, func(o *agent.Options) { o.Provider, o.Purse, o.MaxTurns = costs(reply), purse, 5 })
		l.tool(echo("echo"))
		var budgets []string
		watch(l, event.Message, func(*event.MessageEvent) { purse.Spend(c.plugins) })
		watch(l, event.Request, func(e *event.RequestEvent) {
			share, _ := e.Run.Budget()
			budgets = append(budgets, fmt.Sprint(*e.Budget == share, share))
		})
		out := logAll(l)
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopLimit || o.Limit != c.limit || o.Turns != c.turns || !strings.Contains(o.StopWhy, c.why) {
			t.Errorf("%s: %+v", name, o)
		}
		if strings.Contains(out.String(), "notice") || o.Usage.Output != 4*c.turns {
			t.Errorf("%s: usage %+v\n%s", name, o.Usage, out)
		}
		if budgets[0] != "true 0" || c.turns > 1 && budgets[1] == "true 0" {
			t.Errorf("%s: budgets %v", name, budgets)
		}
		if c.limit == agent.LimitTurns {
			continue
		}
		if o := l.agent.Run(t.Context(), "again"); o.Limit != c.limit || o.Turns != 0 {
			t.Errorf("%s: the next run: %+v", name, o)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	l := newLab([]spec.Step{{Text: "half an answer", DelayMS: 600_000}}, nil)
	out := logAll(l)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	o := l.agent.Run(ctx, "go")
	if o.Stop != agent.StopLimit || o.Limit != agent.LimitTime || o.StopWhy != "the time for the run is over" {
		t.Errorf("%+v", o)
	}
	if strings.Contains(out.String(), "notice") {
		t.Errorf("events\n%s", out)
	}
	if l.agent.CurrentRun() != nil {
		t.Error("a run is left")
	}
}
