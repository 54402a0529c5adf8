package kit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"starling/surfaces/tui/kit"
)

func TestParseChord(t *testing.T) {
	for text, want := range map[string]string{
		"ctrl+j": "ctrl+j", "Ctrl-J": "ctrl+j", "CTRL+SHIFT+X": "ctrl+shift+x", "Alt-Enter": "alt+enter", "shift+alt+up": "alt+shift+up",
		"Shift-Tab": "backtab", "tab": "tab", "PgUp": "pageup", "Page-Down": "pagedown", "Del": "delete", "escape": "esc", "F12": "f12",
		"shift+a": "A", "alt+shift+z": "alt+Z", "alt+Z": "alt+z", "Alt-Shift-Z": "alt+Z", "Z": "Z", "?": "?", "+": "+", "ctrl++": "ctrl++", "ctrl+-": "ctrl+-", "-": "-",
		"space": "space", " ": "space", "ctrl+space": "ctrl+space", "alt+ü": "alt+ü", "ctrl+_": "ctrl+_", "ctrl+alt+m": "ctrl+alt+m",
	} {
		if got, err := kit.ParseChord(text); got != want || err != nil {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":              `there is no key ""; a key is a character, f1 to f12 or one of backspace`,
		"ctrl+":         `there is no key "ctrl+"`,
		"crtl+s":        `there is no key "crtl+s"; did you mean "ctrl+s"?`,
		"entre":         `did you mean "enter"?`,
		"f13":           `there is no key "f13"`,
		"ctrl+ctrl+a":   "has ctrl twice",
		"shift+1":       `Shift makes another character of "1"; write that one`,
		"ctrl+i":        `a terminal sends the same for Tab; write "tab"`,
		"Ctrl-M":        `write "enter"`,
		"ctrl+[":        `write "esc"`,
		"alt+\u202e":    "there is no key",
		"alt+\x1b":      "there is no key",
		"alt+\xff":      "there is no key",
		"ctrl+alt+ente": `did you mean "enter"?`,
	} {
		if got, err := kit.ParseChord(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %s", text, got, err, want)
		}
	}
}

// What a terminal sends has the name a person can write, in both ways of writing it.
func TestParseChordProperty(t *testing.T) {
	keys := []tcell.Key{tcell.KeyRune, tcell.KeyRune, tcell.KeyEnter, tcell.KeyTab, tcell.KeyBacktab, tcell.KeyUp, tcell.KeyF1, tcell.KeyF12, tcell.KeyDelete, tcell.KeyCtrlA, tcell.KeyCtrlZ, tcell.KeyLF, tcell.KeyUS, tcell.KeyCtrlUnderscore, tcell.KeyCtrlSpace, tcell.KeyPgUp}
	rapid.Check(t, func(t *rapid.T) {
		mods := tcell.ModMask(rapid.IntRange(0, 7).Draw(t, "mods"))
		r := rapid.SampledFrom([]rune("aZ?+-_ ü漢1")).Draw(t, "rune")
		ev := tcell.NewEventKey(rapid.SampledFrom(keys).Draw(t, "key"), r, mods)
		chord := kit.Chord(ev)
		if chord == "" {
			t.Fatalf("%v %q %v has no name", ev.Key(), ev.Rune(), ev.Modifiers())
		}
		if ev.Key() == tcell.KeyRune && mods&tcell.ModCtrl != 0 && r == 'Z' {
			return // a terminal sends the letter for Ctrl-Shift-Z
		}
		for _, text := range []string{strings.ReplaceAll(kit.Spell(chord), "-", "+"), kit.Spell(chord)} {
			if strings.HasSuffix(chord, "-") {
				text = chord
			}
			if got, err := kit.ParseChord(text); err != nil || got != chord {
				t.Fatalf("%q of %q is read as %q, %v", text, chord, got, err)
			}
		}
	})
}

func TestSpell(t *testing.T) {
	for in, want := range map[string]string{
		"esc": "Esc", "ctrl+j": "Ctrl-J", "alt+enter": "Alt-Enter", "backtab": "Shift-Tab", "?": "?", "ctrl+_": "Ctrl-_",
		"alt+Z": "Alt-Shift-Z", "+": "+", "ctrl++": "Ctrl-+", "pageup": "PgUp", "f6": "F6", "": "",
	} {
		if got := kit.Spell(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// A hint names a key every terminal sends, where an action has one.
func TestKeyOf(t *testing.T) {
	table := map[string]int{"shift+enter": 1, "alt+enter": 1, "ctrl+j": 1, "alt+x": 2, "ctrl+alt+m": 2, "?": 3, "f1": 3}
	for action, want := range map[int]string{1: "Ctrl-J", 2: "Alt-X", 3: "?", 4: ""} {
		if got := kit.KeyOf(table, action); got != want {
			t.Errorf("%d: %q, want %q", action, got, want)
		}
	}
	if got := kit.ChordsOf(table, 1); !slices.Equal(got, []string{"shift+enter", "alt+enter", "ctrl+j"}) {
		t.Errorf("in the order %q", got)
	}
}
