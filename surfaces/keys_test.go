package surfaces_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/bus/spec"
	"starling/surfaces"
)

// bench is a panel whose tree is its model, and which notes the messages it gets.
type bench struct {
	*lab
	id    surfaces.ID
	model *spec.Model

	mu  sync.Mutex
	got []string
	// answer makes the next model and asks from a message; nil keeps it.
	answer func(tree dict, msg map[string]any) (dict, []spec.Ask)
}

func newBench(t *testing.T, tree dict) *bench {
	t.Helper()
	b := &bench{lab: newLab(t), model: spec.NewModel(tree)}
	b.id, _ = b.mount(spec.Surface{
		Model: b.model,
		Update: func(_ context.Context, model *spec.Model, msg map[string]any) ([]spec.Ask, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			switch msg["kind"] {
			case "resize":
			case "key":
				b.got = append(b.got, fmt.Sprint("key ", msg["code"]))
			case "paste":
				b.got = append(b.got, fmt.Sprint("paste ", msg["text"]))
			default:
				b.got = append(b.got, fmt.Sprint(msg["kind"], " ", msg["id"], " ", msg["value"]))
			}
			if b.answer == nil {
				return nil, nil
			}
			v, _ := model.Load()
			next, asks := b.answer(maps.Clone(v.(dict)), msg)
			model.Store(next)
			return asks, nil
		},
		View: func(_ context.Context, model any, _ map[string]any) (any, error) { return model, nil },
	})
	return b
}

// said returns the messages since it was asked last.
func (b *bench) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.got = nil }()
	return strings.Join(b.got, ", ")
}

func (b *bench) show(tree dict) {
	b.t.Helper()
	b.model.Store(tree)
	b.settle()
	if p := b.panel(b.id); p.Err != "" {
		b.t.Fatal(p.Err)
	}
}

func (b *bench) widget(key string) surfaces.Widget {
	b.t.Helper()
	w, ok := b.panel(b.id).Widgets[key]
	if !ok {
		b.t.Fatalf("there is no widget %q", key)
	}
	return w
}

func list(id string, items ...any) dict { return dict{"type": "list", "id": id, "items": items} }

func TestListKeys(t *testing.T) {
	b := newBench(t, list("l", "a", dict{"text": "b", "id": "bee"}, "c", "d", "e", "f", "g"))
	for _, c := range []struct {
		keys  string
		index int
		want  string
	}{
		{"down", 1, "select l bee"},
		{"enter", 1, "press l bee"},
		{"up up", 0, "select l 0"},
		{"pagedown", 4, "select l 4"}, // a page is one line less than the panel has
		{"end", 6, "select l 6"},
		{"down", 6, ""},
		{"home enter", 0, "select l 0, press l 0"},
		{"x left", 0, "key x, key left"},
		{"ctrl+down", 0, "key down"},
	} {
		b.press(b.id, strings.Fields(c.keys)...)
		if got := b.said(); got != c.want {
			t.Errorf("%s: messages %q, want %q", c.keys, got, c.want)
		}
		if got := b.widget("l").Index; got != c.index {
			t.Errorf("%s: index %d, want %d", c.keys, got, c.index)
		}
	}
	if b.press(b.id, "f6") || b.press(b.id, "esc") || b.press(b.id, "ctrl+c") || b.said() != "" {
		t.Error("a key of the screen was used or sent")
	}
}

// The tree's selected wins only when it changed since the last view; without one the
// mark follows its item.
func TestSelectedWinsWhenNew(t *testing.T) {
	item := func(id string) any { return dict{"text": id, "id": id} }
	with := func(selected any, items ...any) dict {
		l := list("l", items...)
		l["selected"] = selected
		return l
	}
	b := newBench(t, with("b", item("a"), item("b"), item("c")))
	check := func(what string, want int) {
		t.Helper()
		if got := b.widget("l").Index; got != want {
			t.Errorf("%s: index %d, want %d", what, got, want)
		}
	}
	check("as the tree says", 1)
	b.press(b.id, "down")
	b.show(with("b", item("a"), item("b"), item("c"), item("d")))
	check("the same selected again", 2)
	b.show(with("b", item("x"), item("a"), item("b"), item("c")))
	check("the mark follows its item", 3)
	b.show(with("a", item("x"), item("a"), item("b")))
	check("another selected", 1)
	b.show(with(int64(9), item("x"), item("a")))
	check("beyond the end", 1)
	b.show(with(int64(9)))
	check("an empty list", -1)
	b.show(list("l", item("x"), item("y")))
	check("filled again", 0)
	b.press(b.id, "down")
	b.show(dict{"type": "rows", "children": []any{}})
	b.show(list("l", item("x"), item("y")))
	check("gone and back", 0)
}

func TestTreeKeys(t *testing.T) {
	leaf := func(id string) any { return dict{"text": id, "id": id} }
	nodes := []any{
		dict{"text": "src", "id": "src", "children": []any{leaf("a"), dict{"text": "sub", "children": []any{leaf("z")}}}},
		leaf("go.mod"),
	}
	tree := dict{"type": "tree", "id": "t", "nodes": nodes}
	b := newBench(t, tree)
	for _, c := range []struct {
		keys, branch string
		visible      int
		want         string
	}{
		{"down", "go.mod", 2, "select t go.mod"},
		{"up", "src", 2, "select t src"},
		{"right", "src", 4, ""},
		{"right", "a", 4, "select t a"},
		{"down space", "#0/1", 5, "select t #0/1"},
		{"right enter", "z", 5, "select t z, press t z"},
		{"left left", "#0/1", 4, "select t #0/1"},
		{"left left left", "src", 2, "select t src"},
	} {
		b.press(b.id, strings.Fields(c.keys)...)
		p := b.panel(b.id)
		if got := b.said(); got != c.want {
			t.Errorf("%s: messages %q, want %q", c.keys, got, c.want)
		}
		visible := surfaces.Branches(p.Tree, p.Widgets["t"])
		if got := p.Widgets["t"].Branch; got != c.branch || len(visible) != c.visible || visible[p.Widgets["t"].Index].Key != c.branch {
			t.Errorf("%s: on %q of %d, want %q of %d", c.keys, got, len(visible), c.branch, c.visible)
		}
	}
	b.show(dict{"type": "tree", "id": "t", "nodes": nodes, "selected": "z"})
	if w := b.widget("t"); w.Branch != "z" || w.Index != 3 {
		t.Errorf("a selected branch is shown: %+v", w)
	}
	b.host.Click(b.id, "t", 0)
	b.settle()
	if w := b.widget("t"); w.Branch != "src" || w.Expanded["src"] {
		t.Errorf("a click marks and closes: %+v", w)
	}
	if got := b.said(); got != "select t src, press t src" {
		t.Errorf("a click sent %q", got)
	}
	b.show(dict{"type": "tree", "id": "t", "nodes": []any{leaf("other")}})
	if w := b.widget("t"); w.Branch != "other" || w.Index != 0 {
		t.Errorf("the marked branch went: %+v", w)
	}
}

func TestInputKeys(t *testing.T) {
	b := newBench(t, dict{"type": "rows", "children": []any{
		dict{"type": "input", "id": "i"}, dict{"type": "input", "id": "m", "multiline": true}, dict{"type": "button", "id": "ok", "label": "OK"},
	}})
	for _, c := range []struct{ keys, text, want string }{
		{"h i", "hi|", "change i h, change i hi"},
		{"left e", "he|i", "change i hei"},
		{"home backspace", "|hei", ""},
		{"delete end", "ei|", "change i ei"},
		{"space 漢 é", "ei 漢é|", "change i ei , change i ei 漢, change i ei 漢é"},
		{"left left delete", "ei |é", "change i ei é"},
		{"ctrl+left", "|ei é", ""},
		{"ctrl+right", "ei| é", ""},
		{"ctrl+u", "| é", "change i  é"},
		{"ctrl+k enter", "|", "change i , submit i "},
		{"up f1 ctrl+x alt+y", "|", "key up, key f1, key x, key y"},
	} {
		b.press(b.id, strings.Fields(c.keys)...)
		w := b.widget("i")
		if got := w.Text[:w.Caret] + "|" + w.Text[w.Caret:]; got != c.text {
			t.Errorf("%s: %q, want %q", c.keys, got, c.text)
		}
		if got := b.said(); got != c.want {
			t.Errorf("%s: messages %q, want %q", c.keys, got, c.want)
		}
	}
	if !b.press(b.id, "tab") || b.panel(b.id).Focus != "m" {
		t.Errorf("Tab: focus %q", b.panel(b.id).Focus)
	}
	b.said()
	for _, c := range []struct{ keys, text, want string }{
		{"a b enter c", "ab\nc|", "change m a, change m ab, change m ab\n, change m ab\nc"},
		{"up", "a|b\nc", ""},
		{"up", "a|b\nc", "key up"},
		{"end down", "ab\nc|", ""},
		{"home backspace", "ab|c", "change m abc"},
		{"ctrl+enter", "ab|c", "submit m abc"},
		{"ctrl+w", "|c", "change m c"},
	} {
		b.press(b.id, strings.Fields(c.keys)...)
		w := b.widget("m")
		if got := w.Text[:w.Caret] + "|" + w.Text[w.Caret:]; got != c.text {
			t.Errorf("%s: %q, want %q", c.keys, got, c.text)
		}
		if got := b.said(); got != c.want {
			t.Errorf("%s: messages %q, want %q", c.keys, got, c.want)
		}
	}
	b.host.Paste(b.id, "x\r\ny\x1b[31m")
	b.settle()
	if got := b.widget("m").Text; got != "x\nyc" || b.said() != "change m x\nyc" {
		t.Errorf("pasted: %q", got)
	}
	b.press(b.id, "tab", "enter", "space", "backtab")
	if got := b.said(); got != "key tab, press ok <nil>, press ok <nil>, key backtab" || b.panel(b.id).Focus != "m" {
		t.Errorf("the button: %q, focus %q", got, b.panel(b.id).Focus)
	}
	b.host.Paste(b.id, "")
	b.host.Click(b.id, "i", 0)
	b.host.Paste(b.id, "one\ntwo\n")
	b.settle()
	if got := b.widget("i").Text; got != "one two" {
		t.Errorf("pasted into a line: %q", got)
	}
}

// A text the plugin only repeats does not undo what was typed meanwhile; another one
// wins, after a submit too.
func TestTextWinsWhenNew(t *testing.T) {
	b := newBench(t, dict{"type": "input", "id": "i"})
	gate := make(chan struct{})
	b.answer = func(tree dict, msg map[string]any) (dict, []spec.Ask) {
		if msg["kind"] == "change" {
			<-gate
			tree["text"] = msg["value"]
		}
		if msg["kind"] == "submit" {
			tree["text"] = ""
		}
		return tree, nil
	}
	for _, code := range []string{"a", "b", "c"} { // typed faster than it answers
		b.host.Key(b.id, key(code), nil)
	}
	for range 3 {
		gate <- struct{}{}
	}
	b.settle()
	if w := b.widget("i"); w.Text != "abc" || w.Caret != 3 {
		t.Errorf("typed ahead: %+v", w)
	}
	b.host.Key(b.id, key("d"), nil)
	b.host.Key(b.id, key("enter"), nil)
	gate <- struct{}{}
	b.settle()
	if w := b.widget("i"); w.Text != "" || w.Caret != 0 {
		t.Errorf("after a submit that clears: %+v", w)
	}
	b.show(dict{"type": "input", "id": "i", "text": "from the plugin"})
	if w := b.widget("i"); w.Text != "from the plugin" || w.Caret != len(w.Text) {
		t.Errorf("a new text: %+v", w)
	}
}

func TestTabConsumed(t *testing.T) {
	b := newBench(t, dict{"type": "rows", "children": []any{list("a", "x"), list("b", "y")}})
	b.answer = func(tree dict, _ map[string]any) (dict, []spec.Ask) {
		return tree, []spec.Ask{{Kind: spec.AskConsume}}
	}
	if !b.press(b.id, "tab") || b.panel(b.id).Focus != "a" {
		t.Errorf("a consumed Tab moved the focus to %q", b.panel(b.id).Focus)
	}
	b.answer = nil
	b.press(b.id, "tab")
	b.show(dict{"type": "rows", "children": []any{list("c", "z"), list("b", "y")}})
	if got := b.panel(b.id).Focus; got != "b" {
		t.Errorf("the focus left its widget for %q", got)
	}
	b.show(dict{"type": "rows", "children": []any{list("c", "z"), "text"}})
	if got := b.panel(b.id).Focus; got != "c" {
		t.Errorf("the widget went; focus %q", got)
	}
	if b.press(b.id, "tab") {
		t.Error("Tab was used though there is one widget")
	}
	b.show(dict{"type": "text", "text": "t"})
	b.said()
	b.press(b.id, "down", "enter", "a")
	if got := b.said(); got != "key down, key enter, key a" {
		t.Errorf("without a widget: %q", got)
	}
}

// Whatever is pressed and shown, the marks stay inside their widgets and the caret
// between characters.
func TestWidgetsStayInside(t *testing.T) {
	codes := append(surfaces.KeyNames(), "a", "é", "👩‍👩‍👧", "ctrl+w", "ctrl+k", "ctrl+u", "alt+left", "ctrl+right", "ctrl+enter")
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, dict{"type": "rows", "children": []any{}})
		defer func() { _ = b.host.Close(context.Background()) }()
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				if n, err := surfaces.Parse(tree(rt, 0)); err == nil {
					b.show(dict(n.Plain()))
				}
			case 1:
				b.host.Paste(b.id, anyText.Draw(rt, "paste"))
			case 2:
				if keys := slices.Sorted(maps.Keys(b.panel(b.id).Widgets)); len(keys) > 0 {
					b.host.Click(b.id, rapid.SampledFrom(keys).Draw(rt, "widget"), rapid.IntRange(-1, 5).Draw(rt, "index"))
				}
			default:
				b.press(b.id, rapid.SampledFrom(codes).Draw(rt, "key"))
			}
			b.settle()
			p := b.panel(b.id)
			if p.Err != "" {
				rt.Fatal(p.Err)
			}
			inside(rt, p)
		}
	})
}

func inside(t *rapid.T, p surfaces.Panel) {
	seen := map[string]bool{}
	focus := p.Focus == ""
	p.Tree.All(func(n *surfaces.Node) bool {
		if seen[n.Key] {
			t.Fatalf("the key %q stands twice", n.Key)
		}
		seen[n.Key] = true
		focus = focus || n.Key == p.Focus && n.Type.Focusable()
		w := p.Widgets[n.Key]
		size := -1
		switch n.Type {
		case surfaces.List:
			size = len(n.Items)
		case surfaces.Table:
			size = len(n.Rows)
		case surfaces.Tree:
			visible := surfaces.Branches(n, w)
			size = len(visible)
			if w.Index >= 0 && w.Index < size && visible[w.Index].Key != w.Branch {
				t.Fatalf("the mark of the tree is on %q and on %q", w.Branch, visible[w.Index].Key)
			}
		case surfaces.Input:
			at := 0
			for at < w.Caret && at < len(w.Text) {
				at += surfaces.Cluster(w.Text[at:])
			}
			if at != w.Caret || !utf8.ValidString(w.Text) {
				t.Fatalf("caret %d within a character of %q", w.Caret, w.Text)
			}
		}
		if size >= 0 && (w.Index >= size || w.Index < 0 != (size == 0)) {
			t.Fatalf("%s: mark %d of %d", n.Type, w.Index, size)
		}
		return true
	})
	if !focus {
		t.Fatalf("the focus is on %q, which is no widget", p.Focus)
	}
}

// TestKeysInTurn: what is typed behind a Tab is for the widget it goes to, however
// long the plugin thinks about the Tab.
func TestKeysInTurn(t *testing.T) {
	for name, think := range map[string]time.Duration{"quick": 0, "slow": 20 * time.Millisecond, "too slow": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, dict{"type": "rows", "children": []any{
				dict{"type": "input", "id": "one"}, dict{"type": "input", "id": "two"}, dict{"type": "button", "id": "go", "label": "go"},
			}})
			b.settle()
			b.answer = func(tree dict, msg map[string]any) (dict, []spec.Ask) {
				if msg["code"] == "tab" {
					time.Sleep(think)
				}
				return tree, nil
			}
			var answers sync.WaitGroup
			var mu sync.Mutex
			var order []string
			for _, code := range []string{"a", "tab", "b", "c", "tab", "enter", "backtab", "d", "backtab", "e"} {
				answers.Add(1)
				b.host.Key(b.id, surfaces.Message{Code: code}, func(used bool) {
					defer answers.Done()
					mu.Lock()
					defer mu.Unlock()
					order = append(order, code)
					if !used {
						t.Errorf("%s was not used", code)
					}
				})
			}
			b.host.Paste(b.id, "!")
			answers.Wait()
			b.settle()
			if one, two := b.widget("one").Text, b.widget("two").Text; one != "ae!" || two != "bcd" {
				t.Errorf("the inputs hold %q and %q", one, two)
			}
			if got := b.said(); strings.Count(got, "press go") != 1 {
				t.Errorf("the plugin heard %s", got)
			}
			if got := strings.Join(order, " "); got != "a tab b c tab enter backtab d backtab e" {
				t.Errorf("answered in the order %s", got)
			}
		})
	}
}
