package openai

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"starling/agent/model"
	"starling/agent/provider"
)

// maxHead is how much of an answer is kept to say what it was.
const maxHead = 200

// head returns a copy of what has arrived of the body.
func head(body *bufio.Reader) []byte {
	have, _ := body.Peek(min(body.Buffered(), maxHead))
	return bytes.Clone(have)
}

// strange is the failure of an answer of status 200 that begins with begin and
// held no event: a page of a proxy, a log-in, the root of another service. Waiting
// does not help against a wrong address. It is nil for a stream that only ended
// too early.
func (r *reply) strange(begin []byte, header http.Header) error {
	begin = bytes.TrimPrefix(begin, []byte("\ufeff"))
	if len(begin) == 0 || begin[0] == ':' {
		return nil
	}
	for _, field := range []string{"data", "event", "id", "retry"} {
		if have := string(begin[:min(len(begin), len(field))]); strings.HasPrefix(field, have) {
			return nil
		}
	}
	what := "with something else than a reply: " + r.quoted(begin)
	if begin[0] == '<' || strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		what = "with a web page instead of a reply"
	}
	return protocol("the model server answered "+what+"; check base_url in models.json, which often ends in /v1", nil)
}

// compressed is the failure of an answer in an encoding nobody asked for; nil for
// a plain one.
func compressed(header http.Header) error {
	encoding := strings.ToLower(strings.TrimSpace(header.Get("Content-Encoding")))
	if encoding == "" || encoding == "identity" {
		return nil
	}
	return protocol(fmt.Sprintf("the answer of the model server is compressed (%.20q), which was not asked for; turn that off in the server or the proxy before it", encoding), nil)
}

// advise adds to a refusal what the person can do about it.
func advise(f *provider.Failure, m model.Model, key string) {
	switch {
	case f.Status == http.StatusUnauthorized && key != "" && m.KeyEnv != "":
		f.Message += fmt.Sprintf(" (check the key in %s)", m.KeyEnv)
	case f.Status == http.StatusUnauthorized && key != "" && m.KeyCommand != "":
		f.Message += " (check the key that api_key_command prints)"
	case f.Status == http.StatusUnauthorized && key == "" && len(m.Headers) == 0:
		f.Message += " (no key was sent: give the model api_key_env or api_key_command in models.json)"
	case f.Status == http.StatusNotFound:
		f.Message += " (check id and base_url of the model " + m.FullName() + ")"
	}
}
