package permit_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust/permit"
)

func rule(t interface {
	Helper()
	Fatal(...any)
}, text string,
) permit.Rule {
	t.Helper()
	r, err := permit.ParseRule(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseRule(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"bash", "bash"},
		{"*", "*"},
		{"**", "*"},
		{"github_*", "github_*"},
		{"bash(git status)", "bash(git status)"},
		{"bash(  git   status )", "bash(git status)"},
		{"bash(go test *)", "bash(go test *)"},
		{"bash(kubectl --context * get pods)", "bash(kubectl --context * get pods)"},
		{`bash(grep "a b" c\ d 'e'\''f' \*)`, `bash(grep 'a b' 'c d' 'e'\''f' '*')`},
		{"bash(git commit -m '(x)')", "bash(git commit -m '(x)')"},
		{"bash(find . -exec wc {} +)", "bash(find . -exec wc {} +)"},
		{"bash('FOO=1' x)", "bash('FOO=1' x)"},
		{"bash(> out/*.txt)", "bash(> out/*.txt)"},
		{"bash(>out/*.txt)", "bash(> out/*.txt)"},
		{"bash(>| a)", "bash(> a)"},
		{"bash(>> logs/**)", "bash(>> logs/**)"},
		{"bash(< ~/data/x.csv)", "bash(< ~/data/x.csv)"},
		{"bash(CI=1)", "bash(CI=1)"},
		{"bash(CI=)", "bash(CI=)"},
		{"bash(CI='*')", "bash(CI='*')"},
		{"bash(CI=*)", "bash(CI=*)"},
		{"edit(src/**)", "edit(src/**)"},
		{"write(*.md)", "write(*.md)"},
		{"read(~/notes/**)", "read(~/notes/**)"},
		{"read(/srv/data/*)", "read(/srv/data/*)"},
		{"edit(a (b).txt)", "edit(a (b).txt)"},
		{"fetch(Example.ORG)", "fetch(example.org)"},
		{"fetch(*.example.org)", "fetch(*.example.org)"},
		{"fetch(127.0.0.1:8080)", "fetch(127.0.0.1:8080)"},
		{"deploy(env=staging)", "deploy(env=staging)"},
		{"deploy(env=eu-**)", "deploy(env=eu-*)"},
		{"deploy(note=a=b)", "deploy(note=a=b)"},
	} {
		r, err := permit.ParseRule(c.text)
		if err != nil || r.String() != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.text, r, err, c.want)
		}
	}
}

func TestParseRuleErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "TOOL(PATTERN)"},
		{"bash(git status", "not closed"},
		{"bash(git status) x", "not closed"},
		{"(x)", "name of a tool"},
		{"git status", "name of a tool"},
		{"bash()", "write bash"},
		{"bash(*)", "write bash"},
		{"edit(*x", "not closed"},
		{"b*(git status)", "one tool"},
		{"Bash(git status)", "write bash(git status)"},
		{"bash:git status", "write bash(git status)"},
		{"bash(* x)", "names its program"},
		{"bash(npm run test:*)", "write bash(npm run *)"},
		{"bash(foo*)", "write bash(PROGRAM *)"},
		{"bash(git status && touch x)", "a rule for each"},
		{"bash(git status; x)", "a rule for each"},
		{"bash(a | b)", "a rule for each"},
		{"bash(FOO=1 make test)", "write bash(FOO=1) and bash(make test)"},
		{"bash(FOO=a*)", "write bash(FOO=*)"},
		{"bash(git log > x)", "of its own"},
		{"bash(2> x)", "bash(> FILE)"},
		{"bash(&> x)", "bash(> FILE)"},
		{"bash(>)", "name the file"},
		{"bash(> ../x)", ".."},
		{"bash(<< EOF)", "named with"},
		{"bash(go test $X)", "write * for such an argument"},
		{`bash(go "test $X")`, "write * for such an argument"},
		{"bash(go `x`)", "write * for such an argument"},
		{"bash(ls a?b)", "quote the word"},
		{"bash(ls {a,b})", "quote the word"},
		{"bash(ls ~/x)", "write the whole path"},
		{"bash(! x)", "leave it out"},
		{"bash(grep 'a)", "not closed"},
		{`bash(grep a\)`, `ends with`},
		{"bash(a\nb)", "line breaks"},
		{"bash(a \u202e b)", "cannot be shown"},
		{"edit(../x)", ".."},
		{"edit(src/)", "src/**"},
		{"edit(/)", "/**"},
		{"fetch(https://example.org/a)", "write fetch(example.org)"},
		{"fetch(example.org/a)", "write fetch(example.org)"},
		{"fetch(a b)", "write fetch(example.org)"},
		{"deploy(staging)", "write deploy(KEY=VALUE)"},
		{"deploy(=x)", "write deploy(KEY=VALUE)"},
		{"deploy(*)", "write deploy"},
		{"x(" + strings.Repeat("a", 1100) + ")", "more than 1000"},
	} {
		r, err := permit.ParseRule(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || r != (permit.Rule{}) {
			t.Errorf("%q: got %v, %v; want an error with %q", c.text, r, err, c.want)
		}
	}
}

// spelling makes texts that are rules often.
func spelling() *rapid.Generator[string] {
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"git", "-c", "*", "status", "'a b'", `"x"`, `\*`, "'*'", "{}", "FOO=1", "'FOO=1'", "FOO=*", "a=*", "a~b", "!", "'!'", "^", "é", "''", "#"}),
		rapid.StringMatching(`[a-zA-Z0-9'"\\*=. -]{0,6}`),
	)
	pattern := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "words"), " ")
	})
	glob := rapid.SampledFrom([]string{"a", "src/**", "*.go", "~/x/*", "/etc/*", "[a-z]x", "**", "a b", "(", "../a"})
	return rapid.Custom(func(t *rapid.T) string {
		tool := rapid.SampledFrom([]string{"bash", "bash", "bash", "edit", "read", "fetch", "deploy", "*", "a*"}).Draw(t, "tool")
		switch rapid.IntRange(0, 5).Draw(t, "form") {
		case 0:
			return tool
		case 1:
			return tool + "(" + rapid.SampledFrom([]string{">", ">>", "<", "<>", ">|", ""}).Draw(t, "op") + " " + glob.Draw(t, "glob") + ")"
		case 2:
			return tool + "(" + rapid.SampledFrom([]string{"example.org", "*.a.b", "[::1]:80", "h:1", "EX.org"}).Draw(t, "host") + ")"
		}
		return tool + "(" + pattern.Draw(t, "pattern") + ")"
	})
}

// A rule has one spelling, which reads back as itself.
func TestRuleRoundTrip(t *testing.T) {
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		text := spelling().Draw(t, "rule")
		r, err := permit.ParseRule(text)
		if err != nil {
			return
		}
		good++
		again, err := permit.ParseRule(r.String())
		if err != nil || again != r || again.String() != r.String() {
			t.Fatalf("%q: %q read back as %q, %v", text, r, again, err)
		}
	})
	if good == 0 {
		t.Fatal("no text was a rule")
	}
}

func FuzzParseRule(f *testing.F) {
	for _, text := range []string{"bash(git status)", "bash(go test *)", `bash(a "b\"c" 'd' \e)`, "bash(> out/*)", "bash(A=*)", "edit(src/**)", "fetch(*.example.org:80)", "x(y=z*)", "a*", "bash({} 'FOO=1')"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := permit.ParseRule(text)
		if err != nil {
			if r != (permit.Rule{}) {
				t.Fatalf("a rule beside the error %v", err)
			}
			return
		}
		if again, err := permit.ParseRule(r.String()); err != nil || again != r {
			t.Fatalf("%q: %q read back as %q, %v", text, r, again, err)
		}
	})
}
