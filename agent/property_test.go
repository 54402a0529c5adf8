package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/agent"
	"starling/agent/provider/scripted"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

// tape decides what listeners and tools do; it may be read from any goroutine.
type tape struct {
	mu    sync.Mutex
	items []int
	at    int
}

// next returns a number below n; a tape that is over says 0, which is harmless.
func (t *tape) next(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == len(t.items) {
		return 0
	}
	t.at++
	return t.items[t.at-1] % n
}

var errOdd = errors.New("odd")

// mischief is what a listener of any event may do besides answering.
func (t *tape) mischief(l *lab) error {
	run := l.agent.CurrentRun()
	switch t.next(12) {
	case 6:
		panic("odd")
	case 7:
		return errOdd
	}
	if run == nil {
		return nil
	}
	switch t.next(40) {
	case 30, 31, 32:
		return run.Note("a note")
	case 33, 34, 35:
		return run.PushUser("a push")
	case 36:
		return run.Cancel("enough")
	}
	return nil
}

func random(l *lab, tp *tape) {
	text := func() *string { return []*string{nil, nil, ptr(""), ptr("changed")}[tp.next(4)] }
	listen(l, "r", event.Prompt, func(context.Context, *event.PromptEvent) (*event.PromptAnswer, error) {
		if tp.next(20) == 19 {
			return &event.PromptAnswer{Reject: &bus.Refusal{}}, nil
		}
		return nil, tp.mischief(l)
	})
	watchRandom(l, tp, event.RunStart)
	watchRandom(l, tp, event.TurnStart)
	watchRandom(l, tp, event.Stream)
	watchRandom(l, tp, event.Message)
	watchRandom(l, tp, event.ToolProgress)
	watchRandom(l, tp, event.RunEnd)
	watchRandom(l, tp, event.Notice)
	listen(l, "r", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
		a := &event.RequestAnswer{System: text(), Suffix: text(), PromptPrefix: text()}
		switch tp.next(20) {
		case 15:
			if list := e.Messages(); len(list) > 0 { // may part a call from its result
				a.Messages = list[tp.next(len(list)):]
			}
		case 16:
			a.Messages = []chat.Message{chat.TextMessage(chat.User, "instead"), {Role: chat.Assistant}}
		case 17:
			a.History = "run"
		case 18:
			a.Then = "a push"
		case 19:
			if h, err := e.Run.Hold(time.Hour); err == nil {
				h.Release()
			}
		case 4:
			a.Prefix = []chat.Message{
				chat.TextMessage(chat.User, ""), chat.TextMessage(chat.User, "example"),
				{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "p", Name: "x", Arguments: "{"}}},
				{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "q", Text: "orphan"}}},
			}
		case 5:
			a.Exclude = []string{"echo"}
		case 6:
			a.Allow, a.AllowSet = []string{"echo"}, true
		case 7:
			a.AllowSet = true
		}
		return a, tp.mischief(l)
	})
	listen(l, "r", event.ToolCall, func(context.Context, *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
		switch tp.next(10) {
		case 5:
			return block("no", false), nil
		case 6:
			return block("no", tp.next(3) == 2), nil
		case 7:
			return rewrite(`{"text":"rewritten"}`), nil
		case 8:
			return rewrite(`{"text":7}`), nil
		}
		return nil, tp.mischief(l)
	})
	listen(l, "r", event.ToolResult, func(context.Context, *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
		return &event.ToolResultAnswer{Content: text()}, tp.mischief(l)
	})
	listen(l, "r", event.TurnEnd, func(context.Context, *event.TurnEndEvent) (*event.TurnEndAnswer, error) {
		if tp.next(20) == 19 {
			return &event.TurnEndAnswer{Stop: &bus.Refusal{}}, nil
		}
		return nil, tp.mischief(l)
	})
}

func watchRandom[E any](l *lab, tp *tape, t *bus.Topic[E, bus.None]) {
	listen(l, "r", t, func(context.Context, *E) (*bus.None, error) { return nil, tp.mischief(l) })
}

func randomTools(l *lab, tp *tape) {
	for _, sequential := range []bool{false, true} {
		tool := echo("echo")
		if sequential {
			tool.Name = "single"
		}
		run := tool.Execute
		tool.Sequential = sequential
		tool.Execute = func(ctx context.Context, c spec.ToolCall) (spec.ToolResult, error) {
			c.Progress("at work")
			switch tp.next(8) {
			case 5:
				panic("odd")
			case 6:
				return spec.ToolResult{}, errOdd
			case 7:
				return spec.ToolResult{}, nil
			}
			return run(ctx, c)
		}
		l.tool(tool)
	}
}

var randomSteps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) spec.Step {
	return spec.Step{
		Thinking: rapid.SampledFrom([]string{"", "", "hm"}).Draw(t, "thinking"),
		Text:     rapid.SampledFrom([]string{"", " ", "an answer", "é\n"}).Draw(t, "text"),
		Error:    rapid.SampledFrom([]string{"", "", "", "", "", "", "overloaded"}).Draw(t, "error"),
		Calls: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) spec.StepCall {
			return spec.StepCall{
				ID:        rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "id"),
				Name:      rapid.SampledFrom([]string{"echo", "echo", "single", "absent", "", "no name"}).Draw(t, "name"),
				Arguments: json.RawMessage(rapid.SampledFrom([]string{`{"text":"a"}`, `{"text":"a"}`, "", "null", "{", "[]", `{"text":1}`}).Draw(t, "arguments")),
			}
		}), 0, 3).Draw(t, "calls"),
	}
}), 0, 8)

// For any script and whatever listeners and tools do: every request is valid,
// the transcript only grows, every call has its result, and the outcome is
// whole.
func TestAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := randomSteps.Draw(t, "steps")
		tp := &tape{items: rapid.SliceOfN(rapid.IntRange(0, 1<<16), 0, 200).Draw(t, "tape")}
		l := newLab(steps, func(o *agent.Options) { o.MaxTurns = 6 })
		randomTools(l, tp)
		random(l, tp)
		var before []chat.Message
		grows := func() {
			now := l.agent.Transcript()
			if len(now) < len(before) || len(before) > 0 && !reflect.DeepEqual(now[:len(before)], before) {
				t.Fatalf("the transcript changed:\n%s\nwas\n%s", roles(now), roles(before))
			}
			before = now
		}
		watch(l, event.TurnStart, func(*event.TurnStartEvent) { grows() })
		watch(l, event.TurnEnd, func(*event.TurnEndEvent) { grows() })
		for range 3 {
			o := l.agent.Run(context.Background(), "go")
			grows()
			whole(t, o)
			if l.agent.CurrentRun() != nil {
				t.Fatal("a run is left")
			}
			if asked, answered := count(l.agent.Transcript()); asked != answered {
				t.Fatalf("%d calls, %d results\n%s", asked, answered, roles(l.agent.Transcript()))
			}
		}
		for _, req := range l.requests {
			if bad := validRequest(req); bad != "" {
				t.Fatalf("%s in\n%s", bad, roles(req.Messages))
			}
		}
	})
}

func count(messages []chat.Message) (asked, answered int) {
	for _, m := range messages {
		asked += len(m.Calls())
	}
	return asked, len(results(messages))
}

func whole(t *rapid.T, o agent.Outcome) {
	if (o.Limit != "") != (o.Stop == agent.StopLimit) {
		t.Fatalf("%+v", o)
	}
	switch o.Stop {
	case agent.StopEnd:
		if o.StopWhy != "" || o.Err != nil || o.Turns == 0 {
			t.Fatalf("%+v", o)
		}
	case agent.StopError:
		if o.Err == nil || o.StopWhy != o.Err.Error() || strings.Contains(o.StopWhy, "panic") {
			t.Fatalf("%+v", o)
		}
	case agent.StopAborted, agent.StopLimit, agent.StopStopped, agent.StopRejected:
		if o.StopWhy == "" || o.Err != nil {
			t.Fatalf("%+v", o)
		}
	default:
		t.Fatalf("%+v", o)
	}
}

// The demo answers any prompt in text after one call at most.
func TestDemoEndsAnyPrompt(t *testing.T) {
	top, n := t.TempDir(), 0
	word := rapid.SampledFrom([]string{
		"count", "words", "in", "README.md", "read", "show", "write", "create", `"hello there"`, "'x'", "to", "with", "text",
		"notes.txt", "../out.txt", "/etc/passwd", "sub/new.md", ":", "the", "~/x.y", "é.ü", "\n", "a/", "./", "word_count",
	})
	prompts := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), " ")
	}))
	rapid.Check(t, func(t *rapid.T) { demoEnds(t, filepath.Join(top, fmt.Sprint(n)), prompts); n++ })
}

func noPause(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func demoEnds(t *rapid.T, top string, prompts *rapid.Generator[string]) {
	dir := filepath.Join(top, "ws")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "README.md"), []byte("one two three\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	l := newLab(nil, func(o *agent.Options) { o.Provider = scripted.DemoOn(noPause) })
	for _, tool := range fs.New(jail).All() {
		l.tool(tool)
	}
	if rapid.Bool().Draw(t, "plugin") {
		l.tool(wordCount(jail))
	}
	prompt := prompts.Draw(t, "prompt")
	o := l.agent.Run(context.Background(), prompt)
	if strings.TrimSpace(prompt) == "" {
		return // refused before the model sees it
	}
	if o.Stop != agent.StopEnd || o.Turns > 2 || strings.TrimSpace(o.Text) == "" {
		t.Fatalf("%q: %+v", prompt, o)
	}
	if outside, _ := os.ReadDir(filepath.Dir(dir)); len(outside) != 1 {
		t.Fatalf("%q wrote outside", prompt)
	}
}

// wordCount is the tool a plugin would bring.
func wordCount(jail *trust.Jail) spec.Tool {
	return spec.Tool{
		Name:       "word_count",
		Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		Execute: func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
			var a struct{ Path string }
			if err := json.Unmarshal(c.Arguments, &a); err != nil {
				return spec.ToolResult{}, err
			}
			b, err := jail.ReadFile(a.Path, 0)
			return spec.ToolResult{Content: fmt.Sprint(len(strings.Fields(string(b))))}, err
		},
		ReadOnly: true,
	}
}

func TestDemoCountsWords(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(strings.Repeat("word ", 312)), 0o644); err != nil {
		t.Fatal(err)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	l := newLab(nil, func(o *agent.Options) { o.Provider = scripted.Demo() })
	l.tool(wordCount(jail))
	if o := l.agent.Run(t.Context(), "count the words in README.md"); o.Text != "README.md has 312 words." || o.Turns != 2 {
		t.Errorf("%+v", o)
	}
}
