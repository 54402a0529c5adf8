package tui

import (
	"strconv"
	"strings"
	"time"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// lineQuestion is a question that waits for a line.
type lineQuestion struct {
	q       *event.QuestionEvent
	choices []choice
	asked   time.Time
}

// choice is one numbered answer.
type choice struct {
	label  string
	answer view.Answer
}

// deafLines is how long after a question, and after a line that came too soon, a line
// does not answer it: it was typed before the question could be read.
const deafLines = 300 * time.Millisecond

// question shows a question and its numbered answers.
func (l *lines) question(q *event.QuestionEvent) {
	l.endReply()
	lq := &lineQuestion{q: q, choices: choicesOf(q)}
	l.open = append(l.open, lq)
	if l.atEnd {
		l.refuseAll()
		return
	}
	if len(l.open) == 1 {
		l.show(lq)
	}
}

func (l *lines) show(lq *lineQuestion) {
	q := lq.q
	defer func() {
		// Nothing that was typed before all of it was shown answers it, nor ends as an answer.
		forgetTyped(l.s.o.In)
		lq.asked = l.s.now()
	}()
	l.say("? %s", kit.Reveal(q.Summary))
	if q.Detail != "" && q.Detail != q.Summary {
		l.say("%s", kit.Reveal(q.Detail))
	}
	for _, r := range q.Reasons {
		l.say("  because: %s", kit.RevealLine(r))
	}
	for i, c := range lq.choices {
		l.say("  %d %s", i+1, c.label)
	}
	switch {
	case len(lq.choices) == 0:
		l.say("write your answer:")
	case q.Kind == "permission":
		l.say("number (behind no, why; behind edit, the arguments as JSON):")
	default:
		l.say("number:")
	}
}

func choicesOf(q *event.QuestionEvent) []choice {
	options := q.Options
	if len(options) == 0 && q.Kind == "permission" {
		options = []string{view.AnswerYes, view.AnswerNo}
	}
	var out []choice
	for _, o := range options {
		if o == view.AnswerAlways {
			rules := strings.Join(q.Always, ", ")
			out = append(out, choice{oneLine("always in this session: " + rules), view.Answer{Value: o}},
				choice{oneLine("always in this workspace: " + rules), view.Answer{Value: o, Everywhere: true}})
			continue
		}
		out = append(out, choice{kit.RevealLine(o), view.Answer{Value: o}})
	}
	return out
}

// reply takes a line as the answer to the first question.
func (l *lines) reply(text string) {
	lq := l.open[0]
	a := view.Answer{Value: text}
	if len(lq.choices) > 0 {
		number, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(lq.choices) {
			l.say("a number from 1 to %d, please", len(lq.choices))
			return
		}
		a = lq.choices[n-1].answer
		rest = strings.TrimSpace(rest)
		switch {
		case a.Value == view.AnswerNo:
			a.Why = rest
		case a.Value == view.AnswerEdit && rest == "":
			l.say("write the arguments behind the number; they are judged anew: %s", kit.Reveal(view.ReadableJSON(string(lq.q.Arguments))))
			return
		case a.Value == view.AnswerEdit:
			a.Arguments = []byte(rest)
			l.recheck(lq, a)
			return
		}
	}
	l.settled(lq.q.ID)
	l.s.answer(lq.q.ID, a)
}

// recheck sends edited arguments only when the tool takes them.
func (l *lines) recheck(lq *lineQuestion, a view.Answer) {
	l.s.beside(func(d Driver) func() {
		err := d.Recheck(lq.q.Tool, a.Arguments)
		return func() {
			if err != nil {
				l.say("these arguments do not fit: %v", err)
				return
			}
			l.settled(lq.q.ID)
			l.s.answer(lq.q.ID, a)
		}
	})
}

// settled takes a question away and shows the next one.
func (l *lines) settled(id string) {
	for i, lq := range l.open {
		if lq.q.ID != id {
			continue
		}
		l.open = append(l.open[:i:i], l.open[i+1:]...)
		if i == 0 && len(l.open) > 0 {
			l.show(l.open[0])
		}
		return
	}
}

// refuseAll answers no to what is open: nobody is there. A no about trust is kept, and
// nobody said it: such a question goes without an answer.
func (l *lines) refuseAll() {
	open := l.open
	l.open = nil
	for _, lq := range open {
		if lq.q.Kind == "trust" {
			continue
		}
		a := view.Answer{Value: view.AnswerNo}
		if lq.q.Kind == "question" {
			a.Value = ""
		}
		l.s.answer(lq.q.ID, a)
	}
}
