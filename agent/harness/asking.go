package harness

import (
	"context"
	"strconv"

	"starling/bus/event"
	"starling/tools/dialog"
)

// asker is what the tool question asks through; where no person is, a plugin
// with the word permit may answer while code/question is announced.
func (e *Engine) asker() dialog.Asker {
	return func(ctx context.Context, q dialog.Question) (dialog.Answer, error) {
		r := e.questions.ask(ctx, &event.QuestionEvent{
			Kind: "question", Tool: "question", Summary: firstLine(q.Text), Detail: q.Text, Origin: "main", Options: q.Options,
		})
		switch r.by {
		case byHost, byTimeout:
			return dialog.Answer{}, dialog.ErrNobody
		}
		for i, option := range q.Options {
			if r.Value == option || r.Value == strconv.Itoa(i+1) {
				return dialog.Answer{Option: i + 1}, nil
			}
		}
		return dialog.Answer{Text: r.Value}, nil
	}
}
