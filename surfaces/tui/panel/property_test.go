package panel

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"pgregory.net/rapid"

	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// anyText holds what foreign text may hold.
var anyText = rapid.OneOf(
	rapid.StringMatching(`[a-z ]{0,12}`), rapid.String(),
	rapid.StringMatching(`(\x1b\[31m|\x{9b}|\x{202e}|\n|\t|漢|é|👩‍👩‍👧|🇩🇪|\x{301}|\[red\]|مرحبا){0,6}`),
)

// anyTree draws a tree as a plugin may write it; ids counts what has a name.
func anyTree(t *rapid.T, depth int, ids *int) any {
	kind := rapid.SampledFrom(surfaces.Types()).Draw(t, "type")
	if depth > 3 && (kind == surfaces.Rows || kind == surfaces.Cols) {
		return anyText.Draw(t, "bare")
	}
	texts := func(what string) []any {
		out := []any{}
		for range rapid.IntRange(0, 5).Draw(t, what) {
			out = append(out, anyText.Draw(t, what))
		}
		return out
	}
	m := dict{"type": string(kind)}
	*ids++
	name := fmt.Sprint("w", *ids)
	switch rapid.IntRange(0, 3).Draw(t, "place") {
	case 0:
		m["size"] = rapid.SampledFrom([]int{1, 2, 7, 99, 10_000}).Draw(t, "size")
	case 1:
		m["grow"] = rapid.IntRange(1, 9).Draw(t, "grow")
	}
	switch kind {
	case surfaces.Rows, surfaces.Cols:
		children := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "children") {
			children = append(children, anyTree(t, depth+1, ids))
		}
		m["children"], m["gap"] = children, rapid.IntRange(0, 3).Draw(t, "gap")
	case surfaces.Text:
		m["wrap"] = rapid.Bool().Draw(t, "wrap")
		m["align"] = rapid.SampledFrom([]string{"left", "center", "right"}).Draw(t, "align")
		if rapid.Bool().Draw(t, "spans?") {
			m["spans"] = texts("spans")
		} else {
			m["text"] = anyText.Draw(t, "text")
		}
	case surfaces.Markdown:
		m["text"] = strings.Join([]string{"# x", anyText.Draw(t, "text"), "- y"}, "\n")
	case surfaces.Diff:
		m["path"], m["before"], m["after"] = anyText.Draw(t, "path"), anyText.Draw(t, "before"), anyText.Draw(t, "after")
	case surfaces.List:
		m["items"] = texts("items")
	case surfaces.Table:
		m["columns"] = []any{"a", dict{"title": anyText.Draw(t, "title"), "width": 4, "align": "right"}, "c"}
		m["rows"] = []any{texts("row")[:0], []any{anyText.Draw(t, "cell"), anyText.Draw(t, "cell")}}
	case surfaces.Tree:
		m["nodes"] = []any{dict{"text": anyText.Draw(t, "branch"), "id": "top", "children": texts("branches")}}
		m["expanded"] = []any{"top"}
	case surfaces.Input:
		m["id"], m["text"] = name, anyText.Draw(t, "text")
		m["multiline"] = rapid.Bool().Draw(t, "multiline")
	case surfaces.Button:
		m["id"], m["label"] = name, anyText.Draw(t, "label")
	case surfaces.Progress:
		if rapid.Bool().Draw(t, "busy") {
			m["value"] = rapid.Float64Range(0, 1).Draw(t, "value")
		}
		m["label"] = anyText.Draw(t, "label")
	case surfaces.Gauge, surfaces.Sparkline:
		values := []any{}
		for range rapid.IntRange(0, 40).Draw(t, "values") {
			values = append(values, rapid.Float64Range(-1e300, 1e300).Draw(t, "value"))
		}
		m["values"] = values
	}
	return m
}

// Any tree that is accepted draws at any size: inside its room, with every cell drawn
// and nothing in it that steers a terminal, and whatever is pressed afterwards.
func TestAnyTreeDraws(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		tree := anyTree(t, 0, new(int))
		if _, err := surfaces.Parse(tree); err != nil {
			t.Fatalf("%v is refused: %v", tree, err)
		}
		l := newLab(outer, 60, 20)
		l.show("p", dict{"kind": "side"}, tree)
		v := NewView(id("p"), l.host, l.app)
		v.SetActive(true)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			room := rect(rapid.IntRange(1, 20).Draw(t, "x"), rapid.IntRange(1, 5).Draw(t, "y"), rapid.IntRange(1, 38).Draw(t, "w"), rapid.IntRange(1, 13).Draw(t, "h"))
			kit.Fill(l.screen, rect(0, 0, 60, 20), "¤", tcell.StyleDefault)
			p, _ := l.host.Panel(id("p"))
			v.SetPanel(p)
			v.SetRect(room.X, room.Y, room.W, room.H)
			v.Draw(l.screen)
			for y := range 20 {
				for x := 0; x < 60; x++ {
					c, _, w := l.screen.Get(x, y)
					if !room.Has(x, y) && c != "¤" {
						t.Fatalf("%d,%d outside %v is %q", x, y, room, c)
					}
					if room.Has(x, y) && (c == "¤" && !strings.Contains(fmt.Sprint(tree), "¤") || kit.Clean(c) != c || strings.ContainsAny(c, "\n\t")) {
						t.Fatalf("%d,%d inside is %q", x, y, c)
					}
					if room.Has(x, y) && x+w > room.X+room.W {
						t.Fatalf("%d,%d: %q is cut by the edge", x, y, c)
					}
					x += max(w, 1) - 1 // the second half of a wide one is not drawn
				}
			}
			k := rapid.SampledFrom([]tcell.Key{tcell.KeyUp, tcell.KeyDown, tcell.KeyPgDn, tcell.KeyEnd, tcell.KeyTab, tcell.KeyEnter, tcell.KeyRight, tcell.KeyBackspace2}).Draw(t, "key")
			v.Key(press(k))
			v.Mouse(kit.Mouse{Action: kit.Press, Button: tcell.ButtonPrimary, X: room.X + room.W/2, Y: room.Y + room.H/2})
			v.Mouse(kit.Mouse{Action: kit.WheelDown, X: room.X, Y: room.Y})
			l.settle()
		}
		if err := l.host.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// Spans break where the same text in one piece does, and each byte keeps its style.
func TestWrapSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 20).Draw(t, "width")
		var spans []surfaces.Span
		whole := ""
		for i := range rapid.IntRange(2, 5).Draw(t, "spans") {
			text := rapid.StringMatching(`[a-c \n\té漢]{0,9}`).Draw(t, "text")
			spans = append(spans, surfaces.Span{Text: text, Style: surfaces.Style(i + 1)})
			whole += text
		}
		var got []string
		for _, l := range wrapSpans(spans, width) {
			got = append(got, l.Text())
		}
		if want := kit.Wrap(whole, width); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q at %d: %q, want %q", whole, width, got, want)
		}
	})
}

// The rows of an input hold every byte but line ends, in order, and fit.
func TestInputRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c \n\té漢👩]{0,40}`).Draw(t, "text")
		width := rapid.IntRange(2, 9).Draw(t, "width")
		at := 0
		for _, r := range inputRows(text, width) {
			if r.from != at && (r.from != at+1 || text[at] != '\n') {
				t.Fatalf("%q: row at %d follows %d", text, r.from, at)
			}
			if w := cells(text[r.from:r.to]); w > width {
				t.Fatalf("%q is %d wide", text[r.from:r.to], w)
			}
			at = r.to
		}
		if at != len(text) {
			t.Fatalf("%q ends at %d", text, at)
		}
	})
}
