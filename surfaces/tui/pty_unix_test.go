//go:build linux

package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"starling/bus/view"
)

const childVariable = "TUI_TEST_CHILD"

// TestMain is the program under test as well: run anew inside a terminal it is a
// session over a driver that repeats what it was told.
func TestMain(m *testing.M) {
	if how := os.Getenv(childVariable); how != "" {
		os.Exit(child(how))
	}
	goleak.VerifyTestMain(m)
}

// shell runs the session as a job of its own, as a shell does: it says when the job
// stopped, and continues it after a line.
func shell() int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTTIN)
	c := exec.Command(self)
	c.Env = append(os.Environ(), childVariable+"=show")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := c.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	front := func(group int) {
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, group); err != nil {
			fmt.Println(err)
		}
	}
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil {
			fmt.Println(err)
			return 1
		}
		if !status.Stopped() {
			front(syscall.Getpgrp())
			return status.ExitStatus()
		}
		front(syscall.Getpgrp())
		fmt.Println("job stopped")
		for key := []byte{0}; key[0] != '\n'; { // the emulator may have answered something before
			if _, err := os.Stdin.Read(key); err != nil {
				return 1
			}
		}
		front(c.Process.Pid)
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGCONT); err != nil {
			fmt.Println(err)
			return 1
		}
	}
}

func child(how string) int {
	if how == "job" {
		return shell()
	}
	o := Options{Plain: how == "plain", Forget: how == "forget"}
	s, err := New(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	e := &engine{mode: "ask", status: view.Status{Workspace: "shop", Model: "sonnet"}}
	e.run = func(ctx context.Context, text string) view.Outcome {
		out := view.Outcome{Stop: "end"}
		switch text {
		case "panic":
			panic("the driver broke")
		case "loop panic":
			s.in.do(func() { panic("the loop broke") })
		case "wait", "wait again":
			<-ctx.Done()
			out.Stop = "aborted"
		}
		e.mu.Lock()
		e.status.Session = "s1"
		e.mu.Unlock()
		s.in.write(reply, "", "You said: "+text+"\n")
		return out
	}
	if err := s.Run(context.Background(), ready(e)); err != nil {
		var sig *Signalled
		if errors.As(err, &sig) {
			return 128 + int(sig.Signal.(syscall.Signal))
		}
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// terminal under test: the program in a pseudo terminal, and an emulator that reads
// what it draws.
type ptyLab struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File
	tty *os.File // kept open, so that its modes can be read after the program went

	mu  sync.Mutex
	emu *vt.Emulator
	raw bytes.Buffer
	end chan error
}

func startPty(t *testing.T, how string, env ...string) *ptyLab {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(p, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &ptyLab{t: t, pty: p, tty: tty, emu: vt.NewEmulator(80, 24), end: make(chan error, 1)}
	l.cmd = exec.Command(self)
	l.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "NO_COLOR=", childVariable+"="+how)
	l.cmd.Env = append(l.cmd.Env, env...)
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = tty, tty, tty
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 32<<10)
		for {
			n, err := p.Read(buf)
			l.mu.Lock()
			l.raw.Write(buf[:n])
			if _, werr := l.emu.Write(buf[:n]); werr != nil {
				t.Errorf("the emulator: %v", werr)
			}
			l.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	answers := make(chan struct{})
	go func() { // what the emulator answers goes to the program
		defer close(answers)
		buf := make([]byte, 1024)
		for {
			n, err := l.emu.Read(buf)
			if err != nil {
				return
			}
			if _, err := p.Write(buf[:n]); err != nil {
				continue // nobody reads any more; the emulator must not block
			}
		}
	}()
	go func() { l.end <- l.cmd.Wait() }()
	t.Cleanup(func() {
		if l.cmd.ProcessState == nil {
			if err := l.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		}
		for _, f := range []*os.File{tty, p} {
			if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // a test may have taken it away
				t.Error(err)
			}
		}
		<-read
		// Its pipe, not the emulator: Close is not made for a reader beside it.
		if err := l.emu.InputPipe().(io.Closer).Close(); err != nil {
			t.Error(err)
		}
		<-answers
	})
	return l
}

func (l *ptyLab) screen() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.emu.String()
}

func (l *ptyLab) output() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.raw.String()
}

func (l *ptyLab) sees(text string) {
	l.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(l.screen(), text) {
			return
		}
	}
	l.t.Fatalf("never: %q; the screen is\n%s", text, l.screen())
}

// gone waits until a text is not on the screen any more.
func (l *ptyLab) gone(text string) {
	l.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !strings.Contains(l.screen(), text) {
			return
		}
	}
	l.t.Fatalf("it stays: %q; the screen is\n%s", text, l.screen())
}

func (l *ptyLab) send(text string) {
	l.t.Helper()
	if _, err := l.pty.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
}

// prompt sends a line as a paste and Enter: typed at once it would be held for a
// burst.
func (l *ptyLab) prompt(text string) {
	l.t.Helper()
	l.send(pasteBegin + text + pasteEnd)
	l.sees(text)
	l.send("\r")
}

func (l *ptyLab) wait() error {
	l.t.Helper()
	select {
	case err := <-l.end:
		l.end <- err
		return err
	case <-time.After(patience):
		l.t.Fatalf("it does not end; the screen is\n%s", l.screen())
		return nil
	}
}

// restored checks that the terminal is as it was: cooked, the ordinary screen, cursor
// shown, no mouse, no bracketed paste.
func (l *ptyLab) restored() {
	l.t.Helper()
	l.eventually(func() string {
		out := l.output()
		for _, pair := range [][2]string{
			{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?2004h", "\x1b[?2004l"}, {"\x1b[?1002h", "\x1b[?1002l"},
		} {
			if on, off := strings.LastIndex(out, pair[0]), strings.LastIndex(out, pair[1]); on >= 0 && off < on {
				return fmt.Sprintf("%q is not taken back", pair[0])
			}
		}
		return l.cooked()
	})
}

// leaves waits for a text on the ordinary screen.
func (l *ptyLab) leaves(text string) {
	l.t.Helper()
	l.eventually(func() string {
		out := l.output()
		left := out[max(strings.LastIndex(out, "\x1b[?1049l"), 0):]
		if strings.Contains(left, text) {
			return ""
		}
		return fmt.Sprintf("%q is not on the ordinary screen: %q", text, left)
	})
}

// eventually waits until f has no complaint: what a program wrote is read a little
// after its end.
func (l *ptyLab) eventually(f func() string) {
	l.t.Helper()
	said := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if said = f(); said == "" {
			return
		}
	}
	l.t.Error(said)
}

func (l *ptyLab) cooked() string {
	mode, err := unix.IoctlGetTermios(int(l.tty.Fd()), unix.TCGETS)
	if err != nil {
		return err.Error()
	}
	if mode.Lflag&unix.ICANON == 0 || mode.Lflag&unix.ECHO == 0 {
		return "the terminal is left raw"
	}
	return ""
}

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
