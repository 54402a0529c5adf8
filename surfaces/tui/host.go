package tui

import (
	"fmt"
	"runtime/debug"
	"time"

	"starling/bus/view"
	"starling/surfaces/tui/kit"
)

// host is what parts may ask of a session.
type host struct{ s *Session }

var _ kit.Host = host{}

func (h host) Redraw()           { h.s.in.do(func() {}) }
func (h host) Do(f func())       { h.s.in.do(f) }
func (h host) Theme() *kit.Theme { return h.s.looks.Load() }
func (h host) Signs() *kit.Signs { return h.s.signs }
func (h host) Say(n view.Notice) { h.s.Notice(n) }

// Go runs f beside the loop. A panic in it ends the session as one in the loop does:
// with the terminal in order.
func (h host) Go(f, done func()) {
	go func() {
		defer func() {
			if p := recover(); p != nil {
				stack := debug.Stack()
				h.s.in.do(func() { panic(fmt.Sprintf("%v\n\n%s", p, stack)) })
			}
		}()
		f()
		if done != nil {
			h.s.in.do(done)
		}
	}()
}

// after runs f on the event loop when some time has passed.
func (s *Session) after(d time.Duration, f func()) {
	time.AfterFunc(d, func() { s.in.do(f) })
}
