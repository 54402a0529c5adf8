package agent

import (
	"fmt"
	"slices"
	"strings"

	"starling/bus/chat"
	"starling/bus/event"
)

// loop makes turns until one of them ends the run.
func (r *run) loop() {
	for turn := 0; !r.ended(); turn++ {
		if turn == r.a.o.MaxTurns {
			r.limit(LimitTurns, fmt.Sprintf("the run reached its limit of %d turns", turn))
			return
		}
		if limit, why := r.a.o.Purse.Over(); limit != "" {
			r.limit(limit, why)
			return
		}
		r.mu.Lock()
		r.turn = turn
		r.mu.Unlock()
		r.takeTurn(turn)
	}
}

// takeTurn makes one request and runs the calls of its reply. It sets r.out.Stop
// when the run is over with it.
func (r *run) takeTurn(turn int) {
	r.steered = false
	r.a.ports.turnStart.Send(r.listenerCtx(), &event.TurnStartEvent{Run: r.handle()})
	r.apply()
	t := &turnState{r: r, index: turn, model: r.a.currentModel(), tried: map[string]bool{}}
	r.setModel(t.model.name)
	if !r.ended() {
		t.converse()
	}
	pushed := append(t.pushed, r.apply()...)
	e := event.TurnEndEvent{
		Run: r.handle(), StopReason: string(t.reply.Stop), Calls: len(t.reply.Calls()),
		Usage: usageOf(t.reply), Error: t.reply.Error,
	}
	if e.StopReason == "" {
		e.StopReason = string(chat.StopAborted) // nothing was sent
	}
	if r.ctx.Err() != nil {
		// Nothing can be refused any more: no waiting for a settle.
		r.a.ports.turnEnd.Snapshot().Send(r.listenerCtx(), &e)
	} else {
		r.a.ports.turnEnd.Send(r.ctx, &e)
	}
	pushed = append(pushed, r.apply()...)
	switch {
	case r.ended():
	case e.Stopped != nil:
		r.stop(StopStopped, stopped(e.Stopped))
	case t.reply.Error != "":
		r.fail(t.err)
	case t.stopped != "":
		r.stop(StopStopped, t.stopped)
	case len(t.reply.Calls()) > 0 && t.finished == "":
	case len(pushed)+len(t.shape.Then) > 0:
		t.goOn(pushed)
	case r.addressed():
		r.apply()
	default:
		if t.finished != "" {
			r.out.Text = t.finished
		}
		if why := shortfall(t.reply); why != "" {
			r.notice(why)
		}
		r.stop(StopEnd, "")
	}
}

// shortfall says what a last reply lacks that ended without an error; "" for
// nothing.
func shortfall(m chat.Message) string {
	switch {
	case m.Stop == chat.StopLength:
		return "the answer is cut: the model reached its output limit"
	case m.Stop == chat.StopFilter:
		return "the answer is cut: the content filter of the model's provider stopped it; ask in other words, or another model"
	case len(m.Calls()) == 0 && strings.TrimSpace(m.Text()) == "":
		return "the model ended without an answer; ask again, or another model"
	}
	return ""
}

// goOn makes another turn after a reply that asked for nothing, because
// listeners pushed a message or set then, as long as the cap allows.
func (t *turnState) goOn(pushed []string) {
	r := t.r
	texts := make([]string, 0, len(t.shape.Then))
	for _, then := range t.shape.Then {
		texts, pushed = append(texts, then.Text), append(pushed, then.By)
	}
	if r.forced == MaxForced && !r.steered {
		slices.Sort(pushed)
		names := strings.Join(slices.DeleteFunc(slices.Compact(pushed), func(s string) bool { return s == "" }), ", ")
		if names == "" {
			names = "a listener"
		}
		r.limit(LimitContinuations, fmt.Sprintf("%s asked to go on after %d finished replies in one run", names, MaxForced+1))
		return
	}
	if !r.steered { // else a person wants it, however often
		r.forced++
	}
	if text := strings.Join(texts, "\n\n"); text != "" {
		r.add(chat.TextMessage(chat.User, text))
	}
}

// limit ends the run at one. Whoever shows the outcome says it: a notice would say it
// twice.
func (r *run) limit(limit Limit, why string) {
	r.stop(StopLimit, why)
	r.out.Limit = limit
}

// turnState is one request with its reply.
type turnState struct {
	r       *run
	index   int
	model   model
	tried   map[string]bool // models that were asked for this reply
	shape   event.Shape
	reply   chat.Message
	err     error   // of a failed reply
	dropped []*byte // the images, by their first byte, without which it is tried again
	stopped string  // why the run ends after this batch, under r.mu while calls run
	// finished is what a call said the run ends with; empty when none did.
	finished string
	pushed   []string // who pushed user messages after the reply
}

// converse shapes and sends the request, commits the reply and runs its calls.
func (t *turnState) converse() {
	r := t.r
	req := t.request()
	if r.ended() {
		return
	}
	if t.route(t.shape.Model, t.shape.By["model"]); r.ended() {
		return
	}
	req.Model = t.model.name
	t.tried[req.Model] = true
	t.watchPrefix(req)
	r.out.Turns++
	t.stream(req)
	r.addUsage(usageOf(t.reply))
	r.out.Text = t.reply.Text()
	t.commit()
	if calls := t.reply.Calls(); len(calls) > 0 {
		t.runCalls(calls)
	}
}

// commit appends the reply. Of one that was cancelled before anything came there
// is nothing to keep; of one that failed there is the error.
func (t *turnState) commit() {
	r := t.r
	if len(t.reply.Blocks) == 0 && t.reply.Stop == chat.StopAborted {
		return
	}
	r.add(t.reply)
	if r.a.ports.message.Listening() {
		e := event.MessageEvent{
			Run: r.handle(), Text: t.reply.Text(), Thinking: t.reply.Thinking(), Usage: usageOf(t.reply),
		}
		for _, c := range t.reply.Calls() {
			e.Calls = append(e.Calls, event.MessageCall{ID: c.ID, Name: c.Name, Arguments: object(c.Arguments)})
		}
		r.a.ports.message.Send(r.listenerCtx(), &e)
	}
	if len(t.reply.Calls()) == 0 {
		t.pushed = append(t.pushed, r.apply()...)
	}
}

func usageOf(m chat.Message) chat.Usage {
	if m.Usage == nil {
		return chat.Usage{}
	}
	return *m.Usage
}
