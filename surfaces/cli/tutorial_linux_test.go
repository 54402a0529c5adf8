package cli_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTutorial does every step of docs/tutorial.md in a real terminal, in an empty
// home: what it tells to save is saved, what it tells to type is typed, and what it
// shows is seen. Without tmux it says so and proves nothing; CI has it.
func TestTutorial(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Log("there is no tmux here: the tutorial was not followed")
		return
	}
	d := newDesk(t)
	folder := filepath.Join(d.shop, "shop")
	steps := 0
	for _, part := range strings.Split(readFile(t, "../../docs/tutorial.md"), "\n```")[1:] {
		kind, text, _ := strings.Cut(part, "\n")
		if kind == "" {
			continue // the words behind a block
		}
		steps++
		switch kind {
		case "sh":
			for line := range strings.Lines(text) {
				d.typed(strings.TrimSpace(line))
				d.keys("Enter")
			}
		case "python":
			path, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
			d.write(filepath.Join(folder, path), text+"\n")
		case "screen":
			d.sees(strings.Split(strings.TrimSpace(text), "\n")...)
		case "keys":
			for _, key := range strings.Fields(text) {
				// A question is deaf at first, and what comes at once is a burst or a chord.
				time.Sleep(500 * time.Millisecond)
				d.keys(key)
			}
			time.Sleep(500 * time.Millisecond)
		case "type":
			d.line(strings.TrimSpace(text))
			time.Sleep(500 * time.Millisecond)
		default:
			t.Errorf("a block of kind %q", kind)
		}
	}
	if steps < 20 {
		t.Errorf("only %d steps were seen", steps)
	}
	d.sees("shell>")
}
