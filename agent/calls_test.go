package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent"
	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
)

func block(why string, stop bool) *event.ToolCallAnswer {
	return &event.ToolCallAnswer{Block: &bus.Refusal{Why: why, Stop: stop}}
}

func rewrite(arguments string) *event.ToolCallAnswer {
	return &event.ToolCallAnswer{Arguments: json.RawMessage(arguments)}
}

// H13, H14: a blocked call does not run; the model reads who and why, and what
// to do instead.
func TestBlockedCall(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"CHANGELOG.md"}`), call("echo", `{"text":"a"}`)), say("fine")}, nil)
	ran := []string{}
	tool := echo("echo")
	tool.Execute = func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		ran = append(ran, string(c.Arguments))
		return spec.ToolResult{Content: "ran"}, nil
	}
	l.tool(tool)
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		if slices.Contains(e.Paths, "CHANGELOG.md") {
			return block("the changelog is written by hand", false), nil
		}
		return nil, nil
	})
	seen := logAll(l)
	o := l.agent.Run(t.Context(), "go")
	want := []string{
		"! echo: Blocked by house: the changelog is written by hand\n" +
			"Do not repeat this call: choose another way, or explain why you cannot go on.",
		"echo: ran",
	}
	if d := cmp.Diff(want, results(l.agent.Transcript())); d != "" {
		t.Error(d)
	}
	if o.Stop != agent.StopEnd || o.Denied != 1 || len(ran) != 1 {
		t.Errorf("%+v, ran %v", o, ran)
	}
	// H15: what the screen marks it by.
	marked := `{"by":"house","denied":true,"why":"the changelog is written by hand"}`
	if got := l.agent.Transcript()[2].Blocks[0].Details; string(got) != marked {
		t.Errorf("details %s", got)
	}
	if !strings.Contains(seen.String(), "blocked=true") {
		t.Errorf("later listeners do not see the refusal\n%s", seen)
	}
}

func TestBlockAndStop(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"bad"}`), call("echo", `{"text":"good"}`)), say("never")}, nil)
	l.tool(echo("echo"))
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		if strings.Contains(e.ArgumentsJSON, "bad") {
			return block("", true), nil
		}
		return nil, nil
	})
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopStopped || o.StopWhy != "house: no reason given" || len(l.requests) != 1 || o.Denied != 1 {
		t.Errorf("%+v, %d requests", o, len(l.requests))
	}
	want := []string{"! echo: Blocked by house: no reason given\nThe run ends after this batch of calls.", "echo: good"}
	if d := cmp.Diff(want, results(l.agent.Transcript())); d != "" {
		t.Error(d)
	}
}

// A guard that fails or panics refuses, every time, and the loop goes on.
func TestGuardFailsClosed(t *testing.T) {
	for name, do := range map[string]func(context.Context, *event.ToolCallEvent) (*event.ToolCallAnswer, error){
		"error": func(context.Context, *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
			return nil, errors.New("odd")
		},
		"panic": func(context.Context, *event.ToolCallEvent) (*event.ToolCallAnswer, error) { panic("odd") },
	} {
		l := newLab(append(repeat(5, calls(call("echo", `{"text":"a"}`))), say("fine")), nil)
		l.tool(echo("echo"))
		listen(l, "guard", event.ToolCall, do)
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopEnd || o.Denied != 5 {
			t.Errorf("%s: %+v", name, o)
		}
		for _, r := range results(l.agent.Transcript()) {
			if !strings.HasPrefix(r, "! echo: Blocked by guard: guard failed to decide: ") {
				t.Errorf("%s: %s", name, r)
			}
		}
	}
}

func TestRewrittenArguments(t *testing.T) {
	type step struct{ first, second *event.ToolCallAnswer }
	for name, c := range map[string]struct {
		step
		want   string
		denied int
		passes string
	}{
		"a rewrite runs": {step{first: rewrite(`{"text":"b"}`)}, "echo: b", 0, "[a false] a false;[b true] b true;"},
		"a rewrite that does not fit": {
			step{first: rewrite(`{"txt":"b"}`)},
			"! echo: the arguments as house rewrote them do not fit: bad arguments, 2 faults:\n- missing \"text\"\n- unknown \"txt\"", 0,
			"[a false] a false;",
		},
		"refused at the second look": {
			step{rewrite(`{"text":"b"}`), block("not b", false)},
			"! echo: Blocked by house: not b\nDo not repeat this call: choose another way, or explain why you cannot go on.", 1,
			"[a false] a false;[b true] b true;",
		},
		"a second rewrite refuses": {
			step{rewrite(`{"text":"b"}`), rewrite(`{"text":"c"}`)},
			"! echo: Blocked by house: house failed to decide: arguments were rewritten once already; a second rewrite refuses the call\n" +
				"Do not repeat this call: choose another way, or explain why you cannot go on.", 1,
			"[a false] a false;[b true] b true;",
		},
		"no rewrite, one pass": {step{}, "echo: a", 0, "[a false] a false;"},
	} {
		l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
		l.tool(echo("echo"))
		passes := ""
		listen(l, "a-look", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
			var a struct{ Text string }
			_ = json.Unmarshal(e.Arguments, &a)
			passes += fmt.Sprintf("[%s %v] %s %v;", e.Paths[0], e.Recheck, a.Text, e.Recheck)
			return nil, nil
		})
		listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
			if e.Recheck {
				return c.second, nil
			}
			return c.first, nil
		})
		o := l.agent.Run(t.Context(), "go")
		if got := results(l.agent.Transcript()); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if o.Denied != c.denied || o.Stop != agent.StopEnd || passes != c.passes {
			t.Errorf("%s: %+v, passes %s", name, o, passes)
		}
		// What the model said stays in the transcript as it said it.
		if got := l.agent.Transcript()[1].Calls()[0].Arguments; got != `{"text":"a"}` {
			t.Errorf("%s: the transcript says %s", name, got)
		}
	}
}

func TestToolFailures(t *testing.T) {
	text := json.RawMessage(`{"type":"object"}`)
	for name, c := range map[string]struct {
		execute func(context.Context, spec.ToolCall) (spec.ToolResult, error)
		want    string
	}{
		"error": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{}, errors.New("disk is full")
		}, "! x: x failed: disk is full"},
		"panic": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) { panic("odd") }, "! x: x failed: panic: odd"},
		"goexit": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			runtime.Goexit()
			return spec.ToolResult{}, nil
		}, "! x: x failed: it ended its goroutine without an answer"},
		"nothing": {nil, "! x: the tool x has nothing to run"},
		"marked": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "no", IsError: true}, nil
		}, "! x: no"},
		"bytes": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "a\xffb", Details: json.RawMessage(`{`)}, nil
		}, "x: a\uFFFDb"},
		"blank": {func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
			return spec.ToolResult{Content: "\n"}, nil
		}, "x: [no output]"},
	} {
		for _, n := range []int{1, 2} { // alone and beside another
			l := newLab([]spec.Step{calls(slices.Repeat([]spec.StepCall{call("x", "")}, n)...), say("fine")}, nil)
			l.tool(spec.Tool{Name: "x", Execute: c.execute, Parameters: text})
			if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || o.Text != "fine" {
				t.Errorf("%s: %+v", name, o)
			}
			for _, m := range l.agent.Transcript() {
				for _, b := range m.Blocks {
					if len(b.Details) > 0 {
						t.Errorf("%s: broken details %s are stored", name, b.Details)
					}
				}
			}
			if got := results(l.agent.Transcript()); !slices.Equal(got, slices.Repeat([]string{c.want}, n)) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	}
}

func TestPathsThatPanic(t *testing.T) {
	l := newLab([]spec.Step{calls(call("x", "{}")), say("fine")}, nil)
	tool := spec.Tool{Name: "x", Paths: func(json.RawMessage) ([]string, bool) { panic("odd") }}
	tool.Execute = func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		return spec.ToolResult{Content: "ran"}, nil
	}
	l.tool(tool)
	known := true
	watch(l, event.ToolCall, func(e *event.ToolCallEvent) { known = e.PathsKnown })
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd || known {
		t.Errorf("%+v, paths known %v", o, known)
	}
}

// Calls run beside each other when every one of them may; results stand in the
// order asked, though the last call is the first to finish.
func TestParallelBatch(t *testing.T) {
	const n = 4
	var step spec.Step
	for i := range n {
		step.Calls = append(step.Calls, spec.StepCall{Name: "slow", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}
	l := newLab([]spec.Step{step, say("fine")}, nil)
	turns := make([]chan struct{}, n+1) // call i waits for call i+1 to finish
	for i := range turns {
		turns[i] = make(chan struct{})
	}
	close(turns[n])
	var order []int
	var mu sync.Mutex
	l.tool(spec.Tool{Name: "slow", Execute: func(ctx context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		var a struct{ N int }
		if err := json.Unmarshal(c.Arguments, &a); err != nil {
			return spec.ToolResult{}, err
		}
		c.Progress("started")
		select {
		case <-turns[a.N+1]:
		case <-ctx.Done():
		}
		mu.Lock()
		order = append(order, a.N)
		mu.Unlock()
		close(turns[a.N])
		return spec.ToolResult{Content: fmt.Sprint(a.N)}, ctx.Err()
	}})
	var announced []string
	watch(l, event.ToolResult, func(e *event.ToolResultEvent) { announced = append(announced, e.Content) })
	if o := l.agent.Run(patient(t), "go"); o.Stop != agent.StopEnd {
		t.Fatalf("%+v", o)
	}
	if !slices.Equal(order, []int{3, 2, 1, 0}) {
		t.Errorf("finished in order %v: not beside each other", order)
	}
	if got := results(l.agent.Transcript()); fmt.Sprint(got) != "[slow: 0 slow: 1 slow: 2 slow: 3]" || fmt.Sprint(announced) != "[0 1 2 3]" {
		t.Errorf("results %v, announced %v", got, announced)
	}
}

// One sequential tool makes its whole batch sequential; a refused call does not.
func TestSequentialBatch(t *testing.T) {
	for _, c := range []struct {
		tools []string
		most  int32 // running at once
	}{
		{[]string{"free", "single", "free"}, 1},
		{[]string{"free", "refused", "free"}, 2},
		{[]string{"free", "lonely", "free"}, 1},
	} {
		var step spec.Step
		for _, name := range c.tools {
			step.Calls = append(step.Calls, spec.StepCall{Name: name})
		}
		l := newLab([]spec.Step{step, say("fine")}, nil)
		var now, most atomic.Int32
		both := make(chan struct{})
		execute := func(ctx context.Context, _ spec.ToolCall) (spec.ToolResult, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			if c.most > 1 {
				if now.Load() == c.most {
					close(both)
				}
				select {
				case <-both:
				case <-ctx.Done():
				}
			}
			runtime.Gosched()
			return spec.ToolResult{}, ctx.Err()
		}
		l.tool(spec.Tool{Name: "free", Execute: execute})
		l.tool(spec.Tool{Name: "single", Execute: execute, Sequential: true})
		l.tool(spec.Tool{Name: "lonely", Execute: execute, Alone: func(json.RawMessage) bool { return true }})
		l.tool(spec.Tool{Name: "refused", Execute: execute, Sequential: true})
		listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
			if e.Name == "refused" {
				return block("no", false), nil
			}
			return nil, nil
		})
		if o := l.agent.Run(patient(t), "go"); o.Stop != agent.StopEnd || most.Load() != c.most {
			t.Errorf("%v: %+v, at most %d at once", c.tools, o, most.Load())
		}
	}
}

func TestResultListeners(t *testing.T) {
	l := newLab([]spec.Step{calls(call("echo", `{"text":"a"}`)), say("fine")}, nil)
	l.tool(echo("echo"))
	yes := true
	listen(l, "p1", event.ToolResult, func(_ context.Context, e *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
		text := e.Content + "1"
		return &event.ToolResultAnswer{Content: &text, Details: json.RawMessage(`{"by":1}`)}, nil
	})
	listen(l, "p2", event.ToolResult, func(_ context.Context, e *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
		text := e.Content + "2"
		return &event.ToolResultAnswer{Content: &text, IsError: &yes}, nil
	})
	l.agent.Run(t.Context(), "go")
	if got := results(l.agent.Transcript()); fmt.Sprint(got) != "[! echo: a12]" {
		t.Errorf("%q", got)
	}
	if b := l.agent.Transcript()[2].Blocks[0]; string(b.Details) != `{"by":1}` {
		t.Errorf("details %s", b.Details)
	}
}

func TestLateProgressIsDropped(t *testing.T) {
	l := newLab([]spec.Step{calls(call("x", "{}")), say("fine")}, nil)
	var late func(string)
	l.tool(spec.Tool{Name: "x", Execute: func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		late = c.Progress
		c.Progress("in time")
		return spec.ToolResult{}, nil
	}})
	var chunks []string
	watch(l, event.ToolProgress, func(e *event.ToolProgressEvent) { chunks = append(chunks, e.Chunk) })
	l.agent.Run(t.Context(), "go")
	late("late")
	if fmt.Sprint(chunks) != "[in time]" {
		t.Errorf("chunks %q", chunks)
	}
}

// E-09 as the transcript and the request show it, and calls whose arguments or
// names no provider would take back.
func TestOddCallsAreSentBackWhole(t *testing.T) {
	var step spec.Step
	for _, a := range []string{"", " ", "null", "{}", `{"a":`, `[1]`, `"x"`} {
		step.Calls = append(step.Calls, spec.StepCall{ID: "same", Name: "now", Arguments: json.RawMessage(a)})
	}
	step.Calls = append(step.Calls, spec.StepCall{Name: "no such.tool/at all"}, spec.StepCall{Name: ""})
	l := newLab([]spec.Step{step, say("fine")}, nil)
	runs := 0
	l.tool(spec.Tool{Name: "now", Sequential: true, Execute: func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		runs++
		return spec.ToolResult{Content: string(c.Arguments)}, nil
	}})
	l.agent.Run(t.Context(), "go")
	if runs != 4 {
		t.Errorf("ran %d times", runs)
	}
	if bad := validRequest(l.requests[1]); bad != "" {
		t.Error(bad)
	}
	seen := map[string]bool{}
	for i, c := range l.requests[1].Messages[1].Calls() {
		if i < 7 && c.Arguments != "{}" {
			t.Errorf("call %d is sent with %q", i, c.Arguments)
		}
		if seen[c.ID] {
			t.Errorf("id %s stands twice", c.ID)
		}
		seen[c.ID] = true
	}
	if got := results(l.agent.Transcript()); !strings.Contains(got[4], "not valid JSON") || !strings.Contains(got[5], "an array") {
		t.Errorf("results %q", got)
	}
}
