package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"starling/agent"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

func texts(messages []chat.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s:%s ", m.Role, m.Text())
	}
	return strings.TrimSpace(b.String())
}

// A note stands in the conversation and the record, and nobody is asked for an
// answer: between runs at once, in a run where a message may stand.
func TestNote(t *testing.T) {
	var record []chat.Message
	l := newLab([]spec.Step{calls(call("echo", `{"text":"x"}`)), say("one"), say("two")}, nil)
	l.options.Appended = func(m ...chat.Message) error { record = append(record, m...); return nil }
	l.agent = agent.New(l.options)
	l.tool(echo("echo"))
	if err := l.agent.Note(" \n"); err == nil {
		t.Error("an empty note was taken")
	}
	if err := l.agent.Note("before"); err != nil {
		t.Fatal(err)
	}
	if got := texts(l.agent.Transcript()); got != "user:before" {
		t.Errorf("between runs: %s", got)
	}
	watch(l, event.ToolCall, func(*event.ToolCallEvent) { _ = l.agent.Note("within") })
	watch(l, event.RunEnd, func(*event.RunEndEvent) { _ = l.agent.Note("late") })
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopEnd || o.Turns != 2 {
		t.Errorf("%+v", o)
	}
	want := "user:before user:go assistant: tool: user:within assistant:one user:late"
	if got := texts(l.agent.Transcript()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if texts(record) != texts(l.agent.Transcript()) {
		t.Errorf("recorded %s", texts(record))
	}
}

// Notes from many goroutines beside runs are all there once, and a run that begins
// while one is written is not refused.
func TestNotesBesideRuns(t *testing.T) {
	const notes, runs = 40, 10
	var steps []spec.Step
	for range runs {
		steps = append(steps, say("fine"))
	}
	l := newLab(steps, nil)
	var all sync.WaitGroup
	for i := range notes {
		all.Go(func() { _ = l.agent.Note(fmt.Sprintf("<%d>", i)) })
	}
	for range runs {
		if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd {
			t.Errorf("%+v", o)
		}
	}
	all.Wait()
	got := texts(l.agent.Transcript())
	for i := range notes {
		if n := strings.Count(got, fmt.Sprintf("<%d>", i)); n != 1 {
			t.Errorf("note %d stands %d times", i, n)
		}
	}
}

// Reset forgets one conversation and goes on with another; a run is not disturbed.
func TestReset(t *testing.T) {
	composed := 0
	l := newLab([]spec.Step{say("one"), say("two")}, nil)
	l.options.System = func(context.Context) string { composed++; return "system" }
	l.agent = agent.New(l.options)
	watch(l, event.RunStart, func(*event.RunStartEvent) {
		if err := l.agent.Reset(nil); !errors.Is(err, agent.ErrRunning) {
			t.Errorf("in a run: %v", err)
		}
	})
	l.agent.Run(t.Context(), "first")
	other := []chat.Message{chat.TextMessage(chat.User, "earlier"), chat.TextMessage(chat.Assistant, "answer")}
	before := l.agent.Tokens("")
	if err := l.agent.Reset(other); err != nil {
		t.Fatal(err)
	}
	if got := texts(l.agent.Transcript()); got != "user:earlier assistant:answer" {
		t.Errorf("after it: %s", got)
	}
	if got := l.agent.Tokens(""); got == before || got != len("earlieranswer")/4 {
		t.Errorf("%d tokens, were %d", got, before)
	}
	l.agent.Run(t.Context(), "next")
	if got := texts(l.requests[1].Messages); got != "user:earlier assistant:answer user:next" {
		t.Errorf("sent %s", got)
	}
	if composed != 2 {
		t.Errorf("the system prompt was composed %d times", composed)
	}
}

// Tokens is what agent/request tells of a request with everything in it.
func TestTokensAsInRequest(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"some text"}`)), say("a longer answer"), say("end")}, nil)
	l.options.System = func(context.Context) string { return "the system prompt" }
	l.agent = agent.New(l.options)
	l.tool(echo("echo"))
	asked := 0
	watch(l, event.Request, func(e *event.RequestEvent) {
		asked++
		if got := l.agent.Tokens("the system prompt"); got != e.Tokens {
			t.Errorf("request %d: %d tokens, the event says %d", asked, got, e.Tokens)
		}
	})
	l.agent.Run(t.Context(), "go")
	l.agent.Run(t.Context(), "once more")
	if asked != 3 {
		t.Errorf("%d requests", asked)
	}
}

// What the host presents stands in the details; nonsense and a panic leave them.
func TestPresent(t *testing.T) {
	for name, c := range map[string]struct {
		present func(context.Context, agent.Presented) json.RawMessage
		want    string
	}{
		"added": {func(_ context.Context, p agent.Presented) json.RawMessage {
			return json.RawMessage(`{"view":"` + p.Content + `"}`)
		}, `{"view":"x"}`},
		"nonsense": {func(context.Context, agent.Presented) json.RawMessage { return json.RawMessage(`{`) }, ``},
		"panic":    {func(context.Context, agent.Presented) json.RawMessage { panic("odd") }, ``},
	} {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"x"}`)), say("end")}, func(o *agent.Options) { o.Present = c.present })
		l.tool(echo("echo"))
		l.agent.Run(t.Context(), "go")
		if got := string(l.agent.Transcript()[2].Blocks[0].Details); got != c.want {
			t.Errorf("%s: details %s", name, got)
		}
	}
}

// What a person says while a run goes is answered by it, however late it comes and
// however often; afterwards it is refused, so that it can be sent as a prompt.
func TestSteer(t *testing.T) {
	var steps []spec.Step
	const more = agent.MaxForced + 4
	for range more + 1 {
		steps = append(steps, say("fine"))
	}
	l := newLab(steps, nil)
	if err := l.agent.Steer("nobody"); !errors.Is(err, agent.ErrNoRun) {
		t.Errorf("before a run: %v", err)
	}
	n := 0
	watch(l, event.TurnEnd, func(*event.TurnEndEvent) {
		if n++; n <= more {
			if err := l.agent.Steer(fmt.Sprintf("more %d", n)); err != nil {
				t.Error(err)
			}
		}
	})
	watch(l, event.RunEnd, func(*event.RunEndEvent) {
		if err := l.agent.Steer("late"); !errors.Is(err, agent.ErrNoRun) {
			t.Errorf("at the end: %v", err)
		}
	})
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopEnd || o.Turns != more+1 {
		t.Errorf("%+v", o)
	}
	if got := texts(l.agent.Transcript()); strings.Count(got, "user:more") != more || strings.Contains(got, "late") {
		t.Error(got)
	}
}

// However the moment falls, a message that was taken is answered.
func TestSteerAnyTime(t *testing.T) {
	for range 200 {
		var steps []spec.Step
		for range 3 {
			steps = append(steps, say("fine"))
		}
		l := newLab(steps, nil)
		n := 0
		var beside sync.WaitGroup
		watch(l, event.Message, func(*event.MessageEvent) {
			if n++; n <= 2 {
				beside.Go(func() { _ = l.agent.Steer("more") })
			}
		})
		o := l.agent.Run(t.Context(), "go")
		beside.Wait()
		got := texts(l.agent.Transcript())
		if o.Stop == agent.StopEnd && strings.HasSuffix(got, "user:more") {
			t.Fatalf("left unanswered: %s", got)
		}
	}
}
