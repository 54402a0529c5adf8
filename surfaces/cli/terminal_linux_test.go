package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// seat is starling in a terminal of its own.
type seat struct {
	*process
	keys  *os.File
	shown output
}

// sit starts a session as lines, with the signals and the end of a real terminal.
func (l *lab) sit(args ...string) *seat {
	l.t.Helper()
	return l.sitAfter("", append([]string{"--plain"}, args...)...)
}

// sitAfter starts the program on a terminal where something was typed before.
func (l *lab) sitAfter(typed string, args ...string) *seat {
	l.t.Helper()
	keys, terminal := openTerminal(l.t)
	s := &seat{keys: keys, process: &process{l: l, cmd: exec.Command("starling", args...), over: make(chan struct{})}}
	s.typed(typed)
	s.cmd.Dir, s.cmd.Env = l.ws, append([]string{"TERM=dumb"}, l.env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(&s.shown, keys) }() // until the terminal is closed
	go func() {
		s.err = s.cmd.Wait()
		close(s.over)
	}()
	l.t.Cleanup(func() { _ = s.cmd.Process.Kill(); <-s.over })
	return s
}

func (s *seat) typed(text string) {
	s.l.t.Helper()
	if _, err := s.keys.WriteString(text); err != nil {
		s.l.t.Fatal(err)
	}
}

// shows waits for a text on the terminal.
func (s *seat) shows(text string) {
	s.l.t.Helper()
	defer func() {
		if s.l.t.Failed() {
			s.l.t.Log(s.shown.String())
		}
	}()
	s.l.eventually(text, func() bool {
		if strings.Contains(s.shown.String(), text) {
			return true
		}
		select {
		case <-s.over:
			s.l.t.Fatalf("no %q: %v\n%s", text, s.wait(), s.shown.String())
		default:
		}
		return false
	})
}

// leaves by Ctrl-C, of which the first one only says how. On a slow machine the next one
// may come too late to be the second.
func (s *seat) leaves() {
	s.l.t.Helper()
	for n, left := 1, false; !left; n++ {
		s.typed("\x03")
		s.l.eventually("an end, or how to leave", func() bool {
			select {
			case <-s.over:
				left = true
			default:
			}
			return left || strings.Count(s.shown.String(), "Ctrl-C again") == n
		})
	}
	if n := strings.Count(s.shown.String(), "Ctrl-C again"); n == 0 {
		s.l.t.Errorf("one Ctrl-C ends the session\n%s", s.shown.String())
	}
}

// ends waits for the end of the session.
func (s *seat) ends() ended {
	s.l.t.Helper()
	select {
	case <-s.over:
	case <-time.After(time.Minute):
		s.l.t.Fatalf("it goes on\n%s", s.shown.String())
	}
	return s.wait()
}

const leaving = `uses = ["fs.write"]
def apply(ctx):
    effect(lambda: None, lambda: fs.write("left.txt", "taken down"))
    on("code/session-end", lambda e: fs.write("end.txt", e.reason))
`

// However a person leaves, everything is taken down: the end of the session is
// announced, plugins clean up, the file holds what was said.
func TestSessionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(s *seat)
		code  int
	}{
		"quit":      {func(s *seat) { s.typed("/quit\n") }, 0},
		"end":       {func(s *seat) { s.typed("\x04") }, 0},
		"TERM":      {func(s *seat) { s.signal(syscall.SIGTERM) }, 130},
		"HUP":       {func(s *seat) { s.signal(syscall.SIGHUP) }, 130},
		"interrupt": {(*seat).leaves, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, func(w *reply, _ int, _ string) { w.send(data(content("the answer"), finish("stop"))) })
			l.write("home/plugins/leaving.star", leaving)
			s := l.sit()
			s.shows("/help")
			s.typed("a question\n")
			s.shows("the answer")
			s.shows("ready") // else an interrupt would stop the run alone
			c.leave(s)
			if e := s.ends(); e.code != c.code {
				t.Errorf("%v\n%s", e, s.shown.String())
			}
			if said := l.read("home/" + strings.TrimPrefix(l.sessionFile(), l.home+"/")); !strings.Contains(said, "the answer") {
				t.Errorf("the session holds %s", said)
			}
			if l.read("ws/left.txt") != "taken down" || l.read("ws/end.txt") != "end" {
				t.Errorf("teardown %q, session end %q", l.read("ws/left.txt"), l.read("ws/end.txt"))
			}
		})
	}
}

// Ctrl-C stops the run and not the session; the next prompt goes on.
func TestSessionInterrupt(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 0 {
			w.send(events(content("a beginning\n")))
			<-w.r.Context().Done()
			return
		}
		w.send(data(content("the next answer"), finish("stop")))
	})
	s := l.sit()
	s.shows("/help")
	s.typed("first\n")
	s.shows("a beginning")
	s.typed("\x03")
	s.shows("stopped")
	s.typed("second\n")
	s.shows("the next answer")
	s.typed("/quit\n")
	if e := s.ends(); e.code != 0 {
		t.Errorf("%v\n%s", e, s.shown.String())
	}
}

// The workspace is asked about before the session begins, and what was said then
// counts in it.
func TestSessionTrust(t *testing.T) {
	l := newLab(t, func(w *reply, _ int, _ string) { w.send(data(content("x"), finish("stop"))) })
	l.write("ws/.starling/plugins/say.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: \"said so\")\n")
	s := l.sit()
	s.shows("Trust this version")
	s.typed("e\n")
	s.shows("/help")
	s.typed("/say\n")
	s.shows("said so")
	l.write("ws/.starling/plugins/say.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"say\", \"d\", lambda args: \"edited\")\n")
	s.shows("reloaded say")
	s.typed("/say\n")
	s.shows("edited")
	s.typed("/quit\n")
	if e := s.ends(); e.code != 0 {
		t.Errorf("%v\n%s", e, s.shown.String())
	}
}

// What was typed before the workspace was asked about approves nothing of it, in
// whichever way it is asked; an answer typed then counts.
func TestTypedAheadApprovesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		said string
	}{
		"a session":    {[]string{"--plain"}, "not trusted: nothing of it runs; /trust asks again"},
		"plugin trust": {[]string{"plugin", "trust"}, "not trusted: nothing of it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, func(w *reply, _ int, _ string) { w.send(data(content("x"), finish("stop"))) })
			l.write("ws/.starling/plugins/say.star", "uses = [\"exec\"]\ndef apply(ctx): pass\n")
			s := l.sitAfter("y\ne\ny", c.args...)
			s.shows("is dropped")
			s.shows("Trust this version")
			if _, err := os.Stat(filepath.Join(l.home, "trust.json")); !os.IsNotExist(err) {
				t.Fatalf("something is stored: %v\n%s", err, s.shown.String())
			}
			s.typed("n\n")
			s.shows(c.said)
			if name == "a session" {
				s.shows("/help")
				s.typed("/quit\n")
			}
			if e := s.ends(); e.code != 0 {
				t.Errorf("%v\n%s", e, s.shown.String())
			}
			if stored := l.read("home/trust.json"); strings.Contains(stored, "approved") || !strings.Contains(stored, "refused") {
				t.Errorf("stored: %s", stored)
			}
		})
	}
}

// In a session files of the command line, and those of /attach, go with the next prompt and
// with no other; what cannot be read is said before anything is sent.
func TestSessionAttach(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		w.send(data(content("answer "+strconv.Itoa(n+1)+"\n"), finish("stop")))
	})
	l.write("notes.txt", "from the start\n")
	l.write("ws/a b.txt", "in the middle\n")
	s := l.sit("--attach", "../notes.txt", "--attach", "absent")
	s.shows("warning: absent: no such file")
	s.shows("attached to the next prompt: ../notes.txt")
	s.typed("look\n")
	s.shows("answer 1")
	l.eventually("the end of a run", func() bool { return strings.Contains(s.shown.String(), "ready") })
	s.typed("/attach 'a b.txt' nowhere\n")
	s.shows("warning: nowhere: no such file")
	s.shows("attached to the next prompt: a b.txt")
	s.typed("and now\n")
	s.shows("answer 2")
	s.typed("/quit\n")
	if e := s.ends(); e.code != 0 {
		t.Errorf("%v\n%s", e, s.shown.String())
	}
	sent := l.sent()
	if len(sent) != 2 || !strings.Contains(sent[0].body, "from the start") || strings.Contains(sent[0].body, "in the middle") ||
		strings.Count(sent[1].body, "from the start") != 1 || !strings.Contains(sent[1].body, "in the middle") {
		t.Errorf("sent %v", sent)
	}
}

// A command of the person's file, a command behind "!", and another session, as they
// reach the model.
func TestSessionCommands(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		w.send(data(content("answer "+strconv.Itoa(n+1)+"\n"), finish("stop")))
	})
	l.write("home/commands/look.md", "Look at $ARGUMENTS.")
	s := l.sit()
	s.shows("/help")
	s.typed("/look the tests\n")
	s.shows("answer 1")
	s.typed("!echo from the shell\n")
	s.shows("exited(0)")
	s.typed("and now\n")
	s.shows("answer 2")
	// While a run goes no other session takes its place.
	l.eventually("the end of two runs", func() bool { return strings.Count(s.shown.String(), "ready") == 2 })
	s.typed("/new\n")
	s.typed("something else\n")
	s.shows("answer 3")
	s.typed("/quit\n")
	if e := s.ends(); e.code != 0 {
		t.Fatalf("%v\n%s", e, s.shown.String())
	}
	sent := l.sent()
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	for i, want := range []string{"Look at the tests.", "I ran a command: echo from the shell", "something else"} {
		if !strings.Contains(sent[i].body, want) {
			t.Errorf("request %d lacks %q: %.1500s", i+1, want, sent[i].body)
		}
	}
	if strings.Contains(sent[2].body, "answer 1") {
		t.Errorf("a new session knows the old one: %.1500s", sent[2].body)
	}
}
