// Package prompt reads what the system prompt is made of: instruction files,
// skills and the prompt registry.
//
// It owns texts, never the decision when they are sent.
package prompt
