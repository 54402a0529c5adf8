package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

// run is one prompt on its way to an outcome. Its goroutine is the only one
// that touches fields not under mu.
type run struct {
	a      *Agent
	ctx    context.Context
	cancel context.CancelCauseFunc
	began  time.Time
	task   string
	system string
	first  int // index of the run's first message
	forced int // continuations nobody but listeners asked for
	// started is set when the user message stands: from then on the run has an
	// end that is announced.
	started bool
	// unroutable are the models listeners named that are not to be had.
	unroutable map[string]bool
	out        Outcome // Usage and Denied under mu

	mu    sync.Mutex
	turn  int    // from 0
	model string // of the turn
	queue []edit
	over  bool
	// ending is set when nothing a person says is answered by this run any more.
	ending  bool
	steered bool // a person said something since the turn began; of the goroutine
}

// edit is a message a listener asked for, waiting for a place to stand.
type edit struct {
	message chat.Message
	by      string
	person  bool // a person said it
}

func newRun(ctx context.Context, a *Agent) *run {
	r := &run{a: a, began: a.o.Now(), unroutable: map[string]bool{}, model: a.Model()}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

func (r *run) handle() event.Run { return handle{r: r} }

// safely keeps a panic of the loop itself, or of what it was built from, out of
// the caller.
func (r *run) safely(f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.fail(fmt.Errorf("agent: panic: %v", v))
		}
	}()
	f()
}

// admit settles the composition, announces the prompt and appends it.
func (r *run) admit(prompt string, attached []chat.Block) {
	a := r.a
	if r.ended() {
		return
	}
	if a.o.Settle != nil {
		_, err := await(r.ctx, func() (bool, error) { return true, a.o.Settle(r.ctx) })
		if r.ended() {
			return
		}
		if err != nil {
			r.fail(fmt.Errorf("the composition did not settle: %w", err))
			return
		}
	}
	e := event.PromptEvent{Text: prompt, First: !hasUser(a.transcript())}
	a.ports.prompt.Send(r.ctx, &e)
	switch {
	case r.ended():
	case e.Rejected != nil:
		r.stop(StopRejected, reason(e.Rejected))
	case strings.TrimSpace(e.Text) == "" && len(attached) == 0:
		r.fail(errors.New("the prompt is empty: there is nothing to send"))
	case a.currentModel().provider == nil:
		r.fail(errors.New("there is no model to send the prompt to"))
	default:
		r.start(e.Text, attached)
	}
}

func (r *run) start(prompt string, attached []chat.Block) {
	r.task = prompt
	r.takeNotes()
	r.first = len(r.a.transcript())
	system, err := r.compose()
	if r.ended() {
		return
	}
	if err != nil {
		r.fail(fmt.Errorf("the system prompt could not be composed: %w", err))
		return
	}
	r.system = system
	r.add(told(prompt, attached))
	r.started = true
	r.a.setCurrent(r)
	r.a.ports.runStart.Send(r.listenerCtx(), &event.RunStartEvent{Run: r.handle()})
	r.apply()
}

// told is a message of the person.
func told(text string, attached []chat.Block) chat.Message {
	m := chat.TextMessage(chat.User, text)
	m.Blocks = append(m.Blocks, attached...)
	return m
}

// finish ends a started run: the transcript is made whole, the end announced,
// the handle closed.
func (r *run) finish() {
	defer r.close()
	r.safely(func() {
		if orphans := unanswered(r.a.transcript()); len(orphans) > 0 {
			r.add(interruptedResults(orphans, effectUnknown)...)
		}
		r.apply()
		e := event.RunEndEvent{
			Run: r.handle(), Stop: string(r.out.Stop), Turns: r.out.Turns, Usage: r.out.Usage,
		}
		if r.out.Err != nil {
			e.Error = r.out.Err.Error()
		}
		if r.out.Stop != StopEnd { // what simply ended may be right or wrong
			no := false
			e.Success = &no
		}
		r.a.ports.runEnd.Send(r.listenerCtx(), &e)
	})
}

// close ends the handle and appends what was asked for until now.
func (r *run) close() {
	r.a.setCurrent(nil)
	r.mu.Lock()
	queue := r.queue
	r.queue, r.over = nil, true
	r.mu.Unlock()
	for _, e := range queue {
		r.add(e.message)
	}
}

// apply appends what listeners asked for. It is called only where a message may
// stand: never between a call and its result. It returns who pushed user
// messages.
func (r *run) apply() (pushed []string) {
	r.mu.Lock()
	queue := r.queue
	r.queue = nil
	r.mu.Unlock()
	r.takeNotes()
	for _, e := range queue {
		r.add(e.message)
		r.steered = r.steered || e.person
		if e.message.Role == chat.User {
			pushed = append(pushed, e.by)
		}
	}
	return pushed
}

// ended tells whether the run is over, and why when its context is.
func (r *run) ended() bool {
	if r.out.Stop == "" && r.ctx.Err() != nil {
		cause := context.Cause(r.ctx)
		if errors.Is(cause, context.DeadlineExceeded) {
			r.limit(LimitTime, "the time for the run is over")
		} else {
			r.stop(StopAborted, cancelText(cause))
		}
	}
	return r.out.Stop != ""
}

func cancelText(cause error) string {
	if errors.Is(cause, context.Canceled) {
		return "cancelled"
	}
	return cause.Error()
}

// stop sets how the run ends; the first one stands.
func (r *run) stop(how Stop, why string) {
	if r.out.Stop == "" {
		r.out.Stop, r.out.StopWhy = how, why
	}
}

// fail ends the run as failed; an earlier end stands.
func (r *run) fail(err error) {
	if r.out.Stop == "" {
		r.out.Err = err
	}
	r.stop(StopError, err.Error())
}

// listenerCtx is the context of events that tell what happened. They reach
// their listeners also when the run was cancelled: a listener that failed only
// because of the cancel would be counted as broken.
func (r *run) listenerCtx() context.Context {
	if r.ctx.Err() != nil {
		return context.WithoutCancel(r.ctx)
	}
	return r.ctx
}

func (r *run) notice(text string) {
	if r.a.o.Notice != nil {
		r.a.o.Notice(r.listenerCtx(), text)
		return
	}
	if r.a.ports.notice.Listening() {
		r.a.ports.notice.Send(r.listenerCtx(), &event.NoticeEvent{Text: text})
	}
}

func (r *run) setModel(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.model = name
}

func (r *run) addUsage(u chat.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.Usage = r.out.Usage.Add(u)
	r.a.o.Purse.Spend(u)
}

// reason puts a refusal into words: who, then why.
func reason(refusal *bus.Refusal) string {
	why := strings.TrimSpace(refusal.Why)
	if why == "" {
		why = "no reason given"
	}
	name := refusal.By.Name
	if name == "" || strings.HasPrefix(why, name+" ") {
		return why
	}
	return name + ": " + why
}

// stopped is reason for a stop, which needs no why of its own.
func stopped(refusal *bus.Refusal) string {
	if name := refusal.By.Name; name != "" && strings.TrimSpace(refusal.Why) == "" {
		return name + " stopped it"
	}
	return reason(refusal)
}

func hasUser(messages []chat.Message) bool {
	for _, m := range messages {
		if m.Role == chat.User {
			return true
		}
	}
	return false
}
