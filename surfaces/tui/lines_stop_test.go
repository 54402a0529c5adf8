package tui

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"starling/bus/event"
	"starling/bus/view"
)

const leaveHint = "nothing runs; to leave, Ctrl-D or Ctrl-C again\n"

// clocked has the session read a clock that the test moves.
func (l *plainLab) clocked() (move func(time.Duration)) {
	l.t.Helper()
	l.sees("/help")
	var passed atomic.Int64
	begin := time.Now()
	l.onLoop(func() { l.s.now = func() time.Time { return begin.Add(time.Duration(passed.Load())) } })
	return func(d time.Duration) { passed.Add(int64(d)) }
}

// onLoop runs f on the event loop and waits for it.
func (l *plainLab) onLoop(f func()) {
	l.t.Helper()
	done := make(chan struct{})
	l.s.in.do(func() { f(); close(done) })
	select {
	case <-done:
	case <-time.After(patience):
		l.t.Fatal("the event loop is stuck")
	}
}

// interrupts is Ctrl-C; it tells whether the session goes on.
func (l *plainLab) interrupts() (goesOn bool) {
	l.t.Helper()
	l.onLoop(func() {
		l.s.lines.interrupt()
		goesOn = !l.s.stopped
	})
	return goesOn
}

// Only the second Ctrl-C in a row leaves, and none that may be meant for a run does.
func TestLinesInterrupt(t *testing.T) {
	one := func(l *plainLab) {
		l.t.Helper()
		if !l.interrupts() {
			l.t.Fatalf("one Ctrl-C ended the session:\n%s", l.text())
		}
	}
	for name, between := range map[string]func(l *plainLab, move func(time.Duration)){
		"a while": func(_ *plainLab, move func(time.Duration)) { move(quitTime) },
		"a line": func(l *plainLab, _ func(time.Duration)) {
			l.line("/greet you")
			l.sees("hello you")
		},
		"the beginning of a line": func(l *plainLab, _ func(time.Duration)) {
			l.line(`half of it \`)
			until(l, "the half", func() bool { return l.s.lines.half != "" })
		},
		"the end of a run": func(l *plainLab, _ func(time.Duration)) {
			l.onLoop(func() { l.s.prompt(entry("of a plugin")) })
			l.sees("ready\n")
		},
		"a run that is stopped": func(l *plainLab, _ func(time.Duration)) {
			l.e.mu.Lock()
			l.e.run = waiting
			l.e.mu.Unlock()
			l.onLoop(func() { l.s.prompt(entry("of a plugin")) })
			one(l)
			l.sees("stopping\n")
			l.sees("ready\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newPlain(t, &engine{})
			move := l.clocked()
			one(l)
			l.sees(leaveHint)
			between(l, move)
			one(l)
			move(quitTime - time.Nanosecond)
			if l.interrupts() {
				t.Errorf("two in a row do not leave:\n%s", l.text())
			}
			l.ends()
		})
	}
}

// until waits for something to come true on the event loop.
func until(l *plainLab, what string, f func() bool) {
	l.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		ok := false
		if l.onLoop(func() { ok = f() }); ok {
			return
		}
	}
	l.t.Fatalf("never: %s in\n%s", what, l.text())
}

// Ctrl-C drops what is half typed: the next line begins anew.
func TestLinesInterruptDrops(t *testing.T) {
	for name, run := range map[string]func(context.Context, string) view.Outcome{"without a run": nil, "in a run": waiting} {
		t.Run(name, func(t *testing.T) {
			e := &engine{run: run}
			l := newPlain(t, e)
			l.sees("/help")
			want := 1
			if run != nil {
				l.line("first")
				until(l, "the run", func() bool { return l.s.running != nil })
				want = 2
			}
			l.line(`rm \`)
			until(l, "the half", func() bool { return l.s.lines.half != "" })
			l.interrupts()
			until(l, "the end of the run", func() bool { return l.s.running == nil })
			l.line("hello")
			until(l, "the prompt", func() bool { return len(e.said()) == want })
			if got := e.said(); got[want-1] != "hello" {
				t.Errorf("said %q", got)
			}
			l.interrupts()
			l.line("/quit")
			l.ends()
		})
	}
}

// A run that is stopped is no more to be asked for; a question about trust stays.
func TestLinesInterruptRefuses(t *testing.T) {
	e := &engine{run: waiting}
	l := newPlain(t, e)
	l.sees("/help")
	l.line("go")
	until(l, "the run", func() bool { return l.s.running != nil })
	for i, q := range []*event.QuestionEvent{
		{Kind: "permission", Tool: "bash", Summary: "bash make", Detail: "make", Options: []string{"yes", "no"}},
		{Kind: "trust", Summary: "trust plugin w?", Detail: "a file", Options: []string{view.AnswerTrust, "no"}},
		{Kind: "question", Summary: "which?", Options: []string{"red", "blue"}},
	} {
		q.ID = fmt.Sprintf("q%d", i)
		l.s.onQuestion(q)
	}
	l.sees("allow bash?")
	l.interrupts()
	l.sees("? trust plugin w?")
	l.sees("ready\n")
	until(l, "the answers", func() bool { return len(e.answered()) == 2 })
	if got := e.heard(); got["q0"].Value != "no" || got["q2"].Value != "" || len(got) != 2 {
		t.Errorf("answered %+v", got)
	}
	if strings.Contains(l.text(), "which?") {
		t.Errorf("it asks for a run that is stopped:\n%s", l.text())
	}
	l.readable()
	l.line("1")
	until(l, "the answer", func() bool { return len(e.answered()) == 3 })
	l.line("/quit")
	l.ends()
}
