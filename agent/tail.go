package agent

import (
	"starling/bus/chat"
	"starling/bus/event"
)

// tailOf looks at the end of a run's messages, of which the first is its prompt.
func tailOf(messages []chat.Message, turn int, readOnly func(tool string) bool) event.Tail {
	tail := event.Tail{First: turn == 0}
	newest := true // no step was met yet
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		switch {
		case m.Role == chat.Assistant:
			if newest {
				tail.Trouble = tail.Trouble || m.Error != ""
			}
			newest = false
			if !onlyReads(m, readOnly) {
				return tail
			}
			tail.Streak++
		case !newest:
		case m.Role == chat.User:
			tail.Steering = tail.Steering || i > 0
		case m.Role == chat.ToolRole:
			tail.Trouble = tail.Trouble || failedResult(m)
		}
	}
	return tail
}

// onlyReads tells whether a step called tools, and none but those that read.
func onlyReads(m chat.Message, readOnly func(tool string) bool) bool {
	calls := m.Calls()
	for _, c := range calls {
		if !readOnly(c.Name) {
			return false
		}
	}
	return len(calls) > 0
}

func failedResult(m chat.Message) bool {
	for _, b := range m.Blocks {
		if b.Kind == chat.Result && b.IsError {
			return true
		}
	}
	return false
}
