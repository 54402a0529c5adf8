//go:build linux

package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTasks does what testdata/tasks.md lists, in a real terminal, as a person would.
// Without tmux it says so and proves nothing; CI has it.
func TestTasks(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Log("there is no tmux here: the tasks were not done")
		return
	}
	d := newDesk(t)
	var listed []string
	for line := range strings.Lines(readFile(t, "testdata/tasks.md")) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			listed = append(listed, text)
		}
	}
	if len(listed) != len(tasks) {
		t.Fatalf("%d tasks are listed, %d are done", len(listed), len(tasks))
	}
	for i, one := range tasks {
		words := strings.FieldsFunc(listed[i], func(r rune) bool { return strings.ContainsRune(":,./", r) })
		name := strings.ToLower(words[0])
		// Each task goes on where the one before left the screen.
		if !t.Run(fmt.Sprintf("%02d %s", i+1, name), func(t *testing.T) { d.t = t; one(d) }) {
			return
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// desk is a terminal of 110x34 with a shell in an empty home.
type desk struct {
	t            *testing.T
	socket       string
	shop, home   string // the workspace, and the home of the person
	examplesPath string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Abs("../../examples/plugins")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{
		t: t, socket: fmt.Sprintf("starling-test-%d-%s", os.Getpid(), t.Name()),
		shop: filepath.Join(dir, "shop"), home: filepath.Join(dir, "home"), examplesPath: examples,
	}
	d.write(filepath.Join(d.shop, "steps.star"), deskModel)
	d.write(filepath.Join(d.shop, "second.star"), deskSecond)
	d.write(filepath.Join(d.shop, "notes.txt"), "a line of notes\n")
	d.write(filepath.Join(d.home, ".profile"), "")
	shell := []string{"env", "-i", "HOME=" + d.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "PS1=shell> ", "TERM=screen-256color"}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		shell = append(shell, "GOCOVERDIR="+dir)
	}
	d.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "34", "-c", d.shop}, append(shell, "sh")...)...)
	t.Cleanup(func() {
		if out, err := exec.Command("tmux", "-L", d.socket, "kill-server").CombinedOutput(); err != nil {
			t.Logf("tmux kill-server: %v: %s", err, out)
		}
		// A session that was cut off still writes for a moment.
		for end := time.Now().Add(patience); os.RemoveAll(dir) != nil && time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		}
	})
	d.sees("shell>")
	return d
}

func (d *desk) tmux(args ...string) string {
	d.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", d.socket}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %s: %v: %s", args[0], err, out)
	}
	return string(out)
}

func (d *desk) write(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	// As an editor saves: a new file takes the place of the old one.
	if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		d.t.Fatal(err)
	}
}

// plugin saves a plugin in the home.
func (d *desk) plugin(name, text string) {
	d.t.Helper()
	d.write(filepath.Join(d.home, ".starling", "plugins", name), text)
}

func (d *desk) example(name string) string {
	d.t.Helper()
	return readFile(d.t, filepath.Join(d.examplesPath, name))
}

// typed sends characters, keys named keys.
func (d *desk) typed(text string) { d.t.Helper(); d.tmux("send-keys", "-l", text) }

func (d *desk) keys(names ...string) {
	d.t.Helper()
	d.tmux(append([]string{"send-keys"}, names...)...)
}

// line types a line, waits until it stands there and sends it. Enter at once would be
// the end of a burst, which is another path.
func (d *desk) line(text string) {
	d.t.Helper()
	d.typed(text)
	d.waits("the line "+text, func(screen string) bool { return strings.Contains(input(screen), text) })
	d.keys("Enter")
}

// input is the part of the screen below the last rule: where a person types.
func input(screen string) string {
	_, below, _ := cutLast(screen, strings.Repeat("─", 20))
	return below
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func (d *desk) screen() string { d.t.Helper(); return d.tmux("capture-pane", "-p") }

// patience is far more than any step takes on a busy machine.
const patience = 30 * time.Second

// waits until the screen is as ok wants it, and returns it.
func (d *desk) waits(what string, ok func(screen string) bool) string {
	d.t.Helper()
	screen := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if screen = d.screen(); ok(screen) {
			return screen
		}
	}
	d.t.Fatalf("never: %s; the screen is\n%s", what, screen)
	return ""
}

// sees waits for all texts at once.
func (d *desk) sees(texts ...string) string {
	d.t.Helper()
	return d.waits(fmt.Sprintf("%q", texts), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

// gone waits until a text is not there.
func (d *desk) gone(text string) string {
	d.t.Helper()
	return d.waits("without "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// idle waits for the end of the run.
func (d *desk) idle() string { d.t.Helper(); return d.gone("Esc stops") }

// pressed presses a key once and waits for what it does. A question ignores keys for a
// moment after it came; pressing again instead would reach whatever stands there next.
func (d *desk) pressed(key, what string, ok func(screen string) bool) string {
	d.t.Helper()
	time.Sleep(500 * time.Millisecond)
	d.keys(key)
	return d.waits(key+" and "+what, ok)
}

func has(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}

func hasNot(text string) func(string) bool {
	return func(screen string) bool { return !strings.Contains(screen, text) }
}

// paste pastes as a terminal does: between the marks.
func (d *desk) paste(text string) {
	d.t.Helper()
	cmd := exec.Command("tmux", "-L", d.socket, "load-buffer", "-")
	cmd.Stdin = bytes.NewReader([]byte(text))
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("load-buffer: %v: %s", err, out)
	}
	d.tmux("paste-buffer", "-p", "-r")
}

// file waits for a file of the workspace with a content.
func (d *desk) file(name, want string) {
	d.t.Helper()
	var got []byte
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if got, err = os.ReadFile(filepath.Join(d.shop, name)); err == nil && string(got) == want {
			return
		}
	}
	d.t.Fatalf("%s holds %q (%v), want %q", name, got, err, want)
}
