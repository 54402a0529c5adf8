package command

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"starling/surfaces/tui/input"
)

// Global is something a key does wherever the keys are, but in a question.
type Global string

// The global actions.
const (
	Stop       Global = "stop"         // the run; in a panel, back to the prompt
	Leave      Global = "leave"        // twice: leave the session
	Panels     Global = "panels"       // the keys go to the next panel, then back
	NextModeOf Global = "mode"         // the next permission mode
	Thoughts   Global = "thoughts"     // fold and unfold thoughts
	Outputs    Global = "outputs"      // fold and unfold output of tools
	PageUp     Global = "page-up"      // of the conversation
	PageDown   Global = "page-down"    // of the conversation
	Follow     Global = "conversation" // its end
	Suspend    Global = "suspend"
	Repaint    Global = "repaint"
	Keys       Global = "keys" // the page with the keys; only on an empty prompt
)

// Shortcut is one row of the key table.
type Shortcut struct {
	Chord string // as kit.Chord spells it
	Do    Global
	Help  string
}

// Shortcuts are the keys that are not the editor's. The hints of the screen and the
// page of ? come from here.
func Shortcuts() []Shortcut {
	return []Shortcut{
		{"esc", Stop, "stop the run; in a panel, back to the prompt"},
		{"ctrl+c", Leave, "clear the prompt; twice, leave"},
		{"f6", Panels, "go to the next panel, then back to the prompt"},
		{"backtab", NextModeOf, "the next permission mode"},
		{"ctrl+t", Thoughts, "show or fold what the model thinks"},
		{"alt+o", Outputs, "show or fold what tools print"},
		{"pageup", PageUp, "read back"},
		{"pagedown", PageDown, "read on"},
		{"end", Follow, "follow what comes, while the prompt is empty"},
		{"ctrl+l", Repaint, "draw the screen anew"},
		{"ctrl+z", Suspend, "back to the shell; fg comes back"},
		{"?", Keys, "this page, while the prompt is empty; F1 always"},
	}
}

// GlobalOf returns what a chord does; "" for a key that is none of these.
func GlobalOf(chord string) Global {
	for _, s := range Shortcuts() {
		if s.Chord == chord {
			return s.Do
		}
	}
	return ""
}

// ChordOf returns the key of a global action as people write it.
func ChordOf(do Global) string {
	for _, s := range Shortcuts() {
		if s.Do == do {
			return Spell(s.Chord)
		}
	}
	return ""
}

// KeyGroup is a section of the page with the keys.
type KeyGroup struct {
	Title string
	Keys  []KeyHelp
}

// KeyHelp is one line of it.
type KeyHelp struct{ Keys, Help string }

// KeyGroups is the page with the keys, for the keys the editor has.
func KeyGroups(m input.Keymap) []KeyGroup {
	session := KeyGroup{Title: "Session"}
	for _, s := range Shortcuts() {
		session.Keys = append(session.Keys, KeyHelp{Spell(s.Chord), s.Help})
	}
	editor := KeyGroup{Title: "Prompt"}
	for _, a := range input.Actions() {
		if chords := chordsOf(m, a); chords != "" {
			editor.Keys = append(editor.Keys, KeyHelp{chords, editorHelp[a]})
		}
	}
	queue := KeyGroup{Title: "Lines that wait", Keys: []KeyHelp{
		{"Up", "in the first line of the prompt: mark the last one that waits"},
		{"Enter", "take it back into the prompt"},
		{"Alt-Enter", "send it into the run that goes on"},
		{"Del", "drop it"},
	}}
	return []KeyGroup{session, editor, queue}
}

// shownChords is how many keys of one action are listed.
const shownChords = 3

// chordsOf lists the keys of an action, simple ones first.
func chordsOf(m input.Keymap, a input.Action) string {
	var chords []string
	for _, chord := range slices.Sorted(maps.Keys(m)) {
		if m[chord] == a {
			chords = append(chords, chord)
		}
	}
	slices.SortStableFunc(chords, func(x, y string) int { return cmp.Compare(weight(x), weight(y)) })
	var names []string
	for _, chord := range chords {
		if name := Spell(chord); len(names) < shownChords && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
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
	if chord == "+" {
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
	}
	if len(key) == 1 && !modified {
		return key
	}
	if len(key) == 1 && key != strings.ToLower(key) {
		return "Shift-" + key
	}
	return strings.ToUpper(key[:1]) + key[1:]
}

// editorHelp says what the editor's actions do.
var editorHelp = map[input.Action]string{
	input.Send:       "send; during a run, queue",
	input.Newline:    "another line",
	input.Left:       "a character to the left",
	input.Right:      "a character to the right",
	input.Up:         "a line up; at the top, what was sent before",
	input.Down:       "a line down; at the bottom, back to the draft",
	input.WordLeft:   "a word to the left",
	input.WordRight:  "a word to the right",
	input.LineStart:  "start of the line",
	input.LineEnd:    "end of the line",
	input.TextStart:  "start of the text",
	input.TextEnd:    "end of the text",
	input.Backspace:  "delete before the caret",
	input.Delete:     "delete behind the caret",
	input.KillWord:   "cut the word before the caret",
	input.KillNext:   "cut the word behind the caret",
	input.KillToEnd:  "cut to the end of the line",
	input.KillToHead: "cut to the start of the line",
	input.Yank:       "put in what was cut",
	input.Swap:       "swap two characters",
	input.Undo:       "undo",
	input.Redo:       "undo the undo",
	input.Complete:   "complete a command or a path",
	input.Attach:     "attach the marked file",
	input.External:   "write in your editor",
}
