package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
)

// lineQuestion is a question that waits for a line.
type lineQuestion struct {
	q       *event.QuestionEvent
	choices []choice // none: any line answers
	asked   time.Time
}

// choice is one numbered answer.
type choice struct {
	label  string
	answer view.Answer
	takes  string // what may stand behind the number; "" for nothing
	later  bool   // it is no answer: the question is put off
}

// What may stand behind a number.
const (
	takesWhy       = "why"
	takesArguments = "the arguments as JSON"
	takesWords     = "your answer"
)

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
	l.tell(q)
	for i, c := range lq.choices {
		l.say("  %d %s", i+1, c.label)
	}
	if len(lq.choices) == 0 {
		l.say("write your answer (an empty line is none):")
		return
	}
	l.say("number%s:", inBrackets(lq.takers()))
}

// tell says what is asked, in the words of the screen. What would run stands behind a
// bar, which no text can draw for itself.
func (l *lines) tell(q *event.QuestionEvent) {
	t := input.Tell(q, l.s.signs.Dot)
	switch {
	case q.Kind == "question":
		l.say("? %s", kit.Reveal(strings.TrimPrefix(t.Head+"\n"+t.What, "\n")))
		t.What = ""
	case q.Kind == "trust" && t.Head != "": // it says so itself
		l.say("? %s", t.Head)
	default:
		l.say("? %s\n%s", t.Title, t.Head)
	}
	for line := range strings.Lines(kit.Reveal(t.What)) {
		l.say("%s %s", l.s.signs.Down, line)
	}
	for _, line := range []string{t.Cut, t.Floor, t.Risk} {
		if line != "" {
			l.say("  %s", line)
		}
	}
	for _, why := range t.Reasons {
		l.say("  because: %s", why)
	}
}

// takers says behind which answers something may stand, and what.
func (lq *lineQuestion) takers() string {
	var out []string
	for _, c := range lq.choices {
		if c.takes != "" {
			out = append(out, "behind "+c.label+", "+c.takes)
		}
	}
	return strings.Join(out, "; ")
}

// choicesOf are the answers a screen offers.
func choicesOf(q *event.QuestionEvent) []choice {
	var out []choice
	if q.Kind == "question" {
		for _, o := range q.Options {
			out = append(out, choice{label: kit.RevealLine(o), answer: view.Answer{Value: o}})
		}
		if len(out) > 0 {
			out = append(out, choice{label: "own words", takes: takesWords})
		}
		return out
	}
	options := q.Options
	if len(options) == 0 && q.Kind == "permission" {
		options = []string{view.AnswerYes, view.AnswerNo}
	}
	for _, o := range options {
		c := choice{label: kit.RevealLine(o), answer: view.Answer{Value: o}}
		switch o {
		case view.AnswerAlways:
			rules := strings.Join(q.Always, ", ")
			c.label = oneLine("always in this session: " + rules)
			out = append(out, c)
			c.label, c.answer.Everywhere = oneLine("always in this workspace: "+rules), true
		case view.AnswerNo:
			if q.Kind == "permission" {
				c.takes = takesWhy
			}
		case view.AnswerEdit:
			if !input.EditsShown(q) {
				continue
			}
			c.takes = takesArguments
		case view.AnswerTrust:
			c.label = "trust this version"
		case view.AnswerTrustEdits:
			c.label = "trust edits in this session"
		}
		out = append(out, c)
	}
	if q.Kind == "trust" {
		out = append(out, choice{label: "not now", later: true})
	}
	return out
}

// reply takes a line as the answer to the first question. One with more behind the number
// than the answer takes is none: it may contradict it.
func (l *lines) reply(text string) {
	lq := l.open[0]
	text = strings.TrimSpace(text)
	if len(lq.choices) == 0 {
		l.answer(lq, view.Answer{Value: text})
		return
	}
	number, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		number, rest = text[:i], strings.TrimSpace(text[i:])
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(lq.choices) {
		l.say("a number from 1 to %d, please%s", len(lq.choices), inBrackets(lq.takers()))
		return
	}
	c := lq.choices[n-1]
	a := c.answer
	switch {
	case c.takes == "" && rest != "":
		l.say("nothing is answered: nothing may stand behind %d%s", n, inBrackets(lq.takers()))
	case c.later:
		l.putOff(lq)
	case c.takes == takesWords && rest == "":
		l.say("write your answer behind the number, as in: %d WORDS", n)
	case c.takes == takesWords:
		l.answer(lq, view.Answer{Value: rest})
	case c.takes == takesArguments && rest == "":
		l.say("write the arguments behind the number; they are judged anew: %s", kit.Reveal(view.ReadableJSON(string(lq.q.Arguments))))
	case c.takes == takesArguments:
		a.Arguments = []byte(rest)
		l.recheck(lq, a)
	default:
		a.Why = rest // nothing where it takes none
		l.answer(lq, a)
	}
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func (l *lines) answer(lq *lineQuestion, a view.Answer) {
	l.settled(lq.q.ID)
	l.s.answer(lq.q.ID, a)
}

// putOff keeps a question about trust for askAgain.
func (l *lines) putOff(lq *lineQuestion) {
	l.aside = append(l.aside, lq)
	l.s.putOff(lq.q)
	l.drop(lq.q.ID)
}

// askAgain opens the questions that were put off; false when there is none.
func (l *lines) askAgain() bool {
	again := l.aside
	l.aside = nil
	l.open = append(l.open, again...)
	if len(l.open) > 0 && len(l.open) == len(again) {
		l.show(l.open[0])
	}
	return len(again) > 0
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
			l.answer(lq, a)
		}
	})
}

// settled takes a question away, also one that was put off.
func (l *lines) settled(id string) {
	l.aside = slices.DeleteFunc(l.aside, func(lq *lineQuestion) bool { return lq.q.ID == id })
	l.drop(id)
}

// drop takes an open question away and shows the next one.
func (l *lines) drop(id string) {
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
