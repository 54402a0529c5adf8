package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

func asks(ids ...string) chat.Message {
	m := chat.Message{Role: chat.Assistant}
	for _, id := range ids {
		m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Call, ID: id, Name: "t", Arguments: "{}"})
	}
	return m
}

func result(id, text string) chat.Message {
	return chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: id, Name: "t", Text: text}}}
}

func brief(messages []chat.Message) []string {
	var out []string
	for _, m := range messages {
		line := string(m.Role)
		for _, b := range m.Blocks {
			line += " " + strings.TrimSpace(b.ID+" "+b.Text)
		}
		out = append(out, line)
	}
	return out
}

// E-08: calls that never got their result are answered in the request, right
// behind their message; the transcript itself stays.
func TestWellFormed(t *testing.T) {
	user, note := chat.TextMessage(chat.User, "u"), chat.TextMessage(chat.System, "n")
	thinking := chat.Message{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Thinking, Text: "hm"}}}
	unknown := " " + effectUnknown
	for name, c := range map[string]struct {
		in   []chat.Message
		want []string
	}{
		"whole":                 {[]chat.Message{user, asks("1"), result("1", "r"), user}, []string{"user u", "assistant 1", "tool 1 r", "user u"}},
		"an orphan at the end":  {[]chat.Message{user, asks("1", "2"), result("1", "r")}, []string{"user u", "assistant 1 2", "tool 1 r", "tool 2" + unknown}},
		"an orphan in between":  {[]chat.Message{user, asks("1"), user, asks("2"), result("2", "r")}, []string{"user u", "assistant 1", "tool 1" + unknown, "user u", "assistant 2", "tool 2 r"}},
		"out of order":          {[]chat.Message{asks("1", "2"), result("2", "b"), result("1", "a")}, []string{"assistant 1 2", "tool 1 a", "tool 2 b"}},
		"something in between":  {[]chat.Message{asks("1"), note, result("1", "a")}, []string{"assistant 1", "tool 1 a", "system n"}},
		"twice":                 {[]chat.Message{asks("1"), result("1", "a"), result("1", "b")}, []string{"assistant 1", "tool 1 a"}},
		"a result without call": {[]chat.Message{user, result("9", "a")}, []string{"user u"}},
		"an empty result":       {[]chat.Message{asks("1"), result("1", "")}, []string{"assistant 1", "tool 1 " + noOutput}},
		"nothing said":          {[]chat.Message{chat.TextMessage(chat.User, " "), thinking, {Role: chat.Assistant}, user}, []string{"user u"}},
		"blocks out of place": {[]chat.Message{{Role: chat.User, Blocks: []chat.Block{
			{Kind: chat.Thinking, Text: "hm"},
			{Kind: chat.Call, ID: "1", Name: "t"},
			{Kind: chat.Result, ID: "1"},
			{Kind: "odd", Text: "x"},
			{Kind: chat.Image},
			{Kind: chat.Image, ID: "picture", Data: []byte{1}},
		}}}, []string{"user picture"}},
		"thoughts to send back": {[]chat.Message{{Role: chat.Assistant, Blocks: []chat.Block{
			{Kind: chat.Thinking, Signature: "s"}, {Kind: chat.Thinking}, {Kind: chat.Text, Text: "a"},
		}}}, []string{"assistant  a"}},
		"none": {nil, nil},
	} {
		before := brief(c.in)
		if d := cmp.Diff(c.want, brief(wellFormed(c.in))); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff(before, brief(c.in)); d != "" {
			t.Errorf("%s: the transcript changed: %s", name, d)
		}
	}
}

func TestCallName(t *testing.T) {
	for name, want := range map[string]string{
		"read": "read", "": "unnamed", "a.b c/ä": "a_b_c__", strings.Repeat("x", 99): strings.Repeat("x", 64),
	} {
		if got := callName(name); got != want {
			t.Errorf("callName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPrefixedWithoutText(t *testing.T) {
	picture := chat.Message{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Image, ID: "picture", Data: []byte{1}}}}
	got := brief(prefixed([]chat.Message{chat.TextMessage(chat.Assistant, "a"), picture}, "rules"))
	if d := cmp.Diff([]string{"assistant a", "user rules picture"}, got); d != "" {
		t.Error(d)
	}
	if len(prefixed(nil, "rules")) != 0 {
		t.Error("a message was made up")
	}
}

func TestUnanswered(t *testing.T) {
	got := unanswered([]chat.Message{asks("0"), asks("1", "2", "3"), result("2", "r"), chat.TextMessage(chat.System, "n")})
	if len(got) != 2 || got[0].ID != "1" || got[1].ID != "3" {
		t.Errorf("%+v", got)
	}
}

// A token without a listener costs its bytes and no allocation but the growth of
// its buffer.
func TestTokenAllocations(t *testing.T) {
	port := bus.PortOf(bus.New(bus.NewStore()), event.Stream)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &receiver{ctx: ctx, end: cancel, listeners: port.Snapshot()}
	s.take(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
	piece := []byte("token ")
	n := testing.AllocsPerRun(10_000, func() { s.take(provider.Event{Kind: provider.Delta, Data: piece}) })
	if n != 0 { // growth is a few in ten thousand, and the figure is rounded down
		t.Errorf("%v allocations a token", n)
	}
}

// Where every listener only borrows the payload, all pieces have one; a single listener
// that may keep it gets one of its own each time.
func TestPayloadOfPieces(t *testing.T) {
	for name, borrows := range map[string][]bool{"all borrow": {true, true}, "one keeps": {true, false}} {
		t.Run(name, func(t *testing.T) {
			store := bus.NewStore()
			port := bus.PortOf(bus.New(store), event.Stream)
			var seen []*event.StreamEvent
			var texts []string
			for i, b := range borrows {
				add, _ := port.Put(bus.At(bus.ClassHost, 0, fmt.Sprint(i)), bus.Owner{Name: "x"}, bus.Listener[event.StreamEvent, bus.None]{
					Borrows: b,
					Do: func(_ context.Context, e *event.StreamEvent) (*bus.None, error) {
						if i == 1 {
							seen, texts = append(seen, e), append(texts, e.Text)
						}
						return nil, nil
					},
				})
				store.Commit(add)
			}
			s := &receiver{ctx: t.Context(), end: func() {}, turn: 3, listeners: port.Snapshot()}
			s.take(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			for _, piece := range []string{"a", "b"} {
				s.take(provider.Event{Kind: provider.Delta, Data: []byte(piece)})
			}
			if got := strings.Join(texts, ","); got != ",a,b" || seen[2].Turn != 3 {
				t.Errorf("heard %q in turn %d", got, seen[2].Turn)
			}
			if one := seen[1] == seen[2]; one != !slices.Contains(borrows, false) {
				t.Errorf("one payload: %t", one)
			}
		})
	}
}

func BenchmarkToken(b *testing.B) {
	for name, listeners := range map[string]int{"no listener": 0, "one listener": 1} {
		b.Run(name, func(b *testing.B) {
			store := bus.NewStore()
			port := bus.PortOf(bus.New(store), event.Stream)
			for range listeners {
				add, _ := port.Put(bus.At(bus.ClassHost, 0, "x"), bus.Owner{Name: "x"}, bus.Listener[event.StreamEvent, bus.None]{
					Do: func(context.Context, *event.StreamEvent) (*bus.None, error) { return nil, nil },
				})
				store.Commit(add)
			}
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			s := &receiver{ctx: ctx, end: cancel, listeners: port.Snapshot()}
			s.take(provider.Event{Kind: provider.BlockStart, Block: chat.Text})
			piece := []byte("token ")
			b.ReportAllocs()
			for b.Loop() {
				s.take(provider.Event{Kind: provider.Delta, Data: piece})
			}
		})
	}
}
