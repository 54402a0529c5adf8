package input

import (
	"maps"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

// Action is something a key does in the editor.
type Action string

// The actions.
const (
	Send       Action = "send"
	Newline    Action = "newline"
	Left       Action = "left"
	Right      Action = "right"
	Up         Action = "up"
	Down       Action = "down"
	WordLeft   Action = "word-left"
	WordRight  Action = "word-right"
	LineStart  Action = "line-start"
	LineEnd    Action = "line-end"
	TextStart  Action = "text-start"
	TextEnd    Action = "text-end"
	Backspace  Action = "backspace"
	Delete     Action = "delete"
	KillWord   Action = "kill-word"       // before the caret
	KillNext   Action = "kill-next-word"  // behind the caret
	KillToEnd  Action = "kill-line-end"   // from the caret
	KillToHead Action = "kill-line-start" // to the caret
	Yank       Action = "yank"
	Swap       Action = "swap"
	Undo       Action = "undo"
	Redo       Action = "redo"
	Complete   Action = "complete"
	Attach     Action = "attach" // the marked file of the list, as a file
	External   Action = "external-editor"
)

// Keymap says which chord does what; chords are spelled as kit.Chord does.
type Keymap map[string]Action

// DefaultKeys returns the keys of the editor. Ctrl-Z is not among them: it suspends
// the program, so undo is Ctrl-_ (which terminals send for Ctrl-/ too) and Alt-Z.
func DefaultKeys() Keymap { return maps.Clone(defaultKeys) }

var defaultKeys = Keymap{
	"enter": Send,
	// Alt-Enter comes in two shapes, the second one from terminals of old.
	"shift+enter": Newline, "alt+enter": Newline, "ctrl+alt+m": Newline, "ctrl+j": Newline, "ctrl+enter": Newline,
	"left": Left, "ctrl+b": Left, "right": Right, "ctrl+f": Right,
	"up": Up, "ctrl+p": Up, "down": Down, "ctrl+n": Down,
	"ctrl+left": WordLeft, "alt+left": WordLeft, "alt+b": WordLeft,
	"ctrl+right": WordRight, "alt+right": WordRight, "alt+f": WordRight,
	"home": LineStart, "ctrl+a": LineStart, "end": LineEnd, "ctrl+e": LineEnd,
	"ctrl+home": TextStart, "alt+<": TextStart, "ctrl+end": TextEnd, "alt+>": TextEnd,
	"backspace": Backspace, "ctrl+h": Backspace, "shift+backspace": Backspace, "delete": Delete, "ctrl+d": Delete,
	"ctrl+w": KillWord, "alt+backspace": KillWord, "ctrl+backspace": KillWord,
	"alt+d": KillNext, "ctrl+delete": KillNext, "alt+delete": KillNext,
	"ctrl+k": KillToEnd, "ctrl+u": KillToHead, "ctrl+y": Yank,
	"ctrl+_": Undo, "ctrl+/": Undo, "alt+z": Undo, "alt+shift+z": Redo, "alt+Z": Redo, "alt+_": Redo,
	"tab": Complete, "ctrl+o": Attach, "ctrl+g": External, "alt+t": Swap,
}

// Actions lists every action.
func Actions() []Action {
	return []Action{
		Send, Newline, Left, Right, Up, Down, WordLeft, WordRight, LineStart, LineEnd, TextStart, TextEnd,
		Backspace, Delete, KillWord, KillNext, KillToEnd, KillToHead, Yank, Swap, Undo, Redo, Complete, Attach, External,
	}
}

// Key is how a hint names the key of an action; "" where it has none.
func (m Keymap) Key(a Action) string { return kit.KeyOf(m, a) }

// chord of a key.
func chord(ev *tcell.EventKey) string { return kit.Chord(ev) }

// letter returns the character a key types; 0 for a key that types none, as with Ctrl
// or Alt.
func letter(ev *tcell.EventKey) rune {
	if ev.Key() != tcell.KeyRune || ev.Modifiers()&^tcell.ModShift != 0 {
		return 0
	}
	if s := tidy(string(ev.Rune())); s == "" || s == "\n" {
		return 0
	}
	return ev.Rune()
}

// isEnter tells whether a key ends a line, as Enter or as what a raw paste sends for
// a line end.
func isEnter(c string) bool { return c == "enter" || c == "ctrl+j" }
