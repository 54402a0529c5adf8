package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/internal/golden"
	"starling/surfaces/markdown"
)

// width counts wide characters as two, joined ones as their first.
func width(s string) int {
	n := 0
	for s != "" {
		size := surfaces.Cluster(s)
		r := []rune(s[:size])[0]
		switch {
		case unicode.In(r, unicode.Han) || r >= 0x1f300 && r <= 0x1faff:
			n += 2
		case unicode.Is(unicode.Mn, r):
		default:
			n++
		}
		s = s[size:]
	}
	return n
}

func options(w int) markdown.Options { return markdown.Options{Width: w, Measure: width} }

// marked writes lines with their styles: «style text».
func marked(lines []markdown.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l.Spans {
			if s.Style == 0 {
				b.WriteString(s.Text)
			} else {
				fmt.Fprintf(&b, "«%s:%s»", s.Style, s.Text)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func text(lines []markdown.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text() + "\n")
	}
	return b.String()
}

// fenced is a document of one piece of code.
func fenced(lang, source string) string {
	return "~~~~~~~~ " + lang + "\n" + source + "\n~~~~~~~~\n"
}

func documents(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.md")
	if err != nil || len(names) < 2 {
		t.Fatalf("documents %q, %v", names, err)
	}
	docs := map[string]string{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs[strings.TrimSuffix(name, ".md")] = string(raw)
	}
	return docs
}

func TestGolden(t *testing.T) {
	for name, doc := range documents(t) {
		for _, w := range []int{20, 40, 80} {
			lines := markdown.Render(doc, options(w))
			got := text(lines)
			if w == 80 {
				got = marked(lines)
			}
			golden.Compare(t, fmt.Sprintf("%s.%d", filepath.Base(name), w), got)
		}
	}
}

// anyDocument is pieces of Markdown in any order.
var anyDocument = rapid.Custom(func(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"# head\n", "para *em* **b** `c`\n", "\n", "- item\n", "  more\n", "1. one\n", "    four\n", "```go\n", "```\n", "~~~\n", "> q\n",
			"| a | b |\n| - | - |\n", "| 1 | 2 |\n", "---\n", "===\n", "<div>\n", "[l](u)", "漢字", "\tx := 1\n", "   ```\n", "&#27;[31m", "\\*", "a  \n", "\x1b[31m", "\r\n", "word ",
		}),
		rapid.StringMatching(`[a-z*_#>\[\]()!|~ \n-]{0,12}`), rapid.String(),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 25).Draw(t, "pieces"), "")
})

// A document that arrives in pieces is the document, and what is settled stays.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := anyDocument.Draw(t, "document")
		w := rapid.IntRange(1, 60).Draw(t, "width")
		s := markdown.NewStream(options(w))
		var fixed []markdown.Line
		for rest := doc; rest != ""; {
			n := rapid.IntRange(1, max(min(len(rest), 30), 1)).Draw(t, "piece")
			s.Append(rest[:n])
			rest = rest[n:]
			settled, open := s.Parts()
			lines := s.Lines()
			if d := cmp.Diff(fixed, lines[:min(len(fixed), len(lines))], cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("settled lines changed: %s", d)
			}
			if len(settled) < len(fixed) || len(settled)+len(open) != len(lines) {
				t.Fatalf("%d settled after %d, and %d open of %d", len(settled), len(fixed), len(open), len(lines))
			}
			fixed = slices.Clone(settled)
		}
		lines := s.Lines()
		if d := cmp.Diff(markdown.Render(doc, options(w)), lines, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("in pieces it is another document: %s", d)
		}
		if s.Text() != doc {
			t.Fatal("the source changed")
		}
		s.SetWidth(w + 7)
		lines = s.Lines()
		if d := cmp.Diff(markdown.Render(doc, options(w+7)), lines, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("at another width: %s", d)
		}
	})
}

// Lines keep to the width and hold nothing that steers a terminal.
func TestLinesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := anyDocument.Draw(t, "document")
		w := rapid.IntRange(1, 60).Draw(t, "width")
		fits(t, markdown.Render(doc, options(w)), w)
		fits(t, markdown.Render(fenced("go", doc), options(w)), w)
	})
}

// A wide character has room behind every prefix, or there is no prefix.
func TestWideInside(t *testing.T) {
	for _, doc := range []string{"- 漢", "> 漢", "1. 漢", "> - 漢", "- > 1. 漢", "    漢", "| 漢 | 漢 |\n|-|-|\n| 漢 | a |"} {
		for w := 2; w < 12; w++ {
			fits(t, markdown.Render(doc, options(w)), w)
		}
	}
}

func fits(t interface {
	Helper()
	Fatalf(string, ...any)
}, lines []markdown.Line, w int,
) {
	t.Helper()
	for _, l := range lines {
		s := l.Text()
		if n := width(s); n > w && (surfaces.Cluster(s) < len(s) || n > 2) {
			t.Fatalf("%q takes %d of %d cells", s, n, w)
		}
		for _, r := range s {
			if view.Steers(r) {
				t.Fatalf("%U in %q", r, s)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, doc := range documents(f) {
		f.Add(doc, 30)
	}
	f.Add("- - - - - - - - - - - - - - a\n> > > > > > > > > > > > > > b", 20)
	f.Fuzz(func(t *testing.T, doc string, w int) {
		w = min(max(w, 1), 200)
		fits(t, markdown.Render(doc, options(w)), w)
	})
}

// An open fence is settled line by line: what is before it is not painted again.
func TestOpenFence(t *testing.T) {
	s := markdown.NewStream(options(40))
	s.Append("Intro\n\n```go\nx := 1\ny := `raw\n")
	settled, open := s.Parts()
	if len(open) != 0 || text(settled) != "Intro\n\n  x := 1\n  y := `raw\n" {
		t.Errorf("settled %q, open %q", text(settled), text(open))
	}
	s.Append("still raw` + 2")
	settled, open = s.Parts()
	if len(settled) != 4 || marked(open) != "  «good:still raw`»«code: + »«warn:2»\n" {
		t.Errorf("settled %q, open %q", text(settled), marked(open))
	}
}

func TestCode(t *testing.T) {
	for _, c := range []struct{ lang, in, want string }{
		{"go", `if x != nil { return "a\"b", 'c', 42 } // end`, `«accent:if»«code: x != »«warn:nil»«code: { »«accent:return»«code: »«good:"a\"b"»«code:, »«good:'c'»«code:, »«warn:42»«code: } »«dim:// end»`},
		{"main.py", "def f(): return None # x", `«accent:def»«code: f(): »«accent:return»«code: »«warn:None»«code: »«dim:# x»`},
		{"Makefile", "include x # y", `«accent:include»«code: x »«dim:# y»`},
		{"SQL", "Select a From b -- c", `«accent:Select»«code: a »«accent:From»«code: b »«dim:-- c»`},
		{"json", `{"a": [true, 1.5]}`, `«code:{»«good:"a"»«code:: [»«warn:true»«code:, »«warn:1.5»«code:]}»`},
		{"sh", `for f in *.go; do echo "$f"; done`, `«accent:for»«code: f »«accent:in»«code: *.go; »«accent:do»«code: »«warn:echo»«code: »«good:"$f"»«code:; »«accent:done»`},
		{"rust", `let c: &'a str = "x"; /* open`, `«accent:let»«code: c: &'a »«warn:str»«code: = »«good:"x"»«code:; »«dim:/* open»`},
		{"diff", "+new", "«good:+new»"},
		{"no such language", "for x", "«code:for x»"},
		{"", "for x", "«code:for x»"},
		{"go", "a\tb", "«code:a   b»"},
		{"go", `"never closed`, "«good:\"never closed»"},
		{"go", `"`, "«good:\"»"},
	} {
		if got := marked(markdown.Render(fenced(c.lang, c.in), options(80))); got != "  "+c.want+"\n" {
			t.Errorf("%s: %q\n got %s\nwant %s", c.lang, c.in, got, c.want)
		}
	}
	// Every language is ready, and takes any text.
	for _, lang := range markdown.Languages() {
		lines := markdown.Render(fenced(lang, "x = 1 \"a\n' b */ # -- //\n`\\"), options(6))
		if got := strings.ReplaceAll(text(lines), "\n", ""); got != `x = 1 "a' b */ # -- //`+"`\\" {
			t.Errorf("%s loses text: %q", lang, got)
		}
	}
}

// Long blocks are cut where nobody sees it.
func TestLongBlocks(t *testing.T) {
	n := 5000
	lines := markdown.Render(strings.Repeat("- item\n", n), options(20))
	if len(lines) != n || slices.ContainsFunc(lines, func(l markdown.Line) bool { return l.Text() != "• item" }) {
		t.Errorf("%d lines of %d items", len(lines), n)
	}
	rows := 0
	for _, l := range markdown.Render("| key | b |\n|--|--|\n"+strings.Repeat("| x | y |\n", n), options(20)) {
		switch l.Text() {
		case "x   │ y":
			rows++
		case "key │ b", "────┼──":
		default:
			t.Fatalf("a line of a long table is %q", l.Text())
		}
	}
	if rows != n {
		t.Errorf("%d of %d rows", rows, n)
	}
	long := strings.Repeat("[a](", 10000)
	if got := strings.ReplaceAll(text(markdown.Render(long, options(40))), "\n", ""); got != long {
		t.Errorf("a long line lost text: %d of %d bytes", len(got), len(long))
	}
}

func TestASCII(t *testing.T) {
	o := options(40)
	o.ASCII = true
	got := text(markdown.Render("- a\n\n> b\n\n---\n\n| a | b |\n|--|--|\n| 1 | 2 |\n", o))
	for _, r := range got {
		if r > unicode.MaxASCII {
			t.Errorf("%q in %s", r, got)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	doc := strings.Repeat(documents(b)["testdata/answer"]+"\n\n", 20)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		s := markdown.NewStream(options(80))
		for i := 0; i < len(doc); i += 20 {
			s.Append(doc[i:min(i+20, len(doc))])
			s.Parts()
		}
	}
}

// With Breaks the lines of a paragraph, of an item and of a quote stay lines; a heading, a
// table and code are as ever.
func TestBreaks(t *testing.T) {
	src := "a.go\nb.go  \nc `d\ne`\n\n- item\n  goes on\n\n> quote\n> more\n\n| a | b |\n|---|\n| 1 | 2 |\n"
	o := options(40)
	o.Breaks = true
	var got []string
	for _, l := range markdown.Render(src, o) {
		got = append(got, strings.TrimRight(l.Text(), " "))
	}
	want := []string{"a.go", "b.go", "c d e", "", "• item", "  goes on", "", "│ quote", "│ more", "", "| a | b |", "|---|", "| 1 | 2 |"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
