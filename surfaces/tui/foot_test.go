package tui

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/command"
)

// The foot says what goes on, and what goes on again once a person answered.
func TestFoot(t *testing.T) {
	var s *Session
	e := &engine{run: func(ctx context.Context, _ string) view.Outcome {
		<-ctx.Done()
		return view.Outcome{Stop: "aborted"}
	}}
	l := newLabWith(t, 100, 24, e, Options{Forget: true, Theme: "none", Env: func(string) string { return "" }}, func(made *Session) { s = made })
	l.typed("go")
	l.key(tcell.KeyEnter, 0, 0)
	foot := func(what string) {
		t.Helper()
		l.until("the foot "+what, func() bool { return l.s.work.on && l.s.work.what == what })
	}
	foot("starting")
	q := &event.QuestionEvent{ID: "q", Kind: "permission", Tool: "bash", Summary: "bash make", Options: []string{view.AnswerYes, view.AnswerNo}}
	for _, step := range []struct {
		happens func()
		want    string
	}{
		{func() { s.onRunStart(&event.RunStartEvent{}) }, "waiting for the model"},
		{func() { s.onRetry(&event.ProviderErrorEvent{Kind: "rate_limit"}) }, "waiting to ask the model again: rate limit"},
		{func() { s.onStream(&event.StreamEvent{Kind: "delta", Block: "thinking", Text: "hm"}) }, "thinking"},
		{func() { s.onStream(&event.StreamEvent{Kind: "delta", Block: "text", Text: "well"}) }, "writing"},
		{func() { s.onStream(&event.StreamEvent{Kind: "block_start", Block: "tool_call"}) }, "writing a call"},
		{func() { s.onCall(&event.ToolCallEvent{ID: "1", Name: "bash", ArgumentsJSON: `{"command":"make"}`}) }, "bash make"},
		{func() { s.onQuestion(q) }, "waiting for your answer"},
		{func() { s.onAnswer(&event.AnswerEvent{ID: "q"}) }, "bash make"},
		{func() { s.onQuestion(q) }, "waiting for your answer"},
		{func() { // what happens meanwhile is told afterwards
			s.onCall(&event.ToolCallEvent{ID: "2", Name: "read", ArgumentsJSON: `{"path":"a.go"}`})
			s.onAnswer(&event.AnswerEvent{ID: "q"})
		}, "read a.go"},
		{func() { s.onTurnEnd(&event.TurnEndEvent{}) }, "waiting for the model"},
	} {
		step.happens()
		foot(step.want)
	}
	l.in(func() {
		l.s.stopRun()
		l.s.doing("bash make") // late
		if l.s.work.what != "stopping" {
			t.Errorf("while it stops the foot says %q", l.s.work.what)
		}
	})
	l.until("the end", func() bool { return l.s.running == nil && !l.s.work.on })
}

// What is bound anew is what the screen names, and what works.
func TestOwnKeysOnScreen(t *testing.T) {
	o := Options{Forget: true, Theme: "none", Env: func(string) string { return "" }, Keys: map[string]string{
		"f5": "stop", "f6": "", "f7": "panels", "?": "", "f1": "", "f8": "keys", "ctrl+t": "newline", "ctrl-z": "undo",
	}}
	e := &engine{run: func(ctx context.Context, _ string) view.Outcome {
		<-ctx.Done()
		return view.Outcome{Stop: "aborted"}
	}}
	l := newLabWith(t, 100, 24, e, o, nil)
	for _, want := range []string{"F7 panels", "F8 keys"} {
		l.sees(want)
	}
	l.typed("a")
	l.key(tcell.KeyCtrlT, 0, tcell.ModCtrl)
	l.until("another line", func() bool { return l.s.editor.Text() == "a\n" })
	l.key(tcell.KeyCtrlZ, 0, tcell.ModCtrl)
	l.until("undone", func() bool { return l.s.editor.Text() == "a" })
	l.key(tcell.KeyEnter, 0, 0)
	l.until("running", func() bool { return l.s.running != nil })
	l.key(tcell.KeyF5, 0, 0)
	l.until("stopped", func() bool { return l.s.running == nil })
	l.key(tcell.KeyF7, 0, 0)
	l.sees("no panel is open")
	l.key(tcell.KeyF8, 0, 0)
	l.sees("Esc, F5")
}

// A page that is read anew and shows the same draws nothing; one that changed does.
func TestPageDrawsWhatChanged(t *testing.T) {
	l := newLab(t, 100, 24, &engine{})
	var loads, version atomic.Int64
	l.in(func() {
		l.s.view(&command.View{Title: "page", Every: time.Millisecond, Load: func(context.Context) command.Body {
			loads.Add(1)
			return command.Say("version " + string(rune('0'+version.Load())))
		}})
	})
	l.sees("version 0")
	// reads waits until the page was read so often, without touching the loop.
	reads := func(n int64) {
		t.Helper()
		for from, end := loads.Load(), time.Now().Add(10*time.Second); loads.Load() < from+n; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the page is not read anew")
			}
		}
	}
	drawn := func() (n int) {
		done := make(chan struct{})
		l.s.in.quiet(func() { n = l.s.pump.drawn; close(done) })
		<-done
		return n
	}
	for settled, end := -1, time.Now().Add(10*time.Second); settled != drawn(); { // frames of before
		if time.Now().After(end) {
			t.Fatal("it draws all the time")
		}
		settled = drawn()
		reads(20)
	}
	before := drawn()
	reads(50)
	if n := drawn() - before; n != 0 {
		t.Errorf("%d frames of a page that did not change", n)
	}
	version.Store(1)
	for end := time.Now().Add(10 * time.Second); drawn() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a page that changed is not drawn")
		}
	}
	l.sees("version 1")
}
