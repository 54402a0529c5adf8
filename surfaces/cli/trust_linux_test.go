package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"starling/surfaces/cli"
)

// screen keeps what is printed and can be waited for.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	seen chan struct{} // closed at the first question
	once sync.Once
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.Contains(s.text.String(), "Trust this version") {
		s.once.Do(func() { close(s.seen) })
	}
	return len(p), nil
}

// openTerminal opens a new terminal: the end of the person, and that of programs.
func openTerminal(t *testing.T) (keys, terminal *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return keys, terminal
}

// An interrupt at the question of plugin trust ends it at once, with status 130
// and nothing stored; a y that is typed afterwards is left for whoever reads next.
func TestTrustIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	for name, text := range map[string]string{
		"ws/.starling/plugins/rules.star": "uses = [\"exec:git\"]\ndef apply(ctx): pass\n",
		"ws/.starling/plugins/rules.json": `{"mode": "strict"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	keys, terminal := openTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, errs := &screen{seen: make(chan struct{})}, &screen{seen: make(chan struct{})}
	status := make(chan int, 1)
	go func() {
		status <- cli.Main([]string{"starling", "plugin", "trust"}, cli.Process{
			Stdin: terminal, Stdout: out, Stderr: errs, Context: ctx, Cwd: filepath.Join(dir, "ws"), UserHome: home,
			LookupEnv: func(string) (string, bool) { return "", false },
		})
	}()
	select {
	case <-out.seen:
	case code := <-status:
		t.Fatalf("status %d before the question: %s", code, errs.text.String())
	}
	interrupt()
	select {
	case code := <-status:
		if code != 130 {
			t.Errorf("status %d", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("it did not end")
	}
	if said := errs.text.String(); said != "starling: the question was interrupted; nothing is stored\n" {
		t.Errorf("said %q", said)
	}
	if shown := out.text.String(); !strings.Contains(shown, `    rules.mode = "strict"`) || strings.Contains(shown, "trusted:") {
		t.Errorf("shown %q", shown)
	}
	if _, err := os.Stat(filepath.Join(home, ".starling", "trust.json")); !os.IsNotExist(err) {
		t.Errorf("something was stored: %v", err)
	}
	if _, err := keys.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(terminal).ReadString('\n'); err != nil || strings.TrimSpace(line) != "y" {
		t.Errorf("left to read: %q %v", line, err)
	}
}
