package tui

import (
	"encoding/json"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/input"
	"starling/surfaces/tui/kit"
	"starling/surfaces/tui/panel"
	"starling/surfaces/tui/transcript"
)

// PanelOptions returns what a host of panels needs of this screen; the caller adds
// Surfaces and Prompt, makes the host and hands it to SetPanels.
func (s *Session) PanelOptions() surfaces.Options {
	m := panel.NewManager(panel.Options{Host: host{s}})
	s.panels = m
	return surfaces.Options{
		Size: m.Size, Changed: m.Changed, Release: m.Release,
		Report:  func(plugin, text string) { s.Notice(view.Notice{From: plugin, Text: text, Warn: true}) },
		Running: func() bool { return s.live.Load() },
	}
}

// SetPanels gives the session its panels, which come with the engine.
func (s *Session) SetPanels(h *surfaces.Host) {
	s.source.Store(h)
	s.in.do(func() { s.panels.SetSource(h) })
}

// Queued takes a text like a line the person typed: it runs when nothing else does.
// from is the plugin, "" for a command of the person's. The error is always nil.
func (s *Session) Queued(_, text string) error {
	s.onceReady(func() {
		switch {
		case s.free() && !s.holding():
			s.prompt(input.Entry{Text: text})
		default:
			s.enqueue(input.Entry{Text: text})
		}
	})
	return nil
}

// Presented shows the widget tree a plugin draws of a call, as JSON, below it.
func (s *Session) Presented(call string, tree json.RawMessage) {
	n := new(surfaces.Node)
	if err := n.UnmarshalJSON(tree); err != nil {
		s.Notice(view.Notice{Text: "the drawing of a call: " + err.Error(), Warn: true})
		return
	}
	s.in.do(func() { s.present(call, n) })
}

func (s *Session) present(call string, tree *surfaces.Node) {
	if s.lines == nil {
		s.tr.Render(call, s.treeRows(tree))
		return
	}
	s.print(s.treeRows(tree))
}

// presentedIn returns the drawing that stands in the details of a result; nil for
// none.
func presentedIn(details json.RawMessage) *surfaces.Node {
	var d struct {
		View json.RawMessage `json:"view"`
	}
	if len(details) == 0 || json.Unmarshal(details, &d) != nil || len(d.View) == 0 {
		return nil
	}
	n := new(surfaces.Node)
	if n.UnmarshalJSON(d.View) != nil {
		return nil // of another version
	}
	return n
}

func (s *Session) onQuestion(e *event.QuestionEvent) {
	q := *e // the announcement may be changed once it is over
	s.in.do(func() {
		if s.lines != nil {
			s.lines.question(&q)
			return
		}
		s.asking.Ask(&q)
		s.needs()
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
		s.needs()
	})
}

// answer tells the engine what the person said.
func (s *Session) answer(id string, a view.Answer) {
	s.needs()
	stopping := s.running != nil && s.running.stopping
	s.beside(func(d Driver) func() {
		err := d.Answer(id, a)
		return func() {
			if err != nil && !stopping { // else the stop has settled it
				s.notice(view.Notice{Text: "the answer came to nothing: " + err.Error(), Warn: true})
			}
		}
	})
}

// putOff says where a question about trust is that the person does not answer now.
func (s *Session) putOff(q *event.QuestionEvent) {
	s.needs()
	s.notice(view.Notice{Text: "not answered: " + oneLine(q.Summary) + " /trust asks again"})
}

func (s *Session) check(tool string, arguments json.RawMessage) error {
	d := s.engine.wait(s.ctx)
	if d == nil {
		return s.ctx.Err()
	}
	return d.Recheck(tool, arguments)
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
