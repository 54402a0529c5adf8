package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent"
	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
)

// asked is a Permit that writes down what it was asked and answers by the text
// argument of the call.
func asked(seen *[]string, answers map[string]agent.Permission) func(*agent.Options) {
	var mu sync.Mutex
	return func(o *agent.Options) {
		o.Permit = func(_ context.Context, c agent.PermitCall) agent.Permission {
			mu.Lock()
			defer mu.Unlock()
			*seen = append(*seen, fmt.Sprintf("%s %s of %s, paths %v, rewritten %v, hidden %v, origin %s",
				c.Tool.Name, c.Arguments, c.Owner.Name, c.Paths, c.Rewritten, c.Hidden, c.Origin))
			var a struct{ Text string }
			_ = json.Unmarshal(c.Arguments, &a)
			return answers[a.Text]
		}
	}
}

// A permission is asked on final arguments, after the guards and the phase, for
// each call that would run and for no other.
func TestPermit(t *testing.T) {
	var seen []string
	l := newLab([]spec.Step{calls(
		call("echo", `{"text":"plain"}`), call("echo", `{"text":"blocked"}`), call("echo", `{"text":"rewrite"}`),
		call("echo", `{"text":"denied"}`), call("nothing", `{}`), call("echo", `{}`),
	), say("done")}, asked(&seen, map[string]agent.Permission{
		"denied": {Refused: &bus.Refusal{Why: "it asks, and nobody is here", By: bus.Owner{Name: "permissions"}}},
		"new":    {Note: "allowed by a rule"},
	}))
	l.tool(echo("echo"))
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		switch {
		case strings.Contains(e.ArgumentsJSON, "blocked"):
			return block("no", false), nil
		case strings.Contains(e.ArgumentsJSON, "rewrite"):
			return rewrite(`{"text":"new"}`), nil
		}
		return nil, nil
	})
	o := l.agent.Run(t.Context(), "go")
	want := []string{
		`echo {"text":"plain"} of host, paths [plain], rewritten false, hidden false, origin main`,
		`echo {"text":"new"} of host, paths [new], rewritten true, hidden false, origin main`,
		`echo {"text":"denied"} of host, paths [denied], rewritten false, hidden false, origin main`,
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
	got := results(l.agent.Transcript())
	if got[0] != "echo: plain" || got[2] != "echo: new\n\n[note of starling: allowed by a rule]" ||
		!strings.HasPrefix(got[3], "! echo: Blocked by permissions: it asks, and nobody is here\nDo not repeat") {
		t.Errorf("%q", got)
	}
	if o.Denied != 2 {
		t.Errorf("denied %d", o.Denied)
	}
}

// Arguments a person edited pass the schema and the guards again, and are asked
// about again.
func TestPermitEdited(t *testing.T) {
	var seen []string
	l := newLab([]spec.Step{calls(call("echo", `{"text":"one"}`), call("echo", `{"text":"a"}`), call("echo", `{"text":"b"}`)), say("done")},
		asked(&seen, map[string]agent.Permission{
			"one": {Arguments: json.RawMessage(`{"text":"two"}`)},
			"a":   {Arguments: json.RawMessage(`{"text":5}`)},
			"b":   {Arguments: json.RawMessage(`{"text":"b"}`)}, // for ever
		}))
	l.tool(echo("echo"))
	var guarded []string
	watch(l, event.ToolCall, func(e *event.ToolCallEvent) { guarded = append(guarded, e.ArgumentsJSON) })
	l.agent.Run(t.Context(), "go")
	got := results(l.agent.Transcript())
	if got[0] != "echo: two" || !strings.HasPrefix(got[1], "! echo: the arguments as the person edited them do not fit: ") ||
		got[2] != "! echo: the call was edited too often" {
		t.Errorf("%q", got)
	}
	if !slices.Contains(guarded, `{"text":"two"}`) {
		t.Errorf("guards saw %q", guarded)
	}
}

// B-04: an earlier call of the batch may change where a path leads; the guards
// see the later one again.
func TestGuardsSeeWhatChanged(t *testing.T) {
	l := newLab([]spec.Step{calls(call("link", `{}`), call("put", `{"text":"x"}`)), say("done")}, nil)
	target := "src/x"
	l.tool(spec.Tool{Name: "link", Sequential: true, Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		target = "CHANGELOG.md"
		return spec.ToolResult{Content: "linked"}, nil
	}})
	put := echo("put")
	put.Sequential = true
	put.Paths = func(json.RawMessage) ([]string, bool) { return []string{target}, true }
	l.tool(put)
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		if slices.Contains(e.Paths, "CHANGELOG.md") {
			return block("by hand", false), nil
		}
		return nil, nil
	})
	l.agent.Run(t.Context(), "go")
	if got := results(l.agent.Transcript()); got[0] != "link: linked" || !strings.Contains(got[1], "Blocked by house: by hand") {
		t.Errorf("%q", got)
	}
}

// A listener that answers keeps the tool from running; the result says who it
// was, and notes stand behind results in the name of their plugins.
func TestAnswerAndNotes(t *testing.T) {
	var seen []string
	l := newLab([]spec.Step{calls(call("echo", `{"text":"cached"}`), call("gone", `{}`), call("echo", `{"text":"x"}`)), say("done")}, asked(&seen, nil))
	l.tool(echo("echo"))
	listen(l, "cache", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		switch {
		case strings.Contains(e.ArgumentsJSON, "cached"):
			return &event.ToolCallAnswer{Answer: &event.ToolAnswer{Content: "from memory"}, Note: "an hour old"}, nil
		case !e.Known:
			return &event.ToolCallAnswer{Answer: &event.ToolAnswer{Content: "no such thing", IsError: true}}, nil
		}
		return nil, nil
	})
	var by []string
	listen(l, "notes", event.ToolResult, func(_ context.Context, e *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
		by = append(by, e.AnsweredBy)
		return &event.ToolResultAnswer{Note: "seen"}, nil
	})
	l.agent.Run(t.Context(), "go")
	want := []string{
		"echo: from memory\n\n[note of cache: an hour old]\n\n[note of notes: seen]",
		"! gone: no such thing\n\n[note of notes: seen]",
		"echo: x\n\n[note of notes: seen]",
	}
	if d := cmp.Diff(want, results(l.agent.Transcript())); d != "" {
		t.Error(d)
	}
	if !slices.Equal(by, []string{"cache", "cache", ""}) || len(seen) != 1 {
		t.Errorf("answered by %q, asked %q", by, seen)
	}
}

// A replacement reaches the tool it hides through schema, guards and permission.
func TestOriginal(t *testing.T) {
	var seen []string
	l := newLab([]spec.Step{
		calls(call("echo", `{"text":"hello"}`)), calls(call("echo", `{"text":"secret"}`)),
		calls(call("echo", `{"text":"denied"}`)), calls(call("echo", `{"text":""}`)), say("done"),
	}, asked(&seen, map[string]agent.Permission{"DENIED": {Refused: &bus.Refusal{Why: "no", By: bus.Owner{Name: "permissions"}}}}))
	builtin := echo("echo")
	builtin.Builtin = true
	l.tool(builtin)
	mine := echo("echo")
	mine.Replaces, mine.Sequential = true, true
	mine.Execute = func(ctx context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		var a struct{ Text string }
		if err := json.Unmarshal(c.Arguments, &a); err != nil {
			return spec.ToolResult{}, err
		}
		inner, _ := json.Marshal(map[string]any{"text": strings.ToUpper(a.Text)})
		if a.Text == "" {
			inner = []byte(`{"text":1}`)
		}
		r, err := c.Original(ctx, inner)
		if err != nil {
			return spec.ToolResult{}, err
		}
		r.Content = "<" + r.Content + ">"
		return r, nil
	}
	add, leave := l.slot.Slot().Put(bus.At(bus.ClassHome, 0, "loud"), bus.Owner{Name: "loud"}, mine)
	l.store.Commit(add)
	var origins []string
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		origins = append(origins, e.Origin)
		if strings.Contains(e.ArgumentsJSON, "SECRET") {
			return block("secret", false), nil
		}
		return nil, nil
	})
	o := l.agent.Run(t.Context(), "go")
	got := results(l.agent.Transcript())
	if got[0] != "echo: <HELLO>" || !strings.Contains(got[1], "Blocked by house: secret") ||
		!strings.Contains(got[2], "Blocked by permissions: no") || !strings.HasPrefix(got[3], "! echo: echo failed: bad arguments: text: ") {
		t.Errorf("%q", got)
	}
	if o.Denied != 2 || !slices.Equal(origins[:2], []string{"main", "plugin loud"}) {
		t.Errorf("denied %d, origins %q", o.Denied, origins)
	}
	if !slices.Contains(seen, `echo {"text":"HELLO"} of host, paths [HELLO], rewritten false, hidden true, origin plugin loud`) {
		t.Errorf("asked %q", seen)
	}
	l.store.Commit(leave)
	if _, hidden := l.options.Tools.Hidden("echo"); hidden {
		t.Error("the built-in is still hidden after its replacement left")
	}
}

// A call that finishes ends the run with its content once its batch is done; what
// listeners push sends the run on, as after a text.
func TestFinish(t *testing.T) {
	steps := []spec.Step{calls(call("finish", `{}`), call("echo", `{"text":"x"}`)), say("never")}
	finish := spec.Tool{Name: "finish", Execute: func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		return spec.ToolResult{Content: "all done", Ends: true}, nil
	}}
	l := newLab(steps, nil)
	l.tool(echo("echo"))
	l.tool(finish)
	o := l.agent.Run(t.Context(), "go")
	if o.Stop != agent.StopEnd || o.Text != "all done" || o.Turns != 1 || len(results(l.agent.Transcript())) != 2 {
		t.Errorf("%+v", o)
	}
	l = newLab([]spec.Step{calls(call("finish", `{}`)), say("tests pass")}, nil)
	l.tool(finish)
	pushed := false
	listen(l, "nag", event.ToolResult, func(_ context.Context, e *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
		if !pushed {
			pushed = true
			return nil, l.agent.CurrentRun().PushUser("run the tests first")
		}
		return nil, nil
	})
	if o = l.agent.Run(t.Context(), "go"); o.Text != "tests pass" || o.Turns != 2 {
		t.Errorf("%+v", o)
	}
	// A finish that was refused or failed finishes nothing.
	l = newLab([]spec.Step{calls(call("finish", `{}`)), say("went on")}, nil)
	l.tool(finish)
	listen(l, "house", event.ToolCall, func(_ context.Context, e *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		return block("not yet", false), nil
	})
	if o = l.agent.Run(t.Context(), "go"); o.Text != "went on" {
		t.Errorf("%+v", o)
	}
}
