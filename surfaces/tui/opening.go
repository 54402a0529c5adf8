package tui

import (
	"context"
	"time"

	"starling/bus/chat"
	"starling/bus/view"
)

// Open makes the engine of a session, while the session is on the screen already. ctx
// ends when the person leaves before the engine is there.
type Open func(ctx context.Context) (Driver, error)

// opening is an engine on its way.
type opening struct {
	done chan struct{} // closed once driver or err stands
	// driver is nil when there will be none.
	driver Driver
	err    error
}

// opened is an engine that is there.
func opened(d Driver) *opening {
	o := &opening{done: make(chan struct{}), driver: d}
	close(o.done)
	return o
}

// wait returns the engine once it is there; nil when ctx ends first, or when there is
// none.
func (o *opening) wait(ctx context.Context) Driver {
	select {
	case <-o.done:
		return o.driver
	default:
	}
	select {
	case <-o.done:
		return o.driver
	case <-ctx.Done():
		return nil
	}
}

// slowStart is how long an engine may take before the screen says that it starts.
const slowStart = 200 * time.Millisecond

// open makes the engine beside the loop.
func (s *Session) open(ctx context.Context, open Open) {
	o := s.engine
	host{s}.Go(func() {
		defer close(o.done)
		o.driver, o.err = open(ctx)
	}, func() {
		if o.err != nil {
			s.stop(o.err)
			return
		}
		// A panic of open is on its way through the inbox.
		s.beside(s.arrival)
	})
	s.after(slowStart, func() {
		if !s.ready && !s.stopped {
			s.work.on = true
			s.doing("starting")
		}
	})
}

// arrival reads what the engine knows already, and shows it: work for beside.
func (s *Session) arrival(d Driver) (done func()) {
	past, status, mode := d.Transcript(), d.Status(), d.Mode()
	return func() { s.arrive(past, status, mode) }
}

// arrive shows what was said before, then what was told while the engine started, and
// runs what the person sent meanwhile.
func (s *Session) arrive(past []chat.Message, status view.Status, mode string) {
	s.replay(past)
	s.checkAttached()
	s.status, s.mode, s.ready = status, mode, true
	s.idle()
	for _, f := range s.held {
		f()
	}
	s.held = nil
	s.next()
}

// checkAttached says which files of the command line cannot be attached. They stand in the
// prompt since the first frame.
func (s *Session) checkAttached() {
	if len(s.o.Attach) == 0 {
		return
	}
	s.beside(func(d Driver) func() {
		var faults []string
		for _, path := range s.o.Attach {
			if err := d.Attachable(s.ctx, path); err != nil {
				faults = append(faults, err.Error())
			}
		}
		return func() {
			for _, text := range faults {
				s.notice(view.Notice{Text: text, Warn: true})
			}
		}
	})
}

// onceReady runs f on the event loop, behind what was said in an earlier time.
func (s *Session) onceReady(f func()) {
	s.in.do(func() {
		if s.ready {
			f()
			return
		}
		s.held = append(s.held, f)
	})
}

// beside has f work with the engine beside the loop, once it is there; what f returns
// is done on the loop. Neither happens in a session that ends first.
func (s *Session) beside(f func(Driver) (done func())) {
	var done func()
	host{s}.Go(func() {
		if d := s.engine.wait(s.ctx); d != nil {
			done = f(d)
		}
	}, func() {
		if done != nil {
			done()
		}
	})
}
