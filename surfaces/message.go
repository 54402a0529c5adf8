package surfaces

// Message is one thing that happened, as update gets it. Which fields count is
// decided by Kind; Fields tells.
type Message struct {
	Kind string // one of the constants below

	Code      string   // key: the character, or a name such as "enter" or "f5"
	Modifiers []string // key: "ctrl", "alt", "shift"

	Button string // mouse: "left", "middle", "right", "wheel-up", "wheel-down"
	Action string // mouse: "press", "release", "drag", "wheel"
	Row    int    // mouse: zero-based, within the panel; 0 from a web host
	Column int    // mouse
	Target string // mouse: id of the widget; "" for none
	Host   string // mouse: "terminal" or "web"

	Text string // paste

	ID    string // select, press, change, submit
	Value any    // select, press: id or zero-based index; change, submit: text

	Width  int  // resize, in cells
	Height int  // resize
	Gained bool // focus

	Name    string // msg
	Payload any    // msg: plain data
}

// The kinds of messages.
const (
	KeyMessage    = "key"
	MouseMessage  = "mouse"
	PasteMessage  = "paste"
	SelectMessage = "select" // the mark of a list, table or tree moved
	PressMessage  = "press"  // Enter or a click on a button or an item
	ChangeMessage = "change" // an input was edited
	SubmitMessage = "submit" // Enter in an input, Ctrl-Enter in a multi-line one
	ResizeMessage = "resize"
	FocusMessage  = "focus"
	TickMessage   = "tick"
	UserMessage   = "msg" // from send, or from another plugin
)

// Fields returns kind and the fields of the kind as plain data, by the names
// plugins read.
func (m Message) Fields() map[string]any {
	f := map[string]any{"kind": m.Kind}
	switch m.Kind {
	case KeyMessage:
		mods := make([]any, len(m.Modifiers))
		for i, x := range m.Modifiers {
			mods[i] = x
		}
		f["code"], f["modifiers"] = m.Code, mods
	case MouseMessage:
		f["button"], f["action"], f["host"] = m.Button, m.Action, m.Host
		f["row"], f["column"] = int64(m.Row), int64(m.Column)
		f["target"] = nil
		if m.Target != "" {
			f["target"] = m.Target
		}
	case PasteMessage:
		f["text"] = m.Text
	case SelectMessage, PressMessage, ChangeMessage, SubmitMessage:
		f["id"], f["value"] = nil, m.Value
		if m.ID != "" {
			f["id"] = m.ID
		}
	case ResizeMessage:
		f["width"], f["height"] = int64(m.Width), int64(m.Height)
	case FocusMessage:
		f["gained"] = m.Gained
	case UserMessage:
		f["name"], f["payload"] = m.Name, m.Payload
	}
	return f
}

// KeyNames are the codes of keys that are no character.
func KeyNames() []string {
	return []string{
		"enter", "backspace", "tab", "backtab", "up", "down", "left", "right", "pageup", "pagedown",
		"home", "end", "delete", "insert", "space",
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
	}
}
