package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"starling/agent"
	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
)

// spoil subscribes a listener that always fails to a topic.
func spoil[E, A any](l *lab, t *bus.Topic[E, A], do func() error) {
	listen(l, "spoiler", t, func(context.Context, *E) (*A, error) { return nil, do() })
}

// whatever event a listener fails on, the run ends as it would have, only
// guards refuse, the fault is reported with its owner, and the next prompt works.
func TestFailingListeners(t *testing.T) {
	for _, topic := range []struct {
		name  string
		spoil func(*lab, func() error)
	}{
		{"agent/prompt", func(l *lab, do func() error) { spoil(l, event.Prompt, do) }},
		{"agent/run-start", func(l *lab, do func() error) { spoil(l, event.RunStart, do) }},
		{"agent/turn-start", func(l *lab, do func() error) { spoil(l, event.TurnStart, do) }},
		{"agent/request", func(l *lab, do func() error) { spoil(l, event.Request, do) }},
		{"agent/event", func(l *lab, do func() error) { spoil(l, event.Stream, do) }},
		{"agent/message", func(l *lab, do func() error) { spoil(l, event.Message, do) }},
		{"agent/tool-call", func(l *lab, do func() error) { spoil(l, event.ToolCall, do) }},
		{"agent/tool-progress", func(l *lab, do func() error) { spoil(l, event.ToolProgress, do) }},
		{"agent/tool-result", func(l *lab, do func() error) { spoil(l, event.ToolResult, do) }},
		{"agent/turn-end", func(l *lab, do func() error) { spoil(l, event.TurnEnd, do) }},
		{"agent/run-end", func(l *lab, do func() error) { spoil(l, event.RunEnd, do) }},
		{"code/notice", func(l *lab, do func() error) { spoil(l, event.Notice, do) }},
	} {
		for how, do := range map[string]func() error{
			"error": func() error { return errors.New("boom") },
			"panic": func() error { panic("boom") },
		} {
			step := calls(call("echo", `{"text":"a"}`))
			l := newLab([]spec.Step{step, say("fine"), step, say("fine")}, nil)
			tool := echo("echo")
			tool.Execute = func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
				c.Progress("x")
				return spec.ToolResult{Content: "ran"}, nil
			}
			l.tool(tool)
			topic.spoil(l, do)
			for range 2 {
				if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || o.Text != "fine" || o.Turns != 2 {
					t.Errorf("%s %s: %+v", topic.name, how, o)
				}
			}
			got := strings.Join(results(l.agent.Transcript()), " ")
			if topic.name == "agent/tool-call" {
				if strings.Contains(got, "ran") || strings.Count(got, "Blocked by spoiler") != 2 {
					t.Errorf("%s %s: a failing guard let calls through: %s", topic.name, how, got)
				}
			} else if got != "echo: ran echo: ran" {
				t.Errorf("%s %s: results %s", topic.name, how, got)
			}
			if topic.name == "code/notice" {
				continue // nothing to announce in such a run
			}
			if len(l.failures) < 2 && topic.name != "agent/event" || len(l.failures) == 0 ||
				l.failures[0].Owner.Name != "spoiler" || l.failures[0].Topic != topic.name {
				t.Errorf("%s %s: reported %v", topic.name, how, l.failures)
			}
		}
	}
}

// H2, H4, H7: notes and pushed messages stand where a message may stand, in the
// order asked, never between a call and its result.
func TestQueuedMessages(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`), call("echo", `{"text":"b"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	ask := func(run event.Run, where string) {
		if err := errors.Join(run.Note("n "+where), run.PushUser("u "+where)); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	watch(l, event.RunStart, func(e *event.RunStartEvent) { ask(e.Run, "run-start") })
	watch(l, event.TurnStart, func(e *event.TurnStartEvent) {
		if e.Run.Turn() == 0 {
			ask(e.Run, "turn-start")
		}
	})
	watch(l, event.Message, func(e *event.MessageEvent) {
		if len(e.Calls) > 0 {
			ask(e.Run, "message")
		}
	})
	watch(l, event.ToolCall, func(*event.ToolCallEvent) { ask(l.agent.CurrentRun(), "tool-call") })
	watch(l, event.ToolResult, func(*event.ToolResultEvent) { ask(l.agent.CurrentRun(), "tool-result") })
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		if e.Calls > 0 {
			ask(e.Run, "turn-end")
		}
	})
	var kept event.Run
	watch(l, event.RunEnd, func(e *event.RunEndEvent) { ask(e.Run, "run-end"); kept = e.Run })
	o := l.agent.Run(t.Context(), "go")
	want := "user go"
	for _, at := range []string{"run-start", "turn-start", "-", "message", "tool-call", "tool-call", "tool-result", "tool-result", "turn-end", "+", "run-end"} {
		switch at {
		case "-":
			want += "\nassistant [echo][echo]\ntool a\ntool b"
		case "+":
			want += "\nassistant fine"
		default:
			want += "\nsystem n " + at + "\nuser u " + at
		}
	}
	if got := roles(l.agent.Transcript()); got != want || o.Turns != 2 {
		t.Errorf("turns %d, transcript\n%s\nwant\n%s", o.Turns, got, want)
	}
	for _, err := range []error{kept.Note("x"), kept.PushUser("x"), kept.Cancel("x")} {
		if !errors.Is(err, event.ErrRunEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
	if err := l.agent.Run(t.Context(), "more").Err; err == nil {
		t.Error("the script is not over")
	}
}

func TestEmptyTextIsRefused(t *testing.T) {
	l := newLab([]spec.Step{say("fine")}, nil)
	watch(l, event.RunStart, func(e *event.RunStartEvent) {
		if e.Run.Note(" ") == nil || e.Run.PushUser("") == nil {
			t.Error("empty text is no error")
		}
	})
	l.agent.Run(t.Context(), "go")
	if got := roles(l.agent.Transcript()); got != "user go\nassistant fine" {
		t.Errorf("transcript\n%s", got)
	}
}

// a listener that always asks to go on is stopped by the host, which names
// it, after cap + 1 requests.
func TestForcedContinuationsAreCapped(t *testing.T) {
	l := newLab(repeat(50, say("done")), nil)
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		_ = e.Run.(event.Attributed).As(bus.Owner{Name: "nagger"}).PushUser("not finished, continue")
	})
	out := logAll(l)
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopLimit || len(l.requests) != agent.MaxForced+1 || o.Turns != agent.MaxForced+1 || o.Text != "done" {
		t.Errorf("%+v, %d requests", o, len(l.requests))
	}
	if o.StopWhy != "nagger asked to go on after 9 finished replies in one run" || strings.Contains(out.String(), "notice") {
		t.Errorf("why %q\n%s", o.StopWhy, out)
	}
	// A person's prompt begins a new count.
	if o := l.agent.Run(t.Context(), "go on"); o.Turns != agent.MaxForced+1 {
		t.Errorf("second run: %+v", o)
	}
}

// Esc ends it at any time.
func TestForcedContinuationsAreCancelled(t *testing.T) {
	l := newLab(repeat(50, say("done")), nil)
	shape(l, "nagger", event.RequestAnswer{Then: "more"})
	ctx, cancel := context.WithCancel(t.Context())
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		_ = e.Run.PushUser("not finished")
		if e.Run.Turn() == 2 {
			cancel()
		}
	})
	if o := l.agent.Run(ctx, "go"); o.Stop != agent.StopAborted || o.Turns != 3 || len(l.requests) != 3 {
		t.Errorf("%+v", o)
	}
}

func TestForcedContinuationsUnknownAndFew(t *testing.T) {
	for pushes, want := range map[int]agent.Stop{3: agent.StopEnd, 100: agent.StopLimit} {
		l := newLab(repeat(50, say("done")), nil)
		n := 0
		watch(l, event.Message, func(e *event.MessageEvent) {
			if n++; n <= pushes {
				_ = e.Run.PushUser("again")
			}
		})
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != want || o.Turns != min(pushes, agent.MaxForced)+1 {
			t.Errorf("%d pushes: %+v", pushes, o)
		}
		if want == agent.StopLimit && !strings.HasPrefix(o.StopWhy, "a listener asked") {
			t.Errorf("why %q", o.StopWhy)
		}
	}
}

func TestStopAtTurnEnd(t *testing.T) {
	for why, want := range map[string]string{"enough": "house: enough", "": "house stopped it"} {
		l := newLab(repeat(3, calls(call("echo", `{"text":"a"}`))), nil)
		l.tool(echo("echo"))
		listen(l, "house", event.TurnEnd, func(_ context.Context, e *event.TurnEndEvent) (*event.TurnEndAnswer, error) {
			return &event.TurnEndAnswer{Stop: &bus.Refusal{Why: why}}, nil
		})
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopStopped || o.StopWhy != want || o.Turns != 1 || o.Err != nil {
			t.Errorf("%+v", o)
		}
		if got := results(l.agent.Transcript()); fmt.Sprint(got) != "[echo: a]" {
			t.Errorf("results %q", got)
		}
	}
}

func TestHandleReads(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	var lines []string
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		_, capped := e.Run.Budget()
		lines = append(lines, fmt.Sprintf("%d %s %s %v %v %v", e.Run.Turn(), e.Run.Model(), e.Run.Task(), e.Run.Usage().Input > 0, e.Run.Cancelled(), capped))
	})
	o := l.agent.Run(t.Context(), "go")
	if got := strings.Join(lines, ";"); got != "0 script:test go true false false;1 script:test go true false false" {
		t.Errorf("%s", got)
	}
	if o.Usage.Input == 0 || o.Usage.Output == 0 {
		t.Errorf("usage %+v", o.Usage)
	}
}

// A barrier that fails refuses what can be refused, and nothing runs unguarded.
func TestBarrierThatFails(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	down := false
	l.bus.Barrier = func(context.Context) error {
		if down {
			return errors.New("still loading")
		}
		return nil
	}
	watch(l, event.Message, func(*event.MessageEvent) { down = true })
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopStopped || o.Denied != 1 || !strings.Contains(o.StopWhy, "still loading") {
		t.Errorf("%+v", o)
	}
	if got := results(l.agent.Transcript()); !strings.HasPrefix(got[0], "! echo: Blocked by the host: the composition did not settle: still loading") {
		t.Errorf("results %q", got)
	}
	if o := l.agent.Run(t.Context(), "again"); o.Stop != agent.StopRejected || !strings.Contains(o.StopWhy, "still loading") {
		t.Errorf("%+v", o)
	}
}

// A-02 again, for the two events that a scripted run does not announce: a
// listener that fails on them changes nothing, and is switched off.
func TestFailingListenersOfTicksAndRetries(t *testing.T) {
	for how, do := range map[string]func() error{
		"error": func() error { return errors.New("boom") },
		"panic": func() error { panic("boom") },
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(nil, func(o *agent.Options) { o.Tick, o.Provider = true, failing(busy) })
				spoil(l, event.Tick, do)
				spoil(l, event.ProviderError, do)
				o := l.agent.Run(t.Context(), "go")
				if o.Stop != agent.StopError || o.Err.Error() != busy.Error() {
					t.Errorf("%+v", o)
				}
				l.mu.Lock()
				defer l.mu.Unlock()
				reported := map[string]int{}
				for _, f := range l.failures {
					reported[f.Topic]++
				}
				if reported["code/tick"] != bus.StrikeLimit || reported["agent/provider-error"] != 2 {
					t.Errorf("reported %v", reported)
				}
			})
		})
	}
}
