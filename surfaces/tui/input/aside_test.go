package input

import (
	"strings"
	"testing"

	"starling/bus/event"
	"starling/bus/view"
)

func trustQuestion(id string) *event.QuestionEvent {
	return &event.QuestionEvent{
		ID: id, Kind: "trust", Summary: "trust plugin " + id + "?", Detail: "its bytes",
		Options: []string{view.AnswerTrust, view.AnswerTrustEdits, view.AnswerNo},
	}
}

// Esc puts a question about trust off: it is no answer and stops no run; asked again it
// takes answers as before, once it could be read.
func TestTrustIsPutOff(t *testing.T) {
	h := newHost(t, "none", false)
	s, answers := newQuestions(t, h, nil)
	var later []string
	s.o.Running = func() bool { return true }
	s.o.Stop = func() { t.Error("the run was stopped") }
	s.o.Later = func(q *event.QuestionEvent) { later = append(later, q.ID) }
	s.Ask(trustQuestion("a"))
	s.Ask(trustQuestion("b"))
	if text := show(t, s, 80, 24); !strings.Contains(text, "Esc not now") {
		t.Errorf("what Esc does is not said:\n%s", text)
	}
	pressOn(h, s, "<esc>")
	if text := show(t, s, 80, 24); !strings.Contains(text, "trust plugin b?") || s.Aside() != 1 {
		t.Errorf("%d are put off:\n%s", s.Aside(), text)
	}
	pressOn(h, s, "<esc>")
	if len(*answers) > 0 || !s.Done() || s.Aside() != 2 || strings.Join(later, " ") != "a b" {
		t.Fatalf("answered %v, done %v, put off %d: %v", *answers, s.Done(), s.Aside(), later)
	}
	if !s.AskAgain() || s.AskAgain() {
		t.Fatal("they are asked again once")
	}
	s.Key(eventOf("y")) // nobody has read it yet
	if text := show(t, s, 80, 24); !strings.Contains(text, "trust plugin a?") || !strings.Contains(text, "(1 more)") || len(*answers) > 0 {
		t.Fatalf("answered %v:\n%s", *answers, text)
	}
	pressOn(h, s, "y")
	show(t, s, 80, 24)
	pressOn(h, s, "<esc>")
	s.Settled("b")
	if len(*answers) != 1 || (*answers)[0].ID != "a" || (*answers)[0].A.Value != view.AnswerTrust || s.Aside() != 0 || s.AskAgain() {
		t.Errorf("answered %v, put off %d", *answers, s.Aside())
	}
}

// A no about trust is kept. Who stops a run, or leaves, said none.
func TestTrustIsNotRefusedUnasked(t *testing.T) {
	h := newHost(t, "none", false)
	s, answers := newQuestions(t, h, nil)
	running := true
	s.o.Running = func() bool { return running }
	s.o.Stop = func() { running = false }
	q := permission()
	q.ID = "run's"
	s.Ask(q)
	s.Ask(trustQuestion("a"))
	show(t, s, 80, 24)
	pressOn(h, s, "<esc>")
	if text := show(t, s, 80, 24); running || len(*answers) != 1 || (*answers)[0].ID != "run's" || !strings.Contains(text, "trust plugin a?") {
		t.Fatalf("running %v, answered %v:\n%s", running, *answers, text)
	}
	pressOn(h, s, "<esc>")
	s.Ask(trustQuestion("b"))
	s.RefuseAll()
	if len(*answers) != 1 || !s.Done() || s.Aside() != 0 {
		t.Errorf("answered %v, done %v, put off %d", *answers, s.Done(), s.Aside())
	}
}
