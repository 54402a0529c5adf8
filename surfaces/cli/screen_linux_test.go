package cli_test

import (
	"strings"
	"testing"
)

func init() {
	onScreen = func(l *lab, term, prompt, answer string) {
		l.t.Helper()
		if term == "dumb" {
			s := l.sit()
			s.shows("/help")
			s.typed(prompt + "\n")
			s.shows(answer)
			s.shows("ready")
			s.typed("/quit\n")
			if e := s.ends(); e.code != 0 {
				l.t.Errorf("%v\n%s", e, s.shown.String())
			}
			return
		}
		// The model answers once the run is seen, so that its end can be told from the
		// time before it.
		runs := make(chan struct{})
		l.mu.Lock()
		model := l.answer
		l.answer = func(w *reply, n int, body string) {
			select {
			case <-runs:
			case <-w.r.Context().Done():
			}
			model(w, n, body)
		}
		l.mu.Unlock()
		w := l.open(80, 24)
		w.sees("what is to be done?")
		w.press("\x1b[200~" + prompt + "\x1b[201~\r")
		w.sees("Esc stops")
		close(runs)
		w.sees(answer)
		w.eventually("the end of the run", func() bool { return !strings.Contains(w.screen(), "Esc stops") })
		w.press("\x03\x03")
		w.leaves()
	}
}

// A run in a terminal is on disk and on the screen as it is anywhere else.
func TestOnScreen(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(data(content("the answer"), finish("stop"))) })
	onScreen(l, "xterm-256color", "a question", "answer")
	said := l.read("home/" + strings.TrimPrefix(l.sessionFile(), l.home+"/"))
	if !strings.Contains(said, "a question") || !strings.Contains(said, "the answer") {
		t.Errorf("the session holds %s", said)
	}
}
