package harness_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"starling/agent/harness"
)

// server is a loopback model that keeps the requests it got.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func serve(t *testing.T, answer func(n int, body string) (status int, stream string)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, r.Header.Get("Authorization")+"\n"+string(body))
		s.mu.Unlock()
		status, stream := answer(n, string(body))
		if status == http.StatusOK {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, stream)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func data(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func say(text string) string {
	raw, _ := json.Marshal(text)
	return data(fmt.Sprintf(`{"choices":[{"delta":{"content":%s}}]}`, raw), `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`)
}

// useServer names the server in models.json.
func (p *place) useServer(s *server) {
	p.write("home/models.json", fmt.Sprintf(`{"version": 1, "models": [
		{"id": "small", "provider": "mine", "api": "openai-completions", "base_url": %q, "api_key_env": "MINE_API_KEY", "cost": {"input": 1, "output": 2}}
	]}`, s.URL+"/v1"))
	env := map[string]string{"MINE_API_KEY": canary}
	p.options.LookupEnv = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	p.options.Environ = append(p.options.Environ, "MINE_API_KEY="+canary)
	p.options.Model = "small"
}

const canary = "canary-key-4711-0815"

// A run against a server: the tool runs, its result goes back, the answer and its
// cost come out, and the session goes on later.
func TestServerRun(t *testing.T) {
	p := newPlace(t)
	p.write("ws/a.txt", "hello\n")
	s := serve(t, func(n int, body string) (int, string) {
		switch n {
		case 0:
			return 200, data(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"path\":"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.txt\"}"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
		case 1:
			return 200, say("it says hello")
		}
		return 200, say("as before")
	})
	p.useServer(s)
	e := p.start()
	o := p.prompt(e, "what is in a.txt?")
	if o.Stop != "end" || o.Text != "it says hello" || o.Usage.Output != 10 || o.Usage.Cost == 0 || o.Session == "" || o.Unsaved != "" {
		t.Fatalf("%+v\n%s", o, p.said())
	}
	got := s.all()
	if len(got) != 2 || !strings.Contains(got[0], "Bearer "+canary) || !strings.Contains(got[1], `1\thello`) || !strings.Contains(got[0], `"name":"write"`) {
		t.Errorf("requests %q", got)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.options.Continue = true
	again := p.start()
	if o := p.prompt(again, "and now?"); o.Text != "as before" {
		t.Fatalf("%+v\n%s", o, p.said())
	}
	last := s.all()[2]
	for _, part := range []string{"what is in a.txt?", "it says hello", `"tool_call_id":"c1"`, "and now?"} {
		if !strings.Contains(last, part) {
			t.Errorf("the resumed request lacks %q: %s", part, last)
		}
	}
}

// A key is in nothing that is shown, recorded or sent as text, also when the
// server repeats it.
func TestKeyStaysSecret(t *testing.T) {
	p := newPlace(t)
	s := serve(t, func(n int, _ string) (int, string) {
		switch n {
		case 0:
			return 200, data(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"env","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
		case 1:
			return 200, say("the key is " + canary)
		}
		return 401, `{"error":{"message":"bad key ` + canary + `"}}`
	})
	p.useServer(s)
	p.write("home/plugins/shell.star", "inject = [\"tools\"]\nuses = [\"exec\"]\ndef apply(ctx):\n    print(exec(\"env\").output)\n    tool(\"env\", \"d\", {}, lambda a: exec(\"env\").output)\n")
	e := p.start()
	p.prompt(e, "go")
	o := p.prompt(e, "again")
	if o.Stop != "error" || strings.Contains(o.Why, canary) || !strings.Contains(o.Why, "bad key") {
		t.Errorf("%+v", o)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, r := range s.all() {
		_, body, _ := strings.Cut(r, "\n")
		if i < 2 && strings.Contains(body, canary) {
			t.Errorf("request %d holds the key", i)
		}
	}
	if strings.Contains(p.said(), canary) {
		t.Error("a notice holds the key")
	}
	err := filepath.WalkDir(p.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if content, _ := os.ReadFile(path); strings.Contains(string(content), canary) {
			t.Errorf("%s holds the key", strings.TrimPrefix(path, p.root))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What plugins ask of models is paid from the same purse as the run.
func TestOnePurse(t *testing.T) {
	p := newPlace(t)
	s := serve(t, func(int, string) (int, string) { return 200, say("fine") })
	p.useServer(s)
	p.options.MaxCost = 0.0003 // each request costs 0.00012
	p.write("home/plugins/asker.star", `
inject = ["commands"]
uses = ["model", "prompt"]
def apply(ctx):
    request = {"model": "small", "messages": [{"role": "user", "text": "hi"}]}
    command("ask", "d", lambda a: str([model.ask(request).error for _ in range(4)]))
    command("models", "d", lambda a: model.list()[0].id)
    command("hard", "d", lambda a: attempt(model.ask, dict(request, thinking = "hard"), reply = print).error)
    on("agent/run-end", lambda e: prompt("once more") if e.cx.task == "go" else None)
`)
	e := p.start()
	if o := p.prompt(e, "go"); o.Stop != "end" || len(s.all()) != 2 {
		t.Errorf("with the queued prompt: %+v, %d requests\n%s", o, len(s.all()), p.said())
	}
	r, err := e.Command(t.Context(), "ask", "")
	if err != nil || !strings.Contains(r.Lines[0], "[None, ") || !strings.Contains(r.Lines[0], "reached its limit of $0.0003") {
		t.Errorf("%v %v", r, err)
	}
	if r, err := e.Command(t.Context(), "hard", ""); err != nil || !strings.Contains(r.Lines[0], "there is no such level; write one of off") || len(s.all()) != 3 {
		t.Errorf("a bad level: %v %v, %d requests", r, err, len(s.all()))
	}
	for _, row := range e.Plugins() {
		if got := fmt.Sprintf("%.5f", row.Cost); row.Name == "asker" && got != "0.00012" {
			t.Errorf("the plugin is said to have cost %s", got)
		}
	}
	if o := p.prompt(e, "more"); o.Stop != "limit" {
		t.Errorf("over the cap: %+v", o)
	}
	if r, err := e.Command(t.Context(), "models", ""); err != nil || r.Lines[0] != "mine/small" {
		t.Errorf("%v %v", r, err)
	}
}

// --max-cost counts what a session spent in other processes from the moment it is
// gone on with; a new session gives nothing back.
func TestPurseOfASwitchedSession(t *testing.T) {
	p := newPlace(t)
	s := serve(t, func(int, string) (int, string) { return 200, say("fine") })
	p.useServer(s)
	p.options.MaxCost = 0.0003 // each request costs 0.00012
	e := p.start()
	p.prompt(e, "one")
	p.prompt(e, "two")
	spent := e.SessionID()
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e = p.start()
	for i, c := range []struct {
		session string
		stop    string
		cost    string
	}{{"", "end", "0.00012"}, {spent, "end", "0.00036"}, {spent, "limit", "0.00036"}, {"", "end", "0.00012"}, {spent, "limit", "0.00036"}} {
		if err := e.Switch(t.Context(), c.session); err != nil {
			t.Fatal(err)
		}
		o := p.prompt(e, "go")
		if got := fmt.Sprintf("%.5f", e.Status().Cost); o.Stop != c.stop || got != c.cost {
			t.Errorf("step %d: %s, $%s; want %s, $%s\n%s", i, o.Stop, got, c.stop, c.cost, p.said())
		}
	}
}

// A question that is not answered in its time says so, with what had come.
func TestAskOutOfTime(t *testing.T) {
	p := newPlace(t)
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-release
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	p.useServer(&server{Server: s})
	p.write("home/plugins/asker.star", `
inject = ["commands"]
uses = ["model"]
def apply(ctx):
    def ask(args):
        r = model.ask({"model": "small", "messages": [{"role": "user", "text": "hi"}], "timeout_ms": 300})
        return "%s %s %s" % (r.ok, r.stop, r.error)
    command("ask", "d", ask)
`)
	r, err := p.start().Command(t.Context(), "ask", "")
	if err != nil || strings.Join(r.Lines, "") != "False aborted no answer within 300ms" {
		t.Errorf("%q %v", r.Lines, err)
	}
}

// Names that cannot be resolved say what there is.
func TestModelNames(t *testing.T) {
	p := newPlace(t)
	p.useServer(serve(t, func(int, string) (int, string) { return 200, say("x") }))
	for name, want := range map[string]string{"smal": "", "nothing": "small", "openai/gpt-x": "set OPENAI_API_KEY", "script:nowhere": "scenario file"} {
		p.options.Model = name
		e, err := harness.New(t.Context(), p.options)
		if err == nil {
			_ = e.Close(t.Context())
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.options.Model, p.options.Think = "small", "loud"
	if _, err := harness.New(t.Context(), p.options); err == nil || !strings.Contains(err.Error(), "--think") {
		t.Errorf("%v", err)
	}
}
