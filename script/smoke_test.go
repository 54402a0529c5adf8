package script

import (
	"context"
	"testing"

	"go.starlark.net/starlark"
)

// compiled parses, compiles and loads a file with the predeclared names.
func compiled(t testing.TB, name, src string, env Env) *Instance {
	t.Helper()
	p, err := Parse(name, name+".star", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for n := range env.Predeclared {
		names[n] = true
	}
	if err := p.Compile(names); err != nil {
		t.Fatal(err)
	}
	i := p.New(env)
	t.Cleanup(i.Close)
	if err := i.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return i
}

// call calls a global of the instance.
func call(ctx context.Context, i *Instance, what, fn string, args ...starlark.Value) (starlark.Value, error) {
	return i.Call(ctx, CallInfo{Kind: Tool, What: what}, i.Global(fn).(starlark.Callable), args, nil)
}

func TestCallReturns(t *testing.T) {
	i := compiled(t, "a", "def apply(ctx): pass\ndef f(x): return x + 1\n", Env{})
	for n := range 3 {
		v, err := call(context.Background(), i, "f", "f", starlark.MakeInt(n))
		if err != nil || v.String() != starlark.MakeInt(n+1).String() {
			t.Fatalf("f(%d) = %v, %v", n, v, err)
		}
	}
	if s := i.Stats(); s.Calls != 4 || s.Errors != 0 || s.Steps == 0 {
		t.Errorf("stats %+v", s)
	}
}
