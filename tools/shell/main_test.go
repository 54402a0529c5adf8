package shell

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if other := instead(); other != nil {
		os.Exit(other())
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come; it never decides
// whether something was fast enough.
const patience = 30 * time.Second

// newEngine returns an engine in a folder of its own that the test closes.
func newEngine(t *testing.T, change func(*Options)) *Engine {
	t.Helper()
	o := Options{Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C"}}
	if change != nil {
		change(&o)
	}
	e := New(o)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func run(t *testing.T, e *Engine, c Command) Outcome {
	t.Helper()
	o, err := e.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("run %s: %v", c, err)
	}
	return o
}

// lives tells whether pid is a process that has not ended.
func lives(pid int) bool {
	for _, e := range processTable() {
		if e.pid == pid {
			return !e.zombie
		}
	}
	return false
}

// pids reads the numbers a command printed.
func pids(t *testing.T, text string) []int {
	t.Helper()
	var out []int
	for _, word := range strings.Fields(text) {
		if n, err := strconv.Atoi(word); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no process numbers in %q", text)
	}
	return out
}

func mustEnd(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		until(t, "process "+strconv.Itoa(pid)+" ends", func() bool { return !lives(pid) })
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// started runs c on the side and returns once path exists.
func started(t *testing.T, e *Engine, ctx context.Context, c Command, path string) <-chan Outcome {
	t.Helper()
	done := make(chan Outcome, 1)
	go func() {
		o, err := e.Run(ctx, c)
		if err != nil {
			t.Errorf("run %s: %v", c, err)
		}
		done <- o
	}()
	until(t, path+" is written", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	return done
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func program(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
