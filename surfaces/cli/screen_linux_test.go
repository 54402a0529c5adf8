package cli_test

import (
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	onScreen = func(l *lab, term, prompt, answer string) {
		l.t.Helper()
		keys, terminal := openTerminal(l.t)
		if err := unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
			l.t.Fatal(err)
		}
		var shown output
		c := exec.Command("starling")
		c.Dir, c.Env = l.ws, append([]string{"TERM=" + term, "LANG=C.UTF-8"}, l.env...)
		c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := c.Start(); err != nil {
			l.t.Fatal(err)
		}
		go func() { _, _ = io.Copy(&shown, keys) }() // until the terminal is closed
		over := make(chan error, 1)
		go func() { over <- c.Wait() }()
		l.t.Cleanup(func() { _ = c.Process.Kill() })
		type step struct{ sees, keys string }
		steps := []step{{"what is to be done?", "\x1b[200~" + prompt + "\x1b[201~\r"}, {answer, "\x03"}, {"again", "\x03"}}
		if term == "dumb" {
			steps = []step{{"/help", prompt + "\n"}, {answer, "/quit\n"}}
		}
		for _, s := range steps {
			l.eventually(s.sees, func() bool { return strings.Contains(shown.String(), s.sees) })
			if _, err := keys.WriteString(s.keys); err != nil {
				l.t.Fatal(err)
			}
		}
		select {
		case err := <-over:
			var exit *exec.ExitError
			if errors.As(err, &exit) || err != nil {
				l.t.Errorf("%s: %v\n%s", term, err, shown.String())
			}
		case <-time.After(time.Minute):
			l.t.Fatalf("%s: it goes on\n%s", term, shown.String())
		}
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
