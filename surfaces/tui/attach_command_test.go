package tui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/input"
)

// written is the prompt as it stands.
func (l *lab) written() (text string, files []string) {
	l.t.Helper()
	l.in(func() { text, files = l.s.editor.Text(), l.s.editor.Attached() })
	return text, files
}

// enters types a line and sends it.
func (l *lab) enters(text string) {
	l.t.Helper()
	l.typed(text)
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
}

// On the screen /attach puts the file into the prompt; one that stands there already stays,
// whether another one is attached, what there is is shown, or nothing. /attach drop takes
// all of them out.
func TestAttachCommand(t *testing.T) {
	e := &engine{refuses: map[string]error{"z.zip": errors.New("z.zip is binary")}}
	l := newLab(t, 80, 24, e)
	l.enters("/attach a.png")
	l.sees("attached to the next prompt: a.png")
	l.sees("[file a.png]")
	l.in(func() { l.s.editor.Insert("look") })
	l.key(tcell.KeyEnter, 0, tcell.ModNone)
	l.until("the prompt", func() bool { return len(e.said()) == 1 && !l.s.live.Load() })
	if got := e.sent(); e.said()[0] != "@a.png look" || !slices.Equal(got, []string{"a.png"}) {
		t.Errorf("%q with %q", e.said(), got)
	}
	for _, c := range []struct{ line, says, text string }{
		{"/attach z.zip @b.txt", "z.zip is binary", "@b.txt "},
		{"/attach c.txt @b.txt", "attached to the next prompt: b.txt, c.txt", "@b.txt @c.txt "},
		{"/attach @b.txt", "attached to the next prompt: b.txt", "@b.txt "},
		{"/attach drop @b.txt", "not attached any more: b.txt", ""},
	} {
		l.in(func() {
			l.s.tr.Reset()
			l.s.editor.Clear()
			l.s.send(input.Entry{Text: c.line, Attached: []string{"b.txt"}})
		})
		l.sees(c.says)
		l.until(c.line, func() bool { return l.s.changing == 0 })
		if text, _ := l.written(); text != c.text {
			t.Errorf("%s: the prompt is %q, want %q", c.line, text, c.text)
		}
	}
	if got := e.said(); len(got) != 1 {
		t.Errorf("prompts %q", got)
	}
}

// Files of the command line stand in the prompt from the start; of one that cannot be read
// the session says so.
func TestAttachedFromTheStart(t *testing.T) {
	e := &engine{refuses: map[string]error{"none": errors.New("none: no such file")}}
	env := map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color"}
	l := newLabWith(t, 80, 24, e, Options{Attach: []string{"a.png", "none"}, Forget: true, Theme: "dark", Env: func(k string) string { return env[k] }}, nil)
	l.sees("[file a.png] [file none]")
	l.sees("none: no such file")
	if text, files := l.written(); text != "@a.png @none " || !slices.Equal(files, []string{"a.png", "none"}) {
		t.Errorf("%q with %q", text, files)
	}
}

// /steer sends a line into the run with the files that stand in it, and no other; what
// looks like a command of the shell is none there.
func TestSteerCommand(t *testing.T) {
	e := &engine{run: waiting}
	l := newLab(t, 80, 24, e)
	l.enters("begin")
	l.until("the run", func() bool { return len(e.said()) == 1 })
	l.in(func() {
		l.s.send(input.Entry{Text: "/steer !see @a.png", Attached: []string{"a.png"}})
		l.s.editor.AttachFile("b.txt")
	})
	l.sees("sent along: a.png")
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.steered, []string{"!see @a.png"}) || !slices.Equal(e.files, []string{"a.png"}) {
		t.Errorf("%q with %q", e.steered, e.files)
	}
}

// /queue drop N drops that line.
func TestQueueDropCommand(t *testing.T) {
	e := &engine{run: waiting}
	l := newLab(t, 80, 24, e)
	for _, text := range []string{"first", "second", "third", "/queue drop 1"} {
		l.in(func() { l.s.send(entry(text)) })
	}
	l.sees("dropped: second")
	l.until("one waits", func() bool { return l.s.queued() == 1 && l.s.editor.Queue().Entries()[0].Text == "third" })
}

// What a command changed on the screen is said, also where another session begins.
func TestCommandsSayWhatTheyDid(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	for _, c := range [][2]string{
		{"/theme light", "the theme is light"},
		{"/new", "another session begins"},
		{"/resume s-3", "the session s-3 goes on"},
	} {
		l.in(func() { l.s.send(entry(c[0])) })
		l.sees(c[1])
		l.until("the end of "+c[0], func() bool { return l.s.changing == 0 && len(l.s.jobs) == 0 })
		if !strings.Contains(l.text(), c[1]) {
			t.Errorf("%s: %q does not stay:\n%s", c[0], c[1], l.text())
		}
	}
}
