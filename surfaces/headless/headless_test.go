package headless_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/headless"
)

// lab is a bus with a printer on it, and the driver of the run.
type lab struct {
	bus      *bus.Bus
	runtime  *compose.Runtime
	printer  *headless.Printer
	out, err *buffer
	prompt   func(ctx context.Context, text string) view.Outcome
	command  func(name, args string) (view.CommandReply, error)
}

// buffer is a writer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (l *lab) Prompt(ctx context.Context, text string, _ ...string) view.Outcome {
	return l.prompt(ctx, text)
}

func (l *lab) Command(_ context.Context, name, args string) (view.CommandReply, error) {
	return l.command(name, args)
}

func (l *lab) Plugins() []view.Plugin {
	return []view.Plugin{{Name: "guard", Origin: "home", Approval: "approved", State: "active", Description: "not listed"}}
}

func newLab(t *testing.T, o headless.Options) *lab {
	t.Helper()
	store := bus.NewStore()
	l := &lab{bus: bus.New(store), runtime: compose.New(compose.Options{Store: store}), out: &buffer{}, err: &buffer{}}
	if o.Out == nil {
		o.Out = l.out
	}
	o.Err = l.err
	l.printer = headless.New(o)
	if _, err := l.runtime.Mount(l.printer.Component(l.bus)); err != nil {
		t.Fatal(err)
	}
	if err := l.runtime.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.runtime.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	l.prompt = func(context.Context, string) view.Outcome { return view.Outcome{Stop: "end", Text: "the answer"} }
	l.command = func(string, string) (view.CommandReply, error) { return view.CommandReply{}, nil }
	return l
}

func (l *lab) run(ctx context.Context, prompt headless.Prompt) int {
	return l.printer.End(ctx, l.printer.Run(ctx, l, prompt))
}

func send[E, A any](l *lab, topic *bus.Topic[E, A], e *E) {
	port := bus.PortOf(l.bus, topic)
	port.Send(context.Background(), e)
}

// handle is a live run.
type handle struct{ event.Run }

func (handle) Model() string { return "demo" }
func (handle) Turn() int     { return 0 }

// aRun announces everything a run has.
func (l *lab) aRun(context.Context, string) view.Outcome {
	send(l, event.SessionStart, &event.SessionStartEvent{ID: "s1", Reason: "new"})
	usage := chat.Usage{Input: 10, Output: 5, Cost: 0.25}
	send(l, event.RunStart, &event.RunStartEvent{Run: handle{}})
	send(l, event.TurnStart, &event.TurnStartEvent{Run: handle{}})
	for _, e := range []event.StreamEvent{
		{Kind: "start"},
		{Kind: "block_start", Block: "thinking"},
		{Kind: "delta", Block: "thinking", Text: "hm"},
		{Kind: "block_end", Block: "thinking"},
		{Kind: "block_start", Block: "text", Index: 1},
		{Kind: "delta", Block: "text", Index: 1, Text: "I "},
		{Kind: "delta", Block: "text", Index: 1, Text: "read"},
		{Kind: "block_end", Block: "text", Index: 1},
		{Kind: "delta", Block: "tool_call", Index: 2, Text: `{"path"`},
		{Kind: "done", Stop: "tool_calls"},
	} {
		send(l, event.Stream, &e)
	}
	send(l, event.Message, &event.MessageEvent{Text: "I read", Thinking: "hm", Usage: usage, Calls: []event.MessageCall{
		{ID: "c1", Name: "read", Arguments: json.RawMessage(`{"path": "a.txt"}`)},
	}})
	call := func(id, name, arguments string) *event.ToolCallEvent {
		return &event.ToolCallEvent{ID: id, Name: name, Arguments: json.RawMessage(arguments), ArgumentsJSON: arguments, Origin: "main"}
	}
	send(l, event.ToolCall, call("c1", "read", `{"path":"a.txt"}`))
	send(l, event.ToolProgress, &event.ToolProgressEvent{ID: "c1", Tool: "read", Chunk: "half"})
	send(l, event.ToolResult, &event.ToolResultEvent{ID: "c1", Name: "read", Content: "hello\nyou", Details: json.RawMessage(`{"lines": 2}`)})
	blocked := call("c2", "write", `{}`)
	blocked.Blocked, blocked.Refused = true, &bus.Refusal{Why: "not today", By: bus.Owner{Name: "guard"}}
	send(l, event.ToolCall, blocked)
	send(l, event.ToolResult, &event.ToolResultEvent{
		ID: "c2", Name: "write", Content: "Blocked by guard: not today", IsError: true,
		Details: json.RawMessage(`{"denied":true,"by":"guard","why":"not today"}`),
	})
	// Refused by the host, before any listener heard of the call.
	send(l, event.ToolResult, &event.ToolResultEvent{
		ID: "c3", Name: "bash", Content: "Blocked", IsError: true,
		Details: json.RawMessage(`{"denied":true,"by":"fence","why":"it is not there"}`),
	})
	l.printer.Notice(view.Notice{From: "guard", Text: "blocked\nsomething", Warn: true})
	send(l, event.RunEnd, &event.RunEndEvent{Stop: "end", Turns: 1, Usage: usage})
	return view.Outcome{Stop: "end", Text: "I read", Turns: 1, Usage: usage, Denied: 2}
}

const wantResult = `{"version":1,"type":"result","exit_code":0,"stop":"end","text":"I read","turns":1,` +
	`"usage":{"input":10,"output":5,"cost":0.25},"model":"demo","session":"s1",` +
	`"denied":[{"id":"c2","tool":"write","by":"guard","why":"not today"},{"id":"c3","tool":"bash","by":"fence","why":"it is not there"}],` +
	`"plugins":[{"name":"guard","origin":"home","approval":"approved","state":"active"}],` +
	`"notices":[{"text":"early"},{"from":"guard","text":"blocked\nsomething","warn":true}]}
`

const wantLines = `{"version":1,"type":"session","session":"s1","plugins":[{"name":"guard","origin":"home","approval":"approved","state":"active"}]}
{"version":1,"type":"notice","text":"early"}
{"version":1,"type":"run_start","model":"demo"}
{"version":1,"type":"turn_start","turn":0}
{"version":1,"type":"delta","turn":0,"index":0,"block":"thinking","text":"hm"}
{"version":1,"type":"delta","turn":0,"index":1,"block":"text","text":"I read"}
{"version":1,"type":"message","turn":0,"text":"I read","thinking":"hm","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a.txt"}}],"usage":{"input":10,"output":5,"cost":0.25}}
{"version":1,"type":"tool_call","id":"c1","name":"read","arguments":{"path":"a.txt"},"origin":"main"}
{"version":1,"type":"tool_progress","id":"c1","name":"read","text":"half"}
{"version":1,"type":"tool_result","id":"c1","name":"read","turn":0,"is_error":false,"content":"hello\nyou","details":{"lines":2}}
{"version":1,"type":"tool_call","id":"c2","name":"write","arguments":{},"origin":"main"}
{"version":1,"type":"tool_result","id":"c2","name":"write","turn":0,"is_error":true,"content":"Blocked by guard: not today","denied":{"by":"guard","why":"not today"}}
{"version":1,"type":"tool_result","id":"c3","name":"bash","turn":0,"is_error":true,"content":"Blocked","denied":{"by":"fence","why":"it is not there"}}
{"version":1,"type":"notice","from":"guard","text":"blocked\nsomething","warn":true}
{"version":1,"type":"run_end","stop":"end","turns":1,"usage":{"input":10,"output":5,"cost":0.25}}
` + wantResult

const wantProgress = `starling: early
→ read {"path":"a.txt"}
← hello (+1 lines)
→ write {}
← error: Blocked by guard: not today
← error: Blocked
[guard] blocked
something
`

func TestFormats(t *testing.T) {
	for format, want := range map[headless.Format]string{
		"": "I read\n", headless.Text: "I read\n", headless.JSON: wantResult, headless.StreamJSON: wantLines,
	} {
		// Inside a bubble time stands still while somebody works: deltas are
		// joined by blocks alone.
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, headless.Options{Format: format})
			l.printer.Notice(view.Notice{Text: "early"})
			l.prompt = l.aRun
			if code := l.run(context.Background(), headless.Prompt{Text: "go"}); code != 0 {
				t.Errorf("%s: code %d", format, code)
			}
			if got := l.out.String(); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
			}
			if got := l.err.String(); got != wantProgress {
				t.Errorf("%s: stderr\n%s\nwant\n%s", format, got, wantProgress)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	l := newLab(t, headless.Options{Quiet: true})
	l.prompt = l.aRun
	l.run(context.Background(), headless.Prompt{Text: "go"})
	if got := l.err.String(); got != "[guard] blocked\nsomething\n" {
		t.Errorf("stderr %q", got)
	}
}

func TestParseFormat(t *testing.T) {
	for _, name := range []string{"text", "json", "stream-json"} {
		if f, err := headless.ParseFormat(name); err != nil || string(f) != name {
			t.Errorf("%s: %q, %v", name, f, err)
		}
	}
	if _, err := headless.ParseFormat("xml"); err == nil || err.Error() != `there is no format "xml": take text, json or stream-json` {
		t.Errorf("xml: %v", err)
	}
}

// fields reads some fields of the only line of stdout.
func (l *lab) fields(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(l.out.String()), &m); err != nil {
		t.Fatalf("%v in %q", err, l.out.String())
	}
	return m
}

// limited is a context whose time is over, under a name of its own.
type limitError struct{}

func (limitError) Error() string        { return "the time limit of 5s is over" }
func (limitError) Is(target error) bool { return target == context.DeadlineExceeded }

func TestEnds(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	late, stop := context.WithTimeoutCause(context.Background(), -1, limitError{})
	defer stop()
	for name, c := range map[string]struct {
		ctx            context.Context
		outcome        view.Outcome
		code           int
		stop, why, err string
	}{
		"end":        {context.Background(), view.Outcome{Stop: "end"}, 0, "end", "", ""},
		"unsaved":    {context.Background(), view.Outcome{Stop: "end", Unsaved: "no space left"}, 1, "end", "", "starling: the run ended, but its session is not on disk as a whole: no space left\n"},
		"denied":     {context.Background(), view.Outcome{Stop: "end", Denied: 1}, 0, "end", "", ""},
		"error":      {context.Background(), view.Outcome{Stop: "error", Why: "why"}, 1, "error", "why", "starling: the run failed: why\n"},
		"rejected":   {context.Background(), view.Outcome{Stop: "rejected", Why: "no"}, 1, "rejected", "no", "starling: the prompt was rejected: no\n"},
		"stopped":    {context.Background(), view.Outcome{Stop: "stopped", Denied: 2}, 4, "stopped", "", "starling: the run was stopped\n"},
		"limit":      {context.Background(), view.Outcome{Stop: "limit", Why: "64 turns", Denied: 1}, 3, "limit", "64 turns", "starling: a limit ended the run: 64 turns\n"},
		"by plugin":  {context.Background(), view.Outcome{Stop: "aborted", Why: "enough"}, 1, "aborted", "enough", "starling: the run was interrupted: enough\n"},
		"by person":  {cancelled, view.Outcome{Stop: "aborted", Denied: 1}, 130, "aborted", "", "starling: the run was interrupted\n"},
		"time":       {late, view.Outcome{Stop: "limit", Why: "time"}, 3, "limit", "the time limit of 5s is over", "starling: a limit ended the run: the time limit of 5s is over\n"},
		"time, late": {late, view.Outcome{Stop: "aborted"}, 3, "limit", "the time limit of 5s is over", "starling: a limit ended the run: the time limit of 5s is over\n"},
		"in time":    {late, view.Outcome{Stop: "end"}, 0, "end", "", ""},
	} {
		l := newLab(t, headless.Options{Format: headless.JSON})
		l.prompt = func(context.Context, string) view.Outcome { return c.outcome }
		code := l.run(c.ctx, headless.Prompt{Text: "go"})
		m := l.fields(t)
		why, _ := m["why"].(string)
		if code != c.code || m["exit_code"] != float64(code) || m["stop"] != c.stop || why != c.why || l.err.String() != c.err {
			t.Errorf("%s: code %d, %v, stderr %q", name, code, m, l.err.String())
		}
	}
}

func TestFail(t *testing.T) {
	for code, stop := range map[int]string{headless.ExitUsage: "error", headless.ExitLimit: "limit", headless.ExitInterrupted: "aborted"} {
		for _, format := range []headless.Format{headless.JSON, headless.StreamJSON, headless.Text} {
			l := newLab(t, headless.Options{Format: format})
			l.printer.Notice(view.Notice{Text: "early"})
			l.printer.Fail(errors.New("no such model"), code)
			if got := l.printer.End(context.Background(), code); got != code {
				t.Errorf("code %d, want %d", got, code)
			}
			if want := "starling: early\nstarling: no such model\n"; l.err.String() != want {
				t.Errorf("stderr %q, want %q", l.err.String(), want)
			}
			lines := strings.Split(strings.TrimSpace(l.out.String()), "\n")
			if format == headless.Text {
				if l.out.String() != "" {
					t.Errorf("stdout %q", l.out.String())
				}
				continue
			}
			var last struct{ Type, Stop, Why string }
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
				t.Fatal(err)
			}
			if last.Type != "result" || last.Stop != stop || last.Why != "no such model" {
				t.Errorf("%s: %+v", format, last)
			}
			if format == headless.StreamJSON && (len(lines) != 2 || !strings.Contains(lines[0], `"type":"notice"`)) {
				t.Errorf("lines %q", lines)
			}
		}
	}
}

func TestCommands(t *testing.T) {
	reply := func(lines ...string) func(string, string) (view.CommandReply, error) {
		return func(name, args string) (view.CommandReply, error) {
			return view.CommandReply{Found: true, Lines: append([]string{name + "(" + args + ")"}, lines...)}, nil
		}
	}
	for name, c := range map[string]struct {
		prompt    headless.Prompt
		command   func(string, string) (view.CommandReply, error)
		code      int
		text, err string
	}{
		"lines":      {headless.Prompt{Text: " /go  a b "}, reply("x\n", "", "y"), 0, "go(a b)\nx\n\ny\n", ""},
		"with input": {headless.Prompt{Text: "/go a", Input: "in"}, reply(), 0, "go(a\n\nin)\n", ""},
		"only input": {headless.Prompt{Input: "/go a"}, reply(), 0, "the answer\n", ""},
		"a path":     {headless.Prompt{Text: "/etc/hosts is what?"}, reply(), 0, "the answer\n", ""},
		"no lines":   {headless.Prompt{Text: "/go"}, func(string, string) (view.CommandReply, error) { return view.CommandReply{Found: true}, nil }, 0, "", ""},
		"fails":      {headless.Prompt{Text: "/go"}, func(string, string) (view.CommandReply, error) { return view.CommandReply{}, errors.New("a\nb") }, 1, "", "starling: /go failed: a\nstarling: b\n"},
		"unknown": {headless.Prompt{Text: "/go"}, func(string, string) (view.CommandReply, error) {
			return view.CommandReply{Known: []string{"a", "b"}}, nil
		}, 2, "", "starling: there is no command /go; there are /a, /b\n"},
		"none": {headless.Prompt{Text: "/go"}, func(string, string) (view.CommandReply, error) { return view.CommandReply{}, nil }, 2, "", "starling: there is no command /go; no plugin offers one\n"},
	} {
		for _, format := range []headless.Format{headless.Text, headless.JSON} {
			l := newLab(t, headless.Options{Format: format})
			l.command = c.command
			code := l.run(context.Background(), c.prompt)
			text := l.out.String()
			if format == headless.JSON {
				m := l.fields(t)
				if text, _ = m["text"].(string); text != "" {
					text += "\n"
				}
				if stop := m["stop"]; (stop == "end") != (c.code == 0) {
					t.Errorf("%s: stop %v", name, stop)
				}
			}
			if code != c.code || text != c.text || l.err.String() != c.err {
				t.Errorf("%s, %s: code %d, stdout %q, stderr %q", name, format, code, text, l.err.String())
			}
		}
	}
}

func TestCommandInterrupted(t *testing.T) {
	late, stop := context.WithTimeoutCause(context.Background(), -1, limitError{})
	defer stop()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for code, c := range map[int]struct {
		ctx  context.Context
		want string
	}{
		130: {cancelled, "starling: the command was interrupted\n"},
		3:   {late, "starling: a limit ended the command: the time limit of 5s is over\n"},
	} {
		l := newLab(t, headless.Options{})
		if got := l.run(c.ctx, headless.Prompt{Text: "/go"}); got != code || l.err.String() != c.want {
			t.Errorf("code %d, stderr %q", got, l.err.String())
		}
	}
}

// A command has the lines of a run without turns; a notice waits for the session.
func TestCommandStreamed(t *testing.T) {
	l := newLab(t, headless.Options{Format: headless.StreamJSON})
	l.command = func(string, string) (view.CommandReply, error) {
		send(l, event.SessionStart, &event.SessionStartEvent{ID: "s2", Reason: "new"})
		l.printer.Notice(view.Notice{Text: "on the way"})
		return view.CommandReply{Found: true, Lines: []string{"done"}}, nil
	}
	l.run(context.Background(), headless.Prompt{Text: "/go"})
	lines := strings.Split(l.out.String(), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"type":"session","session":"s2"`) || !strings.Contains(lines[1], "on the way") || !strings.Contains(lines[2], `"command":"go"`) {
		t.Errorf("got %q", lines)
	}
}

func TestPromptWithInput(t *testing.T) {
	for _, c := range []struct {
		prompt headless.Prompt
		want   string
	}{
		{headless.Prompt{Text: "explain"}, "explain"},
		{headless.Prompt{Input: "text"}, "text"},
		{headless.Prompt{Text: "explain", Input: "text\n"}, "explain\n\ntext\n"},
	} {
		l := newLab(t, headless.Options{})
		var got string
		l.prompt = func(_ context.Context, text string) view.Outcome { got = text; return view.Outcome{Stop: "end"} }
		if l.run(context.Background(), c.prompt); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestNoticesAreCapped(t *testing.T) {
	l := newLab(t, headless.Options{Format: headless.JSON})
	for range headless.MaxNotices + 5 {
		l.printer.Notice(view.Notice{Text: "x"})
	}
	l.run(context.Background(), headless.Prompt{Text: "go"})
	m := l.fields(t)
	if n := len(m["notices"].([]any)); n != headless.MaxNotices || m["notices_left_out"] != float64(5) {
		t.Errorf("%d notices, %v left out", n, m["notices_left_out"])
	}
}

// Deltas are joined for a while, never across blocks, and characters stay whole.
func TestDeltasAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, headless.Options{Format: headless.StreamJSON})
		delta := func(index int, text string) {
			send(l, event.Stream, &event.StreamEvent{Kind: "delta", Block: "text", Index: index, Text: text})
		}
		l.prompt = func(context.Context, string) view.Outcome {
			delta(0, "a")
			delta(0, "b")
			time.Sleep(30 * time.Millisecond)
			delta(0, "c\xe6\xbc")
			time.Sleep(30 * time.Millisecond) // the first 50 ms are over
			delta(0, "\xa2d")
			delta(1, "e")
			time.Sleep(time.Second)
			delta(1, "f")
			return view.Outcome{Stop: "end"}
		}
		l.run(context.Background(), headless.Prompt{Text: "go"})
		var got []string
		for _, line := range strings.Split(l.out.String(), "\n") {
			var d struct{ Type, Text string }
			if json.Unmarshal([]byte(line), &d) == nil && d.Type == "delta" {
				got = append(got, d.Text)
			}
		}
		if want := "abc|漢d|e|f"; strings.Join(got, "|") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
