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
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// sleepFor waits as something does that looks at its context, or does not.
func sleepFor(ctx context.Context, polite bool) error {
	if !polite {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(time.Hour):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// waits are the places a run can wait in; each prepares a lab that waits there
// for an hour.
var waits = map[string]func(polite bool) *lab{
	"settle": func(polite bool) *lab {
		return newLab(nil, func(o *agent.Options) {
			o.Settle = func(ctx context.Context) error { return sleepFor(ctx, polite) }
		})
	},
	"system": func(polite bool) *lab {
		return newLab(nil, func(o *agent.Options) {
			o.System = func(ctx context.Context) string { _ = sleepFor(ctx, polite); return "" }
		})
	},
	"provider": func(polite bool) *lab {
		return newLab(nil, func(o *agent.Options) {
			o.Provider = streamFunc(func(ctx context.Context, sink provider.Sink) {
				sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
				sink(provider.Event{Kind: provider.Delta, Data: []byte("half an ")})
				if sleepFor(ctx, polite) != nil {
					return
				}
				sink(provider.Event{Kind: provider.Delta, Data: []byte("answer")})
			})
		})
	},
	"silent provider": func(polite bool) *lab {
		return newLab(nil, func(o *agent.Options) {
			o.Provider = streamFunc(func(ctx context.Context, _ provider.Sink) { _ = sleepFor(ctx, polite) })
		})
	},
	"tool": func(polite bool) *lab {
		l := newLab([]spec.Step{calls(call("slow", "{}"), call("single", "{}"))}, nil)
		l.tool(spec.Tool{Name: "slow", Execute: func(ctx context.Context, _ spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{}, sleepFor(ctx, polite)
		}})
		l.tool(spec.Tool{Name: "single", Sequential: true, Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "ran"}, nil
		}})
		return l
	},
	"parallel tools": func(polite bool) *lab {
		l := newLab([]spec.Step{calls(call("slow", "{}"), call("quick", "{}"), call("slow", "{}"))}, nil)
		l.tool(spec.Tool{Name: "slow", Execute: func(ctx context.Context, _ spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{}, sleepFor(ctx, polite)
		}})
		l.tool(spec.Tool{Name: "quick", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "ran"}, nil
		}})
		return l
	},
	"guard": func(bool) *lab {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`), call("echo", `{"text":"b"}`))}, nil)
		l.tool(echo("echo"))
		listen(l, "guard", event.ToolCall, func(ctx context.Context, _ *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
			return nil, sleepFor(ctx, true)
		})
		return l
	},
	"barrier": func(bool) *lab {
		l := newLab([]spec.Step{say("fine")}, nil)
		l.bus.Barrier = func(ctx context.Context) error { return sleepFor(ctx, true) }
		return l
	},
	"request": func(bool) *lab {
		l := newLab([]spec.Step{say("fine")}, nil)
		listen(l, "slow", event.Request, func(ctx context.Context, _ *event.RequestEvent) (*event.RequestAnswer, error) {
			return nil, sleepFor(ctx, true)
		})
		return l
	},
	"hold": func(bool) *lab {
		l := newLab([]spec.Step{say("fine")}, nil)
		listen(l, "holder", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
			_, err := e.Run.Hold(time.Hour)
			return nil, err
		})
		return l
	},
	"provider error": func(polite bool) *lab {
		l := newLab(nil, func(o *agent.Options) { o.Provider = failing(busy) })
		listen(l, "slow", event.ProviderError, func(ctx context.Context, _ *event.ProviderErrorEvent) (*event.ProviderErrorAnswer, error) {
			return nil, sleepFor(ctx, polite)
		})
		return l
	},
	"retry": func(bool) *lab {
		wait := 3_600_000
		l := newLab(nil, func(o *agent.Options) { o.Provider = failing(busy) })
		listen(l, "patient", event.ProviderError, func(context.Context, *event.ProviderErrorEvent) (*event.ProviderErrorAnswer, error) {
			return &event.ProviderErrorAnswer{WaitMS: &wait}, nil
		})
		return l
	},
	"route": func(polite bool) *lab {
		l := newLab([]spec.Step{say("fine")}, func(o *agent.Options) {
			o.Models = func(ctx context.Context, _ string) (provider.Provider, string, error) {
				return nil, "", sleepFor(ctx, polite)
			}
		})
		shape(l, "router", event.RequestAnswer{Model: "slow"})
		return l
	},
	"script": func(bool) *lab { return newLab([]spec.Step{{Text: "half an answer", DelayMS: 900}}, nil) },
}

// A run ends within 100 ms of its cancel wherever it waits and whoever does not
// listen, keeps what there is, and leaves a transcript the next request can use.
func TestCancelInEveryWait(t *testing.T) {
	for name, prepare := range waits {
		for _, polite := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s polite=%v", name, polite), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := prepare(polite)
					out := logAll(l)
					ctx, cancel := context.WithCancelCause(t.Context())
					why := errors.New("somebody pressed Esc")
					time.AfterFunc(time.Second, func() { cancel(why) })
					began := time.Now()
					o := l.agent.Run(ctx, "go")
					if took := time.Since(began); took < time.Second || took > 1100*time.Millisecond {
						t.Errorf("ended after %v", took)
					}
					if o.Stop != agent.StopAborted || o.StopWhy != why.Error() || o.Err != nil {
						t.Errorf("%+v", o)
					}
					afterCancel(t, l, out)
					if len(l.failures) > 1 {
						t.Errorf("listeners were counted as broken: %v", l.failures)
					}
					time.Sleep(2 * time.Hour) // whoever was left behind ends
					synctest.Wait()
				})
			})
		}
	}
}

func afterCancel(t *testing.T, l *lab, out *log) {
	t.Helper()
	messages := l.agent.Transcript()
	events := out.String()
	if len(messages) == 0 {
		if strings.Contains(events, "run-start") {
			t.Errorf("a run that began left no prompt\n%s", events)
		}
		return
	}
	if strings.Count(events, "run-end aborted") != 1 || !strings.Contains(events, "turn-end aborted") &&
		!strings.Contains(events, "turn-end tool_calls") {
		t.Errorf("the end is not announced\n%s", events)
	}
	last := messages[len(messages)-1]
	if last.Role == chat.Assistant && (last.Stop != chat.StopAborted || last.Error == "" || last.Text() != "half " && last.Text() != "half an ") {
		t.Errorf("the partial reply is not kept and marked: %+v", last)
	}
	asked, answered := 0, 0
	for _, m := range messages {
		asked += len(m.Calls())
	}
	for _, r := range results(messages) {
		answered++
		if !strings.Contains(r, "! ") && r != "quick: ran" || strings.HasPrefix(r, "! ") && !strings.Contains(r, "interrupted: the run was cancelled") {
			t.Errorf("result %q", r)
		}
	}
	if asked != answered || strings.Count(events, "tool-result") != answered {
		t.Errorf("%d calls, %d results\n%s", asked, answered, events)
	}
}

// A run whose context is over before it begins sends nothing.
func TestCancelledBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLab([]spec.Step{say("never")}, nil)
	out := logAll(l)
	if o := l.agent.Run(ctx, "go"); o.Stop != agent.StopAborted || len(l.requests) != 0 || out.String() != "" {
		t.Errorf("%+v\n%s", o, out)
	}
}

// After a cancel the next prompt is answered as if nothing had been.
func TestPromptAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab([]spec.Step{
			{Text: "first half and second half", Calls: []spec.StepCall{call("echo", `{"text":"a"}`)}, DelayMS: 300},
			say("fine"),
		}, nil)
		l.tool(echo("echo"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := l.agent.Run(ctx, "go")
		if o.Stop != agent.StopLimit || o.StopWhy != "the time for the run is over" || o.Text != "first half and " {
			t.Errorf("%+v", o)
		}
		if o := l.agent.Run(t.Context(), "on"); o.Stop != agent.StopEnd || o.Text != "fine" {
			t.Errorf("%+v", o)
		}
		if bad := validRequest(l.requests[1]); bad != "" {
			t.Error(bad)
		}
		if got := roles(l.requests[1].Messages); got != "user go\nassistant first half and \nuser on" {
			t.Errorf("sent\n%s", got)
		}
	})
}

// A plugin cancels through its handle; the stop text carries who and why.
func TestCancelThroughTheHandle(t *testing.T) {
	for name, where := range map[string]func(l *lab, cancel func(event.Run)){
		"run-start":  func(l *lab, c func(event.Run)) { watch(l, event.RunStart, func(e *event.RunStartEvent) { c(e.Run) }) },
		"turn-start": func(l *lab, c func(event.Run)) { watch(l, event.TurnStart, func(e *event.TurnStartEvent) { c(e.Run) }) },
		"delta": func(l *lab, c func(event.Run)) {
			watch(l, event.Stream, func(e *event.StreamEvent) {
				if e.Kind == "delta" {
					c(l.agent.CurrentRun())
				}
			})
		},
		"message": func(l *lab, c func(event.Run)) { watch(l, event.Message, func(e *event.MessageEvent) { c(e.Run) }) },
		"tool-call": func(l *lab, c func(event.Run)) {
			watch(l, event.ToolCall, func(*event.ToolCallEvent) { c(l.agent.CurrentRun()) })
		},
		"tool-result": func(l *lab, c func(event.Run)) {
			watch(l, event.ToolResult, func(*event.ToolResultEvent) { c(l.agent.CurrentRun()) })
		},
		"turn-end": func(l *lab, c func(event.Run)) { watch(l, event.TurnEnd, func(e *event.TurnEndEvent) { c(e.Run) }) },
	} {
		l := newLab([]spec.Step{{Text: "I look.", Calls: []spec.StepCall{call("echo", `{"text":"a"}`)}}, say("never")}, nil)
		l.tool(echo("echo"))
		where(l, func(run event.Run) {
			if err := run.(event.Attributed).As(bus.Owner{Name: "watchdog"}).Cancel("off the rails"); err != nil || !run.Cancelled() {
				t.Errorf("%s: %v", name, err)
			}
		})
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopAborted || o.StopWhy != "cancelled by watchdog: off the rails" || o.Denied != 0 {
			t.Errorf("%s: %+v", name, o)
		}
		if len(l.requests) > 1 {
			t.Errorf("%s: %d requests", name, len(l.requests))
		}
	}
}

// A listener that hangs in a token event does not hold up the cancel.
func TestStuckTokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab([]spec.Step{say("one two three")}, nil)
		watch(l, event.Stream, func(e *event.StreamEvent) {
			if e.Kind == "delta" && e.Text == "two " {
				time.Sleep(time.Hour)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		o := l.agent.Run(ctx, "go")
		if took := time.Since(began); took > 1100*time.Millisecond || o.Stop != agent.StopAborted || o.Text != "one two " {
			t.Errorf("after %v: %+v", took, o)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
	})
}

// What is told after a cancel reaches listeners under a living context: a bridge
// that looks at it first would otherwise count them as broken.
func TestListenersAfterACancel(t *testing.T) {
	l := newLab(nil, func(o *agent.Options) {
		o.Provider = streamFunc(func(ctx context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("a")})
			<-ctx.Done() // cancelled by the listener of the first delta
			sink(provider.Event{Kind: provider.Delta, Data: []byte("b")})
		})
	})
	heard := ""
	alive := func(ctx context.Context, what string) {
		heard += what + " "
		if ctx.Err() != nil {
			t.Errorf("%s came under a context that is over", what)
		}
	}
	listen(l, "x", event.Stream, func(ctx context.Context, e *event.StreamEvent) (*bus.None, error) {
		alive(ctx, e.Kind+e.Text)
		if e.Kind == "delta" {
			return nil, l.agent.CurrentRun().Cancel("enough")
		}
		return nil, nil
	})
	listen(l, "x", event.Message, func(ctx context.Context, e *event.MessageEvent) (*bus.None, error) {
		alive(ctx, "message:"+e.Text)
		return nil, nil
	})
	listen(l, "x", event.TurnEnd, func(ctx context.Context, _ *event.TurnEndEvent) (*event.TurnEndAnswer, error) {
		alive(ctx, "turn-end")
		return nil, nil
	})
	listen(l, "x", event.RunEnd, func(ctx context.Context, _ *event.RunEndEvent) (*bus.None, error) {
		alive(ctx, "run-end")
		return nil, nil
	})
	l.agent.Run(t.Context(), "go")
	if want := "start block_start deltaa errorcancelled: enough message:ab turn-end run-end "; heard != want {
		t.Errorf("heard %q\nwant  %q", heard, want)
	}
}
