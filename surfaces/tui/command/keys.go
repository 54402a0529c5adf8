package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"starling/surfaces"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
)

// Global is something a key does wherever the keys are, but in a question.
type Global string

// The global actions.
const (
	Stop       Global = "stop"         // what runs; in a panel, back to the prompt
	Leave      Global = "leave"        // twice: leave the session
	Panels     Global = "panels"       // the keys go to the next panel, then back
	PanelsBack Global = "panels-back"  // the other way round
	NextModeOf Global = "mode"         // the next permission mode
	Thoughts   Global = "thoughts"     // fold and unfold thoughts
	Outputs    Global = "outputs"      // how much of what tools print is shown
	PageUp     Global = "page-up"      // of the conversation
	PageDown   Global = "page-down"    // of the conversation
	LineUp     Global = "line-up"      // of the conversation
	LineDown   Global = "line-down"    // of the conversation
	Beginning  Global = "beginning"    // of the conversation
	Follow     Global = "conversation" // its end
	Suspend    Global = "suspend"
	Repaint    Global = "repaint"
	Keys       Global = "keys" // the page with the keys
)

// globals are in the order of the page with the keys.
var globals = []struct {
	do     Global
	chords []string
	help   string
}{
	{Stop, []string{"esc"}, "stop what runs; in a panel, back to the prompt"},
	{Leave, []string{"ctrl+c"}, "clear the prompt; twice, leave"},
	{Panels, []string{"f6"}, "go to the next panel, then back to the prompt"},
	{PanelsBack, []string{"shift+f6"}, "the same, the other way round"},
	{NextModeOf, []string{"backtab"}, "the next permission mode"},
	{Thoughts, []string{"ctrl+t"}, "show or fold what the model thinks"},
	{Outputs, []string{"alt+o"}, "show what tools print: the first 15 lines, all, none"},
	{PageUp, []string{"pageup"}, "read back"},
	{PageDown, []string{"pagedown"}, "read on"},
	{LineUp, []string{"shift+up", "alt+up"}, "a line back"},
	{LineDown, []string{"shift+down", "alt+down"}, "a line on"},
	{Beginning, []string{"ctrl+home", "home"}, "the beginning of the conversation, while the prompt is empty"},
	{Follow, []string{"end", "ctrl+end"}, "follow what comes, while the prompt is empty"},
	{Repaint, []string{"ctrl+l"}, "draw the screen anew"},
	{Suspend, []string{"ctrl+z"}, "back to the shell; fg comes back"},
	{Keys, []string{"?", "f1"}, "the page with the keys; a character alone opens it while the prompt is empty"},
}

// Shortcuts are the keys that are not the editor's, chord to action; chords are
// spelled as kit.Chord does. Those that are the editor's too are its while something
// is written.
type Shortcuts map[string]Global

// DefaultShortcuts returns those a session begins with.
func DefaultShortcuts() Shortcuts {
	out := Shortcuts{}
	for _, g := range globals {
		for _, chord := range g.chords {
			out[chord] = g.do
		}
	}
	return out
}

// Key is how a hint names the key of an action; "" where it has none.
func (s Shortcuts) Key(do Global) string { return kit.KeyOf(s, do) }

// Globals lists the global actions.
func Globals() []Global {
	var all []Global
	for _, g := range globals {
		all = append(all, g.do)
	}
	return all
}

// ActionNames lists what a key can be bound to.
func ActionNames() []string {
	var all []string
	for _, do := range Globals() {
		all = append(all, string(do))
	}
	for _, a := range input.Actions() {
		all = append(all, string(a))
	}
	slices.Sort(all)
	return all
}

// CheckKey reads one binding of a person and returns the chord as kit.Chord spells
// it. The action "" takes the key away.
func CheckKey(key, action string) (chord string, err error) {
	if chord, err = kit.ParseChord(key); err != nil {
		return "", err
	}
	switch {
	case chord == "esc" || chord == "ctrl+c":
		return "", fmt.Errorf("%q: %s stops and leaves, whatever else is bound; take another key", key, kit.Spell(chord))
	case len([]rune(chord)) == 1 && action != string(Keys) && (action != "" || chord != "?"), chord == "space":
		return "", fmt.Errorf("%q alone is text; put ctrl+ or alt+ before it, as in \"alt+%s\"", key, chord)
	case action == "" || slices.Contains(ActionNames(), action):
		return chord, nil
	}
	if meant := surfaces.Nearest(action, ActionNames()); meant != "" {
		return "", fmt.Errorf("there is no action %q; did you mean %q?", action, meant)
	}
	return "", fmt.Errorf("there is no action %q; it is one of %s", action, strings.Join(ActionNames(), ", "))
}

// Bind returns the keys of a session with those of a person over the usual ones, key
// to action. A key has one action: one that is bound anew loses its others.
func Bind(own map[string]string) (input.Keymap, Shortcuts, error) {
	keys, others := input.DefaultKeys(), DefaultShortcuts()
	for _, key := range slices.Sorted(maps.Keys(own)) {
		chord, err := CheckKey(key, own[key])
		if err != nil {
			return nil, nil, err
		}
		delete(keys, chord)
		delete(others, chord)
		switch action := own[key]; {
		case action == "":
		case slices.Contains(Globals(), Global(action)):
			others[chord] = Global(action)
		default:
			keys[chord] = input.Action(action)
		}
	}
	if keys.Key(input.Send) == "" {
		return nil, nil, fmt.Errorf("no key is left that sends; give one the action %q", input.Send)
	}
	return keys, others, nil
}

// KeyGroup is a section of the page with the keys.
type KeyGroup struct {
	Title string
	Keys  []KeyHelp
}

// KeyHelp is one line of it.
type KeyHelp struct {
	Keys, Help string
	Action     string // what the keys are bound to; "" where they are fixed
}

// KeyGroups is the page with the keys, for the keys the session has.
func KeyGroups(m input.Keymap, others Shortcuts) []KeyGroup {
	session := KeyGroup{Title: "Session"}
	for _, g := range globals {
		if keys := listed(others, g.do); keys != "" {
			session.Keys = append(session.Keys, KeyHelp{keys, g.help, string(g.do)})
		}
	}
	editor := KeyGroup{Title: "Prompt"}
	for _, a := range input.Actions() {
		if keys := listed(m, a); keys != "" {
			editor.Keys = append(editor.Keys, KeyHelp{keys, editorHelp[a], string(a)})
		}
	}
	queue := KeyGroup{Title: "Lines that wait"}
	if up := m.Key(input.Up); up != "" {
		queue.Keys = append(queue.Keys, KeyHelp{Keys: up, Help: "in the first line of the prompt: mark the last one that waits"})
	}
	queue.Keys = append(queue.Keys,
		KeyHelp{Keys: "Enter", Help: "take it back into the prompt"},
		KeyHelp{Keys: "Alt-Enter", Help: "send it into the run that goes on"},
		KeyHelp{Keys: "Del", Help: "drop it"},
	)
	return []KeyGroup{session, editor, queue}
}

// LineKeys is the page with the keys of the line mode.
func LineKeys() []KeyGroup {
	return []KeyGroup{{Title: "Lines", Keys: []KeyHelp{
		{Keys: `\ at the end`, Help: "the line goes on in the next one"},
		{Keys: "an empty line", Help: "send the lines that wait since you stopped something"},
		{Keys: "Ctrl-C", Help: "stop what runs, drop what is half typed; twice, leave"},
		{Keys: "Ctrl-D", Help: "leave, once all that waits is done"},
	}}}
}

// stopKey names the key that stops what runs.
func stopKey(s Session) string {
	if s.Lines() {
		return "Ctrl-C"
	}
	return s.Shortcuts().Key(Stop)
}

// shownChords is how many keys of one action are listed.
const shownChords = 3

// listed are the keys of an action: one that every terminal sends, then simple ones.
func listed[A comparable](table map[string]A, action A) string {
	var names []string
	if key := kit.KeyOf(table, action); key != "" {
		names = append(names, key)
	}
	for _, chord := range kit.ChordsOf(table, action) {
		if name := kit.Spell(chord); len(names) < shownChords && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
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
