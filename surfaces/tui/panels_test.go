package tui

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

// withPanels is a lab whose session shows the surfaces of a registry.
func withPanels(t *testing.T, w, h int) (*lab, func(plugin, name string, place map[string]any, r spec.Surface)) {
	t.Helper()
	store := bus.NewStore()
	reg := spec.NewRegistries(store).Surfaces
	var host *surfaces.Host
	l := newLabWith(t, w, h, &engine{}, Options{Forget: true, Theme: "dark", Env: func(k string) string {
		return map[string]string{"LANG": "C.UTF-8"}[k]
	}}, func(s *Session) {
		o := s.PanelOptions()
		o.Surfaces = reg
		host = surfaces.New(o)
		s.SetPanels(host)
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := host.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return l, func(plugin, name string, place map[string]any, r spec.Surface) {
		t.Helper()
		r.Name, r.Placement = name, place
		add, _ := reg.Slot().Put(bus.At(bus.ClassHome, 0, plugin), bus.Owner{UID: 1, Name: plugin}, r)
		store.Commit(add)
		host.Sync()
	}
}

// shows is a surface that always shows one tree.
func shows(tree any) spec.Surface {
	return spec.Surface{View: func(context.Context, any, map[string]any) (any, error) { return tree, nil }}
}

var right = map[string]any{"kind": "side", "side": "right"}

func texts(lines ...string) map[string]any {
	var children []any
	for _, l := range lines {
		children = append(children, map[string]any{"type": "text", "text": l})
	}
	return map[string]any{"type": "rows", "children": children}
}

func TestPanelScreens(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("panels-%dx%d", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			l, show := withPanels(t, size[0], size[1])
			l.in(func() { story(l.s) })
			show("todos", "todos", right, shows(texts("✓ read the handler", "▸ write the limiter", "  tests")))
			show("tests", "tests", right, shows(map[string]any{"type": "rows", "children": []any{
				map[string]any{"type": "progress", "value": 0.8, "label": "41/52"}, map[string]any{"type": "text", "text": "✗ TestLogin/ipv6"},
			}}))
			show("clock", "clock", map[string]any{"kind": "status"}, spec.Surface{View: func(context.Context, any, map[string]any) (any, error) { return "12:30", nil }})
			l.until("the panels are there", func() bool {
				open := 0
				for _, p := range l.s.source.Load().Panels() {
					if p.Open() {
						open++
					}
				}
				return open == 3
			})
			l.typed("and log the refused addresses")
			l.text() // sizes go out with the first frame
			l.until("settled", func() bool { return l.s.source.Load().Settle(context.Background()) == nil })
			l.golden(name)
		})
	}
}

// F6 goes round, Esc comes back and stops nothing, a question takes the keys from a
// dialog of a plugin and covers it.
func TestPanelFocus(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	var keys atomic.Int32
	r := shows(texts("one panel"))
	r.Update = func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
		if msg["kind"] == surfaces.KeyMessage {
			keys.Add(1)
		}
		return nil, nil
	}
	show("side", "side", right, r)
	l.sees("one panel")
	l.key(tcell.KeyF6, 0, 0)
	l.until("the panel has the keys", l.s.panelFocus)
	l.key(tcell.KeyRune, 'x', 0)
	l.until("a key came", func() bool { return keys.Load() == 1 })
	l.key(tcell.KeyEscape, 0, 0)
	l.until("the input has them", func() bool { return !l.s.panelFocus() })
	draft := ""
	l.in(func() { draft = l.s.editor.Text() })
	if draft != "" {
		t.Errorf("the key came to the prompt too: %q", draft)
	}
	dialog := shows(texts("allow bash? y yes"))
	show("liar", "liar", map[string]any{"kind": "overlay", "width": 40, "height": 3}, dialog)
	l.sees("allow bash? y yes")
	if got := l.text(); !strings.Contains(got, "liar") {
		t.Errorf("the dialog does not name its plugin:\n%s", got)
	}
	l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Tool: "bash", Summary: "bash: make", Detail: "make", Options: []string{"yes", "no"}})
	l.until("the question is open", func() bool { return !l.s.asking.Done() })
	if got := l.text(); strings.Contains(got, "allow bash? y yes") || l.s.panelFocus() {
		t.Errorf("a dialog beside a question:\n%s", got)
	}
}

// Who goes to a panel beside while the sides are hidden gets them back, and the keys are
// that panel's; one that stands elsewhere brings back nothing.
func TestPanelShowsHiddenSide(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	show("todos", "todos", right, shows(texts("the todos")))
	show("tests", "tests", right, shows(texts("the tests")))
	show("log", "log", map[string]any{"kind": "bottom", "height": 3}, shows(texts("the log")))
	for _, text := range []string{"the todos", "the tests", "the log"} {
		l.sees(text)
	}
	run := func(line string) { l.in(func() { l.s.send(entry(line)) }) }
	beside := func() bool {
		l.s.draw()
		screen := screenText(l.screen)
		return strings.Contains(screen, "the todos") && strings.Contains(screen, "the tests")
	}
	focused := func(plugin string) func() bool {
		return func() bool {
			id, ok := l.s.panels.Focused()
			return ok && id.Plugin == plugin
		}
	}
	run("/sidebar")
	l.until("the sides are hidden", func() bool { return !beside() })
	run("/panel log")
	l.until("the panel below has the keys", focused("log"))
	l.in(func() {
		if beside() {
			t.Error("a panel elsewhere brought the sides back")
		}
	})
	run("/panel todos")
	l.until("the sides are back", beside)
	l.until("the panel has the keys", focused("todos"))
	run("/sidebar off")
	l.until("the sides are hidden again", func() bool { return !beside() && !l.s.panelFocus() })
	run("/sidebar on")
	l.until("the sides are shown", beside)
}

// Bug report F-06: the cursor of the terminal stands where the keys go, in the prompt, a
// list, a question or a panel, and nowhere while they go to what has no caret.
func TestCursorGoesWithTheKeys(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	show("shown", "shown", right, shows(texts("no caret here")))
	show("typed", "typed", right, shows(map[string]any{"type": "input", "id": "i", "text": "漢字"}))
	l.sees("no caret here")
	l.sees("漢字")
	at := func(what string, ok func(x, y int, on bool) bool) {
		t.Helper()
		l.until("the cursor "+what, func() bool {
			l.s.draw()
			return ok(l.screen.GetCursor())
		})
	}
	nowhere := func(_, _ int, on bool) bool { return !on }
	in := func(m kit.Modal, x, y int, on bool) bool {
		return on && !m.Done() && m.Room(l.s.area.screen).Has(x, y)
	}
	prompt := func(x, y int, on bool) bool { return on && x == 3+2+1 && y == l.s.area.editor.Y+1 }
	l.typed("漢字")
	l.key(tcell.KeyLeft, 0, 0)
	l.typed("x")
	at("behind what was put in", prompt)
	l.key(tcell.KeyF6, 0, 0)
	at("of a panel without a caret", nowhere)
	l.key(tcell.KeyF6, 0, 0)
	at("in the panel", func(x, y int, on bool) bool {
		text, _, _ := l.screen.Get(x-2, y)
		return on && text == "字"
	})
	l.in(func() {
		l.s.view(&command.View{Title: "page", Load: func(context.Context) command.Body { return command.Say("a page") }})
	})
	at("of a page", nowhere)
	l.key(tcell.KeyEscape, 0, 0)
	at("in the panel again", func(_, _ int, on bool) bool { return on })
	l.key(tcell.KeyEscape, 0, 0)
	at("in the prompt again", prompt)
	l.in(func() { l.s.pick(&command.Pick{Title: "which?", Items: []command.Item{{Text: "this", ID: "this"}}}) })
	at("in the list", func(x, y int, on bool) bool { return in(l.s.modal(), x, y, on) })
	l.key(tcell.KeyEscape, 0, 0)
	at("in the prompt once more", prompt)
	l.s.onQuestion(&event.QuestionEvent{ID: "q", Kind: "permission", Tool: "bash", Summary: "bash: make", Detail: "make", Options: []string{"yes", "no"}})
	at("in the question", func(x, y int, on bool) bool { return in(l.s.asking, x, y, on) })
}

// Bug report F-03: a paste into a panel comes as one message, without what is no text.
func TestPanelPaste(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	heard := make(chan any, 100)
	r := shows(texts("a panel"))
	r.Update = func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
		if kind := msg["kind"]; kind == surfaces.KeyMessage || kind == surfaces.PasteMessage {
			heard <- msg["text"]
		}
		return nil, nil
	}
	show("side", "side", right, r)
	l.sees("a panel")
	l.key(tcell.KeyF6, 0, 0)
	l.until("the panel has the keys", l.s.panelFocus)
	l.in(func() { l.s.pasted("one\x1b[2J\ttwo\r\nthree\x07") })
	if got := <-heard; got != "one\ttwo\nthree" || len(heard) > 0 {
		t.Errorf("it hears %q and %d more", got, len(heard))
	}
	l.in(func() {
		if !l.s.editor.Empty() {
			t.Errorf("it came to the prompt too: %q", l.s.editor.Text())
		}
	})
}

// A view that does not end, an update that fails and a malformed tree harm nothing but
// their panels.
func TestBadPanels(t *testing.T) {
	l, show := withPanels(t, 100, 30)
	free := make(chan struct{})
	t.Cleanup(func() { close(free) })
	show("loops", "loops", right, spec.Surface{
		View: func(context.Context, any, map[string]any) (any, error) {
			<-free
			return nil, nil
		},
		Update: func(context.Context, *spec.Model, map[string]any) ([]spec.Ask, error) { return nil, nil },
	})
	show("lost", "lost", right, shows(map[string]any{"type": "lst"}))
	show("fails", "fails", right, spec.Surface{
		View: func(context.Context, any, map[string]any) (any, error) { return texts("it fails later"), nil },
		Update: func(context.Context, *spec.Model, map[string]any) ([]spec.Ask, error) {
			return nil, fmt.Errorf("update broke")
		},
	})
	show("good", "good", right, shows(texts("I am well")))
	l.sees("I am well")
	l.sees(`widget type "lst"; did you mean`)
	for range 3 {
		l.key(tcell.KeyF6, 0, 0)
	}
	l.until("a panel has the keys", l.s.panelFocus)
	l.key(tcell.KeyRune, 'x', 0)
	l.key(tcell.KeyEscape, 0, 0)
	l.until("the input has them", func() bool { return !l.s.panelFocus() })
	l.typed("still alive")
	l.sees("still alive")
	l.sees("update broke")
}
