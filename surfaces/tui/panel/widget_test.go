package panel

import (
	"fmt"
	"strings"
	"testing"

	"starling/surfaces"
	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/kit"
)

func list(kind string, fields dict) dict {
	fields["type"] = kind
	return fields
}

func items(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = fmt.Sprintf("item number %d", i)
	}
	return out
}

// each widget as a plugin writes it.
var widgets = []struct {
	name string
	tree any
}{
	{"rows", list("rows", dict{"gap": 1, "children": []any{"first", dict{"type": "text", "text": "three rows", "size": 3}, dict{"type": "text", "text": "grows", "grow": 1}, "last"}})},
	{"cols", list("cols", dict{"gap": 1, "children": []any{"left", dict{"type": "rule"}, dict{"type": "text", "text": "the middle grows", "grow": 1}, dict{"type": "text", "text": "six", "size": 6, "align": "right"}}})},
	{"text", list("rows", dict{"children": []any{
		"words break at spaces, averyveryveryverylongone between characters",
		dict{"type": "text", "text": "cut at the edge instead of being broken", "wrap": false, "style": "dim"},
		dict{"type": "text", "text": "centre", "align": "center", "style": "underline"},
		dict{"type": "text", "spans": []any{"漢字 ", dict{"text": "bold 👩‍👩‍👧 ", "style": "bold"}, dict{"text": "é and more words", "style": "italic"}}},
	}})},
	{"markdown", list("markdown", dict{"text": "# Head\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```go\nfunc main() {}\n```\n"})},
	{"diff", list("diff", dict{"path": "a/b.go", "before": "one\ntwo\nthree\n", "after": "one\n2 and a line that is longer\nthree\nfour\n"})},
	{"list", list("list", dict{"id": "l", "items": append([]any{dict{"text": "done", "style": "dim"}, "a longer item that does not fit in there"}, items(9)...), "selected": 1})},
	{"table", list("table", dict{"id": "t", "columns": []any{"name", dict{"title": "size", "align": "right"}, dict{"title": "kind", "width": 4}}, "rows": []any{
		[]any{"main.go", "120", "file"}, []any{"漢字.txt", "7", "a text"}, []any{"short"},
	}})},
	{"tree", list("tree", dict{"id": "t", "expanded": []any{"src"}, "selected": "b", "nodes": []any{
		dict{"text": "src", "id": "src", "children": []any{"a.go", dict{"text": "b.go", "id": "b"}}}, dict{"text": "docs", "children": []any{"x"}},
	}})},
	{"input", list("rows", dict{"children": []any{
		dict{"type": "input", "id": "a", "text": "what was written is longer than the room"},
		dict{"type": "input", "id": "b", "placeholder": "search"},
		dict{"type": "input", "id": "c", "text": "two\nlines", "multiline": true},
	}})},
	{"button", list("cols", dict{"gap": 1, "children": []any{dict{"type": "button", "id": "y", "label": "Save"}, dict{"type": "button", "id": "n", "label": "Cancel"}}})},
	{"progress", list("rows", dict{"children": []any{
		dict{"type": "progress", "value": 0.52, "label": "tests"}, dict{"type": "progress", "value": 1.0}, dict{"type": "progress", "value": 0.001}, dict{"type": "progress", "label": "busy"},
	}})},
	{"gauge", list("gauge", dict{"values": []any{3, 7.5, 0}, "max": 10})},
	{"sparkline", list("sparkline", dict{"values": []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9, 0, 9, 0, 9}})},
	{"rule", list("rows", dict{"children": []any{"above", dict{"type": "rule"}, "below"}})},
	{"spacer", list("rows", dict{"children": []any{"above", dict{"type": "spacer", "grow": 1}, "below"}})},
}

// Every widget at two sizes, with the keys and without, and in ASCII.
func TestWidgets(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range widgets {
		seen[w.name] = true
		t.Run(w.name, func(t *testing.T) {
			var out strings.Builder
			for _, size := range [][2]int{{34, 10}, {16, 5}} {
				for _, ascii := range []bool{false, true} {
					l := newLab(t, size[0], size[1])
					if ascii {
						l.app.signs = kit.SignsFor(true)
					}
					l.show("p", dict{"kind": "side"}, w.tree)
					p, _ := l.host.Panel(id("p"))
					v := NewView(id("p"), l.host, l.app)
					v.SetPanel(p)
					v.SetActive(!ascii)
					v.SetRect(0, 0, size[0], size[1])
					l.screen.Clear()
					v.Draw(l.screen)
					all := rect(0, 0, size[0], size[1])
					fmt.Fprintf(&out, "== %dx%d ascii %v\n%s", size[0], size[1], ascii, text(l.screen, all))
					if !ascii {
						fmt.Fprintf(&out, "-- styles\n%s", styles(l.screen, all))
					}
				}
			}
			golden.Compare(t, w.name, out.String())
		})
	}
	for _, kind := range surfaces.Types() {
		if !seen[string(kind)] {
			t.Errorf("%s has no golden screen", kind)
		}
	}
}
