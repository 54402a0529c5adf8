package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/agent/model"
	"starling/agent/provider"
	"starling/agent/provider/openai"
	"starling/bus/chat"
	"starling/bus/spec"
)

func call(id, name, args string) chat.Block {
	return chat.Block{Kind: chat.Call, ID: id, Name: name, Arguments: args}
}

func result(id, name, text string) chat.Message {
	return chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: id, Name: name, Text: text}}}
}

var long = provider.Request{
	System: "be brief",
	Messages: []chat.Message{
		chat.TextMessage(chat.User, "look"),
		{Role: chat.Assistant, Model: "full/acme/big", Blocks: []chat.Block{
			{Kind: chat.Thinking, Text: "hm", Signature: "reasoning"}, call("a", "read", `{"path":"x"}`), call("b", "ls", ""),
		}},
		result("a", "read", "one"), result("b", "ls", "two"),
		chat.TextMessage(chat.System, "note"),
		chat.TextMessage(chat.User, "go on"),
		{Role: chat.Assistant, Model: "full/acme/big", Blocks: []chat.Block{{Kind: chat.Text, Text: "fi"}, {Kind: chat.Text, Text: "ne"}}},
		chat.TextMessage(chat.User, "thanks"),
	},
	Suffix: "today is Monday", Model: "full/acme/big",
	Tools:    []spec.Tool{readTool, {Name: "ls", Description: "List"}},
	Thinking: "high", MaxTokens: 77,
}

const toolsJSON = `,"tools":[{"type":"function","function":{"name":"read","description":"Read a \"file\"","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
	`{"type":"function","function":{"name":"ls","description":"List","parameters":{"type":"object","properties":{}}}}]`

const callsJSON = `"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}},{"id":"b","type":"function","function":{"name":"ls","arguments":"{}"}}]`

// The whole body of each profile, byte for byte.
func TestBodies(t *testing.T) {
	body := func(first, calls, results, note, behind string) string {
		return `{"model":"acme/big","messages":[` + first + `,{"role":"user","content":"look"},{"role":"assistant",` + calls + `,` + callsJSON + `},` +
			results + `,` + note + `,{"role":"user","content":"go on"},{"role":"assistant","content":"fine"},{"role":"user","content":"thanks"},{"role":"user","content":"today is Monday"}]` +
			toolsJSON + behind + `}`
	}
	const (
		system  = `{"role":"system","content":"be brief"}`
		results = `{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"}`
		named   = `{"role":"tool","tool_call_id":"a","name":"read","content":"one"},{"role":"tool","tool_call_id":"b","name":"ls","content":"two"}`
		inside  = `{"role":"system","content":"note"}`
		outside = `{"role":"user","content":"note"}`
		streams = `,"stream":true,"stream_options":{"include_usage":true}`
	)
	for name, want := range map[string]string{
		"compatible": body(system, `"content":null,"reasoning":"hm"`, results, outside, streams+`,"max_tokens":77,"reasoning_effort":"high"`),
		"openai":     body(system, `"content":null`, results, inside, streams+`,"max_completion_tokens":77,"reasoning_effort":"high","store":false`),
		"deepseek":   body(system, `"content":"","reasoning_content":"hm"`, results, inside, streams+`,"max_tokens":77,"thinking":{"type":"enabled"},"reasoning_effort":"high"`),
		"openrouter": body(system, `"content":null,"reasoning":"hm"`, results, inside, streams+`,"max_tokens":77,"reasoning":{"effort":"high"}`),
		"ollama":     body(system, `"content":"","reasoning":"hm"`, named, outside, streams+`,"max_tokens":77,"reasoning_effort":"high"`),
		"none":       body(system, `"content":""`, results, outside, `,"stream":true`),
	} {
		l := newLab(t, profile(name), func(m *model.Model, _ *openai.Options) { m.Reasoning = true })
		l.sends(data(finish("stop")), 0)
		l.ask(long)
		l.ask(long)
		if d := cmp.Diff(want, l.bodies[0]); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if !json.Valid([]byte(l.bodies[0])) || l.bodies[0] != l.bodies[1] {
			t.Errorf("%s: no JSON, or not the same twice", name)
		}
	}
}

func yes() *bool {
	b := true
	return &b
}

func word(s string) *string { return &s }

// Single fields changed over the profile.
func TestFields(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model.Compat)
		want   []string
		not    []string
	}{
		"system as user": {func(c *model.Compat) { c.SystemRole, c.Alternate = word("user"), yes() }, []string{`[{"role":"user","content":"be brief\n\nlook"}`}, []string{`"system"`}},
		"developer":      {func(c *model.Compat) { c.SystemRole, c.SystemInside = word("developer"), yes() }, []string{`{"role":"developer","content":"be brief"}`, `{"role":"developer","content":"note"}`}, nil},
		"alternate":      {func(c *model.Compat) { c.Alternate = yes() }, []string{`{"role":"user","content":"note\n\ngo on"}`, `{"role":"user","content":"thanks\n\ntoday is Monday"}`}, nil},
		"a reply between": {func(c *model.Compat) { c.AssistantAfterTool = yes() }, []string{
			`"content":"two"},{"role":"assistant","content":"I have read the results."},{"role":"user","content":"note"}`,
		}, nil},
		"omit":               {func(c *model.Compat) { c.EmptyContent = word("omit") }, []string{`{"role":"assistant","reasoning":"hm","tool_calls"`}, nil},
		"no thoughts":        {func(c *model.Compat) { c.ReasoningBack = word("none") }, nil, []string{`"hm"`, `"reasoning":`}},
		"thoughts elsewhere": {func(c *model.Compat) { c.ReasoningBack = word("reasoning_text") }, []string{`"reasoning_text":"hm"`}, nil},
		"no effort":          {func(c *model.Compat) { c.Thinking = word("none") }, nil, []string{"effort"}},
		"template":           {func(c *model.Compat) { c.Thinking = word("enable_thinking") }, []string{`"chat_template_kwargs":{"enable_thinking":true}`}, nil},
		"no limit":           {func(c *model.Compat) { c.MaxTokens = word("none") }, nil, []string{"77"}},
	} {
		l := newLab(t, func(m *model.Model, _ *openai.Options) { m.Reasoning = true; c.change(&m.Compat) })
		l.sends(data(finish("stop")), 0)
		l.ask(long)
		for _, want := range c.want {
			if !strings.Contains(l.bodies[0], want) {
				t.Errorf("%s: no %s in %s", name, want, l.bodies[0])
			}
		}
		for _, not := range c.not {
			if strings.Contains(l.bodies[0], not) {
				t.Errorf("%s: %s in %s", name, not, l.bodies[0])
			}
		}
		l.body()
	}
}

func TestThinkingOff(t *testing.T) {
	for name, want := range map[string]string{
		"compatible": `"reasoning_effort":"none"`, "openrouter": `"reasoning":{"enabled":false}`, "deepseek": `"thinking":{"type":"disabled"}`, "none": "",
	} {
		l := newLab(t, profile(name), func(m *model.Model, _ *openai.Options) { m.ThinkingLevels = []model.Level{model.Off, model.High} })
		l.sends(data(finish("stop")), 0)
		req := hello
		req.Thinking = "off"
		l.ask(req)
		l.ask(hello)
		if !strings.Contains(l.bodies[0], want) {
			t.Errorf("%s: %s", name, l.bodies[0])
		}
		if strings.Contains(l.bodies[1], "reasoning") || strings.Contains(l.bodies[1], "thinking") {
			t.Errorf("%s: a level that nobody asked for: %s", name, l.bodies[1])
		}
	}
	l := newLab(t)
	l.sends(data(finish("stop")), 0)
	req := hello
	req.Thinking = "high"
	l.ask(req)
	if strings.Contains(l.bodies[0], "effort") {
		t.Errorf("a model that does not think was asked to: %s", l.bodies[0])
	}
}

func TestImages(t *testing.T) {
	image := chat.Block{Kind: chat.Image, MIME: "image/gif", Data: []byte("GIF")}
	req := provider.Request{Messages: []chat.Message{
		{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Text, Text: "see"}, image}},
		{Role: chat.Assistant, Blocks: []chat.Block{call("a", "read", "{}"), call("b", "read", "{}")}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "a", Text: "a picture"}, image}},
		result("b", "read", "two"),
		chat.TextMessage(chat.User, "and?"),
	}}
	sees := newLab(t, func(m *model.Model, _ *openai.Options) { m.Input = []string{"text", "image"} })
	sees.sends(data(finish("stop")), 0)
	sees.ask(req)
	const part = `{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lG"}}]}`
	for _, want := range []string{
		`{"role":"user","content":[{"type":"text","text":"see"},` + part,
		`"content":"two"},{"role":"user","content":[{"type":"text","text":"Images of the results above:"},` + part + `,{"role":"user","content":"and?"}`,
	} {
		if !strings.Contains(sees.bodies[0], want) {
			t.Errorf("no %s in %s", want, sees.bodies[0])
		}
	}
	blind := newLab(t)
	blind.sends(data(finish("stop")), 0)
	blind.ask(req)
	if strings.Contains(blind.bodies[0], "R0lG") || !strings.Contains(blind.bodies[0], "takes no images") {
		t.Errorf("a model without images got %s", blind.bodies[0])
	}
}

// E-06: a thinking server refuses the next request without the same thoughts; a
// server whose profile forbids the field never gets it. The transcript goes
// through JSON, as it does in a resume.
func TestE06ReasoningTravelsBack(t *testing.T) {
	for name, c := range map[string]struct {
		profile, came, back string
	}{
		"compatible, content":   {"compatible", "reasoning_content", "reasoning_content"},
		"compatible, reasoning": {"compatible", "reasoning", "reasoning"},
		"deepseek":              {"deepseek", "reasoning_content", "reasoning_content"},
		"openrouter":            {"openrouter", "reasoning", "reasoning"},
		"openai":                {"openai", "reasoning_content", ""},
		"none":                  {"none", "reasoning", ""},
	} {
		l := newLab(t, profile(c.profile))
		l.set(func(w http.ResponseWriter, _ *http.Request, body string) {
			var sent struct{ Messages []map[string]any }
			if err := json.Unmarshal([]byte(body), &sent); err != nil {
				t.Error(err)
			}
			if len(sent.Messages) == 2 {
				stream(w, data(delta(`"`+c.came+`":"I think"`), delta(`"`+c.came+`":" \"so\""`),
					delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]`), finish("tool_calls")), 0)
				return
			}
			reply := sent.Messages[2]
			for _, key := range []string{"reasoning_content", "reasoning", "reasoning_text"} {
				want := any(nil)
				if key == c.back {
					want = `I think "so"`
				}
				if reply[key] != want {
					w.WriteHeader(http.StatusBadRequest)
					stream(w, `{"error":{"message":"`+key+` must be passed back"}}`, 0)
					return
				}
			}
			stream(w, data(text("fine"), finish("stop")), 0)
		})
		m := sound(t, l.ask(hello))
		m.Model = hello.Model
		if m.Text() != "" || m.Thinking() != `I think "so"` {
			t.Errorf("%s: text %q, thinking %q", name, m.Text(), m.Thinking())
		}
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var resumed chat.Message
		if err := json.Unmarshal(line, &resumed); err != nil {
			t.Fatal(err)
		}
		for _, m := range []chat.Message{m, resumed} {
			req := hello
			req.Messages = append(req.Messages[:1:1], m, result("a", "read", "x"))
			if m := sound(t, l.ask(req)); m.Text() != "fine" {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}

// Thoughts of another model stay here; where the field must be, it is empty.
func TestThoughtsOfAnotherModel(t *testing.T) {
	req := long
	req.Model = "full/other"
	for name, want := range map[string]string{"compatible": "", "openrouter": "", "deepseek": `"reasoning_content":""`} {
		l := newLab(t, profile(name))
		l.sends(data(finish("stop")), 0)
		l.ask(req)
		if strings.Contains(l.bodies[0], "hm") || !strings.Contains(l.bodies[0], want) || want == "" && strings.Contains(l.bodies[0], `"reasoning`) {
			t.Errorf("%s: %s", name, l.bodies[0])
		}
	}
}

// A router's reasoning_details come back as they were, their pieces joined.
func TestReasoningDetails(t *testing.T) {
	l := newLab(t, profile("openrouter"))
	m := sound(t, l.reply(data(
		delta(`"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","format":"f","index":0}]`),
		delta(`"reasoning":"think","reasoning_details":[{"type":"reasoning.text","text":"think","index":0,"signature":null}]`),
		text("answer"),
		delta(`"reasoning_details":[{"type":"reasoning.text","signature":"sig<1>","index":0}]`),
		delta(`"reasoning_details":[{"type":"reasoning.encrypted","data":"xyz","id":"e1","index":1}],"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]`),
		finish("tool_calls"),
	), 0))
	m.Model = hello.Model
	req := hello
	req.Messages = append(req.Messages[:1:1], m, result("a", "read", "x"))
	sound(t, l.ask(req))
	got := l.body()["messages"].([]any)[2].(map[string]any)
	want := []any{
		map[string]any{"type": "reasoning.text", "text": "I think", "format": "f", "index": 0.0, "signature": "sig<1>"},
		map[string]any{"type": "reasoning.encrypted", "data": "xyz", "id": "e1", "index": 1.0},
	}
	if d := cmp.Diff(want, got["reasoning_details"]); d != "" || got["reasoning"] != "I think" || got["content"] != "answer" {
		t.Errorf("%v (-want +got):\n%s", got, d)
	}
	plain := newLab(t, profile("compatible"))
	plain.sends(data(finish("stop")), 0)
	plain.ask(req)
	if strings.Contains(plain.bodies[0], "reasoning_details") {
		t.Errorf("sent to a server that has no such field: %s", plain.bodies[0])
	}
}

func TestHeaders(t *testing.T) {
	l := newLab(t, func(m *model.Model, o *openai.Options) {
		m.Headers = map[string]string{"X-Team": "blue", "x-a": "1"}
		o.UserAgent = "starling/1"
	})
	l.sends(data(finish("stop")), 0)
	req := hello
	req.Headers = map[string]string{"X-A": "2"}
	l.ask(req)
	for name, want := range map[string]string{
		"X-Team": "blue", "X-A": "2", "User-Agent": "starling/1", "Content-Type": "application/json", "Authorization": "Bearer canary-key-12345",
	} {
		if got := l.heads[0].Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
