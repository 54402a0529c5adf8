package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/openai"
	"starling/bus/chat"
)

// E-07 over the wire: what a server says about waiting, and what is asked again.
func TestE07OverTheWire(t *testing.T) {
	type answer struct {
		status int
		head   string
		body   string
	}
	fine := answer{200, "", data(text("hi"), finish("stop"))}
	for name, c := range map[string]struct {
		answers  []answer
		waits    []time.Duration // at least
		requests int
		err      string
	}{
		"twice 3 seconds":    {[]answer{{429, "3", `{}`}, {429, "3", `{}`}, fine}, []time.Duration{3e9, 3e9}, 3, ""},
		"a date":             {[]answer{{429, time.Now().Add(time.Minute).UTC().Format(http.TimeFormat), `{}`}, fine}, []time.Duration{50e9}, 2, ""},
		"in the body":        {[]answer{{429, "", `{"error":{"message":"slow","retry_after":7}}`}, fine}, []time.Duration{7e9}, 2, ""},
		"503":                {[]answer{{503, "", "busy"}, fine}, []time.Duration{5e8}, 2, ""},
		"in band":            {[]answer{{200, "", events(`{"error":{"message":"busy","code":503}}`)}, fine}, []time.Duration{5e8}, 2, ""},
		"cut before a token": {[]answer{{200, "", ": hello\n\n"}, fine}, []time.Duration{5e8}, 2, ""},
		"cut behind a token": {[]answer{{200, "", events(text("half"))}, fine}, nil, 1, "cut off"},
		"16 days":            {[]answer{{429, "1382400", `{"error":{"message":"much too fast"}}`}, fine}, nil, 1, "429: much too fast (it asks to wait 16 days"},
		"quota":              {[]answer{{429, "1", `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}, fine}, nil, 1, "You exceeded your current quota"},
		"400":                {[]answer{{400, "1", `{"error":{"message":"bad role"}}`}, fine}, nil, 1, "400: bad role"},
		"a page":             {[]answer{{200, "", "<!doctype html><title>Log in</title>"}, fine}, nil, 1, "a web page instead of a reply; check base_url"},
		"plain text":         {[]answer{{200, "", "Ollama is running"}, fine}, nil, 1, `"Ollama is running"; check base_url`},
		"401":                {[]answer{{401, "", `{"error":{"message":"wrong key"}}`}, fine}, nil, 1, "401: wrong key (check the key in ACME_API_KEY)"},
		"403":                {[]answer{{403, "", `{"error":{"message":"not you"}}`}, fine}, nil, 1, "403: not you"},
		"404":                {[]answer{{404, "", `{"error":{"message":"no such model"}}`}, fine}, nil, 1, "404: no such model (check id and base_url of the model acme/big)"},
		"for ever 500":       {[]answer{{500, "", `{"error":{"message":"boom"}}`}}, []time.Duration{5e8, 1e9, 2e9, 4e9}, 5, "500: boom (after 5 attempts)"},
	} {
		l := newLab(t, func(m *model.Model, _ *openai.Options) { m.KeyEnv = "ACME_API_KEY" })
		l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
			a := c.answers[min(len(l.bodies), len(c.answers))-1]
			if a.head != "" {
				w.Header().Set("Retry-After", a.head)
			}
			w.WriteHeader(a.status)
			io.WriteString(w, a.body)
		})
		var waits []time.Duration
		p := provider.Retrying(l.provider, provider.RetryOptions{
			Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
		})
		r := &provider.Reply{}
		told := 0
		p.Stream(t.Context(), hello, func(e provider.Event) {
			if e.Kind == provider.Waiting {
				told++
			}
			r.Take(e)
		})
		if len(l.bodies) != c.requests || told != len(waits) || len(waits) != len(c.waits) {
			t.Errorf("%s: %d requests, %d told, waits %v", name, len(l.bodies), told, waits)
			continue
		}
		for i, least := range c.waits {
			if waits[i] < least || waits[i] > 2*least+20*time.Second {
				t.Errorf("%s: wait %d is %s, want %s", name, i, waits[i], least)
			}
		}
		if err := r.Err(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %v, want %q", name, err, c.err)
		}
		if c.err == "" && r.Message().Text() != "hi" {
			t.Errorf("%s: text %q", name, r.Message().Text())
		}
	}
}

// Esc in a wait, on the machine's clock: the wait of 100 s is not sat out.
func TestE07CancelOverTheWire(t *testing.T) {
	l := newLab(t)
	l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Retry-After", "100")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	ctx, cancel := context.WithCancel(t.Context())
	r := &provider.Reply{}
	provider.Retrying(l.provider, provider.RetryOptions{}).Stream(ctx, hello, func(e provider.Event) {
		r.Take(e)
		if e.Kind == provider.Waiting {
			cancel()
		}
	})
	if !errors.Is(r.Err(), provider.ErrCut) || r.Message().Stop != chat.StopError || len(l.bodies) != 1 {
		t.Errorf("got %v after %d requests", r.Err(), len(l.bodies))
	}
}

// A compressed answer is said to be one, not taken for a stream that was cut.
func TestCompressed(t *testing.T) {
	l := newLab(t)
	l.set(func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "\x1f\x8b\x08")
	})
	r := l.ask(hello)
	var f *provider.Failure
	if !errors.As(r.Err(), &f) || f.Passing() || !strings.Contains(f.Message, `compressed ("gzip")`) {
		t.Errorf("got %v", r.Err())
	}
}

// Whoever was refused learns where the key would come from.
func TestAdvice(t *testing.T) {
	for want, m := range map[string]model.Model{
		"check the key in ACME_API_KEY":            {KeyEnv: "ACME_API_KEY"},
		"check the key that api_key_command print": {KeyCommand: "pass acme"},
	} {
		l := newLab(t, func(to *model.Model, _ *openai.Options) { to.KeyEnv, to.KeyCommand = m.KeyEnv, m.KeyCommand })
		l.set(func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusUnauthorized) })
		if err := l.ask(hello).Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
