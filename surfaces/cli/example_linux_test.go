package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// window is a session in a terminal that draws, read by an emulator.
type window struct {
	*lab
	keys *os.File
	pid  int
	over chan struct{} // closed at the end of the session
	err  error         // how it ended, after over

	mu  sync.Mutex
	emu *vt.Emulator
}

// open starts a session on a screen of that size.
func (l *lab) open(columns, rows int, args ...string) *window {
	l.t.Helper()
	keys, terminal := openTerminal(l.t)
	w := &window{lab: l, keys: keys, over: make(chan struct{}), emu: vt.NewEmulator(columns, rows)}
	w.size(columns, rows)
	cmd := exec.Command("starling", args...)
	cmd.Dir, cmd.Env = l.ws, append([]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, l.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	w.pid = cmd.Process.Pid
	go func() {
		w.err = cmd.Wait()
		close(w.over)
	}()
	var copying sync.WaitGroup
	copying.Go(func() { // what is drawn goes to the emulator
		buf := make([]byte, 32<<10)
		for {
			n, err := keys.Read(buf)
			w.mu.Lock()
			_, _ = w.emu.Write(buf[:n]) // it takes everything
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	copying.Go(func() { // what the emulator answers goes to the program
		buf := make([]byte, 1<<10)
		for {
			n, err := w.emu.Read(buf)
			if err != nil {
				return
			}
			_, _ = keys.Write(buf[:n]) // nobody reads at the end
		}
	})
	l.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-w.over
		_ = keys.Close()
		_ = terminal.Close()
		// Its own Close races with a Read that waits; the pipe alone ends the loop.
		if pipe, ok := w.emu.InputPipe().(io.Closer); ok {
			_ = pipe.Close()
		}
		copying.Wait()
	})
	return w
}

// size changes that of the terminal, as a person who pulls at the window.
func (w *window) size(columns, rows int) {
	w.t.Helper()
	w.mu.Lock()
	w.emu.Resize(columns, rows)
	w.mu.Unlock()
	if err := unix.IoctlSetWinsize(int(w.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.emu.String()
}

// sees waits until every text is on the screen.
func (w *window) sees(texts ...string) {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.t.Log("\n" + w.screen())
		}
	}()
	for _, text := range texts {
		w.eventually(text, func() bool { return strings.Contains(w.screen(), text) })
	}
}

func (w *window) press(keys string) {
	w.t.Helper()
	if _, err := w.keys.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

// leaves waits for an end of the session that is no failure.
func (w *window) leaves() {
	w.t.Helper()
	select {
	case <-w.over:
		if w.err != nil {
			w.t.Errorf("%v\n%s", w.err, w.screen())
		}
	case <-time.After(time.Minute):
		w.t.Fatalf("it goes on\n%s", w.screen())
	}
}

const (
	f6     = "\x1b[17~"
	escape = "\x1b"
)

// The three examples of the terminal stand side by side, on a large screen and on
// smaller ones: the person and the model write on one list, and a changed file has
// the tests run.
func TestExamplesOnScreen(t *testing.T) {
	l := newLab(t, nil)
	l.write("steps.star", `
call("shared_todos", items = [{"text": "read the handler", "done": True}, {"text": "write the limiter"}])
call("write", path = "limit.go", content = "package shop\n")
say("The list stands beside.")
call("shared_todos")
reply(lambda last: say("things of yours: %d" % last.count("and docs")))
`)
	l.write("home/plugins/tests.json", `{"command": "echo 'ok  shop/cart 0.01s'; echo '--- FAIL: TestLimit (0.02s)'; exit 1"}`)
	l.write("home/plugins/clock.json", `{"zone": "UTC"}`)
	examples, err := filepath.Abs("../../examples/plugins")
	if err != nil {
		t.Fatal(err)
	}
	var plugins []string
	for _, name := range []string{"panel", "clock", "tests"} {
		plugins = append(plugins, filepath.Join(examples, name+".star"))
	}
	w := l.open(120, 40, "--mode", "yolo", "--model", "script:"+filepath.Join(l.root, "steps.star"), "--plugin", strings.Join(plugins, ","))
	w.sees("panel/todos", "what is to be done?", "not run yet", "clock: ")

	w.press("plan it\r")
	w.sees("[x] read the handler", "[ ] write the limiter", "1 of 2", "The list stands beside.", "1 of 2 pass", "TestLimit")

	// The person writes on it. The input has the keys: it was there before the list.
	w.press(f6)
	w.sees("┏━ panel/todos")
	w.press("and docs")
	w.sees("› and docs")
	w.press("\r")
	w.sees("[ ] and docs", "1 of 3")
	w.press(escape)
	w.sees("┌─ panel/todos")
	w.press("what did I add?\r")
	w.sees("things of yours: 1")

	// Folded or not, every panel can be found at every size.
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}, {120, 40}} {
		w.size(size[0], size[1])
		// The last line stands in the last row only once it was drawn at this size.
		w.eventually("a screen of that size", func() bool {
			rows := strings.Split(w.screen(), "\n")
			return len(rows) == size[1] && strings.HasPrefix(rows[size[1]-1], " yolo")
		})
		w.sees("things of yours: 1", "[x] read")
	}
	w.sees("[ ] and docs", "TestLimit", "clock: ")
}
