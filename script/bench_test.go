package script

import (
	"context"
	"testing"

	"go.starlark.net/starlark"
)

const benchSource = `
def apply(ctx): pass
def empty(e): return None
def work(e):
    st = {"n": 0}
    for i in range(20):
        st["n"] += i
    return st["n"]
`

// BenchmarkCall compares the library's own call with one through the lock, the
// limits and a goroutine that can be abandoned.
func BenchmarkCall(b *testing.B) {
	for _, fn := range []string{"empty", "work"} {
		i := compiled(b, "a", benchSource, Env{})
		f := i.Global(fn).(starlark.Callable)
		args := starlark.Tuple{starlark.None}
		b.Run(fn+"/library", func(b *testing.B) {
			b.ReportAllocs()
			t := &starlark.Thread{}
			for b.Loop() {
				if _, err := starlark.Call(t, f, args, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fn+"/instance", func(b *testing.B) {
			b.ReportAllocs()
			ctx := context.Background()
			info := CallInfo{Kind: Listener, What: "bench"}
			for b.Loop() {
				if _, err := i.Call(ctx, info, f, args, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart reads, resolves and loads a plugin of about 200 lines.
func BenchmarkStart(b *testing.B) {
	src := []byte(benchSource)
	for range 66 {
		src = append(src, "def helper_"...)
		src = append(src, byte('a'+len(src)%26), byte('a'+len(src)/26%26), byte('a'+len(src)/676%26))
		src = append(src, "(x):\n    y = [i for i in range(x) if i]\n    return y\n"...)
	}
	b.ReportAllocs()
	for b.Loop() {
		p, err := Parse("a", "a.star", src)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Compile(nil); err != nil {
			b.Fatal(err)
		}
		i := p.New(Env{})
		if err := i.Load(context.Background()); err != nil {
			b.Fatal(err)
		}
		i.Close()
	}
}
