package script

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.starlark.net/starlark"
)

// Kind of a call: what the host wants of the plugin.
type Kind string

// The kinds.
const (
	Loading  Kind = "load"
	Apply    Kind = "apply"
	Undo     Kind = "undo"
	Listener Kind = "listener"
	Tool     Kind = "tool"
	Command  Kind = "command"
	Service  Kind = "service"
	View     Kind = "view"
	Update   Kind = "update"
	Tick     Kind = "tick"
	Gate     Kind = "gate"
	Reply    Kind = "reply"
	Eval     Kind = "eval"
)

// timeOf is the computing time of a call, where the plugin sets none.
func timeOf(k Kind) time.Duration {
	switch k {
	case Tool, Command, Service, Eval:
		return 30 * time.Second
	case Loading, Apply:
		return 10 * time.Second
	case Undo:
		return 5 * time.Second
	}
	return 2 * time.Second
}

// CallInfo says what a call is for, in words for people: `plugin NAME is busy in
// WHAT`.
type CallInfo struct {
	Kind Kind
	What string // such as "agent/tool-call"; the kind when empty
}

func (c CallInfo) String() string {
	if c.What != "" {
		return c.What
	}
	return string(c.Kind)
}

// MaxNesting is how many calls may be open at once in one chain, across plugins.
const MaxNesting = 16

// Call is one call into an instance. Builtins get theirs from CallOf. Its
// methods are safe for concurrent use, but only the goroutine that runs the
// builtin may use Host, Pause and Resume.
type Call struct {
	inst   *Instance
	info   CallInfo
	parent *Call // the call this one came from; it may have ended
	depth  int
	outer  context.Context // of the caller

	thread *starlark.Thread
	worker *worker // nil: a goroutine of its own
	task   task
	done   chan outcome
	// lent: somebody was given the call and may keep it, so it is not used again.
	lent  atomic.Bool
	limit time.Duration // of computing time; 0 = none
	began time.Time
	steps uint64 // thread.Steps at the start

	// Guarded by Locks.mu.
	live      bool // on the stack of its instance
	pauses    int
	pausedAt  time.Time
	host      time.Duration // spent inside host functions
	charged   time.Duration // computing time of services called from here
	resume    chan struct{} // not nil while Resume waits to be on top again
	cancelErr error
	cancelAt  time.Duration // running time at the cancel
	cancelEnd time.Time     // wall clock of the cancel
	ctx       context.Context
	ctxCancel context.CancelCauseFunc
	after     []func(context.Context)
}

type outcome struct {
	v    starlark.Value
	err  error
	gone bool // its goroutine ended
}

type chainKey struct{}

// callContext carries the call chain through the Go code between two plugins.
// See docs/decisions/0003-call-chains-in-context.md.
type callContext struct {
	context.Context
	call *Call
}

func (c callContext) Value(key any) any {
	if key == (chainKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

func callFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(chainKey{}).(*Call)
	return c
}

const localKey = "starling call"

// slot lets a reused thread carry one call after another.
type slot struct{ call *Call }

// CallOf returns the call a thread runs for, or nil when it is no thread of this
// package.
func CallOf(t *starlark.Thread) *Call {
	s, _ := t.Local(localKey).(*slot)
	if s == nil || s.call == nil {
		return nil
	}
	if !s.call.lent.Load() {
		s.call.lent.Store(true)
	}
	return s.call
}

// Instance the call runs in.
func (c *Call) Instance() *Instance { return c.inst }

// Info of the call.
func (c *Call) Info() CallInfo { return c.info }

// Cause is the kind of the call that a chain of services began with; of any other call
// its own.
func (c *Call) Cause() Kind {
	for c.info.Kind == Service && c.parent != nil {
		c = c.parent
	}
	return c.info.Kind
}

// Context carries the call chain, so that what a builtin does with it may come
// back into this plugin while the builtin is inside Host. It ends with the call,
// with the caller's context, and when the call is cancelled. Work that outlives
// the call must not use it.
func (c *Call) Context() context.Context {
	l := c.inst.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.ctx == nil {
		ctx, cancel := context.WithCancelCause(c.outer)
		c.ctx, c.ctxCancel = callContext{ctx, c}, cancel
		switch {
		case c.cancelErr != nil:
			cancel(c.cancelErr)
		case !c.live:
			cancel(context.Canceled)
		}
	}
	return c.ctx
}

// After runs f once the outermost call of this instance in the chain has
// released the lock, in the order of the calls to After, on the goroutine that
// made that call. f gets the context of that call's caller, with the depth of
// the chain in it: events sent by events end at MaxNesting. When the call has
// ended already, f runs at once.
func (c *Call) After(f func(context.Context)) {
	l := c.inst.locks
	l.mu.Lock()
	outermost := (*Call)(nil)
	for p := c; p != nil; p = p.parent {
		if p.inst == c.inst && p.live {
			outermost = p
		}
	}
	if outermost != nil {
		outermost.after = append(outermost.after, f)
	}
	l.mu.Unlock()
	if outermost == nil {
		f(callContext{c.outer, c})
	}
}

// Host runs f as work of the host: its time is no computing time, and calls that
// carry this call's context may come back into the plugin meanwhile. Every
// builtin that waits or calls other plugins does it inside Host.
func (c *Call) Host(f func()) {
	c.Pause()
	defer c.Resume()
	f()
}

// Pause begins work of the host; see Host. Pauses nest.
func (c *Call) Pause() {
	l := c.inst.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	c.pauses++
	if c.pauses == 1 {
		c.pausedAt = time.Now()
		c.inst.dispatch()
	}
}

// Resume ends it. It waits for a call that came back in and still runs.
func (c *Call) Resume() {
	l := c.inst.locks
	l.mu.Lock()
	var wait chan struct{}
	switch {
	case c.pauses == 0:
	case c.pauses > 1:
		c.pauses--
	case c.live && c.inst.top() != c:
		wait = make(chan struct{})
		c.resume = wait
	default:
		c.goOn()
	}
	l.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

// goOn ends the pause. It needs Locks.mu.
func (c *Call) goOn() {
	c.host += time.Since(c.pausedAt)
	c.pauses = 0
	if c.resume != nil {
		close(c.resume)
		c.resume = nil
	}
}

// Cancel makes the call fail with err as soon as it can.
func (c *Call) Cancel(err error) {
	l := c.inst.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	c.cancel(err)
}

// Age is how long the call has been computing.
func (c *Call) Age() time.Duration {
	l := c.inst.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	return c.computing(time.Now())
}

// computing is the time spent in the plugin's own code and in builtins that are
// not inside Host.
func (c *Call) computing(now time.Time) time.Duration {
	d := now.Sub(c.began) - c.host + c.charged
	if c.pauses > 0 {
		d -= now.Sub(c.pausedAt)
	}
	return d
}

// running tells whether the call computes right now.
func (c *Call) running() bool { return c.live && c.pauses == 0 }

// cancel needs Locks.mu.
func (c *Call) cancel(err error) {
	if !c.live || c.cancelErr != nil {
		return
	}
	now := time.Now()
	c.cancelErr, c.cancelAt, c.cancelEnd = err, c.computing(now), now
	c.thread.Cancel(err.Error())
	if c.ctxCancel != nil {
		c.ctxCancel(err)
	}
}

// check cancels the call when its context, time or steps are over, and tells
// whether the instance must be given up. It needs Locks.mu.
func (c *Call) check(now time.Time) (abandon bool) {
	if c.cancelErr == nil {
		switch computing := c.computing(now); {
		case c.outer.Err() != nil:
			c.cancel(endOf(c.outer))
		case c.limit > 0 && computing > c.limit:
			c.cancel(&LimitError{fmt.Sprintf("stopped after %s of computing; limits = {\"time_ms\": …} changes it", c.limit)})
		}
	}
	if c.cancelErr == nil {
		return false
	}
	if c.pauses == 0 && c.computing(now)-c.cancelAt >= abandonAfter {
		return true
	}
	return now.Sub(c.cancelEnd) >= hostGrace
}

// endOf is why a context is over, in words.
func endOf(ctx context.Context) error {
	switch err := context.Cause(ctx); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the time of the caller is over: %w", err)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("cancelled: %w", err)
	default:
		return err
	}
}

const (
	// tickSteps is how often a running call looks at its context.
	tickSteps = 10_000
	// watchEvery is how often the instance looks at a call that may be inside a
	// builtin, where no step is counted.
	watchEvery = 5 * time.Millisecond
	// watchHost is the same while the call is inside Host.
	watchHost = 50 * time.Millisecond
	// idleAfter is how long an idle instance keeps its goroutine.
	idleAfter = time.Second
	// abandonAfter is how long a cancelled call may stay in a builtin.
	abandonAfter = time.Second
	// hostGrace is how long a cancelled call may stay in a function of the host,
	// which has limits of its own and ends children in an orderly way.
	hostGrace = 10 * time.Second
)

// tick runs on the thread itself.
func (c *Call) tick(t *starlark.Thread) {
	done := t.Steps - c.steps
	if max := uint64(c.inst.limits.Steps); done >= max {
		c.Cancel(&LimitError{fmt.Sprintf("stopped after %d steps; limits = {\"steps\": …} changes it", max)})
		return
	} else {
		t.SetMaxExecutionSteps(t.Steps + min(tickSteps, max-done))
	}
	l := c.inst.locks
	l.mu.Lock()
	c.check(time.Now())
	l.mu.Unlock()
	if c.inst.env.Tick != nil {
		c.inst.env.Tick(c)
	}
}

// LimitError says which limit a call ran into.
type LimitError struct{ Msg string }

func (e *LimitError) Error() string { return e.Msg }

// AbandonedError says that an instance was given up because a call did not
// return after it was cancelled.
type AbandonedError struct {
	Plugin string
	What   string
}

func (e *AbandonedError) Error() string {
	return fmt.Sprintf("plugin %s is stuck: a call in %s did not stop; load it again", e.Plugin, e.What)
}

// BusyError says that a call waited too long for its turn.
type BusyError struct {
	Plugin string
	What   string // what the plugin was busy in
}

func (e *BusyError) Error() string { return fmt.Sprintf("plugin %s is busy in %s", e.Plugin, e.What) }

// DeadlockError says that plugins would have waited for each other.
type DeadlockError struct {
	Plugins []string // in the order of who waits for whom; the first waits last
	detail  string
}

func (e *DeadlockError) Error() string { return e.detail }

// UnloadedError says that the plugin is gone.
type UnloadedError struct{ Plugin string }

func (e *UnloadedError) Error() string { return "plugin " + e.Plugin + " was unloaded" }
