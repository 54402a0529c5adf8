package model

import (
	"fmt"
	"strings"
)

// known is a provider that is used when nothing is configured and its key
// variable is set.
type known struct {
	variable, provider, baseURL, model string
	reasoning                          bool
}

// knownProviders are looked for in this order.
var knownProviders = []known{
	{"OPENAI_API_KEY", "openai", "https://api.openai.com/v1", "gpt-5.1", true},
	{"OPENROUTER_API_KEY", "openrouter", "https://openrouter.ai/api/v1", "openrouter/auto", false},
	{"DEEPSEEK_API_KEY", "deepseek", "https://api.deepseek.com", "deepseek-v4-pro", true},
	{"GROQ_API_KEY", "groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b", true},
	{"MISTRAL_API_KEY", "mistral", "https://api.mistral.ai/v1", "devstral-latest", false},
	{"XAI_API_KEY", "xai", "https://api.x.ai/v1", "grok-4", false},
	{"CEREBRAS_API_KEY", "cerebras", "https://api.cerebras.ai/v1", "gpt-oss-120b", true},
}

// openAIBase is the variable that names another server for OPENAI_API_KEY: the
// key is meant for that one, and must not go elsewhere.
const openAIBase = "OPENAI_BASE_URL"

// FromEnvironment returns the default model of the first known provider whose
// key variable is set, and a line for the person that says so.
func FromEnvironment(env func(string) string) (m Model, note string, ok bool) {
	for _, k := range knownProviders {
		if strings.TrimSpace(env(k.variable)) == "" {
			continue
		}
		m := k.modelOf(k.model, env)
		return m, fmt.Sprintf("no model is configured: %s is set, so %s answers (another one: --model %s/ID, or models.json)",
			k.variable, m.FullName(), k.provider), true
	}
	return Model{}, "", false
}

// Named returns the model of a name PROVIDER/ID when PROVIDER is a known one
// whose key variable is set. Nothing but its address is known of it.
func Named(name string, env func(string) string) (Model, bool) {
	provider, id, _ := strings.Cut(name, "/")
	for _, k := range knownProviders {
		if id != "" && k.provider == provider && strings.TrimSpace(env(k.variable)) != "" {
			return k.modelOf(id, env), true
		}
	}
	return Model{}, false
}

// MissingKey returns the variable that lacks for a name PROVIDER/ID of a known
// provider; "" when none does, or the provider is not known.
func MissingKey(name string, env func(string) string) string {
	provider, id, _ := strings.Cut(name, "/")
	for _, k := range knownProviders {
		if id != "" && k.provider == provider && strings.TrimSpace(env(k.variable)) == "" {
			return k.variable
		}
	}
	return ""
}

func (k known) modelOf(id string, env func(string) string) Model {
	m := Model{
		ID: id, Provider: k.provider, API: OpenAICompletions, BaseURL: k.baseURL, KeyEnv: k.variable,
		Reasoning: k.reasoning,
	}
	if base := strings.TrimSpace(env(openAIBase)); base != "" && k.provider == "openai" {
		m.BaseURL = base
		m.Compat.Profile = Compatible
	}
	return m
}

// KeyVariables are the variables that hold the keys of known providers.
func KeyVariables() []string {
	names := make([]string, len(knownProviders))
	for i, k := range knownProviders {
		names[i] = k.variable
	}
	return names
}
