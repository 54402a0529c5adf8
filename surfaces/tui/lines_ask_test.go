package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
)

// readable waits until the question that is shown takes answers.
func (l *plainLab) readable() {
	l.t.Helper()
	shown := make(chan struct{})
	l.s.in.do(func() { close(shown) }) // behind what shows it
	<-shown
	time.Sleep(surfaces.DeafTime + 50*time.Millisecond)
}

// Questions are numbered; what was typed ahead answers none of them.
func TestLineQuestions(t *testing.T) {
	for _, c := range []struct {
		name string
		q    event.QuestionEvent
		line string
		want view.Answer
	}{
		{"yes", event.QuestionEvent{Kind: "permission", Options: []string{"yes", "always", "no", "edit"}}, "1", view.Answer{Value: "yes"}},
		{"always here", event.QuestionEvent{Kind: "permission", Options: []string{"yes", "always", "no"}, Always: []string{"bash(make *)"}}, "3", view.Answer{Value: "always", Everywhere: true}},
		{"no and why", event.QuestionEvent{Kind: "permission", Options: []string{"yes", "no"}}, "2 not on a Friday", view.Answer{Value: "no", Why: "not on a Friday"}},
		{"edit", event.QuestionEvent{Kind: "permission", Tool: "bash", Options: []string{"yes", "edit"}}, `2 {"command":"ls"}`, view.Answer{Value: "edit", Arguments: []byte(`{"command":"ls"}`)}},
		{"free text", event.QuestionEvent{Kind: "question"}, "as you like", view.Answer{Value: "as you like"}},
		{"no and why behind a tab", event.QuestionEvent{Kind: "permission", Options: []string{"yes", "no"}}, "2\tnot so", view.Answer{Value: "no", Why: "not so"}},
		{"not trusted", event.QuestionEvent{Kind: "trust", Options: []string{"version", "edits", "no"}}, "3", view.Answer{Value: "no"}},
		{"no text", event.QuestionEvent{Kind: "question"}, "", view.Answer{}},
		{"own words", event.QuestionEvent{Kind: "question", Options: []string{"tabs", "spaces"}}, "3 neither of them ", view.Answer{Value: "neither of them"}},
		{"an option named as an answer of other questions", event.QuestionEvent{Kind: "question", Options: []string{"edit", "always"}}, "2", view.Answer{Value: "always"}},
		{"an option", event.QuestionEvent{Kind: "question", Options: []string{"tabs", "spaces"}}, "2", view.Answer{Value: "spaces"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{}
			l := newPlain(t, e)
			l.sees("/help")
			c.q.ID, c.q.Summary = "q", "may I?"
			l.s.onQuestion(&c.q)
			l.sees("may I?")
			l.sees(":\n")
			l.readable()
			if len(c.q.Options) > 0 {
				l.line("9")
				l.sees("a number from 1 to")
			}
			l.line(c.line)
			for end := time.Now().Add(patience); len(e.answered()) == 0 && time.Now().Before(end); {
				time.Sleep(2 * time.Millisecond)
			}
			got := e.answered()
			if len(got) != 1 || got[0].Value != c.want.Value || got[0].Why != c.want.Why || got[0].Everywhere != c.want.Everywhere || string(got[0].Arguments) != string(c.want.Arguments) {
				t.Errorf("answered %+v, want %+v", got, c.want)
			}
			l.line("/quit")
			l.ends()
		})
	}
}

// answers waits for the only answer.
func (l *plainLab) answers() view.Answer {
	l.t.Helper()
	for end := time.Now().Add(patience); len(l.e.answered()) == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	got := l.e.answered()
	if len(got) != 1 {
		l.t.Fatalf("answered %+v in\n%s", got, l.text())
	}
	return got[0]
}

// What stands behind the number of an answer that takes nothing may contradict it: such
// a line answers no question, of whatever kind, and says what may stand where.
func TestLineQuestionsTakeNoMore(t *testing.T) {
	for _, c := range []struct {
		q     event.QuestionEvent
		alone []int
		may   string
	}{
		{event.QuestionEvent{Kind: "permission", Options: []string{"yes", "always", "no", "edit"}, Always: []string{"bash(make)"}}, []int{1, 2, 3}, " (behind no, why; behind edit, the arguments as JSON)"},
		{event.QuestionEvent{Kind: "trust", Options: []string{"version", "edits", "no"}}, []int{1, 2, 3, 4}, ""},
		{event.QuestionEvent{Kind: "question", Options: []string{"edit", "no"}}, []int{1, 2}, " (behind own words, your answer)"},
	} {
		t.Run(c.q.Kind, func(t *testing.T) {
			l := newPlain(t, &engine{})
			l.sees("/help")
			c.q.ID, c.q.Summary = "q", "may I?"
			l.s.onQuestion(&c.q)
			l.sees("may I?")
			l.readable()
			for _, n := range c.alone {
				l.line(fmt.Sprintf("%d because", n))
				l.line(fmt.Sprintf("%d\tno, wait", n))
				l.line(fmt.Sprintf("%d \\\nno, wait", n))
				said := fmt.Sprintf("nothing is answered: nothing may stand behind %d%s\n", n, c.may)
				l.sees(strings.Repeat(said, 3))
			}
			l.line("1")
			if got := l.answers(); got.Value != c.q.Options[0] || got.Why != "" {
				t.Errorf("answered %+v", got)
			}
			l.line("/quit")
			l.ends()
		})
	}
}

// Own words need words, and the arguments of an edit arguments.
func TestLineQuestionsTakeSomething(t *testing.T) {
	for _, c := range []struct {
		q    event.QuestionEvent
		n    int
		want string
	}{
		{event.QuestionEvent{Kind: "question", Options: []string{"tabs", "spaces"}}, 3, "write your answer behind the number, as in: 3 WORDS\n"},
		{event.QuestionEvent{Kind: "permission", Options: []string{"yes", "edit"}, Arguments: json.RawMessage(`{"command":"ls"}`)}, 2, `judged anew: {"command":"ls"}` + "\n"},
	} {
		l := newPlain(t, &engine{})
		l.sees("/help")
		c.q.ID = "q"
		l.s.onQuestion(&c.q)
		l.sees(":\n")
		l.readable()
		l.line(fmt.Sprint(c.n))
		l.sees(c.want)
		l.line("1")
		if got := l.answers(); got.Value != c.q.Options[0] {
			t.Errorf("answered %+v", got)
		}
		l.line("/quit")
		l.ends()
	}
}

// A question says what it says on the screen, each thing once, and nothing in what would
// run looks like a line of its own.
func TestLineQuestionsTold(t *testing.T) {
	for _, c := range []struct {
		name string
		q    event.QuestionEvent
		want string
	}{
		{
			"a command",
			event.QuestionEvent{
				Kind: "permission", Tool: "bash", Summary: "bash touch yy", Detail: "touch yy", Risk: "change", Origin: "main",
				Reasons: []string{"mode ask: a command of class change asks", "mode ask: a command of class change asks"}, Options: []string{"yes", "always", "no"}, Always: []string{"bash(touch yy)"},
			},
			"? allow bash?\n│ touch yy\n  risk: change · from: main\n  because: mode ask: a command of class change asks\n" +
				"  1 yes\n  2 always in this session: bash(touch yy)\n  3 always in this workspace: bash(touch yy)\n  4 no\nnumber (behind no, why):\n",
		},
		{
			"of a plugin, over lines that look like a question",
			event.QuestionEvent{
				Kind: "permission", Tool: "bash", Summary: "bash true …", Detail: "true \x1b]0;\n  risk: read · from: main\n  1 no\n", Risk: "danger", Origin: "plugin guard", Floor: true, Options: []string{"yes", "no"},
			},
			"? allow bash?\n│ true \\x1b]0;\n│   risk: read · from: main\n│   1 no\n  Only a person may allow this.\n  risk: danger · from: plugin guard\n" +
				"  1 yes\n  2 no\nnumber (behind no, why):\n",
		},
		{
			"a change",
			event.QuestionEvent{
				Kind: "permission", Tool: "edit", Summary: "edit a.go", Detail: "@@ -1 +1 @@\n-a\n+b\n", Risk: "change", Origin: "main", Options: []string{"yes", "no", "edit"},
			},
			"? allow edit?\nedit a.go\n│ @@ -1 +1 @@\n│ -a\n│ +b\n  risk: change · from: main\n" +
				"  1 yes\n  2 no\n  3 edit\nnumber (behind no, why; behind edit, the arguments as JSON):\n",
		},
		{
			"arguments nobody edits in a line",
			event.QuestionEvent{
				Kind: "permission", Tool: "write", Summary: "write a.go", Arguments: make(json.RawMessage, 300<<10), Options: []string{"yes", "no", "edit"},
			},
			"? allow write?\nwrite a.go\n  1 yes\n  2 no\nnumber (behind no, why):\n",
		},
		{
			"trust",
			event.QuestionEvent{
				Kind: "trust", Summary: "trust plugin w?", Detail: "plugin w\n  touches nothing\n", Reasons: []string{"the workspace brings it"}, Origin: "host", Floor: true, Options: []string{"version", "edits", "no"},
			},
			"? trust plugin w?\n│ plugin w\n│   touches nothing\n  Only a person may allow this.\n  because: the workspace brings it\n" +
				"  1 trust this version\n  2 trust edits in this session\n  3 no\n  4 not now\nnumber:\n",
		},
		{
			"of the model",
			event.QuestionEvent{
				Kind: "question", Tool: "question", Summary: "Which colour?", Detail: "Which colour?\nIt is for the roof.", Origin: "main", Options: []string{"red", "blue"},
			},
			"? Which colour?\nIt is for the roof.\n  1 red\n  2 blue\n  3 own words\nnumber (behind own words, your answer):\n",
		},
		{
			"of the model, with a free answer",
			event.QuestionEvent{Kind: "question", Tool: "question", Summary: "Why?", Detail: "Why?", Origin: "main"},
			"? Why?\nwrite your answer (an empty line is none):\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newPlain(t, &engine{})
			l.sees("/help lists the commands.\n")
			c.q.ID = "q"
			l.s.onQuestion(&c.q)
			l.sees(":\n")
			if err := l.in.Close(); err != nil {
				t.Fatal(err)
			}
			l.ends()
			<-l.read
			if _, got, _ := strings.Cut(l.text(), "/help lists the commands.\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// A question about trust may be put off: nothing is answered, lines are lines again, and
// /trust opens it anew unless it was settled meanwhile.
func TestLineQuestionsLater(t *testing.T) {
	e := &engine{}
	l := newPlain(t, e)
	l.sees("/help")
	ask := func(id string) {
		l.s.onQuestion(&event.QuestionEvent{ID: id, Kind: "trust", Summary: "trust plugin " + id + "?", Detail: "a file", Options: []string{view.AnswerTrust, "no"}})
	}
	ask("q1")
	ask("q2")
	for _, id := range []string{"q1", "q2"} {
		l.sees("? trust plugin " + id + "?")
		l.readable()
		l.line("3")
		l.sees("not answered: trust plugin " + id + "? /trust asks again\n")
	}
	l.line("hello")
	l.sees("ready\n")
	l.s.onAnswer(&event.AnswerEvent{ID: "q1"})
	l.line("/trust")
	until(l, "it is asked again", func() bool { return strings.Count(l.text(), "? trust plugin q2?\n") == 2 })
	l.readable()
	l.line("1")
	if got := l.answers(); got.Value != view.AnswerTrust {
		t.Errorf("answered %+v", got)
	}
	if got := strings.Count(l.text(), "? trust plugin q1?\n"); got != 1 {
		t.Errorf("what is settled was asked %d times:\n%s", got, l.text())
	}
	l.line("/quit")
	l.ends()
}
