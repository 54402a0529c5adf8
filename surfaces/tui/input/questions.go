package input

import (
	"encoding/json"
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// QuestionsOptions of the questions. Host and Answer are needed.
type QuestionsOptions struct {
	Host kit.Host
	// Answer hears what the person said; it is called once for a question.
	Answer func(id string, a view.Answer)
	// Check holds edited arguments against the schema of a tool. It may wait: it is
	// called beside the event loop. nil takes any JSON.
	Check func(tool string, arguments json.RawMessage) error
	// Running tells whether a run goes on, which Esc then stops; nil for never.
	Running func() bool
	// Stop stops the run; the questions that belong to it are refused right after.
	Stop func()
	// Later hears that a question about trust was put off; it may be nil.
	Later func(q *event.QuestionEvent)
	// Keys are those of the editor, for what is written in an answer; nil for
	// DefaultKeys.
	Keys Keymap
}

// Questions are those a person must answer, one after another. It is a kit.Modal that
// is Done while there are none, and belongs above every other part, overlays of
// plugins too.
type Questions struct {
	*tview.Box
	o     QuestionsOptions
	open  []*question
	aside []*question     // those about trust that were put off
	made  func(*question) // for tests
}

// NewQuestions returns an empty one.
func NewQuestions(o QuestionsOptions) *Questions { return &Questions{Box: tview.NewBox(), o: o} }

// Ask puts a question behind those that wait.
func (s *Questions) Ask(q *event.QuestionEvent) {
	d := newQuestion(s.o.Host, q, s.o.Keys)
	d.answer = func(a view.Answer) {
		s.drop(d)
		s.o.Answer(q.ID, a)
	}
	d.stops = func() bool { return s.o.Running != nil && s.o.Running() && !d.trust() }
	d.stop, d.later = s.stop, func() { s.putOff(d) }
	if s.o.Check != nil {
		d.check = func(tool string, arguments json.RawMessage, result func(error)) {
			var err error
			s.o.Host.Go(func() { err = s.o.Check(tool, arguments) }, func() { result(err) })
		}
	}
	if s.made != nil {
		s.made(d)
	}
	s.open = append(s.open, d)
}

// putOff keeps a question about trust for AskAgain.
func (s *Questions) putOff(d *question) {
	s.drop(d)
	s.aside = append(s.aside, d)
	if s.o.Later != nil {
		s.o.Later(d.q)
	}
}

// Aside counts the questions that were put off.
func (s *Questions) Aside() int { return len(s.aside) }

// AskAgain opens those that were put off; false when there is none.
func (s *Questions) AskAgain() bool {
	again := s.aside
	s.aside = nil
	for _, d := range again {
		d.deaf = deaf{} // it has to be read anew
		d.body.top = 0
	}
	s.open = append(s.open, again...)
	return len(again) > 0
}

// Settled takes a question away that somebody else answered, or time did.
func (s *Questions) Settled(id string) {
	for _, d := range slices.Concat(s.open, s.aside) {
		if d.q.ID == id {
			d.done = true
			s.drop(d)
			return
		}
	}
}

// RefuseAll answers no to every question of the run: the program ends. Those about
// trust go without an answer.
func (s *Questions) RefuseAll() {
	s.refuse()
	s.open, s.aside = nil, nil
}

// stop stops the run and refuses what it asked; questions about trust stay.
func (s *Questions) stop() {
	s.o.Stop()
	s.refuse()
}

func (s *Questions) refuse() {
	for _, d := range slices.Clone(s.open) {
		if d.trust() {
			continue
		}
		a := view.Answer{Value: view.AnswerNo}
		if d.q.Kind == "question" {
			a.Value = ""
		}
		d.finish(a)
	}
}

func (s *Questions) drop(d *question) {
	is := func(o *question) bool { return o == d }
	s.open, s.aside = slices.DeleteFunc(s.open, is), slices.DeleteFunc(s.aside, is)
}

// Len counts the open questions.
func (s *Questions) Len() int { return len(s.open) }

// Done tells whether no question is open.
func (s *Questions) Done() bool { return len(s.open) == 0 }

// Room is the room of the first question.
func (s *Questions) Room(screen kit.Rect) kit.Rect {
	if s.Done() {
		return kit.Rect{}
	}
	s.open[0].more = len(s.open) - 1
	return s.open[0].Room(screen)
}

// Draw paints the first question.
func (s *Questions) Draw(screen tcell.Screen) {
	if s.Done() {
		return
	}
	d := s.open[0]
	d.more = len(s.open) - 1
	d.SetRect(s.GetRect())
	d.Draw(screen)
}

// Key answers the first question; while there is one, every key is its.
func (s *Questions) Key(ev *tcell.EventKey) bool { return !s.Done() && s.open[0].Key(ev) }

// Mouse scrolls the first question.
func (s *Questions) Mouse(ev kit.Mouse) bool { return !s.Done() && s.open[0].Mouse(ev) }

// Paste goes to what is being written there.
func (s *Questions) Paste(text string) bool { return !s.Done() && s.open[0].Paste(text) }
