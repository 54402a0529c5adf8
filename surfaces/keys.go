package surfaces

import (
	"maps"
	"slices"
)

// Key hands a key to a surface: to the focused widget first, then, where that does
// not use it, to the plugin. answer is told once, as with Post, whether the key was
// used; if not, what the screen does by default applies. Tab goes to the next widget
// by itself unless the plugin consumed it. F6, Escape and Ctrl-C are the screen's and
// never used. A dialog ignores keys, pastes and clicks for 300 ms after it opened.
func (h *Host) Key(id ID, m Message, answer func(used bool)) {
	if answer == nil {
		answer = func(bool) {}
	}
	p := h.find(id)
	if p == nil || reserved(m) {
		answer(false)
		return
	}
	m.Kind = KeyMessage
	if !p.inTurn(func() bool { return p.key(m, answer) }) {
		answer(false)
	}
}

// key handles a key in its turn, and tells whether what follows has to wait for it.
func (p *panel) key(m Message, answer func(used bool)) (waits bool) {
	if p.early() || p.widgetKey(m) {
		answer(true)
		return false
	}
	if m.Code != "tab" && m.Code != "backtab" {
		p.post(m, newAnswer(answer))
		return false
	}
	p.post(m, newAnswer(func(consumed bool) {
		step := 1
		if m.Code == "backtab" {
			step = -1
		}
		answer(consumed || p.turn(step))
		p.resume()
	}))
	return true
}

// inTurn runs f now, or once the Tab before it has found its widget; f tells whether
// what follows has to wait for it in turn. It is false where too much waits already.
func (p *panel) inTurn(f func() (waits bool)) bool {
	p.mu.Lock()
	if p.turning {
		room := len(p.held) < maxQueue
		if room {
			p.held = append(p.held, f)
		}
		p.mu.Unlock()
		return room
	}
	p.turning = true
	p.mu.Unlock()
	if !f() {
		p.resume()
	}
	return true
}

// resume goes on with what waited, up to the next Tab.
func (p *panel) resume() {
	for {
		p.mu.Lock()
		if len(p.held) == 0 {
			p.turning = false
			p.mu.Unlock()
			return
		}
		f := p.held[0]
		p.held = p.held[1:]
		p.mu.Unlock()
		if f() {
			return
		}
	}
}

func reserved(m Message) bool {
	return m.Code == "f6" || m.Code == "esc" || m.Code == "escape" || m.Code == "c" && slices.Contains(m.Modifiers, "ctrl")
}

// Paste hands a pasted text to the focused input, else to the plugin.
func (h *Host) Paste(id ID, text string) {
	p := h.find(id)
	if p == nil || p.early() {
		return
	}
	taken := p.inTurn(func() bool {
		if !p.change(func(n *Node, w Widget) (Widget, []Message, bool) {
			if n.Type != Input {
				return w, nil, false
			}
			return edited(n, w, w.paste(text, n.Multiline))
		}) {
			p.post(Message{Kind: PasteMessage, Text: text}, nil)
		}
		return false
	})
	if !taken {
		h.report(id, "is more than %d keys behind; a paste is dropped", maxQueue)
	}
}

// Click focuses a widget by its key and, where index is not negative, marks and
// presses that item: of a list, a table, the visible branches of a tree, which opens
// or closes too. Of an input the index is the place of the caret in bytes; a button
// is pressed. A screen calls it when the plugin did not consume the mouse message.
func (h *Host) Click(id ID, widget string, index int) {
	p := h.find(id)
	if p == nil || p.early() || !p.focus(widget) {
		return
	}
	p.change(func(n *Node, w Widget) (Widget, []Message, bool) {
		switch n.Type {
		case Button:
			return w, []Message{{Kind: PressMessage, ID: n.ID, Value: nil}}, true
		case Input:
			if index >= 0 {
				w.Caret = clampCaret(w.Text, index)
			}
			return w, nil, true
		}
		if index < 0 || index >= lines(n, w) {
			return w, nil, true
		}
		w, messages := marked(n, w, index)
		messages = append(messages, pressed(n, w))
		if n.Type == Tree {
			if b := Branches(n, w)[w.Index]; len(b.Children) > 0 {
				w = toggle(n, w, b.Key, !b.Open)
			}
		}
		return w, messages, true
	})
}

// Focus tells a surface that it has the keys now, or no more.
func (h *Host) Focus(id ID, gained bool) {
	h.Post(id, Message{Kind: FocusMessage, Gained: gained}, nil)
}

// change applies f to the focused widget, queues what it reports, and tells whether
// the widget used it.
func (p *panel) change(f func(*Node, Widget) (Widget, []Message, bool)) bool {
	p.mu.Lock()
	n := p.focused()
	if n == nil || p.gone {
		p.mu.Unlock()
		return false
	}
	was := p.shown.Widgets[n.Key]
	w, messages, used := f(n, was)
	moved := false
	if used && !same(w, was) {
		next := p.shown
		next.Widgets = p.widgets()
		next.Widgets[n.Key] = w
		moved = p.publish(next)
	}
	for _, m := range messages {
		taken, _ := p.enqueue(posted{m: m})
		if list := p.edits[n.Key]; taken && m.Kind == ChangeMessage {
			list = append(list, edit{text: w.Text})
			p.edits[n.Key] = list[max(len(list)-maxEdits, 0):]
		}
	}
	p.start()
	p.mu.Unlock()
	if moved {
		p.h.changed(p.id)
	}
	return used
}

func same(a, b Widget) bool {
	return a.Index == b.Index && a.Branch == b.Branch && a.Text == b.Text && a.Caret == b.Caret && maps.Equal(a.Expanded, b.Expanded)
}

// focused is the widget that takes the keys, or nil. It needs mu.
func (p *panel) focused() *Node {
	var found *Node
	if p.shown.Tree != nil && p.shown.Focus != "" {
		p.shown.Tree.All(func(n *Node) bool {
			if n.Key == p.shown.Focus {
				found = n
			}
			return found == nil
		})
	}
	return found
}

// focus moves the keys to a widget; false when there is none of that key.
func (p *panel) focus(key string) bool {
	p.mu.Lock()
	ok, moved := slices.Contains(p.ring(), key), false
	if ok && key != p.shown.Focus {
		next := p.shown
		next.Focus = key
		moved = p.publish(next)
	}
	p.mu.Unlock()
	if moved {
		p.h.changed(p.id)
	}
	return ok
}

// turn moves the focus to the next or the last widget; false where there is no other.
func (p *panel) turn(step int) bool {
	p.mu.Lock()
	ring := p.ring()
	i := slices.Index(ring, p.shown.Focus)
	p.mu.Unlock()
	if len(ring) < 2 || i < 0 {
		return false
	}
	return p.focus(ring[(i+step+len(ring))%len(ring)])
}

// ring lists the widgets Tab goes through. It needs mu.
func (p *panel) ring() []string {
	var keys []string
	if p.shown.Tree != nil {
		p.shown.Tree.All(func(n *Node) bool {
			if n.Type.Focusable() {
				keys = append(keys, n.Key)
			}
			return true
		})
	}
	return keys
}

// widgetKey lets the focused widget use a key.
func (p *panel) widgetKey(m Message) bool {
	page := p.page()
	return p.change(func(n *Node, w Widget) (Widget, []Message, bool) {
		if n.Type == Input {
			return inputKey(n, w, m)
		}
		if len(m.Modifiers) > 0 {
			return w, nil, false
		}
		switch {
		case n.Type == Button && (m.Code == "enter" || m.Code == "space"):
			return w, []Message{{Kind: PressMessage, ID: n.ID}}, true
		case n.Type == Button:
			return w, nil, false
		case m.Code == "enter" && w.Index >= 0:
			return w, []Message{pressed(n, w)}, true
		case n.Type == Tree && w.Index >= 0:
			if next, messages, used := treeKey(n, w, m.Code); used {
				return next, messages, true
			}
		}
		to, ok := step(w.Index, lines(n, w), page, m.Code)
		if !ok {
			return w, nil, false
		}
		w, messages := marked(n, w, to)
		return w, messages, true
	})
}

func (p *panel) page() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.height-1, 1) // one line stays to hold on to
}

// lines is how many items can be marked.
func lines(n *Node, w Widget) int {
	if n.Type == Tree {
		return len(Branches(n, w))
	}
	return count(n)
}

// step is where a key moves the mark.
func step(i, n, page int, code string) (to int, ok bool) {
	switch code {
	case "up":
		i--
	case "down":
		i++
	case "pageup":
		i -= page
	case "pagedown":
		i += page
	case "home":
		i = 0
	case "end":
		i = n - 1
	default:
		return 0, false
	}
	if n == 0 {
		return 0, false
	}
	return min(max(i, 0), n-1), true
}

// marked moves the mark, and reports it where it moved.
func marked(n *Node, w Widget, to int) (Widget, []Message) {
	if to == w.Index {
		return w, nil
	}
	w.Index = to
	if n.Type == Tree {
		w.Branch = Branches(n, w)[to].Key
	}
	return w, []Message{{Kind: SelectMessage, ID: n.ID, Value: valueOf(n, w)}}
}

func pressed(n *Node, w Widget) Message {
	return Message{Kind: PressMessage, ID: n.ID, Value: valueOf(n, w)}
}

// valueOf is what a message says of the marked item: its id, else its zero-based
// index; of a branch without an id its path of indices, such as "#0/2".
func valueOf(n *Node, w Widget) any {
	if n.Type == Tree {
		return w.Branch
	}
	return Choice{ID: idAt(n, w.Index), Index: w.Index}.Value()
}

// treeKey opens, closes and goes to the parent.
func treeKey(n *Node, w Widget, code string) (Widget, []Message, bool) {
	b := Branches(n, w)[w.Index]
	inner := len(b.Children) > 0
	switch {
	case code == "right" && inner && !b.Open, code == "left" && b.Open, code == "space" && inner:
		return toggle(n, w, b.Key, !b.Open), nil, true
	case code == "right" && inner:
		w, messages := marked(n, w, w.Index+1)
		return w, messages, true
	case code == "left" && b.Parent >= 0:
		w, messages := marked(n, w, b.Parent)
		return w, messages, true
	case code == "left" || code == "right":
		return w, nil, true
	}
	return w, nil, false
}

func toggle(n *Node, w Widget, key string, open bool) Widget {
	w.Expanded = maps.Clone(w.Expanded)
	if w.Expanded == nil {
		w.Expanded = map[string]bool{}
	}
	if open {
		w.Expanded[key] = true
	} else {
		delete(w.Expanded, key)
	}
	return settle(n, w)
}

// inputKey edits, or submits.
func inputKey(n *Node, w Widget, m Message) (Widget, []Message, bool) {
	if m.Code == "enter" && (!n.Multiline || slices.Contains(m.Modifiers, "ctrl")) {
		return w, []Message{{Kind: SubmitMessage, ID: n.ID, Value: w.Text}}, true
	}
	next, used := editKey(w, m, n.Multiline)
	if !used {
		return w, nil, false
	}
	return edited(n, w, next)
}

// edited reports a new text.
func edited(n *Node, was, w Widget) (Widget, []Message, bool) {
	if w.Text == was.Text {
		return w, nil, true
	}
	return w, []Message{{Kind: ChangeMessage, ID: n.ID, Value: w.Text}}, true
}

// clampCaret is the beginning of the cluster at or before i.
func clampCaret(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for at := 0; ; {
		next := at + Cluster(s[at:])
		if next > i {
			return at
		}
		at = next
	}
}
