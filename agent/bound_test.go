package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/agent"
	"starling/agent/provider"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// returns is a tool that returns what text says just then.
func returns(name string, text *string) spec.Tool {
	t := echo(name)
	t.Parameters = json.RawMessage(`{}`)
	t.Execute = func(context.Context, spec.ToolCall) (spec.ToolResult, error) {
		return spec.ToolResult{Content: *text}, nil
	}
	return t
}

// Bug report C-03: no tool, whoever's it is, no answer of a guard and no listener
// puts more than MaxResult into the transcript. The start and the end stand there
// with true counts, and the whole is kept aside.
func TestResultsAreBounded(t *testing.T) {
	long := strings.Repeat("0123456\n", 9<<17) // 9 MiB
	for name, by := range map[string]func(l *lab, text string){
		"tool": func(*lab, string) {},
		"listener": func(l *lab, text string) {
			listen(l, "p", event.ToolResult, func(context.Context, *event.ToolResultEvent) (*event.ToolResultAnswer, error) {
				return &event.ToolResultAnswer{Content: &text}, nil
			})
		},
		"answer": func(l *lab, text string) {
			listen(l, "p", event.ToolCall, func(context.Context, *event.ToolCallEvent) (*event.ToolCallAnswer, error) {
				return &event.ToolCallAnswer{Answer: &event.ToolAnswer{Content: text}}, nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []string
			l := newLab([]spec.Step{calls(call("big", `{}`)), say("fine")}, func(o *agent.Options) {
				o.Aside = func(content string) (string, error) {
					kept = append(kept, content)
					return "/kept/1", nil
				}
			})
			given := long
			if name != "tool" {
				given = "short"
			}
			l.tool(returns("big", &given))
			by(l, long)
			if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopEnd {
				t.Fatal(o)
			}
			got := l.agent.Transcript()[2].Blocks[0].Text
			want := fmt.Sprintf("0123456\n[… %d of %d bytes, %d of %d lines, left out; the whole result is in /kept/1 …]\n0123456\n",
				len(long)-65536+8, len(long), len(long)/8-8192+1, len(long)/8)
			if len(got) > agent.MaxResult || !strings.Contains(got, want) {
				i := strings.Index(got, "[…")
				t.Errorf("%d bytes, %.200q, want %q", len(got), got[max(i-8, 0):], want)
			}
			if len(kept) != 1 || kept[0] != long {
				t.Errorf("kept aside %d times", len(kept))
			}
		})
	}
}

// What is within the bound is not touched, what is above it is cut at whole
// characters, and a place that takes nothing ends nothing.
func TestBoundOfAResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "漢", "🦜", "ab\n", "\n", strings.Repeat("x", 5000) + "\n"}).Draw(t, "piece")
		size := rapid.IntRange(agent.MaxResult-3, agent.MaxResult+3).Draw(t, "size")
		text := strings.Repeat(piece, size/len(piece)+1)
		if rapid.Bool().Draw(t, "as it comes") {
			text = strings.Repeat("b", size%len(piece)) + strings.Repeat(piece, size/len(piece))
		}
		l := newLab([]spec.Step{calls(call("big", `{}`)), say("fine")}, func(o *agent.Options) {
			o.Aside = func(string) (string, error) { return "", errors.New("no space") }
		})
		l.tool(returns("big", &text))
		l.agent.Run(context.Background(), "go")
		got := l.agent.Transcript()[2].Blocks[0].Text
		switch {
		case strings.TrimSpace(text) == "":
		case len(text) <= agent.MaxResult && got != text:
			t.Fatalf("%d bytes of %q became %d", len(text), piece, len(got))
		case len(text) > agent.MaxResult && (len(got) > agent.MaxResult || !utf8.ValidString(got) || !strings.Contains(got, "the rest is lost (no space)")):
			t.Fatalf("%d bytes of %q became %d", len(text), piece, len(got))
		}
	})
}

// narrow is a server that refuses requests above limit bytes of text.
type narrow struct {
	limit int
	next  provider.Provider
}

func size(req provider.Request) (n int) {
	for _, m := range req.Messages {
		for _, b := range m.Blocks {
			n += len(b.Text)
		}
	}
	return n
}

func (p *narrow) Stream(ctx context.Context, req provider.Request, sink provider.Sink) {
	if size(req) > p.limit {
		sink(provider.Event{Kind: provider.Failed, Err: &provider.Failure{Kind: provider.TooLong, Status: 413, Message: "too large", RetryAfter: -1}})
		return
	}
	p.next.Stream(ctx, req, sink)
}

// Bug report C-03: a request that is refused for its size is sent again, each time
// smaller, until the server takes it or nothing is left to shorten. The transcript
// keeps what it had, and later requests stay small.
func TestRefusedForItsSize(t *testing.T) {
	text := strings.Repeat("0123456\n", 10<<10) // 80 KiB, within MaxResult
	for limit, want := range map[int]int{500 << 10: 7, 450 << 10: 8, 30 << 10: 9, 4 << 10: 10} {
		p := &narrow{limit: limit}
		l := newLab(append(repeat(6, calls(call("big", `{}`))), say("fine"), say("more")), func(o *agent.Options) { p.next, o.Provider = o.Provider, p })
		l.tool(returns("big", &text))
		p.limit = 500 << 10
		seen := 0
		listen(l, "p", event.Request, func(_ context.Context, e *event.RequestEvent) (*event.RequestAnswer, error) {
			if seen++; seen == 7 {
				p.limit = limit
			}
			return nil, nil
		})
		o := l.agent.Run(t.Context(), "go")
		if o.Stop != agent.StopEnd || o.Turns != want || len(l.requests) != want || size(l.requests[want-1]) > limit {
			t.Fatalf("limit %d: %d requests, %+v", limit, len(l.requests), o)
		}
		for i := 7; i < want; i++ {
			if size(l.requests[i]) >= size(l.requests[i-1]) {
				t.Errorf("limit %d: request %d has %d bytes, the one before %d", limit, i, size(l.requests[i]), size(l.requests[i-1]))
			}
		}
		if o = l.agent.Run(t.Context(), "more"); o.Stop != agent.StopEnd || o.Turns != 1 {
			t.Errorf("limit %d, later: %+v", limit, o)
		}
		whole := 0
		for _, m := range l.agent.Transcript() {
			for _, b := range m.Blocks {
				if b.Kind == chat.Result && b.Text == text {
					whole++
				}
			}
		}
		if whole != 6 {
			t.Errorf("limit %d: %d results of 6 are whole in the transcript", limit, whole)
		}
	}
	p := &narrow{limit: 1} // takes nothing
	l := newLab([]spec.Step{say("never")}, func(o *agent.Options) { p.next, o.Provider = o.Provider, p })
	if o := l.agent.Run(t.Context(), "go"); o.Stop != agent.StopError || o.Turns != 1 {
		t.Errorf("nothing to shorten: %+v", o)
	}
}
