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
