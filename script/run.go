package script

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"go.starlark.net/starlark"
)

// task is what a call does: a function of the plugin, or body.
type task struct {
	fn     starlark.Callable
	args   starlark.Tuple
	kwargs []starlark.Tuple
	body   func(*starlark.Thread) (starlark.Value, error)
}

func (w *task) run(t *starlark.Thread) (starlark.Value, error) {
	if w.body != nil {
		return w.body(t)
	}
	return starlark.Call(t, w.fn, w.args, w.kwargs)
}

func (i *Instance) run(ctx context.Context, info CallInfo, work task) (starlark.Value, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("plugin %s: %s: %w", i.Name(), info, endOf(ctx))
	}
	c := i.locks.newCall()
	c.inst, c.info, c.parent, c.outer, c.depth, c.task = i, info, callFrom(ctx), ctx, 1, work
	if p := c.parent; p != nil {
		if c.depth = p.depth + 1; c.depth > MaxNesting {
			return nil, fmt.Errorf("calls between plugins are nested more than %d deep: %s", MaxNesting, c.trail())
		}
		if p.inst.locks != i.locks {
			c.parent = nil // another table guards it; only the depth counts
		}
	}
	if err := i.enter(ctx, c); err != nil {
		return nil, err
	}
	if c.worker != nil {
		c.worker.jobs <- c
	} else {
		go c.exec()
	}
	out := <-c.done
	return i.leave(c, out)
}

// worker is a goroutine that runs one call after another: its stack has grown to
// what the interpreter needs, which a fresh one would do each time. Calls that
// come back in get goroutines of their own.
type worker struct {
	jobs chan *Call
	done chan outcome // of its calls, one after another
}

func newWorker() *worker {
	w := &worker{make(chan *Call, 1), newDone()}
	go func() {
		for c := range w.jobs {
			c.exec()
		}
	}()
	return w
}

// newDone has room for the outcome of a call that was abandoned and returns all
// the same.
func newDone() chan outcome { return make(chan outcome, 2) }

// retire ends a worker once it is done with what it has.
func (i *Instance) retire() {
	if i.worker != nil {
		close(i.worker.jobs)
		i.worker = nil
	}
}

// trail names the last calls of the chain, outermost first.
func (c *Call) trail() string {
	var names []string
	for p := c; p != nil && len(names) < 6; p = p.parent {
		names = append([]string{p.inst.Name() + " (" + p.info.String() + ")"}, names...)
	}
	return "… -> " + strings.Join(names, " -> ")
}

var errGone = errors.New("the host function ended its goroutine")

// exec runs the call on a goroutine of its own, so that the caller can leave one
// that never returns.
func (c *Call) exec() {
	out := outcome{err: errGone, gone: true}
	defer func() {
		if v := recover(); v != nil {
			out = outcome{err: &PanicError{Value: v, Stack: string(debug.Stack())}}
		}
		c.done <- out
	}()
	v, err := c.task.run(c.thread)
	out = outcome{v: v, err: err}
}

// PanicError is a panic of a builtin: a fault of the host, not of the plugin.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic in a builtin: %v", e.Value) }

// prepare gives a call its thread and its limits. It needs locks.mu.
func (i *Instance) prepare(c *Call) {
	if len(i.stack) == 1 {
		c.thread, i.thread = i.thread, nil
		c.worker, i.worker = i.worker, nil
		if c.worker == nil {
			c.worker = newWorker()
		}
		c.done = c.worker.done
	} else {
		c.done = newDone()
	}
	if c.thread == nil {
		c.thread = i.newThread()
	}
	c.thread.Local(localKey).(*slot).call = c
	c.steps = c.thread.Steps
	c.thread.SetMaxExecutionSteps(c.steps + min(tickSteps, uint64(i.limits.Steps)))
	c.began = time.Now()
	c.limit = i.timeFor(c)
	i.look(watchEvery)
}

// look makes the watch fire after d, or sooner where it is set to. It needs
// locks.mu.
func (i *Instance) look(d time.Duration) {
	switch {
	case i.timer == nil:
		i.timer = time.AfterFunc(d, i.watch)
	case i.every == 0 || i.every > d:
		i.timer.Reset(d)
	default:
		return
	}
	i.every = d
}

// timeFor is the computing time of a call; a service spends that of its caller.
func (i *Instance) timeFor(c *Call) time.Duration {
	limit := timeOf(c.info.Kind)
	switch c.info.Kind {
	case Loading, Apply, Undo:
	default:
		if i.limits.Time > 0 {
			limit = i.limits.Time
		} else if i.limits.Time < 0 {
			limit = 0
		}
	}
	if p := c.parent; c.info.Kind == Service && p != nil && p.live && p.limit > 0 {
		left := max(p.limit-p.computing(c.began), time.Millisecond)
		if limit == 0 || left < limit {
			limit = left
		}
	}
	return limit
}

func (i *Instance) newThread() *starlark.Thread {
	t := &starlark.Thread{Name: i.Name(), Load: i.load}
	t.SetLocal(localKey, &slot{})
	t.OnMaxSteps = func(t *starlark.Thread) {
		if c := CallOf(t); c != nil {
			c.tick(t)
		}
	}
	return t
}

// load answers a load statement.
func (i *Instance) load(t *starlark.Thread, module string) (starlark.StringDict, error) {
	from := t.CallFrame(0).Pos.Filename()
	rel := ""
	for name, lib := range i.prog.libs {
		if lib.path == from {
			rel = name
		}
	}
	name, err := resolveLoad(rel, module)
	if err != nil {
		return nil, err
	}
	if done, ok := i.modules[name]; ok {
		return done, nil
	}
	lib := i.prog.libs[name]
	if lib == nil {
		return nil, fmt.Errorf("load of %q: not linked", module)
	}
	globals, err := lib.prog.Init(t, i.predeclared)
	if err == nil {
		err = lib.freeze(globals)
	}
	if err != nil {
		return nil, err
	}
	i.modules[name] = globals
	return globals, nil
}

// leave takes a call off the stack and gives the turn to the next.
func (i *Instance) leave(c *Call, out outcome) (starlark.Value, error) {
	now := time.Now()
	l := i.locks
	l.mu.Lock()
	abandoned := !c.live
	used := c.computing(now)
	spare := !abandoned && out.err == nil && !c.lent.Load()
	if spare {
		c.thread.Local(localKey).(*slot).call = nil
	}
	if !abandoned {
		c.live = false
		i.stack = without(i.stack, c)
		i.reuse(c, out)
		if p := c.parent; c.info.Kind == Service && p != nil {
			p.charged += used
		}
		i.stats.Steps += c.thread.Steps - c.steps
	}
	i.stats.Calls++
	if out.err != nil {
		i.stats.Errors++
	}
	if used > i.stats.Slowest {
		i.stats.Slowest, i.stats.SlowestIn = used, c.info.String()
	}
	i.dispatch()
	i.wakeIdle()
	ctxCancel, after, cancelErr := c.ctxCancel, c.after, c.cancelErr
	l.mu.Unlock()
	if ctxCancel != nil {
		ctxCancel(context.Canceled)
	}
	if !abandoned {
		for _, f := range after {
			f(callContext{c.outer, c})
		}
	}
	if out.err == nil {
		if spare {
			l.recycle(c)
		}
		return out.v, nil
	}
	return nil, i.errorOf(out.err, cancelErr)
}

// reuse keeps the thread and the goroutine of a call for the next one, unless
// something happened to them. It needs locks.mu.
func (i *Instance) reuse(c *Call, out outcome) {
	if _, broken := out.err.(*PanicError); len(i.stack) == 0 && c.cancelErr == nil && !broken && !out.gone {
		i.thread = c.thread
	}
	if c.worker == nil {
		return
	}
	if i.worker != nil || out.gone || i.closed {
		close(c.worker.jobs)
		return
	}
	i.worker = c.worker
}

func (i *Instance) errorOf(err, cancelErr error) error {
	switch e := err.(type) {
	case *Error, ErrorList, *AbandonedError:
		return err
	case *starlark.EvalError:
		out := i.prog.fromEval(e)
		if ours, ok := out.(*Error); ok && ours.cause == nil {
			ours.cause = cancelErr
		} else if ok && cancelErr != nil && strings.HasPrefix(e.Msg, cancelled) {
			ours.cause = cancelErr
		}
		return out
	}
	return i.prog.fromEval(err)
}

// watch looks at the calls of the instance while there are any, and once more
// when it has been idle for a while.
func (i *Instance) watch() {
	l := i.locks
	l.mu.Lock()
	now := time.Now()
	var long *Call
	for _, c := range i.stack {
		if c.check(now) {
			i.abandon(c)
			break
		}
		if c.running() && c.computing(now) >= watchEvery {
			long = c
			c.lent.Store(true)
		}
	}
	was := i.every
	i.every = 0
	switch top := i.top(); {
	case top != nil && top.running():
		i.look(watchEvery)
	case top != nil:
		i.look(watchHost)
	case i.worker != nil && was < idleAfter:
		i.look(idleAfter)
	default:
		i.retire()
	}
	l.mu.Unlock()
	if long != nil && i.env.Watch != nil {
		i.env.Watch(long)
	}
}

// abandon gives the instance up: every open call returns to its caller at once,
// what still runs of them is left behind. It needs locks.mu.
func (i *Instance) abandon(c *Call) {
	i.stuck = &AbandonedError{i.Name(), c.info.String()}
	frames := i.stack
	i.stack = nil
	for _, f := range frames {
		f.cancel(i.stuck)
		f.live = false
		if f.resume != nil {
			f.goOn()
		}
		if f.worker != nil {
			close(f.worker.jobs) // it ends if the call ever returns
		}
		f.done <- outcome{err: i.stuck}
	}
	i.refuseAll(i.stuck)
	i.wakeIdle()
	if i.env.OnStuck != nil {
		go i.env.OnStuck(i.stuck)
	}
}

func (i *Instance) wakeIdle() {
	for _, ch := range i.idlers {
		close(ch)
	}
	i.idlers = nil
}
