package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.starlark.net/starlark"
)

const spin = "def spin():\n    for i in range(1000000000):\n        for j in range(1000000000):\n            pass\n"

func TestStepsEnd(t *testing.T) {
	i := compiled(t, "a", "limits = {\"steps\": 50000}\ndef apply(ctx): pass\ndef f(n):\n    for i in range(n): pass\n", Env{})
	if _, err := call(context.Background(), i, "f", "f", starlark.MakeInt(1000)); err != nil {
		t.Fatal(err)
	}
	_, err := call(context.Background(), i, "f", "f", starlark.MakeInt(100000))
	var limit *LimitError
	var at *Error
	if !errors.As(err, &limit) || !errors.As(err, &at) || at.Line != 4 || !strings.Contains(err.Error(), "stopped after 50000 steps") {
		t.Errorf("error %v", err)
	}
	if _, err := call(context.Background(), i, "f", "f", starlark.MakeInt(1000)); err != nil {
		t.Errorf("the call after a cancelled one: %v", err)
	}
}

func TestTimeEnds(t *testing.T) {
	i := compiled(t, "a", "limits = {\"steps\": 0, \"time_ms\": 30}\ndef apply(ctx): pass\n"+spin, Env{})
	for range 2 {
		_, err := call(context.Background(), i, "spin", "spin")
		var limit *LimitError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), "stopped after 30ms of computing") {
			t.Errorf("error %v", err)
		}
	}
}

func TestWatchSeesLongCalls(t *testing.T) {
	seen := make(chan *Call, 1000)
	i := compiled(t, "a", "limits = {\"steps\": 0}\ndef apply(ctx): pass\n"+spin, Env{Watch: func(c *Call) {
		seen <- c
		if c.Age() >= watchEvery {
			c.Cancel(errors.New("it eats too much"))
		}
	}})
	_, err := call(context.Background(), i, "spin", "spin")
	var e *Error
	if !errors.As(err, &e) || e.Msg != "it eats too much" {
		t.Errorf("error %v", err)
	}
	if c := <-seen; c.Instance() != i || c.Info().What != "spin" {
		t.Errorf("told of %v", c.Info())
	}
}

func TestContextEndsPlainCode(t *testing.T) {
	i := compiled(t, "a", "limits = {\"steps\": 0}\ndef apply(ctx): pass\n"+spin, Env{})
	ctx, cancel := context.WithCancel(context.Background())
	ticks := atomic.Int64{}
	i.env.Tick = func(*Call) {
		if ticks.Add(1) == 3 {
			cancel()
		}
	}
	_, err := call(ctx, i, "spin", "spin")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "a.star:") {
		t.Errorf("error %v", err)
	}
	// The tick that saw the cancel and at most the one after it.
	if n := ticks.Load(); n > 4 {
		t.Errorf("%d ticks passed before the cancel was seen", n)
	}
	if _, err := call(ctx, i, "spin", "spin"); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with an ended context: %v", err)
	}
}

// TestAbandon runs with the clock of synctest: the builtin blocks and does not
// look at anything, as a long loop inside the library does.
func TestAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := make(chan *AbandonedError, 2)
		env := Env{
			OnStuck: func(e *AbandonedError) { stuck <- e },
			Predeclared: starlark.StringDict{"block": starlark.NewBuiltin("block", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
				<-release
				return starlark.None, nil
			})},
		}
		i := compiled(t, "a", "def apply(ctx): pass\ndef f():\n    block()\n    return 1\ndef g(): return 2\n", env)
		began := time.Now()
		fn := i.Global("f").(starlark.Callable)
		waiting := make(chan error)
		go func() {
			time.Sleep(time.Second)
			_, err := call(context.Background(), i, "g", "g")
			waiting <- err
		}()
		_, err := i.Call(context.Background(), CallInfo{Kind: Listener, What: "agent/tool-call"}, fn, nil, nil)
		var gone *AbandonedError
		if !errors.As(err, &gone) || gone.Plugin != "a" || gone.What != "agent/tool-call" {
			t.Fatalf("error %v", err)
		}
		// 2 s of computing, 1 s after the cancel, and the watch's grain.
		if d := time.Since(began); d < 3*time.Second || d > 3*time.Second+50*time.Millisecond {
			t.Errorf("after %s", d)
		}
		if err := <-waiting; !errors.As(err, &gone) {
			t.Errorf("the call that waited: %v", err)
		}
		if e := <-stuck; e != i.Stuck() {
			t.Errorf("told of %v", e)
		}
		began = time.Now()
		if _, err := call(context.Background(), i, "g", "g"); !errors.As(err, &gone) || time.Since(began) != 0 {
			t.Errorf("a later call: %v", err)
		}
		if err := i.Idle(context.Background()); err != nil {
			t.Errorf("idle: %v", err)
		}
		close(release)
		synctest.Wait()
		if len(stuck) != 0 {
			t.Error("told twice")
		}
	})
}

// TestAbandonSpares lets a plugin wait in the host for one that is stuck: only
// the stuck one is given up.
func TestAbandonSpares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newBench()
		env := b.env()
		env.Predeclared["block"] = starlark.NewBuiltin("block", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			<-release
			return starlark.None, nil
		})
		b.inst["bad"] = compiled(t, "bad", "def apply(ctx): pass\ndef f(): block()\n", env)
		b.inst["good"] = compiled(t, "good", "def apply(ctx): pass\ndef f(): visit('bad')\ndef g(): return 1\n", env)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := b.call(ctx, "good")
		var gone *AbandonedError
		if !errors.As(err, &gone) || gone.Plugin != "bad" || !strings.Contains(err.Error(), "good.star:2") {
			t.Errorf("error %v", err)
		}
		if d := time.Since(began); d > 6*time.Second+100*time.Millisecond {
			t.Errorf("after %s", d)
		}
		if e := b.inst["good"].Stuck(); e != nil {
			t.Errorf("the bystander was given up: %v", e)
		}
		if v, err := call(context.Background(), b.inst["good"], "g", "g"); err != nil || v.String() != "1" {
			t.Errorf("the bystander: %v, %v", v, err)
		}
		close(release)
		time.Sleep(time.Second)
	})
}

func TestPanicBecomesError(t *testing.T) {
	env := Env{Predeclared: starlark.StringDict{
		"boom": starlark.NewBuiltin("boom", func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
			panic("no such luck")
		}),
	}}
	i := compiled(t, "a", "def apply(ctx): pass\ndef f(): boom()\ndef g(): return 1\n", env)
	_, err := call(context.Background(), i, "f", "f")
	var p *PanicError
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "no such luck") || !strings.Contains(p.Stack, "call_test.go") {
		t.Errorf("error %v", err)
	}
	if v, err := call(context.Background(), i, "g", "g"); err != nil || v.String() != "1" {
		t.Errorf("after: %v, %v", v, err)
	}
}

func TestBacktraceAndCause(t *testing.T) {
	env := Env{Predeclared: chunkNames()}
	i := compiled(t, "a", "def apply(ctx): pass\ndef inner(): host_fails()\ndef f():\n    inner()\n", env)
	_, err := call(context.Background(), i, "f", "f")
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, errHost) {
		t.Fatalf("error %v", err)
	}
	if err.Error() != "a.star:2:24: the disk is full" {
		t.Errorf("error %q", err)
	}
	if want := "  a.star:4:10: in f\n  a.star:2:24: in inner\n"; !strings.HasPrefix(e.Backtrace, want) {
		t.Errorf("backtrace\n%s", e.Backtrace)
	}
}

func TestPrint(t *testing.T) {
	var lines []string
	env := Env{Print: func(s string) { lines = append(lines, s) }}
	i := compiled(t, "a", `
def apply(ctx): pass
def f():
    print("a", 1, ["b"], sep = "|")
    l = []
    for _ in range(60):
        l = [l, l]
    print(l)
    print("x" * 100000)
`, env)
	if _, err := call(context.Background(), i, "f", "f"); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 3 || lines[0] != `a|1|["b"]` {
		t.Fatalf("printed %d lines, first %.40q", len(lines), lines[0])
	}
	for _, l := range lines {
		if len(l) > printBytes+8 {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
}

func TestLoadOnce(t *testing.T) {
	i := compiled(t, "a", "def apply(ctx): pass\n", Env{})
	if err := i.Load(context.Background()); err == nil || !strings.Contains(err.Error(), "loaded twice") {
		t.Errorf("error %v", err)
	}
	p, err := Parse("b", "b.star", []byte("def apply(ctx): pass\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.New(Env{}).Load(context.Background()); err == nil || !strings.Contains(err.Error(), "before it was compiled") {
		t.Errorf("error %v", err)
	}
}

// link makes a program of a directory plugin out of files by name.
func link(files map[string]string) (*Program, error) {
	p, err := Parse("dir", "dir/main.star", []byte(files["main.star"]))
	if err != nil {
		return nil, err
	}
	err = p.Link(func(name string) ([]byte, error) {
		src, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
		}
		return []byte(src), nil
	})
	if err != nil {
		return nil, err
	}
	return p, p.Compile(map[string]bool{})
}

func TestLoadStatements(t *testing.T) {
	p, err := link(map[string]string{
		"main.star":     "load(\"./util.star\", \"twice\")\nload(\"./lib/deep.star\", \"N\")\ndef apply(ctx): pass\ndef f(): return twice(N)\ndef bad(): N.append(1) if type(N) == \"list\" else fail(\"n\")\n",
		"util.star":     "load(\"./lib/deep.star\", \"STATE\")\nSTATE_SEEN = STATE\ndef twice(x): return 2 * x\ndef grow(): STATE.append(1)\n",
		"lib/deep.star": "load(\"../base.star\", \"B\")\nN = B + 1\nSTATE = []\n",
		"base.star":     "B = 20\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Files(), " "); got != "base.star lib/deep.star util.star" {
		t.Errorf("files %s", got)
	}
	i := p.New(Env{})
	defer i.Close()
	if err := i.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	if v, err := call(context.Background(), i, "f", "f"); err != nil || v.String() != "42" {
		t.Errorf("f() = %v, %v", v, err)
	}
	if _, err := call(context.Background(), i, "bad", "bad"); err == nil || !strings.HasPrefix(err.Error(), "dir/main.star:5:") {
		t.Errorf("bad: %v", err)
	}
}

func TestLoadStatementErrors(t *testing.T) {
	main := func(module string) string {
		return "load(\"" + module + "\", \"x\")\ndef apply(ctx): pass\n"
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"climbs out", map[string]string{"main.star": main("../x.star")}, `dir/main.star:1:6: load of "../x.star" leaves the plugin's directory`},
		{"climbs out below", map[string]string{"main.star": main("./lib/../../x.star")}, "leaves the plugin's directory"},
		{"missing", map[string]string{"main.star": main("./x.star")}, "file does not exist"},
		{"cycle", map[string]string{"main.star": main("./a.star"), "a.star": "load(\"./b.star\", \"x\")\n", "b.star": "load(\"./a.star\", \"x\")\n"}, "dir/b.star:1:6: files load each other: a.star -> b.star -> a.star"},
		{"itself", map[string]string{"main.star": main("./a.star"), "a.star": "load(\"./a.star\", \"x\")\n"}, "files load each other: a.star -> a.star"},
		{"syntax", map[string]string{"main.star": main("./a.star"), "a.star": "x = = 1\n"}, "dir/a.star:1:5:"},
		{"unknown name", map[string]string{"main.star": main("./a.star"), "a.star": "x = lenn(1)\n"}, "dir/a.star:1:5: undefined: lenn (did you mean len?)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := link(c.files)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant %s", err, c.want)
			}
		})
	}
	if err := runChunk(main("./x.star"), Env{}); err == nil || !strings.Contains(err.Error(), "only a plugin in a directory of its own can load files") {
		t.Errorf("a single file: %v", err)
	}
}

// TestServiceSpendsItsCallersTime lets a listener call a service that computes
// for longer than a listener may.
func TestServiceSpendsItsCallersTime(t *testing.T) {
	var service *Instance
	env := Env{Locks: NewLocks(), Predeclared: starlark.StringDict{"ask": starlark.NewBuiltin("ask", func(th *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (v starlark.Value, err error) {
		c := CallOf(th)
		c.Host(func() {
			v, err = service.Call(c.Context(), CallInfo{Kind: Service, What: "s.spin"}, service.Global("spin").(starlark.Callable), nil, nil)
		})
		return v, err
	})}}
	service = compiled(t, "s", "limits = {\"steps\": 0}\ndef apply(ctx): pass\n"+spin, env)
	i := compiled(t, "a", "limits = {\"time_ms\": 60}\ndef apply(ctx): pass\ndef f(): ask()\n", env)
	_, err := i.Call(context.Background(), CallInfo{Kind: Listener}, i.Global("f").(starlark.Callable), nil, nil)
	var limit *LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), "s.star:") || !strings.Contains(err.Error(), "of computing") {
		t.Errorf("error %v", err)
	}
}

// A call that a builtin was given stays that call; only those nobody saw are
// used again.
func TestSeenCallsStay(t *testing.T) {
	var mu sync.Mutex
	seen := map[*Call]string{}
	see := starlark.NewBuiltin("see", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		mu.Lock()
		defer mu.Unlock()
		c := CallOf(thread)
		if what, again := seen[c]; again {
			t.Errorf("the call of %s is that of %s", c.Info(), what)
		}
		seen[c] = c.Instance().Name() + " " + c.Info().String()
		return starlark.None, nil
	})
	locks := NewLocks()
	env := Env{Locks: locks, Predeclared: starlark.StringDict{"see": see}}
	const calls = 200
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		i := compiled(t, name, "def apply(ctx): pass\ndef f(look):\n    if look:\n        see()\n    return look\n", env)
		f := i.Global("f").(starlark.Callable)
		wg.Go(func() {
			for n := range calls {
				look := starlark.Bool(n%2 == 0)
				v, err := i.Call(context.Background(), CallInfo{Kind: Listener, What: fmt.Sprint(n)}, f, starlark.Tuple{look}, nil)
				if err != nil || v != look {
					t.Errorf("call %d of %s: %v, %v", n, name, v, err)
				}
			}
		})
	}
	wg.Wait()
	if len(seen) != calls {
		t.Errorf("%d calls were seen, want %d", len(seen), calls)
	}
	for c, what := range seen {
		if is := c.Instance().Name() + " " + c.Info().String(); is != what {
			t.Errorf("the call of %s became that of %s", what, is)
		}
	}
	if c := locks.newCall(); c.inst != nil || c.thread != nil || c.outer != nil || c.lent.Load() {
		t.Error("a new call holds something of an old one")
	}
}
