package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/sse"
	"starling/agent/provider/wire"
	"starling/bus/chat"
)

// plainChunk is a chunk as encoding/json reads it.
type plainChunk struct {
	Choices []plainChoice `json:"choices"`
	Usage   struct {
		Prompt int `json:"prompt_tokens"`
	} `json:"usage"`
}

type plainChoice struct {
	Delta struct {
		Content   string      `json:"content"`
		ToolCalls []plainCall `json:"tool_calls"`
	} `json:"delta"`
	Finish string `json:"finish_reason"`
}

type plainCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// What encoding/json reads, the scanner reads alike.
func TestScannerReadsAsEncodingJSON(t *testing.T) {
	word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\"", "\\", "\n\t\r\b\f\x01", "🦜漢", "\u2028<>&", "}{][,:"}))
	rapid.Check(t, func(t *rapid.T) {
		in := plainChunk{Choices: make([]plainChoice, 1)}
		in.Usage.Prompt = rapid.IntRange(0, 1<<30).Draw(t, "prompt")
		choice := &in.Choices[0]
		choice.Delta.Content, choice.Finish = word.Draw(t, "content"), word.Draw(t, "finish")
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			c := plainCall{Index: rapid.IntRange(0, 9).Draw(t, "index"), ID: word.Draw(t, "id")}
			c.Function.Name, c.Function.Arguments = word.Draw(t, "name"), word.Draw(t, "arguments")
			choice.Delta.ToolCalls = append(choice.Delta.ToolCalls, c)
		}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var want plainChunk
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		var r reader
		c, ok := r.parse(b)
		if !ok || string(c.text) != want.Choices[0].Delta.Content || string(c.finish) != want.Choices[0].Finish || c.usage.prompt != want.Usage.Prompt {
			t.Fatalf("%s: got %v %q %q %d", b, ok, c.text, c.finish, c.usage.prompt)
		}
		if len(c.calls) != len(want.Choices[0].Delta.ToolCalls) {
			t.Fatalf("%s: %d calls", b, len(c.calls))
		}
		for i, w := range want.Choices[0].Delta.ToolCalls {
			g := c.calls[i]
			if g.index != w.Index || string(g.id) != w.ID || string(g.name) != w.Function.Name || string(g.args) != w.Function.Arguments {
				t.Fatalf("%s: call %d is %+v", b, i, g)
			}
		}
	})
}

// What is written reads back as encoding/json reads it, byte for byte.
func TestAppendText(t *testing.T) {
	check := func(s string) {
		var got string
		if err := json.Unmarshal(appendText(nil, s), &got); err != nil || got != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%q: %q, %v", s, got, err)
		}
		var theirs string
		b, _ := json.Marshal(s)
		if json.Unmarshal(b, &theirs) != nil || theirs != got {
			t.Fatalf("%q: %q, encoding/json has %q", s, got, theirs)
		}
	}
	for c := range 256 {
		check("a" + string([]byte{byte(c)}) + "b")
	}
	for _, s := range []string{"", "\xff\xfe", "漢\xe6\xbc", "\xed\xa0\x80", "a\u2028\u2029<&>"} {
		check(s)
	}
	rapid.Check(t, func(t *rapid.T) { check(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) })
}

func TestSurrogates(t *testing.T) {
	for in, want := range map[string]string{
		`"\ud83e\udd9c"`: "🦜", `"\ud83e"`: "\uFFFD", `"\udd9c"`: "\uFFFD", `"\ud83ex"`: "\uFFFDx", `"\ud83e\n"`: "\uFFFD\n",
		`"\ud83e\u0041"`: "\uFFFDA", `"\ud83e\ud83e\udd9c"`: "\uFFFD🦜", "\"a\xffb\"": "a\uFFFDb", `"\u00E9\u00e9"`: "éé",
	} {
		var s scanner
		s.reset([]byte(in))
		if got := string(s.text()); got != want || !s.end() {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}}]}}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"}],\"content\":[{\"type\":\"thinking\",\"thinking\":[]}]}}]}\n\n",
		"data: {\"error\":{\"message\":\"x\"}}\n\n", "data: {\"usage\":{\"prompt_tokens\":1e9,\"cost\":-1}}\n\n", "data: {\"choices\":[{\"index\":1}]}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var got provider.Reply
		last := provider.Kind(0)
		r := newReply(func(e provider.Event) {
			if last == provider.Done || last == provider.Failed {
				t.Fatal("an event behind the end")
			}
			last = e.Kind
			got.Take(e)
		}, wire.Mask{}, true, func(chat.Usage) float64 { return 0 })
		events := sse.NewReader(bytes.NewReader(in), 1<<16)
		for {
			e, err := events.Next()
			if err != nil || !r.event(e) {
				break
			}
		}
		r.end(nil)
		if last != provider.Done && last != provider.Failed {
			t.Fatalf("the last event is %d", last)
		}
		if err := got.Err(); err != nil && strings.Contains(err.Error(), "broke its stream") {
			t.Fatal(err)
		}
		if m := got.Message(); !utf8.ValidString(m.Text()) || !utf8.ValidString(m.Thinking()) {
			t.Fatal("a text that is no UTF-8")
		}
	})
}

const token = `{"id":"mock-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"mock","choices":[{"index":0,"delta":{"content":"wo\"rd "},"finish_reason":null}]}`

// A token costs no allocation from the bytes of its event into the reply, but
// the growth of the buffers.
func TestAllocationsPerToken(t *testing.T) {
	calls := `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\": "}}]},"finish_reason":null}],"usage":{"prompt_tokens":10,"completion_tokens":20}}`
	thought := strings.Replace(token, "content", "reasoning_content", 1)
	for name, text := range map[string]string{"text": token, "arguments": calls, "thoughts": thought} {
		var got provider.Reply
		r := newReply(func(e provider.Event) { got.Take(e) }, wire.Mask{}, false, func(chat.Usage) float64 { return 0 })
		event := sse.Event{Data: []byte(text)}
		r.take(&chunk{calls: []callDelta{{index: 0, id: []byte("a"), name: []byte("write"), args: []byte("{")}}})
		if n := testing.AllocsPerRun(10_000, func() {
			if !r.event(event) {
				t.Fatal(r.failure)
			}
		}); n != 0 { // it rounds down: growth is a few in ten thousand
			t.Errorf("%s: %v allocations a token", name, n)
		}
	}
}

// BenchmarkDeltas reads a reply of 20 000 deltas from memory into a message.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 20_000
	stream := []byte(strings.Repeat("data: "+token+"\n\n", deltas) + "data: [DONE]\n\n")
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		var got provider.Reply
		r := newReply(func(e provider.Event) { got.Take(e) }, wire.Mask{}, false, func(chat.Usage) float64 { return 0 })
		events := sse.NewReader(bytes.NewReader(stream), 0)
		for {
			e, err := events.Next()
			if err != nil || !r.event(e) {
				break
			}
		}
		r.end(nil)
		if got.Err() != nil {
			b.Fatal(got.Err())
		}
	}
}

func BenchmarkBody(b *testing.B) {
	var messages []chat.Message
	for range 100 {
		messages = append(messages, chat.TextMessage(chat.User, strings.Repeat("some text\n", 100)))
	}
	b.ReportAllocs()
	for b.Loop() {
		bodyOf(model.Model{}, model.Profile{}, provider.Request{Messages: messages})
	}
}
