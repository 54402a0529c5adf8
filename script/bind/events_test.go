package bind_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

// What a listener of agent/tool-call returns, and what becomes of the call. It
// is a guard: every slip blocks.
func TestToolCallAnswers(t *testing.T) {
	for _, c := range []struct{ name, body, blocked, arguments, said string }{
		{name: "nothing", body: "return None"},
		{name: "block", body: `return block("not that file")`, blocked: "not that file"},
		{name: "block without a reason", body: `return block()`, blocked: "no reason was given", said: "why should be a text"},
		{name: "block with a number", body: `return block(7)`, blocked: "no reason was given", said: "not int"},
		{name: "block and stop", body: `return block_and_stop("enough")`, blocked: "enough"},
		{name: "rewrite", body: `return {"arguments": {"path": "b", "n": 1}}`, arguments: `{"path":"b","n":1}`},
		{name: "an error", body: `fail("boom")`, blocked: "p failed to decide: p.star:4:13: fail: boom"},
		{name: "an odd return", body: `return 7`, blocked: "returns None or"},
		{name: "an unknown field", body: `return {"argument": {}}`, blocked: `did you mean "arguments"?`},
		{name: "arguments that are none", body: `return {"arguments": 7}`, blocked: "arguments must be a dict, not int"},
		{name: "a function in the arguments", body: `return {"arguments": {"a": fail}}`, blocked: "arguments"},
		{name: "a refusal of another event", body: `return reject("x")`, blocked: "is refused with block(why)"},
		{name: "it reads", body: `return block("%s %s %s %s %s" % (e.event, e.name, e.arguments["path"], e.known, e.blocked))`, blocked: "agent/tool-call write a True False"},
		{name: "it changes the payload", body: `e.arguments["path"] = "x"`, blocked: "frozen"},
		{name: "an unknown attribute", body: `return e.argument`, blocked: "did you mean .arguments?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.load(map[string]string{"p": "uses = [\"steer\"]\ndef apply(ctx):\n    def guard(e):\n        " + c.body + "\n    on(\"agent/tool-call\", guard)\n"})
			w.active("p")
			e := w.call("write", `{"path":"a"}`)
			why := ""
			if e.Refused != nil {
				why = e.Refused.Why
			}
			if (c.blocked == "") != !e.Blocked || !strings.Contains(why, c.blocked) {
				t.Errorf("blocked=%v %q, want %q", e.Blocked, why, c.blocked)
			}
			if want := c.arguments; want != "" && e.ArgumentsJSON != want {
				t.Errorf("arguments %s, want %s", e.ArgumentsJSON, want)
			}
			if c.name == "block and stop" && !e.Refused.Stop {
				t.Error("the run would go on")
			}
			if !strings.Contains(w.said(), c.said) {
				t.Errorf("said %q, want %q", w.said(), c.said)
			}
		})
	}
}

// Changing what the model reads needs the word steer; observing and refusing
// need none.
func TestSteerIsEnforced(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["tools"]
def apply(ctx):
    on("agent/tool-call", lambda e: {"arguments": {"path": "b"}})
    on("agent/tool-result", lambda e: {"content": "changed"})
    on("code/system-prompt", lambda e: "changed")
    on("agent/prompt", lambda e: {"text": "changed"})
    on("agent/request", lambda e: {"suffix": "changed"})
    on("agent/run-start", lambda e: e.cx.note("changed"))
`})
	w.active("p")
	if e := w.call("write", `{"path":"a"}`); !e.Blocked || e.ArgumentsJSON != `{"path":"a"}` {
		t.Errorf("a rewrite without the word must refuse the call: %+v", e)
	}
	ctx := context.Background()
	result := &event.ToolResultEvent{Content: "as it was"}
	bus.PortOf(w.bus, event.ToolResult).Send(ctx, result)
	system := &event.SystemPromptEvent{Text: "as it was"}
	bus.PortOf(w.bus, event.SystemPrompt).Send(ctx, system)
	prompt := &event.PromptEvent{Text: "as it was"}
	bus.PortOf(w.bus, event.Prompt).Send(ctx, prompt)
	request := &event.RequestEvent{}
	bus.PortOf(w.bus, event.Request).Send(ctx, request)
	bus.PortOf(w.bus, event.RunStart).Send(ctx, &event.RunStartEvent{Run: &fakeRun{}})
	if result.Content != "as it was" || system.Text != "as it was" || prompt.Text != "as it was" || len(request.Shape.Suffix) != 0 {
		t.Errorf("something was changed: %q %q %q %v", result.Content, system.Text, prompt.Text, request.Shape.Suffix)
	}
	if n := strings.Count(w.said(), `needs "steer" in uses`); n != 6 {
		t.Errorf("%d of 6 say so:\n%s", n, w.said())
	}
}

// fakeRun is a run handle that remembers.
type fakeRun struct {
	log     []string
	held    fakeHold
	refuses error // what Hold answers
}

type fakeHold struct{ released bool }

func (h *fakeHold) Release()       { h.released = true }
func (h *fakeHold) Released() bool { return h.released }

func (r *fakeRun) Note(s string) error     { r.log = append(r.log, "note "+s); return nil }
func (r *fakeRun) PushUser(s string) error { r.log = append(r.log, "user "+s); return nil }
func (r *fakeRun) Cancel(s string) error {
	r.log = append(r.log, "cancel "+s)
	return event.ErrRunEnded
}

func (r *fakeRun) Hold(limit time.Duration) (event.Hold, error) {
	r.log = append(r.log, "hold "+limit.String())
	return &r.held, r.refuses
}
func (r *fakeRun) Cancelled() bool         { return true }
func (r *fakeRun) Model() string           { return "demo" }
func (r *fakeRun) Turn() int               { return 3 }
func (r *fakeRun) Usage() chat.Usage       { return chat.Usage{Input: 1, Output: 2, CacheRead: 3, Cost: 0.5} }
func (r *fakeRun) Budget() (float64, bool) { return 0, false }
func (r *fakeRun) Task() string            { return "the task" }

func TestRunHandle(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
uses = ["steer"]
def apply(ctx):
    def start(e):
        cx = e.cx
        cx.note("a note")
        cx.push_user("a message")
        log("%s %s %s %s %d %d %s" % (cx.cancelled, cx.model, cx.turn, cx.task, cx.usage.input, cx.usage.cache_read, cx.budget))
        r = attempt(cx.cancel, "why")
        log(r.error)
        log(attempt(lambda: cx.nota("x")).error)
        log(attempt(cx.note, "").error)
    on("agent/run-start", start)
`})
	w.active("p")
	r := &fakeRun{}
	bus.PortOf(w.bus, event.RunStart).Send(context.Background(), &event.RunStartEvent{Run: r})
	if got := strings.Join(r.log, "; "); got != "note a note; user a message; cancel why" {
		t.Error(got)
	}
	want := `log p: True demo 3 the task 1 3 None
log p: cx.cancel: the run has ended
log p: run has no .nota field; did you mean "note"?
log p: cx.note: the text must not be empty`
	if got := w.said(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The payloads as a plugin reads them, and the answers that change them.
func TestPayloads(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
uses = ["steer"]
def apply(ctx):
    on("agent/prompt", lambda e: reject("no: " + e.text) if e.first else {"text": e.text + "!"})
    on("code/system-prompt", lambda e: {"append": "more", "replace": "new"})
    on("code/system-prompt", lambda e: e.text + "?")
    on("agent/tool-result", lambda e: {"content": e.content + str(e.details["n"]), "is_error": not e.is_error, "details": {"n": 2}})
    on("agent/turn-end", lambda e: stop() if e.tool_calls == 0 else None)
    def request(e):
        first = e.messages()[0]
        call = e.messages()[1]["tool_calls"][0]
        return {
            "system": first["role"] + first["text"],
            "prefix": [{"role": "user", "text": "p"}],
            "suffix": call["name"] + str(call["arguments"]["a"]),
            "prompt_prefix": e.messages()[2]["tool_call_id"],
            "exclude_tools": ["x"],
            "allow_tools": [],
        }
    on("agent/request", request)
    on("agent/message", lambda e: log("%s %s %s" % (e.text, e.tool_calls[0]["arguments"]["k"], e.usage.output)))
    on("agent/run-end", lambda e: log("%s %s" % (e.success, e.stop)))
`})
	w.active("p")
	ctx := context.Background()
	first := &event.PromptEvent{Text: "do", First: true}
	bus.PortOf(w.bus, event.Prompt).Send(ctx, first)
	second := &event.PromptEvent{Text: "do"}
	bus.PortOf(w.bus, event.Prompt).Send(ctx, second)
	if first.Rejected == nil || first.Rejected.Why != "no: do" || second.Text != "do!" {
		t.Errorf("prompts: %+v %+v", first, second)
	}
	system := &event.SystemPromptEvent{Text: "old"}
	bus.PortOf(w.bus, event.SystemPrompt).Send(ctx, system)
	if system.Text != "new\n\nmore?" {
		t.Errorf("system prompt %q", system.Text)
	}
	result := &event.ToolResultEvent{Content: "c", Details: []byte(`{"n":1}`)}
	bus.PortOf(w.bus, event.ToolResult).Send(ctx, result)
	if result.Content != "c1" || !result.IsError || string(result.Details) != `{"n":2}` {
		t.Errorf("result %+v", result)
	}
	end := &event.TurnEndEvent{}
	bus.PortOf(w.bus, event.TurnEnd).Send(ctx, end)
	if end.Stopped == nil {
		t.Error("turn-end was not stopped")
	}
	request := &event.RequestEvent{Messages: func() []chat.Message {
		return []chat.Message{
			chat.TextMessage(chat.User, "hi"),
			{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "7", Name: "read", Arguments: `{"a":1}`}}},
			{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "7", Text: "ok"}}},
		}
	}}
	bus.PortOf(w.bus, event.Request).Send(ctx, request)
	s := request.Shape
	if s.System == nil || *s.System != "userhi" || s.Prefix[0].Text() != "p" || s.Suffix[0] != "read1" || s.PromptPrefix != "7" || !s.Exclude["x"] || s.Allow == nil || len(s.Allow) != 0 {
		t.Errorf("shape %+v\n%s", s, w.said())
	}
	bus.PortOf(w.bus, event.Message).Send(ctx, &event.MessageEvent{Text: "t", Calls: []event.MessageCall{{Arguments: []byte(`{"k":"v"}`)}}, Usage: chat.Usage{Output: 9}})
	yes := true
	bus.PortOf(w.bus, event.RunEnd).Send(ctx, &event.RunEndEvent{Stop: "end", Success: &yes})
	bus.PortOf(w.bus, event.RunEnd).Send(ctx, &event.RunEndEvent{Stop: "end"})
	if got := w.said(); got != "log p: t v 9\nlog p: True end\nlog p: None end" {
		t.Error(got)
	}
}

// A failing listener of an open event keeps the value, and is switched off after
// three failures in a row, visibly.
func TestThreeStrikes(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": "uses = [\"steer\"]\ndef apply(ctx):\n    on(\"agent/prompt\", lambda e: fail(\"boom\"))\n"})
	port := bus.PortOf(w.bus, event.Prompt)
	for range 5 {
		e := &event.PromptEvent{Text: "x"}
		port.Send(context.Background(), e)
		if e.Text != "x" || e.Rejected != nil {
			t.Fatalf("changed: %+v", e)
		}
	}
	if n := strings.Count(w.said(), "boom"); n != 3 || !strings.HasSuffix(w.said(), "off=true") {
		t.Errorf("%d reports:\n%s", n, w.said())
	}
}

// An observer's return value is ignored, and said so once.
func TestObserverReturns(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `def apply(ctx): on("agent/run-end", lambda e: "thanks")`})
	for range 3 {
		bus.PortOf(w.bus, event.RunEnd).Send(context.Background(), &event.RunEndEvent{})
	}
	if got := w.said(); got != "p: a listener on agent/run-end returned string; what it returns is ignored" {
		t.Error(got)
	}
}

// A custom event reaches others as a copy, after the announcing call has
// released the plugin; a name outside emits is refused.
func TestCustomEvents(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"a": `
inject = ["tools"]
emits = ["a/changed", "a/plain"]
def apply(ctx):
    items = [1]
    def execute(args):
        emit("a/changed", {"items": items, "n": 2})
        emit("a/plain", 7)
        items.append(9)
        log("sent")
        r = attempt(emit, "a/chaged", {})
        return r.error
    tool("go", "d", {}, execute)
    on("a/changed", lambda e: log("self %s" % e.items))
`,
		"b": `
def apply(ctx):
    on("a/changed", lambda e: log("%s %s %s" % (e.event, e.items, e.n)))
    on("a/plain", lambda e: log("plain %d" % e.value))
    on("a/changed", lambda e: e.items.append(1))
`,
	})
	w.active("a", "b")
	r, err := w.run("go", "{}")
	if err != nil || r.Content != `emit: "a/chaged" is not in emits; did you mean "a/changed"?` {
		t.Errorf("%+v %v", r, err)
	}
	want := `log a: sent
log a: self [1]
log b: a/changed [1] 2
b: a/changed: b.star:5:45: append: cannot append to frozen list (what the host hands over is read-only and module globals are frozen after loading; change a copy, and keep state in apply() or state()) closed=false off=false
log b: plain 7`
	if got := w.said(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
