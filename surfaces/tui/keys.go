package tui

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

const (
	// quitTime is how long a first Ctrl-C counts.
	quitTime = 2 * time.Second
	hintTime = 2 * time.Second
)

// key hands a key to whoever has the keys, then to the program.
func (s *Session) key(ev *tcell.EventKey) {
	chord := kit.Chord(ev)
	// With Alt it was pressed together with Esc: the decoder cannot tell the two.
	alone := strings.Replace(chord, "ctrl+alt+", "ctrl+", 1)
	if alone == "ctrl+c" {
		s.interrupt()
		return
	}
	if s.others[chord] != command.Leave {
		s.quitHint = time.Time{}
	}
	if s.others[chord] == command.Suspend || s.others[alone] == command.Suspend && s.keys[chord] == "" && s.others[chord] == "" {
		s.suspend()
		return
	}
	if rest, ok := s.behindEsc(ev, chord); ok {
		asked := !s.asking.Done()
		s.key(tcell.NewEventKey(tcell.KeyEscape, 0, tcell.ModNone))
		if !asked && rest != nil { // a question took the Esc: what followed is not meant for what is below
			s.key(rest)
		}
		return
	}
	if chord != "esc" && s.typing(ev.When()) && (!s.asking.Done() || s.modal() == nil && s.panelFocus() && s.panels.FocusedOverlay()) {
		s.write(ev)
		return
	}
	if !s.asking.Done() {
		s.asking.Key(ev)
		return
	}
	if m := s.modal(); m != nil {
		m.Key(ev)
		return
	}
	if s.panelFocus() {
		s.typed = time.Time{}
		switch s.others[chord] {
		case command.Panels, command.PanelsBack: // never a plugin's
			s.global(chord)
		default:
			if !s.panels.Key(ev) {
				s.global(chord)
			}
		}
		s.focus()
		return
	}
	if s.scrollKey(chord) {
		return
	}
	if r := []rune(chord); len(r) == 1 && s.others[chord] != "" && s.editor.Empty() {
		s.global(chord)
		return
	}
	if !s.write(ev) {
		s.global(chord)
	}
}

// typing tells whether the person writes on, so that a question or an overlay that opened
// meanwhile does not take their keys: who is typing looks at what they write.
func (s *Session) typing(at time.Time) bool {
	return !s.typed.IsZero() && at.Sub(s.typed) < surfaces.DeafTime
}

// write hands a key to the prompt; false when it has no use for it.
func (s *Session) write(ev *tcell.EventKey) bool {
	if !s.editor.Key(ev) {
		return false
	}
	s.typed = ev.When()
	return true
}

// behindEsc tells whether a key with Alt is Esc and what was typed right behind it:
// terminals send the same for both, and a multiplexer makes one of what comes within
// half a second. It is where nothing is bound to the chord. rest is the key behind the
// Esc; nil for one that does nothing.
func (s *Session) behindEsc(ev *tcell.EventKey, chord string) (rest *tcell.EventKey, ok bool) {
	mods := ev.Modifiers()
	if ev.Key() != tcell.KeyRune || mods&tcell.ModAlt == 0 || s.keys[chord] != "" || s.others[chord] != "" {
		return nil, false
	}
	r := ev.Rune()
	switch {
	case mods&tcell.ModCtrl == 0:
		return tcell.NewEventKey(tcell.KeyRune, r, mods&^tcell.ModAlt), true
	case r >= 'a' && r <= 'z':
		return tcell.NewEventKey(tcell.KeyCtrlA+tcell.Key(r-'a'), 0, tcell.ModCtrl), true
	}
	return nil, true
}

// modal is the dialog that has the keys; nil for none.
func (s *Session) modal() kit.Modal {
	for i := len(s.modals) - 1; i >= 0; i-- {
		if !s.modals[i].Done() {
			return s.modals[i]
		}
	}
	return nil
}

func (s *Session) panelFocus() bool {
	if s.panels == nil {
		return false
	}
	_, ok := s.panels.Focused()
	return ok
}

// focus gives the caret to the editor while no panel has the keys.
func (s *Session) focus() {
	if s.panelFocus() {
		s.editor.Blur()
		return
	}
	s.editor.Focus(nil)
}

// scrollKey takes the keys that move the conversation. One that moves the caret too
// is the editor's while there is something to move in.
func (s *Session) scrollKey(chord string) bool {
	_, moves := s.keys[chord]
	switch s.others[chord] {
	case command.PageUp:
		s.tr.Page(-1)
	case command.PageDown:
		s.tr.Page(1)
	case command.LineUp:
		s.tr.Scroll(-1)
	case command.LineDown:
		s.tr.Scroll(1)
	case command.Beginning:
		if moves && !s.editor.Empty() {
			return false
		}
		s.tr.Home()
	case command.Follow:
		if s.tr.Follows() || moves && chord != "ctrl+end" && !s.editor.Empty() {
			return false
		}
		s.tr.End()
	default:
		return false
	}
	return true
}

// global handles keys nobody else took.
func (s *Session) global(chord string) {
	switch s.others[chord] {
	case command.Stop:
		switch {
		case s.tr.Unselect():
		case s.stopRun():
		case !s.tr.Follows():
			s.tr.End()
		}
	case command.Leave:
		s.interrupt()
	case command.Thoughts:
		s.tr.ToggleThinking()
	case command.Outputs:
		s.hint("output: "+s.tr.StepOutput().String(), hintTime)
	case command.Panels:
		s.cycle(1)
	case command.PanelsBack:
		s.cycle(-1)
	case command.NextModeOf:
		s.nextMode()
	case command.Repaint:
		s.screen.Sync()
	case command.Keys:
		s.command("/help keys")
	}
}

// shows names what shows more of something folded: a key, if one does, and the mouse.
func (s *Session) shows() string {
	var by []string
	if key := s.others.Key(command.Outputs); key != "" {
		by = append(by, key)
	}
	if !s.o.NoMouse {
		by = append(by, "a click")
	}
	return strings.Join(by, " or ")
}

// nextMode changes what runs without a question.
func (s *Session) nextMode() {
	if !s.ready {
		return // what it would change is not known
	}
	next := command.NextMode(s.mode)
	s.beside(func(d Driver) func() {
		err := d.SetMode(next)
		return func() {
			s.wants = true
			if err != nil {
				s.notice(view.Notice{Text: err.Error(), Warn: true})
			}
		}
	})
}

// cycle gives the keys to the next panel, and behind the last one to the prompt.
func (s *Session) cycle(step int) {
	s.typed = time.Time{} // the person chose
	had := s.panelFocus()
	switch {
	case s.panels != nil && (s.panels.Cycle(step) || had):
		s.hint("", 0) // what was said of the panels before is no longer so
	case s.panels != nil && s.panels.Open():
		s.hint("the panels are hidden; /sidebar shows them", hintTime)
	default:
		s.hint("no panel is open", hintTime)
	}
	s.focus()
}

// interrupt is Ctrl-C: a second one within two seconds ends the session.
func (s *Session) interrupt() {
	now := s.now()
	if !s.quitHint.IsZero() && now.Sub(s.quitHint) < quitTime {
		s.asking.RefuseAll()
		s.stop(nil)
		return
	}
	s.quitHint = now
	if s.asking.Done() && s.modal() == nil && !s.editor.Empty() {
		s.editor.Clear()
	}
	s.hint(s.others.Key(command.Leave)+" again quits", quitTime)
}

// pasteEvent begins or ends a paste.
func (s *Session) pasteEvent(ev *tcell.EventPaste) {
	if ev.Start() {
		s.pasting, s.paste = true, nil
		return
	}
	begun, text := s.pasting, string(s.paste)
	s.pasting, s.paste = false, nil
	if s.term != nil {
		// The wrapper has kept the body, so that its bytes never were keys. Right after
		// Esc the decoder takes the beginning for a key with Alt and tells only the end.
		if body, ok := s.term.pasted(); ok {
			begun, text = true, body
		}
	}
	if begun { // else a stray end
		s.pasted(text)
	}
}

// pasteKey collects what comes between the markers as keys.
func (s *Session) pasteKey(ev *tcell.EventKey) {
	switch ev.Key() {
	case tcell.KeyRune:
		s.paste = append(s.paste, ev.Rune())
	case tcell.KeyEnter, tcell.KeyLF:
		s.paste = append(s.paste, '\n')
	case tcell.KeyTab:
		s.paste = append(s.paste, '\t')
	}
}

// pasted hands a paste to whoever has the keys.
func (s *Session) pasted(text string) {
	text = kit.Clean(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	s.redraw()
	switch {
	case text == "":
	case !s.asking.Done() && s.asking.Paste(text): // what no question takes is the prompt's
	case s.modal() != nil:
		s.modal().Paste(text)
	case s.panelFocus() && s.panels.Paste(text):
	default:
		s.editor.Paste(text)
	}
}
