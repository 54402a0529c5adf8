package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/openai"
	"starling/agent/provider/wire"
	"starling/bus/chat"
)

func sound(t *testing.T, r *provider.Reply) chat.Message {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Errorf("the reply failed: %v", err)
	}
	return r.Message()
}

func TestE01OneVeryLongLine(t *testing.T) {
	long := strings.Repeat("漢字 x ", 300_000)
	args := `{"content":"` + long + `"}`
	l := newLab(t)
	r := l.reply(data(
		delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":`+quote(args)+`}}]`), finish("tool_calls"),
	), 0)
	if m := sound(t, r); calls(m) != "c1:write"+args+";" {
		t.Errorf("got %d calls, %d bytes", len(m.Calls()), len(calls(m)))
	}
}

func TestE01AboveTheLimit(t *testing.T) {
	l := newLab(t)
	l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
		io.WriteString(w, events(text("half"))+`data: {"choices":[{"delta":{"content":"`)
		line := strings.Repeat("x", 1<<20)
		for range 20 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
		io.WriteString(w, "\"}}]}\n\n"+data(finish("stop")))
	})
	r := l.ask(hello)
	m := r.Message()
	var f *provider.Failure
	if !errors.As(r.Err(), &f) || f.Kind != provider.Protocol || !strings.Contains(f.Message, "limit of 16777216 bytes") {
		t.Errorf("got %v", r.Err())
	}
	if m.Stop != chat.StopError || m.Text() != "half" {
		t.Errorf("got %s %q", m.Stop, m.Text())
	}
}

func TestE02KeepAliveAndBareFields(t *testing.T) {
	const pause = ": keepalive\n\n: keepalive\n\n: keepalive\n\n"
	whole := pause + "event: ping\n\nid: 1\n\nretry: 100\n\n" +
		"data:" + text("one ") + "\n\n" + pause +
		"event: message\nid: 2\ndata: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"two\"}}]}\n\n" +
		"data:\n\n: OPENROUTER PROCESSING\n\ndata: " + finish("stop") + "\n\n"
	l := newLab(t)
	for name, text := range map[string]string{
		"LF": whole, "CRLF": strings.ReplaceAll(whole, "\n", "\r\n"), "CR": strings.ReplaceAll(whole, "\n", "\r"),
		"with a mark": whole + "data: [DONE]\n\n", "a mark without space": whole + "data:[DONE]\n\n", "no last blank line": strings.TrimRight(whole, "\n"),
	} {
		for _, size := range []int{0, 1, 7} {
			if m := sound(t, l.reply(text, size)); m.Text() != "one two" || m.Stop != chat.StopEnd {
				t.Errorf("%s by %d: %q, %s", name, size, m.Text(), m.Stop)
			}
		}
	}
}

func TestE03CharactersCutByBorders(t *testing.T) {
	const odd = "漢字 שלום 🦜 \u2028 é"
	l := newLab(t)
	escaped := `"content":"\u6f22\u5b57 \u05e9\u05dc\u05d5\u05dd \ud83e\udd9c \u2028 \u00e9"`
	r := l.reply(data(
		text(odd), delta(escaped),
		delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":`+quote(`{"t":"`+odd)+`}}]`),
		delta(`"tool_calls":[{"index":0,"function":{"arguments":`+quote(`🦜"}`)+`}}]`),
		finish("tool_calls"),
	), 1)
	m := sound(t, r)
	if m.Text() != odd+odd {
		t.Errorf("text %q", m.Text())
	}
	if calls(m) != `c:write{"t":"`+odd+`🦜"};` {
		t.Errorf("calls %q", calls(m))
	}
}

func quote(s string) string {
	quoted, _ := json.Marshal(s)
	return string(quoted)
}

func TestE05ChunksWithoutChoices(t *testing.T) {
	const use = `"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60}}`
	l := newLab(t)
	m := sound(t, l.reply(data(
		`{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`, text("a"), `{"choices":null}`, `{"choices":[{"index":0}]}`, `{"choices":[{"index":0,"delta":null}]}`,
		`{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]}`, `{"choices":[{"delta":{"content":"other"},"index":1}]}`,
		`{"choices":[null,5,"x"]}`, `{"choices":{}}`, `{}`, text("b"), finish("stop"), `{"choices":[],`+use+`}`,
	), 0))
	if m.Text() != "ab" || m.Stop != chat.StopEnd {
		t.Errorf("got %q, %s", m.Text(), m.Stop)
	}
	if m.Usage == nil || *m.Usage != (chat.Usage{Input: 40, Output: 20, CacheRead: 60}) {
		t.Errorf("usage %+v", m.Usage)
	}
}

func TestUsage(t *testing.T) {
	l := newLab(t, func(m *model.Model, _ *openai.Options) { m.Cost = model.Cost{Input: 1, Output: 10, CacheRead: 0.1} })
	for name, c := range map[string]struct {
		chunks []string
		want   chat.Usage
	}{
		"in each chunk": {[]string{
			`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			`{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
		}, chat.Usage{Input: 5, Output: 2, Cost: 25e-6}},
		"null and odd": {[]string{
			`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null}`, `{"usage":{"prompt_tokens":"x","completion_tokens":null,"prompt_tokens_details":null}}`,
		}, chat.Usage{}},
		"DeepSeek":        {[]string{finish("stop"), `{"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}}`}, chat.Usage{Input: 6, Output: 2, CacheRead: 4, Cost: 26.4e-6}},
		"a router's cost": {[]string{finish("stop"), `{"usage":{"prompt_tokens":10,"completion_tokens":2,"cost":0.25,"prompt_tokens_details":{"cached_tokens":1,"cache_write_tokens":2}}}`}, chat.Usage{Input: 7, Output: 2, CacheRead: 1, CacheWrite: 2, Cost: 0.25}},
		"thoughts beside": {[]string{finish("stop"), `{"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":42,"completion_tokens_details":{"reasoning_tokens":30}}}`}, chat.Usage{Input: 10, Output: 32, Cost: 330e-6}},
		"thoughts inside": {[]string{finish("stop"), `{"usage":{"prompt_tokens":10,"completion_tokens":32,"total_tokens":42,"completion_tokens_details":{"reasoning_tokens":30}}}`}, chat.Usage{Input: 10, Output: 32, Cost: 330e-6}},
		"Groq":            {[]string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":1}}}`}, chat.Usage{Input: 3, Output: 1, Cost: 13e-6}},
	} {
		var got chat.Usage
		if u := l.reply(data(c.chunks...), 0).Message().Usage; u != nil {
			got = *u
		}
		if d := got.Cost - c.want.Cost; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: cost %v, want %v", name, got.Cost, c.want.Cost)
		}
		if got.Cost = c.want.Cost; got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestE06ReasoningIsNoText(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct{ chunks []string }{
		"reasoning_content":       {[]string{delta(`"reasoning_content":"I "`), delta(`"content":"","reasoning_content":"think"`)}},
		"reasoning":               {[]string{delta(`"reasoning":"I "`), delta(`"reasoning":"think"`)}},
		"the same text in two":    {[]string{delta(`"reasoning":"I ","reasoning_content":"I "`), delta(`"reasoning_content":"think","reasoning":"think"`)}},
		"parts":                   {[]string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"I "},{"type":"text","text":"think"}]}]`)}},
		"null beside":             {[]string{delta(`"reasoning_content":"I think","reasoning":null,"content":null`)}},
		"an object is no thought": {[]string{delta(`"reasoning_content":"I think"`), delta(`"reasoning":{"a":[1]}`)}},
	} {
		m := sound(t, l.reply(data(append(c.chunks, text("answer"), delta(`"content":[{"type":"text","text":"!"},"?"]`), finish("stop"))...), 0))
		if m.Thinking() != "I think" || m.Text() != "answer!?" {
			t.Errorf("%s: thinking %q, text %q", name, m.Thinking(), m.Text())
		}
		if len(m.Blocks) != 2 || m.Blocks[0].Kind != chat.Thinking {
			t.Errorf("%s: blocks %+v", name, m.Blocks)
		}
	}
}

// Without finish_reason and [DONE] nothing is finished.
func TestTerminalMarks(t *testing.T) {
	l := newLab(t)
	call := delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}]`)
	for name, c := range map[string]struct {
		stream string
		cut    bool
		text   string
	}{
		"finish and mark":        {data(text("hi"), finish("stop")), false, "hi"},
		"finish alone":           {events(text("hi"), finish("stop")), false, "hi"},
		"mark alone":             {data(text("hi")), false, "hi"},
		"text behind the finish": {events(text("h"), finish("stop"), text("i")), false, "hi"},
		"neither":                {events(text("hi")), true, "hi"},
		"an empty finish reason": {events(text("hi"), `{"choices":[{"delta":{},"finish_reason":""}]}`), true, "hi"},
		"half an event":          {events(text("hi")) + `data: {"choices":[{"del`, true, "hi"},
		"half a mark":            {events(text("hi")) + `data: [DO`, true, "hi"},
		"in a call":              {events(text("hi"), call), true, "hi"},
		"nothing":                {"", true, ""},
		"comments alone":         {": x\n\n", true, ""},
	} {
		for _, size := range []int{0, 1} {
			r := l.reply(c.stream, size)
			m := r.Message()
			if m.Text() != c.text || errors.Is(r.Err(), provider.ErrCut) != c.cut || (r.Err() == nil) == c.cut {
				t.Errorf("%s: %q, %v", name, m.Text(), r.Err())
			}
			if c.cut && (m.Stop != chat.StopError || m.Error == "" || len(m.Calls()) > 0) {
				t.Errorf("%s: the message is not marked: %+v", name, m)
			}
		}
	}
}

// A connection that breaks is a cut reply, unless the reply was over.
func TestBrokenConnections(t *testing.T) {
	l := newLab(t)
	abort := func(text string) {
		l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
			stream(w, text, 0)
			panic(http.ErrAbortHandler)
		})
	}
	abort(events(text("half")))
	if r := l.ask(hello); !errors.Is(r.Err(), provider.ErrCut) || r.Message().Text() != "half" {
		t.Errorf("got %v", r.Err())
	}
	abort(events(text("all"), finish("stop")))
	if r := l.ask(hello); r.Err() != nil || r.Message().Text() != "all" {
		t.Errorf("got %v", r.Err())
	}
	abort("")
	var f *provider.Failure
	if r := l.ask(hello); !errors.As(r.Err(), &f) || f.Kind != provider.Network {
		t.Errorf("got %v", r.Err())
	}
}

func TestStopReasons(t *testing.T) {
	l := newLab(t)
	for reason, want := range map[string]chat.StopReason{
		"stop": chat.StopEnd, "length": chat.StopLength, "max_tokens": chat.StopLength, "content_filter": chat.StopFilter,
		"SAFETY": chat.StopFilter, "refusal": chat.StopRefusal, "tool_calls": chat.StopEnd, "eos_token": chat.StopEnd,
	} {
		if m := sound(t, l.reply(data(text("hi"), finish(reason)), 0)); m.Stop != want {
			t.Errorf("%s: got %s", reason, m.Stop)
		}
	}
	m := sound(t, l.reply(data(delta(`"refusal":"I must "`), delta(`"refusal":"not"`), finish("stop")), 0))
	if m.Stop != chat.StopRefusal || m.Text() != "I must not" {
		t.Errorf("a refusal: %s, %q", m.Stop, m.Text())
	}
	var f *provider.Failure
	if r := l.reply(data(text("half"), finish("error")), 0); !errors.As(r.Err(), &f) || r.Message().Text() != "half" {
		t.Errorf("error: %v", r.Err())
	}
	// A call that the length cut before its arguments is none.
	ls, rm := `{"index":0,"id":"a","function":{"name":"ls","arguments":""}}`, `{"index":1,"id":"b","function":{"name":"rm","arguments":""}}`
	if m := sound(t, l.reply(data(delta(`"tool_calls":[`+ls+`,`+rm+`]`), finish("length")), 0)); calls(m) != "a:ls{};" || m.Stop != chat.StopLength {
		t.Errorf("cut by length: %s, %s", calls(m), m.Stop)
	}
}

func TestInBandErrors(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct {
		stream string
		kind   provider.FailureKind
		text   string
	}{
		"object":      {events(`{"error":{"message":"out of memory","type":"server_error","code":500}}`), provider.ServerError, "out of memory"},
		"text":        {events(`{"error":"no room"}`), provider.BadRequest, "no room"},
		"event":       {"event: error\ndata: {\"message\":\"no room\",\"code\":503}\n\n", provider.Overloaded, "no room"},
		"vLLM":        {events(`{"object":"error","message":"no room","code":400}`), provider.BadRequest, "no room"},
		"in a choice": {events(`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"no room"}}]}`), provider.ServerError, "no room"},
		"no stream":   {`{"error":{"message":"no room","code":429}}`, provider.RateLimited, "no room"},
		"with a key":  {events(`{"error":{"message":"no room for canary-key-12345"}}`), provider.BadRequest, "no room for [key]"},
	} {
		r := l.reply(c.stream, 0)
		var f *provider.Failure
		if !errors.As(r.Err(), &f) || f.Kind != c.kind || !strings.Contains(f.Message, c.text) {
			t.Errorf("%s: %v (%+v)", name, r.Err(), f)
		}
	}
	r := l.reply(events(text("half"), `{"error":{"message":"boom"},"choices":[]}`, text("more"))+data(finish("stop")), 0)
	if m := r.Message(); m.Text() != "half" || m.Stop != chat.StopError || !strings.Contains(m.Error, "boom") {
		t.Errorf("behind text: %+v", m)
	}
	if r := l.reply(data(`{"error":null,"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}`), 0); r.Err() != nil {
		t.Errorf("null: %v", r.Err())
	}
}

func TestWholeAnswers(t *testing.T) {
	no := false
	l := newLab(t, compat(func(c *model.Compat) { c.Stream = &no }))
	r := l.reply("\n{\n  \"id\": \"x\", \"choices\": [{\"index\": 0, \"message\": {\"role\": \"assistant\", \"content\": \"hi\", \"reasoning_content\": \"hm\",\n"+
		"\"tool_calls\": [{\"id\": \"a\", \"type\": \"function\", \"function\": {\"name\": \"ls\", \"arguments\": \"{}\"}}]}, \"finish_reason\": \"tool_calls\"}],\n"+
		"\"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 2}}\n", 0)
	m := sound(t, r)
	if m.Text() != "hi" || m.Thinking() != "hm" || calls(m) != "a:ls{};" || m.Stop != chat.StopTools || m.Usage.Input != 3 {
		t.Errorf("got %+v", m)
	}
	if _, ok := l.body()["stream"]; ok {
		t.Error("a stream was asked for")
	}
	for text, want := range map[string]string{
		`{"choices":[{`: "no JSON object", `[]`: "no JSON object", `{"hello":1}`: "no choices", `{"choices":[]}`: "no choices",
		"<html>canary-key-12345": "a web page", "canary-key-12345 is here": "[key] is here",
	} {
		var f *provider.Failure
		r := l.reply(text, 0)
		if !errors.As(r.Err(), &f) || !strings.Contains(f.Message, want) || strings.Contains(f.Message, "canary") {
			t.Errorf("%s: %v", text, r.Err())
		}
	}
}

func TestOddEvents(t *testing.T) {
	l := newLab(t)
	for _, line := range []string{"canary-key-12345 is odd", `{"choices":[{"delta":{"content":"x}`, `{"a":1}}`, `{"a":1,}`, `{"choices":[{"delta":{"content":"\x"}}]}`, `5`, `{"a" 1}`, "{\"a\":tru}"} {
		var f *provider.Failure
		r := l.reply(events(text("half"), line)+data(finish("stop")), 0)
		if !errors.As(r.Err(), &f) || f.Kind != provider.Protocol || r.Message().Text() != "half" || strings.Contains(f.Message, "canary") {
			t.Errorf("%s: %v", line, r.Err())
		}
	}
}

func TestHTTPErrors(t *testing.T) {
	refused := 0
	l := newLab(t, func(_ *model.Model, o *openai.Options) { o.KeyRefused = func() { refused++ } })
	l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"Incorrect API key provided: canary-key-12345."}}`)
	})
	var f *provider.Failure
	if r := l.ask(hello); !errors.As(r.Err(), &f) || f.Kind != provider.Auth || r.Err().Error() != "the model server answered 401: Incorrect API key provided: [key]." {
		t.Errorf("got %v", r.Err())
	}
	if refused != 1 {
		t.Errorf("the refused key was told %d times", refused)
	}
}

// B-05: the key is in one header, and nowhere else.
func TestB05KeysStayHidden(t *testing.T) {
	l := newLab(t, func(m *model.Model, _ *openai.Options) {
		m.Headers = map[string]string{"X-Api-Key": "canary-second", "X-Team": "blue team"}
	})
	l.set(func(w http.ResponseWriter, r *http.Request, body string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"%s %s %s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("X-Team"))
	})
	r := l.ask(hello)
	if got := r.Err().Error(); !strings.HasSuffix(got, "400: Bearer [key] [key] blue team") {
		t.Errorf("got %s", got)
	}
	if strings.Contains(fmt.Sprintf("%+v %#v", r.Message(), r.Err()), "canary") || strings.Contains(l.bodies[0], "canary") {
		t.Error("a key stands in the message or the body")
	}
	if got := l.heads[0].Get("Authorization"); got != "Bearer canary-key-12345" {
		t.Errorf("sent %q", got)
	}
}

func TestKeyFaults(t *testing.T) {
	p, err := openai.New(model.Model{ID: "m", BaseURL: "http://127.0.0.1:1"}, func(context.Context) (string, error) {
		return "", errors.New("the key is missing: set A_KEY")
	}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &provider.Reply{}
	p.Stream(t.Context(), hello, func(e provider.Event) { r.Take(e) })
	var f *provider.Failure
	if !errors.As(r.Err(), &f) || f.Kind != provider.Auth || f.Message != "model m: the key is missing: set A_KEY" {
		t.Errorf("got %v", r.Err())
	}
	for _, m := range []model.Model{{ID: "m"}, {BaseURL: "http://x"}, {ID: "m", BaseURL: "nonsense"}, {ID: "m", BaseURL: "ftp://x"}, {ID: "m", BaseURL: "http://x", API: model.Gemini}} {
		if _, err := openai.New(m, nil, openai.Options{}); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
}

// Esc ends a stream wherever it is, without a last event.
func TestCancel(t *testing.T) {
	l := newLab(t)
	l.set(func(w http.ResponseWriter, r *http.Request, _ string) {
		stream(w, events(text("half")), 0)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	r := &provider.Reply{}
	l.provider.Stream(ctx, hello, func(e provider.Event) {
		r.Take(e)
		if e.Kind == provider.Delta {
			cancel()
		}
	})
	if !errors.Is(r.Err(), provider.ErrCut) || r.Message().Text() != "half" {
		t.Errorf("got %v", r.Err())
	}
}

// A server that says nothing more is left, and a reply that was over is whole.
func TestIdle(t *testing.T) {
	l := newLab(t, func(_ *model.Model, o *openai.Options) { o.Limits = wire.Limits{Idle: 50 * time.Millisecond} })
	hang := func(text string) {
		l.set(func(w http.ResponseWriter, r *http.Request, _ string) {
			stream(w, text, 0)
			<-r.Context().Done()
		})
	}
	hang(events(text("half")))
	var f *provider.Failure
	if r := l.ask(hello); !errors.As(r.Err(), &f) || f.Kind != provider.Timeout || r.Message().Text() != "half" {
		t.Errorf("got %v", r.Err())
	}
	for _, over := range []string{data(text("all")), events(text("all"), finish("stop"))} {
		hang(over)
		if r := l.ask(hello); r.Err() != nil || r.Message().Text() != "all" {
			t.Errorf("got %v", r.Err())
		}
	}
}

// Behind the mark nobody waits for a server that keeps the connection open.
func TestOpenEnd(t *testing.T) {
	l := newLab(t)
	l.set(func(w http.ResponseWriter, r *http.Request, _ string) {
		stream(w, data(text("all")), 0)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // the idle limit is minutes
	defer cancel()
	r := &provider.Reply{}
	l.provider.Stream(ctx, hello, func(e provider.Event) { r.Take(e) })
	if r.Err() != nil || r.Message().Text() != "all" {
		t.Errorf("got %v", r.Err())
	}
}

// One connection serves one reply after another.
func TestKeepAlive(t *testing.T) {
	l := newLab(t)
	seen := map[string]bool{}
	l.set(func(w http.ResponseWriter, r *http.Request, _ string) {
		seen[r.RemoteAddr] = true
		stream(w, data(text("hi"), finish("stop")), 0)
	})
	for range 10 {
		// As the loop does, the context ends with the last event.
		ctx, cancel := context.WithCancel(t.Context())
		l.provider.Stream(ctx, hello, func(e provider.Event) {
			if e.Kind == provider.Done {
				cancel()
			}
		})
		cancel()
	}
	if len(seen) != 1 {
		t.Errorf("%d connections", len(seen))
	}
}
