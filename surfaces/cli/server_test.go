package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// canary is the key of the model server: it must turn up nowhere but in its
// header.
const canary = "canary-key-4711-0815"

// lab is a home, a workspace and a model server that answers with exact bytes
// and keeps what it was sent. Programs run in processes of their own.
type lab struct {
	t              *testing.T
	root, home, ws string
	server         *httptest.Server
	env            []string

	mu       sync.Mutex
	answer   func(w *reply, n int, body string)
	requests []request
	faults   []string        // of requests
	strict   bool            // no two messages of the user in a row
	conns    map[string]bool // connections, by the address of the client
}

// request is what the server got, and when.
type request struct {
	body   string
	at     time.Time
	header http.Header
}

// reply writes a stream; every piece is on the wire when a write returns.
type reply struct {
	http.ResponseWriter
	r *http.Request
}

func (w *reply) send(text string) {
	_, _ = io.WriteString(w, text) // a client that was killed is no fault of the server
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// by sends text in pieces of size bytes.
func (w *reply) by(size int, text string) {
	for len(text) > size {
		w.send(text[:size])
		text = text[size:]
	}
	w.send(text)
}

// hang keeps the reply open until the client is gone.
func (w *reply) hang() { <-w.r.Context().Done() }

func newLab(t *testing.T, answer func(w *reply, n int, body string)) *lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, root: root, home: filepath.Join(root, "home"), ws: filepath.Join(root, "ws"), answer: answer}
	l.server = httptest.NewUnstartedServer(http.HandlerFunc(l.serve))
	l.server.Config.ConnState = l.connection
	l.server.Start()
	t.Cleanup(l.server.Close)
	l.write("ws/.git/HEAD", "")
	l.write("home/rules.json", `{"version": 1, "allow": ["*", "write"]}`) // permissions are tested elsewhere
	l.models(`"cost": {"input": 1, "output": 2}`)
	l.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "STARLING_HOME=" + l.home, "FAKE_PROVIDER_KEY=" + canary}
	return l
}

// models names the server in models.json, with more fields of the model.
func (l *lab) models(fields string) {
	if fields != "" {
		fields = ", " + fields
	}
	l.write("home/models.json", fmt.Sprintf(`{"version": 1, "models": [
		{"id": "small", "provider": "mine", "api": "openai-completions", "base_url": %q, "api_key_env": "FAKE_PROVIDER_KEY"%s}
	]}`, l.server.URL+"/v1", fields))
}

func (l *lab) connection(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		l.conns = map[string]bool{}
	}
	switch state {
	case http.StateNew:
		l.conns[c.RemoteAddr().String()] = true
	case http.StateClosed, http.StateHijacked:
		delete(l.conns, c.RemoteAddr().String())
	}
}

// settle waits until the server has done with what programs sent that have ended.
func (l *lab) settle() {
	l.t.Helper()
	// Connections are taken in their order: none of before waits behind this one.
	c, err := net.Dial("tcp", l.server.Listener.Addr().String())
	if err != nil {
		l.t.Fatal(err)
	}
	l.eventually("the last connection", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.conns[c.LocalAddr().String()]
	})
	if err := c.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.eventually("the end of all connections", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.conns) == 0
	})
}

func (l *lab) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // killed while it sent
	}
	l.mu.Lock()
	n := len(l.requests)
	l.requests = append(l.requests, request{string(body), time.Now(), r.Header.Clone()})
	if bad := invalid(body, l.strict); bad != "" {
		l.faults = append(l.faults, fmt.Sprintf("request %d: %s: %s", n, bad, body))
	}
	answer := l.answer
	l.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	answer(&reply{w, r}, n, string(body))
}

// sent are the requests so far. Any that a strict server refuses ends the test.
func (l *lab) sent() []request {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.faults {
		l.t.Error(f)
	}
	if len(l.faults) > 0 {
		l.t.FailNow()
	}
	return append([]request(nil), l.requests...)
}

func (l *lab) write(name, content string) {
	l.t.Helper()
	path := filepath.Join(l.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		l.t.Fatal(err)
	}
}

// read is the content of a file; "" when there is none.
func (l *lab) read(name string) string {
	data, err := os.ReadFile(filepath.Join(l.root, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.t.Fatal(err)
	}
	return string(data)
}

// ended is a program that ended.
type ended struct {
	code           int // -1: by a signal
	stdout, stderr string
}

func (e ended) String() string {
	return fmt.Sprintf("status %d\nstdout: %.2000s\nstderr: %.2000s", e.code, e.stdout, e.stderr)
}

// run runs starling to its end.
func (l *lab) run(args ...string) ended {
	l.t.Helper()
	return l.start(args...).wait()
}

type process struct {
	l              *lab
	cmd            *exec.Cmd
	stdout, stderr output
	over           chan struct{} // closed at the end
	err            error
}

func (l *lab) start(args ...string) *process { return l.startAs("starling", args...) }

func (l *lab) startAs(program string, args ...string) *process {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	p := &process{l: l, cmd: exec.CommandContext(ctx, program, args...), over: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = l.ws, l.env, &p.stdout, &p.stderr
	p.cmd.WaitDelay = 10 * time.Second
	if err := p.cmd.Start(); err != nil {
		cancel()
		l.t.Fatal(err)
	}
	go func() {
		defer cancel()
		p.err = p.cmd.Wait()
		close(p.over)
	}()
	l.t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.over })
	return p
}

func (p *process) wait() ended {
	p.l.t.Helper()
	<-p.over
	var exit *exec.ExitError
	if p.err != nil && !errors.As(p.err, &exit) {
		p.l.t.Fatalf("%v: %s", p.err, p.stderr.String())
	}
	return ended{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
}

// until waits for a text on stdout.
func (p *process) until(text string) {
	p.l.t.Helper()
	p.l.eventually(text, func() bool {
		select {
		case <-p.over:
			p.l.t.Fatalf("no %s: %v", text, p.wait())
		default:
		}
		return strings.Contains(p.stdout.String(), text)
	})
}

func (p *process) signal(s os.Signal) {
	p.l.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.l.t.Fatalf("%v: %v", err, p.wait())
	}
}

// eventually waits for what a process does.
func (l *lab) eventually(what string, ok func() bool) {
	l.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			l.t.Fatalf("%s did not come about within a minute", what)
		}
	}
}

// output is what a process printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// events makes an event of each piece of JSON; data puts [DONE] behind them.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func data(chunks ...string) string { return events(append(chunks, "[DONE]")...) }

func delta(fields string) string {
	return `{"id":"x","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func content(text string) string { return delta(`"content":` + quote(text)) }

// toolCall is a whole call in one piece; args are its arguments as JSON text.
func toolCall(index int, id, name, args string) string {
	return delta(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]`, index, id, name, quote(args)))
}

// finish ends a reply that read 100 tokens and wrote 10.
func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`
}

func says(text string) string { return data(content(text), finish("stop")) }

func quote(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// wire is a message of a request.
type wire struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m wire) text() string {
	var s string
	_ = json.Unmarshal(m.Content, &s) // null and parts are none
	return s
}

// messages are those of a request.
func messages(t *testing.T, body string) []wire {
	t.Helper()
	var r struct{ Messages []wire }
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return r.Messages
}

// invalid says what a strict server refuses in a request; "" for nothing: a call
// without exactly its result behind it, roles out of order, empty content,
// arguments that are no JSON object; a strict one two messages of the user in a
// row.
func invalid(body []byte, strict bool) string {
	var r struct {
		Model    string
		Messages []wire
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err.Error()
	}
	if r.Model == "" || len(r.Messages) == 0 {
		return "no model or no messages"
	}
	var open []string
	before, seen := "", map[string]bool{}
	for i, m := range r.Messages {
		at := fmt.Sprintf("message %d (%s)", i, m.Role)
		if len(open) > 0 && (m.Role != "tool" || m.ToolCallID != open[0]) {
			return at + " stands where the result of " + open[0] + " should"
		}
		if strings.TrimSpace(m.text()) == "" && len(m.ToolCalls) == 0 && !bytes.HasPrefix(m.Content, []byte("[{")) {
			return at + " is empty"
		}
		switch m.Role {
		case "tool":
			if len(open) == 0 {
				return at + " answers no call"
			}
			open = open[1:]
		case "assistant":
			if before != "user" && before != "tool" {
				return at + " stands behind " + before
			}
			for _, c := range m.ToolCalls {
				var args map[string]any
				if c.ID == "" || c.Type != "function" || c.Function.Name == "" || seen[c.ID] {
					return at + ": odd call " + c.ID
				}
				if err := json.Unmarshal([]byte(c.Function.Arguments), &args); err != nil || args == nil {
					return at + ": arguments " + c.Function.Arguments
				}
				seen[c.ID] = true
				open = append(open, c.ID)
			}
		case "system":
			if i > 0 {
				return at + " is not the first"
			}
		case "user":
			if strict && before == "user" {
				return at + " stands behind user"
			}
		default:
			return at + ": no such role"
		}
		before = m.Role
	}
	switch {
	case len(open) > 0:
		return "no result for " + open[0]
	case before != "user" && before != "tool":
		return "the last message is of " + before
	}
	return ""
}

// sessionFile is the path of the only session of the home; "" when there is none.
func (l *lab) sessionFile() string {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(l.home, "sessions", "*.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	var path string
	for _, f := range found {
		info, err := os.Stat(f)
		if err != nil {
			l.t.Fatal(err)
		}
		if strings.HasSuffix(f, ".plugins.jsonl") || info.Size() == 0 { // killed before anything was said
			continue
		}
		if path != "" {
			l.t.Fatalf("more than one session: %v", found)
		}
		path = f
	}
	return path
}

// stored is a line of a session file.
type stored struct {
	Kind, ID, Role string
	Blocks         []struct{ Kind, ID, Name, Text, Arguments string }
}

// finished returns the whole lines of a session file and what is behind them.
func finished(t *testing.T, path string) (lines []string, rest string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.SplitAfter(string(raw), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// decoded are lines as they must be: each a JSON object.
func decoded(t *testing.T, lines []string) []stored {
	t.Helper()
	all := make([]stored, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &all[i]); err != nil {
			t.Fatalf("line %d: %v in %.300q", i+1, err, line)
		}
	}
	return all
}
