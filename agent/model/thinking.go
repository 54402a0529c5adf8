package model

import (
	"fmt"
	"slices"
	"strings"
)

// Level is a step of the thinking ladder.
type Level string

// The ladder, lowest first.
const (
	Off     Level = "off"
	Minimal Level = "minimal"
	Low     Level = "low"
	Medium  Level = "medium"
	High    Level = "high"
	XHigh   Level = "xhigh"
	Max     Level = "max"
)

var ladder = []Level{Off, Minimal, Low, Medium, High, XHigh, Max}

// Ladder returns all levels, lowest first.
func Ladder() []Level { return slices.Clone(ladder) }

// DefaultLevels are those of a reasoning model that names none.
func DefaultLevels() []Level { return []Level{Off, Low, Medium, High} }

// ParseLevel reads a level by its name.
func ParseLevel(text string) (Level, error) {
	l := Level(strings.ToLower(strings.TrimSpace(text)))
	if !slices.Contains(ladder, l) {
		return "", fmt.Errorf("thinking level %q: there is no such level; write one of %s", text, joined(ladder))
	}
	return l, nil
}

// Levels returns the levels m has, lowest first.
func (m Model) Levels() []Level {
	if len(m.ThinkingLevels) == 0 {
		if m.Reasoning {
			return DefaultLevels()
		}
		return []Level{Off}
	}
	var have []Level
	for _, l := range ladder {
		if slices.Contains(m.ThinkingLevels, l) {
			have = append(have, l)
		}
	}
	return have
}

// Think returns the level m has that is nearest below want, or its lowest where
// it has none below, and a note for the person when that is another one.
func (m Model) Think(want Level) (Level, string) {
	have := m.Levels()
	got := have[0]
	for _, l := range have {
		if slices.Index(ladder, l) <= slices.Index(ladder, want) {
			got = l
		}
	}
	if got == want {
		return got, ""
	}
	return got, fmt.Sprintf("%s has no thinking level %s; it thinks at %s (it has %s)", m.ID, want, got, joined(have))
}

func joined[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, l := range list {
		words[i] = string(l)
	}
	return strings.Join(words, ", ")
}
