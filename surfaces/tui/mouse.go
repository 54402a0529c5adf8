package tui

import (
	"fmt"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/kit"
)

const buttonsMask = tcell.Button1 | tcell.Button2 | tcell.Button3

// mouse turns what the terminal tells into presses, drags and releases, and hands them
// on. It is false for what changes nothing.
func (s *Session) mouse(ev *tcell.EventMouse) bool {
	x, y := ev.Position()
	now := ev.Buttons()
	m := kit.Mouse{X: x, Y: y, Mods: ev.Modifiers()}
	switch {
	case now&tcell.WheelUp != 0:
		m.Action = kit.WheelUp
	case now&tcell.WheelDown != 0:
		m.Action = kit.WheelDown
	case now&buttonsMask != 0 && s.buttons == 0:
		m.Action, m.Button = kit.Press, now&buttonsMask
		s.buttons = m.Button
	case now&buttonsMask != 0:
		m.Action, m.Button = kit.Drag, s.buttons
	case s.buttons != 0:
		m.Action, m.Button = kit.Release, s.buttons
		s.buttons = 0
	default:
		return false
	}
	return s.point(m)
}

// point finds the part the mouse is on. What began in a part stays with it until the
// release.
func (s *Session) point(m kit.Mouse) bool {
	held := s.dragged
	if m.Action == kit.Release {
		s.dragged = nil
	}
	if m.Action == kit.Press {
		held = nil
	}
	var part kit.Part
	switch {
	case !s.asking.Done():
		part = s.asking
	case s.modal() != nil:
		part = s.modal()
	case held != nil && (m.Action == kit.Drag || m.Action == kit.Release):
		part = held
	case s.panels != nil && s.panels.Mouse(m):
		s.focus()
		return true
	case s.area.editor.Has(m.X, m.Y) || s.editor.PopupRoom().Has(m.X, m.Y):
		part = s.editor
	case s.area.transcript.Has(m.X, m.Y):
		part = s.tr
	default:
		return false
	}
	if m.Action == kit.Press {
		s.dragged = part
		if (part == kit.Part(s.editor) || part == kit.Part(s.tr)) && s.panelFocus() {
			s.panels.Leave()
			s.focus()
		}
	}
	return part.Mouse(m)
}

// maxCopy is the most a terminal is asked to put on the clipboard, in bytes.
const maxCopy = 1 << 20

// copy puts text on the clipboard.
func (s *Session) copy(text string) {
	if len(text) > maxCopy {
		s.hint("too much to copy: mark less", hintTime)
		return
	}
	s.screen.SetClipboard([]byte(text))
	s.hint(fmt.Sprintf("copied %d characters", len([]rune(text))), time.Second)
}
