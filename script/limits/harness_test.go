package limits

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// program compiles src, checked or as the language has it.
func program(src string, checked bool, l Limits, extra starlark.StringDict) (starlark.StringDict, error) {
	opts := &syntax.FileOptions{Set: true, While: true}
	f, err := opts.Parse("t.star", src, 0)
	if err != nil {
		return nil, err
	}
	pre := plainNames()
	if checked {
		Rewrite(f)
		pre = Predeclared(l)
	}
	for k, v := range extra {
		pre[k] = v
	}
	p, err := starlark.FileProgram(f, pre.Has)
	if err != nil {
		return nil, err
	}
	return p.Init(&starlark.Thread{Print: func(*starlark.Thread, string) {}}, pre)
}

// outcome is what a caller can see of a call.
type outcome struct {
	value   string
	printed string
	err     string
}

// call runs f() of src within the steps a plugin call has.
func call(src string, checked bool, l Limits) outcome {
	var out outcome
	thread := &starlark.Thread{Name: "t", Print: func(_ *starlark.Thread, s string) { out.printed += s + "\n" }}
	thread.SetMaxExecutionSteps(5_000_000)
	g, err := program(src, checked, l, starlark.StringDict{"attempt": starlark.NewBuiltin("attempt", attempt)})
	if err == nil {
		var v starlark.Value
		if v, err = starlark.Call(thread, g["f"], nil, nil); err == nil {
			out.value = v.String()
		}
	}
	if err != nil {
		out.err = err.Error()
	}
	return out
}

// attempt(fn) is what fn returns, or its error as text.
func attempt(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Call(thread, args[0], nil, nil)
	if err != nil {
		return starlark.String(err.Error() + " at " + position(err)), nil
	}
	return v, nil
}

// position of the innermost frame in the file.
func position(err error) string {
	var e *starlark.EvalError
	if !errors.As(err, &e) {
		return ""
	}
	for i := range e.CallStack {
		if fr := e.CallStack.At(i); fr.Pos.Filename() == "t.star" {
			return fmt.Sprintf("%d:%d", fr.Pos.Line, fr.Pos.Col)
		}
	}
	return ""
}

// guardedCall runs fn as a host would: steps, deadline, watchdog. cancelled tells
// when the call was cancelled; it is zero if it was not.
type guardedCall struct {
	thread    *starlark.Thread
	cancelled atomic.Int64 // Unix nanoseconds
	done      chan struct{}
	value     starlark.Value
	err       error
}

func start(fn starlark.Value, steps uint64, deadline time.Duration, w *Watchdog) *guardedCall {
	c := &guardedCall{done: make(chan struct{})}
	c.thread = &starlark.Thread{Name: "plugin", Print: func(*starlark.Thread, string) {}}
	var ticks atomic.Uint64
	c.thread.OnMaxSteps = func(t *starlark.Thread) {
		ticks.Add(1)
		if t.Steps >= steps {
			c.cancel("too many steps")
		}
		t.SetMaxExecutionSteps(t.Steps + 10_000)
	}
	c.thread.SetMaxExecutionSteps(10_000)
	leave := w.Enter(Call{Ticks: ticks.Load, Cancel: c.cancel})
	timer := time.AfterFunc(deadline, func() { c.cancel("time limit") })
	go func() {
		defer close(c.done)
		defer leave()
		defer timer.Stop()
		c.value, c.err = starlark.Call(c.thread, fn, nil, nil)
	}()
	return c
}

func (c *guardedCall) cancel(reason string) {
	c.cancelled.CompareAndSwap(0, time.Now().UnixNano())
	c.thread.Cancel(reason)
}

func indent(body string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  ") + "\n"
}
