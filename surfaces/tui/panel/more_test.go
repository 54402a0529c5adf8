package panel

import (
	"context"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// A plugin hears its true room before its first view, and again when that changes.
func TestResize(t *testing.T) {
	for _, c := range []struct {
		place dict
		first string
		then  string
	}{
		{dict{"kind": "side"}, "38x39", "24x23"},
		{dict{"kind": "side", "width": 20}, "20x39", "20x23"},
		{dict{"kind": "bottom", "height": 4}, "120x4", "80x4"},
		{dict{"kind": "overlay", "width": 30, "height": 5}, "30x5", "30x5"},
	} {
		l := newLab(t, 120, 40)
		l.draw()
		var heard []string
		l.mount("p", spec.Surface{
			Placement: c.place,
			View: func(context.Context, any, map[string]any) (any, error) {
				l.note(dict{"kind": "view"})
				return "x", nil
			},
			Update: func(_ context.Context, _ *spec.Model, msg map[string]any) ([]spec.Ask, error) {
				if msg["kind"] == "resize" {
					l.note(dict{"kind": "size", "of": sizeOf(msg)})
				}
				return nil, nil
			},
		})
		l.screen.SetSize(80, 24)
		l.frame()
		for _, m := range l.messages() {
			if m["kind"] == "view" {
				heard = append(heard, "view")
			} else {
				heard = append(heard, m["of"].(string))
			}
		}
		want := []string{c.first, "view"}
		if c.then != c.first {
			want = append(want, c.then)
		}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("%v: -want +got\n%s", c.place, diff)
		}
	}
}

func sizeOf(msg dict) string {
	n := func(v any) string { return number(int(v.(int64))) }
	return n(msg["width"]) + "x" + n(msg["height"])
}

// A plugin may give the keys back; one that does not have them changes nothing.
func TestRelease(t *testing.T) {
	l := newLab(t, 100, 30)
	l.show("a", dict{"kind": "side"}, "text", spec.Ask{Kind: spec.AskRelease})
	l.show("b", dict{"kind": "side"}, todos)
	l.m.Focus(id("b"))
	l.host.Post(id("a"), surfaces.Message{Kind: surfaces.UserMessage, Name: "x"}, nil)
	l.frame()
	if got, _ := l.m.Focused(); got != id("b") {
		t.Errorf("%v has the keys", got)
	}
	l.m.Focus(id("a"))
	l.key(char('q'))
	if _, ok := l.m.Focused(); ok {
		t.Error("the keys were not given back")
	}
}

// Hidden side panels lose the keys and come back as they were.
func TestNoSides(t *testing.T) {
	l := newLab(t, 100, 30)
	l.show("a", dict{"kind": "side"}, todos)
	l.m.Focus(id("a"))
	l.frame()
	l.m.SetNoSides(true)
	l.frame()
	if _, ok := l.m.Focused(); ok || l.m.Placed().Transcript.W != 100 || l.m.Cycle(1) {
		t.Error("a hidden panel has the keys, or its room")
	}
	l.m.SetNoSides(false)
	l.frame()
	if s := text(l.screen, rect(0, 0, 100, 30)); !strings.Contains(s, "write the limiter") {
		t.Errorf("it is not back:\n%s", s)
	}
}

// A surface that goes takes its place and the keys with it, and one that comes back is
// drawn as new.
func TestGone(t *testing.T) {
	l := newLab(t, 100, 30)
	s := spec.Surface{Name: "p", Placement: dict{"kind": "side"}, View: func(context.Context, any, map[string]any) (any, error) { return "here", nil }}
	here := func() bool { return strings.Contains(text(l.screen, rect(0, 0, 100, 30)), "here") }
	for range 2 {
		remove := l.add("p", s)
		l.m.Focus(id("p"))
		l.frame()
		if !here() {
			t.Fatal("it is not shown")
		}
		l.store.Commit(remove)
		l.host.Sync()
		l.frame()
		if _, ok := l.m.Focused(); ok || here() || len(l.m.views) != 0 {
			t.Fatal("it is still there")
		}
	}
}

// A tree that stands in the conversation.
func TestStill(t *testing.T) {
	tree, err := surfaces.Parse(list("rows", dict{"children": []any{"漢字 and\nmore", list("list", dict{"items": items(3)})}}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range Still(tree, 12, newApp()) {
		width, line := 0, ""
		for _, c := range row {
			width += c.Width
			line += c.Text
		}
		if width != 12 {
			t.Errorf("%q is %d wide", line, width)
		}
		got = append(got, strings.TrimRight(line, " "))
	}
	if diff := cmp.Diff([]string{"漢字 and", "more", "  item numb…", "  item numb…", "  item numb…"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Caret, mark and click stay right while a long input or list scrolls by itself.
func TestInnerScrolling(t *testing.T) {
	l := newLab(t, 100, 12)
	l.show("p", dict{"kind": "side"}, list("rows", dict{"children": []any{"head", list("list", dict{"id": "l", "items": items(50)}), "foot"}}))
	l.m.Focus(id("p"))
	l.frame()
	screen := func() string { return text(l.screen, rect(69, 1, 31, 11)) }
	l.key(press(tcell.KeyEnd))
	if s := screen(); !strings.HasPrefix(s, "head\n") || !strings.Contains(s, "› item number 49\nfoot\n") {
		t.Fatalf("the mark is out of sight, or head and foot are:\n%s", s)
	}
	l.messages()
	l.m.Mouse(kit.Mouse{Action: kit.WheelUp, X: 75, Y: 5})
	l.frame()
	l.messages()
	l.m.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.ButtonPrimary, X: 75, Y: 2}) // the first item on screen
	l.frame()
	var value any
	for _, m := range l.messages() {
		if m["kind"] == "press" {
			value = m["value"]
		}
	}
	if value != int64(38) {
		t.Errorf("pressed %v:\n%s", value, screen())
	}
}
