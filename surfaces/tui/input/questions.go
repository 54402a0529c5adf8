package input

import (
	"encoding/json"
	"slices"
	"time"

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
	// Keys are those of the editor, for what is written in an answer; nil for
	// DefaultKeys.
	Keys Keymap
}

// Questions are those a person must answer, one after another. It is a kit.Modal that
// is Done while there are none, and belongs above every other part, overlays of
// plugins too.
type Questions struct {
	*tview.Box
	o    QuestionsOptions
	open []*question
	made func(*question) // for tests
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
	d.stops = func() bool { return s.o.Running != nil && s.o.Running() && d.q.Kind != "trust" }
	d.stop = s.stop
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

// Settled takes a question away that somebody else answered, or time did.
func (s *Questions) Settled(id string) {
	for _, d := range s.open {
		if d.q.ID == id {
			d.done = true
			s.drop(d)
			return
		}
	}
}

// RefuseAll answers no to every question: the program ends.
func (s *Questions) RefuseAll() { s.refuse(func(*question) bool { return true }) }

// stop stops the run and refuses what it asked. A question about trust is not the
// run's, and its no would be kept: it stays.
func (s *Questions) stop() {
	s.o.Stop()
	s.refuse(func(d *question) bool { return d.q.Kind != "trust" })
}

func (s *Questions) refuse(which func(*question) bool) {
	for _, d := range slices.Clone(s.open) {
		if !which(d) {
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
	s.open = slices.DeleteFunc(s.open, func(o *question) bool { return o == d })
}

// Len counts the open questions.
func (s *Questions) Len() int { return len(s.open) }

// Done tells whether no question is open.
func (s *Questions) Done() bool { return len(s.open) == 0 }

// NextDraw is how long the countdown shows the same; 0 when nothing counts.
func (s *Questions) NextDraw() time.Duration {
	if s.Done() || s.open[0].q.Kind == "trust" {
		return 0
	}
	return time.Second
}

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
