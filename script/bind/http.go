package bind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

const (
	bodyLimit    = 8 << 20 // bytes of a response
	maxRedirects = 10
)

// request is one http call of a plugin.
type request struct {
	method, url, body string
	headers           map[string]string
}

func httpWords() []builtin {
	return []builtin{
		httpWord("get", []string{"url"}),
		httpWord("post", []string{"url", "body"}),
		httpWord("request", []string{"method", "url", "body?"}),
	}
}

// httpWord makes one word of the http module; params are its leading ones.
func httpWord(name string, params []string) builtin {
	word := "http." + name
	return builtin{name: word, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var (
			r       = request{method: strings.ToUpper(name)}
			headers *starlark.Dict
			ms      int
			reply   starlark.Value = starlark.None
		)
		to := map[string]*string{"url": &r.url, "body": &r.body, "method": &r.method}
		var pairs []any
		for _, param := range params {
			pairs = append(pairs, param, to[strings.TrimSuffix(param, "?")])
		}
		pairs = append(pairs, "headers?", &headers, "timeout_ms?", &ms, "reply?", &reply)
		if err := starlark.UnpackArgs(word, args, kwargs, pairs...); err != nil {
			return nil, err
		}
		timeout, err := timeoutFor(c.Info().Kind, ms)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
		if r.headers, err = stringMap(headers); err != nil {
			return nil, fmt.Errorf("%s: headers: %w", word, err)
		}
		if err := p.allowsURL(r.url); err != nil {
			return nil, fmt.Errorf("%s: %w", word, err)
		}
		return p.hostWork(c, word, reply, func(ctx context.Context) (starlark.Value, error) {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			v, err := p.fetch(ctx, r)
			if errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("no answer within %s", timeout)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", word, r.url, err)
			}
			return v, nil
		})
	}}
}

// allowsURL holds the host of a URL against the plugin's net words.
func (p *Plugin) allowsURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return fmt.Errorf("the url cannot be read: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("the url must begin with http:// or https:// and name a host, not %q", raw)
	}
	if u.User != nil {
		return errors.New("the url must not hold a user or a password; send a header")
	}
	port := map[string]int{"http": 80, "https": 443}[u.Scheme]
	if given := u.Port(); given != "" {
		if port, err = strconv.Atoi(given); err != nil {
			return fmt.Errorf("the port %q is no number", given)
		}
	}
	return p.words.AllowsNet(u.Hostname(), port)
}

func (p *Plugin) fetch(ctx context.Context, r request) (starlark.Value, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	req.Header.Set("User-Agent", "starling")
	for k, v := range r.headers {
		req.Header.Set(k, v)
		if strings.EqualFold(k, "host") {
			req.Host = v
		}
	}
	client := http.Client{
		Transport: p.host.HTTP,
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) >= maxRedirects {
				return fmt.Errorf("more than %d redirects", maxRedirects)
			}
			if err := p.allowsURL(next.URL.String()); err != nil {
				return fmt.Errorf("redirect to %s: %w", next.URL.Host, err)
			}
			return nil
		},
	}
	resp, err := client.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, bodyLimit+1))
	if err != nil {
		return nil, err
	}
	if len(body) > bodyLimit {
		return nil, fmt.Errorf("the response has more than %d bytes", bodyLimit)
	}
	headers := starlark.NewDict(len(resp.Header))
	for _, k := range slices.Sorted(maps.Keys(resp.Header)) {
		set(headers, strings.ToLower(k), starlark.String(strings.Join(resp.Header[k], ", ")))
	}
	return starlarkstruct.FromStringDict(starlark.String("response"), starlark.StringDict{
		"status": starlark.MakeInt(resp.StatusCode), "body": starlark.String(body), "headers": headers,
		"ok": starlark.True, "error": starlark.None,
	}), nil
}
