package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

// bench is some plugins that share a table of locks and can call each other's f
// with go(NAME, ARG...), wait in the host with hold(), and note with mark(TEXT).
type bench struct {
	locks *Locks
	mu    sync.Mutex
	inst  map[string]*Instance
	marks []string
	hold  chan struct{} // what hold waits for; nil returns at once
	held  chan string   // told of every hold that begins
	count map[string]*int
}

func newBench() *bench {
	return &bench{locks: NewLocks(), inst: map[string]*Instance{}, count: map[string]*int{}, held: make(chan string, 100)}
}

func (b *bench) env() Env {
	builtin := func(name string, f func(*starlark.Thread, starlark.Tuple) (starlark.Value, error)) *starlark.Builtin {
		return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return f(t, args)
		})
	}
	return Env{Locks: b.locks, Predeclared: starlark.StringDict{
		"visit": builtin("visit", func(t *starlark.Thread, args starlark.Tuple) (v starlark.Value, err error) {
			c := CallOf(t)
			name, _ := starlark.AsString(args[0])
			c.Host(func() { v, err = b.call(c.Context(), name, args[1:]...) })
			return v, err
		}),
		"visit_outside": builtin("visit_outside", func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
			name, _ := starlark.AsString(args[0])
			return b.call(CallOf(t).Context(), name, args[1:]...)
		}),
		"hold": builtin("hold", func(t *starlark.Thread, _ starlark.Tuple) (starlark.Value, error) {
			c := CallOf(t)
			c.Host(func() {
				b.held <- c.Instance().Name()
				select {
				case <-b.hold:
				case <-c.Context().Done():
				}
			})
			return starlark.None, nil
		}),
		"mark": builtin("mark", func(_ *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
			b.mark(args[0].(starlark.String).GoString())
			return starlark.None, nil
		}),
		"inside": builtin("inside", func(t *starlark.Thread, _ starlark.Tuple) (starlark.Value, error) {
			// Plain memory of the instance: the race detector sees two calls at once.
			i := CallOf(t).Instance()
			n := b.count[i.Name()]
			*n++
			return starlark.MakeInt(*n), nil
		}),
		"later": builtin("later", func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
			text := args[0].(starlark.String).GoString()
			CallOf(t).After(func(context.Context) { b.mark(text) })
			return starlark.None, nil
		}),
	}}
}

func (b *bench) mark(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.marks = append(b.marks, text)
}

func (b *bench) load(t testing.TB, name, src string) *Instance {
	t.Helper()
	i := compiled(t, name, "def apply(ctx): pass\n"+src, b.env())
	b.inst[name], b.count[name] = i, new(int)
	return i
}

func (b *bench) call(ctx context.Context, name string, args ...starlark.Value) (starlark.Value, error) {
	return call(ctx, b.inst[name], name+".f", "f", args...)
}

func (b *bench) took() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.marks, " ")
}

// waitQueue waits until n calls wait for their turn.
func waitQueue(t *testing.T, l *Locks, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		have := len(l.waiting)
		l.mu.Unlock()
		if have == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls wait, not %d", have, n)
		}
	}
}

func TestFirstComeFirstServed(t *testing.T) {
	b := newBench()
	b.hold = make(chan struct{})
	i := b.load(t, "a", "def f(x):\n    mark(str(x))\n    hold()\n")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			if _, err := call(context.Background(), i, "f", "f", starlark.MakeInt(n)); err != nil {
				t.Error(err)
			}
		})
		if n == 0 {
			<-b.held
		}
		waitQueue(t, b.locks, n) // the next one comes when this one stands in the queue
	}
	close(b.hold)
	wg.Wait()
	if got := b.took(); got != "0 1 2 3 4 5 6 7" {
		t.Errorf("order %s", got)
	}
}

func TestChainComesBackIn(t *testing.T) {
	b := newBench()
	b.load(t, "a", "def f(n):\n    mark('a%d' % n)\n    if n > 0:\n        visit('b', n - 1)\n    later('after a%d' % n)\n    mark('/a%d' % n)\n")
	b.load(t, "b", "def f(n):\n    mark('b%d' % n)\n    visit('a', n)\n    mark('/b%d' % n)\n")
	if _, err := b.call(context.Background(), "a", starlark.MakeInt(2)); err != nil {
		t.Fatal(err)
	}
	want := "a2 b1 a1 b0 a0 /a0 /b0 /a1 /b1 /a2 after a0 after a1 after a2"
	if got := b.took(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestNestingEnds(t *testing.T) {
	b := newBench()
	b.load(t, "a", "def f(n):\n    mark('x')\n    return visit('a', n + 1)\n")
	_, err := b.call(context.Background(), "a", starlark.MakeInt(0))
	if err == nil || !strings.Contains(err.Error(), "nested more than 16 deep") {
		t.Fatalf("error %v", err)
	}
	if n := len(strings.Fields(b.took())); n != MaxNesting {
		t.Errorf("%d calls were open, want %d", n, MaxNesting)
	}
}

// TestAnnouncementsEnd lets a call announce, after it is done, another call, and
// so on: the depth of the chain ends it.
func TestAnnouncementsEnd(t *testing.T) {
	var i *Instance
	calls := 0
	var last error
	env := Env{Predeclared: starlark.StringDict{"again": starlark.NewBuiltin("again", func(th *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		calls++
		CallOf(th).After(func(ctx context.Context) {
			if _, err := call(ctx, i, "f", "f"); err != nil {
				last = err
			}
		})
		return starlark.None, nil
	})}}
	i = compiled(t, "a", "def apply(ctx): pass\ndef f(): again()\n", env)
	if _, err := call(context.Background(), i, "f", "f"); err != nil {
		t.Fatal(err)
	}
	if calls != MaxNesting || last == nil {
		t.Errorf("%d calls, last error %v", calls, last)
	}
}

func TestCallOutsideHostIsRefused(t *testing.T) {
	b := newBench()
	b.load(t, "a", "def f(): visit_outside('b')\n")
	b.load(t, "b", "def f(): pass\n")
	_, err := b.call(context.Background(), "a")
	if err == nil || !strings.Contains(err.Error(), "from inside Host") {
		t.Errorf("error %v", err)
	}
}

// ring makes plugins p0 … pn-1, each of which holds and then visits the next.
func ring(t *testing.T, n int) *bench {
	b := newBench()
	b.hold = make(chan struct{})
	for k := range n {
		b.load(t, fmt.Sprintf("p%d", k), fmt.Sprintf("def f(go):\n    if go:\n        hold()\n        visit('p%d', False)\n", (k+1)%n))
	}
	return b
}

func TestDeadlockIsFoundAtOnce(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := ring(t, n)
			errs := make(chan error, n)
			for k := range n {
				go func() {
					_, err := b.call(context.Background(), fmt.Sprintf("p%d", k), starlark.True)
					errs <- err
				}()
			}
			for range n {
				<-b.held
			}
			close(b.hold) // all hold their own plugin and now want the next
			refused := 0
			for range n {
				err := <-errs
				var dead *DeadlockError
				if !errors.As(err, &dead) {
					if err != nil {
						t.Errorf("unexpected: %v", err)
					}
					continue
				}
				refused++
				if len(dead.Plugins) != n {
					t.Errorf("plugins %v", dead.Plugins)
				}
				for k := range n {
					if !strings.Contains(err.Error(), fmt.Sprintf("p%d", k)) {
						t.Errorf("p%d is not named: %v", k, err)
					}
				}
			}
			// The refused call's error travels up through the plugin that it came
			// from, and the others end, as the one in the way is gone.
			if refused != 1 {
				t.Errorf("%d calls were refused, want the one that closed the circle", refused)
			}
			b.locks.mu.Lock()
			defer b.locks.mu.Unlock()
			if len(b.locks.waiting) != 0 {
				t.Errorf("%d calls still wait", len(b.locks.waiting))
			}
		})
	}
}

func TestWaitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		b.hold = make(chan struct{})
		i := b.load(t, "slow", "def f(): hold()\ndef g(): pass\n")
		done := make(chan error)
		go func() { _, err := call(context.Background(), i, "agent/tool-call", "f"); done <- err }()
		<-b.held
		began := time.Now()
		_, err := call(context.Background(), i, "x", "g")
		var busy *BusyError
		if !errors.As(err, &busy) || err.Error() != "plugin slow is busy in agent/tool-call" || time.Since(began) != 30*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began = time.Now()
		if _, err := call(ctx, i, "x", "g"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		close(b.hold)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := call(context.Background(), i, "x", "g"); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		time.Sleep(time.Second) // the watch ends by itself
	})
}

// TestHostTimeIsNoComputingTime lets a call spend more than its 2 seconds in the
// host.
func TestHostTimeIsNoComputingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := Env{Predeclared: starlark.StringDict{"nap": starlark.NewBuiltin("nap", func(th *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			CallOf(th).Host(func() { time.Sleep(time.Minute) })
			return starlark.None, nil
		})}}
		i := compiled(t, "a", "def apply(ctx): pass\ndef f(): nap()\n", env)
		fn := i.Global("f").(starlark.Callable)
		if _, err := i.Call(context.Background(), CallInfo{Kind: Listener}, fn, nil, nil); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
	})
}

func TestCloseAndCancel(t *testing.T) {
	b := newBench()
	b.hold = make(chan struct{})
	i := b.load(t, "a", "def f(): hold()\n")
	errs := make(chan error, 2)
	run := func() { _, err := b.call(context.Background(), "a"); errs <- err }
	go run()
	<-b.held
	go run()
	waitQueue(t, b.locks, 1)
	idle := make(chan error, 1)
	go func() { idle <- i.Idle(context.Background(), Tool, Command) }()
	if err := i.Idle(context.Background(), Listener); err != nil {
		t.Errorf("no listener runs: %v", err)
	}
	i.Cancel(Tool)
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	if err := <-idle; err != nil {
		t.Errorf("idle: %v", err)
	}
	go run()
	<-b.held
	go run()
	waitQueue(t, b.locks, 1)
	i.Close()
	var gone *UnloadedError
	if err := <-errs; !errors.As(err, &gone) || err.Error() != "plugin a was unloaded" {
		t.Errorf("waiting when closed: %v", err)
	}
	close(b.hold)
	if err := <-errs; err != nil {
		t.Errorf("running when closed: %v", err)
	}
	if _, err := b.call(context.Background(), "a"); !errors.As(err, &gone) {
		t.Errorf("after: %v", err)
	}
}

// TestForkedChain lets one call's host function come back in from several
// goroutines at once: they are in the plugin one at a time, and the call they
// came from goes on after them.
func TestForkedChain(t *testing.T) {
	var i *Instance
	env := Env{Predeclared: starlark.StringDict{"fork": starlark.NewBuiltin("fork", func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		c := CallOf(th)
		fn := args[0].(starlark.Callable)
		var wg sync.WaitGroup
		c.Host(func() {
			for range 20 {
				wg.Go(func() {
					if _, err := i.Call(c.Context(), CallInfo{Kind: Reply}, fn, nil, nil); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
		return starlark.None, nil
	})}}
	i = compiled(t, "a", `
def apply(ctx): pass
def f():
    st = {"n": 0}
    def inc():
        n = st["n"]
        for _ in range(100): pass
        st["n"] = n + 1
    fork(inc)
    return st["n"]
`, env)
	v, err := call(context.Background(), i, "f", "f")
	if err != nil || v.String() != "20" {
		t.Errorf("%v, %v", v, err)
	}
}

// TestSharedState is case A-08: two tools of one plugin change one state from
// two goroutines.
func TestSharedState(t *testing.T) {
	var kept starlark.Value
	env := Env{Predeclared: starlark.StringDict{"keep": starlark.NewBuiltin("keep", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		kept = args[0]
		return starlark.None, nil
	})}}
	i := compiled(t, "a", `
LIST = []
def apply(ctx):
    state = {"n": 0, "seen": []}
    def one():
        state["n"] += 1
        state["seen"].append("one")
        return state["n"]
    def two():
        state["n"] += 1
        state["seen"].append("two")
        return state["n"]
    keep((one, two))
def bad(): LIST.append(1)
`, env)
	if err := i.Apply(context.Background(), starlark.None); err != nil {
		t.Fatal(err)
	}
	tools := kept.(starlark.Tuple)
	var wg sync.WaitGroup
	for n := range 2 {
		wg.Go(func() {
			for range 200 {
				if _, err := i.Call(context.Background(), CallInfo{Kind: Tool}, tools[n].(starlark.Callable), nil, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	v, err := i.Call(context.Background(), CallInfo{Kind: Tool}, tools[0].(starlark.Callable), nil, nil)
	if err != nil || v.String() != "401" {
		t.Errorf("count %v, %v", v, err)
	}
	if _, err := call(context.Background(), i, "bad", "bad"); err == nil || !strings.Contains(err.Error(), hintGlobals) {
		t.Errorf("a global: %v", err)
	}
}

// TestChainsProperty runs random chains over random plugins at once: every call
// ends, with or without a refusal, no two of them compute in one plugin at a
// time, and nothing is left behind.
func TestChainsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench()
		b.hold = make(chan struct{})
		close(b.hold)
		n := rapid.IntRange(1, 4).Draw(rt, "plugins")
		for k := range n {
			// A path is a list of plugins still to visit.
			b.load(t, fmt.Sprintf("p%d", k), `
def f(path):
    hold()
    seen = inside(1)
    if path:
        visit(path[0], path[1:])
    inside(-1)
    return seen
`)
		}
		var wg sync.WaitGroup
		for range rapid.IntRange(1, 5).Draw(rt, "chains") {
			path := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 6).Draw(rt, "path")
			wg.Go(func() {
				list := make([]starlark.Value, len(path))
				for i, p := range path {
					list[i] = starlark.String(fmt.Sprintf("p%d", p))
				}
				l := starlark.Tuple(list)
				_, err := b.call(context.Background(), fmt.Sprintf("p%d", path[0]), l[1:])
				var dead *DeadlockError
				if err != nil && !errors.As(err, &dead) {
					rt.Errorf("chain %v: %v", path, err)
				}
			})
		}
		wg.Wait()
		b.locks.mu.Lock()
		defer b.locks.mu.Unlock()
		if len(b.locks.waiting) != 0 {
			rt.Errorf("%d calls wait", len(b.locks.waiting))
		}
		for _, i := range b.inst {
			if len(i.stack)+len(i.queue) != 0 {
				rt.Errorf("%s keeps %d calls", i.Name(), len(i.stack)+len(i.queue))
			}
			i.closed = true
		}
	})
}
