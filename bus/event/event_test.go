package event_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

// dispatch sends e to listeners named a, b, c … that give these answers (nil: no
// opinion) and returns the reported failures.
func dispatch[E, A any](topic *bus.Topic[E, A], e *E, answers ...*A) string {
	b := bus.New(bus.NewStore())
	var faults []string
	b.Report = func(_ context.Context, f bus.Failure) {
		faults = append(faults, fmt.Sprintf("%s: %v", f.Owner.Name, f.Err))
	}
	port := bus.PortOf(b, topic)
	for i, a := range answers {
		name := string(rune('a' + i))
		add, _ := port.Put(bus.At(bus.ClassHome, 0, name), bus.Owner{Name: name}, bus.Listener[E, A]{
			Do: func(context.Context, *E) (*A, error) { return a, nil },
		})
		b.Store().Commit(add)
	}
	port.Send(context.Background(), e)
	return strings.Join(faults, "; ")
}

func text(s string) *string { return &s }

func refusal(why string) *bus.Refusal { return &bus.Refusal{Why: why} }

func TestPrompt(t *testing.T) {
	e := &event.PromptEvent{Text: "hello"}
	e.Keep("a view")
	dispatch(event.Prompt, e,
		&event.PromptAnswer{Text: text("one")},
		&event.PromptAnswer{Reject: refusal("not today"), Text: text("ignored")},
		&event.PromptAnswer{Text: text("two")},
		&event.PromptAnswer{Reject: refusal("never")})
	if e.Text != "one" || e.Rejected == nil || e.Rejected.Why != "not today" || e.Rejected.By.Name != "b" {
		t.Errorf("text %q, rejected %+v", e.Text, e.Rejected)
	}
	if e.View() != nil {
		t.Error("the kept view outlived a rewrite")
	}
}

func TestRequest(t *testing.T) {
	one, two := chat.TextMessage(chat.User, "1"), chat.TextMessage(chat.User, "2")
	tests := []struct {
		name    string
		answers []*event.RequestAnswer
		want    func(event.Shape) bool
	}{
		{"nobody shapes", []*event.RequestAnswer{nil, {}}, func(s event.Shape) bool {
			return s.System == nil && s.Allow == nil && s.Exclude == nil && len(s.By) == 0
		}},
		{"system and prompt prefix: the last counts", []*event.RequestAnswer{
			{System: text("x"), PromptPrefix: text("p")},
			{System: text("y")},
		}, func(s event.Shape) bool {
			return *s.System == "y" && s.By["system"] == "b" && s.PromptPrefix == "p" && s.By["prompt_prefix"] == "a"
		}},
		{"prefixes and suffixes add up", []*event.RequestAnswer{
			{Prefix: []chat.Message{one}, Suffix: text("s1")},
			{Prefix: []chat.Message{two}, Suffix: text("")},
			{Suffix: text("s2")},
		}, func(s event.Shape) bool {
			return len(s.Prefix) == 2 && s.Prefix[1].Text() == "2" && slices.Equal(s.Suffix, []string{"s1", "s2"}) && s.By["suffix"] == "c" && s.By["prefix"] == "b"
		}},
		{"excluded tools add up", []*event.RequestAnswer{{Exclude: []string{"a"}}, {Exclude: []string{"b", "a"}}}, func(s event.Shape) bool {
			return maps.Equal(s.Exclude, map[string]bool{"a": true, "b": true})
		}},
		{"allowed tools only become fewer", []*event.RequestAnswer{
			{AllowSet: true, Allow: []string{"a", "b", "c"}},
			{AllowSet: true, Allow: []string{"b", "c", "d"}},
			{Allow: []string{"d"}},
		}, func(s event.Shape) bool {
			return maps.Equal(s.Allow, map[string]bool{"b": true, "c": true}) && s.By["allow_tools"] == "b"
		}},
		{"then adds up and names everybody; of models the first counts", []*event.RequestAnswer{
			{Then: "one"},
			{Model: "cheap", Then: "two"},
			{Model: "dear"},
		}, func(s event.Shape) bool {
			return slices.Equal(s.Then, []event.Continuation{{Text: "one", By: "a"}, {Text: "two", By: "b"}}) &&
				s.Model == "cheap" && s.By["model"] == "b" && s.By["then"] == "b"
		}},
		{"of messages and history the later counts: history", []*event.RequestAnswer{
			{Messages: []chat.Message{one}}, {History: event.HistoryRun},
		}, func(s event.Shape) bool {
			return s.Messages == nil && s.History == event.HistoryRun && s.By["history"] == "b" && s.By["messages"] == ""
		}},
		{"of messages and history the later counts: messages", []*event.RequestAnswer{
			{History: event.HistoryRun}, {History: event.HistoryAll}, {Messages: []chat.Message{one}}, {},
		}, func(s event.Shape) bool {
			return len(s.Messages) == 1 && s.History == "" && s.By["history"] == "" && s.By["messages"] == "c"
		}},
		{"no messages are no answer", []*event.RequestAnswer{{Messages: []chat.Message{}}}, func(s event.Shape) bool {
			return s.Messages == nil && len(s.By) == 0
		}},
		{"no tool at all", []*event.RequestAnswer{{AllowSet: true}, {AllowSet: true, Allow: []string{"a"}}}, func(s event.Shape) bool {
			return s.Allow != nil && len(s.Allow) == 0
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := &event.RequestEvent{}
			if faults := dispatch(event.Request, e, test.answers...); faults != "" {
				t.Error(faults)
			}
			if !test.want(e.Shape) {
				t.Errorf("shape %+v", e.Shape)
			}
		})
	}
}

// An answer that is wrong in one field does not count at all, and names who gave it.
func TestRequestRefusals(t *testing.T) {
	call := func(ids ...string) chat.Message {
		m := chat.Message{Role: chat.Assistant}
		for _, id := range ids {
			m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Call, ID: id})
		}
		return m
	}
	result := func(id string) chat.Message {
		return chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: id}}}
	}
	photo := result("1")
	photo.Blocks = append(photo.Blocks, chat.Block{Kind: chat.Image, Data: []byte("i")})
	user := chat.TextMessage(chat.User, "u")
	for name, c := range map[string]struct {
		answer event.RequestAnswer
		want   string
	}{
		"whole":                  {event.RequestAnswer{Messages: []chat.Message{user, call("1", "2"), result("2"), result("1"), user}}, ""},
		"images of a result":     {event.RequestAnswer{Messages: []chat.Message{call("1"), photo}}, ""},
		"no result":              {event.RequestAnswer{Messages: []chat.Message{user, call("1")}}, `a: messages: the call "1" is parted from its result: keep both or drop both`},
		"something in between":   {event.RequestAnswer{Messages: []chat.Message{call("1"), user, result("1")}}, `a: messages: the call "1" is parted from its result: keep both or drop both`},
		"one of two":             {event.RequestAnswer{Messages: []chat.Message{call("1", "2"), result("1"), call("3"), result("3")}}, `a: messages: the call "2" is parted from its result: keep both or drop both`},
		"no call":                {event.RequestAnswer{Messages: []chat.Message{user, result("9")}}, `a: messages: messages[1] is the result of "9", whose call does not stand before it: keep both or drop both`},
		"twice":                  {event.RequestAnswer{Messages: []chat.Message{call("1"), result("1"), result("1")}}, `a: messages: messages[2] is the result of "1", whose call does not stand before it: keep both or drop both`},
		"messages and history":   {event.RequestAnswer{Messages: []chat.Message{user}, History: "run"}, "a: messages and history together: one of them says what to send"},
		"no messages beside one": {event.RequestAnswer{Messages: []chat.Message{}, History: "run"}, ""},
		"another history":        {event.RequestAnswer{History: "some"}, `a: history is "all" or "run", not "some"`},
	} {
		c.answer.Suffix = text("s")
		e := &event.RequestEvent{}
		if faults := dispatch(event.Request, e, &c.answer); faults != c.want {
			t.Errorf("%s: faults %q, want %q", name, faults, c.want)
		}
		if counted := len(e.Shape.Suffix) == 1; counted != (c.want == "") {
			t.Errorf("%s: the rest of the answer counted: %v", name, counted)
		}
	}
}

// Each listener reads the messages that the one before left.
func TestRequestMessagesAreAWaterfall(t *testing.T) {
	history := []chat.Message{chat.TextMessage(chat.User, "old"), chat.TextMessage(chat.User, "new")}
	e := &event.RequestEvent{
		Messages: func() []chat.Message { return history },
		History: func(run bool) []chat.Message {
			if run {
				return history[1:]
			}
			return history
		},
	}
	e.Keep("a view")
	b := bus.New(bus.NewStore())
	port := bus.PortOf(b, event.Request)
	var seen []int
	for i, a := range []*event.RequestAnswer{{History: "run"}, {Messages: append(history, history...)}, {Suffix: text("s")}, {History: "all"}, nil} {
		name := string(rune('a' + i))
		add, _ := port.Put(bus.At(bus.ClassHome, 0, name), bus.Owner{Name: name}, bus.Listener[event.RequestEvent, event.RequestAnswer]{
			Do: func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
				list := e.Messages()
				seen = append(seen, len(list))
				list[0] = chat.Message{} // its own to change, from the first replacement on
				return a, nil
			},
		})
		b.Store().Commit(add)
	}
	history = slices.Clone(history)
	port.Send(t.Context(), e)
	if !slices.Equal(seen, []int{2, 1, 4, 4, 2}) || e.View() != nil || e.Shape.Messages != nil {
		t.Errorf("seen %v, shape %+v", seen, e.Shape)
	}
}

func TestProviderError(t *testing.T) {
	wait := func(ms int) *event.ProviderErrorAnswer { return &event.ProviderErrorAnswer{WaitMS: &ms} }
	e := &event.ProviderErrorEvent{}
	faults := dispatch(event.ProviderError, e, nil, wait(-1), &event.ProviderErrorAnswer{Model: "b"}, wait(0), wait(7),
		&event.ProviderErrorAnswer{Model: "c", Stop: refusal("enough")}, &event.ProviderErrorAnswer{Stop: refusal("more")})
	d := e.Decision
	if faults != "b: wait_ms must not be negative" {
		t.Errorf("faults %q", faults)
	}
	if d.Model != "b" || d.ModelBy != "c" || *d.WaitMS != 0 || d.Stop.Why != "enough" || d.Stop.By.Name != "f" {
		t.Errorf("decision %+v", d)
	}
}

func TestToolCall(t *testing.T) {
	rewrite := func(s string) *event.ToolCallAnswer { return &event.ToolCallAnswer{Arguments: json.RawMessage(s)} }
	paths := func(raw json.RawMessage) ([]string, bool) { return []string{string(raw)}, true }

	e := &event.ToolCallEvent{Arguments: json.RawMessage(`{}`), ArgumentsJSON: `{}`, PathsOf: paths}
	e.Keep("a view")
	dispatch(event.ToolCall, e, nil, rewrite(`{"a":1}`), rewrite(`{"b":2}`))
	if e.ArgumentsJSON != `{"b":2}` || string(e.Arguments) != e.ArgumentsJSON || e.Rewritten != "c" || e.Blocked {
		t.Errorf("rewritten: %+v", e)
	}
	if !slices.Equal(e.Paths, []string{`{"b":2}`}) || !e.PathsKnown || e.View() != nil {
		t.Errorf("paths %v, view %v", e.Paths, e.View())
	}

	e = &event.ToolCallEvent{ArgumentsJSON: `{}`}
	block := &event.ToolCallAnswer{Block: &bus.Refusal{Why: "no", Stop: true}}
	dispatch(event.ToolCall, e, block, rewrite(`{"a":1}`))
	if !e.Blocked || e.Refused.Why != "no" || !e.Refused.Stop || e.Refused.By.Name != "a" || e.ArgumentsJSON != `{}` {
		t.Errorf("blocked: %+v", e)
	}

	// A second rewrite fails, and the guard event fails closed.
	e = &event.ToolCallEvent{Recheck: true, ArgumentsJSON: `{"a":1}`}
	faults := dispatch(event.ToolCall, e, rewrite(`{"b":2}`))
	want := "arguments were rewritten once already; a second rewrite refuses the call"
	if !e.Blocked || e.Refused.Why != "a failed to decide: "+want || faults != "a: "+want || e.ArgumentsJSON != `{"a":1}` {
		t.Errorf("rechecked: %+v, faults %q", e.Refused, faults)
	}
}

func TestToolResult(t *testing.T) {
	yes := true
	e := &event.ToolResultEvent{Content: "ok", Details: json.RawMessage(`1`)}
	e.Keep("a view")
	dispatch(event.ToolResult, e,
		&event.ToolResultAnswer{Content: text("shorter")},
		nil,
		&event.ToolResultAnswer{IsError: &yes},
		&event.ToolResultAnswer{Details: json.RawMessage(`2`)})
	if e.Content != "shorter" || !e.IsError || string(e.Details) != "2" || e.View() != nil {
		t.Errorf("got %+v", e)
	}
}

func TestTurnEnd(t *testing.T) {
	e := &event.TurnEndEvent{}
	dispatch(event.TurnEnd, e, &event.TurnEndAnswer{}, &event.TurnEndAnswer{Stop: refusal("enough")}, &event.TurnEndAnswer{Stop: refusal("more")})
	if e.Stopped == nil || e.Stopped.Why != "enough" || e.Stopped.By.Name != "b" {
		t.Errorf("stopped %+v", e.Stopped)
	}
}

func TestSystemPrompt(t *testing.T) {
	tests := []struct {
		name    string
		start   string
		answers []*event.SystemPromptAnswer
		want    string
	}{
		{"nothing", "base", []*event.SystemPromptAnswer{nil, {}}, "base"},
		{"append", "base", []*event.SystemPromptAnswer{{Append: "one"}, {Append: "two"}}, "base\n\none\n\ntwo"},
		{"append to nothing", "", []*event.SystemPromptAnswer{{Append: "one"}}, "one"},
		{"replace", "base", []*event.SystemPromptAnswer{{Append: "lost"}, {Replace: text("new")}, {Append: "kept"}}, "new\n\nkept"},
		{"replace, then append, in one answer", "base", []*event.SystemPromptAnswer{{Append: "x", Replace: text("new")}}, "new\n\nx"},
		{"replace with nothing", "base", []*event.SystemPromptAnswer{{Replace: text("")}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := &event.SystemPromptEvent{Text: test.start}
			dispatch(event.SystemPrompt, e, test.answers...)
			if e.Text != test.want {
				t.Errorf("got %q, want %q", e.Text, test.want)
			}
		})
	}
}

// TestLaws: mode and policy of every event, as plugin-api tells them.
func TestLaws(t *testing.T) {
	type topic interface {
		Name() string
		Mode() bus.Mode
		Policy() bus.Policy
		Coalesced() bool
	}
	laws := map[string]topic{
		"code/system-prompt waterfall":       event.SystemPrompt,
		"agent/prompt refusable":             event.Prompt,
		"agent/run-start emit":               event.RunStart,
		"agent/turn-start emit":              event.TurnStart,
		"agent/request fields":               event.Request,
		"agent/event emit coalesced":         event.Stream,
		"agent/message emit":                 event.Message,
		"agent/tool-call refusable closed":   event.ToolCall,
		"agent/tool-progress emit coalesced": event.ToolProgress,
		"agent/tool-result waterfall":        event.ToolResult,
		"agent/turn-end refusable":           event.TurnEnd,
		"agent/run-end emit":                 event.RunEnd,
		"code/notice emit":                   event.Notice,
		"agent/provider-error fields":        event.ProviderError,
		"code/tick emit":                     event.Tick,
		"code/session-start emit":            event.SessionStart,
		"code/session-end emit":              event.SessionEnd,
		"code/permission verdicts closed":    event.Permission,
		"code/question emit":                 event.Question,
		"code/answer emit":                   event.Answer,
		"code/process-exit emit":             event.ProcessExit,
		"code/file-change emit":              event.FileChange,
		"my/event emit":                      event.CustomTopic("my/event"),
	}
	var names []string
	for law, topic := range laws {
		got := topic.Name() + " " + topic.Mode().String()
		if topic.Policy() == bus.Closed {
			got += " closed"
		}
		if topic.Coalesced() {
			got += " coalesced"
		}
		if got != law {
			t.Errorf("got %s, want %s", got, law)
		}
		if topic.Name() != "my/event" {
			names = append(names, topic.Name())
		}
	}
	sort.Strings(names)
	if !slices.Equal(names, event.Names()) {
		t.Errorf("names %q, want %q", event.Names(), names)
	}
}

func TestNames(t *testing.T) {
	for _, name := range event.Names() {
		if !event.InFamily(name) || event.Later(name) {
			t.Errorf("%s: in a family %v, later %v", name, event.InFamily(name), event.Later(name))
		}
	}
	if !event.InFamily("agent/anything") || event.InFamily("my/agent/x") || event.InFamily("agent") {
		t.Error("families are told by their prefix")
	}
	if event.Later("my/event") {
		t.Error("a custom event is not one of a later version")
	}
}

func TestMemo(t *testing.T) {
	var m event.Memo
	if m.View() != nil {
		t.Error("a fresh memo holds something")
	}
	m.Keep(1)
	m.Keep("of another type")
	if m.View() != "of another type" {
		t.Errorf("view %v", m.View())
	}
	m.Clear()
	if m.View() != nil {
		t.Error("a cleared memo holds something")
	}
}

// A refusal beats an answer, the first answer stands, notes add up.
func TestToolCallAnswers(t *testing.T) {
	answer := func(s string) *event.ToolCallAnswer {
		return &event.ToolCallAnswer{Answer: &event.ToolAnswer{Content: s}}
	}
	e := &event.ToolCallEvent{ArgumentsJSON: `{}`}
	first := answer("one")
	first.Note = "n1"
	dispatch(event.ToolCall, e, first, answer("two"), &event.ToolCallAnswer{Note: "n2"})
	if e.Answered == nil || e.Answered.Content != "one" || e.Answered.By != "a" {
		t.Errorf("answered %+v", e.Answered)
	}
	if !slices.Equal(e.Notes, []event.Note{{By: "a", Text: "n1"}, {By: "c", Text: "n2"}}) {
		t.Errorf("notes %+v", e.Notes)
	}
	e = &event.ToolCallEvent{ArgumentsJSON: `{}`}
	dispatch(event.ToolCall, e, answer("one"), &event.ToolCallAnswer{Block: &bus.Refusal{Why: "no"}})
	if !e.Blocked || e.Refused == nil {
		t.Errorf("a block after an answer: %+v", e)
	}
	r := &event.ToolResultEvent{Content: "x"}
	dispatch(event.ToolResult, r, nil, &event.ToolResultAnswer{Note: "n"})
	if r.Content != "x" || !slices.Equal(r.Notes, []event.Note{{By: "b", Text: "n"}}) {
		t.Errorf("result %+v", r)
	}
}

// Of opinions the strongest stands, with its earliest reason; a failure denies.
func TestPermission(t *testing.T) {
	v := func(k bus.VerdictKind, why string) *bus.Verdict { return &bus.Verdict{Kind: k, Why: why} }
	e := &event.PermissionEvent{}
	dispatch(event.Permission, e, v(bus.Allow, ""), v(bus.Ask, "first"), v(bus.Ask, "second"), v(bus.Allow, ""))
	if e.Verdict.Kind != bus.Ask || e.Verdict.Why != "first" || e.Verdict.By.Name != "b" {
		t.Errorf("verdict %+v", e.Verdict)
	}
	dispatch(event.Permission, e, v(bus.Deny, "no"))
	if e.Verdict.Kind != bus.Deny || e.Verdict.Why != "no" {
		t.Errorf("verdict %+v", e.Verdict)
	}
	if e = (&event.PermissionEvent{}); e.Verdict.Kind != bus.NoOpinion {
		t.Errorf("nobody: %+v", e.Verdict)
	}
}
