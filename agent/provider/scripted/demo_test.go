package scripted_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/bus/chat"
	"starling/bus/spec"
)

var (
	readTool  = spec.Tool{Name: "read"}
	writeTool = spec.Tool{Name: "write"}
	countTool = spec.Tool{Name: "word_count", Parameters: json.RawMessage(`{"type":"object","properties":{"file":{"type":"string"}},"required":["file"]}`)}
)

func TestDemoCalls(t *testing.T) {
	all := []spec.Tool{readTool, writeTool, countTool}
	for _, c := range []struct {
		prompt string
		tools  []spec.Tool
		want   string // call and arguments; empty for text alone
	}{
		{"Count the words in README.md.", all, `word_count {"file":"README.md"}`},
		{"how many words has docs/a.md?", all, `word_count {"file":"docs/a.md"}`},
		{"Count the words in README.md.", all[:2], ""},
		{"show README.md", all, `read {"path":"README.md"}`},
		{"Please summarise `docs/plan.md`, thanks.", all, `read {"path":"docs/plan.md"}`},
		{"What is in ./go.mod?", all, `read {"path":"./go.mod"}`},
		{"read it", all, ""},
		{"read README.md", nil, ""},
		{`write "hello you" to notes.txt`, all, `write {"content":"hello you","path":"notes.txt"}`},
		{"write hello to notes.txt", all, `write {"content":"hello","path":"notes.txt"}`},
		{"create notes.txt with the text it's fine", all, `write {"content":"it's fine","path":"notes.txt"}`},
		{"create a file 'notes.txt' containing 'a b'", all, `write {"content":"a b","path":"notes.txt"}`},
		{"write notes.txt: one two", all, `write {"content":"one two","path":"notes.txt"}`},
		{"write CHANGELOG.md", all, ""},
		{"hello", all, ""},
		{"see https://example.org/x and read", all, ""},
		{"", all, ""},
	} {
		req := request(user(c.prompt))
		req.Tools = c.tools
		r, _ := ask(t.Context(), scripted.DemoOn(quick), req)
		if r.Err() != nil {
			t.Errorf("%q: %v", c.prompt, r.Err())
			continue
		}
		got := ""
		for _, call := range r.Message().Calls() {
			got += call.Name + " " + call.Arguments
		}
		if got != c.want {
			t.Errorf("%q: calls %s, want %s", c.prompt, got, c.want)
		}
		if r.Message().Text() == "" {
			t.Errorf("%q: says nothing", c.prompt)
		}
		if c.want == "" && !strings.Contains(r.Message().Text(), "offline demo") {
			t.Errorf("%q: does not say what it is: %s", c.prompt, r.Message().Text())
		}
	}
}

// The answer is made from what the tool returned, whatever that was.
func TestDemoAnswersFromResults(t *testing.T) {
	conversation := func(tool, arguments, result string, isError bool) provider.Request {
		return request(user("count the words in README.md"),
			chat.Message{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "1", Name: tool, Arguments: arguments}}},
			chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "1", Name: tool, Text: result, IsError: isError}}},
			chat.TextMessage(chat.System, "a note of some plugin"))
	}
	long := strings.Repeat("line\n", 40)
	for _, c := range []struct {
		req  provider.Request
		want string
	}{
		{conversation("word_count", `{"path":"README.md"}`, "312", false), "README.md has 312 words."},
		{conversation("word_count", `{"file":"x/y"}`, " 1\n", false), "x/y has 1 word."},
		{conversation("word_count", `{"path":"a.b"}`, "some words: 4", false), "The tool says about a.b: some words: 4"},
		{conversation("word_count", `{}`, "no such file", true), "The call of word_count did not work. The tool says: no such file"},
		{conversation("read", `{"path":"a.b"}`, "1\tone\n", false), "This is a.b:\n\n1\tone"},
		{conversation("read", `{"path":"a.b"}`, long, false), "This is how a.b begins; a scripted demo cannot summarise it:\n\n" +
			strings.TrimSuffix(strings.Repeat("line\n", 12), "\n") + "\n\n… and 28 more lines."},
		{conversation("write", `{"path":"a.b"}`, "created a.b (5 bytes, 1 line)", false), "Done: created a.b (5 bytes, 1 line)."},
	} {
		r, _ := ask(t.Context(), scripted.DemoOn(quick), c.req)
		if got := r.Message(); got.Text() != c.want || len(got.Calls()) > 0 {
			t.Errorf("got %q, want %q", got.Text(), c.want)
		}
	}
}

// quick is a clock on which the demo's pauses cost nothing.
func quick(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func TestDemoPausesOnTheClock(t *testing.T) {
	if r, _ := ask(t.Context(), scripted.Demo(), request(user("hello"))); r.Err() != nil {
		t.Errorf("%v", r.Err())
	}
}
