package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"starling/agent"
	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// The order of events and every field of their payloads, for a run with a call
// that runs, one that is unknown, one with bad arguments and a final answer.
// UPDATE_GOLDEN=1 writes the file anew.
func TestEventOrder(t *testing.T) {
	shout := echo("shout")
	shout.Execute = func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		c.Progress("HO")
		c.Progress("")
		return spec.ToolResult{Content: "HO", Details: json.RawMessage(`{"n":1}`)}, nil
	}
	l := newLab([]spec.Step{
		{Thinking: "hm", Text: "I look.", Calls: []spec.StepCall{
			call("shout", `{"text":"ho"}`), call("absent", `{"a":1}`), call("shout", `{"txt":1}`),
		}},
		say("all done"),
	}, func(o *agent.Options) { o.System = func(context.Context) string { return "be brief" } })
	l.tool(shout)
	out := logAll(l)
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopEnd || o.Text != "all done" || o.Turns != 2 || o.Err != nil || o.Denied != 0 || o.StopWhy != "" {
		t.Errorf("outcome %+v", o)
	}
	golden(t, "testdata/events.golden", out.String()+"\n")
	if l.agent.CurrentRun() != nil {
		t.Error("there is a current run after its end")
	}
	for _, req := range l.requests {
		if req.System != "be brief" || req.Model != "script:test" || len(req.Tools) != 1 {
			t.Errorf("request %+v", req)
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

func TestPromptListeners(t *testing.T) {
	l := newLab([]spec.Step{say("one"), say("two")}, nil)
	var firsts []bool
	watch(l, event.Prompt, func(e *event.PromptEvent) { firsts = append(firsts, e.First) })
	leave := listen(l, "house", event.Prompt, func(_ context.Context, e *event.PromptEvent) (*event.PromptAnswer, error) {
		if strings.Contains(e.Text, "secret") {
			return &event.PromptAnswer{Reject: &bus.Refusal{Why: "no secrets"}}, nil
		}
		text := e.Text + ", please"
		return &event.PromptAnswer{Text: &text}, nil
	})
	out := logAll(l)
	if o := l.agent.Run(t.Context(), "tell the secret"); o.Stop != agent.StopRejected || o.StopWhy != "house: no secrets" || o.Turns != 0 || o.Err != nil {
		t.Errorf("rejected: %+v", o)
	}
	if len(l.agent.Transcript()) != 0 || len(l.requests) != 0 || strings.Contains(out.String(), "run-") {
		t.Errorf("a rejected prompt left a trace: %v\n%s", l.agent.Transcript(), out)
	}
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd {
		t.Errorf("second: %+v", o)
	}
	leave()
	l.agent.Run(t.Context(), "on")
	if got := roles(l.agent.Transcript()); got != "user go, please\nassistant one\nuser on\nassistant two" {
		t.Errorf("transcript:\n%s", got)
	}
	if fmt.Sprint(firsts) != "[true true false]" {
		t.Errorf("first: %v", firsts)
	}
}

func TestRunsThatDoNotStart(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		change func(*agent.Options)
		prompt string
		want   string
	}{
		"an empty prompt": {nil, " \n", "the prompt is empty"},
		"no model":        {func(o *agent.Options) { o.Provider = nil }, "go", "no model"},
		"no settle":       {func(o *agent.Options) { o.Settle = func(context.Context) error { return boom } }, "go", "did not settle: boom"},
		"a panic of settle": {
			func(o *agent.Options) { o.Settle = func(context.Context) error { panic("odd") } }, "go", "did not settle: panic: odd",
		},
		"a panic of system": {
			func(o *agent.Options) { o.System = func(context.Context) string { panic("odd") } }, "go", "composed: panic: odd",
		},
	} {
		l := newLab([]spec.Step{say("x")}, c.change)
		o := l.agent.Run(t.Context(), c.prompt)
		if o.Stop != agent.StopError || o.Err == nil || !strings.Contains(o.Err.Error(), c.want) || o.StopWhy != o.Err.Error() {
			t.Errorf("%s: %+v", name, o)
		}
		if len(l.requests) != 0 || len(l.agent.Transcript()) != 0 || l.agent.CurrentRun() != nil {
			t.Errorf("%s: something was sent or appended", name)
		}
	}
	if o := agent.New(agent.Options{}).Run(t.Context(), "go"); o.Stop != agent.StopError {
		t.Errorf("without any option: %+v", o)
	}
}

func TestOneRunAtATime(t *testing.T) {
	l := newLab([]spec.Step{calls(call("wait", "{}")), say("fine")}, nil)
	entered, release := make(chan struct{}), make(chan struct{})
	l.tool(spec.Tool{Name: "wait", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		close(entered)
		<-release
		return spec.ToolResult{}, nil
	}})
	first := make(chan agent.Outcome, 1)
	go func() { first <- l.agent.Run(context.WithoutCancel(t.Context()), "one") }()
	within(t, entered, "the call")
	if run := l.agent.CurrentRun(); run == nil || run.Task() != "one" || run.Turn() != 0 {
		t.Errorf("current run %v", run)
	}
	if o := l.agent.Run(t.Context(), "two"); o.Stop != agent.StopError || !strings.Contains(o.Err.Error(), "still going") {
		t.Errorf("second: %+v", o)
	}
	close(release)
	if o := <-first; o.Stop != agent.StopEnd {
		t.Errorf("first: %+v", o)
	}
	if got := results(l.agent.Transcript()); fmt.Sprint(got) != "[wait: [no output]]" {
		t.Errorf("results %q", got)
	}
}

// A reply that fails keeps what had arrived, marked, and the next prompt works.
func TestFailedTurns(t *testing.T) {
	for name, c := range map[string]struct {
		p    provider.Provider
		want string
	}{
		"cut": {streamFunc(func(_ context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("half")})
		}), provider.ErrCut.Error()},
		"failed": {streamFunc(func(_ context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("half")})
			sink(provider.Event{Kind: provider.Failed, Err: errors.New("overloaded")})
		}), "overloaded"},
		"panic": {streamFunc(func(_ context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("half")})
			panic("odd")
		}), "the provider failed: panic: odd"},
	} {
		l := newLab(nil, func(o *agent.Options) { o.Provider = c.p })
		out := logAll(l)
		for range 2 { // the second prompt must not find the first in its way
			o := l.agent.Run(t.Context(), "go")
			if o.Stop != agent.StopError || o.Err == nil || o.Err.Error() != c.want || o.Text != "half" || o.Turns != 1 {
				t.Errorf("%s: %+v", name, o)
			}
		}
		m := l.agent.Transcript()[1]
		if m.Text() != "half" || m.Stop != chat.StopError || m.Error != c.want {
			t.Errorf("%s: the partial text is not kept and marked: %+v", name, m)
		}
		for _, want := range []string{
			fmt.Sprintf("event error turn=0 index=0 block= text=%q stop=error", c.want),
			fmt.Sprintf("turn-end error calls=0 usage=false error=%q turn=0", c.want),
			fmt.Sprintf("run-end error turns=1 usage=false error=%q success=false", c.want),
		} {
			if strings.Count(out.String(), want) != 2 {
				t.Errorf("%s: no %s in\n%s", name, want, out)
			}
		}
	}
}

// A whole call of a failed reply does not run; half a call is left out.
func TestCallsOfAFailedReply(t *testing.T) {
	l := newLab([]spec.Step{{Text: "x", Calls: []spec.StepCall{call("echo", `{"text":"a"}`)}, Error: "overloaded"}, say("fine")}, nil)
	ran := false
	tool := echo("echo")
	tool.Execute = func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		ran = true
		return spec.ToolResult{}, nil
	}
	l.tool(tool)
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopError || ran {
		t.Errorf("%+v, ran %v", o, ran)
	}
	if got := results(l.agent.Transcript()); len(got) != 1 || !strings.HasPrefix(got[0], "! echo: not run") {
		t.Errorf("results %q", got)
	}
	if o := l.agent.Run(t.Context(), "again"); o.Stop != agent.StopEnd {
		t.Errorf("next prompt: %+v", o)
	}
	if bad := validRequest(l.requests[1]); bad != "" {
		t.Error(bad)
	}
}

// A provider that ignores its end, or that goes on behind it, holds up nobody.
func TestProviderThatDoesNotReturn(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	l := newLab(nil, func(o *agent.Options) {
		o.Provider = streamFunc(func(_ context.Context, sink provider.Sink) {
			sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			sink(provider.Event{Kind: provider.Delta, Data: []byte("whole")})
			sink(provider.Event{Kind: provider.BlockEnd})
			sink(provider.Event{Kind: provider.Done})
			sink(provider.Event{Kind: provider.BlockStart, Index: 1, Block: chat.Text})
			<-stuck
		})
	})
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || o.Text != "whole" {
		t.Errorf("%+v", o)
	}
}

type streamFunc func(context.Context, provider.Sink)

func (f streamFunc) Stream(ctx context.Context, _ provider.Request, sink provider.Sink) { f(ctx, sink) }

func TestTurnLimit(t *testing.T) {
	l := newLab(repeat(5, calls(call("echo", `{"text":"a"}`))), func(o *agent.Options) { o.MaxTurns = 3 })
	l.tool(echo("echo"))
	out := logAll(l)
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopLimit || o.Turns != 3 || !strings.Contains(o.StopWhy, "3 turns") || o.Err != nil {
		t.Errorf("%+v", o)
	}
	if len(l.requests) != 3 || o.StopWhy != "the run reached its limit of 3 turns" || strings.Contains(out.String(), "notice") {
		t.Errorf("%d requests\n%s", len(l.requests), out)
	}
	l = newLab(repeat(70, calls(call("echo", `{"text":"a"}`))), nil)
	if o := l.agent.Run(t.Context(), "go"); o.Turns != agent.DefaultMaxTurns || o.Stop != agent.StopLimit {
		t.Errorf("default: %+v", o)
	}
}

func TestTookIsMeasuredByTheClockGiven(t *testing.T) {
	now := time.Unix(0, 0)
	l := newLab([]spec.Step{say("x")}, func(o *agent.Options) {
		o.Now = func() time.Time { now = now.Add(time.Minute); return now }
	})
	if o := l.agent.Run(t.Context(), "go"); o.Took != time.Minute {
		t.Errorf("took %v", o.Took)
	}
}

// The tool list is read afresh each turn, and a tool that left is unknown.
func TestToolsComeAndGo(t *testing.T) {
	l := newLab([]spec.Step{calls(call("swap", "{}")), calls(call("swap", "{}"), call("late", `{"text":"hi"}`)), say("done")}, nil)
	var leave func()
	leave = l.tool(spec.Tool{Name: "swap", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		leave()
		l.tool(echo("late"))
		return spec.ToolResult{Content: "swapped"}, nil
	}})
	l.agent.Run(t.Context(), "go")
	want := []string{"swap: swapped", `! swap: there is no tool "swap"; tools: late`, "late: hi"}
	if d := cmp.Diff(want, results(l.agent.Transcript())); d != "" {
		t.Error(d)
	}
	if n := l.requests[1].Tools; len(n) != 1 || n[0].Name != "late" {
		t.Errorf("second request offers %v", n)
	}
}

// A run that ended well but whose answer lacks something says so: an empty stdout
// with status 0 explains nothing.
func TestAnswerThatLacksSomething(t *testing.T) {
	for _, c := range []struct {
		text string
		stop chat.StopReason
		want string
	}{
		{"half", chat.StopLength, "notice the answer is cut: the model reached its output limit"},
		{"half", chat.StopFilter, "notice the answer is cut: the content filter"},
		{" \n", chat.StopEnd, "notice the model ended without an answer"},
		{"", chat.StopEnd, "notice the model ended without an answer"},
		{"whole", chat.StopEnd, ""},
		{"I will not", chat.StopRefusal, ""},
	} {
		l := newLab(nil, func(o *agent.Options) {
			o.Provider = streamFunc(func(_ context.Context, sink provider.Sink) {
				sink(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
				sink(provider.Event{Kind: provider.Delta, Data: []byte(c.text)})
				sink(provider.Event{Kind: provider.Done, Stop: c.stop})
			})
		})
		out := logAll(l)
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopEnd || o.Text != c.text || !strings.Contains(out.String(), c.want) || c.want == "" && strings.Contains(out.String(), "notice ") {
			t.Errorf("%q, %s: %+v\n%s", c.text, c.stop, o, out)
		}
	}
}

// A fault of the host itself, in the middle of a batch, ends the run with a
// whole outcome and a whole transcript.
func TestFaultOfTheHost(t *testing.T) {
	for _, topic := range []string{"agent/prompt", "agent/tool-call", "agent/turn-end"} {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
		l.tool(echo("echo"))
		fault := true
		l.bus.Gate = func(name string) *bus.Refusal {
			if fault && name == topic {
				panic("odd")
			}
			return nil
		}
		out := logAll(l)
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopError || o.Err == nil || o.Err.Error() != "agent: panic: odd" {
			t.Errorf("%s: %+v", topic, o)
		}
		begun := topic != "agent/prompt"
		if strings.Contains(out.String(), "run-end error") != begun || l.agent.CurrentRun() != nil {
			t.Errorf("%s: events\n%s", topic, out)
		}
		if got := len(results(l.agent.Transcript())); begun && got != 1 {
			t.Errorf("%s: %d results", topic, got)
		}
		fault = false
		if !begun {
			continue
		}
		if o := l.agent.Run(t.Context(), "on"); o.Stop != agent.StopEnd {
			t.Errorf("%s: the next prompt: %+v", topic, o)
		}
	}
}
