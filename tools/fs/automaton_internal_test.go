package fs

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainly searches line by line with the regular expression alone.
func plainly(p *pattern, text []byte) []int {
	var out []int
	for i, line := range bytes.Split(text, []byte("\n")) {
		if p.line.Match(bytes.TrimSuffix(line, []byte("\r"))) && (len(line) > 0 || i < bytes.Count(text, []byte("\n"))) {
			out = append(out, i+1)
		}
	}
	return out
}

// Property: what is found is what the regular expression finds line by line, for
// every way of finding candidates.
func TestScanFindsWhatMatches(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", "B", "k", "ab", "the", `\s`, `\b`, `\w`, `\W`, "^", "$", "[^a]", "(a|B)", "(?:ab|é)", "x*", `\.`, ".", ".*", "é", "é?", "[à-é]", "(?i)s", `\B`, "a{2}", "[ab]{1,3}",
		`\x{FFFD}`, "[[:^alpha:]]", `\pL`, "(?s).", `[\n ]`, "-", `\A`, `\z`, "(?m)^", "(?U)a+", "🙂", `\r`, "|",
	})
	word := rapid.SampledFrom([]string{"a", "aa", "ab", "B", "k", "K", "s", "ſ", "\u212A", "é", "É", "\xe9", "\xff", " ", "\t", ".", "\r", "\uFFFD", "-", "the", "🙂", "\xf0\x9f", "\n", "\n", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		fold := rapid.Bool().Draw(t, "ignore case")
		text := rapid.Map(rapid.SliceOfN(piece, 1, 5), func(p []string) string { return strings.Join(p, "") }).
			Filter(func(p string) bool { _, err := compilePattern(p, fold); return err == nil }).Draw(t, "pattern")
		p, err := compilePattern(text, fold)
		if err != nil {
			t.Fatal(err)
		}
		content := rapid.Map(rapid.SliceOfN(word, 0, 30), func(w []string) []byte { return []byte(strings.Join(w, "")) }).
			Filter(func(c []byte) bool { return !bytes.HasPrefix(c, []byte("\xef\xbb\xbf")) && binary(c) == "" }).Draw(t, "content")
		want := fmt.Sprint(plainly(p, content))
		for name, p := range map[string]*pattern{"as it is": p, "by automaton": {tree: p.tree, line: p.line, prog: program(p.tree)}, "by needles or block": without(t, p)} {
			s := scanner{p: p, limit: 1000}
			if err := s.scan(context.Background(), bytes.NewReader(content)); err != nil {
				t.Fatal(err)
			}
			got := []int{}
			for _, f := range s.found {
				got = append(got, f.line)
			}
			if s.count != len(got) || fmt.Sprint(got) != want {
				t.Fatalf("%s: %q in %q: lines %v, want %v", name, text, content, got, want)
			}
		}
	})
}

// without is the pattern without its automaton.
func without(t *rapid.T, p *pattern) *pattern {
	q := *p
	q.prog = nil
	if len(q.needles) == 0 {
		var err error
		if q.block, err = regexp.Compile(loosen(p.tree).String()); err != nil {
			t.Fatal(err)
		}
	}
	return &q
}

// An automaton that has no room left says that lines may match, and goes on.
func TestAutomatonIsBounded(t *testing.T) {
	p, err := compilePattern(`[ab]*a[ab]{14}c`, false)
	if err != nil || p.prog == nil {
		t.Fatal(p, err)
	}
	var text bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&text, "%s\n", strings.NewReplacer("0", "a", "1", "b").Replace(fmt.Sprintf("%020b", i*7919)))
	}
	text.WriteString("aaaabbbbaaaabbbbc\n")
	s := scanner{p: p, limit: 10}
	if err := s.scan(context.Background(), &text); err != nil || s.count != 1 || s.found[0].line != 5001 {
		t.Errorf("%v, %+v", err, s.found)
	}
	if n := len(s.auto.sets); n < maxStates || n > maxStates+1 {
		t.Errorf("%d states", n)
	}
	if p, err := compilePattern(`[ab]{1000}[cd]{1000}[ef]?`, false); err != nil || p.prog != nil {
		t.Errorf("a program without end: %v", err)
	}
}
