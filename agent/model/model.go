package model

import (
	"slices"
	"strings"

	"starling/bus/chat"
)

// API names a wire format.
type API string

// The wire formats.
const (
	OpenAICompletions API = "openai-completions"
	OpenAIResponses   API = "openai-responses"
	AnthropicMessages API = "anthropic-messages"
	Gemini            API = "gemini"
)

var apis = []API{OpenAICompletions, OpenAIResponses, AnthropicMessages, Gemini}

// Model is everything starling knows about one model.
type Model struct {
	// ID is sent to the server as it stands.
	ID string
	// Name is for people; empty is the id.
	Name     string
	Provider string
	API      API
	// BaseURL is the address up to what the wire format adds, such as
	// https://api.example.com/v1.
	BaseURL string
	// KeyEnv names the variable that holds the key; KeyCommand is a shell command
	// that prints it. Both empty: no key is sent.
	KeyEnv, KeyCommand string
	// Reasoning models think before they answer.
	Reasoning bool
	// Input kinds: text, image. Empty is text.
	Input []string
	// ContextWindow and MaxTokens (of one reply) in tokens; 0 is not known.
	ContextWindow, MaxTokens int
	Cost                     Cost
	Compat                   Compat
	// ThinkingLevels the model has; empty is DefaultLevels of a reasoning model.
	ThinkingLevels []Level
	// Headers are sent with every request.
	Headers map[string]string
}

// FullName is provider and id, the longest way to name the model.
func (m Model) FullName() string {
	if m.Provider == "" {
		return m.ID
	}
	return m.Provider + "/" + m.ID
}

// Sees tells whether the model takes images.
func (m Model) Sees() bool { return slices.Contains(m.Input, "image") }

// Cost is the price in US dollars of a million tokens.
type Cost struct {
	Input, Output, CacheRead, CacheWrite float64
}

// Of returns the price of a usage in US dollars; 0 where prices are not known.
func (c Cost) Of(u chat.Usage) float64 {
	const million = 1e6
	return (float64(u.Input)*c.Input + float64(u.Output)*c.Output +
		float64(u.CacheRead)*c.CacheRead + float64(u.CacheWrite)*c.CacheWrite) / million
}

// profile is the compatibility profile of m: the one it names, else the one of
// its provider or its server, else Compatible.
func (m Model) profile() string {
	if m.Compat.Profile != "" {
		return m.Compat.Profile
	}
	if _, ok := profiles[m.Provider]; ok {
		return m.Provider
	}
	for _, h := range profileHosts {
		if host := hostOf(m.BaseURL); host == h.host || strings.HasSuffix(host, "."+h.host) {
			return h.profile
		}
	}
	return Compatible
}

// Profile returns how to speak to the model's server.
func (m Model) Profile() Profile { return m.Compat.over(profiles[m.profile()]) }
