package limits

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// author writes random programs: mostly well typed, so that they get far, with
// some operands of any type, so that errors are compared too.
type author struct {
	t     *rapid.T
	out   strings.Builder
	depth int
	loops int
}

func (a *author) pick(options ...string) string {
	return rapid.SampledFrom(options).Draw(a.t, "pick")
}

func (a *author) n(limit int) int { return rapid.IntRange(0, limit-1).Draw(a.t, "n") }

func (a *author) line(indent int, format string, args ...any) {
	fmt.Fprintf(&a.out, strings.Repeat("  ", indent)+format+"\n", args...)
}

// Variables by type: i, j ints; s, u strings; l, m lists; d, e dicts; t tuple.
func (a *author) of(kind string) string {
	if a.depth++; a.depth > 4 {
		a.depth--
		return a.leaf(kind)
	}
	defer func() { a.depth-- }()
	if a.n(120) == 0 {
		kind = a.pick("int", "text", "list", "dict", "tuple") // maybe the wrong one
	}
	switch kind {
	case "int":
		return a.number()
	case "text":
		return a.text()
	case "list":
		return a.list()
	case "dict":
		return a.dict()
	case "tuple":
		return a.tuple()
	}
	return a.truth()
}

func (a *author) leaf(kind string) string {
	switch kind {
	case "int":
		return a.pick("i", "j", "0", "1", "7", "-3", "1000000007", "(1 << 70)")
	case "text":
		return a.pick("s", "u", "'a'", "''", "'é'", "'%s'", "'b c'", "'{}'")
	case "list":
		return a.pick("l", "m", "[]", "[1]", "['x']", "[[2], 3]")
	case "dict":
		return a.pick("d", "e", "{}", "{1: 2}", "{'k': [1]}")
	case "tuple":
		return a.pick("t", "()", "(1,)", "('q', 2)")
	}
	return a.pick("True", "False", "i > 0", "None == None")
}

func (a *author) number() string {
	x, y := a.of("int"), a.of("int")
	switch a.n(11) {
	case 0:
		return fmt.Sprintf("(%s + %s)", x, y)
	case 1:
		return fmt.Sprintf("(%s * %s)", x, y)
	case 2:
		return fmt.Sprintf("(%s %s %s)", x, a.pick("-", "|", "^", "&", "//", "%"), y)
	case 3:
		return fmt.Sprintf("(%s << %s)", x, a.pick("1", "3", "j", y))
	case 4:
		return fmt.Sprintf("len(%s)", a.of(a.pick("text", "list", "dict", "tuple")))
	case 5:
		return fmt.Sprintf("max(%s, %s)", x, y)
	case 6:
		return fmt.Sprintf("%s.%s(%s)", a.of("text"), a.pick("count", "find", "index"), a.of("text"))
	case 7:
		return fmt.Sprintf("(lambda a, b = %s: a + b)(%s)", x, y)
	case 8:
		return fmt.Sprintf("add(%s, %s)", x, y)
	case 9:
		return fmt.Sprintf("(%s if %s else %s)", x, a.truth(), y)
	}
	return a.leaf("int")
}

func (a *author) text() string {
	x, y := a.of("text"), a.of("text")
	switch a.n(14) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", x, y)
	case 2:
		return fmt.Sprintf("(%s * %s)", x, a.pick("2", "3", "0", "i % 4"))
	case 3:
		return fmt.Sprintf("('%%s|%%r' %% (%s, %s))", a.of("any"), a.of(a.pick("list", "int", "text")))
	case 4:
		return fmt.Sprintf("(%s %% %s)", x, a.of(a.pick("text", "tuple", "dict")))
	case 5:
		return fmt.Sprintf("%s.join([str(v) for v in %s])", x, a.of(a.pick("list", "tuple", "dict")))
	case 6:
		return fmt.Sprintf("%s.replace(%s, %s)", x, y, a.of("text"))
	case 7:
		return fmt.Sprintf("%s.format(%s)", a.pick("'{}-{}'", "'{0}{1}{0}'", x), a.of("int")+", "+y)
	case 8:
		return fmt.Sprintf("str(%s)", a.of(a.pick("int", "list", "dict", "tuple", "text")))
	case 9:
		return fmt.Sprintf("%s.%s()", x, a.pick("strip", "upper", "title", "lower"))
	case 10:
		return fmt.Sprintf("%s.strip(%s)", x, y)
	case 11:
		return fmt.Sprintf("getattr(%s, 'join')(%s)", x, a.of("list"))
	case 12:
		return fmt.Sprintf("%s[%s:]", x, a.pick("0", "1", "-2", "i"))
	}
	return a.leaf("text")
}

func (a *author) list() string {
	x, y := a.of("list"), a.of("list")
	switch a.n(12) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", x, y)
	case 2:
		return fmt.Sprintf("(%s * %s)", a.pick("2", "i % 3"), x)
	case 3:
		return fmt.Sprintf("[v for v in %s if v %s %s]", x, a.pick("in", "not in"), y)
	case 4:
		return fmt.Sprintf("[v + v for v in %s]", a.of("list"))
	case 5:
		return fmt.Sprintf("sorted(%s, key = %s, reverse = %s)", x, a.pick("str", "lambda v: [str(v)]", "repr"), a.pick("True", "False"))
	case 6:
		return fmt.Sprintf("%s.split(%s)", a.of("text"), a.pick("", "'a'", "' '", "s", "None, 1"))
	case 7:
		return fmt.Sprintf("list(%s)", a.of(a.pick("tuple", "dict", "list")))
	case 8:
		return fmt.Sprintf("%s.items()", a.of("dict"))
	case 9:
		return fmt.Sprintf("zip(%s, %s)", x, a.of(a.pick("tuple", "list")))
	case 10:
		return fmt.Sprintf("[%s, %s]", a.of("any"), a.of("int"))
	}
	return a.leaf("list")
}

func (a *author) dict() string {
	x, y := a.of("dict"), a.of("dict")
	switch a.n(6) {
	case 0:
		return fmt.Sprintf("(%s | %s)", x, y)
	case 1:
		return fmt.Sprintf("{v: v * 2 for v in %s}", a.of(a.pick("tuple", "list")))
	case 2:
		return fmt.Sprintf("dict([(%s, %s)], z = %s)", a.of("text"), a.of("any"), a.of("int"))
	case 3:
		return fmt.Sprintf("{%s: %s}", a.of(a.pick("text", "int", "tuple")), a.of("list"))
	}
	return a.leaf("dict")
}

func (a *author) tuple() string {
	switch a.n(6) {
	case 0:
		return fmt.Sprintf("(%s, %s)", a.of("any"), a.of("text"))
	case 1:
		return fmt.Sprintf("(%s + %s)", a.of("tuple"), a.of("tuple"))
	case 2:
		return fmt.Sprintf("tuple(%s)", a.of("list"))
	case 3:
		return fmt.Sprintf("rest(%s, *%s)", a.of("int"), a.of(a.pick("list", "tuple")))
	case 4:
		return fmt.Sprintf("(lambda *v: v)(%s, %s)", a.of("int"), a.of("text"))
	}
	return a.leaf("tuple")
}

func (a *author) truth() string {
	kind := a.pick("int", "text", "list", "dict", "tuple")
	x, y := a.of(kind), a.of(kind)
	switch a.n(5) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", x, a.pick("==", "!="), y)
	case 1:
		return fmt.Sprintf("(%s %s %s)", x, a.pick("<", "<=", ">", ">="), y)
	case 2:
		return fmt.Sprintf("(%s %s %s)", a.of("any"), a.pick("in", "not in"), a.of(a.pick("list", "tuple", "dict")))
	case 3:
		return fmt.Sprintf("(%s %s note(%s))", a.of("any"), a.pick("and", "or"), x)
	}
	return a.leaf("any")
}

// kinds are the variables and what they start with.
var kinds = []struct{ name, kind string }{
	{"i", "int"}, {"j", "int"}, {"s", "text"}, {"u", "text"}, {"l", "list"}, {"m", "list"}, {"d", "dict"}, {"e", "dict"}, {"t", "tuple"},
}

func (a *author) stmt(indent int) {
	v := kinds[a.n(len(kinds))]
	x := a.of(v.kind)
	switch a.n(18) {
	case 0:
		a.line(indent, "%s = %s", v.name, x)
	case 1, 2:
		a.line(indent, "%s %s %s", v.name, a.augment(v.kind), x)
	case 3:
		a.line(indent, "note(d)[note(%s)] = %s", a.of(a.pick("text", "int", "tuple")), a.of("any"))
	case 4:
		a.line(indent, "note(l)[note(0)] %s note(%s)", a.pick("+=", "*=", "%=", "|=", "<<=", "-="), a.of(a.pick("int", "list", "text")))
	case 5:
		a.line(indent, "d.setdefault('k', [1])")
		a.line(indent, "d['k'] %s %s", a.pick("+=", "*="), a.of(a.pick("int", "list")))
	case 6:
		a.line(indent, "%s", a.pick("l.extend", "(m.extend)", "l.append", "d.update")+"("+a.of(a.pick("list", "tuple", "dict"))+")")
	case 7:
		a.line(indent, "print(%s, attempt(lambda: %s))", v.name, x)
	case 8:
		a.line(indent, "%s, %s = %s, %s", v.name, v.name, x, x)
	case 9, 10:
		if a.loops < 2 {
			a.loops++
			a.line(indent, "for i in %s:", a.pick("range(3)", "[1, 2]", "sorted([2, 0])"))
			a.stmt(indent + 1)
			a.stmt(indent + 1)
			a.loops--
		}
	case 11:
		a.line(indent, "if %s:", a.of("any"))
		a.stmt(indent + 1)
		a.line(indent, "pass")
	case 12:
		a.line(indent, "def g(x = %s):", x)
		a.line(indent+1, "return x %s %s", a.pick("+", "*", "==", "%"), x)
		a.line(indent, "note(g())")
	}
	if a.n(3) > 0 {
		a.line(indent, "print(attempt(lambda: %s))", a.of(a.pick("int", "text", "list", "dict", "tuple", "truth")))
	}
	a.line(indent, "pass")
}

func (a *author) augment(kind string) string {
	switch kind {
	case "int":
		return a.pick("+=", "-=", "*=", "|=", "^=", "%=", "<<=")
	case "text":
		return a.pick("+=", "+=", "%=")
	case "dict":
		return "|="
	}
	return "+="
}

func (a *author) program() string {
	a.line(0, "def note(x):\n  print(x)\n  return x")
	a.line(0, "def add(a, b):\n  return a + b")
	a.line(0, "def rest(a, *more):\n  return more")
	a.line(0, "def f():")
	start := map[string]string{"int": "3", "text": "'ab'", "list": "[1, 'a']", "dict": "{'a': 1}", "tuple": "(1, 'z')"}
	for _, v := range kinds {
		a.line(1, "%s = %s", v.name, start[v.kind])
	}
	for range 2 + a.n(8) {
		a.stmt(1)
	}
	a.line(1, "return [i, j, s, u, l, m, d, e, t]")
	return a.out.String()
}

// TestSameForRandomPrograms compares value, output and error of random programs
// with and without the rewrite.
func TestSameForRandomPrograms(t *testing.T) {
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		src := (&author{t: t}).program()
		got := call(src, true, Defaults())
		if isLimitError(got.err) || isLimitError(got.printed) {
			return // what the limits are for; without them it may want gigabytes
		}
		want := call(src, false, Limits{})
		if want.err == "" {
			ended++
		}
		if got != want {
			t.Fatalf("%s\ngot  %+.2000v\nwant %+.2000v", src, got, want)
		}
	})
	if ended == 0 {
		t.Error("no program ran to its end")
	}
	t.Logf("%d programs ran to their end", ended)
}
