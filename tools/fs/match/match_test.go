package match

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFind(t *testing.T) {
	one := func(old, next string) []Edit { return []Edit{{Old: old, New: next}} }
	for name, c := range map[string]struct {
		content string
		edits   []Edit
		want    string
	}{
		"plain":                  {"a\nb\nc\n", one("b", "B"), "a\nB\nc\n"},
		"delete a line":          {"a\nb\nc\n", one("b\n", ""), "a\nc\n"},
		"literal":                {"x\n", one("x", `x $1 ${name} $& $$ \1 %s %%`), `x $1 ${name} $& $$ \1 %s %%` + "\n"},
		"crlf":                   {"a\r\nb\r\nc\r\n", one("a\nb", "A\nb"), "A\r\nb\r\nc\r\n"},
		"crlf, more lines":       {"a\r\nb\r\n", one("a", "a\nx"), "a\r\nx\r\nb\r\n"},
		"crlf, last line":        {"a\r\nb", one("b", "b\nc"), "a\r\nb\r\nc"},
		"crlf, leading break":    {"a\r\nb\r\nc", one("\nb", ""), "a\r\nc"},
		"crlf given":             {"a\r\nb\r\n", one("a\r\nb", "a\r\nB"), "a\r\nB\r\n"},
		"crlf given to be lf":    {"a\r\nb\r\n", one("a\r\nb", "a\nb"), "a\nb\r\n"},
		"crlf given, file lf":    {"a\nb\n", one("a\r\nb", "A\r\nx\r\nb"), "A\nx\nb\n"},
		"mixed":                  {"a\r\nb\nc\r\nd\n", one("a\nb\nc\nd", "a\nB\nc\nd\ne"), "a\r\nB\nc\r\nd\ne\n"},
		"mixed, one line":        {"a\nb\r\nc\n", one("b", "b1\nb2"), "a\nb1\r\nb2\r\nc\n"},
		"tail of no break":       {"a\nb", one("a", "A"), "A\nb"},
		"tail of two":            {"a\n\n", one("a", "A"), "A\n\n"},
		"byte order mark":        {"\uFEFFa\nb\n", one("a", "A"), "\uFEFFA\nb\n"},
		"mark in the old text":   {"\uFEFFa\nb\n", one("\uFEFFa", "A"), "\uFEFFA\nb\n"},
		"mark in both":           {"\uFEFFa\nb\n", one("\uFEFFa", "\uFEFFA"), "\uFEFFA\nb\n"},
		"mark in the new text":   {"\uFEFFa\nb\n", one("a", "\uFEFFA"), "\uFEFFA\nb\n"},
		"mark the file has not":  {"a\nb\n", one("\uFEFFa", "\uFEFFA"), "A\nb\n"},
		"quotes":                 {"x “a” 'c'\ny “b”  \n", one(`"a"`, `"A"`), "x “A” 'c'\ny “b”  \n"},
		"quotes, another part":   {"say(“a”, b)\n", one(`say("a", b)`, `say("a", c)`), "say(“a”, c)\n"},
		"dashes and blanks":      {"p — q\u00A0r\u2009s\n", one("p - q r s", "p - q r t"), "p — q\u00A0r\u2009t\n"},
		"trailing blanks":        {"a  \nb\t\nc\n", one("a\nb\nc", "a\nB\nc"), "a  \nB\t\nc\n"},
		"trailing blanks, crlf":  {"a  \r\nb\r\n", one("a\nb", "a\nx\nb"), "a  \r\nx\r\nb\r\n"},
		"trailing in old":        {"a\nb\n", one("a   \nb", "a   \nc"), "a\nc\n"},
		"trailing at the end":    {"a = b\na\n", one("a  \n", "c\n"), "a = b\nc\n"},
		"invisible":              {"a\u200Bb\nc\n", one("ab\nc", "ab\nd"), "a\u200Bb\nd\n"},
		"Latin-1 elsewhere":      {"caf\xe9 \xf5\nx\n", one("x", "y"), "caf\xe9 \xf5\ny\n"},
		"Latin-1 as shown":       {"caf\xe9 x\n", one(`caf\xE9 x`, `caf\xE9 y`), "caf\xe9 y\n"},
		"Latin-1 among new":      {"\xe9 a \xe9\n", one(`\xE9 a \xE9`, `b \xE9 c`), "b \xe9 c\n"},
		"as shown, but text":     {`a \xE9` + "\n", one(`a \xE9`, `b \xE9`), `b \xE9` + "\n"},
		"real replacement marks": {"a \uFFFD b\n", one("a \uFFFD b", "a \uFFFD c"), "a \uFFFD c\n"},
		"all":                    {"a b a\na\n", []Edit{{Old: "a", New: "c", All: true}}, "c b c\nc\n"},
		"all, crlf":              {"a\r\nb\r\na\r\nb\r\n", []Edit{{Old: "a\nb", New: "x\ny\nz", All: true}}, "x\r\ny\r\nz\r\nx\r\ny\r\nz\r\n"},
		"against the original":   {"a\nb\n", []Edit{{Old: "a", New: "b"}, {Old: "b", New: "a"}}, "b\na\n"},
		"out of order, touching": {"abc\n", []Edit{{Old: "c", New: "3"}, {Old: "b", New: "2"}}, "a23\n"},
	} {
		t.Run(name, func(t *testing.T) {
			content := []byte(c.content)
			plan, err := Find("f", content, c.edits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(plan.Apply(content))); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
			if string(content) != c.content {
				t.Error("the content was changed in place")
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		edits   []Edit
		want    []string
	}{
		"none":               {"a", nil, []string{"edits is empty"}},
		"empty":              {"a", []Edit{{New: "b"}}, []string{"old_text is empty", "call write"}},
		"same":               {"a", []Edit{{Old: "a", New: "a"}}, []string{"nothing would change"}},
		"twice":              {"x\na\ny\na\nz\n", []Edit{{Old: "a", New: "b"}}, []string{"stands 2 times in f", `"all": true`, "1\tx\n2\ta\n3\ty\n", "4\ta\n5\tz"}},
		"overlapping itself": {"aaa", []Edit{{Old: "aa", New: "b"}}, []string{"stands 2 times"}},
		"crlf and lf":        {"a\nb\na\r\nb\n", []Edit{{Old: "a\nb", New: "c"}}, []string{"stands 2 times"}},
		"loose twice":        {"“a”\n‘a’ ”a“\n", []Edit{{Old: `"a"`, New: "b"}}, []string{"quotes, dashes and blanks taken as equal 2 times"}},
		"loose, all":         {"“a”\n”a“\n", []Edit{{Old: `"a"`, New: "b", All: true}}, []string{"2 times"}},
		"overlap":            {"abc", []Edit{{Old: "ab", New: "x"}, {Old: "bc", New: "y"}}, []string{"edits[0] and edits[1] overlap", "line 1"}},
		"same twice":         {"abc", []Edit{{Old: "b", New: "x"}, {Old: "b", New: "y"}}, []string{"overlap"}},
		"blank at the end":   {"x == 3\n", []Edit{{Old: "x = ", New: "y = "}}, []string{"not in f", "1\tx == 3"}},
		"numbers":            {"a\nb\n", []Edit{{Old: " 1\ta\n 2\tb", New: "c"}}, []string{"numbers and tabs that read shows"}},
		"tabs":               {"if x {\n\tfoo(bar)\n}\n", []Edit{{Old: "if x {\n    foo(bar)\n}", New: "c"}}, []string{"line 2 is indented with 1 tab, old_text has 4 spaces", "lines 1-3", "2\t\tfoo(bar)\n"}},
		"blanks":             {"foo(a,  b)\n", []Edit{{Old: "foo(a, b)", New: "c"}}, []string{"blanks differ in line 1"}},
		"case":               {"Hello World\n", []Edit{{Old: "hello world", New: "c"}}, []string{"upper and lower case differ in line 1"}},
		"near":               {"zzz\nfunc compute(a int) int {\n\treturn a\n", []Edit{{Old: "func compute(b int) int {\n\treturn a\n", New: "c"}}, []string{"line 2 differs from character 14 on", "2\tfunc compute(a int)"}},
		"nothing like it":    {"zzz\n", []Edit{{Old: "func compute", New: "c"}}, []string{"nothing like it"}},
		"lost bytes":         {"a", []Edit{{Old: "a", New: "\uFFFD"}}, []string{"U+FFFD"}},
		"lost in old":        {"caf\xe9\n", []Edit{{Old: "caf\uFFFD", New: "cafe"}}, []string{`\xNN`, `1	caf\xE9`}},
		"each fault":         {"abc", []Edit{{Old: "q", New: "x"}, {Old: "", New: "y"}, {Old: "a", New: "b"}}, []string{"edits[0]: old_text is not", "edits[1]: old_text is empty"}},
		"loose no change":    {"a’b\nx\n", []Edit{{Old: "a'b", New: "a’b"}}, []string{"change nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := Find("f", []byte(c.content), c.edits)
			if err == nil {
				t.Fatalf("gives %q", plan.Apply([]byte(c.content)))
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q misses %q", err, want)
				}
			}
			if !utf8.ValidString(err.Error()) {
				t.Errorf("no text: %q", err)
			}
		})
	}
}

// A refusal stays short, whatever is in the file.
func TestRefusalIsShort(t *testing.T) {
	content := []byte(strings.Repeat("some line of words "+strings.Repeat("\xe9", 5000)+"\n", 500))
	for _, old := range []string{"some line of words", "some line of wordz", strings.Repeat("some line of words\n", 100)} {
		_, err := Find("f", content, []Edit{{Old: old, New: "x"}})
		if err == nil || len(err.Error()) > 50_000 || !utf8.ValidString(err.Error()) {
			t.Errorf("%d bytes", len(err.Error()))
		}
	}
}

// naive replaces in a text whose lines end with LF, as the simplest program does.
func naive(content string, edits []Edit) (string, bool) {
	type span struct{ from, to, edit int }
	var spans []span
	for i, e := range edits {
		if strings.Count(content, e.Old) != 1 {
			return "", false
		}
		at := strings.Index(content, e.Old)
		if strings.Contains(content[at+1:], e.Old) {
			return "", false
		}
		spans = append(spans, span{at, at + len(e.Old), i})
	}
	var out strings.Builder
	for at := 0; ; {
		next := span{from: len(content), edit: -1}
		for _, s := range spans {
			if s.from >= at && s.from < next.from {
				next = s
			}
		}
		out.WriteString(content[at:next.from])
		if next.edit < 0 {
			return out.String(), true
		}
		for _, s := range spans {
			if s.edit != next.edit && s.from < next.to && next.from < s.to {
				return "", false
			}
		}
		out.WriteString(edits[next.edit].New)
		at = next.to
	}
}

// check holds one plan against what must be true of every plan.
func check(t interface{ Fatalf(string, ...any) }, content []byte, edits []Edit) {
	plan, err := Find("f", content, edits)
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	plain := !strings.Contains(lf(string(content)), "\r") // nothing to translate but line ends
	var lfEdits []Edit
	for _, e := range edits {
		plain = plain && e.Old != "" && !e.All && !strings.ContainsAny(e.Old+e.New, "\r\uFEFF\uFFFD")
		lfEdits = append(lfEdits, Edit{Old: lf(e.Old), New: lf(e.New)})
	}
	plain = plain && !bytes.HasPrefix(content, []byte(bom)) && len(edits) > 0
	want, ok := "", false
	if plain {
		want, ok = naive(lf(string(content)), lfEdits)
		ok = ok && want != lf(string(content))
	}
	if err != nil {
		same := false
		for _, e := range edits {
			same = same || e.Old == e.New
		}
		if ok && !same {
			t.Fatalf("%q: %+v refused: %v", content, edits, err)
		}
		return
	}
	next := plan.Apply(content)
	if ok && lf(string(next)) != want {
		t.Fatalf("%q, %+v: %q, want %q", content, edits, next, want)
	}
	// Bytes outside of the hits stay, in their order; splices lie in hits.
	at, from := 0, 0
	for _, s := range plan.Splices {
		inside := slices.ContainsFunc(plan.Hits, func(h Hit) bool { return h.From <= s.From && s.To <= h.To })
		if !inside || s.From > s.To || s.From < at {
			t.Fatalf("splice %+v, hits %+v", s, plan.Hits)
		}
		if kept := content[at:s.From]; !bytes.HasPrefix(next[from:], kept) {
			t.Fatalf("%q lost %q: %q", content, kept, next)
		}
		from += s.From - at + len(s.New)
		at = s.To
	}
	if !bytes.Equal(content[at:], next[from:]) {
		t.Fatalf("%q: the tail became %q", content, next[from:])
	}
	if bytes.Count(next, []byte("\uFFFD")) > bytes.Count(content, []byte("\uFFFD")) {
		all := false
		for _, e := range edits {
			all = all || e.All
		}
		if !all {
			t.Fatalf("%q: U+FFFD was written: %q", content, next)
		}
	}
	if bytes.HasPrefix(content, []byte(bom)) && !bytes.HasPrefix(next, []byte(bom)) {
		t.Fatalf("%q: the byte order mark went: %q", content, next)
	}
	if mixed := bytes.Count(content, []byte("\n")); mixed > 0 && mixed == bytes.Count(content, []byte("\r\n")) && plain {
		if bytes.Count(next, []byte("\n")) != bytes.Count(next, []byte("\r\n")) {
			t.Fatalf("%q got a bare line feed: %q", content, next)
		}
	}
}

var pieces = []string{
	"a", "b", "ab", "\n", "\r\n", "\n\n", " ", "  ", "\t", "'", "’", `"`, "“", "-", "—", "\u00A0", "\u200B", "\uFEFF", "é", "\xe9", "\xf5", `\xE9`, "$1", "%s", "x", "\uFFFD", "\r",
}

func TestEveryEdit(t *testing.T) {
	text := func(most int) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, most), func(p []string) string { return strings.Join(p, "") })
	}
	rapid.Check(t, func(t *rapid.T) {
		content := text(16).Draw(t, "content")
		edit := rapid.Custom(func(t *rapid.T) Edit {
			old := strings.ToValidUTF8(text(4).Draw(t, "old"), "é")
			if content != "" && rapid.Bool().Draw(t, "from the content") {
				from := rapid.IntRange(0, len(content)-1).Draw(t, "from")
				part := content[from : from+rapid.IntRange(1, len(content)-from).Draw(t, "size")]
				old, _ = Legible([]byte(part)) // as a model sees it
				if rapid.Bool().Draw(t, "without CR") {
					old = strings.ReplaceAll(old, "\r\n", "\n")
				}
			}
			next := strings.ToValidUTF8(text(4).Draw(t, "new"), "é")
			if rapid.Bool().Draw(t, "a part stays") {
				next = old[:commonPrefix(old, old[:len(old)/2])] + next
				next = strings.ToValidUTF8(next, "")
			}
			return Edit{Old: old, New: next, All: rapid.IntRange(0, 5).Draw(t, "all") == 0}
		})
		check(t, []byte(content), rapid.SliceOfN(edit, 1, 3).Draw(t, "edits"))
	})
}

func FuzzFind(f *testing.F) {
	for _, s := range [][5]string{
		{"a\r\nb\r\nc\r\n", "a\nb", "A\nb", "c", "C"},
		{"“x” — y  \n", `"x" - y`, `"x" - z`, "q", "r"},
		{"\xe9 \xf5\n", `\xE9 \xF5`, `\xE9 a`, "", ""},
		{"\uFEFFa\nb", "\uFEFFa", "c", "b", "b\nd"},
		{"a \n b\u00A0\n", "a\n b ", "a\n c", "\n", ""},
	} {
		f.Add([]byte(s[0]), s[1], s[2], s[3], s[4])
	}
	f.Fuzz(func(t *testing.T, content []byte, old, next, old2, next2 string) {
		if !utf8.ValidString(old + next + old2 + next2) {
			return
		}
		edits := []Edit{{Old: old, New: next}}
		if old2 != "" {
			edits = append(edits, Edit{Old: old2, New: next2})
		}
		check(t, content, edits)
	})
}

func BenchmarkFind(b *testing.B) {
	line := "some words of a line with a “quote” and more of them\r\n"
	content := []byte(strings.Repeat(line, 5<<20/len(line)) + "the end\r\n")
	for name, old := range map[string]string{"exact": "them\nthe end", "loose": "\"quote\" and more of them\nthe end", "missing": "the ends"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				plan, err := Find("f", content, []Edit{{Old: old, New: "x"}})
				if err == nil {
					plan.Apply(content)
				} else if name != "missing" {
					b.Fatal(err)
				}
			}
		})
	}
}
