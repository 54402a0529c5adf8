package trust_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"starling/trust"
)

// shown keeps what a question prints and can be waited for.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	close(s.more)
	s.more = make(chan struct{})
	return len(p), nil
}

// prompts waits until the answer was asked for that many times.
func (s *shown) prompts(t *testing.T, n int, done <-chan trust.Answer) {
	t.Helper()
	for {
		s.mu.Lock()
		text, more := s.text.String(), s.more
		s.mu.Unlock()
		if strings.Count(text, "Trust this version") >= n {
			return
		}
		select {
		case <-more:
		case a := <-done:
			t.Fatalf("answered %q before the prompt %d:\n%s", a, n, text)
		case <-time.After(time.Minute):
			t.Fatalf("prompt %d does not come:\n%s", n, text)
		}
	}
}

// What was typed before the question could be read answers nothing, whether a line was
// ended or only begun; what is typed then does.
func TestAskForgetsWhatWasTypedAhead(t *testing.T) {
	q := trust.Question{Workspace: "/w", Subjects: []trust.Subject{{Name: "plugin a"}}}
	for _, c := range []struct {
		name, ahead string
		then        []string
		want        trust.Answer
	}{
		{"a line", "y\n", []string{"n\n"}, trust.TrustNot},
		{"many lines", "fix it\ny\ne\nyes\n", []string{"n\n"}, trust.TrustNot},
		{"a line begun", "y", []string{"\n", "n\n"}, trust.TrustNot},
		{"a line begun behind one", "y\ny", []string{"\n", "n\n"}, trust.TrustNot},
		{"nothing", "", []string{"y\n"}, trust.TrustVersion},
		{"behind what is no answer", "", []string{"what\ny\ny\ny\n", "n\n"}, trust.TrustNot},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			keys, terminal := openPty(t)
			typeKeys(t, keys, c.ahead)
			out := &shown{more: make(chan struct{})}
			done := make(chan trust.Answer, 1)
			go func() { done <- trust.Ask(t.Context(), terminal, out, true, q) }()
			for i, text := range c.then {
				out.prompts(t, i+1, done)
				typeKeys(t, keys, text)
			}
			if got := <-done; got != c.want {
				t.Errorf("answered %q, not %q", got, c.want)
			}
			if told := strings.Contains(out.text.String(), "is dropped"); told != (c.name != "nothing" && len(c.ahead)+len(c.then) > 1) {
				t.Errorf("told that something was dropped: %v\n%s", told, out.text.String())
			}
			if state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS); err != nil || state.Lflag&(unix.ICANON|unix.ECHO) != unix.ICANON|unix.ECHO {
				t.Errorf("the terminal is left without lines: %+v %v", state, err)
			}
		})
	}
}

func openPty(t *testing.T) (keys, terminal *os.File) {
	t.Helper()
	keys, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, keys) }() // its echo
	t.Cleanup(func() { terminal.Close(); keys.Close() })
	return keys, terminal
}

func typeKeys(t *testing.T, keys *os.File, text string) {
	t.Helper()
	if _, err := keys.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
