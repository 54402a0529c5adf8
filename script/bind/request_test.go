package bind_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

// talk is a conversation with everything a dict does not show.
func talk() []chat.Message {
	return []chat.Message{
		{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Text, Text: "look"}, {Kind: chat.Image, MIME: "image/png", Data: []byte{1}}}},
		{Role: chat.Assistant, Blocks: []chat.Block{
			{Kind: chat.Thinking, Text: "hm", Signature: "sig"},
			{Kind: chat.Text, Text: "I read."},
			{Kind: chat.Call, ID: "7", Name: "read", Arguments: `{ "b": 1, "a": 2 }`},
		}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "7", Name: "read", Text: "no", IsError: true}}},
		chat.TextMessage(chat.User, "go on"),
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "8", Name: "read", Arguments: `not json`}}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "8", Text: "bad"}}},
	}
}

// asked loads a listener of agent/request with that body and announces a request.
func asked(t *testing.T, body string) (*world, *event.RequestEvent) {
	t.Helper()
	w := newWorld(t)
	w.load(map[string]string{"p": "uses = [\"steer\"]\ndef apply(ctx):\n    def shape(e):\n        " +
		strings.ReplaceAll(body, "\n", "\n        ") + "\n    on(\"agent/request\", shape)\n"})
	w.active("p")
	half := 0.5
	e := &event.RequestEvent{
		Run: &fakeRun{}, Messages: talk, Budget: &half, Model: "m",
		Tail:    event.Tail{Streak: 2, Trouble: true, Steering: true},
		History: func(bool) []chat.Message { return talk() },
	}
	bus.PortOf(w.bus, event.Request).Send(context.Background(), e)
	return w, e
}

// Messages that come back as they were handed out are the very same ones.
func TestMessagesComeBackWhole(t *testing.T) {
	w, e := asked(t, `return {"messages": e.messages()}`)
	if d := cmp.Diff(talk(), e.Shape.Messages); d != "" {
		t.Errorf("%s\n%s", w.said(), d)
	}
	_, e = asked(t, `return {"messages": e.messages()[3:]}`)
	if d := cmp.Diff(talk()[3:], e.Shape.Messages); d != "" {
		t.Error(d)
	}
}

func TestMessagesThatAPluginMakes(t *testing.T) {
	w, e := asked(t, `list = [dict(m) for m in e.messages()]
list[1]["text"] = "I looked."
list[2]["text"] = "[cut]"
return {"messages": [{"role": "system", "text": "short"}] + list[1:3] + [{"role": "user", "text": "now", "tool_calls": []}]}`)
	want := []chat.Message{
		chat.TextMessage(chat.System, "short"),
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "I looked."}, {Kind: chat.Call, ID: "7", Name: "read", Arguments: `{"b":1,"a":2}`}}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "7", Text: "[cut]", IsError: true}}},
		chat.TextMessage(chat.User, "now"),
	}
	if d := cmp.Diff(want, e.Shape.Messages); d != "" {
		t.Errorf("%s\n%s", w.said(), d)
	}
}

func TestRequestFieldsOfAPlugin(t *testing.T) {
	w, e := asked(t, `return {"history": "run", "then": "next", "model": "cheap", "messages": []}`)
	s := e.Shape
	if s.History != "run" || s.Model != "cheap" || len(s.Then) != 1 || s.Then[0] != (event.Continuation{Text: "next", By: "p"}) || s.Messages != nil {
		t.Errorf("shape %+v\n%s", s, w.said())
	}
	w, _ = asked(t, `log("%s %s %s %s %s %s" % (e.budget, e.tail.streak, e.tail.trouble, e.tail.first, e.tail.steering, e.model))`)
	if got := w.said(); got != "log p: 0.5 2 True False True m" {
		t.Error(got)
	}
}

// What is wrong is said, and nothing of the answer counts.
func TestRequestAnswersThatAreWrong(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages": e.messages()[:2]}`:                                                             `p: agent/request: messages: the call "7" is parted`,
		`{"messages": e.messages()[2:]}`:                                                             `messages[0] is the result of "7"`,
		`{"messages": e.messages(), "history": "run"}`:                                               "messages and history together",
		`{"history": "most"}`:                                                                        `history is "all" or "run", not "most"`,
		`{"messages": "all"}`:                                                                        "messages must be a list like that of messages(), not string",
		`{"messages": ["hi"]}`:                                                                       "messages[0]: must be a dict, not string",
		`{"messages": [{"role": "human", "text": "x"}]}`:                                             `messages[0]: role must be "system"`,
		`{"messages": [{"rol": "user"}]}`:                                                            `did you mean "role"?`,
		`{"messages": [{"role": "tool", "text": "x"}]}`:                                              "needs the tool_call_id of its call",
		`{"messages": [{"role": "user", "tool_calls": [{}]}]}`:                                       "tool_calls[0] needs an id and a name",
		`{"messages": [{"role": "user", "tool_calls": ["x"]}]}`:                                      "tool_calls[0] must be a dict",
		`{"messages": [{"role": "user", "tool_calls": 7}]}`:                                          "tool_calls must be a list, not int",
		`{"messages": [{"role": "user", "tool_calls": [CALL]}]}`:                                     `tool_calls belong to role "assistant", not "user"`,
		`{"messages": [{"role": "assistant", "tool_calls": [dict(CALL, arguments = {"f": fail})]}]}`: "tool_calls[0]: arguments:",
		`{"then": 7}`:    "then must be a text, not int",
		`{"model": []}`:  "model must be a text, not list",
		`{"mesages": 1}`: `did you mean "messages"?`,
	} {
		body = strings.Replace(body, "CALL", `{"id": "1", "name": "x"}`, 1)
		w, e := asked(t, "return dict("+body+", suffix = \"s\")")
		if !strings.Contains(w.said(), want) {
			t.Errorf("%s: said %q, want %q", body, w.said(), want)
		}
		if len(e.Shape.By) != 0 {
			t.Errorf("%s: something counted: %+v", body, e.Shape)
		}
	}
}

func TestHoldOfAPlugin(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
def apply(ctx):
    kept = []
    def shape(e):
        if not kept:
            kept.append(e.cx.hold(limit_s = 7))
            kept.append(e.cx.hold())
            kept.append(run().hold(0))
            log(attempt(e.cx.hold, -1).error)
            log(attempt(lambda: kept[0].release(1)).error)
            log(attempt(lambda: kept[0].relase).error)
        else:
            r = attempt(e.cx.hold)
            log(r.error)
    def end(e):
        log("%s %s" % (type(kept[0]), kept[0].released))
        kept[0].release()
        log(kept[0].released)
    on("agent/request", shape)
    on("agent/turn-end", end)
`})
	w.active("p")
	r := &fakeRun{}
	request := func() { bus.PortOf(w.bus, event.Request).Send(context.Background(), &event.RequestEvent{Run: r}) }
	request()
	bus.PortOf(w.bus, event.TurnEnd).Send(context.Background(), &event.TurnEndEvent{Run: r})
	r.refuses = event.ErrHeld
	request()
	if got := strings.Join(r.log, "; "); got != "hold 7s; hold 5m0s; hold 0s; hold 5m0s" || !r.held.released {
		t.Errorf("%s, released %v", got, r.held.released)
	}
	want := `log p: cx.hold: limit_s must be at least 0 (for no limit), not -1
log p: release: got 1 arguments, want at most 0
log p: hold has no .relase field; did you mean "release"?
log p: hold False
log p: True
log p: cx.hold: this plugin has held this request already`
	if d := cmp.Diff(want, w.said()); d != "" {
		t.Error(d)
	}
}

// run() is the cx of the event in a listener that has one, the current run in
// any other callback, and None when there is none.
func TestRunWord(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["tools"]
def apply(ctx):
    def say(e):
        cx = run()
        log("%s %s" % (e.event, cx and cx.task))
    on("agent/turn-start", say)
    on("code/notice", say)
    on("code/tick", say)
    log(attempt(run, 1).error)
`})
	w.active("p")
	tick := func() { bus.PortOf(w.bus, event.Tick).Send(context.Background(), &event.TickEvent{}) }
	tick()
	w.current = &fakeRun{}
	tick()
	bus.PortOf(w.bus, event.Notice).Send(context.Background(), &event.NoticeEvent{Text: "x"})
	bus.PortOf(w.bus, event.TurnStart).Send(context.Background(), &event.TurnStartEvent{Run: named{&fakeRun{}, "of the event"}})
	want := `log p: run: got 1 arguments, want at most 0
log p: code/tick None
log p: code/tick the task
log p: code/notice the task
log p: agent/turn-start of the event`
	if d := cmp.Diff(want, w.said()); d != "" {
		t.Error(d)
	}
}

type named struct {
	*fakeRun
	task string
}

func (n named) Task() string { return n.task }

func TestProviderErrorAnswers(t *testing.T) {
	seven := 7.0
	for body, want := range map[string]string{
		`None`: " <nil> <nil>",
		`{"model": "b", "wait_ms": 0} if e.status == 429 and e.retry_after == 7.0 and e.kind == "rate_limit" else None`: "b 0 <nil>",
		`stop("enough of " + e.model) if e.attempt == 2 else None`:                                                      ` <nil> "enough of a"`,
		`stop()`:              ` <nil> ""`,
		`block("x")`:          "is ended with stop(), not with block",
		`{"wait_ms": "soon"}`: "wait_ms must be a number of milliseconds, not string",
		`{"wait_ms": -1}`:     "wait_ms must not be negative",
		`{"wait": 1}`:         `did you mean "wait_ms"?`,
	} {
		w := newWorld(t)
		w.load(map[string]string{"p": "def apply(ctx):\n    on(\"agent/provider-error\", lambda e: " + body + ")\n"})
		w.active("p")
		e := &event.ProviderErrorEvent{Kind: "rate_limit", Status: 429, RetryAfter: &seven, Attempt: 2, Model: "a"}
		bus.PortOf(w.bus, event.ProviderError).Send(context.Background(), e)
		wait, stop := "<nil>", "<nil>"
		if e.Decision.WaitMS != nil {
			wait = fmt.Sprint(*e.Decision.WaitMS)
		}
		if e.Decision.Stop != nil {
			stop = fmt.Sprintf("%q", e.Decision.Stop.Why)
		}
		if got := fmt.Sprintf("%s %s %s", e.Decision.Model, wait, stop) + w.said(); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

var errGone = errors.New("gone")

func TestHoldThatIsRefused(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `def apply(ctx): on("agent/request", lambda e: e.cx.hold())`})
	bus.PortOf(w.bus, event.Request).Send(context.Background(), &event.RequestEvent{Run: &fakeRun{refuses: errGone}})
	if !strings.Contains(w.said(), "cx.hold: gone") {
		t.Error(w.said())
	}
}

// Any conversation comes back as it was handed out, and any end of it that parts
// no call from its result.
func TestAnyMessagesComeBack(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
uses = ["steer"]
def apply(ctx): on("agent/request", lambda e: {"messages": e.messages()[e.run_start:]})
`})
	w.active("p")
	text := rapid.SampledFrom([]string{"", "a", "a", "b\n", `"quoted"`, "é"})
	arguments := rapid.SampledFrom([]string{`{}`, `{ "a" : 1.0, "b": [1e3, null, true] }`, `{"a":{"z":1,"y":"<>"}}`, "{", "[1]", "9007199254740993", "text"})
	rapid.Check(t, func(t *rapid.T) {
		var list []chat.Message
		var starts []int
		for i := range rapid.IntRange(1, 6).Draw(t, "messages") {
			starts = append(starts, len(list))
			role := rapid.SampledFrom([]chat.Role{chat.User, chat.System, chat.Assistant, chat.Assistant}).Draw(t, "role")
			m := chat.TextMessage(role, text.Draw(t, "text"))
			if role == chat.Assistant {
				m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Thinking, Text: text.Draw(t, "thinking"), Signature: "s"})
			}
			if role != chat.Assistant || !rapid.Bool().Draw(t, "calls") {
				list = append(list, m)
				continue
			}
			id := fmt.Sprint(i)
			m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Call, ID: id, Name: "x", Arguments: arguments.Draw(t, "arguments")})
			list = append(list, m, chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{
				Kind: chat.Result, ID: id, Name: "x", Text: text.Draw(t, "result"), IsError: rapid.Bool().Draw(t, "error"), Details: []byte(`{}`),
			}}})
		}
		from := rapid.SampledFrom(starts).Draw(t, "from")
		e := &event.RequestEvent{Run: &fakeRun{}, RunStart: from, Messages: func() []chat.Message { return list }}
		bus.PortOf(w.bus, event.Request).Send(context.Background(), e)
		if d := cmp.Diff(list[from:], e.Shape.Messages); d != "" {
			t.Fatalf("%s\n%s", w.said(), d)
		}
	})
}
