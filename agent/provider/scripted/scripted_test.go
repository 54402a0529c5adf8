package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus/chat"
	"starling/bus/spec"
)

func request(messages ...chat.Message) provider.Request { return provider.Request{Messages: messages} }

func user(text string) chat.Message { return chat.TextMessage(chat.User, text) }

// ask streams one reply and returns it with the number of events.
func ask(ctx context.Context, p provider.Provider, req provider.Request) (*provider.Reply, []provider.Event) {
	r := &provider.Reply{}
	var events []provider.Event
	p.Stream(ctx, req, func(e provider.Event) {
		r.Take(e)
		e.Data = append([]byte(nil), e.Data...)
		events = append(events, e)
	})
	return r, events
}

func TestStepsBecomeReplies(t *testing.T) {
	p := scripted.New([]spec.Step{
		{Thinking: "hm, let me see", Text: "I look at it.", Calls: []spec.StepCall{
			{ID: "c1", Name: "read", Arguments: json.RawMessage(`{"path":"a"}`)}, {Name: "now"},
		}},
		{Match: func(last string) bool { return strings.Contains(last, "result") }, Text: "fine"},
		{Reply: func(_ context.Context, last string) (spec.Step, error) {
			return spec.Step{Text: "you said " + last}, nil
		}},
		{Text: "partial", Error: "overloaded"},
	}, scripted.Clock)
	r, events := ask(t.Context(), p, request(user("go")))
	m := r.Message()
	if r.Err() != nil || m.Thinking() != "hm, let me see" || m.Text() != "I look at it." || m.Stop != chat.StopTools {
		t.Errorf("first: %+v, %v", m, r.Err())
	}
	calls := m.Calls()
	if len(calls) != 2 || calls[0].ID != "c1" || calls[0].Arguments != `{"path":"a"}` || calls[1].Arguments != "{}" {
		t.Errorf("calls: %+v", calls)
	}
	if len(events) < 12 || events[len(events)-1].Kind != provider.Done {
		t.Errorf("not in pieces: %d events", len(events))
	}
	if m.Usage == nil || m.Usage.Output != (14+13+12)/4 {
		t.Errorf("usage %+v", m.Usage)
	}
	result := chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, Text: "the result"}}}
	if r, _ := ask(t.Context(), p, request(user("go"), result)); r.Message().Text() != "fine" || r.Message().Stop != chat.StopEnd {
		t.Errorf("second: %+v, %v", r.Message(), r.Err())
	}
	req := request(user("hello"))
	req.Suffix = "turn 3"
	if r, _ := ask(t.Context(), p, req); r.Message().Text() != "you said hello\n\nturn 3" {
		t.Errorf("third: %+v, %v", r.Message(), r.Err())
	}
	if r, _ := ask(t.Context(), p, req); r.Err() == nil || r.Err().Error() != "overloaded" || r.Message().Text() != "partial" {
		t.Errorf("fourth: %+v, %v", r.Message(), r.Err())
	}
}

func TestWhatDoesNotFitSaysSo(t *testing.T) {
	never := func(string) bool { return false }
	for name, c := range map[string]struct {
		steps []spec.Step
		want  string
	}{
		"over":      {nil, `the script is over: it has 0 steps, and request 1 came with "hello"`},
		"mismatch":  {[]spec.Step{{Match: never, MatchText: `text with "bye"`, Text: "x"}}, `step 1 of the script expected text with "bye", but the last message is "hello"`},
		"no words":  {[]spec.Step{{Match: never}}, `step 1 of the script expected another last message, but the last message is "hello"`},
		"own error": {[]spec.Step{{Reply: func(context.Context, string) (spec.Step, error) { return spec.Step{}, errors.New("odd") }}}, "step 1 of the script: odd"},
		"panic":     {[]spec.Step{{Match: func(string) bool { panic("odd") }}}, "the script failed: odd"},
	} {
		r, _ := ask(t.Context(), scripted.New(c.steps, scripted.Clock), request(user("hello")))
		if r.Err() == nil || r.Err().Error() != c.want {
			t.Errorf("%s: %v, want %s", name, r.Err(), c.want)
		}
	}
}

func TestDelaysEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scripted.New([]spec.Step{{Text: "one two three four", DelayMS: 1000}}, scripted.Clock)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		began := time.Now()
		r, _ := ask(ctx, p, request(user("x")))
		if took := time.Since(began); took != 2500*time.Millisecond {
			t.Errorf("ended after %v", took)
		}
		if !errors.Is(r.Err(), provider.ErrCut) || r.Message().Text() != "one two " {
			t.Errorf("%q, %v", r.Message().Text(), r.Err())
		}
	})
}

func TestTheClockIsTheCallers(t *testing.T) {
	var waited time.Duration
	sleep := func(_ context.Context, d time.Duration) error { waited += d; return nil }
	p := scripted.New([]spec.Step{{Text: "one two", DelayMS: 3_600_000}}, sleep)
	if r, _ := ask(t.Context(), p, request(user("x"))); r.Err() != nil || waited != 3*time.Hour {
		t.Errorf("%v, waited %v", r.Err(), waited)
	}
}

// Pieces are small, whole characters, and together the text.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		_, events := ask(context.Background(), scripted.New([]spec.Step{{Text: text}}, scripted.Clock), request(user("x")))
		got := ""
		for _, e := range events {
			if len(e.Data) > 8 || !utf8.Valid(e.Data) {
				t.Fatalf("piece %q", e.Data)
			}
			got += string(e.Data)
		}
		if got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}
