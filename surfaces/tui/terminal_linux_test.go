package tui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

func TestTerminal(t *testing.T) {
	t.Run("prompt and quit", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.prompt("hello there")
		l.sees("You said: hello there")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		l.restored()
		l.leaves("You said: hello there")
		l.leaves("\x1b[2mgo on with: starling --continue\x1b[0m")
	})
	for name, sig := range map[string]syscall.Signal{"terminated": syscall.SIGTERM, "hung up": syscall.SIGHUP, "quit": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			l := startPty(t, "show")
			l.sees("sonnet")
			if err := l.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := l.wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(sig) {
				t.Errorf("it ends with %v", err)
			}
			l.restored()
		})
	}
	for _, what := range []string{"panic", "loop panic"} {
		t.Run(what, func(t *testing.T) {
			l := startPty(t, "show")
			l.sees("sonnet")
			l.prompt(what)
			if err := l.wait(); err == nil {
				t.Error("a panic ends well")
			}
			l.restored()
			l.leaves("broke")
		})
	}
	t.Run("nothing said", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
		l.restored()
		if strings.Contains(l.output(), "--continue") {
			t.Error("it says how to go on with nothing")
		}
	})
	t.Run("suspended", func(t *testing.T) {
		l := startPty(t, "job")
		for round := range 2 {
			l.sees("sonnet")
			l.send("\x1a")
			l.eventually(func() string { // the shell says so once the job is stopped
				if n := strings.Count(l.output(), "job stopped"); n != round+1 {
					return fmt.Sprintf("the job was stopped %d times", n)
				}
				return l.cooked()
			})
			l.send("\n")
		}
		l.eventually(func() string {
			if n := strings.Count(l.output(), "\x1b[?1049h"); n != 3 {
				return fmt.Sprintf("the screen came up %d times", n)
			}
			return ""
		})
		l.prompt("still here")
		l.sees("You said: still here")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
		l.restored()
	})
	// A terminal that went away while the session was out of it has no cells to draw
	// on: the session ends and does not go round for ever.
	t.Run("the terminal goes while it is suspended", func(t *testing.T) {
		l := startPty(t, "job")
		l.sees("sonnet")
		l.send("\x1a")
		l.eventually(func() string {
			if !strings.Contains(l.output(), "job stopped") {
				return "the job is not stopped"
			}
			return ""
		})
		job := children(t, l.cmd.Process.Pid)
		if len(job) != 1 {
			t.Fatalf("the shell has the children %v", job)
		}
		for _, f := range []*os.File{l.pty, l.tty} {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := syscall.Kill(job[0], syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		l.eventually(func() string {
			if err := syscall.Kill(job[0], 0); err == nil && !zombie(job[0]) {
				return "it runs without a terminal"
			}
			return ""
		})
		if err := l.wait(); err == nil { // the shell, which lost its terminal too
			t.Error("the shell ended well")
		}
	})
	t.Run("suspended without a shell", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send("\x1a")
		l.sees("no shell to go back to")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a paste without an end", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send(pasteBegin + "cut short")
		l.sees("cut short")
		l.send("\r")
		l.sees("You said: cut short")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	// A terminal that marks no pastes: ten thousand lines send nothing, however the
	// machine is slowed down, and go out as one prompt.
	t.Run("a paste without marks", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		const lines = 10_000
		l.send(strings.Repeat("line\tof it\r", lines))
		l.send("\x05") // End: what was pasted is over
		l.send("the end")
		l.sees("the end")
		if strings.Contains(l.output(), "You said") {
			t.Error("something was sent")
		}
		l.send("\r")
		l.gone("]the end")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
		l.restored()
		l.eventually(func() string {
			out := l.output()
			left := out[strings.LastIndex(out, "\x1b[?1049l"):]
			_, said, _ := strings.Cut(left, "You said: ")
			if n := strings.Count(said, "line"); n != lines || strings.Contains(said, "You said: ") {
				return fmt.Sprintf("the first prompt has %d lines", n)
			}
			return ""
		})
	})
	t.Run("external editor", func(t *testing.T) {
		script := filepath.Join(t.TempDir(), "editor")
		if err := os.WriteFile(script, []byte("#!/bin/sh\nstty -a | grep -q ' icanon' && printf ' and more' >> \"$1\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		l := startPty(t, "show", "EDITOR="+script, "VISUAL=")
		l.sees("sonnet")
		l.send(pasteBegin + "a draft" + pasteEnd)
		l.sees("a draft")
		l.send("\x07")
		l.sees("a draft and more")
		l.send("\r")
		l.sees("You said: a draft and more")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
		l.restored()
	})
	// Esc is heard however often and fast it was pressed before.
	t.Run("escapes at once", func(t *testing.T) {
		for _, keys := range []string{"\x1b\x1b", "\x1b\x1b\x1b\x1b\x1b", "\x1b[3~\x1b\x1b"} {
			l := startPty(t, "show")
			l.sees("sonnet")
			for round, text := range []string{"wait", "wait again"} {
				l.prompt(text)
				l.sees("Esc stops") // of this run: the one before is over and drawn so
				l.send(keys)
				l.sees("You said: " + text)
				l.eventually(func() string {
					if n := strings.Count(l.screen(), "· stopped"); n != round+1 {
						return fmt.Sprintf("after %q %d runs are stopped:\n%s", keys, n, l.screen())
					}
					return ""
				})
				keys = "\x1b"
			}
			l.send("\x03\x03")
			if err := l.wait(); err != nil {
				t.Error(err)
			}
		}
	})
	// What is typed right behind Esc is typed, and the Esc is one: a multiplexer sends
	// both at once.
	t.Run("escape and a word", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		for _, first := range []string{"x", "N", "X", "^", "_", "]", "\\", "O", "[", "é", "P"} {
			l.prompt("wait")
			l.sees("Esc stops")
			if first == "_" { // Alt-_ is a key of the editor: only what follows must come
				l.send("\x1b")
				l.gone("Esc stops")
			}
			l.send("\x1b" + first)
			l.gone("Esc stops")
			l.send("kyz")
			want := first + "kyz"
			if first == "_" {
				want = "kyz"
			}
			l.sees("\u203a " + want)
			l.send("\x15")
			l.gone("\u203a " + want)
		}
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	// Alt-Enter of old terminals is a line, and no key with Ctrl is a letter.
	t.Run("escape and a control key", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send(pasteBegin + "one" + pasteEnd)
		l.sees("\u203a one")
		l.send("\x1b\r")
		l.send(pasteBegin + "two three" + pasteEnd)
		l.eventually(func() string {
			if !strings.Contains(l.screen(), "\u203a one\n   two three") && !strings.Contains(l.screen(), "\u203a one"+strings.Repeat(" ", 75)) {
				return "no second line:\n" + l.screen()
			}
			return ""
		})
		l.send("\x1b\x7f")
		l.eventually(func() string {
			if text := l.screen(); strings.Contains(text, "three") || !strings.Contains(text, "two") {
				return "Alt-Backspace:\n" + text
			}
			return ""
		})
		l.send("\x1b\x15")
		l.eventually(func() string {
			if text := l.screen(); strings.Contains(text, "two") || !strings.Contains(text, "one") || strings.Contains(text, "u\n") {
				return "Esc Ctrl-U:\n" + text
			}
			return ""
		})
		l.send("\r")
		l.sees("You said: one")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	// What comes together with Esc is no other key, and no paste is lost.
	t.Run("escape together with", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send("\x1b" + pasteBegin + "first" + pasteEnd)
		l.sees("first")
		l.send("\r")
		l.sees("You said: first")
		l.prompt("second")
		l.sees("You said: second")
		l.send("\x1b\x1a")
		l.sees("no shell to go back to")
		l.send("\x1b\x03\x1b\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
		l.restored()
	})
	t.Run("unknown terminal", func(t *testing.T) {
		l := startPty(t, "show", "TERM=no-such-terminal")
		l.sees("sonnet")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("no colour", func(t *testing.T) {
		l := startPty(t, "show", "NO_COLOR=1")
		l.sees("sonnet")
		l.prompt("hello")
		l.sees("You said: hello")
		if out := l.output(); strings.Contains(out, "\x1b[38;") || strings.Contains(out, "\x1b[48;") {
			t.Error("it draws colours")
		}
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("dumb", func(t *testing.T) {
		l := startPty(t, "show", "TERM=dumb")
		l.sees("/help lists the commands")
		l.send("hello\n")
		l.sees("You said: hello")
		l.sees("ready")
		if strings.Contains(l.output(), "\x1b[") {
			t.Error("escape sequences for a dumb terminal")
		}
		l.send("/quit\n")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
	// Ctrl-C of the terminal: it drops what is typed, and where it leaves what follows
	// stands on a line of its own.
	t.Run("interrupts in lines", func(t *testing.T) {
		l := startPty(t, "plain")
		l.sees("/help lists the commands")
		l.send("half a line")
		l.sees("half a line")
		l.send("\x03")
		l.sees("nothing runs; to leave")
		l.send("wait\n")
		l.sees("you: wait")
		l.send("\x03")
		l.sees("You said: wait")
		l.sees("ready")
		if strings.Contains(l.screen(), "you: half a line") {
			t.Errorf("what was typed before is part of the line:\n%s", l.screen())
		}
		for n := 2; ; n++ { // on a slow machine the next one may come too late to be the second
			l.send("\x03")
			left := false
			l.eventually(func() string {
				select {
				case err := <-l.end:
					l.end <- err
					left = true
				default:
				}
				if left || strings.Count(l.output(), "nothing runs") == n {
					return ""
				}
				return "nothing comes of Ctrl-C"
			})
			if left || t.Failed() {
				break
			}
		}
		if err := l.wait(); err != nil {
			t.Error(err)
		}
		l.leaves("^C\r\ngo on with: starling --continue\r\n")
	})
	t.Run("paste with line feeds", func(t *testing.T) {
		l := startPty(t, "show")
		l.sees("sonnet")
		l.send(pasteEnd + pasteBegin + "one\ntwo\r\nthree" + pasteEnd)
		l.sees("three")
		if got := l.screen(); !strings.Contains(got, "one") || !strings.Contains(got, "two") || strings.Contains(got, "You said") {
			t.Errorf("the screen is\n%s", got)
		}
		l.send("\r")
		l.sees("You said: one")
		l.send("\x03\x03")
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	})
}

// Resizes by the hundred end with a screen of the last size.
func TestResizeStorm(t *testing.T) {
	l := startPty(t, "forget")
	l.sees("sonnet")
	for i := range 200 {
		if err := pty.Setsize(l.pty, &pty.Winsize{Rows: uint16(12 + i%40), Cols: uint16(30 + i%90)}); err != nil {
			t.Fatal(err)
		}
	}
	l.mu.Lock()
	l.emu.Resize(100, 30)
	l.mu.Unlock()
	if err := pty.Setsize(l.pty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	l.prompt("after the storm")
	l.sees("You said: after the storm")
	l.send("\x03\x03")
	if err := l.wait(); err != nil {
		t.Error(err)
	}
	l.restored()
}

// Without a terminal there is an error that names the way without one, at once.
func TestNoTerminal(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), "TERM=xterm", childVariable+"=show")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "-p") {
		t.Errorf("%v: %s", err, out)
	}
}

// children are the processes a process started and that live.
func children(t *testing.T, pid int) []int {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		var child, parent int
		if _, err := fmt.Sscan(line, &child, &parent); err == nil && parent == pid {
			pids = append(pids, child)
		}
	}
	return pids
}

// zombie tells whether a process ended and nobody asked for its status.
func zombie(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
