package panel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/kit"
)

var todos = list("list", dict{"id": "todos", "items": []any{"read the handler", "write the limiter", "tests"}})

// Whole screens: what stands where, which frame is heavy, what folds.
func TestScreens(t *testing.T) {
	var out strings.Builder
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 40}} {
		l := newLab(t, size[0], size[1])
		l.show("todos", dict{"kind": "side"}, todos)
		l.show("tests", dict{"kind": "side", "order": 1}, list("rows", dict{"children": []any{dict{"type": "progress", "value": 0.8, "label": "41/52"}, list("list", dict{"items": items(60)})}}))
		l.show("files", dict{"kind": "side", "side": "left"}, list("tree", dict{"nodes": []any{dict{"text": "src", "children": []any{"a"}}}}))
		l.show("log", dict{"kind": "bottom", "height": 2}, "last line")
		l.show("mood", dict{"kind": "status"}, "calm and "+strings.Repeat("long ", 20))
		l.show("mute", dict{"kind": "status"}, nil)
		shot := func(what string) {
			fmt.Fprintf(&out, "== %dx%d %s\n%s", size[0], size[1], what, text(l.screen, rect(0, 0, size[0], size[1])))
		}
		shot("the input has the keys")
		l.m.Cycle(1)
		l.frame()
		shot("one F6")
		l.m.Cycle(1)
		l.frame()
		shot("two F6")
		l.show("ask", dict{"kind": "overlay", "width": 24, "height": 3}, list("rows", dict{"children": []any{"Really?", dict{"type": "button", "id": "y", "label": "Yes"}}}))
		shot("a dialog")
		for _, s := range l.m.Statuses() {
			fmt.Fprintf(&out, "status %q %d cells\n", s.Text, kit.Width(s.Text))
		}
	}
	golden.Compare(t, "screens", out.String())
}

// The same without any sign that is not ASCII.
func TestASCIIScreen(t *testing.T) {
	l := newLab(t, 80, 14)
	l.app.signs = kit.SignsFor(true)
	l.show("todos", dict{"kind": "side"}, todos)
	l.show("tests", dict{"kind": "side", "order": 1}, list("list", dict{"items": items(60)}))
	l.show("files", dict{"kind": "side", "side": "left"}, list("tree", dict{"nodes": []any{dict{"text": "src", "children": []any{"a"}}}}))
	l.m.Cycle(-1)
	l.frame()
	screen := text(l.screen, rect(0, 0, 80, 14))
	golden.Compare(t, "ascii", screen)
	if strings.ContainsFunc(screen, func(r rune) bool { return r > 0x7e }) {
		t.Error("there is a sign that is not ASCII")
	}
}

// F6 goes from the input through the panels and back; Escape goes back at once.
// Neither, nor Ctrl-C, reaches a plugin.
func TestFocus(t *testing.T) {
	l := newLab(t, 100, 30)
	l.show("a", dict{"kind": "side"}, todos)
	l.show("b", dict{"kind": "bottom"}, "text")
	if l.m.Key(press(tcell.KeyF6)) {
		t.Fatal("a key was taken while the input has them")
	}
	var went []string
	l.m.Cycle(1)
	for range 3 {
		got, ok := l.m.Focused()
		went = append(went, fmt.Sprint(got.Name, ok))
		l.key(press(tcell.KeyF6))
	}
	if want := []string{"atrue", "btrue", "false"}; !slices.Equal(went, want) {
		t.Errorf("went %q, want %q", went, want)
	}
	l.m.Focus(id("b"))
	l.key(tcell.NewEventKey(tcell.KeyF6, 0, tcell.ModShift))
	if got, _ := l.m.Focused(); got != id("a") {
		t.Errorf("back to %v", got)
	}
	l.messages()
	if l.key(tcell.NewEventKey(tcell.KeyCtrlC, 3, tcell.ModCtrl)) {
		t.Error("Ctrl-C was taken")
	}
	l.key(press(tcell.KeyEscape))
	if _, ok := l.m.Focused(); ok {
		t.Error("Escape does not lead to the input")
	}
	if diff := cmp.Diff([]dict{{"kind": "focus", "gained": false}}, l.messages()); diff != "" {
		t.Errorf("the plugin heard: -want +got\n%s", diff)
	}
}

// What a key or click does, as the plugin hears it.
func TestInteraction(t *testing.T) {
	mouse := func(a kit.MouseAction, b tcell.ButtonMask, x, y int) func(*lab) {
		return func(l *lab) {
			l.m.Mouse(kit.Mouse{Action: a, Button: b, X: x, Y: y})
			l.frame()
		}
	}
	keys := func(evs ...*tcell.EventKey) func(*lab) { return func(l *lab) { l.key(evs...) } }
	table := list("table", dict{"id": "t", "columns": []any{"n"}, "rows": []any{[]any{"x"}, dict{"cells": []any{"y"}, "id": "why"}}})
	input := list("input", dict{"id": "i", "text": "漢字 ab"})
	button := list("button", dict{"id": "ok", "label": "OK"})
	at := func(row, column int, button, action string, target any) dict {
		return dict{"kind": "mouse", "button": button, "action": action, "row": int64(row), "column": int64(column), "target": target, "host": "terminal"}
	}
	// The panel stands at 68,1 of a screen of 100x30: its content, 31 columns wide.
	for _, c := range []struct {
		name string
		tree any
		asks []spec.Ask
		do   func(*lab)
		want []dict
	}{
		{"down marks", todos, nil, keys(press(tcell.KeyDown)), []dict{{"kind": "select", "id": "todos", "value": int64(1)}}},
		{"enter presses", todos, nil, keys(press(tcell.KeyEnter)), []dict{{"kind": "press", "id": "todos", "value": int64(0)}}},
		{"other keys arrive", todos, nil, keys(char('x'), char('X'), press(tcell.KeyF5), tcell.NewEventKey(tcell.KeyRune, 'x', tcell.ModAlt)), []dict{
			{"kind": "key", "code": "x", "modifiers": []any{}},
			{"kind": "key", "code": "X", "modifiers": []any{}},
			{"kind": "key", "code": "f5", "modifiers": []any{}},
			{"kind": "key", "code": "x", "modifiers": []any{"alt"}},
		}},
		{"an input is edited", input, nil, keys(press(tcell.KeyBackspace2), char('c')), []dict{
			{"kind": "change", "id": "i", "value": "漢字 a"}, {"kind": "change", "id": "i", "value": "漢字 ac"},
		}},
		{"enter submits", input, nil, keys(press(tcell.KeyEnter)), []dict{{"kind": "submit", "id": "i", "value": "漢字 ab"}}},
		{"a paste goes to the input", input, nil, func(l *lab) { l.m.Paste("\x1b[31mx\ny"); l.frame() }, []dict{{"kind": "change", "id": "i", "value": "漢字 abx y"}}},
		{"a paste without an input", button, nil, func(l *lab) { l.m.Paste("x"); l.frame() }, []dict{{"kind": "paste", "text": "x"}}},
		{"ctrl-enter of old terminals", list("input", dict{"id": "i", "text": "a", "multiline": true}), nil, keys(tcell.NewEventKey(tcell.KeyCtrlJ, 0, tcell.ModCtrl)), []dict{{"kind": "submit", "id": "i", "value": "a"}}},
		{"a click marks and presses", todos, nil, mouse(kit.Press, tcell.ButtonPrimary, 75, 3), []dict{
			at(2, 6, "left", "press", "todos"), {"kind": "select", "id": "todos", "value": int64(2)}, {"kind": "press", "id": "todos", "value": int64(2)},
		}},
		{"a click below the items does nothing", todos, nil, mouse(kit.Press, tcell.ButtonPrimary, 75, 20), []dict{at(19, 6, "left", "press", "todos")}},
		{"a click on a row with an id", table, nil, mouse(kit.Press, tcell.ButtonPrimary, 72, 3), []dict{
			at(2, 3, "left", "press", "t"), {"kind": "select", "id": "t", "value": "why"}, {"kind": "press", "id": "t", "value": "why"},
		}},
		{"titles of a table are no row", table, nil, mouse(kit.Press, tcell.ButtonPrimary, 72, 1), []dict{at(0, 3, "left", "press", "t")}},
		{"a click on a button", button, nil, mouse(kit.Press, tcell.ButtonPrimary, 70, 1), []dict{at(0, 1, "left", "press", "ok"), {"kind": "press", "id": "ok", "value": nil}}},
		{"a consumed click", button, []spec.Ask{{Kind: spec.AskConsume}}, mouse(kit.Press, tcell.ButtonPrimary, 70, 1), []dict{at(0, 1, "left", "press", "ok")}},
		{"a click beside a button", button, nil, mouse(kit.Press, tcell.ButtonPrimary, 90, 1), []dict{at(0, 21, "left", "press", nil)}},
		{"a click below a button", button, nil, mouse(kit.Press, tcell.ButtonPrimary, 70, 2), []dict{at(1, 1, "left", "press", nil)}},
		{"the right button presses nothing", button, nil, mouse(kit.Press, tcell.ButtonSecondary, 70, 1), []dict{at(0, 1, "right", "press", "ok")}},
		{"a drag leaves the panel", button, nil, func(l *lab) {
			mouse(kit.Press, tcell.ButtonMiddle, 70, 1)(l)
			mouse(kit.Drag, tcell.ButtonMiddle, 5, 29)(l)
			mouse(kit.Release, 0, 5, 29)(l)
		}, []dict{at(0, 1, "middle", "press", "ok"), at(28, 0, "middle", "drag", nil), at(28, 0, "middle", "release", nil)}},
		{"the wheel", todos, nil, mouse(kit.WheelUp, 0, 70, 1), []dict{at(0, 1, "wheel-up", "wheel", "todos")}},
		{"a click sets the caret", input, nil, func(l *lab) {
			mouse(kit.Press, tcell.ButtonPrimary, 74, 1)(l) // between 漢 and 字, or on 字
			l.messages()
			l.key(char('-'))
		}, []dict{{"kind": "change", "id": "i", "value": "漢-字 ab"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, 100, 30)
			l.show("p", dict{"kind": "side"}, c.tree, c.asks...)
			if p, _ := l.m.Placed().Find(id("p")); p.Inner.X != 69 || p.Inner.Y != 1 {
				t.Fatalf("the panel stands at %v", p.Inner)
			}
			l.m.Focus(id("p"))
			l.frame()
			l.messages()
			c.do(l)
			got := slices.DeleteFunc(l.messages(), func(m dict) bool { return m["kind"] == "focus" })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A key nobody uses scrolls; one the plugin consumed does not.
func TestScrolling(t *testing.T) {
	long := strings.Join(strings.Split(strings.Repeat("x", 60), ""), "\n")
	for _, consume := range []bool{false, true} {
		l := newLab(t, 100, 20)
		var asks []spec.Ask
		if consume {
			asks = []spec.Ask{{Kind: spec.AskConsume}}
		}
		l.show("p", dict{"kind": "side"}, long, asks...)
		l.m.Focus(id("p"))
		v := l.m.views[id("p")]
		want := func(what string, n int) {
			t.Helper()
			if consume {
				n = 0
			}
			if above, _ := v.Hidden(); above != n {
				t.Errorf("consume %v, %s: %d rows above, want %d", consume, what, above, n)
			}
		}
		l.key(press(tcell.KeyDown), press(tcell.KeyDown))
		want("two lines", 2)
		l.key(press(tcell.KeyPgDn))
		want("a page", 20)
		l.key(press(tcell.KeyEnd))
		want("the end", 41)
		l.m.Mouse(kit.Mouse{Action: kit.WheelUp, X: 80, Y: 5})
		l.frame()
		want("the wheel", 38)
		l.key(press(tcell.KeyHome))
		want("the top", 0)
	}
}

// A dialog takes the keys when it opens, is out of sight once it was left, never
// covers a question, and gives the keys back when it closes.
func TestDialog(t *testing.T) {
	l := newLab(t, 80, 24)
	l.show("side", dict{"kind": "side"}, todos)
	l.m.Focus(id("side"))
	model := spec.NewModel(dict{"open": false})
	l.mount("ask", spec.Surface{
		Placement: dict{"kind": "overlay"}, Model: model,
		View: func(_ context.Context, m any, _ map[string]any) (any, error) {
			if m.(map[string]any)["open"] == true {
				return "Really?", nil
			}
			return nil, nil
		},
	})
	shown := func() bool { return strings.Contains(text(l.screen, rect(0, 0, 80, 24)), "Really?") }
	open := func(is bool) {
		model.Store(dict{"open": is})
		l.frame()
	}
	if shown() {
		t.Fatal("it is open")
	}
	open(true)
	if got, _ := l.m.Focused(); got != id("ask") || !shown() {
		t.Fatalf("%v has the keys, shown %v", got, shown())
	}
	if screen := text(l.screen, rect(0, 0, 80, 24)); !strings.Contains(screen, "┏━ ask ━") {
		t.Errorf("its frame has no name:\n%s", screen)
	}
	open(false)
	if got, _ := l.m.Focused(); got != id("side") {
		t.Errorf("%v has the keys after it closed", got)
	}
	open(true)
	l.key(press(tcell.KeyEscape))
	if _, ok := l.m.Focused(); ok || shown() {
		t.Error("Escape does not lead out of it")
	}
	for range 2 {
		l.m.Cycle(1)
		l.frame()
	}
	if !shown() {
		t.Error("F6 does not bring it back")
	}
	l.m.SetQuestion(true)
	l.frame()
	if _, ok := l.m.Focused(); ok || shown() {
		t.Error("it covers a question")
	}
	open(false)
	open(true)
	if _, ok := l.m.Focused(); ok || shown() {
		t.Error("it opened over a question")
	}
	l.m.SetQuestion(false)
	l.frame()
	if _, ok := l.m.Focused(); ok || !shown() {
		t.Error("after the question it is not to be seen, or it took the keys")
	}
}

// A view that fails and a tree that is malformed show in their own panel.
func TestFaults(t *testing.T) {
	l := newLab(t, 80, 24)
	l.show("good", dict{"kind": "side"}, todos)
	l.mount("bad", spec.Surface{
		Placement: dict{"kind": "side", "order": 1},
		View:      func(context.Context, any, map[string]any) (any, error) { return nil, errors.New("no such [red]key") },
	})
	l.show("odd", dict{"kind": "side", "order": 2}, dict{"type": "lst"})
	screen := text(l.screen, rect(54, 0, 26, 24))
	for _, want := range []string{"read the handler", "this panel failed", "no such [red]key", `did you mean "list"`} {
		if flat := strings.Join(strings.Fields(strings.ReplaceAll(screen, "│", " ")), " "); !strings.Contains(flat, want) {
			t.Errorf("%q is not shown:\n%s", want, screen)
		}
	}
}

// Brackets that other programs take for markup are drawn as they are, in every widget.
func TestMarkupIsText(t *testing.T) {
	const markup = `[red]x[-] [YELLOW] ["a"]b[""] [::b] arr[0] [x[]`
	for _, tree := range []any{
		markup, list("text", dict{"spans": []any{markup}}), list("list", dict{"items": []any{markup}}),
		list("table", dict{"columns": []any{markup}, "rows": []any{[]any{markup}}}), list("tree", dict{"nodes": []any{markup}}),
		list("button", dict{"id": "b", "label": markup}), list("input", dict{"id": "i", "text": markup}), list("input", dict{"id": "i", "placeholder": markup}),
		list("diff", dict{"before": "", "after": markup}), list("progress", dict{"label": markup}),
	} {
		l := newLab(t, 200, 12)
		l.show("p", dict{"kind": "bottom", "height": 5}, tree)
		rows := strings.Split(text(l.screen, rect(0, 0, 200, 12)), "\n")
		y := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, markup) })
		if y < 0 {
			t.Errorf("%v:\n%s", tree, strings.Join(rows, "\n"))
			continue
		}
		at := kit.Width(rows[y][:strings.Index(rows[y], markup)])
		_, first, _ := l.screen.Get(at, y)
		for x := at; x < at+len(markup); x++ {
			if _, style, _ := l.screen.Get(x, y); style != first {
				t.Errorf("%v: a tag changes the style of cell %d in %q", tree, x, rows[y])
				break
			}
		}
	}
}

// The real cursor stands on the caret of the input that has the keys, only then.
func TestCaret(t *testing.T) {
	l := newLab(t, 100, 30)
	l.show("p", dict{"kind": "side"}, list("input", dict{"id": "i", "text": "漢字"}))
	at := func() string {
		x, y, on := l.screen.GetCursor()
		return fmt.Sprint(x, y, on)
	}
	if _, _, on := l.screen.GetCursor(); on {
		t.Error("a cursor without the keys")
	}
	l.m.Focus(id("p"))
	l.frame()
	if got := at(); got != "75 1 true" {
		t.Errorf("at the end: %s", got)
	}
	l.key(press(tcell.KeyLeft))
	if got := at(); got != "73 1 true" {
		t.Errorf("one to the left: %s", got)
	}
	for range 40 {
		l.key(char('漢'))
	}
	if x, _, on := l.screen.GetCursor(); !on || x < 95 || x > 99 {
		t.Errorf("after a long text: %d %v", x, on)
	}
}

// A panel is drawn anew only when it, its size or its looks changed; and a busy one
// when it is stepped.
func TestDrawnOnce(t *testing.T) {
	l := newLab(t, 100, 30)
	l.show("p", dict{"kind": "side"}, todos)
	l.show("q", dict{"kind": "side", "order": 1}, list("progress", dict{}))
	l.frame()
	p, q := l.m.views[id("p")], l.m.views[id("q")]
	before := []int{p.drawings, q.drawings}
	for range 10 {
		l.draw()
	}
	if got := []int{p.drawings, q.drawings}; !slices.Equal(got, before) {
		t.Errorf("drawn %v times after %v though nothing changed", got, before)
	}
	if !l.m.Busy() {
		t.Error("nothing is busy")
	}
	l.m.Step()
	l.draw()
	if got := []int{p.drawings, q.drawings}; got[0] != before[0] || got[1] != before[1]+1 {
		t.Errorf("a step drew %v after %v", got, before)
	}
}

// A tree that takes long to measure is measured beside the event loop; what was shown
// stays meanwhile.
func TestLargeTree(t *testing.T) {
	l := newLab(t, 100, 30)
	model := spec.NewModel(dict{"text": "small"})
	l.mount("p", spec.Surface{
		Placement: dict{"kind": "side"}, Model: model,
		View: func(_ context.Context, m any, _ map[string]any) (any, error) {
			return list("markdown", dict{"text": m.(map[string]any)["text"]}), nil
		},
	})
	shown := func(want string) {
		t.Helper()
		if s := text(l.screen, rect(0, 0, 100, 30)); !strings.Contains(s, want) {
			t.Errorf("%q is not shown:\n%s", want, s)
		}
	}
	shown("small")
	l.app.held = make(chan struct{})
	model.Store(dict{"text": "large " + strings.Repeat("many words and more ", 10_000)})
	l.frame()
	shown("small")
	close(l.app.held)
	l.app.workers.Wait()
	l.frame()
	shown("large")
	v := l.m.views[id("p")]
	before := v.m
	l.frame()
	if v.m != before || v.working {
		t.Error("it is measured again and again")
	}
}

// A plugin that never answers: its panel still scrolls, 50 ms later.
func TestDeafPlugin(t *testing.T) {
	l := newLab(t, 100, 10)
	free := make(chan struct{})
	l.mount("p", spec.Surface{
		Placement: dict{"kind": "side"},
		View: func(context.Context, any, map[string]any) (any, error) {
			return strings.Repeat("line\n", 50), nil
		},
		Update: func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			if msg["kind"] == "focus" {
				<-free
			}
			return nil, nil
		},
	})
	l.m.Focus(id("p"))
	if !l.m.Key(press(tcell.KeyDown)) {
		t.Fatal("the key was not taken")
	}
	deadline := time.Now().Add(time.Minute)
	for above := 0; above != 1; above, _ = l.m.views[id("p")].Hidden() {
		if time.Now().After(deadline) {
			t.Fatal("it does not scroll")
		}
		time.Sleep(5 * time.Millisecond)
		l.app.turn()
		l.draw()
	}
	close(free)
	l.settle()
}

// Ten panels, nothing changed: the cost of a frame.
func BenchmarkTenPanels(b *testing.B) {
	l := newLab(b, 200, 60)
	for i := range 10 {
		l.show(fmt.Sprint("p", i), dict{"kind": "side", "side": []string{"left", "right"}[i%2], "order": i}, list("rows", dict{"children": []any{"some text", list("list", dict{"items": items(200)})}}))
	}
	b.ResetTimer()
	for b.Loop() {
		l.m.Arrange(rect(0, 0, 200, 60))
		l.m.Draw(l.screen)
	}
}
