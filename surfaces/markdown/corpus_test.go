package markdown

import (
	"html"
	"strings"
	"testing"
)

// corpus has each construct, and answers as models write them.
var corpus = []string{
	// Headings.
	"# one\n## two ##\n### three #\\#\n#no heading\n####### seven\n#\n", "Setext\n===\nof two\nlines\n---\n", "# *em* `code` [l](u)\ntext right after\n",
	"\\# no heading\n", "text\n# heading in between\ntext\n", "   # three spaces\n    # four\n",
	// Paragraphs and line ends.
	"one\ntwo  \nthree\\\nfour   \n\n\nfive\n", "a\n    goes on\n", "last line \\",
	// Quotes.
	"> a\n> b\nlazy\n\n> > deep\n> less\n", ">no space\n>\n> - item\n>   more\n> lazy\n", "> ```\n> code\n```\nout\n", "> a\n***\n> # head\n",
	// Lists.
	"- a\n- b\n\n- c\n", "- a\n  - b\n    - c\n- d\n", "- a\n\n  second\n- b\n", "1. a\n2. b\n3) c\n", "* a\n+ b\n- c\n", "- a\n\n\n- b\n\n\ntext\n",
	"10. ten\n    more\n11. eleven\n", "text\n- item right after\n", "text\n2. no item\n", "text\n1. an item\n", "- a\n lazy\n", "-\ta tab\n- b\n",
	"- a\n  > quote\n  ```\n  code\n  ```\n- b\n", "- a\n  - b\n\n    c\n- d\n", "- a\n  - b\n\n- c\n", "* a\n  *\n\n  * b\n", "1. a\n\n       code\n", "- - - a\n", "- # head\n- ***\n",
	"- [ ] open\n- [x] **done**\n- [X]  also\n- [y] no task\n", "1. one\n   - nested\n     1. deeper\n\n   text\n2. two\n", "1234567890. too long\n", "-no item\n", "- a\n-\n- c\n",
	// Code.
	"```go\nx := 1\n\n\ty\n```\n", "~~~ text info\n```\n~~~\n", "````\n```\n````\n", "    indented\n\n      more\n\n\ntext\n", "  ```\n  off\n   on\n  ```\n", "```\nnever ends\n", "`` no ` fence ``\n", "``` a`b\n",
	"- ```sh\n  in an item\n  ```\n- next\n", "text\n```\nright after\n```\ntext\n",
	// Rules.
	"***\n---\n___\n- - -\n**\n", "text\n***\ntext\n", "- a\n---\n",
	// Tables.
	"| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 |\n| 4 | 5 | 6 |\n\ntext\n", "a | b\n--- | ---:\n`x \\| y` | **z**\n", "text\n| a |\n|---|\n| b |\n> quote\n", "| a |\n|---|\nno bar\n# head\n",
	"> | a | b |\n> |:--|---|\n> | c | d |\n",
	// HTML.
	"<div>\n*no em*\n</div>\n\n*em*\n", "<details>\n<summary>More</summary>\n\n**bold**\n\n</details>\n", "<!-- a\ncomment --> text\nnext\n", "<b>bold</b> text\n", "text\n<div>\n", "text\n<span>\n", "<script>\nx\n\ny</script>\nz\n", "<?php\n\n?>\n",
	"<my-tag a=\"b\" c>\nx\n\ny\n",
	// Inlines.
	"*a* **b** ***c*** _d_ __e__ *a **b** c* **a *b* c**\n", "a*b*c snake_case_name __init__ 2*3*4\n", "*a **b* c**\n", "**a\nb**\n", "* a*\n", "**\"quoted\"**text\n", "*(**x**)*\n", "foo*bar*baz_qux_\n", "****a****\n", "*a`*`b*\n",
	"~~gone~~ a~~b~~c ~~~~no~~~~ ~~ no ~~\n", "`a` ``b ` c`` ` d ` `e\nf` `` no `\n", "`\\` \\`no`\n", "[a](b) [a](<b c> \"t\") [a](b 'x\ny') [](u) [a]() [a] (b)\n", "[a [b](c) d](e) ![a [b](c)](d) [![i](j)](k)\n", "[*a](b)* *[a*](b)\n",
	"[a](b\\)c) [a](b(c)d) [a](b c) [a](b&amp;c)\n", "<https://x.y/?a=b&c> <a@b.c> <no> <a:b c> <https://x y>\n", "\\*a\\* \\a \\\\ \\[a](b)\n", "&amp; &lt;b&gt; &#65; &#x41; &#0; &nbsp;x &copy &nope; &#1234567890;\n", "a <b>c</b> <br> <br/> <x y='z'> <1> < b> <!-- c --> <!---> d --> <?e?>\n",
	"**漢字**は*太字*です。**「引用」**です\n", "a\u00a0*b*\u00a0c €*d* *é*\n", "![**bold** alt](p \"t\") ![a](<> 'b')\n", "[a](b)[c](d)](e)\n", "[unclosed *em*\n", "** a ** b\n", "*a_b*c_\n", "__a*b__c*\n",

	"I've fixed the race in `Store.Commit`. Here is what changed:\n\n1. **`bus/store.go`** — the lock is taken *before* the snapshot is read:\n\n   ```go\n   s.mu.Lock()\n   defer s.mu.Unlock()\n   ```\n\n2. **`bus/store_test.go`** — a new test, `TestCommitRace`:\n   - starts 8 writers\n   - checks that `len(got) == 8`\n\n3. Docs.\n\n> **Note:** `go test -race ./bus` takes ~~12 s~~ 3 s now.\n\n| Test | Before | After |\n|------|-------:|:-----:|\n| `TestCommit` | 1.2 s | 0.3 s |\n| `TestRace` | fails | passes |\n\n---\n\nWould you like me to:\n\n- [x] run the whole suite\n- [ ] open a pull request?\n",
	"## Summary\n\nThe bug is on line 42:\n\n```diff\n- if x = nil {\n+ if x == nil {\n```\n\nWhy it happens:\n\n* `x` is `*T`, so `x = nil`…\n  * is an assignment\n  * never a comparison\n\n    (the compiler says so, too)\n* see [the spec](https://go.dev/ref/spec#Comparison_operators) or <https://go.dev>\n\n### Next steps\n1. Run `make test`\n2. Commit with `git commit -m \"fix: x\"`\n\nLet me know if **anything** is _unclear_!\n",
	"Two ways:\n**A.** keep `foo_bar` and `__init__.py`\n**B.** rename to *foo-bar* (2 * 3 = 6, a*b*c)\n\n    $ ls *.go | wc -l\n    12\n\nPath: C:\\Users\\x\\*.txt, cost: $5 & up, 5 < 6 > 4, `a < b`\n\nHeading\n-------\nText <kbd>Ctrl</kbd>+<kbd>C</kbd>, see [#12](https://x.y/12 \"an issue\").\n",
}

// Every entity stands for what it stands for everywhere.
func TestEntities(t *testing.T) {
	n := 0
	for name, text := range entities() {
		if want := html.UnescapeString("&" + name + ";"); text != want {
			t.Errorf("&%s; is %q, want %q", name, text, want)
		}
		n++
	}
	if n < 200 {
		t.Errorf("only %d entities", n)
	}
}

// hostile are signs that take long where a parser looks for their end over and over.
func hostile() []string {
	return []string{
		"*a ", "a* ", "*a_ ", "**a", "a**", "***a**", "_a__b", "*_~~", "~~a", "*a **b ", "a*b_", "*", "[", "![", "]", "[a](", "[a](b", "[](<", "[a](b \"", "[a](b (", "[a](b '", "![[]()", "[a](u)",
		"[a](" + strings.Repeat("(", maxParens), "<", "<!--", "<!-- a -->", "<?", "<!A", "<![CDATA[", "<a ", "<a b=\"", "<a b='", "<a b=\"<a c='", "<a:", "a@b<", "</", "&", "&#", "&a", "\\", "\\\n", "(", "`", "`a``",
		"> ", "- ", "1. ", ">", "> - ", "    ", "\t", " \t", "# ", "|-", "a|", "| ", ":-|", "= ", "-", "_ ", "~~~", "a\n", "-\n", "- a\n", "- a\n\n", "  - a\n", "> a\n", "> > > > > > > > a\n", "\n", " \n", "a\n=\n", "|a|\n|-|\n", "-|\n", "|\n",
		"a\n-", "```\n", "[a]: b\n", "a  \n", "<div>\n", "<div>\n\n", "<!--\n", "\ta\n", "- [ ] a\n", "* a\n  1. b\n", "漢", "🏳️‍🌈", "e\u0301",
	}
}

// No text takes time that grows faster than it does: with a quarter of a million signs each of
// these would take minutes.
func TestHostile(t *testing.T) {
	const size = 1 << 18
	var ticks strings.Builder
	for n := 1; ticks.Len() < size; n++ {
		ticks.WriteString("a" + strings.Repeat("`", n))
	}
	docs := map[string]string{"rows of backticks": ticks.String()}
	for _, s := range hostile() {
		docs[s] = strings.Repeat(s, size/len(s))
	}
	docs["a table of many columns"] = strings.Repeat("|a", size/6) + "\n" + strings.Repeat("|-", size/6) + "\n" + strings.Repeat("|b\n", size/9)
	docs["a long header"] = "|" + strings.Repeat("a", size/2) + "|b|\n|-|-|\n" + strings.Repeat("|c\n", size/6)
	for name, doc := range docs {
		if inside(parse(doc)) == 0 && strings.TrimSpace(doc) != "" {
			t.Errorf("%q: nothing is left", name)
		}
	}
	for _, name := range []string{"a table of many columns", "a long header"} {
		if len(Render(docs[name], Options{Width: 30})) == 0 {
			t.Errorf("%s: nothing is left", name)
		}
	}
	for _, s := range []string{"(", "a ", "a(", `"`, `"a`, `\`, "`", "/*", "*/", "1.", "<!--", `'`, "\t", "漢 "} {
		for _, name := range []string{"go", "html", "python", "diff"} {
			line := strings.Repeat(s, size/len(s))
			spans, _ := languageOf(name).highlight(line, 0)
			if (Line{Spans: spans}).Text() != line {
				t.Errorf("%q: highlighting as %s lost text", s, name)
			}
		}
	}
}

// inside counts the spans within a block.
func inside(n *node) int {
	count := len(n.words(false))
	for _, row := range n.rows {
		for _, cell := range row {
			count += len(cellSpans(cell, 0))
		}
	}
	for _, kid := range n.kids {
		count += 1 + inside(kid)
	}
	return count
}

// Quotes and lists are open inside each other to a depth; what is deeper is text.
func TestDepth(t *testing.T) {
	for _, sign := range []string{"> ", "- ", "1. ", "> - "} {
		n := parse(strings.Repeat(sign, 1000) + "a")
		depth, text := 0, ""
		for n.last() != nil {
			if n = n.last(); n.kind == kindQuote || n.kind == kindItem {
				depth++
			}
			text = n.text
		}
		if depth != maxOpen || !strings.HasSuffix(text, "a") {
			t.Errorf("%q is %d deep, with %d bytes of text", sign, depth, len(text))
		}
	}
}

func BenchmarkRender(b *testing.B) {
	doc := strings.Join(corpus[len(corpus)-3:], "\n\n")
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		Render(doc, Options{Width: 80})
	}
}
