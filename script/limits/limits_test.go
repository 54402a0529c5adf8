package limits

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
)

// Each body makes a value of exactly n bytes, items or bits, and fails for n+1.
func TestLimitsAreExact(t *testing.T) {
	l := Limits{String: 100, List: 50, Dict: 40, Int: 200, Depth: 5}
	for _, test := range []struct {
		limit int
		body  string // %d is n
	}{
		{l.String, "return len('a' * %d)"},
		{l.String, "n = %d\nreturn len(n * 'a')"},
		{l.String, "s = 'a' * 60\nt = 'b' * (%d - 60)\nreturn len(s + t)"},
		{l.String, "s = 'a'\nfor i in range(%d - 51):\n  s += 'b'\ns += 'c' * 50\nreturn len(s)"},
		{l.String, "s = 'a' * (%d - 1)\nreturn len(s + 'b')"},
		{l.String, "s = 'a' * (%d - 1)\nreturn len('b' + s)"},
		{l.String, "s = ['a' * (%d - 1)]\ns[0] += 'b'\nreturn len(s[0])"},
		{l.String, "s = b'a' * (%d - 1)\nreturn len(s + b'b')"},
		{l.String, "s = 'a' * (%d - 20)\nreturn len('-'.join([s, 'b' * 19]))"},
		{l.String, "s = 'b' + 'a' * 39\nreturn len(s.replace('b', 'c' * (%d - 39)))"},
		{l.String, "x = 'a' * (%d - 4)\nreturn len('(%%s) -' %% x)"},
		{l.String, "x = 'a' * (%d - 4)\nreturn len('({}) -'.format(x))"},
		{l.String, "x = 'a' * (%d - 3)\nreturn len(repr(x)) + 1"},
		{l.List, "return len([0] * %d)"},
		{l.List, "return len((0,) * %d)"},
		{l.List, "return len(range(%d))"},
		{l.List, "l = [0] * 30\nreturn len(l + [0] * (%d - 30))"},
		{l.List, "l = [0] * 30\nl += [0] * (%d - 30)\nreturn len(l)"},
		{l.List, "l = [0] * 30\nl += range(%d - 30)\nreturn len(l)"},
		{l.List, "l = [0] * 30\nl.extend([0] * (%d - 30))\nreturn len(l)"},
		{l.List, "l = [0] * 30\nl.extend(('a' * (%d - 30)).elems())\nreturn len(l)"},
		{l.List, "return len(list(('a' * %d).elems()))"},
		{l.List, "return len(tuple(('a' * %d).codepoints()))"},
		{l.List, "return len(sorted(('a' * %d).elems()))"},
		{l.List, "return len((',' * (%d - 1)).split(','))"},
		{l.List, "return len(('a\\n' * %d).splitlines())"},
		{l.List, "def g(*a):\n  return len(a)\nreturn g(*('a' * %d).elems())"},
		{l.List, "return len(json.decode('[' + '1,' * (%d - 1) + '1]'))"},
		{l.Dict, "return len(set(range(%d)))"},
		{l.Dict, "s = set([-1, -2])\ns.update(range(%d - 2))\nreturn len(s)"},
		{l.Dict, "return len(set(range(30)) | set(range(10, %d)))"},
		{l.Dict, "return len({i: 0 for i in range(30)} | {i: 0 for i in range(10, %d)})"},
		{l.Dict, "d = {i: 0 for i in range(30)}\nd |= {i: 0 for i in range(10, %d)}\nreturn len(d)"},
		{l.Dict, "d = {i: 0 for i in range(30)}\nd.update([(i, 0) for i in range(10, %d)])\nreturn len(d)"},
		{l.Dict, "return len(dict([(i, 0) for i in range(%d)]))"},
		{l.Dict, "return len(set([-1]).union(range(%d - 1)))"},
	} {
		for n := test.limit; n <= test.limit+1; n++ {
			out := call("def f():\n"+indent(fmt.Sprintf(test.body, n)), true, l)
			switch {
			case n == test.limit && (out.err != "" || out.value != fmt.Sprint(n)):
				t.Errorf("%s\nat the limit of %d: got %q, %s", test.body, n, out.value, out.err)
			case n > test.limit && !isLimitError(out.err):
				t.Errorf("%s\nover the limit of %d: got %q, error %q", test.body, test.limit, out.value, out.err)
			}
		}
	}
}

func TestIntegerLimit(t *testing.T) {
	l := Limits{Int: 1000}
	for body, over := range map[string]bool{
		"x = 1 << 499\nreturn x * x > 0":              false,
		"x = 1 << 511\nx = x * x\nreturn x * x":       true,
		"x = 1 << 511\nreturn x << 489":               true,
		"return int('9' * 300) > 0":                   false,
		"return int('9' * 400)":                       true,
		"return int('1' * 1001, 2)":                   true,
		"return json.decode('9' * 400)":               true,
		"return json.decode('\"' + '9' * 400 + '\"')": false,
	} {
		out := call("def f():\n"+indent(body), true, l)
		if isLimitError(out.err) != over || !over && out.err != "" {
			t.Errorf("%s: got %.50q, error %.100q", body, out.value, out.err)
		}
	}
}

func TestDepthLimit(t *testing.T) {
	l := Defaults()
	l.Depth = 10
	for _, use := range []string{"str(l)", "repr(l)", "'%s' % [l]", "'{}'.format(l)", "json.encode(l)", "json.encode_indent(l)", "json.decode('[' * %d + ']' * %d)"} {
		for _, n := range []int{5, 20} {
			body := fmt.Sprintf("l = []\nfor i in range(%d):\n  l = [l]\n", n)
			if strings.Contains(use, "%d") {
				body += "return " + fmt.Sprintf(use, n, n)
			} else {
				body += "return " + use
			}
			out := call("def f():\n"+indent(body), true, l)
			if isLimitError(out.err) != (n > 10) {
				t.Errorf("%s of depth %d: got %q, %s", use, n, out.value, out.err)
			}
		}
	}
}

// A message names the operation, what it would make, the limit, and what changes
// it.
func TestMessages(t *testing.T) {
	for body, want := range map[string]string{
		"return 'a' * (1 << 30)":                      `*: the result would have 1073741824 bytes, this plugin's limit is 8388608 (limits = {"string": …} changes it)`,
		"s = 'a' * 8000000\nreturn s + s":             `+: the result would have 16000000 bytes, this plugin's limit is 8388608 (limits = {"string": …} changes it)`,
		"l = [0] * 90000\nl += l":                     `+=: the result would have 180000 items, this plugin's limit is 100000 (limits = {"list": …} changes it)`,
		"return range(100001)":                        `range: the result would have 100001 items, this plugin's limit is 100000 (limits = {"list": …} changes it)`,
		"return int('9' * 99999)":                     `int: the result would have 332189 bits, the limit is 65536`,
		"return json.decode('[' * 300)":               `json.decode: nested more than 200 deep`,
		"return set([i << 32 for i in range(50000)])": `set: the hashes of too many keys collide`,
	} {
		if out := call("def f():\n"+indent(body), true, Defaults()); out.err != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, out.err, want)
		}
	}
}

// With a limit switched off the builtins do what they are told, and still look at
// the cancellation while they do.
func TestLimitsOffStillObeyCancel(t *testing.T) {
	for _, body := range []string{
		"list(range(1 << 40))", "tuple(range(1 << 40))", "set(range(1 << 40))", "reversed(range(1 << 40))",
		"max(range(1 << 40))", "min(range(1 << 40))", "all(range(1, 1 << 40))",
		"sorted(range(1 << 40))", "set().union(range(1 << 40))", "set([1]).difference(range(1 << 40))",
		"enumerate(range(1 << 40))", "[].extend(range(1 << 40))", "zip(range(1 << 40), range(1 << 40))",
	} {
		g, err := program("def f():\n  return "+body+"\n", true, Limits{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		thread := &starlark.Thread{}
		done := make(chan error, 1)
		go func() {
			_, err := starlark.Call(thread, g["f"], nil, nil)
			done <- err
		}()
		time.Sleep(20 * time.Millisecond)
		thread.Cancel("enough")
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "enough") {
				t.Errorf("%s: %v", body, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: did not stop", body)
		}
	}
}

// A limit nothing can reach is none, and does no harm to sums of limits.
func TestLimitsOutOfReach(t *testing.T) {
	far := Limits{String: math.MaxInt, List: math.MaxInt, Dict: 1<<62 - 1, Int: math.MaxInt, Depth: math.MaxInt}
	for _, body := range same {
		src := "def f():\n" + indent(body)
		if got, want := call(src, true, far), call(src, false, Limits{}); got != want {
			t.Errorf("%s\ngot  %+v\nwant %+v", body, got, want)
		}
	}
}

func TestLimitsOff(t *testing.T) {
	for body, want := range map[string]string{
		"return len('a' * 9000000 + 'b')":                       "9000001",
		"return len(range(1 << 40))":                            "1099511627776",
		"return len([0] * 200000 + [1])":                        "200001",
		"x = 3\nfor i in range(17):\n  x = x * x\nreturn x > 0": "True",
		"return len(set(range(150000)))":                        "150000",
	} {
		out := call("def f():\n"+indent(body), true, Limits{})
		if out.value != want || out.err != "" {
			t.Errorf("%s: got %.50q, error %q", body, out.value, out.err)
		}
	}
}
