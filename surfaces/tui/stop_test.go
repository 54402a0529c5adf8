package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/chat"
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

// A question about trust is none of the run's: Esc puts it off, and nothing else. The
// screen says that it waits, and /trust, each way it is asked, opens it again.
func TestEscOnTrust(t *testing.T) {
	e := &engine{run: waiting}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.prompt(entry("go")) })
	l.s.onQuestion(&event.QuestionEvent{ID: "q1", Kind: "trust", Summary: "trust plugin w?", Detail: "a file", Options: []string{view.AnswerTrust, "no"}})
	for _, asks := range []func(){
		func() { l.s.send(entry("/trust")) },
		func() { l.s.send(entry("/trust approve")) },
	} {
		l.sees("Esc not now")
		l.sees("waiting for you")
		time.Sleep(500 * time.Millisecond) // a question is deaf at first; a second Esc would stop the run
		l.key(tcell.KeyEsc, 0, 0)
		l.until("put off", func() bool { return l.s.asking.Done() })
		for _, want := range []string{"not answered: trust plugin w? /trust asks again", "· /trust waits  ", "starting", "Esc stops"} {
			l.sees(want)
		}
		l.in(func() {
			if l.s.running == nil || l.s.running.stopping {
				t.Error("the run does not go on")
			}
			asks()
		})
		l.until("open again", func() bool { return !l.s.asking.Done() && len(l.s.modals) == 0 })
	}
	l.sees("Esc not now")
	time.Sleep(500 * time.Millisecond)
	l.key(tcell.KeyRune, 'y', 0)
	l.until("an answer", func() bool { return len(e.answered()) > 0 })
	if got := e.answered(); len(got) != 1 || got[0].Value != view.AnswerTrust {
		t.Errorf("answered %+v", got)
	}
	if got := l.text(); strings.Contains(got, "/trust waits") {
		t.Errorf("what is answered waits:\n%s", got)
	}
}

// Who leaves has not answered a question about trust, on a screen and in lines.
func TestLeavingIsNoAnswerAboutTrust(t *testing.T) {
	trust := &event.QuestionEvent{ID: "t", Kind: "trust", Summary: "trust plugin w?", Detail: "a file", Options: []string{view.AnswerTrust, "no"}}
	ask := func(s *Session) {
		s.onQuestion(trust)
		for _, id := range []string{"q1", "q2"} {
			s.onQuestion(&event.QuestionEvent{ID: id, Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "no"}})
		}
	}
	check := func(t *testing.T, e *engine) {
		t.Helper()
		for end := time.Now().Add(patience); len(e.answered()) < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		if got := e.heard(); len(got) != 2 || got["q1"].Value != "no" || got["q2"].Value != "no" {
			t.Errorf("answered %+v", got)
		}
	}
	t.Run("screen", func(t *testing.T) {
		e := &engine{}
		l := newLab(t, 80, 24, e)
		ask(l.s)
		l.sees("(2 more)")
		l.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
		l.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
		l.end()
		check(t, e)
	})
	t.Run("lines", func(t *testing.T) {
		e := &engine{}
		l := newPlain(t, e)
		ask(l.s)
		l.sees("? trust plugin w?")
		if err := l.in.Close(); err != nil {
			t.Fatal(err)
		}
		l.ends()
		check(t, e)
	})
}

// Esc stops a command of the person.
func TestEscStopsShell(t *testing.T) {
	e := &engine{shell: func(ctx context.Context, _ string, out func(string)) (view.Ended, error) {
		out("begun\n")
		<-ctx.Done()
		return view.Ended{Status: "cancelled", Failed: true}, nil
	}}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.send(entry("!sleep 1000")) })
	l.sees("begun")
	l.sees("Esc stops")
	l.key(tcell.KeyEsc, 0, 0)
	l.sees("stopped")
	l.until("nothing runs", func() bool { return len(l.s.jobs) == 0 && !l.s.work.on })
}

// After a person stopped a run what is queued waits for them: for Enter, or for another
// line they send.
func TestStopHoldsQueue(t *testing.T) {
	e := &engine{run: waiting}
	l := newLab(t, 80, 24, e)
	l.in(func() { l.s.send(entry("first")) })
	queue := func(texts ...string) {
		l.in(func() {
			for _, text := range texts {
				l.s.send(entry(text))
			}
		})
	}
	stop := func(want string) {
		l.until("it runs", func() bool { return l.s.running != nil && !l.s.running.stopping })
		l.key(tcell.KeyEsc, 0, 0)
		l.sees(want)
		l.until("nothing runs", func() bool { return l.s.running == nil })
	}
	queue("second", "third")
	stop("stopped; 2 queued lines wait: Enter sends the first")
	l.in(func() {
		if err := l.s.Queued("plugin", "of a plugin"); err != nil { // it waits as well
			t.Error(err)
		}
	})
	l.until("queued", func() bool { return l.s.editor.Queue().Len() == 3 })
	l.in(func() { l.s.inOrder(func(Driver) func() { return func() {} }) })
	l.until("the command is done", func() bool { return l.s.changing == 0 })
	if got := e.said(); len(got) != 1 {
		t.Fatalf("ran %q", got)
	}
	l.key(tcell.KeyEnter, 0, 0)
	l.until("the second line", func() bool { return len(e.said()) == 2 })
	stop("stopped; 2 queued lines wait")
	l.in(func() { l.s.send(entry("another")) })
	l.until("another line", func() bool { return len(e.said()) == 3 })
	e.mu.Lock()
	e.run = nil // those that follow end by themselves
	e.mu.Unlock()
	l.in(func() { l.s.running.stop() }) // not by the person
	l.until("all of them", func() bool { return len(e.said()) == 5 && l.s.running == nil })
	if got, want := strings.Join(e.said(), ", "), "first, second, another, third, of a plugin"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
}

// A question that waits is what the foot says: nothing goes on meanwhile.
func TestFootWaits(t *testing.T) {
	l := newLab(t, 80, 24, &engine{run: waiting})
	l.in(func() { l.s.prompt(entry("go")) })
	l.sees("⠋ starting")
	l.s.onQuestion(&event.QuestionEvent{ID: "q1", Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "no"}})
	l.sees("waiting for you")
	for _, sign := range l.s.signs.Spinner {
		if got := l.text(); strings.Contains(got, sign) {
			t.Fatalf("something turns:\n%s", got)
		}
	}
}

// A run that was stopped reads so when its session is gone on with, and the answer to
// a question stands on its line.
func TestReplayStopped(t *testing.T) {
	l := newLab(t, 80, 24, &engine{past: []chat.Message{
		chat.TextMessage(chat.User, "ask me"),
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Call, ID: "1", Name: "question", Arguments: `{"question":"Which colour?"}`}}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "1", Name: "question", Text: "The person answered: blue", Details: []byte(`{"question":"Which colour?","answer":"blue","option":2}`)}}},
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "Half a"}}, Stop: chat.StopAborted, Error: "context canceled"},
	}})
	got := l.text()
	for _, want := range []string{"Half a", "· stopped"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q on\n%s", want, got)
		}
	}
	if strings.Contains(got, "cancel") {
		t.Errorf("the screen says\n%s", got)
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, "Which colour?") && !strings.HasSuffix(strings.TrimSpace(line), "blue") {
			t.Errorf("the line of the question is %q", line)
		}
	}
}
