package command

import (
	"context"
	"fmt"
	"time"

	"starling/surfaces"
	"starling/surfaces/tui/input"
)

// Session is what a command may ask of the session it is typed in. Every method may
// be called from any goroutine.
type Session interface {
	Driver
	// Running tells whether a run goes on.
	Running() bool
	// Queued are the lines that wait for its end, first one first.
	Queued() []string
	// Attached are the files that go with the next prompt.
	Attached() []string
	// Lines tells that the session is the line mode: there are no keys but those of the
	// terminal itself, and nothing that was printed changes.
	Lines() bool
	// Panels are the surfaces of plugins, closed ones too.
	Panels() []surfaces.Panel
	// AskAgain opens a question about trust that the person put off; false for none.
	AskAgain() bool
	// Theme is the name of the theme.
	Theme() string
	// Beside tells whether the panels beside are shown.
	Beside() bool
	// Keys are those of the editor.
	Keys() input.Keymap
	// Shortcuts are the other ones.
	Shortcuts() Shortcuts
	// Now is the time, for ages.
	Now() time.Time
}

// Reply is what a command comes to. All of it is optional, and several parts may be
// set: Do first, then Body is shown, then Prompt sent.
type Reply struct {
	// Body is shown in the conversation; the model does not see it. Within a view or
	// a choice its first line is enough.
	Body Body
	// Warn tells that Body says what went wrong.
	Warn bool
	Pick *Pick
	View *View
	// Prompt is sent as if it had been typed.
	Prompt string
	// Copy is put on the clipboard.
	Copy string
	Do   Action
	// Panel of ShowPanel.
	Panel surfaces.ID
	// Arg of the actions that say so.
	Arg string
	// Files of Attach and Steer.
	Files []string
}

// Action is something only the screen can do.
type Action int

// The actions.
const (
	None        Action = iota
	Quit               // leave the session
	ClearScreen        // empty the screen; the conversation stays
	Renew              // another session is on: show its conversation
	Sidebar            // show or hide the columns beside: Arg is "on" or "off"
	SetTheme           // Arg is its name
	ShowPanel          // give a panel the keys; the line mode prints it
	DropQueue          // drop the lines that wait; Arg is the number of one, or "" for all
	Attach             // Files go with the next prompt
	Detach             // none does
	Steer              // Arg goes into the run, with Files
)

// Pick is a choice. The screen filters the items as the person types; the line mode
// numbers them.
type Pick struct {
	Title string
	Items []Item
	// Mark is the item that is marked first.
	Mark int
	// Empty stands where there are no items.
	Empty string
	// Keys act on the marked item; the first one is Enter. Letters alone belong to the
	// filter.
	Keys []Key
}

// Item is one line of a choice.
type Item struct {
	ID   string
	Text string // what the filter looks at
	Note string // beside it
	// Detail is shown for the marked item.
	Detail string
}

// View fills the screen: text to scroll, rows to mark. The line mode prints what Load
// returns.
type View struct {
	Title string
	// Load reads what is shown. It is called at first, after every key that did
	// something, and each Every while the view is open; 0 is never.
	Load  func(ctx context.Context) Body
	Every time.Duration
	Keys  []Key
}

// Key is what a key does in a choice or a view.
type Key struct {
	// Chord as kit.Chord spells it.
	Chord string
	Help  string
	// Whole keys need no marked row; ID is then "" where none is marked.
	Whole bool
	// Leaves closes the choice or the view first; else a choice stays open too.
	Leaves bool
	Do     func(ctx context.Context, id string) Reply
}

func say(format string, args ...any) Reply { return Reply{Body: Say(fmt.Sprintf(format, args...))} }

func failed(format string, args ...any) Reply {
	r := say(format, args...)
	r.Warn = true
	return r
}

func failure(err error) Reply { return failed("%s", err) }

// note is what a driver said, else a sentence of one's own.
func note(said, format string, args ...any) Reply {
	if said != "" {
		return say("%s", said)
	}
	return say(format, args...)
}

// page is a view of text that does not change.
func page(title string, b Body) Reply {
	return Reply{View: &View{Title: title, Load: func(context.Context) Body { return b }}}
}
