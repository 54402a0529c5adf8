package dialog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"starling/bus/chat"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/tools"
)

// Status of an Item.
type Status string

// The statuses.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Done       Status = "done"
	Cancelled  Status = "cancelled" // turned out not to be needed
)

// marks are how a list shows the statuses.
var marks = map[Status]string{Pending: "[ ]", InProgress: "[>]", Done: "[x]", Cancelled: "[-]"}

// Item is one line of the list.
type Item struct {
	Text   string `json:"text"`
	Status Status `json:"status"`
}

// The most that a list holds: items, and bytes of one text.
const (
	MaxItems = 100
	MaxText  = 1000
)

// Todos is the to-do list of one conversation. The zero value is an empty one. Its
// methods may be called from any goroutine.
type Todos struct {
	// Changed, if set, is told of each new list, one at a time and in order. It
	// may read the list but not change it. Set it before the first call.
	Changed func(items []Item)

	telling sync.Mutex // keeps Changed in the order of the changes
	mu      sync.Mutex
	items   []Item
}

// Items returns the list.
func (t *Todos) Items() []Item {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.items)
}

// Restore makes the newest list that the transcript holds the list: that of its
// last todo call that succeeded, none when there was no such call. A call that was
// blocked, or had no result yet, changed nothing then.
func (t *Todos) Restore(transcript []chat.Message) { t.replace(newest(transcript)) }

func newest(transcript []chat.Message) []Item {
	for i, m := range slices.Backward(transcript) {
		for _, b := range slices.Backward(m.Blocks) {
			if b.Kind != chat.Result || b.Name != todoName || b.IsError {
				continue
			}
			// The details are the list that was kept. The arguments are what the
			// model sent, before a plugin may have rewritten them.
			if items, err := itemsOf(b.Details); err == nil {
				return items
			}
			if items, err := itemsOf([]byte(argumentsOf(transcript[:i], b.ID))); err == nil {
				return items
			}
		}
	}
	return nil
}

// argumentsOf finds a call by its id, the newest first.
func argumentsOf(transcript []chat.Message, id string) string {
	for _, m := range slices.Backward(transcript) {
		for _, c := range m.Calls() {
			if c.ID == id {
				return c.Arguments
			}
		}
	}
	return ""
}

func (t *Todos) replace(items []Item) {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.mu.Lock()
	t.items = slices.Clone(items)
	t.mu.Unlock()
	if t.Changed != nil {
		t.Changed(slices.Clone(items))
	}
}

const todoName = "todo"

var todoParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "items": {
      "type": "array",
      "maxItems": 100,
      "description": "The whole list, in order; it replaces the one before",
      "items": {
        "type": "object",
        "properties": {
          "text": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "One step, as an instruction"},
          "status": {"type": "string", "enum": ["pending", "in_progress", "done", "cancelled"]}
        },
        "required": ["text", "status"],
        "additionalProperties": false
      }
    }
  },
  "required": ["items"],
  "additionalProperties": false
}`)

// Tool returns the tool todo(items).
func (t *Todos) Tool() spec.Tool {
	return spec.Tool{
		Name: todoName,
		Description: "Keep the list of steps of this task, which the person sees. Use it for work of three or more steps, not " +
			"for a single one. Send the whole list each time. Have exactly one step in_progress while you work; mark it " +
			"done as soon as it is done and checked, not before; cancelled is for what turned out not to be needed.",
		Parameters: todoParameters,
		Execute:    t.execute,
		Paths:      noPaths,
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Builtin:    true,
	}
}

func (t *Todos) execute(_ context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	items, err := itemsOf(call.Arguments)
	if err != nil {
		return spec.ToolResult{}, err
	}
	t.replace(items)
	return spec.ToolResult{Content: listed(items), Details: tools.Details(map[string]any{"items": items})}, nil
}

// itemsOf reads a list and refuses one that no screen could show.
func itemsOf(raw json.RawMessage) ([]Item, error) {
	var a struct {
		Items *[]Item `json:"items"`
	}
	if err := tools.Decode(raw, &a, "items"); err != nil {
		return nil, err
	}
	switch {
	case a.Items == nil:
		return nil, fmt.Errorf(`arguments: missing "items"`)
	case len(*a.Items) > MaxItems:
		return nil, fmt.Errorf("arguments: %d items; at most %d, so join small steps", len(*a.Items), MaxItems)
	}
	items := make([]Item, len(*a.Items))
	for i, item := range *a.Items {
		items[i] = Item{Text: strings.TrimSpace(view.CleanLine(item.Text)), Status: item.Status}
		switch {
		case items[i].Text == "":
			return nil, fmt.Errorf("arguments: items[%d].text is empty", i)
		case len(items[i].Text) > 4*MaxText:
			return nil, fmt.Errorf("arguments: items[%d].text is longer than %d characters; a step is one short line", i, MaxText)
		case marks[item.Status] == "":
			return nil, fmt.Errorf("arguments: items[%d].status %q is none of pending, in_progress, done, cancelled", i, item.Status)
		}
	}
	return items, nil
}

// listed is the list as the model reads it.
func listed(items []Item) string {
	if len(items) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	open := 0
	for _, item := range items {
		if item.Status == Pending || item.Status == InProgress {
			open++
		}
		fmt.Fprintf(&b, "%s %s\n", marks[item.Status], item.Text)
	}
	fmt.Fprintf(&b, "%d of %d still open.", open, len(items))
	return b.String()
}
