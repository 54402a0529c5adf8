package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"starling/surfaces/tui/kit"
)

// What a terminal sends goes to the decoder as it came, in any portions that do not
// part an Escape from what follows.
func TestEscapesKeepKeys(t *testing.T) {
	keys := []string{
		"a", "é", "\x1b[A", "\x1bOA", "\x1bOP", "\x1b[1;3A", "\x1b\x1b[A", "\x1b[200~", "\x1b[201~", "\x1b[<0;10;10M", "\x1bf", "\x1b\r", "\x1b\x7f", "\x1b\x15",
		"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]11;rgb:0/0/0\x07", "\x1b[27u", "\x1b[78;3u", "\r", "漢",
	}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.SampledFrom(keys)).Draw(t, "keys")
		in := strings.Join(list, "")
		var e escapes
		out, from := "", 0
		for i := range len(in) + 1 {
			whole := i == len(in)
			parted := strings.HasSuffix(in[:i], "\x1b\x1b") || strings.HasSuffix(in[:i], "\x1b]") || strings.HasSuffix(in[:i], "\x1b]1")
			if !whole && (parted || !rapid.Bool().Draw(t, "cut")) {
				continue
			}
			out += string(e.apart([]byte(in[from:i])))
			from = i
		}
		if out += string(e.held); out != in {
			t.Fatalf("%q became %q", in, out)
		}
	})
}

// Esc and a character never begin something that swallows what is typed next.
func TestEscapesTellTyped(t *testing.T) {
	for in, want := range map[string]string{
		"\x1bNo": "\x1b[78;3uo", "\x1bX": "\x1b[88;3u", "\x1b^": "\x1b[94;3u", "\x1b_": "\x1b[95;3u", "\x1b\\": "\x1b[92;3u",
		"\x1b]": "\x1b[93;3u", "\x1b]x": "\x1b[93;3ux", "\x1bOK": "\x1b[79;3uK", "\x1bé": "\x1b[27ué", "\x1bx": "\x1bx",
	} {
		var e escapes
		if got := string(e.apart([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	var e escapes
	if out := string(e.apart([]byte("\x1b"))) + string(e.apart([]byte("Next"))); out != "\x1b[78;3uext" {
		t.Errorf("in two reads: %q", out)
	}
	if out := e.apart([]byte("\x1b\x1b")); len(out) != 0 || e.giveUp() != 0x1b {
		t.Errorf("Esc twice: %q", out)
	}
	for _, c := range "O[" {
		var e escapes
		if got := e.apart([]byte("\x1b" + string(c))); len(got) != 0 {
			t.Errorf("%q at once", got)
		}
		if got := e.giveUp(); got != c {
			t.Errorf("held %q, want %q", got, c)
		}
		if got := string(e.apart([]byte("x"))); got != "x" {
			t.Errorf("then %q", got)
		}
	}
}

// No key with Ctrl types a letter, and one with Alt that nothing is bound to is Esc
// and what was typed behind it.
func TestBehindEsc(t *testing.T) {
	l := newLab(t, 80, 24, &engine{run: waiting})
	bound := 0
	for r := rune(0x60); r < 0x80; r++ {
		for _, mods := range []tcell.ModMask{tcell.ModCtrl, tcell.ModCtrl | tcell.ModAlt, tcell.ModAlt} {
			if r == 'c' || r == 'z' || r == 'g' || r == 'l' || r == 'y' && mods != tcell.ModAlt {
				continue // leave, suspend, editor, repaint, put back what was cut
			}
			l.in(func() {
				l.s.editor.SetText("")
				if l.s.running == nil {
					l.s.prompt(entry("go"))
				}
				ev := tcell.NewEventKey(tcell.KeyRune, r, mods)
				_, ok := l.s.behindEsc(ev, kit.Chord(ev))
				stopping := l.s.running.stopping
				l.s.key(ev)
				text := strings.TrimSpace(l.s.editor.Text())
				switch {
				case mods == tcell.ModAlt && text == "":
					bound++
				case mods == tcell.ModAlt && (text != strings.TrimSpace(string(r)) || !ok || !l.s.running.stopping && !stopping):
					t.Errorf("Alt+%q typed %q", r, text)
				case mods != tcell.ModAlt && text != "":
					t.Errorf("%v+%q typed %q", mods, r, text)
				}
			})
		}
	}
	if bound > 8 {
		t.Errorf("%d keys with Alt do nothing", bound)
	}
}

// typedTeller is a terminal on which some bytes were typed.
type typedTeller struct {
	tcell.Tty
	bytes string
}

func (s *typedTeller) Read(p []byte) (int, error) {
	n := copy(p, s.bytes)
	s.bytes = s.bytes[n:]
	return n, nil
}

// Esc that is pressed while the terminal is asked for its background is heard, also
// where the terminal never answers: it does not wait for the next key.
func TestEscapeWhileAsking(t *testing.T) {
	term := newTerminal(&typedTeller{bytes: "\x1b"})
	heard := make(chan rune, 1)
	term.typed = func(r rune) { heard <- r }
	term.f.asked = true
	if n, err := term.Read(make([]byte, 8)); n != 0 || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	term.stopAsking()
	select {
	case r := <-heard:
		if r != 0x1b {
			t.Errorf("heard %q", r)
		}
	case <-time.After(patience):
		t.Error("nothing was heard")
	}
}
