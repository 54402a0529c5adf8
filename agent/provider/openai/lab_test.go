package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/openai"
	"starling/bus/chat"
	"starling/bus/spec"
)

// lab is a server that answers with exact bytes, and the provider before it.
type lab struct {
	t        *testing.T
	server   *httptest.Server
	provider *openai.Provider

	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request, body string)
	bodies []string
	heads  []http.Header
}

type change = func(*model.Model, *openai.Options)

func newLab(t *testing.T, changes ...change) *lab {
	t.Helper()
	l := &lab{t: t}
	l.server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.server.Close)
	m := model.Model{ID: "acme/big", BaseURL: l.server.URL + "/v1"}
	var o openai.Options
	key := "canary-key-12345"
	for _, c := range changes {
		c(&m, &o)
	}
	p, err := openai.New(m, func(context.Context) (string, error) { return key, nil }, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	l.provider = p
	return l
}

func (l *lab) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	l.bodies = append(l.bodies, string(body))
	l.heads = append(l.heads, r.Header)
	answer := l.answer
	l.mu.Unlock()
	if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		l.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
	answer(w, r, string(body))
}

// sends makes the server answer with these bytes, flushed in pieces of size
// bytes; 0 is all at once.
func (l *lab) sends(text string, size int) {
	l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, text, size)
	})
}

func (l *lab) set(answer func(http.ResponseWriter, *http.Request, string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = answer
}

func stream(w http.ResponseWriter, text string, size int) {
	for text != "" {
		n := len(text)
		if size > 0 {
			n = min(n, size)
		}
		io.WriteString(w, text[:n])
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}

func (l *lab) ask(req provider.Request) *provider.Reply {
	l.t.Helper()
	r := &provider.Reply{}
	over := false
	l.provider.Stream(l.t.Context(), req, func(e provider.Event) {
		if over {
			l.t.Errorf("an event behind the end: %+v", e)
		}
		over = e.Kind == provider.Done || e.Kind == provider.Failed
		r.Take(e)
	})
	if !over {
		l.t.Error("the stream had no last event")
	}
	return r
}

// reply asks once for the given bytes.
func (l *lab) reply(text string, size int) *provider.Reply {
	l.t.Helper()
	l.sends(text, size)
	return l.ask(hello)
}

var hello = provider.Request{System: "be brief", Messages: []chat.Message{chat.TextMessage(chat.User, "hello")}, Model: "full/acme/big"}

// body returns the newest request as plain data.
func (l *lab) body() map[string]any {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var v map[string]any
	if err := json.Unmarshal([]byte(l.bodies[len(l.bodies)-1]), &v); err != nil {
		l.t.Fatalf("%v in %s", err, l.bodies[len(l.bodies)-1])
	}
	return v
}

// data makes an event of each line of JSON, with a [DONE] behind them.
func data(chunks ...string) string {
	return events(append(chunks, "[DONE]")...)
}

func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func delta(fields string) string {
	return `{"id":"x","object":"chat.completion.chunk","created":1700000000,"model":"big","choices":[{"index":0,"delta":{` + fields + `},"finish_reason":null}]}`
}

func text(s string) string {
	return delta(`"content":` + quote(s))
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func compat(change func(*model.Compat)) change2 {
	return func(m *model.Model, _ *openai.Options) { change(&m.Compat) }
}

type change2 = func(*model.Model, *openai.Options)

func profile(name string) change2 { return compat(func(c *model.Compat) { c.Profile = name }) }

func calls(m chat.Message) string {
	var b strings.Builder
	for _, c := range m.Calls() {
		b.WriteString(c.ID + ":" + c.Name + c.Arguments + ";")
	}
	return b.String()
}

var readTool = spec.Tool{Name: "read", Description: "Read a \"file\"", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}
