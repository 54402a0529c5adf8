package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"starling/agent/session"
	"starling/bus/chat"
)

// TestMain lets the test binary be the other process.
func TestMain(m *testing.M) {
	if run, ok := children[os.Getenv("SESSION_CHILD")]; ok {
		run(os.Args[len(os.Args)-1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child is a command that runs one of children on an argument.
func child(name, argument string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "--", argument)
	cmd.Env = append(os.Environ(), "SESSION_CHILD="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// store returns a store in a folder of the test, with a clock that goes on by a
// second each time it is read.
func store(t testing.TB) session.Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return session.Store{Dir: filepath.Join(t.TempDir(), "sessions"), Owner: "the test", Now: func() time.Time {
		now = now.Add(time.Second)
		return now
	}}
}

// masker knows the values as secrets.
func masker(values ...string) *session.Masker {
	m := &session.Masker{}
	m.Add(values...)
	return m
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func user(text string) chat.Message { return chat.TextMessage(chat.User, text) }

func reply(text string) chat.Message {
	m := chat.TextMessage(chat.Assistant, text)
	m.Stop = chat.StopEnd
	return m
}

// asks is a reply with one call, and its result.
func asks(id string) (call, result chat.Message) {
	call = chat.Message{Role: chat.Assistant, Stop: chat.StopTools, Blocks: []chat.Block{
		{Kind: chat.Call, ID: id, Name: "read", Arguments: `{"path":"a.go"}`},
	}}
	result = chat.Message{Role: chat.ToolRole, Blocks: []chat.Block{
		{Kind: chat.Result, ID: id, Name: "read", Text: "package a"},
	}}
	return call, result
}

// begin makes a session with messages and leaves it open.
func begin(t testing.TB, st session.Store, messages ...chat.Message) *session.Session {
	t.Helper()
	s := must[*session.Session](t)(st.Create(session.Meta{Cwd: "/w/a", Workspace: "/w", Model: "m"}))
	ok(t, s.Append(messages...))
	return s
}

// written makes a session with messages, closes it and returns id and path.
func written(t testing.TB, st session.Store, messages ...chat.Message) (id, path string) {
	t.Helper()
	s := begin(t, st, messages...)
	ok(t, s.Close())
	return s.ID(), s.Path()
}

// holds checks what a session has when it is opened anew, and returns it open.
func holds(t testing.TB, st session.Store, id string, want ...chat.Message) *session.Session {
	t.Helper()
	s := must[*session.Session](t)(st.Open(id))
	same(t, s, want...)
	return s
}

func same(t testing.TB, s *session.Session, want ...chat.Message) {
	t.Helper()
	got := must[[]chat.Message](t)(s.Messages())
	if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
		t.Fatalf("messages (-want +got):\n%s", diff)
	}
}

func texts(messages []chat.Message) []string {
	out := []string{}
	for _, m := range messages {
		line := string(m.Role) + ": " + m.Text()
		for _, b := range m.Blocks {
			if b.Kind == chat.Call || b.Kind == chat.Result {
				line += fmt.Sprintf(" [%s %s %s]", b.Kind, b.ID, b.Text)
			}
		}
		out = append(out, line)
	}
	return out
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	text := string(must[[]byte](t)(os.ReadFile(path)))
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n") {
		t.Fatalf("%s does not end with a line break: …%q", path, text[max(0, len(text)-80):])
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// appendRaw adds bytes to a file as another program would.
func appendRaw(t testing.TB, path, text string) {
	t.Helper()
	f := must[*os.File](t)(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))
	must[int](t)(f.WriteString(text))
	ok(t, f.Close())
}

func kill9(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	ok(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait() // killed
}
