package scripted

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/spec"
)

// Sleep waits for a time or until ctx ends, whichever is first, and returns
// ctx's error in the second case.
type Sleep func(ctx context.Context, d time.Duration) error

// Clock is the Sleep of the machine's clock.
func Clock(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Provider answers with steps. It is safe for concurrent use; each request
// takes one step.
type Provider struct {
	sleep Sleep
	next  func(ctx context.Context, req provider.Request) (spec.Step, error)
}

// New returns a provider that answers the requests with steps, in order. sleep
// waits for their delays.
func New(steps []spec.Step, sleep Sleep) *Provider {
	s := &script{steps: steps}
	return &Provider{sleep: sleep, next: s.next}
}

type script struct {
	mu    sync.Mutex
	steps []spec.Step
	taken int
}

// next takes a step, whether it fits or not: a repeated request must not find
// the same one again.
func (s *script) next(ctx context.Context, req provider.Request) (spec.Step, error) {
	s.mu.Lock()
	n := s.taken
	s.taken++
	s.mu.Unlock()
	last := Last(req)
	if n >= len(s.steps) {
		return spec.Step{}, fmt.Errorf("the script is over: it has %d steps, and request %d came with %s",
			len(s.steps), n+1, quote(last))
	}
	step := s.steps[n]
	if step.Match != nil && !step.Match(last) {
		what := step.MatchText
		if what == "" {
			what = "another last message"
		}
		return spec.Step{}, fmt.Errorf("step %d of the script expected %s, but the last message is %s", n+1, what, quote(last))
	}
	if step.Reply == nil {
		return step, nil
	}
	answer, err := step.Reply(ctx, last)
	if err != nil {
		return spec.Step{}, fmt.Errorf("step %d of the script: %w", n+1, err)
	}
	if answer.DelayMS == 0 {
		answer.DelayMS = step.DelayMS
	}
	return answer, nil
}

// Last returns the text a model reads last: of the last message and, behind a
// blank line, of the suffix.
func Last(req provider.Request) string {
	var parts []string
	if n := len(req.Messages); n > 0 {
		for _, b := range req.Messages[n-1].Blocks {
			if (b.Kind == chat.Text || b.Kind == chat.Result) && b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	if req.Suffix != "" {
		parts = append(parts, req.Suffix)
	}
	return strings.Join(parts, "\n\n")
}

func quote(text string) string {
	const most = 200
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q and %d more bytes", strings.ToValidUTF8(text[:most], ""), len(text)-most)
}

// Stream answers one request with one step.
func (p *Provider) Stream(ctx context.Context, req provider.Request, sink provider.Sink) {
	step, err := p.take(ctx, req)
	if err != nil {
		sink(provider.Event{Kind: provider.Failed, Err: err})
		return
	}
	s := stream{ctx: ctx, sink: sink, sleep: p.sleep, delay: time.Duration(step.DelayMS) * time.Millisecond}
	if !s.step(step) {
		return // ctx ended
	}
	usage := chat.Usage{Input: estimate(req), Output: s.sent / bytesPerToken}
	if step.Error != "" {
		sink(provider.Event{Kind: provider.Failed, Err: errors.New(step.Error), Usage: usage})
		return
	}
	stop := chat.StopEnd
	if len(step.Calls) > 0 {
		stop = chat.StopTools
	}
	sink(provider.Event{Kind: provider.Done, Stop: stop, Usage: usage})
}

// take keeps a panic of a step's own functions inside its reply.
func (p *Provider) take(ctx context.Context, req provider.Request) (step spec.Step, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the script failed: %v", v)
		}
	}()
	return p.next(ctx, req)
}

// stream sends the blocks of one step.
type stream struct {
	ctx   context.Context
	sink  provider.Sink
	sleep Sleep
	delay time.Duration
	index int
	sent  int
	piece []byte
}

// step returns false when ctx ended.
func (s *stream) step(step spec.Step) bool {
	if step.Thinking != "" && !s.block(provider.Event{Block: chat.Thinking}, step.Thinking) {
		return false
	}
	if step.Text != "" && !s.block(provider.Event{Block: chat.Text}, step.Text) {
		return false
	}
	for _, c := range step.Calls {
		if !s.block(provider.Event{Block: chat.Call, ID: c.ID, Name: c.Name}, string(c.Arguments)) {
			return false
		}
	}
	return s.wait()
}

func (s *stream) block(start provider.Event, content string) bool {
	start.Kind, start.Index = provider.BlockStart, s.index
	s.sink(start)
	for content != "" {
		if !s.wait() {
			return false
		}
		n := cut(content)
		s.piece = append(s.piece[:0], content[:n]...)
		s.sink(provider.Event{Kind: provider.Delta, Index: s.index, Data: s.piece})
		s.sent += n
		content = content[n:]
	}
	s.sink(provider.Event{Kind: provider.BlockEnd, Index: s.index})
	s.index++
	return true
}

func (s *stream) wait() bool {
	if s.delay <= 0 {
		return s.ctx.Err() == nil
	}
	return s.sleep(s.ctx, s.delay) == nil
}

// pieceBytes is about what one token of a real model brings.
const pieceBytes = 8

// cut returns the length of the next piece: to behind the next blank, at most
// pieceBytes, never inside a character.
func cut(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if n > 0 && n+size > pieceBytes {
			break
		}
		n += size
		if r == ' ' || r == '\n' {
			break
		}
	}
	return n
}

// bytesPerToken is a rule of thumb; the usage of a scripted reply is an
// estimate from it.
const bytesPerToken = 4

func estimate(req provider.Request) int {
	n := len(req.System) + len(req.Suffix)
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			n += len(b.Text) + len(b.Arguments)
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return n / bytesPerToken
}
