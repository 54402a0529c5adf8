package dialog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"starling/bus/spec"
	"starling/tools"
)

// Question is what the model asks.
type Question struct {
	Text string
	// Options are answers to choose from; none means that the answer is free. A
	// person may always answer something else.
	Options []string
}

// Answer is what the person says.
type Answer struct {
	// Text is what was typed; empty when an option was chosen.
	Text string
	// Option is the number of the chosen option, from 1; 0 is none of them.
	Option int
}

// Asker puts a question to the person and waits for the answer or the end of ctx.
type Asker func(ctx context.Context, q Question) (Answer, error)

// ErrNobody is what an Asker returns when no person can answer, as in a headless
// run.
var ErrNobody = errors.New("nobody can answer")

// MaxOptions is how many answers a question may offer.
const MaxOptions = 9

// instead is what the model does without an answer.
const instead = "Decide by yourself: take the choice that is easiest to take back, and state the assumption in your answer. Do not ask again."

var questionParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "question": {"type": "string", "minLength": 1, "description": "One question, with what the person must know to answer it"},
    "options": {
      "type": "array",
      "maxItems": 9,
      "items": {"type": "string", "minLength": 1},
      "description": "Answers to choose from, the one you advise first; leave out for a free answer"
    }
  },
  "required": ["question"],
  "additionalProperties": false
}`)

// QuestionTool returns the tool question(question, options). A nil ask means that
// nobody can answer.
func QuestionTool(ask Asker) spec.Tool {
	return spec.Tool{
		Name: "question",
		Description: "Ask the person and wait for the answer. Only for what you cannot find out or decide yourself and what " +
			"changes the work: an ambiguous goal, a choice of taste, something that cannot be undone. Ask one thing at a " +
			"time, before the work it is about.",
		Parameters: questionParameters,
		Execute: func(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
			return question(ctx, ask, call.Arguments)
		},
		Paths:      noPaths,
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Sequential: true,
		Builtin:    true,
	}
}

func question(ctx context.Context, ask Asker, arguments json.RawMessage) (spec.ToolResult, error) {
	q, err := questionOf(arguments)
	if err != nil {
		return spec.ToolResult{}, err
	}
	if ask == nil {
		return unanswered(ErrNobody), nil
	}
	answer, err := ask(ctx, q)
	switch {
	case ctx.Err() != nil:
		return spec.ToolResult{}, context.Cause(ctx)
	case err != nil:
		return unanswered(err), nil
	case answer.Option < 0 || answer.Option > len(q.Options):
		return spec.ToolResult{}, fmt.Errorf("the answer is option %d of %d, which there is not", answer.Option, len(q.Options))
	}
	text := strings.TrimSpace(answer.Text)
	if answer.Option > 0 {
		text = strings.TrimSpace(q.Options[answer.Option-1] + "\n" + text)
	}
	d := tools.Details(map[string]any{"question": q.Text, "options": q.Options, "answer": text, "option": answer.Option})
	if text == "" {
		return spec.ToolResult{Content: "The person gave no answer. " + instead, Details: d}, nil
	}
	return spec.ToolResult{Content: "The person answered: " + text, Details: d}, nil
}

func unanswered(why error) spec.ToolResult {
	said := "The question could not be asked: " + why.Error()
	if errors.Is(why, ErrNobody) {
		said = "Nobody can answer: no person is at this run"
	}
	return spec.ToolResult{Content: said + ". " + instead, IsError: true}
}

func questionOf(arguments json.RawMessage) (Question, error) {
	var a struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if err := tools.Decode(arguments, &a, "question", "options"); err != nil {
		return Question{}, err
	}
	q := Question{Text: strings.TrimSpace(a.Question)}
	if q.Text == "" {
		return Question{}, errors.New("arguments: the question is empty")
	}
	if len(a.Options) > MaxOptions {
		return Question{}, fmt.Errorf("arguments: %d options; at most %d", len(a.Options), MaxOptions)
	}
	seen := map[string]bool{}
	for i, option := range a.Options {
		option = strings.TrimSpace(option)
		switch {
		case option == "":
			return Question{}, fmt.Errorf("arguments: options[%d] is empty", i)
		case seen[option]:
			return Question{}, fmt.Errorf("arguments: options[%d] %q is offered twice", i, option)
		}
		seen[option] = true
		q.Options = append(q.Options, option)
	}
	return q, nil
}
