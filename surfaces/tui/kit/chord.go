package kit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"starling/bus/view"
	"starling/surfaces"
)

// modifiers in the order a chord has them.
var modifiers = []string{"ctrl", "alt", "shift"}

// otherNames are names of keys people write, and how a chord has them.
var otherNames = map[string]string{
	"escape": "esc", "return": "enter", "pgup": "pageup", "pgdn": "pagedown", "page-up": "pageup", "page-down": "pagedown",
	"del": "delete", "ins": "insert",
}

// sentAs are chords a terminal has no bytes of their own for.
var sentAs = map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}

// KeyNames lists the names of keys that are no character.
func KeyNames() []string {
	list := []string{"space"}
	for _, name := range names {
		list = append(list, name)
	}
	for i := 1; i <= 12; i++ {
		list = append(list, "f"+strconv.Itoa(i))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// ParseChord reads a key as a person writes it, such as "Ctrl-J" or "alt+enter", and
// returns it as Chord does. Behind Ctrl and Alt a letter is a small one, unless Shift is
// named too. The error says what is no key in it.
func ParseChord(text string) (string, error) {
	key, mods := strings.TrimSpace(text), map[string]bool{}
	if key == "" && text != "" {
		key = "space"
	}
	for {
		mod, rest, ok := cutModifier(key)
		if !ok {
			break
		}
		if mods[mod] {
			return "", fmt.Errorf("%q has %s twice", text, mod)
		}
		mods[mod], key = true, rest
	}
	if lower := strings.ToLower(key); utf8.RuneCountInString(key) > 1 {
		if key = otherNames[lower]; key == "" {
			key = lower
		}
	}
	switch {
	case key == "tab" && mods["shift"]:
		key, mods["shift"] = "backtab", false
	case utf8.RuneCountInString(key) != 1:
		if !slices.Contains(KeyNames(), key) {
			return "", noKey(text, key)
		}
	case !isText(key):
		return "", noKey(text, key)
	case mods["ctrl"]:
		key = strings.ToLower(key) // people write Ctrl-J
	case mods["shift"]:
		upper := strings.ToUpper(key)
		if upper == key && strings.ToLower(key) == key {
			return "", fmt.Errorf("%q: Shift makes another character of %q; write that one", text, key)
		}
		key, mods["shift"] = upper, false
	case mods["alt"]:
		key = strings.ToLower(key)
	}
	var out []string
	for _, m := range modifiers {
		if mods[m] {
			out = append(out, m)
		}
	}
	chord := strings.Join(append(out, key), "+")
	if real := sentAs[chord]; real != "" {
		return "", fmt.Errorf("%q: a terminal sends the same for %s; write %q", text, Spell(real), real)
	}
	return chord, nil
}

func cutModifier(key string) (mod, rest string, ok bool) {
	for _, m := range modifiers {
		if len(key) > len(m)+1 && strings.EqualFold(key[:len(m)], m) && strings.ContainsRune("+-", rune(key[len(m)])) {
			return m, key[len(m)+1:], true
		}
	}
	return "", key, false
}

// isText tells whether one character can be typed: it is none that steers.
func isText(key string) bool {
	r, _ := utf8.DecodeRuneInString(key)
	return r != utf8.RuneError && unicode.IsPrint(r) && view.CleanLine(key) == key
}

func noKey(text, key string) error {
	known := append(KeyNames(), slices.Collect(maps.Keys(otherNames))...)
	slices.Sort(known)
	if meant := surfaces.Nearest(key, known); meant != "" {
		return fmt.Errorf("%q: there is no key %q; did you mean %q?", text, key, meant)
	}
	if mod, _, found := strings.Cut(key, "+"); found {
		if meant := surfaces.Nearest(mod, modifiers); meant != "" {
			return fmt.Errorf("%q: there is no key %q; did you mean %q?", text, key, meant+strings.TrimPrefix(key, mod))
		}
	}
	return fmt.Errorf("%q: there is no key %q; a key is a character, f1 to f12 or one of %s, behind ctrl+, alt+ and shift+",
		text, key, strings.Join(slices.DeleteFunc(KeyNames(), func(n string) bool { return n[0] == 'f' && len(n) < 4 }), ", "))
}

// ChordsOf lists the keys of an action, simple ones first.
func ChordsOf[A comparable](table map[string]A, action A) []string {
	var chords []string
	for _, chord := range slices.Sorted(maps.Keys(table)) {
		if table[chord] == action {
			chords = append(chords, chord)
		}
	}
	slices.SortStableFunc(chords, func(x, y string) int { return cmp.Compare(weight(x), weight(y)) })
	return chords
}

// KeyOf is how a hint names the key of an action: one that every terminal knows where
// there is one, "" where there is none.
func KeyOf[A comparable](table map[string]A, action A) string {
	chords := ChordsOf(table, action)
	for _, chord := range chords {
		if everywhere(chord) {
			return Spell(chord)
		}
	}
	if len(chords) == 0 {
		return ""
	}
	return Spell(chords[0])
}

// everywhere tells whether every terminal sends a chord: a key alone, or Ctrl with a
// letter.
func everywhere(chord string) bool {
	letter, ctrl := strings.CutPrefix(chord, "ctrl+")
	return !strings.Contains(chord, "+") || chord == "+" || ctrl && len(letter) == 1
}

// weight orders chords: the fewer keys the sooner, then those more keyboards have.
func weight(chord string) int {
	if chord == "ctrl+alt+m" {
		return 99 // another shape of Alt-Enter
	}
	n := 0
	for _, mod := range []struct {
		name string
		cost int
	}{{"shift+", 2}, {"alt+", 3}, {"ctrl+", 4}} {
		if strings.Contains(chord, mod.name) {
			n += mod.cost
		}
	}
	return n
}

// Spell writes a chord as people do: "ctrl+j" is Ctrl-J.
func Spell(chord string) string {
	parts := strings.Split(chord, "+")
	if strings.HasSuffix(chord, "++") {
		parts = append(strings.Split(strings.TrimSuffix(chord, "++"), "+"), "+")
	}
	if chord == "+" || chord == "" {
		return chord
	}
	for i, p := range parts {
		parts[i] = spelled(p, len(parts) > 1)
	}
	return strings.Join(parts, "-")
}

func spelled(key string, modified bool) string {
	switch key {
	case "backtab":
		return "Shift-Tab"
	case "pageup":
		return "PgUp"
	case "pagedown":
		return "PgDn"
	case "delete":
		return "Del"
	case "insert":
		return "Ins"
	}
	_, first := utf8.DecodeRuneInString(key)
	switch alone := first == len(key); {
	case alone && !modified:
		return key
	case alone && key != strings.ToLower(key):
		return "Shift-" + key
	}
	return strings.ToUpper(key[:first]) + key[first:]
}
