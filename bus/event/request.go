package event

import (
	"errors"
	"fmt"
	"slices"

	"starling/bus"
	"starling/bus/chat"
)

// RequestEvent lets listeners shape one request; the transcript never changes
// by it.
type RequestEvent struct {
	Memo
	Run      Run      `field:"cx"`
	Turn     int      `field:"turn"`
	MaxTurns int      `field:"max_turns"`
	RunStart int      `field:"run_start"` // index of the run's first message
	Length   int      `field:"length"`    // messages in the transcript
	Tokens   int      `field:"tokens"`    // estimate of the request
	Budget   *float64 `field:"budget"`    // share 0..1 of the cap; nil without one
	Model    string   `field:"model"`     // full id, before anybody routes
	Tail     Tail     `field:"tail"`
	Shape    Shape    // what the answers so far make of it
	// Messages are those that would be sent, as the answers so far have them.
	Messages func() []chat.Message `field:"messages"`
	// History is the conversation as it would be sent: all of it, or what
	// belongs to this run. Set by the sender.
	History func(run bool) []chat.Message
}

// Tail is what the end of the transcript looks like, for routing.
type Tail struct {
	// Streak is how many steps in a row, up to now and within this run, called
	// tools that only read.
	Streak int `field:"streak"`
	// Trouble is true when the newest step failed, or a result of its calls is an
	// error.
	Trouble bool `field:"trouble"`
	// First is true for the first request of a run.
	First bool `field:"first"`
	// Steering is true when a user message came since the newest step: from a
	// person or a plugin, but not the prompt of the run.
	Steering bool `field:"steering"`
}

// The two values of the field history.
const (
	HistoryAll = "all"
	HistoryRun = "run"
)

// Shape is the combined outcome of agent/request.
type Shape struct {
	Messages     []chat.Message // instead of the history; nil for none
	History      string         // HistoryAll, HistoryRun or "" for all
	System       *string
	Prefix       []chat.Message
	Suffix       []string
	PromptPrefix string
	Exclude      map[string]bool
	Allow        map[string]bool // nil: every tool
	Then         []Continuation
	Model        string
	By           map[string]string // field -> plugin that set it last
}

// Continuation is a user message to go on with after a reply of text alone.
type Continuation struct{ Text, By string }

// RequestAnswer is one listener's wish; nil fields are not set.
type RequestAnswer struct {
	Messages     []chat.Message
	History      string
	System       *string
	Prefix       []chat.Message
	Suffix       *string
	PromptPrefix *string
	Exclude      []string
	Allow        []string
	AllowSet     bool // Allow counts, even when empty
	Then         string
	Model        string
}

// Request is announced before each request to the model.
var Request = bus.NewFields("agent/request", foldRequest)

func foldRequest(e *RequestEvent, a *RequestAnswer, by bus.Owner) error {
	if err := checkRequest(a); err != nil {
		return err
	}
	s := &e.Shape
	if s.By == nil {
		s.By = map[string]string{}
	}
	foldMessages(e, a, by)
	foldTexts(s, a, by)
	foldTools(s, a, by)
	if a.Then != "" {
		s.Then = append(s.Then, Continuation{Text: a.Then, By: by.Name})
		s.By["then"] = by.Name
	}
	if a.Model != "" && s.Model == "" {
		s.Model, s.By["model"] = a.Model, by.Name
	}
	return nil
}

// checkRequest refuses an answer as a whole: half of it would be another wish.
func checkRequest(a *RequestAnswer) error {
	switch a.History {
	case "", HistoryAll, HistoryRun:
	default:
		return fmt.Errorf("history is %q or %q, not %q", HistoryAll, HistoryRun, a.History)
	}
	if len(a.Messages) > 0 && a.History != "" {
		return errors.New("messages and history together: one of them says what to send")
	}
	if err := paired(a.Messages); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	return nil
}

// paired checks that every call has its result right behind its message and
// every result its call before it.
func paired(messages []chat.Message) error {
	var open []string // calls that wait for their results
	parted := func() error {
		if len(open) > 0 {
			return fmt.Errorf("the call %q is parted from its result: keep both or drop both", open[0])
		}
		return nil
	}
	for i, m := range messages {
		if m.Role != chat.ToolRole {
			if err := parted(); err != nil {
				return err
			}
			for _, c := range m.Calls() {
				open = append(open, c.ID)
			}
			continue
		}
		for _, b := range m.Blocks {
			if b.Kind == chat.Image {
				continue // of the result before it
			}
			at := slices.Index(open, b.ID)
			if at < 0 {
				return fmt.Errorf("messages[%d] is the result of %q, whose call does not stand before it: keep both or drop both", i, b.ID)
			}
			open = slices.Delete(open, at, at+1)
		}
	}
	return parted()
}

// foldMessages decides what is sent of the conversation: of messages and history
// the later one counts, and each listener reads what the one before left.
func foldMessages(e *RequestEvent, a *RequestAnswer, by bus.Owner) {
	s := &e.Shape
	switch {
	case len(a.Messages) > 0:
		list := a.Messages
		s.Messages, s.History, s.By["messages"] = list, "", by.Name
		delete(s.By, "history")
		e.Messages = func() []chat.Message { return slices.Clone(list) }
	case a.History != "":
		s.Messages, s.History, s.By["history"] = nil, a.History, by.Name
		delete(s.By, "messages")
		if all := e.History; all != nil {
			e.Messages = func() []chat.Message { return all(a.History == HistoryRun) }
		}
	default:
		return
	}
	e.Clear()
}

func foldTexts(s *Shape, a *RequestAnswer, by bus.Owner) {
	if a.System != nil {
		s.System, s.By["system"] = a.System, by.Name
	}
	if len(a.Prefix) > 0 {
		s.Prefix = append(s.Prefix, a.Prefix...)
		s.By["prefix"] = by.Name
	}
	if a.Suffix != nil && *a.Suffix != "" {
		s.Suffix = append(s.Suffix, *a.Suffix)
		s.By["suffix"] = by.Name
	}
	if a.PromptPrefix != nil {
		s.PromptPrefix, s.By["prompt_prefix"] = *a.PromptPrefix, by.Name
	}
}

func foldTools(s *Shape, a *RequestAnswer, by bus.Owner) {
	for _, name := range a.Exclude {
		if s.Exclude == nil {
			s.Exclude = map[string]bool{}
		}
		s.Exclude[name] = true
		s.By["exclude_tools"] = by.Name
	}
	if a.AllowSet {
		next := map[string]bool{}
		for _, name := range a.Allow {
			if s.Allow == nil || s.Allow[name] {
				next[name] = true
			}
		}
		s.Allow, s.By["allow_tools"] = next, by.Name
	}
}
