package tui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/panel"
)

// areas are where the parts stand.
type areas struct {
	screen, top, transcript, editor, bottom kit.Rect
}

// spinTime is how often the spinner moves while something runs.
const spinTime = 100 * time.Millisecond

// loop handles one event after the other until the session ends. It draws by the
// pump and waits for nothing else.
func (s *Session) loop(ctx context.Context) error {
	s.signals = make(chan os.Signal, 8)
	signal.Notify(s.signals, caught...)
	defer signal.Stop(s.signals)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	spin := time.NewTicker(spinTime)
	spin.Stop()
	defer spin.Stop()
	spinning := false

	events := make(chan tcell.Event, 256)
	s.waiting = func() bool { return len(events) > 0 || s.screen.HasPendingEvent() }
	ended := make(chan struct{})
	defer close(ended)
	go s.screen.ChannelEvents(events, ended)
	s.redraw()
	s.receive()
	s.draw()
	s.drawn()
	if s.started != nil {
		s.started()
	}
	for !s.stopped {
		if on := s.busy(); on != spinning {
			spinning = on
			if on {
				spin.Reset(spinTime)
			} else {
				spin.Stop()
			}
		}
		var due <-chan time.Time
		wake := s.in.wake
		if s.pump.dirty {
			wait := s.pump.wait(s.now(), s.waiting())
			if wait == 0 {
				s.receive()
				s.draw()
				continue
			}
			timer.Reset(wait)
			due = timer.C
			wake = nil // whatever comes is taken with the frame
		}
		select {
		case ev := <-events:
			s.event(ev)
		case <-wake:
			s.receive()
		case <-due:
		case <-spin.C:
			s.work.step++
			if s.panels != nil && s.panels.Busy() {
				s.panels.Step()
			}
			s.redraw()
		case sig := <-s.signals:
			s.signal(sig)
		case <-ctx.Done():
			s.stop(context.Cause(ctx))
		}
	}
	return s.failure
}

// stop ends the loop; err is nil for an end a person wanted.
func (s *Session) stop(err error) {
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	s.stopped = true
	if s.failure == nil {
		s.failure = err
	}
}

// redraw asks for a frame.
func (s *Session) redraw() { s.pump.ask(s.now()) }

func (s *Session) busy() bool {
	return s.running != nil || len(s.jobs) > 0 || s.work.hint != "" || s.panels != nil && s.panels.Busy()
}

// receive takes what came from elsewhere.
func (s *Session) receive() {
	for _, it := range s.in.take() {
		if it.f != nil {
			if !it.quiet {
				s.redraw()
			}
			it.f()
			continue
		}
		text := it.text.String()
		switch it.kind {
		case output:
			s.tr.Output(it.id, text)
		default:
			s.tr.Write(text, it.kind == thought)
			s.streams(it.kind)
		}
		s.pump.askCalm(s.now())
	}
}

// event handles one event of the screen.
func (s *Session) event(ev tcell.Event) {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		if s.pasting {
			s.pasteKey(ev)
			return
		}
		s.key(ev)
	case *tcell.EventPaste:
		s.pasteEvent(ev)
	case *tcell.EventMouse:
		if !s.mouse(ev) {
			return
		}
	case *tcell.EventError:
		s.stop(ev)
	case nil: // the queue is closed
		s.stopped = true
	}
	s.redraw()
}

// draw paints a frame.
func (s *Session) draw() {
	s.refresh()
	if s.work.hint != "" && s.now().After(s.hintTill) {
		s.work.hint = ""
	}
	width, height := s.screen.Size()
	s.screen.HideCursor()
	s.screen.Clear()
	if width > 0 && height > 0 {
		s.place(kit.Rect{W: width, H: height})
		s.paint()
	}
	s.screen.Show()
	s.pump.done(s.now())
}

// refresh reads what the status lines and the list of commands show, beside the loop:
// the engine may be busy.
func (s *Session) refresh() {
	if !s.wants || s.reading {
		return
	}
	s.wants, s.reading = false, true
	a := s.asked()
	s.beside(func(d Driver) func() {
		st, mode, list := d.Status(), d.Mode(), command.List(a.with(d))
		return func() {
			s.status, s.mode, s.reading = st, mode, false
			s.editor.SetCommands(list)
		}
	})
}

// place shares the screen out.
func (s *Session) place(all kit.Rect) {
	a := areas{screen: all}
	rest := all
	if rest.H >= 8 {
		a.top = kit.Rect{X: 0, Y: 0, W: rest.W, H: 1}
		rest.Y, rest.H = 1, rest.H-1
	}
	if rest.H >= 3 {
		a.bottom = kit.Rect{X: 0, Y: rest.Y + rest.H - 1, W: rest.W, H: 1}
		rest.H--
	}
	rows := min(s.editor.Rows(rest.W), max(all.H/3, 1), rest.H)
	rows = max(rows, min(rest.H, 2))
	a.editor = kit.Rect{X: 0, Y: rest.Y + rest.H - rows, W: rest.W, H: rows}
	rest.H -= rows
	a.transcript = rest
	if s.panels != nil {
		s.panels.SetQuestion(!s.asking.Done())
		a.transcript = s.panels.Arrange(rest)
	}
	s.area = a
	s.tr.SetRect(a.transcript.X, a.transcript.Y, a.transcript.W, a.transcript.H)
	s.editor.SetRect(a.editor.X, a.editor.Y, a.editor.W, a.editor.H)
}

func (s *Session) paint() {
	a := s.area
	if a.top.H > 0 {
		drawTop(s.screen, a.top, s.status, s.theme, s.signs)
	}
	s.tr.Draw(s.screen)
	s.editor.Draw(s.screen)
	if a.bottom.H > 0 {
		w := s.work
		w.queued, w.waits, w.asks, w.aside = s.editor.Queue().Len(), s.blocks(), !s.asking.Done(), s.asking.Aside() > 0
		if j := s.job(); j != nil && s.running != nil {
			w.beside = j
		}
		w.dialog = w.asks || s.modal() != nil
		if s.panels != nil {
			if id, ok := s.panels.Focused(); ok {
				w.panel = panel.Name(id)
			}
			for _, t := range s.panels.Statuses() {
				w.extra = append(w.extra, t.Text)
			}
		}
		drawBottom(s.screen, a.bottom, s.mode, w, s.now(), s.theme, s.signs)
	}
	if s.panels != nil {
		s.panels.Draw(s.screen)
		s.panels.DrawDialogs(s.screen)
	}
	s.editor.DrawPopup(s.screen)
	s.paintModals()
}

// paintModals draws the dialogs, the newest on top; a question is above them all.
func (s *Session) paintModals() {
	s.modals = slices.DeleteFunc(s.modals, kit.Modal.Done)
	for _, m := range append(slices.Clone(s.modals), kit.Modal(s.asking)) {
		if m.Done() {
			continue
		}
		r := m.Room(s.area.screen)
		m.SetRect(r.X, r.Y, r.W, r.H)
		s.screen.HideCursor()
		m.Draw(s.screen)
	}
}
