package agent

import (
	"fmt"
	"sync"
	"time"

	"starling/bus"
	"starling/bus/event"
)

// shaping is one announcement of agent/request. While it is open, handles that
// came with it may hold the request back and may not change the transcript.
type shaping struct {
	mu    sync.Mutex
	open  bool
	held  map[bus.Owner]bool // who held the request, also in earlier announcements of it
	holds []*hold
}

// isOpen is false for the handles of every other event.
func (s *shaping) isOpen() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *shaping) hold(by bus.Owner, limit time.Duration) (event.Hold, error) {
	if s == nil {
		return nil, event.ErrNotHere
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.open:
		return nil, event.ErrNotHere
	case s.held[by]:
		return nil, event.ErrHeld
	}
	s.held[by] = true
	h := &hold{by: by, limit: limit, done: make(chan struct{})}
	if limit > 0 {
		h.timer = time.NewTimer(limit)
	}
	s.holds = append(s.holds, h)
	return h, nil
}

// close ends the announcement and returns its holds.
func (s *shaping) close() []*hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	return s.holds
}

// hold keeps one request back for one plugin.
type hold struct {
	by    bus.Owner
	limit time.Duration
	timer *time.Timer // nil without a limit
	done  chan struct{}
	once  sync.Once
}

func (h *hold) Release() {
	h.once.Do(func() {
		close(h.done)
		if h.timer != nil {
			h.timer.Stop()
		}
	})
}

func (h *hold) Released() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// waitFor waits until every hold is let go and returns the owners of those that
// were not let go by themselves: they are not asked again about this request. A
// fail_closed one of them ends the run, as does its cancel. Nothing is locked
// meanwhile.
func (r *run) waitFor(holds []*hold, heard bus.Snapshot[event.RequestEvent, event.RequestAnswer]) (lapsed []bus.Owner) {
	defer func() {
		for _, h := range holds {
			h.Release()
		}
	}()
	for _, h := range holds {
		why := r.waitOne(h)
		switch {
		case r.ended():
			return nil
		case why == "":
			continue
		case heard.FailClosed(h.by):
			r.stop(StopStopped, fmt.Sprintf("%s held the request and %s; it is fail_closed, so nothing is sent without it", h.name(), why))
			return nil
		}
		r.notice(fmt.Sprintf("%s held the request and %s: it is shaped without it", h.name(), why))
		lapsed = append(lapsed, h.by)
	}
	return lapsed
}

// waitOne returns why a hold ended without its release; empty when it was
// released or the run ended.
func (r *run) waitOne(h *hold) string {
	port := r.a.ports.request
	var expired <-chan time.Time
	if h.timer != nil {
		expired = h.timer.C
	}
	for {
		changed := r.a.o.Bus.Store().Changed()
		if h.Released() {
			return ""
		}
		if h.by != (bus.Owner{}) && !port.Stands(h.by) {
			return "was unloaded"
		}
		select {
		case <-h.done:
			return ""
		case <-expired:
			return fmt.Sprintf("did not let it go within %s", h.limit)
		case <-r.ctx.Done():
			return ""
		case <-changed:
		}
	}
}

func (h *hold) name() string {
	if h.by.Name == "" {
		return "a listener"
	}
	return h.by.Name
}
