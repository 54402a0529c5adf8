package command_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"starling/bus/spec"
	"starling/trust/command"
)

var order = []spec.Risk{read, change, destructive, network}

func rank(r spec.Risk) int { return slices.Index(order, r) }

// pieces are commands that lines are made of.
var pieces = []string{
	"git status", "rm -rf x", "cat a", "echo hi > a", "cd sub", "cd ..", "y=1", "sh -c 'touch y'", "xargs rm", "curl x.org", "sudo ls", "git reset --hard",
	"(cd a && ls)", "f() { cat b; }", "f", "find . -delete", "$(echo rm) -rf /", "eval \"$Y\"", "export PATH=.", "python3 -", "rm -rf *", "set -e", "cat <<< b",
	"for i in a b; do cat $i; done", "if true; then cd c; fi", "{ cat a; ls; }", "time cat a", "tee o", "rm -rf $X",
}

// TestMoreNeverLess: a further command takes nothing away from what a line was
// read as. (It may make a variable unknown: one that is set again is. No piece
// sets X.)
func TestMoreNeverLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom(pieces).Draw(t, "first")
		for range rapid.IntRange(1, 4).Draw(t, "more") {
			before := command.Read(line, shop)
			next := rapid.SampledFrom(pieces).Draw(t, "next")
			longer := line + rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "\n", " & "}).Draw(t, "operator") + next
			after := command.Read(longer, shop)
			if rank(after.Risk) < rank(before.Risk) {
				t.Fatalf("%q is %s, %q only %s", line, before.Risk, longer, after.Risk)
			}
			if before.Unread != "" && after.Unread == "" {
				t.Fatalf("%q could not be read, %q could", line, longer)
			}
			texts := func(r command.Reading) (out []string) {
				for _, p := range r.Parts {
					out = append(out, string(p.Kind)+" "+p.Text)
				}
				return out
			}
			missing(t, longer, texts(before), texts(after))
			whys := func(r command.Reading) (out []string) {
				for _, f := range r.Floor {
					if f.Part >= 0 {
						kinds := ""
						if f.Loss != nil {
							kinds = "loss"
						}
						out = append(out, r.Parts[f.Part].Text+kinds)
					}
				}
				return out
			}
			missing(t, longer, whys(before), whys(after))
			line = longer
		}
	})
}

func missing(t *rapid.T, line string, before, after []string) {
	left := slices.Clone(after)
	for _, one := range before {
		i := slices.Index(left, one)
		if i < 0 {
			t.Fatalf("%q: %q is gone: %s", line, one, cmp.Diff(before, after))
		}
		left = slices.Delete(left, i, i+1)
	}
}

// TestFreeIsRead: what needs no rule does nothing but read.
func TestFreeIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(t, "pieces"), "; ")
		for _, p := range command.Read(line, shop).Parts {
			if p.Free && p.Risk != read {
				t.Fatalf("%q: %q is free and %s", line, p.Text, p.Risk)
			}
		}
	})
}

// TestQuotingHidesNothing: however a word is quoted, the line is read the same.
func TestQuotingHidesNothing(t *testing.T) {
	quoted := func(t *rapid.T, word string) string {
		out := ""
		for i, c := range word {
			switch rapid.IntRange(0, 4).Draw(t, "quote") {
			case 0:
				out += `\` + string(c)
			case 1:
				out += "'" + string(c) + "'"
			case 2:
				out += `"` + string(c) + `"`
			case 3:
				out += `""` + string(c)
			default:
				out += string(c)
			}
			if i == 0 && c == '~' {
				out = "~"
			}
		}
		return out
	}
	rapid.Check(t, func(t *rapid.T) {
		words := strings.Fields(rapid.SampledFrom([]string{
			"git status", "rm -rf /", "git reset --hard", "cat a", "sudo rm x", "timeout 5 rm -r /etc", "find . -delete", "sort -o a b",
			"env rm -rf /", "git push -f", "curl x.org", "tee .git/config", "cat /home/ann/.ssh/id_rsa",
		}).Draw(t, "line"))
		plain := command.Read(strings.Join(words, " "), shop)
		for i, w := range words {
			words[i] = quoted(t, w)
		}
		line := strings.Join(words, " ")
		got := command.Read(line, shop)
		got.Line = plain.Line
		if d := cmp.Diff(plain, got); d != "" {
			t.Fatalf("%q: %s", line, d)
		}
	})
}

// TestBounds: what is too large or too deep is not read, and quickly so.
func TestBounds(t *testing.T) {
	n := 60000
	for name, line := range map[string]string{
		"long":          strings.Repeat("a", 64<<10+1),
		"subshells":     strings.Repeat("( ", n/4) + "a" + strings.Repeat(")", n/4),
		"substitutions": strings.Repeat("$(", n/3) + "a" + strings.Repeat(")", n/3),
		"and":           strings.Repeat("a&&", n/3) + "a",
		"pipes":         strings.Repeat("a|", n/2) + "a",
		"wrappers":      strings.Repeat("env ", n/4) + "a",
		"many":          strings.Repeat("a;", n/2),
		"find in find":  strings.Repeat("find -exec ", n/12) + "a",
		"parallel":      strings.Repeat("parallel ", n/10) + "a",
		"elif":          "if a; then b; " + strings.Repeat("elif a; then b; ", n/20) + "fi",
		"functions":     strings.Repeat("f()", n/3) + "a",
	} {
		if got := command.Read(line, shop); got.Unread == "" || got.PathsKnown {
			t.Errorf("%s: it was read whole", name)
		}
	}
	if got := command.Read("x "+strings.Repeat("find sh rm a ", n/20), shop); len(got.Parts) != 1 || got.PathsKnown {
		t.Errorf("words that may be commands: %d parts", len(got.Parts))
	}
	if got := command.Read("{"+strings.Repeat("a,b}{", 200)+"c}", shop); len(got.Parts) != 1 || got.PathsKnown {
		t.Errorf("braces without end: %d parts", len(got.Parts))
	}
}

func FuzzRead(f *testing.F) {
	for _, line := range pieces {
		f.Add(line)
	}
	for _, line := range []string{
		"cat <<E\n$(x)\nE", "a=([1]=2)", "echo ${x:-$(y)} $((1+2))", "[[ -n $x ]]", "select x in a; do b; done", "coproc a", "let x=1", "env -S 'a b'",
		"git -c a=b x", "find . -exec a {} +", "xargs -I{} a {}", "{a,b}{c,d}", "$'\\x41'", "`a`", "f(){ f|f& };f", "case a in b) c;; esac", "a() (b)", "@(x|y)",
		"for ((i=0;i<2;i++)); do a; done", "cd -P ..", "dd of=/dev/sda", "chmod -s", "git checkout", "flock", "env -", "su", "~x/y", "time", "exec 3<>x", "rm -rf ~+/",
	} {
		f.Add(line)
	}
	at := shop
	at.Resolve = path.Clean
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		got := command.Read(line, at)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%q took %s", line, took)
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), ""); err != nil && got.Unread == "" {
			t.Errorf("%q cannot be parsed (%v) and was read", line, err)
		}
		if rank(got.Risk) < 0 || got.Unread != "" && (got.PathsKnown || got.Risk == read) {
			t.Errorf("%q: unread %q, paths known %v, risk %q", line, got.Unread, got.PathsKnown, got.Risk)
		}
		for _, p := range got.Parts {
			if len(p.Words) == 0 || rank(p.Risk) < 0 || rank(p.Risk) > rank(got.Risk) || p.Free && p.Risk != read || p.Why == "" {
				t.Errorf("%q: part %+v of a line of risk %s", line, p, got.Risk)
			}
		}
		for _, f := range got.Floor {
			if f.Why == "" || f.Part < -1 || f.Part >= len(got.Parts) {
				t.Errorf("%q: finding %+v", line, f)
			}
			for _, p := range f.Paths {
				if !path.IsAbs(p) {
					t.Errorf("%q: a finding names %q, which is not absolute", line, p)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for name, line := range map[string]string{
		"one":   "git status --short",
		"chain": "cd src && go build ./... && go test -run 'TestX|TestY' ./pkg/... 2>&1 | tail -20",
		"here":  "cat > out.txt <<'E'\n" + strings.Repeat("some text\n", 100) + "E\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				command.Read(line, command.Setting{Workspace: "/home/ann/shop", Home: "/home/ann"})
			}
		})
	}
}
