package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
)

// stream sends req and collects the reply into t.reply. It ends when the reply
// does or soon after the run was cancelled, even when the provider does not.
func (t *turnState) stream(req provider.Request) {
	r := t.r
	listeners := r.a.ports.stream.Snapshot()
	announce := func(ctx context.Context, e event.StreamEvent) {
		if e.Turn = t.index; listeners.Listening() {
			listeners.Send(ctx, &e)
		}
	}
	announce(r.listenerCtx(), event.StreamEvent{Kind: "start"})
	for again := true; again; {
		if again = t.attempt(req, listeners); !again && t.smaller(&req) {
			again = true
			r.out.Turns++ // it counts requests
		}
		req.Model = t.model.name
	}
	last := event.StreamEvent{Kind: "done", Stop: string(t.reply.Stop), Text: t.reply.Error}
	if t.reply.Error != "" {
		last.Kind = "error"
	}
	announce(r.listenerCtx(), last)
}

// attempt makes one stream of a request. It returns true when nothing came and a
// listener of agent/provider-error named another model, which is now the turn's.
func (t *turnState) attempt(req provider.Request, listeners bus.Snapshot[event.StreamEvent, bus.None]) (again bool) {
	r := t.r
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	s := &receiver{
		ctx: ctx, end: cancel, turn: t.index, listeners: listeners,
		decide: func(w *provider.Wait) event.RetryDecision { return t.decide(ctx, w, req.Model) },
	}
	_, failure := await(ctx, func() (bool, error) {
		t.model.provider.Stream(ctx, req, s.take)
		return true, nil
	})
	reply, other := s.close()
	if other.Model != "" && r.ctx.Err() == nil {
		t.fallBack(other)
		return !r.ended()
	}
	t.reply, t.err = reply.Message(), reply.Err()
	t.reply.Model = req.Model
	switch {
	case t.err == nil:
	case r.ctx.Err() != nil:
		t.reply.Stop, t.reply.Error = chat.StopAborted, cancelText(context.Cause(r.ctx))
	case errors.Is(t.err, provider.ErrCut) && failure != nil && ctx.Err() == nil:
		t.err = fmt.Errorf("the provider failed: %w", failure)
		t.reply.Error = t.err.Error()
	}
	r.a.nameCalls(t.reply.Blocks)
	return false
}

// receiver takes the events of one stream on the provider's goroutine.
type receiver struct {
	ctx       context.Context
	end       context.CancelFunc
	turn      int
	listeners bus.Snapshot[event.StreamEvent, bus.None]
	shared    event.StreamEvent // payload of piece, which only the provider's goroutine calls
	// decide asks what to do about a request that failed before its first token.
	decide func(*provider.Wait) event.RetryDecision

	mu     sync.Mutex
	reply  provider.Reply
	other  event.RetryDecision // names a model when one is to be asked instead
	closed bool
}

// take is the path of every token: one copy into the block's buffer, and a range
// of it to whoever listens. Nobody is called under the lock, so a listener that
// hangs does not hold up a cancel.
func (s *receiver) take(e provider.Event) {
	s.mu.Lock()
	if s.closed || e.Kind > provider.Waiting { // a kind of a version to come
		s.mu.Unlock()
		return
	}
	text := s.reply.Take(e)
	kind := s.reply.Block(e.Index)
	over := e.Kind == provider.Done || s.reply.Err() != nil && !errors.Is(s.reply.Err(), provider.ErrCut)
	s.mu.Unlock()
	if over {
		// What comes behind the end counts for nothing: nobody waits for it.
		s.end()
		return
	}
	if e.Kind == provider.Waiting && e.Wait != nil && s.ctx.Err() == nil {
		s.wait(e.Wait)
		return
	}
	if !s.listeners.Listening() || s.ctx.Err() != nil {
		return // what comes behind a cancel is kept, and told with the message
	}
	switch e.Kind {
	case provider.BlockStart:
		s.piece(event.StreamEvent{Kind: "block_start", Index: e.Index, Block: string(kind), Text: e.Name})
	case provider.Delta:
		s.piece(event.StreamEvent{Kind: "delta", Index: e.Index, Block: string(kind), Text: text})
	case provider.BlockEnd:
		s.piece(event.StreamEvent{Kind: "block_end", Index: e.Index, Block: string(kind)})
	}
}

func (s *receiver) announce(ctx context.Context, e event.StreamEvent) {
	if s.listeners.Listening() {
		s.send(ctx, new(event.StreamEvent), e)
	}
}

func (s *receiver) send(ctx context.Context, payload *event.StreamEvent, e event.StreamEvent) {
	*payload = e
	payload.Turn = s.turn
	s.listeners.Send(ctx, payload)
}

// piece announces what take took. There may be many thousand: where nobody keeps the
// payload, one is enough.
func (s *receiver) piece(e event.StreamEvent) {
	if !s.listeners.Borrow() {
		s.announce(s.ctx, e)
		return
	}
	s.send(s.ctx, &s.shared, e)
}

// wait applies what listeners decide about the pause before the next attempt.
func (s *receiver) wait(w *provider.Wait) {
	d := s.decide(w)
	switch {
	case d.Stop != nil:
		s.mu.Lock()
		s.reply.Take(provider.Event{Kind: provider.Failed, Err: fmt.Errorf("%w (no further attempt: %s)", w.Err, stopped(d.Stop))})
		s.mu.Unlock()
		s.end()
	case d.Model != "":
		s.mu.Lock()
		s.other = d
		s.mu.Unlock()
		s.end()
	case d.WaitMS != nil:
		w.For = time.Duration(*d.WaitMS) * time.Millisecond
	}
}

// close stops taking events and hands out what came.
func (s *receiver) close() (*provider.Reply, event.RetryDecision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return &s.reply, s.other
}

// nameCalls gives every call of a reply an id of its own: without one its result
// could not be told apart.
func (a *Agent) nameCalls(blocks []chat.Block) {
	taken := map[string]bool{}
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != chat.Call {
			continue
		}
		for b.ID == "" || taken[b.ID] {
			b.ID = fmt.Sprintf("call_%d", a.made.Add(1))
		}
		taken[b.ID] = true
	}
}
