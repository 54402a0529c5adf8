package wire_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"starling/agent/provider"
	"starling/agent/provider/wire"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

func post(t *testing.T, c *wire.Client, address string, hide wire.Mask) (string, error) {
	t.Helper()
	answer, err := c.Post(t.Context(), address, http.Header{}, []byte("{}"), hide)
	if err != nil {
		return "", err
	}
	defer answer.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

func asFailure(t *testing.T, err error) *provider.Failure {
	t.Helper()
	var f *provider.Failure
	if !errors.As(err, &f) {
		t.Fatalf("got %T %v", err, err)
	}
	return f
}

func TestAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, "got "+string(body))
	}))
	defer server.Close()
	c := wire.NewClient(nil, wire.Limits{})
	defer c.Close()
	if got, err := post(t, c, server.URL, wire.Mask{}); got != "got {}" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A body read to its end leaves the connection for the next request.
func TestKeepAlive(t *testing.T) {
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		io.Copy(w, r.Body)
	}))
	defer server.Close()
	c := wire.NewClient(nil, wire.Limits{})
	defer c.Close()
	for range 5 {
		if _, err := post(t, c, server.URL, wire.Mask{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(connections) != 1 {
		t.Errorf("%d connections", len(connections))
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string
		body   string
		kind   provider.FailureKind
		text   string
		retry  time.Duration
	}{
		"OpenAI":          {400, "", `{"error":{"message":"bad role","type":"invalid_request_error","param":null,"code":null}}`, provider.BadRequest, "400: bad role", -1},
		"error text":      {400, "", `{"error":"no such tool"}`, provider.BadRequest, "400: no such tool", -1},
		"message":         {422, "", `{"message":"odd"}`, provider.BadRequest, "odd", -1},
		"detail":          {422, "", `{"detail":"odd"}`, provider.BadRequest, "odd", -1},
		"detail list":     {422, "", `{"detail":[{"loc":["body"],"msg":"field required"}]}`, provider.BadRequest, "field required", -1},
		"list":            {429, "", `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"7s"}]}}]`, provider.RateLimited, "slow down", 7 * time.Second},
		"router":          {502, "", `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream is down"}}}`, provider.ServerError, "upstream is down", -1},
		"another object":  {400, "", `{"fault":"x"}`, provider.BadRequest, `{"fault":"x"}`, -1},
		"odd types":       {400, "", `{"error":{"message":"bad","type":5,"details":"x","metadata":"y"}}`, provider.BadRequest, "bad", -1},
		"plain":           {500, "", "boom\r\n\x1b[31mred", provider.ServerError, "500: boom [31mred", -1},
		"page":            {502, "", "<html><head><title>502 Bad\n Gateway</title></head>", provider.ServerError, "502: 502 Bad Gateway", -1},
		"page untitled":   {502, "", "<html>", provider.ServerError, "a web page", -1},
		"nothing":         {503, "", "", provider.Overloaded, "503: service unavailable", -1},
		"auth":            {401, "", `{"error":{"message":"no"}}`, provider.Auth, "no", -1},
		"forbidden":       {403, "", `{}`, provider.Auth, "403", -1},
		"missing":         {404, "", `{"error":{"message":"The model x does not exist"}}`, provider.NotFound, "does not exist", -1},
		"seconds":         {429, "Retry-After=3", `{}`, provider.RateLimited, "", 3 * time.Second},
		"fraction":        {429, "Retry-After=1.5", `{}`, provider.RateLimited, "", 1500 * time.Millisecond},
		"milliseconds":    {429, "Retry-After-Ms=250", `{}`, provider.RateLimited, "", 250 * time.Millisecond},
		"date":            {429, "Retry-After=Mon, 02 Jan 2006 15:04:09 GMT|Date=Mon, 02 Jan 2006 15:04:05 GMT", `{}`, provider.RateLimited, "", 4 * time.Second},
		"past date":       {503, "Retry-After=Mon, 02 Jan 2006 15:04:00 GMT|Date=Mon, 02 Jan 2006 15:04:05 GMT", `{}`, provider.Overloaded, "", 0},
		"odd header":      {429, "Retry-After=soon", `{"error":{"retry_after":"2"}}`, provider.RateLimited, "", 2 * time.Second},
		"body":            {429, "", `{"retry_after":5}`, provider.RateLimited, "", 5 * time.Second},
		"body in error":   {429, "", `{"error":{"message":"x","retry_after":5.5}}`, provider.RateLimited, "", 5500 * time.Millisecond},
		"body of ms":      {429, "", `{"error":{"retry-after-ms":1500}}`, provider.RateLimited, "", 1500 * time.Millisecond},
		"16 days":         {429, "Retry-After=1382400", `{}`, provider.RateLimited, "", 16 * 24 * time.Hour},
		"for ever":        {429, "Retry-After=1e300", `{}`, provider.RateLimited, "", 100 * 365 * 24 * time.Hour},
		"quota code":      {429, "Retry-After=1", `{"error":{"message":"x","code":"insufficient_quota"}}`, provider.Quota, "x", time.Second},
		"quota type":      {429, "", `{"error":{"message":"x","type":"insufficient_quota"}}`, provider.Quota, "x", -1},
		"quota text":      {429, "", `{"error":{"message":"You exceeded your current quota, please check your plan and billing details."}}`, provider.Quota, "exceeded your current quota", -1},
		"payment":         {402, "", `{"error":{"message":"Insufficient Balance"}}`, provider.Quota, "Insufficient Balance", -1},
		"too long":        {400, "", `{"error":{"message":"x","code":"context_length_exceeded"}}`, provider.TooLong, "x", -1},
		"too long text":   {400, "", `{"error":{"message":"This model's maximum context length is 10 tokens"}}`, provider.TooLong, "maximum", -1},
		"too large":       {413, "", "", provider.TooLong, "413", -1},
		"moved":           {308, "Location=https://elsewhere/v2", "", provider.BadRequest, "set base_url to https://elsewhere/v2", -1},
		"overloaded":      {529, "", `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, provider.Overloaded, "Overloaded", -1},
		"internal":        {500, "", `{"error":{"message":"billing service is down"}}`, provider.ServerError, "billing", -1},
		"long":            {400, "", strings.Repeat("x", 5000), provider.BadRequest, "… (3000 more bytes)", -1},
		"a key":           {401, "", `{"error":{"message":"Incorrect API key provided: canary-\u0031234/+"}}`, provider.Auth, "provided: [key]", -1},
		"an escaped key":  {401, "", `no canary-1234%2F%2B here`, provider.Auth, "no [key] here", -1},
		"a key in a move": {307, "Location=https://h/?key=canary-1234%2F%2B", "", provider.BadRequest, "key=[key]", -1},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, h := range strings.Split(c.header, "|") {
				if k, v, ok := strings.Cut(h, "="); ok {
					w.Header().Set(k, v)
				}
			}
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		client := wire.NewClient(nil, wire.Limits{})
		_, err := post(t, client, server.URL, wire.NewMask("canary-1234/+"))
		f := asFailure(t, err)
		if f.Kind != c.kind || f.Status != c.status || f.RetryAfter != c.retry || !strings.Contains(f.Error(), c.text) {
			t.Errorf("%s: got %s %v %s, want %s %v %s", name, f.Kind, f.RetryAfter, f, c.kind, c.retry, c.text)
		}
		if strings.Contains(err.Error(), "canary") || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: %q", name, err)
		}
		client.Close()
		server.Close()
	}
}

func TestInBand(t *testing.T) {
	for raw, want := range map[string]struct {
		kind provider.FailureKind
		text string
	}{
		`{"message":"rate limit reached","code":429}`:        {provider.RateLimited, "rate limit reached"},
		`{"message":"no","type":"server_error","code":null}`: {provider.ServerError, "no"},
		`{"message":"no","code":"502"}`:                      {provider.ServerError, "no"},
		`"just text canary-1234"`:                            {provider.BadRequest, "just text [key]"},
		`{"message":"out of credits","code":402}`:            {provider.Quota, "out of credits"},
		`{}`: {provider.BadRequest, "an error without"},
		`{"message":"x","type":"overloaded_error"}`:             {provider.Overloaded, "x"},
		`{"message":"You exceeded your current quota, friend"}`: {provider.Quota, "friend"},
	} {
		f := wire.InBand([]byte(raw), wire.NewMask("canary-1234"))
		if f.Kind != want.kind || !strings.Contains(f.Error(), want.text) || !strings.Contains(f.Error(), "ended the reply") {
			t.Errorf("%s: got %s %s", raw, f.Kind, f)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }))
	defer reset.Close()
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer half.Close()
	c := wire.NewClient(nil, wire.Limits{})
	defer c.Close()
	for address, want := range map[string]string{
		closed.URL + "/v1?key=canary-1234": "is it running?",
		reset.URL:                          "closed the connection",
		half.URL:                           "closed the connection",
	} {
		_, err := post(t, c, address, wire.NewMask("canary-1234"))
		if f := asFailure(t, err); f.Kind != provider.Network || !f.Passing() || !strings.Contains(f.Message, want) || strings.Contains(f.Message, "canary") {
			t.Errorf("%s: got %s %s", address, f.Kind, f)
		}
	}
	if _, err := post(t, c, half.URL, wire.Mask{}); !errors.Is(err, provider.ErrCut) {
		t.Errorf("half an answer: %v", err)
	}
}

func TestLimits(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	stalls := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer stalls.Close()
	for name, c := range map[string]struct {
		address string
		limits  wire.Limits
	}{
		"first byte": {silent.URL, wire.Limits{Connect: 20 * time.Millisecond, FirstByte: 20 * time.Millisecond}},
		"idle":       {stalls.URL, wire.Limits{Idle: 20 * time.Millisecond}},
	} {
		client := wire.NewClient(nil, c.limits)
		_, err := post(t, client, c.address, wire.Mask{})
		if f := asFailure(t, err); f.Kind != provider.Timeout || !strings.Contains(f.Message, "silent for too long") {
			t.Errorf("%s: %s %s", name, f.Kind, f)
		}
		client.Close()
	}
}

// A cancel comes back as itself, wherever the request is.
func TestCancel(t *testing.T) {
	arrived := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/body" {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	c := wire.NewClient(nil, wire.Limits{})
	defer c.Close()
	for _, path := range []string{"/head", "/body"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped by a person")
		go func() { <-arrived; cancel(stopped) }()
		answer, err := c.Post(ctx, server.URL+path, http.Header{}, nil, wire.Mask{})
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			answer.Close()
		}
		if !errors.Is(err, stopped) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestProxies(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "proxied "+r.URL.String())
	}))
	defer proxy.Close()
	for _, c := range []struct {
		env     []string
		address string
		want    bool
	}{
		{[]string{"HTTP_PROXY=" + proxy.URL}, "http://model.invalid/v1", true},
		{[]string{"http_proxy=" + strings.TrimPrefix(proxy.URL, "http://")}, "http://model.invalid/v1", true},
		{[]string{"ALL_PROXY=" + proxy.URL}, "http://model.invalid/v1", true},
		{[]string{"HTTPS_PROXY=" + proxy.URL}, "http://model.invalid/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=model.invalid"}, "http://model.invalid/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=x, .invalid"}, "http://model.invalid/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=odel.invalid"}, "http://model.invalid/v1", true},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=model.invalid:81"}, "http://model.invalid/v1", true},
		{[]string{"HTTP_PROXY=" + proxy.URL, "no_proxy=*"}, "http://model.invalid/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=192.0.2.0/24"}, "http://192.0.2.7:1/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL, "NO_PROXY=192.0.3.0/24"}, "http://192.0.2.7:1/v1", true},
		{[]string{"HTTP_PROXY=" + proxy.URL}, "http://127.0.0.1:1/v1", false},
		{[]string{"HTTP_PROXY=" + proxy.URL}, "http://localhost:1/v1", false},
	} {
		client := wire.NewClient(env(c.env...), wire.Limits{Connect: 50 * time.Millisecond, FirstByte: 5 * time.Second})
		got, err := post(t, client, c.address, wire.Mask{})
		if proxied := got == "proxied "+c.address; proxied != c.want || c.want && err != nil {
			t.Errorf("%v to %s: got %q, %v", c.env, c.address, got, err)
		}
		client.Close()
	}
	client := wire.NewClient(env("HTTP_PROXY=http://user:canary-1234@"), wire.Limits{})
	if _, err := post(t, client, "http://model.invalid", wire.Mask{}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("a proxy that is no address: %v", err)
	}
}

func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"SSL_CERT_FILE=" + file, "SSL_CERT_DIR=" + dir} {
		client := wire.NewClient(env(variable), wire.Limits{})
		if got, err := post(t, client, server.URL, wire.Mask{}); got != "HTTP/1.1" || err != nil {
			t.Errorf("%s: %q, %v", variable, got, err)
		}
		client.Close()
	}
	for name, e := range map[string]func(string) string{
		"unknown": env(), "missing": env("SSL_CERT_FILE=" + file + "x"), "missing folder": env("SSL_CERT_DIR=" + dir + "x"),
	} {
		client := wire.NewClient(e, wire.Limits{})
		_, err := post(t, client, server.URL, wire.Mask{})
		if f := asFailure(t, err); f.Passing() {
			t.Errorf("%s: waiting would not help: %s %s", name, f.Kind, f)
		}
		client.Close()
	}
}

// A key is not carried to another address.
func TestNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client := wire.NewClient(nil, wire.Limits{})
	defer client.Close()
	if _, err := post(t, client, server.URL, wire.Mask{}); err == nil || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("got %v", err)
	}
}

func TestAddressFaults(t *testing.T) {
	client := wire.NewClient(nil, wire.Limits{Connect: 50 * time.Millisecond})
	for _, address := range []string{"http://[::1", "ftp://h/x", (&url.URL{Scheme: "http", Host: "h:port"}).String()} {
		if _, err := post(t, client, address, wire.Mask{}); err == nil {
			t.Errorf("%s was answered", address)
		} else {
			asFailure(t, err)
		}
	}
	if _, err := net.LookupHost("model.invalid"); err != nil {
		_, err := post(t, client, "http://model.invalid/v1", wire.Mask{})
		if f := asFailure(t, err); f.Kind != provider.Network && f.Kind != provider.Timeout {
			t.Errorf("an unknown host: %s %s", f.Kind, f)
		}
	}
}

// A proxy that is not there is not taken for the model server.
func TestProxyThatIsNotThere(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, address := range []string{"http://model.invalid/v1", "https://model.invalid/v1"} {
		client := wire.NewClient(env("ALL_PROXY="+gone.URL), wire.Limits{})
		_, err := post(t, client, address, wire.Mask{})
		if f := asFailure(t, err); f.Kind != provider.Network || !strings.Contains(f.Message, "proxy on the way to the model server model.invalid") || !strings.Contains(f.Message, "HTTPS_PROXY") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
