package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"starling/agent/provider"
)

// maxErrorBody is how much of an error answer is read, maxMessage how much of it
// is shown.
const (
	maxErrorBody = 1 << 20
	maxMessage   = 2000
)

// Refused makes a failure of an answer that is no 200. now of a Retry-After date
// is the server's own Date where it sends one, so that clocks need not agree.
func Refused(status int, header http.Header, body []byte, hide Mask) *provider.Failure {
	said := read(body)
	f := &provider.Failure{Status: status, RetryAfter: said.retry}
	if after := retryAfter(header); after >= 0 {
		f.RetryAfter = after
	}
	f.Message = said.text(body, hide)
	if f.Message == "" {
		f.Message = strings.ToLower(http.StatusText(status))
		if status >= 300 && status < 400 {
			f.Message = "it moved; set base_url to " + clip(hide.Text(header.Get("Location")))
		}
	}
	f.Kind = kindOf(status, said)
	return f
}

// InBand makes a failure of an error object that came inside an answer of
// status 200. raw is the object.
func InBand(raw []byte, hide Mask) *provider.Failure {
	said := read(append(append([]byte(`{"error":`), raw...), '}'))
	status, _ := strconv.Atoi(said.code)
	if status < 400 || status > 599 {
		status = 0
	}
	f := &provider.Failure{Kind: kindOf(status, said), RetryAfter: said.retry, Message: said.text(raw, hide)}
	if f.Message == "" {
		f.Message = "an error without a text"
	}
	f.Message = "the model server ended the reply: " + f.Message
	return f
}

// said is what an error body tells.
type said struct {
	message    string
	code, kind string
	retry      time.Duration // negative: nothing
}

// errorBody is the union of the forms that servers use.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Errors  json.RawMessage `json:"errors"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    json.RawMessage `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  json.RawMessage `json:"status"`

	RetryAfter   json.RawMessage `json:"retry_after"`
	RetryAfterMS json.RawMessage `json:"retry_after_ms"`
	HeaderMS     json.RawMessage `json:"retry-after-ms"`
	RetryDelay   json.RawMessage `json:"retryDelay"`

	Details  []errorBody `json:"details"`
	Metadata *struct {
		Raw json.RawMessage `json:"raw"`
	} `json:"metadata"`
}

func read(body []byte) said {
	s := said{retry: -1}
	body = bytes.TrimSpace(body)
	if list := []json.RawMessage(nil); len(body) > 0 && body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var b errorBody
	if len(body) == 0 || body[0] != '{' || lenient(body, &b) != nil {
		s.message = plainText(body)
		return s
	}
	s.take(b, 0)
	return s
}

// text is the message for people: where no field held one the whole body.
func (s said) text(body []byte, hide Mask) string {
	message := s.message
	if message == "" && string(bytes.TrimSpace(body)) != "{}" {
		message = string(body)
	}
	return clip(hide.Text(message))
}

// lenient decodes what fits: a field of another type than expected is left out.
func lenient(body []byte, b *errorBody) error {
	err := json.Unmarshal(body, b)
	if _, ok := err.(*json.UnmarshalTypeError); ok {
		return nil
	}
	return err
}

func (s *said) take(b errorBody, depth int) {
	var inner errorBody
	switch text := asText(b.Error); {
	case text != "":
		s.message = text
	case len(b.Error) > 0 && b.Error[0] == '{' && depth < 3 && lenient(b.Error, &inner) == nil:
		s.take(inner, depth+1)
	}
	for _, raw := range []json.RawMessage{b.Message, b.Detail, b.Errors} {
		if s.message == "" {
			s.message = asText(raw)
		}
		if s.message == "" && len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') {
			s.message = string(raw)
		}
	}
	// A router says "provider returned error" and keeps the reason beside it.
	if b.Metadata != nil {
		if raw := asText(b.Metadata.Raw); raw != "" && !strings.Contains(s.message, raw) {
			s.message = strings.TrimSpace(s.message + ": " + raw)
		}
	}
	s.set(&s.code, asText(b.Code), number(b.Code), asText(b.Status))
	s.set(&s.kind, asText(b.Type))
	s.delay(b)
	for _, d := range b.Details {
		s.delay(d)
	}
}

func (s *said) set(to *string, from ...string) {
	for _, f := range from {
		if *to == "" {
			*to = f
		}
	}
}

// delay takes the longest wait that is named.
func (s *said) delay(b errorBody) {
	for _, f := range []struct {
		raw  json.RawMessage
		unit time.Duration
	}{
		{b.RetryAfter, time.Second},
		{b.RetryAfterMS, time.Millisecond},
		{b.HeaderMS, time.Millisecond},
		{b.RetryDelay, time.Second},
	} {
		text := asText(f.raw)
		if text == "" {
			text = number(f.raw)
		}
		if d := duration(text, f.unit); d > s.retry {
			s.retry = d
		}
	}
}

func asText(raw json.RawMessage) string {
	var text string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text)
	}
	return ""
}

func number(raw json.RawMessage) string {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

// duration reads "3", "2.5" in units or "3s"; negative when it is none.
func duration(text string, unit time.Duration) time.Duration {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		const most = 100 * 365 * 24 * time.Hour
		if n < 0 {
			return 0
		}
		if n != n || n > float64(most)/float64(unit) {
			return most
		}
		return time.Duration(n * float64(unit))
	}
	if d, err := time.ParseDuration(text); err == nil {
		return max(d, 0)
	}
	return -1
}

// retryAfter reads the headers; negative when there is none.
func retryAfter(h http.Header) time.Duration {
	if ms := duration(h.Get("Retry-After-Ms"), time.Millisecond); ms >= 0 {
		return ms
	}
	text := h.Get("Retry-After")
	if text == "" {
		return -1
	}
	if d := duration(text, time.Second); d >= 0 {
		return d
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return -1
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0)
}

var (
	quotaCodes = []string{
		"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded", "credits_exhausted",
		"usage_limit_reached", "insufficient_credits", "insufficient_balance", "account_quota_exceeded",
	}
	quotaTexts = []string{
		"insufficient_quota", "exceeded your current quota", "insufficient balance", "insufficient credit",
		"out of credits", "credit balance is too low", "quota is used up", "used-up quota", "quota used up", "quota exhausted",
		"exhausted your quota", "billing", "usage limit reached", "monthly limit", "weekly limit", "spending limit", "payment required",
	}
	tooLongTexts = []string{
		"context_length_exceeded", "maximum context length", "context window", "prompt is too long", "input is too long",
		"too many tokens in", "exceeds the available context size",
	}
)

func kindOf(status int, s said) provider.FailureKind {
	text := strings.ToLower(s.message)
	mentions := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(text, w) })
	}
	code, kind := strings.ToLower(s.code), strings.ToLower(s.kind)
	switch {
	case status == http.StatusPaymentRequired,
		slices.Contains(quotaCodes, code), slices.Contains(quotaCodes, kind),
		(status == 0 || status == http.StatusTooManyRequests || status == http.StatusForbidden) && mentions(quotaTexts):
		return provider.Quota
	case status == http.StatusTooManyRequests, status == 0 && (strings.Contains(code+kind, "rate_limit") || strings.Contains(text, "rate limit")):
		return provider.RateLimited
	case status == http.StatusServiceUnavailable, status == 529, status == 0 && strings.Contains(code+kind, "overloaded"):
		return provider.Overloaded
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.Auth
	case status == http.StatusNotFound:
		return provider.NotFound
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return provider.ServerError
	case code == "context_length_exceeded", status == http.StatusRequestEntityTooLarge, (status == 0 || status == http.StatusBadRequest) && mentions(tooLongTexts):
		return provider.TooLong
	case status == 0 && (strings.Contains(code+kind, "server_error") || strings.Contains(code+kind, "internal") || kind == "api_error"):
		return provider.ServerError
	}
	return provider.BadRequest
}

// plainText is a body that is no JSON as one short text: of a page its title.
func plainText(body []byte) string {
	text := string(body)
	if lower := strings.ToLower(text); strings.HasPrefix(lower, "<") {
		if i := strings.Index(lower, "<title>"); i >= 0 && len(lower) == len(text) {
			rest := text[i+len("<title>"):]
			if j := strings.Index(strings.ToLower(rest), "</title>"); j >= 0 {
				return strings.Join(strings.Fields(rest[:j]), " ")
			}
		}
		return "a web page instead of an answer"
	}
	return text
}

// clip cuts a text of the server to what a person reads, and keeps control
// characters away from the screen.
func clip(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"))
	if len(text) > maxMessage {
		more := len(text) - maxMessage
		text = fmt.Sprintf("%s… (%d more bytes)", strings.ToValidUTF8(text[:maxMessage], ""), more)
	}
	return text
}
