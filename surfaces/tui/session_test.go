package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces/tui/command"
)

// Bug report F-01: handlers may ask for frames as often as they like, from the loop and beside it:
// nothing waits for anything.
func TestRedrawFromTheLoop(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	h := host{l.s}
	for range 10_000 {
		go h.Redraw()
		l.s.in.write(reply, "", "token ")
	}
	l.in(func() {
		for range 10_000 {
			h.Redraw()
			h.Do(func() { h.Redraw() })
		}
	})
	drawn := 0
	l.in(func() { drawn = l.s.pump.drawn })
	if drawn > 2000 {
		t.Errorf("%d frames of 40 000 requests", drawn)
	}
	l.typed("still here")
	l.sees("still here")
}

// Bug report F-05: a session in which nothing happens draws nothing.
func TestIdle(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	l.until("settled", func() bool { return !l.s.wants && !l.s.reading })
	var before, after int
	for i := 0; ; i++ {
		// What in puts into the inbox asks for a frame itself: look without it.
		l.in(func() { before = l.s.pump.drawn })
		time.Sleep(100 * time.Millisecond)
		l.in(func() { after = l.s.pump.drawn })
		if after <= before+1 { // the frame of the first look
			return
		}
		if i == 20 {
			t.Fatalf("%d frames while nothing happened", after-before)
		}
	}
}

// Bug report F-05: thousands of pieces at once are a few frames, whatever was said before.
func TestFramesOfAStream(t *testing.T) {
	for _, history := range []int{10 << 10, 5 << 20} {
		t.Run(fmt.Sprint(history), func(t *testing.T) {
			l := newLab(t, 120, 40, &engine{})
			l.in(func() { l.s.tr.Write(strings.Repeat("what was said before\n\n", history/22), false) })
			begin := time.Now()
			before := 0
			l.in(func() { before = l.s.pump.drawn })
			for i := range 20_000 {
				l.s.in.write(reply, "", fmt.Sprintf("word%d ", i))
			}
			after := 0
			l.in(func() { after = l.s.pump.drawn })
			if limit := int(time.Since(begin)/frameTime) + 2; after-before > limit {
				t.Errorf("%d frames in %v", after-before, time.Since(begin))
			}
			l.sees("word19999")
		})
	}
}

// Bug report F-05: whatever a run writes can wait for a calm frame.
func TestStreamsAreCalm(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	l.in(func() { l.s.tr.Begin("1", "bash", `{"command":"make"}`) })
	for name, write := range map[string]func(){
		"reply":    func() { l.s.in.write(reply, "", "word ") },
		"thinking": func() { l.s.in.write(thought, "", "word ") },
		"output":   func() { l.s.onProgress(&event.ToolProgressEvent{ID: "1", Chunk: "line\n"}) },
	} {
		l.until(name+" is calm", func() bool {
			l.s.draw()
			write()
			l.s.receive()
			return l.s.pump.dirty && l.s.pump.calm
		})
	}
}

// Ctrl-C clears the prompt, and twice leaves; a key in between takes it back.
func TestLeave(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	l.typed("draft")
	l.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
	l.sees("Ctrl-C again quits")
	l.until("cleared", func() bool { return l.s.editor.Empty() })
	l.key(tcell.KeyPgUp, 0, 0)
	l.key(tcell.KeyCtrlC, 0, tcell.ModCtrl)
	l.until("one again", func() bool { return !l.s.quitHint.IsZero() })
	if l.s.stopped {
		t.Fatal("it left")
	}
	l.key(tcell.KeyRune, 'c', tcell.ModCtrl|tcell.ModAlt) // how it comes together with Esc
	select {
	case err := <-l.done:
		l.done <- err
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it stays")
	}
}

// A run announced on the bus is shown: thoughts, text, calls, results, refusals.
func TestListens(t *testing.T) {
	var s *Session
	l := newLabWith(t, 90, 30, &engine{}, Options{Forget: true, Theme: "none", Env: func(string) string { return "" }}, func(made *Session) { s = made })
	rt := compose.New(compose.Options{Store: l.bus.Store()})
	t.Cleanup(func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := rt.Mount(s.Component(l.bus)); err != nil {
		t.Fatal(err)
	}
	if err := rt.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	delta := func(block, text string) {
		bus.PortOf(l.bus, event.Stream).Send(ctx, &event.StreamEvent{Kind: "delta", Block: block, Text: text})
	}
	delta("thinking", "first a look")
	delta("text", "I will look ")
	delta("text", "at \x1b[31m[red]it[-].")
	bus.PortOf(l.bus, event.Message).Send(ctx, &event.MessageEvent{Calls: []event.MessageCall{{ID: "1", Name: "read", Arguments: []byte(`{"path":"a.go"}`)}, {ID: "2", Name: "bash", Arguments: []byte(`{"command":"rm -rf x"}`)}}})
	bus.PortOf(l.bus, event.ToolCall).Send(ctx, &event.ToolCallEvent{ID: "1", Name: "read", ArgumentsJSON: `{"path":"a.go"}`})
	bus.PortOf(l.bus, event.ToolProgress).Send(ctx, &event.ToolProgressEvent{ID: "1", Tool: "read", Chunk: "halfway\n"})
	bus.PortOf(l.bus, event.ToolResult).Send(ctx, &event.ToolResultEvent{ID: "1", Name: "read", Content: "a\nb"})
	bus.PortOf(l.bus, event.ToolCall).Send(ctx, &event.ToolCallEvent{ID: "2", Name: "bash", ArgumentsJSON: `{"command":"rm -rf x"}`, Blocked: true, Refused: &bus.Refusal{Why: "no", By: bus.Owner{Name: "guard"}}})
	s.Presented("1", []byte(`{"type":"text","text":"drawn by a plugin"}`))
	s.Notice(view.Notice{From: "p", Text: "said"})
	l.sees("said")
	got := l.text()
	for _, want := range []string{"thinking first a look", "at [red]it[-].", "● read   a.go", "2 lines", "✗ bash   rm -rf x", "blocked by guard: no", "drawn by a plugin", "p: said"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q on\n%s", want, got)
		}
	}
}

// Questions are above everything and answer to their keys alone; Ctrl-T, paging and
// the mode are the program's.
func TestQuestion(t *testing.T) {
	e := &engine{}
	l := newLab(t, 80, 24, e)
	l.typed("half a thought")
	ahead := tcell.NewEventKey(tcell.KeyRune, 'y', 0)
	l.s.onQuestion(&event.QuestionEvent{ID: "q1", Kind: "permission", Tool: "bash", Summary: "bash: make", Detail: "make", Options: []string{"yes", "no"}})
	l.sees("make")
	if err := l.screen.PostEvent(ahead); err != nil { // typed before it was seen
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // a question is deaf at first
	if l.in(func() {}); len(e.answered()) > 0 {
		t.Error("what was typed ahead is the answer")
	}
	l.key(tcell.KeyRune, 'y', 0)
	l.until("an answer", func() bool { return len(e.answered()) > 0 })
	if got := e.answered(); len(got) != 1 || got[0].Value != view.AnswerYes {
		t.Errorf("answered %+v", got)
	}
	l.until("closed", func() bool { return l.s.asking.Done() })
	l.until("the draft is untouched", func() bool { return strings.HasPrefix(l.s.editor.Text(), "half a thought") })
}

// An earlier conversation is shown as it was.
func TestReplay(t *testing.T) {
	e := &engine{past: []chat.Message{
		chat.TextMessage(chat.User, "look at a.go"),
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Thinking, Text: "hm"}, {Kind: chat.Text, Text: "Looking."}, {Kind: chat.Call, ID: "1", Name: "read", Arguments: `{"path":"a.go"}`}}},
		{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "1", Name: "read", Text: "x", Details: []byte(`{"from_line":1,"to_line":9,"view":{"type":"text","text":"drawn then"}}`)}}},
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "Done."}}, Error: "the line broke"},
	}}
	l := newLab(t, 60, 20, e)
	l.golden("replay")
}

// Keys of the program work while the prompt has the keys.
func TestKeys(t *testing.T) {
	e := &engine{}
	l := newLab(t, 80, 24, e)
	l.in(func() {
		l.s.tr.Write("secret thought\nand more\n", true)
		l.s.tr.Write(strings.Repeat("text\n\n", 100), false)
	})
	l.key(tcell.KeyCtrlT, 0, tcell.ModCtrl)
	l.key(tcell.KeyPgUp, 0, 0)
	l.until("scrolled", func() bool { return !l.s.tr.Follows() })
	l.key(tcell.KeyHome, 0, 0)
	l.sees("and more")
	l.key(tcell.KeyEnd, 0, 0)
	l.until("follows", func() bool { return l.s.tr.Follows() })
	l.key(tcell.KeyHome, 0, 0) // from the end, too
	l.until("scrolled to the beginning", func() bool { return !l.s.tr.Follows() })
	l.key(tcell.KeyEnd, 0, 0)
	l.until("follows again", func() bool { return l.s.tr.Follows() })
	l.typed("x")
	l.key(tcell.KeyHome, 0, 0)
	l.key(tcell.KeyDelete, 0, 0)
	l.until("the key was the prompt's", func() bool { return l.s.editor.Empty() && l.s.tr.Follows() })
	l.key(tcell.KeyBacktab, 0, tcell.ModShift)
	l.until("another mode", func() bool { return e.Mode() != "ask" })
	l.screen.InjectMouse(10, 10, tcell.WheelUp, 0)
	l.until("the wheel scrolls", func() bool { return !l.s.tr.Follows() })
	l.typed("/greet you")
	l.key(tcell.KeyEnter, 0, 0)
	l.sees("hello you")
}

// A command of a plugin is offered with what it does and whose it is.
func TestCommandIsOffered(t *testing.T) {
	l := newLab(t, 80, 24, &engine{commands: []view.Command{{Name: "greet", Description: "Greets somebody.", From: "greeter"}}})
	l.until("the commands", func() bool { return !l.s.wants && !l.s.reading })
	for _, r := range "/gre" {
		l.key(tcell.KeyRune, r, 0)
	}
	l.until("the offer", func() bool {
		l.s.draw()
		for line := range strings.Lines(screenText(l.screen)) {
			if strings.Contains(line, "greet ") && strings.Contains(line, "Greets somebody.") && strings.Contains(line, "greeter") {
				return true
			}
		}
		return false
	})
}

// Bug report F-03: a paste is one entry and sends nothing, as keys between markers too.
func TestPaste(t *testing.T) {
	e := &engine{}
	l := newLab(t, 80, 24, e)
	if err := l.screen.PostEvent(tcell.NewEventPaste(true)); err != nil {
		t.Fatal(err)
	}
	for _, r := range "one" {
		l.key(tcell.KeyRune, r, 0)
	}
	l.key(tcell.KeyEnter, 0, 0)
	l.key(tcell.KeyTab, 0, 0)
	l.key(tcell.KeyRune, 'x', 0)
	for _, start := range []bool{false, false} { // the second end is a stray one
		if err := l.screen.PostEvent(tcell.NewEventPaste(start)); err != nil {
			t.Fatal(err)
		}
	}
	l.until("pasted", func() bool { return l.s.editor.Text() == "one\n\tx" })
	if len(e.said()) > 0 {
		t.Errorf("sent %q", e.said())
	}
	// The beginning of a paste right after Esc comes as a key.
	l.in(func() {
		l.s.editor.Clear()
		l.s.term = newTerminal(nil)
		l.s.term.f.push([]byte("\x1b" + pasteBegin + "after Esc" + pasteEnd))
		l.s.event(tcell.NewEventPaste(false))
		if got := l.s.editor.Text(); got != "after Esc" {
			t.Errorf("pasted %q", got)
		}
		l.s.term = nil
	})
	big := strings.Repeat("a line of a long paste\twith a tab\r\n", 30_000) // 1 MB
	l.in(func() { l.s.editor.Clear(); l.s.pasted(big) })
	l.key(tcell.KeyEnter, 0, 0)
	l.until("sent once", func() bool { return len(e.said()) == 1 })
	if got := e.said()[0]; strings.Count(got, "\n") < 29_999 || strings.Count(got, "\t") != 30_000 {
		t.Errorf("%d lines, %d tabs", strings.Count(got, "\n"), strings.Count(got, "\t"))
	}
	l.text()
}

// The screen is drawn at any size.
func TestAnySize(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	l.in(func() { story(l.s) })
	l.typed("a draft")
	for w := 0; w < 60; w += 3 {
		for h := range 14 {
			l.in(func() {
				l.screen.SetSize(w, h)
				l.s.draw()
			})
		}
	}
	l.in(func() { l.screen.SetSize(80, 24) })
	l.sees("a draft")
}

// What a key of a page changed is said at the foot, and stays in the conversation.
func TestPageSaysWhatChanged(t *testing.T) {
	l := newLab(t, 80, 24, &engine{})
	l.in(func() {
		l.s.view(&command.View{
			Title: "things", Load: func(context.Context) command.Body { return command.Say("a page") },
			Keys: []command.Key{{Chord: "x", Help: "drop", Whole: true, Do: func(context.Context, string) command.Reply {
				return command.Reply{Body: command.Say("the thing is dropped")}
			}}},
		})
	})
	l.sees("a page")
	l.key(tcell.KeyRune, 'x', 0)
	l.sees("the thing is dropped")
	l.key(tcell.KeyEscape, 0, 0)
	l.until("left", func() bool { return l.s.modal() == nil })
	l.in(func() { l.s.work.hint = "" })
	if got := l.text(); strings.Contains(got, "a page") || !strings.Contains(got, "the thing is dropped") {
		t.Errorf("the screen is\n%s", got)
	}
}
