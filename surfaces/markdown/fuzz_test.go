package markdown

import (
	"strings"
	"testing"
	"unicode"

	"starling/bus/view"
)

// Whatever the text: no panic, no block deeper than may be, and every letter is shown
// where no markup has letters that are not.
func FuzzParse(f *testing.F) {
	for _, doc := range corpus {
		f.Add(doc)
	}
	for _, s := range hostile() {
		f.Add(strings.Repeat(s, 20))
	}
	f.Fuzz(func(t *testing.T, doc string) {
		doc = view.Clean(doc)
		var shown strings.Builder
		var walk func(n *node, depth int)
		walk = func(n *node, depth int) {
			if depth > 2*maxOpen+1 {
				t.Fatalf("%q is %d deep", doc, depth)
			}
			switch n.kind {
			case kindCode, kindHTML:
				shown.WriteString(n.text)
			default:
				shown.WriteString(Line{Spans: n.words(false)}.Text())
			}
			for _, row := range n.rows {
				for _, cell := range row {
					shown.WriteString(Line{Spans: cellSpans(cell, 0)}.Text())
				}
			}
			for _, kid := range n.kids {
				walk(kid, depth+1)
			}
		}
		walk(parse(doc), 0)
		if strings.ContainsAny(doc, "[&`~|") || strings.Contains(strings.ToLower(doc), "br") {
			return // titles, entities, languages, cells too many, line breaks
		}
		if want, got := letters(doc), letters(shown.String()); want != got {
			t.Fatalf("%q: %q is shown of the letters %q", doc, got, want)
		}
	})
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}
