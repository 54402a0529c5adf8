package tui

import "starling/bus/view"

// interrupt is Ctrl-C: it stops what runs. Where nothing does it may have been meant for
// what ended a moment before, so only the second one in a row leaves. The terminal itself
// has dropped the line that was begun.
func (l *lines) interrupt() {
	l.receive() // what came before it
	l.half = ""
	l.say("") // off the line with the ^C
	s, now := l.s, l.s.now()
	running := s.running != nil
	switch {
	case s.stopRun():
		l.say("stopping")
		if running {
			l.refuseRun()
		}
	case !s.quitHint.IsZero() && now.Sub(s.quitHint) < quitTime:
		s.stop(nil)
	default:
		s.quitHint = now
		l.say("nothing runs; to leave, Ctrl-D or Ctrl-C again")
	}
}

// refuseRun answers no to what the run asked. Questions about trust stay: they are none
// of its.
func (l *lines) refuseRun() {
	open := l.open
	l.refuse()
	if len(l.open) > 0 && l.open[0] != open[0] {
		l.show(l.open[0])
	}
}

func (l *lines) refuse() {
	open := l.open
	l.open = nil
	for _, lq := range open {
		if lq.q.Kind == "trust" {
			l.open = append(l.open, lq)
			continue
		}
		a := view.Answer{Value: view.AnswerNo}
		if lq.q.Kind == "question" {
			a.Value = ""
		}
		l.s.answer(lq.q.ID, a)
	}
}

// refuseAll answers no to what is open: nobody is there. A no about trust is kept, and
// nobody said it: such a question goes without an answer.
func (l *lines) refuseAll() {
	l.refuse()
	l.open = nil
}
