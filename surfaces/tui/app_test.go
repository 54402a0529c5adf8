package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces/tui/transcript"
)

var sizes = [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}}

// story fills the conversation with one of everything.
func story(s *Session) {
	s.tr.Person("add a rate limit to the login handler")
	s.tr.Write("The login handler has no limit, so one is needed.", true)
	s.tr.Write("I'll look at the **handler** first.", false)
	s.tr.EndReply()
	s.tr.Begin("1", "read", `{"path":"internal/http/login.go"}`)
	s.tr.Finish("1", transcript.Result{Content: "x", Details: []byte(`{"from_line":1,"to_line":84}`)})
	s.tr.Begin("2", "edit", `{"path":"internal/http/login.go"}`)
	s.tr.Finish("2", transcript.Result{Content: "ok", Details: []byte(`{"diff":"@@ -41,2 +41,5 @@\n func Login() {\n+if !limiter.Allow(ip) {\n+    http.Error(w, \"slow down\", 429)\n+}\n }\n","added":3,"removed":0}`)})
	s.tr.Begin("3", "bash", `{"command":"rm -rf build"}`)
	s.tr.Refuse("3", "guard", "removal needs a person")
	s.tr.Write("The limiter is in place: 12 requests a minute.\n\n- `[red]x[-]` stays as it is\n- 漢字 שלום 👩‍👩‍👧‍👦 e\u0301\n\n```go\nfunc Allow(ip string) bool { return true }\n```\n", false)
	s.tr.EndReply()
	s.tr.Notice(view.Notice{From: "todos", Text: "3 of 5 done"})
}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("story-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			l := newLab(t, size[0], size[1], &engine{})
			l.in(func() { story(l.s) })
			l.typed("and log the refused addresses")
			l.golden(name)
		})
	}
}

// A prompt runs, what is typed meanwhile waits, Esc stops, Enter goes on.
func TestPromptQueueStop(t *testing.T) {
	e := &engine{run: func(ctx context.Context, text string) view.Outcome {
		if text != "one" {
			return view.Outcome{Stop: "end"}
		}
		<-ctx.Done()
		return view.Outcome{Stop: "aborted", Why: "stopped by you"}
	}}
	l := newLab(t, 80, 24, e)
	l.typed("one")
	l.key(tcell.KeyEnter, 0, 0)
	l.until("running", func() bool { return l.s.running != nil })
	l.typed("two")
	l.key(tcell.KeyEnter, 0, 0)
	l.sees("1 queued")
	l.sees("Esc stops")
	l.key(tcell.KeyEscape, 0, 0)
	l.sees("stopped; 1 queued line waits")
	l.key(tcell.KeyEnter, 0, 0)
	l.until("both ran", func() bool { return strings.Join(e.said(), ",") == "one,two" && l.s.running == nil })
	text := l.text()
	for _, want := range []string{"▌ one", "▌ two", "· stopped"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q on\n%s", want, text)
		}
	}
}
