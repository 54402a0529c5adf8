package tui

import (
	"encoding/json"
	"time"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/panel"
	"starling/surfaces/tui/transcript"
)

// lateSource is the host of the panels, which is made after their manager.
type lateSource struct{ *surfaces.Host }

// PanelOptions returns what a host of panels needs of this screen; the caller adds
// Surfaces and Prompt, makes the host and hands it to SetPanels.
func (s *Session) PanelOptions() surfaces.Options {
	m := panel.NewManager(panel.Options{Source: s.source, Host: host{s}})
	s.panels = m
	return surfaces.Options{
		Size: m.Size, Changed: m.Changed, Release: m.Release,
		Report:  func(plugin, text string) { s.Notice(view.Notice{From: plugin, Text: text, Warn: true}) },
		Running: func() bool { return s.live.Load() },
	}
}

// SetPanels gives the session its panels, before Run.
func (s *Session) SetPanels(h *surfaces.Host) { s.source.Host = h }

// tick keeps panels that want it ticking, beside the loop; the returned function ends
// it.
func (s *Session) tick() (stop func()) {
	end := make(chan struct{})
	go func() {
		t := time.NewTicker(tickTime)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				s.source.Tick()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end) }
}

func (s *Session) onQuestion(e *event.QuestionEvent) {
	q := *e // the announcement may be changed once it is over
	s.in.do(func() {
		if s.lines != nil {
			s.lines.question(&q)
			return
		}
		s.asking.Ask(&q)
		s.bell()
	})
}

func (s *Session) onAnswer(e *event.AnswerEvent) {
	id := e.ID
	s.in.do(func() {
		if s.lines != nil {
			s.lines.settled(id)
			return
		}
		s.asking.Settled(id)
	})
}

// answer tells the engine what the person said.
func (s *Session) answer(id string, a view.Answer) {
	var err error
	host{s}.Go(func() { err = s.d.Answer(id, a) }, func() {
		if err != nil {
			s.notice(view.Notice{Text: "the answer came to nothing: " + err.Error(), Warn: true})
		}
	})
}

func (s *Session) check(tool string, arguments json.RawMessage) error {
	return s.d.Recheck(tool, arguments)
}

// treeRows draws a widget tree into the conversation.
func (s *Session) treeRows(tree *surfaces.Node) func(l transcript.Look) []transcript.Row {
	return func(l transcript.Look) []transcript.Row {
		var out []transcript.Row
		margin := kit.Cell{Text: " ", Width: 1}
		for _, cells := range panel.Still(tree, l.Width-4, host{s}) {
			out = append(out, transcript.Row{Cells: append([]kit.Cell{margin, margin, margin}, cells...)})
		}
		return out
	}
}
