package markdown

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// differences are where our reading is another one on purpose, each with a document
// that shows it. What matches a pattern is not compared.
var differences = []struct {
	why, pattern, sample, want string
}{
	{
		"a reference is shown as it is written", `\]:`,
		"[a]: http://x.y\n[b]: /z\n", `text «:"[a]: http://x.y\n[b]: /z"»`,
	},
	{
		"one tilde means about, or a home folder", `(^|[^~])~([^~]|$)`,
		"from 3~4 to 5~6", `text «:"from 3~4 to 5~6"»`,
	},
	{
		"entities that nobody writes have no name here", `&[A-Za-z]*[^a-z;]|&(mp|ngE);`,
		"&ngE;", `text «:"&ngE;"»`,
	},
	{
		"the box of a task has a space behind it", `\[[xX ]\][^ \n]`,
		"- [x](u)", "list ordered=false start=0 loose=false\n  item\n    text «accent underline:\"x\"»«dim:\" (u)\"»",
	},
	{
		"a header has as many cells as the row of dashes, and a table a bar", `(?m)^[>\s]*[|:-][|: -]*$`,
		"a\n-|-", `text «:"a -|-"»`,
	},
	{
		"a table ends where an item begins", `(?m)^[>\s]*[|:-][|: -]*\n[>\s]*([-+*]|\d+[.)])`,
		"a\n-|\n2) b", "table [0]\n  | «:\"a\"»\n  ---\nlist ordered=true start=2 loose=false\n  item\n    text «:\"b\"»",
	},
	{
		"a tab reaches to the next stop of the whole line", `(?m)^.*[^ \t\n].*\t|^ +\t`,
		"> - \t/", "quote\n  list ordered=false start=0 loose=false\n    item\n      code \"\"\n        \"/\"",
	},
	{
		"an item may begin with an empty line, whatever it has", `(?m)([-+*]|\d[.)])[ \t]*$`,
		"-\n  1. a", "list ordered=false start=0 loose=false\n  item\n    list ordered=true start=1 loose=false\n      item\n        text «:\"a\"»",
	},
	{
		"emphasis ends before a space and a line end, in quotes too", `\S.*\n[> \t]+[*_~]`,
		">*/\n>*", "quote\n  text «:\"*/ *\"»",
	},
	{
		"the address of a link has its parentheses in pairs", `\( *\(`,
		"[a](( )", `text «:"[a](( )"»`,
	},
	{
		"a table behind an empty line sets the items apart as anything else does", `\n\n +\|`,
		"- a\n\n  |b|\n  |-|", "list ordered=false start=0 loose=true\n  item\n    text «:\"a\"»\n    table [0]\n      | «:\"b\"»\n      ---",
	},
	{
		"a declaration need not be whole", `<!\w`,
		"<!c", `html "<!c"`,
	},
	{
		"a tab may follow the name of a tag", `<\w+\t`,
		"<p\tx", `html "<p\tx"`,
	},
}

func TestDifferences(t *testing.T) {
	for _, d := range differences {
		if !regexp.MustCompile(d.pattern).MatchString(d.sample) {
			t.Errorf("%s: the pattern does not fit its sample", d.why)
		}
		if got := ours(d.sample); got != d.want+"\n" {
			t.Errorf("%s: %q\n%s", d.why, d.sample, cmp.Diff(d.want+"\n", got))
		}
		if theirs(d.sample) == d.want+"\n" {
			t.Errorf("%s: %q is no difference any more", d.why, d.sample)
		}
	}
}

func patterns() *regexp.Regexp {
	var all []string
	for _, d := range differences {
		all = append(all, d.pattern)
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}

type failing interface {
	Helper()
	Fatalf(string, ...any)
}

func agree(t failing, doc string) {
	t.Helper()
	if d := cmp.Diff(theirs(doc), ours(doc)); d != "" {
		t.Fatalf("%q is read in another way: %s", doc, d)
	}
}

// Any signs, mostly in a bad order: both readings are the same one.
func TestOracleAnySigns(t *testing.T) {
	skip := patterns()
	begin := rapid.SampledFrom([]string{
		"", "", "", "> ", ">", "- ", "* ", "+ ", "1. ", "2) ", "10. ", "  ", "    ", "   ", "      ", "\t", "# ", "## ", "####### ",
		"```", "~~~", "````", "===", "***", "- - -", "a ---", "<div>", "</div>", "<!--", "-->", "<b>", "<pre>", "</pre>", "- [ ] ", "- [x] ", "> - ", "- > ",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(begin, 0, 3).Draw(t, "begin"), "") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(inlineSigns), 0, 5).Draw(t, "signs"), "") + "\n"
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(rapid.SliceOfN(line, 1, 7).Draw(t, "lines"), "")
		if !skip.MatchString(doc) {
			agree(t, doc)
		}
	})
}

var inlineSigns = []string{
	"a", "b c", "word ", "*", "**", "***", "_", "__", "~~", "`", "``", "[", "]", "(u)", "](u \"t\")", "](<u v>)", "![", "<", "<b>", "</b>", "<br>",
	"<http://x.y>", "<a@b.c>", "\\", "\\*", "&amp;", "&#65;", "&lt;", "!", ".", "é", "“", "漢", " ", "  ", "<!-- c -->", "<a href=\"*\">", ")", "|",
	"http://x", "x-1", "#", "$", "€",
}

// One paragraph of many signs.
func TestOracleInline(t *testing.T) {
	skip := patterns()
	rapid.Check(t, func(t *rapid.T) {
		doc := "x" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(inlineSigns), 1, 25).Draw(t, "signs"), "")
		if !skip.MatchString(doc) {
			agree(t, doc)
		}
	})
}

// Documents that are built as one would write them.
func TestOracleDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(wellFormed(t, 0), "\n") + "\n"
		agree(t, doc)
		// A screen draws them block by block.
		o := Options{Width: rapid.IntRange(10, 90).Draw(t, "width")}
		if d := cmp.Diff(drawn(o.children(parse(doc), o.Width, 0, true)), drawn(Render(doc, o))); d != "" {
			t.Fatalf("%q block by block is another document: %s", doc, d)
		}
	})
}

func drawn(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(marks(l.Spans) + "\n")
	}
	return b.String()
}

var (
	phrases = rapid.SampledFrom([]string{
		"plain words", "**bold**", "*em*", "`code *x*`", "[a link](http://x.y/z)", "![alt](p.png \"t\")", "~~gone~~", "<http://a.b>", "snake_case_name",
		"a \\* b", "2 * 3 * 4", "**bold with `code` and *em***", "(see `f(x)`)", "&amp; &lt;T&gt;", "漢字**太字**漢字", "[`code`](u)", "[ ] no task", "a | b", "***both***", "x<y", "line  ",
	})
	fenced = rapid.SampledFrom([]string{"func f() {", "    indented", "", "# no heading", "- no item", "> no quote", "*", "| a | b |", "<div>"})
)

func words(t *rapid.T) string {
	return "so " + strings.TrimRight(strings.Join(rapid.SliceOfN(phrases, 1, 4).Draw(t, "phrases"), " "), " ")
}

// wellFormed draws the lines of a few blocks.
func wellFormed(t *rapid.T, depth int) []string {
	var out []string
	for i := range rapid.IntRange(1, 4).Draw(t, "blocks") {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, oneBlock(t, depth)...)
	}
	return out
}

func oneBlock(t *rapid.T, depth int) []string {
	kinds := []string{"text", "text", "head", "setext", "fence", "rule", "html"}
	if depth < 3 {
		kinds = append(kinds, "quote", "bullets", "numbers", "tasks")
	}
	if depth == 0 {
		kinds = append(kinds, "table") // of one in an item, see differences
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		out := []string{words(t)}
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			out[len(out)-1] += rapid.SampledFrom([]string{"", "  ", "\\"}).Draw(t, "end")
			out = append(out, words(t))
		}
		return out
	case "head":
		return []string{strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + words(t) + rapid.SampledFrom([]string{"", " ##"}).Draw(t, "closed")}
	case "setext":
		return []string{words(t), rapid.SampledFrom([]string{"===", "---"}).Draw(t, "line")}
	case "fence":
		sign := rapid.SampledFrom([]string{"```", "~~~~"}).Draw(t, "sign")
		out := append([]string{sign + rapid.SampledFrom([]string{"", "go", " sh x"}).Draw(t, "info")}, rapid.SliceOfN(fenced, 1, 5).Draw(t, "code")...)
		return append(out, sign)
	case "rule":
		return []string{rapid.SampledFrom([]string{"***", "* * *", "___"}).Draw(t, "rule")}
	case "table":
		return tableLines(t)
	case "html":
		return []string{"<div class=\"x\">", "some *literal* text", "</div>"}
	case "quote":
		return behind(wellFormed(t, depth+1), "> ", ">")
	case "bullets":
		return items(t, depth, []string{"- ", "-   "})
	case "numbers":
		return items(t, depth, []string{"1. ", "12) "})
	default:
		return items(t, depth, []string{"* [ ] ", "* [x] "})
	}
}

func tableLines(t *rapid.T) []string {
	n := rapid.IntRange(1, 4).Draw(t, "columns")
	row := func(cells *rapid.Generator[string], n int) string {
		return "| " + strings.Join(rapid.SliceOfN(cells, n, n).Draw(t, "cells"), " | ") + " |"
	}
	cells := rapid.SampledFrom([]string{"a", "`b`", "**c d**", "", "`x \\| y`", "e \\| f", "[l](u)"})
	out := []string{row(rapid.SampledFrom([]string{"Name", "*What*"}), n), row(rapid.SampledFrom([]string{"---", ":--", "--:", ":-:"}), n)}
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		out = append(out, row(cells, n))
	}
	return out
}

func items(t *rapid.T, depth int, signs []string) []string {
	sign := rapid.SampledFrom(signs).Draw(t, "sign")
	loose := rapid.Bool().Draw(t, "loose")
	box := strings.Index(sign, "[")
	in := len(sign)
	if box > 0 {
		in = box
	}
	var out []string
	for i := range rapid.IntRange(1, 3).Draw(t, "items") {
		if i > 0 && loose {
			out = append(out, "")
		}
		inner := []string{words(t)}
		switch {
		case rapid.Bool().Draw(t, "whole"):
			inner = append(append(inner, ""), wellFormed(t, depth+1)...)
		case depth < 2 && rapid.Bool().Draw(t, "nested"):
			inner = append(inner, items(t, depth+1, []string{"- ", "+ ", "1. "})...)
		}
		inner = behind(inner, strings.Repeat(" ", in), "")
		inner[0] = sign + inner[0][in:]
		out = append(out, inner...)
	}
	return out
}

// behind puts a prefix before lines, another one before those that are empty.
func behind(lines []string, prefix, empty string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if out[i] = prefix + l; l == "" {
			out[i] = empty
		}
	}
	return out
}

// Documents by hand, and those of the golden files.
func TestOracleCorpus(t *testing.T) {
	names, err := filepath.Glob("testdata/*.md")
	if err != nil || len(names) < 2 {
		t.Fatalf("documents %q, %v", names, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, strings.NewReplacer("\x1b", "", "\u202e", "").Replace(string(raw)))
	}
	for _, doc := range corpus {
		agree(t, doc)
	}
}
