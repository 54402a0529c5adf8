package tui

import (
	"context"
	"strings"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/transcript"
)

// Component hears the runs on b for the screen. Its listeners only look, and put what
// they saw into the inbox: a run never waits for the screen.
func (s *Session) Component(b *bus.Bus) compose.Component {
	return compose.Component{
		Name: "tui", Origin: "host", Position: bus.At(bus.ClassLast, 1, "tui"),
		Apply: func(sc *compose.Scope) error {
			listen(sc, b, event.SessionStart, s.onSession)
			listen(sc, b, event.RunStart, s.onRunStart)
			compose.On(sc, bus.PortOf(b, event.Stream), bus.Listener[event.StreamEvent, bus.None]{
				Do:      func(_ context.Context, e *event.StreamEvent) (*bus.None, error) { s.onStream(e); return nil, nil },
				Borrows: true,
			})
			listen(sc, b, event.ProviderError, s.onRetry)
			listen(sc, b, event.Message, s.onMessage)
			listen(sc, b, event.ToolCall, s.onCall)
			listen(sc, b, event.ToolProgress, s.onProgress)
			listen(sc, b, event.ToolResult, s.onResult)
			listen(sc, b, event.TurnEnd, s.onTurnEnd)
			listen(sc, b, event.RunEnd, s.onRunEnd)
			listen(sc, b, event.Question, s.onQuestion)
			listen(sc, b, event.Answer, s.onAnswer)
			listen(sc, b, event.ProcessExit, s.onExit)
			return nil
		},
	}
}

// listen subscribes a listener that only looks.
func listen[E, A any](s *compose.Scope, b *bus.Bus, topic *bus.Topic[E, A], see func(*E)) {
	compose.On(s, bus.PortOf(b, topic), bus.Listener[E, A]{
		Do: func(_ context.Context, e *E) (*A, error) { see(e); return nil, nil },
	})
}

func (s *Session) onSession(*event.SessionStartEvent) {
	s.in.do(func() { s.wants = true })
}

func (s *Session) onRunStart(e *event.RunStartEvent) {
	task := ""
	if e.Run != nil {
		task = e.Run.Task()
	}
	s.in.do(func() {
		s.wants = true
		s.doing(asking)
		if task != "" && task != s.shown { // a plugin asked, or changed what was asked
			s.person(task)
		}
		s.shown = ""
	})
}

func (s *Session) onStream(e *event.StreamEvent) {
	if e.Kind == "block_start" && e.Block == "tool_call" {
		s.in.do(func() { s.doing("writing a call") })
	}
	if e.Kind != "delta" || e.Text == "" {
		return
	}
	switch e.Block {
	case "text":
		s.in.write(reply, "", e.Text)
	case "thinking":
		s.in.write(thought, "", e.Text)
	}
}

func (s *Session) onRetry(e *event.ProviderErrorEvent) {
	why := strings.ReplaceAll(e.Kind, "_", " ")
	s.in.do(func() { s.doing(oneLine("waiting to ask the model again: " + why)) })
}

func (s *Session) onMessage(e *event.MessageEvent) {
	type call struct{ id, name, arguments string }
	calls := make([]call, len(e.Calls))
	for i, c := range e.Calls {
		calls[i] = call{c.ID, c.Name, string(c.Arguments)}
	}
	s.in.do(func() {
		s.wants = true
		s.endReply()
		for _, c := range calls {
			s.begun(c.id, c.name, c.arguments)
		}
	})
}

func (s *Session) onCall(e *event.ToolCallEvent) {
	id, name, arguments := e.ID, e.Name, e.ArgumentsJSON
	by, why := "", ""
	if e.Blocked && e.Refused != nil {
		by, why = e.Refused.By.Name, e.Refused.Why
	}
	s.in.do(func() {
		s.begun(id, name, arguments)
		if why != "" {
			s.refused(id, name, by, why)
			return
		}
		s.doing(oneLine(name + " " + transcript.Summary(arguments)))
	})
}

func (s *Session) onProgress(e *event.ToolProgressEvent) { s.in.write(output, e.ID, e.Chunk) }

func (s *Session) onResult(e *event.ToolResultEvent) {
	id, name := e.ID, e.Name
	r := transcript.Result{Content: e.Content, IsError: e.IsError, Details: e.Details}
	s.in.do(func() { s.finished(id, name, r) })
}

func (s *Session) onTurnEnd(e *event.TurnEndEvent) {
	text := e.Error
	s.in.do(func() {
		s.wants = true
		s.endReply()
		s.doing(asking)
		if r := s.running; r != nil {
			r.told = text
			if r.stopping {
				return
			}
		}
		if text != "" {
			s.notice(view.Notice{Text: text, Warn: true})
		}
	})
}

func (s *Session) onRunEnd(*event.RunEndEvent) {
	s.in.do(func() {
		s.wants = true
		s.endReply()
	})
}

func (s *Session) onExit(*event.ProcessExitEvent) { s.in.do(func() { s.wants = true }) }

// The rest is what a screen and the line mode do differently.

func (s *Session) person(text string) {
	if s.lines != nil {
		s.lines.person(text)
		return
	}
	s.tr.Person(text)
}

func (s *Session) endReply() {
	if s.lines != nil {
		s.lines.endReply()
		return
	}
	s.tr.EndReply()
}

func (s *Session) begun(id, name, arguments string) {
	if s.lines != nil {
		s.lines.begun(id, name, arguments)
		return
	}
	s.tr.Begin(id, name, arguments)
}

func (s *Session) refused(id, name, by, why string) {
	if s.lines != nil {
		s.lines.refused(id, name, by, why)
		return
	}
	s.tr.Refuse(id, by, why)
}

func (s *Session) finished(id, name string, r transcript.Result) {
	if s.lines != nil {
		s.lines.finished(id, name, r)
		return
	}
	s.tr.Finish(id, r)
}

const (
	asking   = "waiting for the model" // a request is out, and nothing of the reply has come
	atStop   = "stopping"
	needsYou = "waiting for your answer"
)

// doing says what a run is at. One that is being stopped is at nothing else.
func (s *Session) doing(what string) {
	if r := s.running; r != nil && r.stopping {
		what = atStop
	}
	if s.work.what == needsYou && !s.asking.Done() {
		s.work.behind = what // told once the person answered
		return
	}
	s.set(what)
}

func (s *Session) set(what string) {
	if s.work.what != what {
		s.work.what, s.work.since = what, s.now()
	}
}

// streams says what of a reply comes.
func (s *Session) streams(kind textKind) {
	if kind == thought {
		s.doing("thinking")
		return
	}
	s.doing("writing")
}

// needs says that nothing goes on before the person answered, or what goes on again.
func (s *Session) needs() {
	switch waits := !s.asking.Done(); {
	case waits && s.work.what != needsYou:
		s.work.behind = s.work.what
		s.set(needsYou)
	case !waits && s.work.what == needsYou:
		s.set(s.work.behind)
	}
}
