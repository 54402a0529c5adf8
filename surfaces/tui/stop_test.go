package tui

import (
	"context"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/view"
)

// waiting is a run that ends when it is stopped.
func waiting(ctx context.Context, _ string) view.Outcome {
	<-ctx.Done()
	return view.Outcome{Stop: "aborted"}
}

// Esc on a question of a run stops the run, at once, and refuses what is open; what
// is open in the question is left first.
func TestEscOnQuestion(t *testing.T) {
	for name, q := range map[string]*event.QuestionEvent{
		"permission": {ID: "q1", Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "no", "edit"}},
		"choice":     {ID: "q1", Kind: "question", Summary: "which?", Detail: "which?", Options: []string{"red", "blue"}},
		"free text":  {ID: "q1", Kind: "question", Summary: "why?", Detail: "why?"},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{run: waiting}
			l := newLab(t, 80, 24, e)
			l.in(func() { l.s.prompt(entry("go")) })
			l.s.onQuestion(q)
			other := &event.QuestionEvent{ID: "q2", Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "no"}}
			l.s.onQuestion(other)
			l.sees("Esc stops the run")
			l.key(tcell.KeyEsc, 0, 0)
			l.until("stopped", func() bool { return l.s.running == nil })
			l.sees("stopped")
			l.until("closed", func() bool { return l.s.asking.Done() })
			for end := time.Now().Add(patience); len(e.answered()) < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			}
			got := e.answered()
			if len(got) != 2 {
				t.Fatalf("answered %+v", got)
			}
			for _, a := range got {
				if a.Value != "no" && a.Value != "" {
					t.Errorf("answered %+v", got)
				}
			}
		})
	}
}

// A question about trust is none of the run's: Esc is its no, as outside of a run.
func TestEscOnTrust(t *testing.T) {
	e := &engine{run: waiting}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.prompt(entry("go")) })
	l.s.onQuestion(&event.QuestionEvent{ID: "q1", Kind: "trust", Summary: "trust it?", Detail: "a file", Options: []string{view.AnswerTrust, "no"}})
	l.sees("trust it?")
	time.Sleep(500 * time.Millisecond) // a question is deaf at first; a second Esc would stop the run
	l.key(tcell.KeyEsc, 0, 0)
	l.until("an answer", func() bool { return len(e.answered()) > 0 })
	if got := e.answered(); len(got) != 1 || got[0].Value != "no" {
		t.Errorf("answered %+v", got)
	}
	l.until("it goes on", func() bool { return l.s.running != nil && !l.s.running.stopping })
}

// Esc stops a command of the person.
func TestEscStopsShell(t *testing.T) {
	e := &engine{shell: func(ctx context.Context, _ string, out func(string)) (string, error) {
		out("begun\n")
		<-ctx.Done()
		return "cancelled", nil
	}}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.send(entry("!sleep 1000")) })
	l.sees("begun")
	l.sees("Esc stops")
	l.key(tcell.KeyEsc, 0, 0)
	l.sees("stopped")
	l.until("nothing runs", func() bool { return len(l.s.shells) == 0 && !l.s.work.on })
}
