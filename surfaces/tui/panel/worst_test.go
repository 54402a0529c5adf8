package panel

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// The largest trees there may be: what one key costs the event loop, once they are
// measured.
func BenchmarkWorst(b *testing.B) {
	many := func(n int, f func(i int) any) []any {
		out := make([]any, n)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	for name, tree := range map[string]any{
		"text":     strings.Repeat("漢字 words and more of them ", 30_000),
		"markdown": list("markdown", dict{"text": strings.Repeat("some `code` and **bold** words\n\n", 20_000)}),
		"list":     list("list", dict{"id": "l", "items": items(9_000)}),
		"tree":     list("tree", dict{"id": "l", "nodes": many(9_000, func(i int) any { return "branch" })}),
		"table":    list("table", dict{"id": "l", "columns": []any{"a", "b"}, "rows": many(4_000, func(i int) any { return []any{"漢字", "x"} })}),
		"rows":     list("rows", dict{"children": append(many(9_000, func(i int) any { return "line" }), list("list", dict{"id": "l", "items": items(9)}))}),
		"input":    list("input", dict{"id": "l", "multiline": true, "text": strings.Repeat("漢字 words\n", 50_000)}),
		"diff":     list("diff", dict{"before": strings.Repeat("a\nb\n", 20_000), "after": strings.Repeat("b\na\n", 20_000)}),
	} {
		b.Run(name, func(b *testing.B) {
			l := newLab(b, 100, 30)
			l.show("p", dict{"kind": "side"}, tree)
			l.m.Focus(id("p"))
			l.frame()
			v := l.m.views[id("p")]
			if v.m == nil || !v.known(v.measured) {
				b.Fatal("it is not measured")
			}
			down, up := press(tcell.KeyDown), press(tcell.KeyUp)
			i := 0
			for b.Loop() {
				if i++; i%2 == 0 {
					l.m.Key(down)
				} else {
					l.m.Key(up)
				}
				p, _ := l.host.Panel(id("p"))
				p.Version += uint64(i)
				v.SetPanel(p)
				l.m.Arrange(rect(0, 0, 100, 30))
				l.m.Draw(l.screen)
			}
		})
	}
}
