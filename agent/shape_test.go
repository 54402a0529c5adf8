package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent"
	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// What is sent of the conversation, for one request; the transcript never
// changes by it.
func TestRequestMessages(t *testing.T) {
	user := func(s string) chat.Message { return chat.TextMessage(chat.User, s) }
	all := "user one\nassistant first\nuser two"
	for name, c := range map[string]struct {
		answers []event.RequestAnswer
		want    string
	}{
		"nothing":             {nil, all},
		"messages":            {[]event.RequestAnswer{{Messages: []chat.Message{user("short")}}}, "user short"},
		"the last of two":     {[]event.RequestAnswer{{Messages: []chat.Message{user("a")}}, {Messages: []chat.Message{user("b"), user("c")}}}, "user b\nuser c"},
		"none":                {[]event.RequestAnswer{{Messages: []chat.Message{}}}, all},
		"nothing that counts": {[]event.RequestAnswer{{Messages: []chat.Message{user(" ")}}}, all},
		"this run":            {[]event.RequestAnswer{{History: "run"}}, "user two"},
		"all":                 {[]event.RequestAnswer{{History: "run"}, {History: "all"}}, all},
		"with prefixes": {
			[]event.RequestAnswer{{Messages: []chat.Message{user("a")}}, {Prefix: []chat.Message{user("p")}, PromptPrefix: ptr("pp")}},
			"user p\nuser pp\n\na",
		},
		"this run with prefix": {[]event.RequestAnswer{{History: "run", PromptPrefix: ptr("pp")}}, "user pp\n\ntwo"},
	} {
		l := newLab([]spec.Step{say("first"), say("second")}, nil)
		l.agent.Run(t.Context(), "one")
		for i, a := range c.answers {
			shape(l, fmt.Sprintf("p%d", i), a)
		}
		if o := l.agent.Run(t.Context(), "two"); o.Text != "second" {
			t.Errorf("%s: %+v", name, o)
		}
		if got := roles(l.requests[1].Messages); got != c.want {
			t.Errorf("%s: sent\n%s", name, got)
		}
		if got := roles(l.agent.Transcript()); got != all+"\nassistant second" {
			t.Errorf("%s: the transcript is\n%s", name, got)
		}
	}
}

// A list that parts a call from its result does not count, and the plugin is named.
func TestRequestMessagesThatPartACall(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	listen(l, "cutter", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
		list := e.Messages()
		return &event.RequestAnswer{Messages: list[len(list)-1:], Suffix: ptr("s")}, nil
	})
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd {
		t.Errorf("%+v", o)
	}
	if got := roles(l.requests[1].Messages); got != "user go\nassistant [echo]\ntool a" || l.requests[1].Suffix != "" {
		t.Errorf("sent\n%s", got)
	}
	if len(l.failures) != 1 || l.failures[0].Owner.Name != "cutter" || !strings.Contains(l.failures[0].Err.Error(), "keep both or drop both") {
		t.Errorf("reported %v", l.failures)
	}
}

// then goes on after a reply of text alone, and only there.
func TestThen(t *testing.T) {
	l := newLab([]spec.Step{say("the plan"), calls(call("echo", `{"text":"a"}`)), say("done")}, nil)
	l.tool(echo("echo"))
	listen(l, "plan", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
		if e.Turn < 2 {
			return &event.RequestAnswer{Then: "Carry it out."}, nil
		}
		return nil, nil
	})
	listen(l, "short", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
		if e.Turn == 0 {
			return &event.RequestAnswer{Then: "Be short."}, nil
		}
		return nil, nil
	})
	o := l.agent.Run(t.Context(), "go")
	want := "user go\nassistant the plan\nuser Carry it out.\n\nBe short.\nassistant [echo]\ntool a\nassistant done"
	if d := cmp.Diff(want, roles(l.agent.Transcript())); d != "" || o.Stop != agent.StopEnd || o.Text != "done" {
		t.Errorf("%+v %s", o, d)
	}
}

// then counts against the cap, everybody who asked is named, and nothing is
// left behind that was never sent.
func TestThenIsCapped(t *testing.T) {
	l := newLab(repeat(50, say("done")), nil)
	shape(l, "nag", event.RequestAnswer{Then: "more"})
	shape(l, "push", event.RequestAnswer{Then: "and more"})
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopLimit || len(l.requests) != agent.MaxForced+1 || o.StopWhy != "nag, push asked to go on after 9 finished replies in one run" {
		t.Errorf("%d requests, %+v", len(l.requests), o)
	}
	if last := l.agent.Transcript(); last[len(last)-1].Role != chat.Assistant {
		t.Errorf("transcript\n%s", roles(last))
	}
}

func TestThenAndStop(t *testing.T) {
	l := newLab(repeat(5, say("done")), nil)
	shape(l, "nag", event.RequestAnswer{Then: "more"})
	listen(l, "house", event.TurnEnd, func(context.Context, *event.TurnEndEvent) (*event.TurnEndAnswer, error) {
		return &event.TurnEndAnswer{Stop: &bus.Refusal{Why: "enough"}}, nil
	})
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopStopped || roles(l.agent.Transcript()) != "user go\nassistant done" {
		t.Errorf("%+v\n%s", o, roles(l.agent.Transcript()))
	}
}

// Routing: the first model named counts, each is built once, an unknown one is
// told once a run and the default answers.
func TestRouting(t *testing.T) {
	var built []string
	l := newLab([]spec.Step{say("default"), say("default")}, nil)
	cheap := scripted.New(repeat(9, say("cheap")), scripted.Clock)
	l.options.Models = func(_ context.Context, name string) (provider.Provider, string, error) {
		built = append(built, name)
		switch name {
		case "cheap":
			return recording{l, cheap}, "openai/cheap", nil
		case "nil":
			return nil, "", nil
		}
		return nil, "", errors.New("no such model")
	}
	l.agent = agent.New(l.options)
	want := ""
	var models []string
	listen(l, "router", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
		a := &event.RequestAnswer{Model: want}
		if e.Turn < 2 {
			a.Then = "again"
		}
		return a, nil
	})
	leave := shape(l, "second", event.RequestAnswer{Model: "never"})
	watch(l, event.Message, func(e *event.MessageEvent) { models = append(models, e.Run.Model()) })
	out := logAll(l)
	run := func(model string) string {
		want, models = model, nil
		l.requests = nil
		o := l.agent.Run(t.Context(), "go")
		for i, req := range l.requests {
			if i >= len(models) || models[i] != req.Model {
				t.Errorf("%s: request %d went to %s, messages say %v", model, i, req.Model, models)
			}
		}
		return fmt.Sprintf("%s %d", o.Text, o.Turns)
	}
	if got := run("cheap"); got != "cheap 3" || l.requests[0].Model != "openai/cheap" || fmt.Sprint(built) != "[cheap]" {
		t.Errorf("%s, built %v", got, built)
	}
	leave()
	for _, name := range []string{"absent", "nil"} {
		listen(l, "once", event.TurnEnd, func(context.Context, *event.TurnEndEvent) (*event.TurnEndAnswer, error) {
			return &event.TurnEndAnswer{Stop: &bus.Refusal{Why: "x"}}, nil
		})
		if got := run(name); got != "default 1" || l.requests[0].Model != "script:test" {
			t.Errorf("%s: %s %s", name, got, l.requests[0].Model)
		}
	}
	if fmt.Sprint(built) != "[cheap absent nil]" {
		t.Errorf("built %v", built)
	}
	for _, want := range []string{
		`notice model of router: the model "absent" is not to be had, script:test answers instead: no such model`,
		`notice model of router: the model "nil" is not to be had, script:test answers instead: there is no such model`,
	} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Without a factory routing is ignored; a factory that fails is asked once a run.
func TestRoutingWithout(t *testing.T) {
	asked := 0
	for _, models := range []func(context.Context, string) (provider.Provider, string, error){
		nil, func(context.Context, string) (provider.Provider, string, error) { asked++; panic("odd") },
	} {
		l := newLab(repeat(9, say("default")), func(o *agent.Options) { o.Models = models })
		shape(l, "router", event.RequestAnswer{Model: "cheap", Then: "more"})
		out := logAll(l)
		o := l.agent.Run(t.Context(), "go")
		if o.Text != "default" || l.requests[8].Model != "script:test" || strings.Contains(out.String(), "not to be had") != (models != nil) {
			t.Errorf("%+v\n%s", o, out)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// What a person changes during a run is kept and applied at the next turn.
func TestModelChangedDuringARun(t *testing.T) {
	l := newLab([]spec.Step{calls(call("switch", "{}"))}, func(o *agent.Options) { o.Thinking = "low" })
	var names []string
	l.tool(spec.Tool{Name: "switch", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		l.agent.SetModel(recording{l, scripted.New(repeat(2, say("other")), scripted.Clock)}, "other")
		l.agent.SetThinking("high")
		names = append(names, l.agent.CurrentRun().Model())
		return spec.ToolResult{}, nil
	}})
	watch(l, event.Request, func(e *event.RequestEvent) { names = append(names, e.Model) })
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) { names = append(names, e.Run.Model()) })
	for _, prompt := range []string{"go", "on"} {
		if o := l.agent.Run(t.Context(), prompt); o.Text != "other" {
			t.Errorf("%s: %+v", prompt, o)
		}
	}
	if got := strings.Join(names, " "); got != "script:test script:test script:test other other other other" {
		t.Errorf("models %s", got)
	}
	var sent []string
	for _, req := range l.requests {
		sent = append(sent, req.Model+":"+req.Thinking)
	}
	if got := strings.Join(sent, " "); got != "script:test:low other:high other:high" {
		t.Errorf("sent %s", got)
	}
	if l.agent.Model() != "other" || l.agent.Thinking() != "high" {
		t.Errorf("kept %s %s", l.agent.Model(), l.agent.Thinking())
	}
}

func TestTail(t *testing.T) {
	read, write := echo("read"), echo("write")
	write.ReadOnly = false
	use := func(name string) spec.Step { return calls(call(name, `{"text":"a"}`)) }
	l := newLab([]spec.Step{
		use("read"), calls(call("read", `{"text":"a"}`), call("read", `{"txt":1}`)), use("write"), use("read"), use("absent"), use("read"), say("one"),
		use("read"), say("two"),
	}, nil)
	l.tool(read)
	l.tool(write)
	var tails []string
	watch(l, event.Request, func(e *event.RequestEvent) {
		tails = append(tails, fmt.Sprintf("%d trouble=%v first=%v steering=%v", e.Tail.Streak, e.Tail.Trouble, e.Tail.First, e.Tail.Steering))
	})
	watch(l, event.TurnStart, func(e *event.TurnStartEvent) {
		if e.Run.Turn() == 4 {
			_ = e.Run.PushUser("not like that")
		}
	})
	watch(l, event.RunStart, func(e *event.RunStartEvent) {
		if e.Run.Task() == "again" {
			_ = errors.Join(e.Run.Note("note"), e.Run.PushUser("and this"))
		}
	})
	l.agent.Run(t.Context(), "go")
	l.agent.Run(t.Context(), "again")
	want := []string{
		"0 trouble=false first=true steering=false",
		"1 trouble=false first=false steering=false",
		"2 trouble=true first=false steering=false",
		"0 trouble=false first=false steering=false",
		"1 trouble=false first=false steering=true",
		"0 trouble=true first=false steering=false",
		"1 trouble=false first=false steering=false",
		"0 trouble=false first=true steering=true",
		"1 trouble=false first=false steering=false",
	}
	if d := cmp.Diff(want, tails); d != "" {
		t.Error(d)
	}
}
