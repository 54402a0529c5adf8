package bash

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"starling/bus/spec"
	"starling/tools/shell"
)

func TestMain(m *testing.M) {
	if other := instead(); other != nil {
		os.Exit(other())
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come; it never decides whether
// something was fast enough.
const patience = 30 * time.Second

// lab is the tool in a workspace of its own.
type lab struct {
	*Bash
	t      *testing.T
	engine *shell.Engine
	dir    string // the workspace
}

func newLab(t *testing.T, change func(*shell.Options, *Options)) *lab {
	t.Helper()
	dir := resolved(t.TempDir())
	e := shell.Options{
		Dir: dir, Outside: dir, Spill: filepath.Join(t.TempDir(), "spill"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LC_ALL=C"},
	}
	o := Options{Workspace: dir}
	if change != nil {
		change(&e, &o)
	}
	o.Engine = shell.New(e)
	t.Cleanup(func() {
		if err := o.Engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &lab{Bash: New(o), t: t, engine: o.Engine, dir: dir}
}

// result is what a call gave, with its details.
type result struct {
	spec.ToolResult
	Details
}

func (l *lab) try(ctx context.Context, line string, timeout int, progress func(string)) (result, error) {
	l.t.Helper()
	arguments := map[string]any{"command": line}
	if timeout > 0 {
		arguments["timeout_s"] = timeout
	}
	raw, err := json.Marshal(arguments)
	if err != nil {
		l.t.Fatal(err)
	}
	if progress == nil {
		progress = func(string) {}
	}
	r, err := l.Tool().Execute(ctx, spec.ToolCall{ID: "c", Name: "bash", Arguments: raw, Origin: "main", Progress: progress})
	out := result{ToolResult: r}
	if err == nil {
		if err := json.Unmarshal(r.Details, &out.Details); err != nil {
			l.t.Fatalf("details %s: %v", r.Details, err)
		}
	}
	return out, err
}

func (l *lab) run(line string) result {
	l.t.Helper()
	r, err := l.try(l.t.Context(), line, 0, nil)
	if err != nil {
		l.t.Fatalf("%s: %v", line, err)
	}
	return r
}

// lives tells whether a process has not ended; a zombie has.
func lives(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(b), ") Z ")
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// pids reads the numbers a command printed on lines of their own.
func pids(t *testing.T, text string) []int {
	t.Helper()
	var out []int
	for line := range strings.Lines(text) {
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no process numbers in %q", text)
	}
	return out
}
