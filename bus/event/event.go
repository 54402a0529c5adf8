// Package event is the vocabulary: the payload, mode and failure policy of
// every built-in event.
//
// It owns names and shapes and the rule by which answers change a payload. It
// sends nothing. The tag `field` on a payload's fields is the name a plugin
// reads it by; fields without one are for Go alone.
package event

import (
	"sort"
	"strings"
	"sync/atomic"

	"starling/bus"
	"starling/bus/spec"
)

// Memo lets a bridge keep one derived view of a payload for all its listeners.
// Whatever changes the payload clears it.
type Memo struct{ v atomic.Value }

type memoBox struct{ v any }

// View returns the kept view or nil.
func (m *Memo) View() any {
	b, _ := m.v.Load().(memoBox)
	return b.v
}

// Keep stores a view.
func (m *Memo) Keep(v any) { m.v.Store(memoBox{v}) }

// Clear drops it.
func (m *Memo) Clear() { m.v.Store(memoBox{}) }

// Custom is an event some plugin announces.
type Custom struct {
	Memo
	Name  string
	Value spec.Payload
}

// CustomTopic describes a custom event of that name. Two topics of one name are
// one event.
func CustomTopic(name string) *bus.Topic[Custom, bus.None] { return bus.NewEmit[Custom](name) }

// Families are the name spaces of the host; a custom event never lies in one.
var Families = []string{"agent/", "code/", "eval/"}

// InFamily tells whether name lies in one of the host's families.
func InFamily(name string) bool {
	for _, f := range Families {
		if strings.HasPrefix(name, f) {
			return true
		}
	}
	return false
}

// later are the events that the design names and this version does not
// announce: a listener on one would never run, so subscribing is an error.
var later = []string{
	"agent/compact", "agent/compacted", "agent/child-start", "agent/child-end",
	"eval/trial-start", "eval/trial-end",
}

// Later tells whether name is an event of a version to come.
func Later(name string) bool {
	for _, n := range later {
		if n == name {
			return true
		}
	}
	return false
}

// Names returns the built-in events of this version, sorted.
func Names() []string {
	names := []string{
		SystemPrompt.Name(), Prompt.Name(), RunStart.Name(), TurnStart.Name(), Request.Name(), Stream.Name(),
		Message.Name(), ToolCall.Name(), ToolProgress.Name(), ToolResult.Name(), TurnEnd.Name(), RunEnd.Name(), Notice.Name(),
		SessionStart.Name(), SessionEnd.Name(),
		ProviderError.Name(), Tick.Name(),
		Permission.Name(), Question.Name(), Answer.Name(), ProcessExit.Name(), FileChange.Name(),
	}
	sort.Strings(names)
	return names
}
