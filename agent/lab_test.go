package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/agent"
	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/tools"
)

// lab is an agent with everything around it that a test may set.
type lab struct {
	store    *bus.Store
	bus      *bus.Bus
	slot     *spec.Registry[spec.Tool]
	failures []bus.Failure
	options  agent.Options
	agent    *agent.Agent
	requests []provider.Request
	mu       sync.Mutex
}

// newLab makes an agent whose model answers with steps. change, if not nil, may
// set options.
func newLab(steps []spec.Step, change func(*agent.Options)) *lab {
	l := &lab{store: bus.NewStore()}
	l.bus = bus.New(l.store)
	l.bus.Report = func(_ context.Context, f bus.Failure) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failures = append(l.failures, f)
	}
	l.slot = spec.NewRegistry[spec.Tool](l.store, "tools")
	l.options = agent.Options{
		Bus: l.bus, Tools: tools.New(l.slot), Provider: scripted.New(steps, scripted.Clock), Model: "script:test",
	}
	if change != nil {
		change(&l.options)
	}
	if l.options.Provider != nil {
		l.options.Provider = recording{l, l.options.Provider}
	}
	l.agent = agent.New(l.options)
	return l
}

// recording keeps the requests that were sent.
type recording struct {
	l *lab
	p provider.Provider
}

func (r recording) Stream(ctx context.Context, req provider.Request, sink provider.Sink) {
	r.l.mu.Lock()
	r.l.requests = append(r.l.requests, req)
	r.l.mu.Unlock()
	r.p.Stream(ctx, req, sink)
}

func (l *lab) tool(t spec.Tool) (leave func()) {
	add, remove := l.slot.Slot().Put(bus.At(bus.ClassHost, 0, t.Name), bus.Owner{Name: "host"}, t)
	l.store.Commit(add)
	return func() { l.store.Commit(remove) }
}

// echo is a tool that returns its text argument.
func echo(name string) spec.Tool {
	return spec.Tool{
		Name:       name,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		Execute: func(_ context.Context, c spec.ToolCall) (spec.ToolResult, error) {
			var a struct{ Text string }
			if err := json.Unmarshal(c.Arguments, &a); err != nil {
				return spec.ToolResult{}, err
			}
			return spec.ToolResult{Content: a.Text}, nil
		},
		Paths: func(raw json.RawMessage) ([]string, bool) {
			var a struct{ Text string }
			_ = json.Unmarshal(raw, &a)
			return []string{a.Text}, true
		},
		ReadOnly: true,
	}
}

// listen subscribes do to a topic in the name of a plugin.
func listen[E, A any](l *lab, name string, t *bus.Topic[E, A], do func(context.Context, *E) (*A, error)) (leave func()) {
	add, remove := bus.PortOf(l.bus, t).Put(bus.At(bus.ClassHome, 0, name), bus.Owner{Name: name}, bus.Listener[E, A]{Do: do})
	l.store.Commit(add)
	return func() { l.store.Commit(remove) }
}

// watch subscribes a listener that only looks.
func watch[E, A any](l *lab, t *bus.Topic[E, A], do func(*E)) {
	listen(l, "watch", t, func(_ context.Context, e *E) (*A, error) { do(e); return nil, nil })
}

// log is what happened, in order, one line an event.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// logAll writes down every event with every field of its payload.
func logAll(l *lab) *log {
	out := &log{}
	watch(l, event.Prompt, func(e *event.PromptEvent) { out.add("prompt %q first=%v", e.Text, e.First) })
	watch(l, event.RunStart, func(e *event.RunStartEvent) { out.add("run-start task=%q", e.Run.Task()) })
	watch(l, event.TurnStart, func(e *event.TurnStartEvent) { out.add("turn-start %d", e.Run.Turn()) })
	watch(l, event.Request, func(e *event.RequestEvent) {
		out.add("request turn=%d/%d start=%d length=%d tokens>0=%v model=%s messages=%d",
			e.Turn, e.MaxTurns, e.RunStart, e.Length, e.Tokens > 0, e.Model, len(e.Messages()))
	})
	watch(l, event.Stream, func(e *event.StreamEvent) {
		out.add("event %s turn=%d index=%d block=%s text=%q stop=%s", e.Kind, e.Turn, e.Index, e.Block, e.Text, e.Stop)
	})
	watch(l, event.Message, func(e *event.MessageEvent) {
		out.add("message text=%q thinking=%q usage=%v run=%v", e.Text, e.Thinking, e.Usage.Output > 0, e.Run.Usage().Output > 0)
		for _, c := range e.Calls {
			out.add("  call %s %s %s", c.ID, c.Name, c.Arguments)
		}
	})
	watch(l, event.ToolCall, func(e *event.ToolCallEvent) {
		out.add("tool-call %s %s %s json=%s paths=%v,%v known=%v blocked=%v recheck=%v origin=%s", e.ID, e.Name, e.Arguments,
			e.ArgumentsJSON, e.Paths, e.PathsKnown, e.Known, e.Blocked, e.Recheck, e.Origin)
	})
	watch(l, event.ToolProgress, func(e *event.ToolProgressEvent) { out.add("tool-progress %s %s %q", e.ID, e.Tool, e.Chunk) })
	watch(l, event.ToolResult, func(e *event.ToolResultEvent) {
		out.add("tool-result %s %s %s turn=%d %q error=%v details=%s", e.ID, e.Name, e.Arguments, e.Turn, e.Content, e.IsError, e.Details)
	})
	watch(l, event.TurnEnd, func(e *event.TurnEndEvent) {
		out.add("turn-end %s calls=%d usage=%v error=%q turn=%d", e.StopReason, e.Calls, e.Usage.Output > 0, e.Error, e.Run.Turn())
	})
	watch(l, event.RunEnd, func(e *event.RunEndEvent) {
		success := "unknown"
		if e.Success != nil {
			success = fmt.Sprint(*e.Success)
		}
		out.add("run-end %s turns=%d usage=%v error=%q success=%s", e.Stop, e.Turns, e.Usage.Output > 0, e.Error, success)
	})
	watch(l, event.Notice, func(e *event.NoticeEvent) { out.add("notice %s", e.Text) })
	return out
}

func call(name, arguments string) spec.StepCall {
	return spec.StepCall{ID: "c-" + name, Name: name, Arguments: json.RawMessage(arguments)}
}

func calls(c ...spec.StepCall) spec.Step { return spec.Step{Calls: c} }

func say(text string) spec.Step { return spec.Step{Text: text} }

func repeat(n int, s spec.Step) []spec.Step {
	steps := make([]spec.Step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

// results are the tool results of a transcript, in order, errors marked.
func results(messages []chat.Message) []string {
	var out []string
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Kind == chat.Result {
				text := b.Name + ": " + b.Text
				if b.IsError {
					text = "! " + text
				}
				out = append(out, text)
			}
		}
	}
	return out
}

// roles is the transcript in short: role and text of each message.
func roles(messages []chat.Message) string {
	var out []string
	for _, m := range messages {
		text := m.Text()
		for _, b := range m.Blocks {
			switch b.Kind {
			case chat.Call:
				text += "[" + b.Name + "]"
			case chat.Result:
				text += b.Text
			}
		}
		out = append(out, string(m.Role)+" "+text)
	}
	return strings.Join(out, "\n")
}

// validRequest returns what is wrong with a request, "" when nothing is.
func validRequest(req provider.Request) string {
	var open []string
	for i, m := range req.Messages {
		if len(m.Blocks) == 0 {
			return fmt.Sprintf("message %d (%s) is empty", i, m.Role)
		}
		if len(open) > 0 && m.Role != chat.ToolRole {
			return fmt.Sprintf("message %d (%s) stands between call %s and its result", i, m.Role, open[0])
		}
		for _, b := range m.Blocks {
			switch {
			case b.Kind == chat.Result && (m.Role != chat.ToolRole || len(open) == 0 || open[0] != b.ID):
				return fmt.Sprintf("message %d: result %s, but open are %v", i, b.ID, open)
			case b.Kind == chat.Result && b.Text == "":
				return fmt.Sprintf("message %d: empty result", i)
			case b.Kind == chat.Result:
				open = open[1:]
			case b.Kind == chat.Text && strings.TrimSpace(b.Text) == "":
				return fmt.Sprintf("message %d: blank text", i)
			case b.Kind == chat.Call:
				var object map[string]any
				if m.Role != chat.Assistant || b.ID == "" || json.Unmarshal([]byte(b.Arguments), &object) != nil || tools.ValidateName(b.Name) != nil {
					return fmt.Sprintf("message %d: bad call %+v", i, b)
				}
				open = append(open, b.ID)
			}
		}
	}
	if len(open) > 0 {
		return "no result for " + open[0]
	}
	return ""
}

// within fails a test that waits for something that should have come long ago.
func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not happen", what)
	}
}

// patient is a context for runs that wait for each other's steps: a fault ends
// them as failed instead of never.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
