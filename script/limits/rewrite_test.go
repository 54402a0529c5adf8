package limits

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func parse(t testing.TB, src string) *syntax.File {
	t.Helper()
	f, err := (&syntax.FileOptions{Set: true, While: true}).Parse("t.star", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// guardsOf returns the guards that f refers to, in order.
func guardsOf(f *syntax.File) []string {
	var out []string
	syntax.Walk(f, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && isGuard(id.Name) {
			out = append(out, id.Name)
		}
		return true
	})
	return out
}

func isGuard(name string) bool {
	return strings.IndexFunc(name, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' }) < 0
}

// readable writes the names of guards as operators and methods are written.
func readable(guards []string) string {
	out := make([]string, len(guards))
	for i, g := range guards {
		for name := range guardedMethods {
			if g == methodGuard(name) {
				g = "." + name
			}
		}
		out[i] = g
	}
	return strings.Join(out, " ")
}

func TestRewriteGuardsWhatCanGrow(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"def f(a, b): return a + b", "+"},
		{"def f(a, b): return a - b", ""},
		{"def f(a): return a + 1", ""},
		{"def f(a): return a * 2", "*"},
		{"def f(a): return a % 7", ""},
		{"def f(a): return '%s' % a", "%"},
		{"def f(a): return 'x' + a + 'y'", "+"},
		{"def f(a): return a + 'y'", "+"},
		{"def f(): return 'x' + 'y'", ""},
		{"def f(a): a += 'x'", "+="},
		{"def f(a, b): a += 'x' + b + 'y'", "+="},
		{"def f(a, b): a += [b]", ""},
		{"def f(a, b): a[b] += a", "+="},
		{"def f(a, b): a[b] %= a", "[]%"},
		{"def f(a, b): a.x <<= b", "[]<<"},
		{"def f(a, b): a %= b", "%"},
		{"def f(a): a |= {}", "|="},
		{"def f(a, b): return a == b or a < b", "= ="},
		{"def f(a): return a == 'x' or a != None or a < 3 or a in ('x', 'y')", ""},
		{"def f(a, b): return a in b", "∈"},
		{"def f(a): return a.join", ".join"},
		{"def f(a): return a.strip().upper()", ""},
		{"def f(a): return a.strip", ".strip"},
		{"def f(a): return a.replace('_', '-').startswith('x')", ""},
		{"def f(a): return a.replace('_', '--')", ".replace"},
		{"def f(a, b): return a, b", "()"},
		{"def f(a, b): return 'x', b", ""},
		{"def f(a, b): a, b = b, a", ""},
		{"def f(*a): return a", "()"},
		{"f = lambda *a: a", "()"},
		{"def f(a): return f(*a)", "*()"},
		// numbers only: nothing is left to guard
		{"def f():\n  n = 0\n  for i in range(9):\n    n += i % 7\n  return n", ""},
		{"def f(xs):\n  n = 0\n  for i, x in enumerate(xs):\n    n = n + i * 2 - len(x)\n  return n > i and n == i", ""},
		// not numbers only, one way or the other
		{"def f(x):\n  n = 0\n  n = x\n  n += n", "+="},
		{"def f(x):\n  n = 0\n  for n in x:\n    n += n", "+="},
		{"def f(xs):\n  n = 0\n  return [n + n for n in xs]", "+"},
		{"def f(xs):\n  n = 0\n  return (lambda n: n + n)(xs)", "+"},
		{"def f(xs):\n  n = 0\n  def g(n):\n    return n + n\n  return g(xs)", "+"},
		{"def range(x): return x\ndef f(xs):\n  n = 0\n  for n in range(xs):\n    n += n", "+="},
		{"def f(len):\n  return len('') * 2", "*"},
		{"None = []\ndef f(a): return a == None", "="},
		{"def f(n):\n  x = 2\n  for i in range(n):\n    x = x * x", "*"},
		{"def f(n):\n  x = 2\n  y = x * 3\n  return x < y", ""},
	} {
		f := parse(t, test.src)
		Rewrite(f)
		if got := readable(guardsOf(f)); got != test.want {
			t.Errorf("%s\nguards %q, want %q", test.src, got, test.want)
		}
	}
}

func TestNamesCoverAllGuards(t *testing.T) {
	names := Names()
	for _, body := range same {
		f := parse(t, "def f():\n"+indent(body))
		Rewrite(f)
		for _, g := range guardsOf(f) {
			if !slices.Contains(names, g) {
				t.Errorf("no predeclared name for %q", g)
			}
		}
	}
	if got := Predeclared(Defaults()); len(got) != len(names) {
		t.Errorf("%d names, %d values", len(names), len(got))
	}
}

func TestAuthorsCannotNameAGuard(t *testing.T) {
	for _, name := range Names() {
		if !isGuard(name) {
			continue
		}
		f, err := (&syntax.FileOptions{}).Parse("t.star", "x = "+name, 0)
		if err == nil {
			if id, ok := f.Stmts[0].(*syntax.AssignStmt).RHS.(*syntax.Ident); ok && id.Name == name {
				t.Errorf("%q is an identifier", name)
			}
		}
	}
}

// A misspelt name is never answered with the name of a guard.
func TestGuardsAreNotSuggested(t *testing.T) {
	for _, name := range []string{"differenCe", "A000difference", "a", "x1"} {
		f := parse(t, "def f(b): return [b.difference, b + b, b == b, "+name+"]")
		Rewrite(f)
		err := resolve.File(f, Predeclared(Defaults()).Has, starlark.Universe.Has)
		var list resolve.ErrorList
		if !errors.As(err, &list) || len(list) != 1 || strings.Contains(list[0].Msg, "ⓓ") || !strings.HasPrefix(list[0].Msg, "undefined: "+name) {
			t.Errorf("got %v", err)
		}
	}
}

func TestErrorsKeepTheirPlace(t *testing.T) {
	for _, test := range []struct{ body, at string }{
		{"a = 'x'\nreturn (a +\n        1)", "3:13"},
		{"a = 'x'\na += 1", "3:5"},
		{"a = {}\nreturn a['k'] + 1", "3:11"},
		{"a = []\nreturn 1 < a", "3:12"},
		{"a = 5\nreturn 1 in a", "3:12"},
		{"a = 5\nreturn a.join", "3:11"},
		{"a = 'x'\nreturn a.join(\n    [1])", "3:16"},
		{"a = '%d'\nreturn a % 'x'", "3:12"},
		{"l = ['%d']\nl[0] %= 'x'", "3:8"},
		{"return 'a' * (1 << 40)", "2:14"},
	} {
		src := "def f():\n" + indent(test.body)
		for _, checked := range []bool{false, true} {
			g, err := program(src, checked, Defaults(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = starlark.Call(&starlark.Thread{}, g["f"], nil, nil)
			if got := position(err); err == nil || got != test.at {
				t.Errorf("%s (checked %v)\nerror at %q, want %q: %v", test.body, checked, got, test.at, err)
			}
		}
	}
}

// A long chain of operators must not be looked at again for each of its links.
func TestRewriteOfLongChains(t *testing.T) {
	for _, op := range []string{" + ", " * ", " - ", " == y or "} {
		src := "def f(x, y):\n  return x" + strings.Repeat(op+"x", 60_000) + "\n"
		f := parse(t, src)
		Rewrite(f)
		if len(guardsOf(f)) == 0 && op != " - " {
			t.Errorf("%q: no guards", op)
		}
	}
	var b strings.Builder
	b.WriteString("def f(x):\n")
	for range 5000 {
		b.WriteString("  a = b\n  b = c\n  c = d\n  d = a\n")
	}
	b.WriteString("  d = x\n  return a + b\n")
	f := parse(t, b.String())
	Rewrite(f)
	if got := guardsOf(f); !slices.Equal(got, []string{operatorGuard(syntax.PLUS)}) {
		t.Errorf("guards %q", got)
	}
}

func FuzzRewrite(f *testing.F) {
	for _, body := range same {
		f.Add("def f():\n" + indent(body))
	}
	f.Add(textCode)
	// where the resolver's message once gave a guard away, or moved
	f.Add("def f(b):\n  return [b.difference, A000differenCe]\n")
	f.Add("def f(g, x):\n  return g(a = x, x + x, x == x, *x)\n")
	opts := &syntax.FileOptions{Set: true, While: true}
	f.Fuzz(func(t *testing.T, src string) {
		plain, err := opts.Parse("t.star", src, 0)
		if err != nil {
			return
		}
		checked, err := opts.Parse("t.star", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		Rewrite(checked)
		_, err1 := starlark.FileProgram(plain, plainNames().Has)
		_, err2 := starlark.FileProgram(checked, Predeclared(Defaults()).Has)
		if (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
			t.Errorf("got %v, want %v", err2, err1)
		}
	})
}
