package harness_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/bus/event"
	"starling/bus/view"
)

// A question about trust that the person leaves open holds up no other one. When what it is
// about changes, it is withdrawn: what they approve is what is on the disk.
func TestTrustQuestionsOverlap(t *testing.T) {
	p := newPlace(t)
	p.write(plugged, command("one"))
	p.approve()
	home := strings.ReplaceAll(command("home"), "say", "tell")
	p.write("home/plugins/a.star", home)
	e, h := p.atTerminal(trusting()) // nobody answers
	count := func(n int) []event.QuestionEvent {
		t.Helper()
		p.eventually("the question", func() bool { return len(h.trustQuestions()) >= n })
		return h.trustQuestions()
	}
	answer := func(q event.QuestionEvent) error { return e.Answer(q.ID, view.Answer{Value: "version"}) }

	p.write(plugged, command("two"))
	second := count(1)[0]
	p.write("home/plugins/a.star", strings.Replace(home, "\ndef", "\nuses = [\"net\"]\ndef", 1))
	word := count(2)[1]
	if word.Summary != "trust plugin a?" {
		t.Errorf("the other question is %+v", word)
	}
	p.write(plugged, command("three"))
	third := count(3)[2]
	if !strings.Contains(third.Detail, `"three"`) || strings.Contains(third.Detail, `"two"`) {
		t.Errorf("the newer question is %s", third.Detail)
	}
	p.eventually("the older one is withdrawn", func() bool { return h.over(second) == "host" })
	if by := h.over(word); by != "" {
		t.Errorf("the other one was ended by %s", by)
	}
	if err := answer(third); err != nil {
		t.Fatal(err)
	}
	p.eventually("the newer version", func() bool { return says(p, e) == "three" })
	if err := answer(word); err != nil {
		t.Errorf("the question about the other plugin is gone: %v", err)
	}
}

// One question about two things is asked anew about the one that still stands.
func TestTrustQuestionLosesAPart(t *testing.T) {
	p := newPlace(t)
	e, h := p.atTerminal(trusting())
	p.write("staged/w.star", command("one"))
	p.write("staged/x.star", strings.ReplaceAll(command("other"), "say", "tell"))
	plugins := filepath.Join(p.ws, ".starling", "plugins")
	// In one step: with two there might be two questions.
	if err := errors.Join(os.MkdirAll(filepath.Dir(plugins), 0o755), os.Rename(filepath.Join(filepath.Dir(p.ws), "staged"), plugins)); err != nil {
		t.Fatal(err)
	}
	p.eventually("the question", func() bool { return len(h.trustQuestions()) == 1 })
	both := h.trustQuestions()[0]
	if !strings.Contains(both.Summary, "w") || !strings.Contains(both.Summary, "x") {
		t.Fatalf("%+v", both)
	}
	if err := os.Remove(filepath.Join(plugins, "x.star")); err != nil {
		t.Fatal(err)
	}
	p.eventually("the other question", func() bool { return len(h.trustQuestions()) == 2 })
	one := h.trustQuestions()[1]
	if strings.Contains(one.Detail, "x.star") {
		t.Errorf("%s", one.Detail)
	}
	if err := e.Answer(one.ID, view.Answer{Value: "version"}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the plugin", func() bool { return says(p, e) == "one" })
	if n := len(h.trustQuestions()); n != 2 {
		t.Errorf("%d questions", n)
	}
}
