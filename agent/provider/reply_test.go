package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/agent/provider"
	"starling/bus/chat"
)

func start(i int, kind chat.BlockKind) provider.Event {
	return provider.Event{Kind: provider.BlockStart, Index: i, Block: kind, ID: "id", Name: "tool"}
}

func delta(i int, text string) provider.Event {
	return provider.Event{Kind: provider.Delta, Index: i, Data: []byte(text)}
}

func end(i int) provider.Event { return provider.Event{Kind: provider.BlockEnd, Index: i} }

var done = provider.Event{Kind: provider.Done, Usage: chat.Usage{Input: 3}}

func collect(events ...provider.Event) *provider.Reply {
	r := &provider.Reply{}
	for _, e := range events {
		r.Take(e)
	}
	return r
}

func TestReplyMessages(t *testing.T) {
	boom := provider.Event{Kind: provider.Failed, Err: errors.New("boom")}
	text := func(s string) chat.Block { return chat.Block{Kind: chat.Text, Text: s} }
	call := func(s string) chat.Block { return chat.Block{Kind: chat.Call, ID: "id", Name: "tool", Arguments: s} }
	usage := &chat.Usage{Input: 3}
	for name, c := range map[string]struct {
		events []provider.Event
		want   chat.Message
	}{
		"text": {
			[]provider.Event{start(0, chat.Text), delta(0, "a"), delta(0, "b"), end(0), done},
			chat.Message{Stop: chat.StopEnd, Usage: usage, Blocks: []chat.Block{text("ab")}},
		},
		"blocks side by side": {
			[]provider.Event{start(0, chat.Text), start(1, chat.Call), delta(1, "{"), delta(0, "a"), delta(1, "}"), end(1), end(0), done},
			chat.Message{Stop: chat.StopTools, Usage: usage, Blocks: []chat.Block{text("a"), call("{}")}},
		},
		"a signature, empty arguments, an empty block": {
			[]provider.Event{
				start(0, chat.Thinking),
				{Kind: provider.BlockEnd, Signature: "s"},
				start(1, chat.Call), end(1),
				start(2, chat.Call), delta(2, " null "), end(2), start(3, chat.Text), done,
			},
			chat.Message{
				Stop: chat.StopTools, Usage: usage,
				Blocks: []chat.Block{{Kind: chat.Thinking, ID: "id", Name: "tool", Signature: "s"}, call("{}"), call("{}")},
			},
		},
		"cut": {
			[]provider.Event{start(0, chat.Text), delta(0, "half"), start(1, chat.Call), delta(1, `{"pa`)},
			chat.Message{Stop: chat.StopError, Error: provider.ErrCut.Error(), Blocks: []chat.Block{text("half")}},
		},
		"failed behind a whole call": {
			[]provider.Event{start(0, chat.Call), delta(0, "{}"), end(0), boom},
			chat.Message{Stop: chat.StopError, Error: "boom", Blocks: []chat.Block{call("{}")}},
		},
		"a failure without a reason": {
			[]provider.Event{{Kind: provider.Failed}},
			chat.Message{Stop: chat.StopError, Error: "the provider failed without a reason"},
		},
		"nothing counts behind the end": {
			[]provider.Event{start(0, chat.Text), delta(0, "a"), end(0), done, start(1, chat.Text), delta(1, "b"), boom},
			chat.Message{Stop: chat.StopEnd, Usage: usage, Blocks: []chat.Block{text("a")}},
		},
	} {
		c.want.Role = chat.Assistant
		got := collect(c.events...).Message()
		for i := range got.Blocks {
			if got.Blocks[i].Kind == chat.Text {
				got.Blocks[i].ID, got.Blocks[i].Name = "", ""
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestReplyMisfits(t *testing.T) {
	for name, events := range map[string][]provider.Event{
		"a delta of no block":      {delta(0, "x")},
		"a delta behind the end":   {start(0, chat.Text), end(0), delta(0, "x")},
		"a block left out":         {start(1, chat.Text)},
		"a block twice":            {start(0, chat.Text), start(0, chat.Text)},
		"an end of no block":       {end(2)},
		"a negative index":         {delta(-1, "x")},
		"a result block":           {start(0, chat.Result)},
		"an event of no kind":      {{}},
		"misfits are not repaired": {delta(0, "x"), start(0, chat.Text), delta(0, "y"), end(0), done},
	} {
		r := collect(events...)
		if err := r.Err(); err == nil || !strings.Contains(err.Error(), "broke its stream") {
			t.Errorf("%s: %v", name, err)
		}
		if m := r.Message(); m.Stop != chat.StopError || m.Error == "" {
			t.Errorf("%s: the message is not marked: %+v", name, m)
		}
	}
}

// What Take returns is what it was given, and joined it is the message.
func TestReplyKeepsEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &provider.Reply{}
		r.Take(start(0, chat.Text))
		var ranges []string
		want := ""
		scratch := make([]byte, 0, 64)
		for _, piece := range rapid.SliceOf(rapid.String()).Draw(t, "pieces") {
			scratch = append(scratch[:0], piece...)
			ranges = append(ranges, r.Take(provider.Event{Kind: provider.Delta, Data: scratch}))
			want += piece
		}
		r.Take(done)
		if got := r.Message().Text(); got != want || strings.Join(ranges, "") != want {
			t.Fatalf("message %q, ranges %q, want %q", got, ranges, want)
		}
	})
}

// A token costs its bytes: no allocation but the growth of the buffer.
func TestReplyAllocations(t *testing.T) {
	piece := []byte("token ")
	r := &provider.Reply{}
	r.Take(start(0, chat.Text))
	perToken := testing.AllocsPerRun(10_000, func() { r.Take(provider.Event{Kind: provider.Delta, Data: piece}) })
	if perToken != 0 { // AllocsPerRun rounds down; growth is a few in ten thousand
		t.Errorf("%v allocations a token", perToken)
	}
}

type panicking struct{}

func (panicking) Stream(_ context.Context, _ provider.Request, sink provider.Sink) {
	sink(start(0, chat.Text))
	panic("odd")
}

func TestGuarded(t *testing.T) {
	r := &provider.Reply{}
	provider.Guarded(panicking{}).Stream(t.Context(), provider.Request{}, func(e provider.Event) { r.Take(e) })
	if err := r.Err(); err == nil || err.Error() != "the provider failed: odd" {
		t.Errorf("got %v", err)
	}
}
