package model

import (
	"net/url"
	"slices"
	"strings"
)

// Names of the compatibility profiles.
const (
	Compatible = "compatible" // what nearly every server takes
	OpenAI     = "openai"
	DeepSeek   = "deepseek"
	OpenRouter = "openrouter"
	Ollama     = "ollama"
	Plain      = "none" // the least: messages and tools, nothing else
)

// Values of Profile.Thinking: how a request asks for a thinking level.
const (
	ThinkNone     = "none"             // not at all
	ThinkEffort   = "reasoning_effort" // "reasoning_effort": LEVEL
	ThinkObject   = "reasoning"        // "reasoning": {"effort": LEVEL}
	ThinkSwitch   = "thinking"         // "thinking": {"type": …} besides reasoning_effort
	ThinkTemplate = "enable_thinking"  // "chat_template_kwargs": {"enable_thinking": …}
)

// Values of Profile.ReasoningBack besides the name of a field: how the thoughts
// of earlier replies travel back.
const (
	BackNone = "none" // never
	BackSame = "same" // to the model they came from, in the field they came in
)

// Profile is how one server wants chat completions: plain data.
type Profile struct {
	MaxTokens          string // the field of the output limit; "none" for no field
	SystemRole         string // system, developer or user
	SystemInside       bool   // system messages may stand among the others
	Thinking           string // see ThinkEffort
	ReasoningBack      string // see BackSame, or the field's name
	ReasoningRequired  bool   // the field stands in every message with tool calls
	ReasoningDetails   bool   // reasoning_details travel back unchanged
	ToolName           bool   // a tool result repeats the tool's name
	AssistantAfterTool bool   // between a tool result and a user message stands a reply
	Alternate          bool   // no two user messages in a row
	EmptyContent       string // content of a reply of calls alone: null, empty or omit
	Stream             bool   // streamed replies
	StreamUsage        bool   // stream_options asks for the usage
	Store              bool   // "store": false keeps the server from storing
}

// profiles is the table of the built-in ones.
var profiles = map[string]Profile{
	Compatible: {
		MaxTokens: "max_tokens", SystemRole: "system", Thinking: ThinkEffort, ReasoningBack: BackSame,
		EmptyContent: "null", Stream: true, StreamUsage: true,
	},
	OpenAI: {
		MaxTokens: "max_completion_tokens", SystemRole: "system", SystemInside: true, Thinking: ThinkEffort,
		ReasoningBack: BackNone, EmptyContent: "null", Stream: true, StreamUsage: true, Store: true,
	},
	DeepSeek: {
		MaxTokens: "max_tokens", SystemRole: "system", SystemInside: true, Thinking: ThinkSwitch,
		ReasoningBack: "reasoning_content", ReasoningRequired: true,
		EmptyContent: "empty", Stream: true, StreamUsage: true,
	},
	OpenRouter: {
		MaxTokens: "max_tokens", SystemRole: "system", SystemInside: true, Thinking: ThinkObject,
		ReasoningBack: "reasoning", ReasoningDetails: true, EmptyContent: "null", Stream: true, StreamUsage: true,
	},
	Ollama: {
		MaxTokens: "max_tokens", SystemRole: "system", Thinking: ThinkEffort, ReasoningBack: BackSame,
		ToolName: true, EmptyContent: "empty", Stream: true, StreamUsage: true,
	},
	Plain: {
		MaxTokens: "none", SystemRole: "system", Thinking: ThinkNone, ReasoningBack: BackNone,
		EmptyContent: "empty", Stream: true,
	},
}

// profileHosts are servers whose profile is known by their address.
var profileHosts = []struct{ host, profile string }{
	{"api.openai.com", OpenAI},
	{"api.deepseek.com", DeepSeek},
	{"openrouter.ai", OpenRouter},
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Compat names a profile and changes single fields of it. Nil fields are the
// profile's.
type Compat struct {
	// Profile is the base; empty is the one of the provider or server.
	Profile string

	MaxTokens, SystemRole, Thinking, ReasoningBack, EmptyContent *string
	SystemInside, ReasoningRequired, ReasoningDetails, ToolName  *bool
	AssistantAfterTool, Alternate, Stream, StreamUsage, Store    *bool
}

// compatField is one field as it stands in models.json. Exactly one of text and
// flag is set; words are all that text may be, nil for any.
type compatField struct {
	name  string
	words []string
	text  func(*Compat, *Profile) (change **string, in *string)
	flag  func(*Compat, *Profile) (change **bool, in *bool)
}

// compatFields is the table behind reading and applying.
var compatFields = []compatField{
	{
		name: "max_tokens_field", words: []string{"max_tokens", "max_completion_tokens", "none"},
		text: func(c *Compat, p *Profile) (**string, *string) { return &c.MaxTokens, &p.MaxTokens },
	},
	{
		name: "system_role", words: []string{"system", "developer", "user"},
		text: func(c *Compat, p *Profile) (**string, *string) { return &c.SystemRole, &p.SystemRole },
	},
	{
		name: "thinking", words: []string{ThinkNone, ThinkEffort, ThinkObject, ThinkSwitch, ThinkTemplate},
		text: func(c *Compat, p *Profile) (**string, *string) { return &c.Thinking, &p.Thinking },
	},
	{
		name: "reasoning_back",
		words: []string{
			BackNone, BackSame, "reasoning_content", "reasoning", "reasoning_text",
		},
		text: func(c *Compat, p *Profile) (**string, *string) { return &c.ReasoningBack, &p.ReasoningBack },
	},
	{
		name: "empty_content", words: []string{"null", "empty", "omit"},
		text: func(c *Compat, p *Profile) (**string, *string) { return &c.EmptyContent, &p.EmptyContent },
	},
	{name: "system_inside", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.SystemInside, &p.SystemInside }},
	{name: "reasoning_required", flag: func(c *Compat, p *Profile) (**bool, *bool) {
		return &c.ReasoningRequired, &p.ReasoningRequired
	}},
	{name: "reasoning_details", flag: func(c *Compat, p *Profile) (**bool, *bool) {
		return &c.ReasoningDetails, &p.ReasoningDetails
	}},
	{name: "tool_name", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.ToolName, &p.ToolName }},
	{name: "assistant_after_tool", flag: func(c *Compat, p *Profile) (**bool, *bool) {
		return &c.AssistantAfterTool, &p.AssistantAfterTool
	}},
	{name: "alternate_roles", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.Alternate, &p.Alternate }},
	{name: "stream", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.Stream, &p.Stream }},
	{name: "stream_usage", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.StreamUsage, &p.StreamUsage }},
	{name: "store", flag: func(c *Compat, p *Profile) (**bool, *bool) { return &c.Store, &p.Store }},
}

// Profiles returns the names of the built-in profiles in order.
func Profiles() []string {
	return []string{Compatible, OpenAI, DeepSeek, OpenRouter, Ollama, Plain}
}

func (c Compat) over(p Profile) Profile {
	for _, f := range compatFields {
		if f.text != nil {
			if change, in := f.text(&c, &p); *change != nil {
				*in = **change
			}
			continue
		}
		if change, in := f.flag(&c, &p); *change != nil {
			*in = **change
		}
	}
	return p
}

func isProfile(name string) bool { return slices.Contains(Profiles(), name) }
