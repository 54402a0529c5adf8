package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"starling/agent"
	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// The system prompt is composed anew only when its listeners changed or the host
// says so, else it is the same byte for byte.
func TestSystemPromptIsKept(t *testing.T) {
	composed := 0
	l := newLab(repeat(20, say("fine")), nil)
	port := bus.PortOf(l.bus, event.SystemPrompt)
	l.options.System = func(ctx context.Context) string {
		composed++
		e := event.SystemPromptEvent{Text: fmt.Sprintf("base %d", composed)}
		port.Send(ctx, &e)
		return e.Text
	}
	l.agent = agent.New(l.options)
	more := func(text string) (leave func()) {
		return listen(l, "p", event.SystemPrompt, func(context.Context, *event.SystemPromptEvent) (*event.SystemPromptAnswer, error) {
			return &event.SystemPromptAnswer{Append: text}, nil
		})
	}
	var leave func()
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "base 1"},
		{func() {}, "base 1"},
		{func() { leave = more("one") }, "base 2\n\none"},
		{func() {}, "base 2\n\none"},
		{func() { leave(); leave = more("two") }, "base 3\n\ntwo"},
		{func() { leave() }, "base 4"},
		{func() {}, "base 4"},
		{func() { l.agent.Recompose() }, "base 5"},
		{func() { l.tool(echo("echo")) }, "base 5"},
	} {
		step.do()
		l.agent.Run(t.Context(), "go")
		if got := l.requests[i].System; got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

// A system prompt that was not finished is not kept.
func TestSystemPromptThatWasCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	l := newLab([]spec.Step{say("fine")}, func(o *agent.Options) {
		o.System = func(context.Context) string {
			if n++; n == 1 {
				cancel()
				return "half"
			}
			if n == 2 {
				panic("odd")
			}
			return "whole"
		}
	})
	if o := l.agent.Run(ctx, "go"); o.Stop != agent.StopAborted {
		t.Errorf("%+v", o)
	}
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopError {
		t.Errorf("%+v", o)
	}
	l.agent.Run(t.Context(), "go")
	if len(l.requests) != 1 || l.requests[0].System != "whole" {
		t.Errorf("requests %+v", l.requests)
	}
}

// A request that breaks the prefix of the one before is told with the plugin and
// the field, once; what only grows or changes at the end is not.
func TestBrokenPrefix(t *testing.T) {
	user := func(s string) []chat.Message { return []chat.Message{chat.TextMessage(chat.User, s)} }
	turn := func(e *event.RequestEvent) string { return fmt.Sprint("turn ", e.Turn) }
	for name, c := range map[string]struct {
		answer func(e *event.RequestEvent) event.RequestAnswer
		want   string // the field; empty for no notice
	}{
		"nothing": {func(*event.RequestEvent) event.RequestAnswer { return event.RequestAnswer{} }, ""},
		"suffix":  {func(e *event.RequestEvent) event.RequestAnswer { return event.RequestAnswer{Suffix: ptr(turn(e))} }, ""},
		"allow":   {func(e *event.RequestEvent) event.RequestAnswer { return event.RequestAnswer{AllowSet: e.Turn > 1} }, ""},
		"system":  {func(e *event.RequestEvent) event.RequestAnswer { return event.RequestAnswer{System: ptr(turn(e))} }, "system"},
		"the same": {func(*event.RequestEvent) event.RequestAnswer {
			return event.RequestAnswer{System: ptr("s"), Prefix: user("p"), PromptPrefix: ptr("pp"), Exclude: []string{"b"}}
		}, ""},
		"prefix": {func(e *event.RequestEvent) event.RequestAnswer { return event.RequestAnswer{Prefix: user(turn(e))} }, "prefix"},
		"prompt prefix": {func(e *event.RequestEvent) event.RequestAnswer {
			return event.RequestAnswer{PromptPrefix: ptr(turn(e))}
		}, "prompt_prefix"},
		"one that left": {func(e *event.RequestEvent) event.RequestAnswer {
			if e.Turn == 0 {
				return event.RequestAnswer{PromptPrefix: ptr("once")}
			}
			return event.RequestAnswer{}
		}, "prompt_prefix"},
		"tools": {func(e *event.RequestEvent) event.RequestAnswer {
			if e.Turn == 1 {
				return event.RequestAnswer{Exclude: []string{"b"}}
			}
			return event.RequestAnswer{}
		}, "exclude_tools"},
		"messages": {func(e *event.RequestEvent) event.RequestAnswer {
			list := e.Messages()
			return event.RequestAnswer{Messages: append(user(turn(e)), list[1:]...)}
		}, "messages"},
		"the last message": {func(e *event.RequestEvent) event.RequestAnswer {
			return event.RequestAnswer{Messages: append(e.Messages(), user(turn(e))...)}
		}, ""},
		"a route": {func(e *event.RequestEvent) event.RequestAnswer {
			return event.RequestAnswer{Model: []string{"a", "b"}[e.Turn%2], System: ptr(fmt.Sprint(e.Turn % 2))}
		}, ""},
	} {
		use := calls(call("a", "{}"))
		l := newLab(append(repeat(3, use), say("fine")), nil)
		l.options.Models = func(_ context.Context, name string) (provider.Provider, string, error) {
			return l.options.Provider, name, nil
		}
		l.agent = agent.New(l.options)
		for _, name := range []string{"a", "b"} {
			l.tool(spec.Tool{Name: name, Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
				return spec.ToolResult{Content: "ran"}, nil
			}})
		}
		listen(l, "shaper", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
			a := c.answer(e)
			return &a, nil
		})
		out := logAll(l)
		if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || len(l.requests) != 4 {
			t.Errorf("%s: %+v", name, o)
		}
		got := ""
		for line := range strings.Lines(out.String()) {
			if rest, ok := strings.CutPrefix(line, "notice "); ok {
				got += rest
			}
		}
		want := ""
		if c.want != "" {
			want = c.want + " of shaper changed the beginning of the request: the model server cannot use what it has cached of the one before\n"
		}
		if got != want {
			t.Errorf("%s: told %q, want %q", name, got, want)
		}
	}
}

// history "run" breaks the prefix at the next run.
func TestHistoryBreaksThePrefix(t *testing.T) {
	l := newLab(nil, func(o *agent.Options) { o.Provider = scripted.New(repeat(9, say("fine")), scripted.Clock) })
	l.agent.Run(t.Context(), "one")
	l.agent.Run(t.Context(), "two")
	shape(l, "short", event.RequestAnswer{History: "run"})
	out := logAll(l)
	l.agent.Run(t.Context(), "three")
	if strings.Count(out.String(), "notice history of short changed the beginning") != 1 {
		t.Errorf("events\n%s", out)
	}
}
