package kit

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/bus/view"
)

// Part is something on the screen. It embeds *tview.Box, which has the room, the
// focus and the rest of tview.Primitive; Draw paints the room that SetRect gave. All
// methods are called on the event loop and wait for nothing.
type Part interface {
	tview.Primitive
	// Key takes a key while the part has the focus; false leaves it to the program.
	Key(ev *tcell.EventKey) bool
	// Mouse takes what the mouse did within the room, or, after a press there, anywhere.
	Mouse(ev Mouse) bool
	// Paste takes pasted text, line ends as "\n"; false leaves it to the program.
	Paste(text string) bool
}

// Sized is a part that says how many rows it would fill at a width, at least 1.
type Sized interface {
	Part
	Rows(width int) int
}

// Modal is a dialog or picker over the rest. The program gives it the keys until it
// is Done; it is drawn above all else, in the room Room returns for a screen.
type Modal interface {
	Part
	Room(screen Rect) Rect
	Done() bool
}

// Host is what a part may ask of the program; every method may be called from any
// goroutine and returns at once.
type Host interface {
	// Redraw asks for a frame; many calls make one.
	Redraw()
	// Do runs f on the event loop, later, and draws.
	Do(f func())
	// Go runs f beside the event loop; done is then run on it, where it is not nil.
	Go(f func(), done func())
	Theme() *Theme
	Signs() *Signs
	// Say shows a line in the transcript.
	Say(n view.Notice)
}

// MouseAction is what the mouse did.
type MouseAction int

// The actions.
const (
	Press MouseAction = iota
	Release
	Drag
	WheelUp
	WheelDown
)

// Mouse is one thing the mouse did, in cells of the screen.
type Mouse struct {
	Action MouseAction
	Button tcell.ButtonMask // of a press, release or drag
	X, Y   int
	Mods   tcell.ModMask
}

// Clean is the way of foreign text to the screen: what could steer the terminal is
// gone, line ends and tabs stay. Join chunks before. What a person decides by is
// revealed instead.
func Clean(text string) string { return view.Clean(text) }

// CleanLine is Clean for one line.
func CleanLine(text string) string { return view.CleanLine(text) }

// Reveal is the way of what a person decides by: nothing is gone, what could steer the
// terminal is spelled out.
func Reveal(text string) string { return view.Reveal(text) }

// RevealLine is Reveal for one line.
func RevealLine(text string) string { return view.RevealLine(text) }
