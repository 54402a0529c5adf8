package openai

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/sse"
	"starling/agent/provider/wire"
)

const (
	// maxBody is the most bytes of a reply that is not streamed.
	maxBody = 32 << 20
	// afterFinish is how long the rest of a finished reply may take: usage, the
	// mark. afterMark is for the end of the body, so that the connection can be
	// used again.
	afterFinish = 5 * time.Second
	afterMark   = 50 * time.Millisecond
)

// Options of a Provider. The zero value will do.
type Options struct {
	// Env gives the variables of proxies and certificates (see wire.NewClient);
	// nil is an empty environment.
	Env    func(string) string
	Limits wire.Limits
	// KeyRefused is told that the server refused the key; nil for nobody.
	KeyRefused func()
	// UserAgent names the program to the server; empty is starling.
	UserAgent string
}

// Provider answers requests with one model. It is safe for concurrent use. It
// sends each request once: provider.Retrying is for more.
type Provider struct {
	m       model.Model
	p       model.Profile
	key     func(ctx context.Context) (string, error)
	o       Options
	client  *wire.Client
	address string
}

// New returns a provider of m, whose API must be openai-completions. key gives
// the key for each request, "" for none; nil is none.
func New(m model.Model, key func(ctx context.Context) (string, error), o Options) (*Provider, error) {
	if m.API != model.OpenAICompletions && m.API != "" {
		return nil, fmt.Errorf("model %s: its api %q is not %s", m.FullName(), m.API, model.OpenAICompletions)
	}
	if m.ID == "" || m.BaseURL == "" {
		return nil, fmt.Errorf("model %q: it has no id or no base_url", m.FullName())
	}
	if u, err := url.Parse(m.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("model %s: the address of its server is none such as https://api.example.com/v1", m.FullName())
	}
	if key == nil {
		key = func(context.Context) (string, error) { return "", nil }
	}
	if o.UserAgent == "" {
		o.UserAgent = "starling"
	}
	address := strings.TrimRight(m.BaseURL, "/")
	if !strings.HasSuffix(address, "/chat/completions") {
		address += "/chat/completions"
	}
	return &Provider{
		m: m, p: m.Profile(), key: key, o: o, client: wire.NewClient(o.Env, o.Limits), address: address,
	}, nil
}

// Close drops idle connections.
func (p *Provider) Close() { p.client.Close() }

// Stream sends req and gives the events of the reply to sink. The model of the
// request is the provider's, whatever req names.
func (p *Provider) Stream(ctx context.Context, req provider.Request, sink provider.Sink) {
	fail := func(err error) {
		if ctx.Err() == nil {
			sink(provider.Event{Kind: provider.Failed, Err: err})
		}
	}
	key, err := p.key(ctx)
	if err != nil {
		fail(&provider.Failure{
			Kind: provider.Auth, Message: fmt.Sprintf("model %s: %v", p.m.FullName(), err), RetryAfter: -1, Cause: err,
		})
		return
	}
	header, hide := p.header(req, key)
	answer, err := p.client.Post(ctx, p.address, header, bodyOf(p.m, p.p, req), hide)
	if err != nil {
		var f *provider.Failure
		if errors.As(err, &f) {
			advise(f, p.m, key)
			if f.Kind == provider.Auth && p.o.KeyRefused != nil {
				p.o.KeyRefused()
			}
		}
		fail(err)
		return
	}
	defer answer.Close()
	r := newReply(sink, hide, p.p.ReasoningDetails, p.m.Cost.Of)
	err = r.read(answer)
	if ctx.Err() == nil {
		r.end(err)
	}
}

// header returns the headers of a request and what hides their secrets.
func (p *Provider) header(req provider.Request, key string) (http.Header, wire.Mask) {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	h.Set("User-Agent", p.o.UserAgent)
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	secrets := []string{key}
	for _, more := range []map[string]string{p.m.Headers, req.Headers} {
		for name, value := range more {
			h.Set(name, value)
			if secret(name) {
				secrets = append(secrets, value, strings.TrimPrefix(value, "Bearer "))
			}
		}
	}
	return h, wire.NewMask(secrets...)
}

func secret(header string) bool {
	header = strings.ToLower(header)
	for _, word := range []string{"key", "auth", "token", "secret", "cookie", "credential", "password"} {
		if strings.Contains(header, word) {
			return true
		}
	}
	return false
}

// read takes the whole answer, streamed or not, whatever its header says. It
// returns why it ended, nil for the end of the body.
func (r *reply) read(answer *wire.Answer) error {
	if r.failure = compressed(answer.Header); r.failure != nil {
		return nil
	}
	body := bufio.NewReaderSize(answer.Body, 4096)
	first, err := firstByte(body)
	if err != nil {
		return err
	}
	if first == '{' || first == '[' {
		return r.whole(body)
	}
	begin := head(body)
	events := sse.NewReader(body, 0)
	some, limited := false, false
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			if !some {
				r.failure = r.strange(begin, answer.Header)
			}
			return nil
		}
		if err != nil {
			return err
		}
		some = true
		if !r.event(e) {
			break
		}
		if r.finished && !limited {
			limited = true
			answer.Limit(afterFinish)
		}
	}
	if r.failure == nil && r.finished {
		answer.Limit(afterMark)
		// What comes behind the mark counts for nothing; nor does how it ends.
		_, _ = body.Discard(maxBody)
	}
	return nil
}

// firstByte returns the first byte that is no blank and leaves it unread.
func firstByte(body *bufio.Reader) (byte, error) {
	for {
		c, err := body.ReadByte()
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, body.UnreadByte()
		}
	}
}

// whole takes an answer that was not streamed.
func (r *reply) whole(body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxBody:
		r.failure = protocol(fmt.Sprintf("the answer is above the limit of %d bytes", maxBody), nil)
		return nil
	}
	c, ok := r.parser.parse(data)
	switch {
	case !ok:
		r.failure = protocol("the answer of the model server is no JSON object: "+r.quoted(data), nil)
	case c.fault == nil && !c.choices:
		r.failure = protocol("the answer of the model server has no choices: "+r.quoted(data), nil)
	default:
		r.finished = true // nothing is missing from an object that is whole
		r.take(c)
	}
	return nil
}
