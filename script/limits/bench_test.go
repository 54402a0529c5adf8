package limits

import (
	"testing"

	"go.starlark.net/starlark"
)

// Code as plugins have it: rows formatted, text taken apart and put together.
const textCode = `
def f(items):
    out = []
    for i, it in enumerate(items):
        name = it["name"].strip().replace("_", "-")
        out.append("%d. %s (%s)" % (i * 2, name, ", ".join(it["tags"])))
    return "\n".join(out)
`

const concatCode = `
def f(items):
    out = ""
    for it in items:
        line = it["name"] + ": "
        for tag in it["tags"]:
            if tag != "hidden" and tag not in it:
                line += "[" + tag + "]"
        if line.startswith("some") and it["name"] != line:
            out += line + "\n"
    return len(out.splitlines()) + len(out.split(" "))
`

const numberCode = `
def f(items):
    n = 0
    for i in range(1000):
        n += i % 7
    return n
`

// The parameters' types are not known before the call.
const paramCode = `
def g(a, b):
    return a + b * a

def f(items):
    n = 0
    for i in range(200):
        n = g(i, n) % 1000
    return n
`

const listCode = `
def f(items):
    seen, pairs = {}, []
    for it in items:
        key = (it["name"], it["tags"][0])
        if key not in seen and it["tags"] != ["x"]:
            seen[key] = True
        pairs += [key]
    return sorted([len(p[0]) for p in pairs])[0] + len(seen.items())
`

const emptyCode = "def f(items):\n    pass\n"

func benchItems() *starlark.List {
	l := starlark.NewList(nil)
	for range 50 {
		d := starlark.NewDict(2)
		tags := starlark.NewList([]starlark.Value{starlark.String("alpha"), starlark.String("beta")})
		if d.SetKey(starlark.String("name"), starlark.String("some_file_name")) != nil || d.SetKey(starlark.String("tags"), tags) != nil || l.Append(d) != nil {
			return nil
		}
	}
	return l
}

func BenchmarkCall(b *testing.B) {
	for _, bench := range []struct{ name, src string }{
		{"text", textCode}, {"concat", concatCode}, {"lists", listCode}, {"numbers", numberCode}, {"parameters", paramCode}, {"empty", emptyCode},
	} {
		for _, checked := range []bool{false, true} {
			name := bench.name + "/plain"
			if checked {
				name = bench.name + "/checked"
			}
			b.Run(name, func(b *testing.B) {
				g, err := program(bench.src, checked, Defaults(), nil)
				if err != nil {
					b.Fatal(err)
				}
				args, thread := starlark.Tuple{benchItems()}, &starlark.Thread{}
				for b.Loop() {
					if _, err := starlark.Call(thread, g["f"], args, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEnter(b *testing.B) {
	w := NewWatchdog(WatchdogConfig{})
	call := Call{Ticks: func() uint64 { return 0 }, Cancel: func(string) {}}
	for b.Loop() {
		w.Enter(call)()
	}
}

func BenchmarkPredeclared(b *testing.B) {
	for b.Loop() {
		Predeclared(Defaults())
	}
}
