package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"starling/agent/provider"
)

// Limits of one request. Zero values are the defaults.
type Limits struct {
	Connect   time.Duration // 15 s: address, connection, TLS
	FirstByte time.Duration // 10 min: local models load before they answer
	Idle      time.Duration // 3 min between two reads of the answer
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		d     *time.Duration
		value time.Duration
	}{{&l.Connect, 15 * time.Second}, {&l.FirstByte, 10 * time.Minute}, {&l.Idle, 3 * time.Minute}} {
		if *f.d <= 0 {
			*f.d = f.value
		}
	}
	return l
}

// Client sends requests over one pool of HTTP/1.1 connections. It is safe for
// concurrent use.
type Client struct {
	http   *http.Client
	pool   *http.Transport
	limits Limits
	setup  func() error
}

// NewClient returns a client. env gives HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and
// NO_PROXY, and SSL_CERT_FILE and SSL_CERT_DIR, whose certificates are trusted
// besides the system's; nil is an empty environment.
func NewClient(env func(string) string, limits Limits) *Client {
	if env == nil {
		env = func(string) string { return "" }
	}
	limits = limits.withDefaults()
	dialer := &net.Dialer{Timeout: limits.Connect, KeepAlive: 30 * time.Second}
	pool := &http.Transport{
		Proxy:               proxies(env),
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: limits.Connect,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		// One request is one stream: HTTP/2 would put all of them behind one
		// connection, and costs memory. An empty map turns it off.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		// A compressed stream would be held back until a block is full.
		DisableCompression: true,
	}
	c := &Client{pool: pool, limits: limits}
	c.http = &http.Client{
		Transport: pool,
		// A key must not follow to another address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// Reading certificates takes milliseconds: only where they are needed.
	c.setup = sync.OnceValue(func() error {
		roots, err := certificates(env)
		pool.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		return err
	})
	return c
}

// Close drops idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// certificates returns nil for the system's own.
func certificates(env func(string) string) (*x509.CertPool, error) {
	files := []string{}
	if f := env("SSL_CERT_FILE"); f != "" {
		files = append(files, f)
	}
	for _, dir := range filepath.SplitList(env("SSL_CERT_DIR")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("SSL_CERT_DIR: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	for _, f := range files {
		pem, err := os.ReadFile(f)
		if err == nil && !roots.AppendCertsFromPEM(pem) && f == env("SSL_CERT_FILE") {
			err = fmt.Errorf("%s: it holds no certificate", f)
		}
		if err != nil {
			return nil, fmt.Errorf("SSL_CERT_FILE: %w", err)
		}
	}
	return roots, nil
}

// Answer is a 200 whose body streams. Close it.
type Answer struct {
	Header http.Header
	// Body gives a *provider.Failure where reading fails for another reason than
	// the end of the context.
	Body io.Reader

	body   io.Closer
	cancel context.CancelCauseFunc
	watch  *watch
}

// Close frees the connection: it is used again if the body was read to its end.
func (a *Answer) Close() {
	a.watch.stop()
	a.body.Close()
	a.cancel(nil)
}

// Limit gives what follows no more than d between two reads.
func (a *Answer) Limit(d time.Duration) {
	if d < a.watch.idle {
		a.watch.idle = d
	}
	a.watch.next()
}

// Post sends body to address. hide takes secrets out of texts of the server. The
// error is a *provider.Failure, or ctx's when it ended.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body []byte, hide Mask) (*Answer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, failure(provider.BadRequest, "the address of the model server is none", nil)
	}
	if u.Scheme == "https" {
		if err := c.setup(); err != nil {
			return nil, failure(provider.BadRequest, err.Error(), err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w := newWatch(cancel, u.Host, c.limits)
	answer, err := c.send(ctx, u, header, body, hide, w)
	if err != nil {
		w.stop()
		cancel(nil)
		return nil, err
	}
	answer.cancel = cancel
	return answer, nil
}

func (c *Client) send(ctx context.Context, u *url.URL, header http.Header, body []byte, hide Mask, w *watch) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, failure(provider.BadRequest, "the request cannot be made", err)
	}
	req.Header = header
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, broken(ctx, u.Host, hide, err)
	}
	w.next()
	read := &reader{ctx: ctx, body: resp.Body, host: u.Host, hide: hide, watch: w}
	if resp.StatusCode == http.StatusOK {
		return &Answer{Header: resp.Header, Body: read, body: resp.Body, watch: w}, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(read, maxErrorBody))
	if err != nil && ctx.Err() != nil && context.Cause(ctx) == ctx.Err() {
		return nil, err
	}
	return nil, Refused(resp.StatusCode, resp.Header, text, hide)
}

func failure(kind provider.FailureKind, message string, cause error) *provider.Failure {
	return &provider.Failure{Kind: kind, Message: message, RetryAfter: -1, Cause: cause}
}

// broken says why no answer came, or no more of it. What ended the context comes
// first: the rest follows from it.
func broken(ctx context.Context, host string, hide Mask, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without the address: it is long, and may hold a key
	}
	var timeout net.Error
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "proxyconnect" {
		return failure(provider.Network, fmt.Sprintf("the proxy on the way to the model server %s cannot be reached: %s; check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY", host, hide.Text(op.Err.Error())), nil)
	}
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return failure(provider.Timeout, fmt.Sprintf("connecting to the model server %s took too long", host), nil)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure(provider.Network, fmt.Sprintf("nothing answers at the model server %s: is it running?", host), nil)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return failure(provider.Network, fmt.Sprintf("the model server %s closed the connection", host), provider.ErrCut)
	}
	kind := provider.Network
	if certificate(err) {
		kind = provider.BadRequest // waiting does not help
	}
	return failure(kind, fmt.Sprintf("no connection to the model server %s: %s", host, hide.Text(err.Error())), nil)
}

func certificate(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &verify) || errors.As(err, &record)
}

// reader reads a body and keeps the watch going.
type reader struct {
	ctx   context.Context
	body  io.Reader
	host  string
	hide  Mask
	watch *watch
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if err == nil {
		r.watch.next()
		return n, nil
	}
	if errors.Is(err, io.EOF) && r.ctx.Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return n, io.EOF
	}
	return n, broken(r.ctx, r.host, r.hide, err)
}

// watch ends a request that stays silent for too long.
type watch struct {
	timer *time.Timer
	idle  time.Duration
}

func newWatch(cancel context.CancelCauseFunc, host string, limits Limits) *watch {
	w := &watch{idle: limits.Idle}
	w.timer = time.AfterFunc(limits.Connect+limits.FirstByte, func() {
		cancel(failure(provider.Timeout, fmt.Sprintf("the model server %s was silent for too long", host), nil))
	})
	return w
}

func (w *watch) next() { w.timer.Reset(w.idle) }
func (w *watch) stop() { w.timer.Stop() }
