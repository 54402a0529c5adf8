package tui

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/transcript"
)

// plainLab is the line mode between two pipes.
type plainLab struct {
	t    *testing.T
	s    *Session
	e    *engine
	in   *os.File
	done chan error
	read chan struct{} // closed when all that was written was read

	mu  sync.Mutex
	out strings.Builder
}

func newPlain(t *testing.T, e *engine) *plainLab {
	t.Helper()
	return newPlainWith(t, e, Options{})
}

// newPlainWith has options besides those of the line mode.
func newPlainWith(t *testing.T, e *engine, o Options) *plainLab {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return newPlainOn(t, e, o, inRead, inWrite)
}

// newPlainOn reads what is written at the other end of inRead.
func newPlainOn(t *testing.T, e *engine, o Options, inRead, inWrite *os.File) *plainLab {
	t.Helper()
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o.Plain, o.In, o.Out = true, inRead, outWrite
	o.Env = func(k string) string { return map[string]string{"LANG": "C.UTF-8"}[k] }
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	e.status = view.Status{Workspace: "shop", Model: "sonnet"}
	l := &plainLab{t: t, s: s, e: e, in: inWrite, done: make(chan error, 1), read: make(chan struct{})}
	go func() {
		defer close(l.read)
		buf := make([]byte, 4096)
		for {
			n, err := outRead.Read(buf)
			l.mu.Lock()
			l.out.Write(buf[:n])
			l.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		l.done <- s.Run(context.Background(), ready(e))
		if err := outWrite.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		if err := inWrite.Close(); err != nil && !strings.Contains(err.Error(), "already closed") {
			t.Error(err)
		}
		<-l.read
		for _, f := range []*os.File{inRead, outRead} {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return l
}

func (l *plainLab) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.String()
}

func (l *plainLab) sees(text string) {
	l.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if strings.Contains(l.text(), text) {
			return
		}
	}
	l.t.Fatalf("never %q in\n%s", text, l.text())
}

func (l *plainLab) line(text string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, text+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *plainLab) ends() {
	l.t.Helper()
	select {
	case err := <-l.done:
		if err != nil {
			l.t.Error(err)
		}
	case <-time.After(patience):
		l.t.Fatalf("it does not end:\n%s", l.text())
	}
}

// The line mode is the same session: what runs is told a line at a time, what is
// foreign steers nothing.
func TestLines(t *testing.T) {
	e := &engine{}
	l := newPlain(t, e)
	e.run = func(ctx context.Context, text string) view.Outcome {
		l.s.in.write(thought, "", "hidden")
		l.s.in.write(reply, "", "I look\nat \x1b[31m[red]it")
		l.s.in.do(func() { l.s.endReply() })
		l.s.onCall(&event.ToolCallEvent{ID: "1", Name: "read", ArgumentsJSON: `{"path":"a.go"}`})
		l.s.onResult(&event.ToolResultEvent{ID: "1", Name: "read", Content: "x", Details: []byte(`{"from_line":1,"to_line":84}`)})
		l.s.onCall(&event.ToolCallEvent{ID: "2", Name: "bash", ArgumentsJSON: `{"command":"false"}`})
		l.s.onResult(&event.ToolResultEvent{ID: "2", Name: "bash", Content: "x", Details: []byte(`{"status":1}`)})
		l.s.Presented("2", []byte(`{"type":"text","text":"drawn"}`))
		l.s.Notice(view.Notice{From: "p", Text: "said"})
		return view.Outcome{Stop: "end"}
	}
	l.line(`look \`)
	l.line("here")
	l.sees("ready")
	want := "you: look \nhere\nI look\nat [red]it\n● read a.go\n✓ read a.go: 84 lines\n● bash false\n✗ bash false: status 1\n   drawn\n[p] said\nready\n"
	if got := l.text(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := e.said(); len(got) != 1 || got[0] != "look \nhere" {
		t.Errorf("prompts %q", got)
	}
	l.line("/greet you")
	l.sees("hello you")
	l.line("/no-such")
	l.sees("there is no command /no-such")
	l.line("/quit")
	l.ends()
}

// At the end of the input what runs goes on to its end, and nobody is asked.
func TestLinesEnd(t *testing.T) {
	e := &engine{}
	l := newPlain(t, e)
	free := make(chan struct{})
	e.run = func(context.Context, string) view.Outcome {
		<-free
		return view.Outcome{Stop: "end"}
	}
	l.line("one")
	l.line("two")
	l.sees("queued: two")
	if err := l.in.Close(); err != nil {
		t.Fatal(err)
	}
	l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Options: []string{"yes", "no"}})
	for end := time.Now().Add(patience); len(e.answered()) == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	if got := e.answered(); len(got) != 1 || got[0].Value != view.AnswerNo {
		t.Errorf("answered %+v", got)
	}
	close(free)
	l.ends()
	if got := e.said(); len(got) != 2 {
		t.Errorf("prompts %q", got)
	}
}

// The last line says how the session goes on, in the words of the screen and without
// colour; where there is no session it says nothing of it.
func TestLinesSayHowToGoOn(t *testing.T) {
	for session, want := range map[string]string{"": "", "s-1": "go on with: starling --continue\n"} {
		for _, leaves := range []string{"by /quit", "at the end of the input"} {
			e := &engine{}
			l := newPlain(t, e)
			l.sees("/help")
			e.mu.Lock()
			e.status.Session = session
			e.mu.Unlock()
			if leaves == "by /quit" {
				l.line("/quit")
			} else if err := l.in.Close(); err != nil {
				t.Fatal(err)
			}
			l.ends()
			<-l.read
			if _, got, _ := strings.Cut(l.text(), "/help lists the commands.\n"); got != want {
				t.Errorf("session %q, left %s: the last line is %q, want %q", session, leaves, got, want)
			}
		}
	}
}

func TestNoteOf(t *testing.T) {
	for _, c := range []struct {
		r      transcript.Result
		note   string
		failed bool
	}{
		{transcript.Result{Content: "a\nb\n"}, "2 lines", false},
		{transcript.Result{}, "", false},
		{transcript.Result{Content: "no such file\nx", IsError: true}, "no such file", true},
		{transcript.Result{Details: []byte(`{"denied":true,"by":"guard","why":"no"}`), IsError: true}, "blocked by guard: no", true},
		{transcript.Result{Details: []byte(`{"added":3,"removed":1}`)}, "+3 -1", false},
		{transcript.Result{Details: []byte(`{"matches":1}`)}, "1 match", false},
		{transcript.Result{Details: []byte(`{"status":2}`)}, "status 2", true},
		{transcript.Result{Details: []byte(`{"timed_out":true,"status":-1}`)}, "timed out", true},
		{transcript.Result{Content: "x", Details: []byte(`["a list"]`)}, "1 line", false},
	} {
		if note, failed := transcript.NoteOf(c.r, true); note != c.note || failed != c.failed {
			t.Errorf("%s %s: %q, %v", c.r.Content, c.r.Details, note, failed)
		}
	}
}
