package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

func shape(l *lab, name string, a event.RequestAnswer) (leave func()) {
	return listen(l, name, event.Request, func(context.Context, *event.RequestEvent) (*event.RequestAnswer, error) { return &a, nil })
}

func ptr[T any](v T) *T { return &v }

// Every field of agent/request changes the request, and nothing but it.
func TestRequestFields(t *testing.T) {
	l := newLab([]spec.Step{calls(call("a", "{}")), say("fine"), say("plain")}, nil)
	for _, name := range []string{"a", "b", "c"} {
		l.tool(spec.Tool{Name: name, Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "ran"}, nil
		}})
	}
	leave1 := shape(l, "p1", event.RequestAnswer{
		System: ptr("first"), Prefix: []chat.Message{chat.TextMessage(chat.User, "example?"), chat.TextMessage(chat.Assistant, "answer.")},
		Suffix: ptr("turn note"), PromptPrefix: ptr("overwritten"), Exclude: []string{"b"},
	})
	leave2 := shape(l, "p2", event.RequestAnswer{
		System: ptr("last"), Prefix: []chat.Message{chat.TextMessage(chat.User, " "), chat.TextMessage(chat.User, "more")},
		Suffix: ptr("and more"), PromptPrefix: ptr("house rules"), Exclude: []string{"c"},
	})
	l.agent.Run(t.Context(), "go")
	req := l.requests[1]
	if req.System != "last" || req.Suffix != "turn note\n\nand more" || len(req.Tools) != 1 || req.Tools[0].Name != "a" {
		t.Errorf("request %+v", req)
	}
	want := "user example?\nassistant answer.\nuser more\nuser house rules\n\ngo\nassistant [a]\ntool ran"
	if d := cmp.Diff(want, roles(req.Messages)); d != "" {
		t.Error(d)
	}
	leave1()
	leave2()
	if d := cmp.Diff("user go\nassistant [a]\ntool ran\nassistant fine", roles(l.agent.Transcript())); d != "" {
		t.Errorf("the transcript changed: %s", d)
	}
	l.agent.Run(t.Context(), "on")
	if got := roles(l.requests[2].Messages); got != "user go\nassistant [a]\ntool ran\nassistant fine\nuser on" || l.requests[2].Suffix != "" {
		t.Errorf("without listeners:\n%s", got)
	}
}

// A call outside allow_tools is offered but refused, and the model reads by
// whom; a call of an excluded tool too.
func TestPhases(t *testing.T) {
	l := newLab([]spec.Step{calls(call("a", "{}"), call("b", "{}"), call("c", "{}")), say("fine")}, nil)
	ran := ""
	for _, name := range []string{"a", "b", "c"} {
		l.tool(spec.Tool{Name: name, Sequential: true, Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			ran += name
			return spec.ToolResult{Content: "ran"}, nil
		}})
	}
	shape(l, "explore", event.RequestAnswer{Allow: []string{"a", "c"}, AllowSet: true})
	shape(l, "hide", event.RequestAnswer{Exclude: []string{"c"}})
	o := l.agent.Run(t.Context(), "go")
	want := []string{
		"a: ran",
		"! b: the tool b is not allowed in this phase (allow_tools of explore): use one of: a",
		"! c: the tool c is not offered in this turn (exclude_tools of hide): use one of: a",
	}
	if d := cmp.Diff(want, results(l.agent.Transcript())); d != "" || ran != "a" || o.Denied != 0 {
		t.Errorf("ran %q, denied %d, %s", ran, o.Denied, d)
	}
	offered := ""
	for _, tool := range l.requests[0].Tools {
		offered += tool.Name
	}
	if offered != "ab" {
		t.Errorf("offered %s", offered)
	}
}

func TestNoToolAllowed(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	shape(l, "plan", event.RequestAnswer{AllowSet: true})
	l.agent.Run(t.Context(), "go")
	if got := results(l.agent.Transcript()); !strings.HasSuffix(got[0], "use one of: none; answer in text") {
		t.Errorf("%q", got)
	}
}

// Inside agent/request only cancel acts; the same handle works afterwards.
func TestHandleInsideRequest(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	var kept event.Run
	var inside []error
	watch(l, event.Request, func(e *event.RequestEvent) {
		if kept == nil {
			kept = e.Run
			inside = append(inside, e.Run.Note("x"), e.Run.PushUser("x"), e.Run.(event.Attributed).As(bus.Owner{Name: "p"}).Note("x"))
		}
	})
	watch(l, event.Message, func(*event.MessageEvent) {
		if kept != nil {
			inside = append(inside, kept.Note("later"))
		}
	})
	l.agent.Run(t.Context(), "go")
	if fmt.Sprint(inside) != fmt.Sprint([]error{event.ErrNotHere, event.ErrNotHere, event.ErrNotHere, nil, nil}) {
		t.Errorf("answers %v", inside)
	}
	if got := roles(l.agent.Transcript()); got != "user go\nassistant [echo]\ntool a\nsystem later\nassistant fine\nsystem later" {
		t.Errorf("transcript\n%s", got)
	}
}

func TestCancelInsideRequest(t *testing.T) {
	l := newLab([]spec.Step{say("never")}, nil)
	watch(l, event.Request, func(e *event.RequestEvent) { _ = e.Run.Cancel("too dear") })
	out := logAll(l)
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != "aborted" || o.StopWhy != "cancelled: too dear" || o.Turns != 0 || len(l.requests) != 0 {
		t.Errorf("%+v", o)
	}
	if !strings.HasSuffix(out.String(), "turn-end aborted calls=0 usage=false error=\"\" turn=0\n"+
		"run-end aborted turns=0 usage=false error=\"\" success=false") {
		t.Errorf("events\n%s", out)
	}
}

// What a listener reads by messages() is what is sent, and its own to change.
func TestMessagesOfTheRequest(t *testing.T) {
	l := newLab([]spec.Step{say("fine"), say("fine")}, nil)
	var seen []chat.Message
	watch(l, event.Request, func(e *event.RequestEvent) {
		seen = e.Messages()
		seen[0] = chat.TextMessage(chat.User, "changed")
	})
	l.agent.Run(t.Context(), "one")
	l.agent.Run(t.Context(), "two")
	if got := roles(l.requests[1].Messages); got != "user one\nassistant fine\nuser two" {
		t.Errorf("sent\n%s", got)
	}
}
