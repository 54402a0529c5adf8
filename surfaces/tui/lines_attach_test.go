package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"starling/bus/view"
)

// sent are the files that went to the engine, in order.
func (e *engine) sent() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.files)
}

// does sets what a run is.
func (e *engine) does(run func(context.Context, string) view.Outcome) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.run = run
}

// What is attached in the line mode goes with the next line that is sent, once, and with
// the line that waits it was attached to.
func TestLinesAttach(t *testing.T) {
	e := &engine{refuses: map[string]error{"z.zip": errors.New("z.zip is binary")}}
	l := newPlain(t, e)
	l.line("/attach a.png z.zip")
	l.sees("warning: z.zip is binary")
	l.sees("attached to the next prompt: a.png\n")
	l.line("/attach b.txt")
	l.sees("attached to the next prompt: a.png, b.txt\n")
	l.line("/attach drop")
	l.sees("not attached any more: a.png, b.txt\n")
	l.line("/attach c.png")
	l.sees("attached to the next prompt: c.png\n")
	e.does(waiting)
	l.line("look")
	l.sees("you: look\nsent along: c.png\n")
	l.line("/attach d.png")
	l.sees("attached to the next prompt: d.png\n")
	l.line("and this")
	l.sees("queued with d.png: and this\n")
	l.line("/queue")
	l.sees("and this (with d.png)\n")
	l.line("more")
	l.sees("queued: more\n")
	e.does(nil)
	l.onLoop(func() { l.s.stopRun() })
	l.sees("2 queued lines wait: an empty line sends the first")
	l.line("")
	l.sees("you: and this\nsent along: d.png\n")
	l.sees("you: more\n")
	l.line("/quit")
	l.ends()
	if got := e.sent(); !slices.Equal(got, []string{"c.png", "d.png"}) {
		t.Errorf("sent along: %q", got)
	}
}

// The files of a prompt that was not taken wait for the next one.
func TestLinesAttachStays(t *testing.T) {
	e := &engine{run: func(context.Context, string) view.Outcome {
		return view.Outcome{Stop: "error", Why: "a.png is gone", Untaken: true}
	}}
	l := newPlain(t, e)
	l.line("/attach a.png")
	l.sees("prompt: a.png\n")
	l.line("look")
	l.sees("attached to the next prompt: a.png; /attach drop forgets it\n")
	l.sees("warning: error: a.png is gone\n")
	l.sees("ready\n")
	e.does(nil)
	l.line("again")
	l.sees("you: again\nsent along: a.png\n")
	l.line("/quit")
	l.ends()
}

// Files of the command line go with the first prompt, but for those that cannot be read.
func TestLinesAttachedFromTheStart(t *testing.T) {
	e := &engine{refuses: map[string]error{"none": errors.New("none: no such file")}}
	l := newPlainWith(t, e, Options{Attach: []string{"a.png", "none", "b.txt"}})
	l.sees("warning: none: no such file\nattached to the next prompt: a.png, b.txt\n")
	l.line("first")
	l.sees("sent along: a.png, b.txt\n")
	l.line("second")
	l.sees("you: second\n")
	l.line("/quit")
	l.ends()
	if got := e.sent(); !slices.Equal(got, []string{"a.png", "b.txt"}) {
		t.Errorf("sent along: %q", got)
	}
}

// /steer sends a line into the run, with what is attached; where none goes it is a prompt.
func TestLinesSteer(t *testing.T) {
	e := &engine{run: waiting}
	l := newPlain(t, e)
	l.line("/steer begin")
	l.sees("you: begin\n")
	until(l, "the run", func() bool { return l.s.running != nil && l.s.changing == 0 })
	l.line("/attach a.png")
	l.sees("prompt: a.png\n")
	l.line("/steer !no shell, and look")
	l.sees("you: !no shell, and look\nsent along: a.png\n")
	l.onLoop(func() { l.s.stopRun() })
	l.sees("ready\n")
	e.does(nil)
	l.line("/attach")
	l.sees("nothing is attached")
	l.line("/steer !none either")
	l.sees("you: !none either\n")
	l.line("/quit")
	l.ends()
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Equal(e.steered, []string{"!no shell, and look"}) || !slices.Equal(e.prompts, []string{"begin", "!none either"}) {
		t.Errorf("steered %q, prompts %q", e.steered, e.prompts)
	}
}

// One line of several that wait is dropped by its number.
func TestLinesDropOne(t *testing.T) {
	e := &engine{run: waiting}
	l := newPlain(t, e)
	for _, text := range []string{"first", "second", "third", "fourth"} {
		l.line(text)
	}
	l.sees("queued: fourth")
	l.line("/queue drop 2")
	l.sees("dropped: third\n")
	l.line("/queue drop 3")
	l.sees(`from 1 to 2, not "3"`)
	e.does(nil)
	l.onLoop(func() { l.s.stopRun() })
	l.sees("2 queued lines wait")
	l.line("")
	l.sees("you: fourth")
	l.line("/quit")
	l.ends()
	if got := e.said(); !slices.Equal(got, []string{"first", "second", "fourth"}) {
		t.Errorf("prompts %q", got)
	}
}

// The first line names the folder, the mode and the model, and nothing that is not there.
func TestLinesWhere(t *testing.T) {
	for want, st := range map[string]view.Status{
		"shop main, mode ask, model m.": {Workspace: "shop", Branch: "main", Model: "m"},
		"wl, mode ask, model m.":        {Workspace: "wl", Model: "m"},
		"starling, mode ask.":           {},
	} {
		if got := where(st, "ask") + "."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	l := newPlain(t, &engine{mode: "plan"})
	l.sees("/help lists")
	if got := strings.SplitN(l.text(), "\n", 2)[0]; got != "shop, mode plan, model sonnet. /help lists the commands." {
		t.Errorf("%q", got)
	}
	l.line("/quit")
	l.ends()
}
