package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/bus/chat"
	"starling/bus/view"
	"starling/surfaces/tui/input"
)

// A file that the person attaches goes to the engine with the prompt that names it, and
// with a line that is sent into a run.
func TestAttachedFiles(t *testing.T) {
	e := &engine{offers: []string{"shot.png"}}
	e.run = func(ctx context.Context, _ string) view.Outcome {
		<-ctx.Done()
		return view.Outcome{Stop: "aborted"}
	}
	l := newLab(t, 80, 24, e)
	l.typed("look @shot")
	l.sees("shot.png")
	l.key(tcell.KeyCtrlO, 0, tcell.ModNone)
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.until("the prompt", func() bool { return len(e.said()) == 1 })
	if got := e.said()[0]; got != "look @shot.png" {
		t.Errorf("the prompt is %q", got)
	}
	l.sees("sent along: shot.png")
	l.in(func() { l.s.steer(input.Entry{Text: "and", Attached: []string{"b.txt"}}) })
	sent := func() []string {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.Clone(e.files)
	}
	l.until("the file of the second", func() bool { return len(sent()) == 2 })
	if got := sent(); !slices.Equal(got, []string{"shot.png", "b.txt"}) {
		t.Errorf("sent along: %q", got)
	}
}

// A key asks for files anew, and nobody waits for those of the key before it.
func TestFilesOfTheLastKey(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	e := &engine{offers: []string{"shot.png"}}
	e.look = func(ctx context.Context, query string) {
		if query == "s" {
			close(asked)
			<-ctx.Done()
			close(left)
		}
	}
	l := newLab(t, 80, 24, e)
	l.typed("@s")
	<-asked
	l.typed("h")
	l.sees("shot.png")
	l.until("the end of the first look", func() bool {
		select {
		case <-left:
			return true
		default:
			return false
		}
	})
}

// What was not taken comes back to the prompt with its files; so does what is fetched from
// the history.
func TestAttachedComesBack(t *testing.T) {
	e := &engine{}
	e.run = func(context.Context, string) view.Outcome {
		return view.Outcome{Stop: "error", Why: "a.zip is binary", Untaken: true}
	}
	l := newLab(t, 80, 24, e)
	entry := input.Entry{Text: "see @a.zip now", Attached: []string{"a.zip"}}
	l.in(func() { l.s.send(entry) })
	l.sees("a.zip is binary")
	l.sees("see [file a.zip] now")
	e.mu.Lock()
	e.run = nil
	e.mu.Unlock()
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.until("the prompt is empty", func() bool { return l.s.editor.Empty() && !l.s.live.Load() })
	l.key(tcell.KeyUp, 0, tcell.ModNone)
	l.until("it is back", func() bool { return !l.s.editor.Empty() })
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.until("three prompts", func() bool { return len(e.said()) == 3 })
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.files, []string{"a.zip", "a.zip", "a.zip"}) {
		t.Errorf("sent along: %q", e.files)
	}
}

// An image that is dropped on the terminal is attached; its path stays text where there is
// none, as of a folder.
func TestDroppedImage(t *testing.T) {
	home := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(home, "shot.png"), nil, 0o600), os.Mkdir(filepath.Join(home, "dir.png"), 0o700)); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color", "HOME": home}
	l := newLabWith(t, 100, 24, &engine{}, Options{Forget: true, Theme: "dark", Env: func(k string) string { return env[k] }}, nil)
	for text, want := range map[string]string{"~/shot.png": "[file ~/shot.png]", "~/dir.png": "~/dir.png", "~/none.png": "~/none.png"} {
		l.in(func() { l.s.editor.Paste(text) })
		l.sees(want)
		l.in(func() { l.s.editor.SetText("") })
	}
}

// Of a message with files an old conversation shows what the person wrote, and not the
// files.
func TestReplayOfAttached(t *testing.T) {
	m := chat.TextMessage(chat.User, "look\n@notes.txt")
	m.Blocks = append(m.Blocks, chat.Block{Kind: chat.Text, Text: "notes.txt:\n1\tremember"}, chat.Block{Kind: chat.Text, Text: "[shot.png: PNG image, 9 bytes]"}, chat.Block{Kind: chat.Image, Data: []byte("i")})
	l := newLab(t, 80, 24, &engine{past: []chat.Message{m}})
	l.sees("@notes.txt")
	l.sees("sent along: notes.txt, shot.png")
	if strings.Contains(l.text(), "remember") {
		t.Errorf("the file is in\n%s", l.text())
	}
}
