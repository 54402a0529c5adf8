package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
)

// Who answered a question, as code/answer says it.
const (
	byPerson  = "person"
	byHost    = "host" // nobody was there to ask
	byTimeout = "timeout"
)

// questions are what a person, or a plugin with the word permit, is asked.
type questions struct {
	asked    bus.Port[event.QuestionEvent, bus.None]
	answered bus.Port[event.AnswerEvent, bus.None]
	person   bool // somebody looks at a screen
	patience time.Duration

	mu   sync.Mutex
	last int
	open map[string]*question
}

// question is one that is open. settled is closed when reply stands.
type question struct {
	event   *event.QuestionEvent
	settled chan struct{}
	reply   reply
}

// reply is an answer and who gave it.
type reply struct {
	view.Answer
	by string
}

func newQuestions(b *bus.Bus, person bool) *questions {
	return &questions{
		asked: bus.PortOf(b, event.Question), answered: bus.PortOf(b, event.Answer),
		person: person, patience: view.AnswerTime, open: map[string]*question{},
	}
}

// ask announces a question and waits for its answer: of a person as long as they
// have patience, of a plugin while its listener of code/question runs. Where
// nobody can answer it is settled at once, by the host.
func (q *questions) ask(ctx context.Context, e *event.QuestionEvent) reply {
	this := &question{event: e, settled: make(chan struct{})}
	q.mu.Lock()
	q.last++
	e.ID = fmt.Sprintf("q%d", q.last)
	q.open[e.ID] = this
	q.mu.Unlock()
	q.asked.Send(ctx, e)
	r := q.wait(ctx, this)
	q.answered.Send(context.WithoutCancel(ctx), &event.AnswerEvent{ID: e.ID, Value: r.Value, By: r.by})
	return r
}

func (q *questions) wait(ctx context.Context, this *question) reply {
	patience := time.Duration(0)
	if q.person {
		patience = q.patience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	over := timer.C
	if q.person && this.event.Kind == kindTrust {
		over = nil // nothing waits for it
	}
	select {
	case <-this.settled:
		return this.reply
	default: // an answer that is there already beats a time that is over
	}
	no := reply{Answer: view.Answer{Value: view.AnswerNo}, by: byHost}
	select {
	case <-this.settled:
		return this.reply
	case <-ctx.Done():
	case <-over:
		if q.person {
			no.by = byTimeout
		}
	}
	if err := q.settle(this.event.ID, no); err != nil {
		<-this.settled // somebody was faster
		return this.reply
	}
	return no
}

// settle gives a question its answer; the first one stands.
func (q *questions) settle(id string, r reply) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	this, ok := q.open[id]
	if !ok {
		return fmt.Errorf("there is no open question %q", id)
	}
	delete(q.open, id)
	this.reply = r
	close(this.settled)
	return nil
}

// pending returns the open question of an id.
func (q *questions) pending(id string) (*event.QuestionEvent, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	this, ok := q.open[id]
	if !ok {
		return nil, false
	}
	return this.event, true
}

// Answer settles an open question with what the person said. An answer that the
// question does not offer is an error, and it stays open.
func (e *Engine) Answer(id string, a view.Answer) error {
	if asked, ok := e.questions.pending(id); ok {
		if err := fits(asked, a); err != nil {
			return err
		}
	}
	return e.questions.settle(id, reply{Answer: a, by: byPerson})
}

// answerQuestion settles a question in the name of a plugin. What the safety
// floor asks, a person answers.
func (e *Engine) answerQuestion(_ context.Context, plugin, id, value string) error {
	asked, ok := e.questions.pending(id)
	switch {
	case !ok:
		return fmt.Errorf("there is no open question %q", id)
	case asked.Kind == kindTrust:
		return errors.New("only a person answers whether code is trusted")
	case asked.Floor:
		return errors.New("the safety floor asks this: only a person answers it")
	}
	a := view.Answer{Value: value}
	if asked.Kind == kindPermission {
		head, why, _ := strings.Cut(value, ":")
		a = view.Answer{Value: strings.TrimSpace(head), Why: strings.TrimSpace(why)}
		if a.Value == view.AnswerEdit {
			return errors.New("a plugin answers yes, always, no or no: WHY; arguments are rewritten in agent/tool-call")
		}
	}
	if err := fits(asked, a); err != nil {
		return err
	}
	return e.questions.settle(id, reply{Answer: a, by: "plugin " + plugin})
}

// fits tells whether a question offers the answer.
func fits(asked *event.QuestionEvent, a view.Answer) error {
	closed := asked.Kind == kindPermission || asked.Kind == kindTrust
	if len(asked.Options) > 0 && closed && !slices.Contains(asked.Options, a.Value) {
		return fmt.Errorf("%q is no answer to %q; answer %s", a.Value, asked.Summary, strings.Join(asked.Options, ", "))
	}
	if a.Value == view.AnswerEdit && !json.Valid(a.Arguments) {
		return errors.New("the edited arguments are no JSON")
	}
	return nil
}
