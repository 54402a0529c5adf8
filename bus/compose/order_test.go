package compose_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"starling/bus"
	"starling/bus/compose"
)

func TestUndoOrder(t *testing.T) {
	s := newStage(t)
	tools := bus.SlotOf[string](s.store, "tools")
	seen := func() string {
		var names []string
		for _, e := range tools.Load() {
			names = append(names, e.Value)
		}
		return strings.Join(names, ",")
	}
	id := s.mount(compose.Component{Name: "alpha", Apply: func(sc *compose.Scope) error {
		sc.Defer("one", func(context.Context) error { s.note("one, tools %q", seen()); return errors.New("bad") })
		compose.Register(sc, tools, "tool x", "x")
		sc.Defer("two", func(context.Context) error { s.note("two, tools %q", seen()); panic("worse") })
		compose.Register(sc, tools, "tool y", "y")
		sc.Defer("three", func(context.Context) error { s.note("three, tools %q", seen()); return nil })
		return nil
	}})
	s.settle()
	if seen() != "x,y" {
		t.Errorf("tools %q", seen())
	}
	s.must(s.Unmount(id))
	s.settle()
	s.wantJournal(`three, tools "x,y"`, `two, tools "x"`, `one, tools ""`)
	s.wantReports("alpha: undo of two: panic: worse", "alpha: undo of one: bad")
}

func TestFailedApplyLeavesNothing(t *testing.T) {
	s := newStage(t)
	port := bus.PortOf(s.bus, ping)
	var child compose.ID
	s.mount(compose.Component{Name: "alpha", Provides: list{"a"}, Apply: func(sc *compose.Scope) error {
		sc.Defer("one", s.noting("one"))
		compose.On(sc, port, bus.Listener[[]string, bus.None]{})
		if err := sc.Provide("a", 1); err != nil {
			return err
		}
		var err error
		child, err = sc.Mount(compose.Component{Name: "child", Apply: func(*compose.Scope) error { s.note("child"); return nil }})
		if err != nil {
			return err
		}
		sc.Defer("two", s.noting("two"))
		return errors.New("boom")
	}})
	s.mount(compose.Component{Name: "beta", Inject: list{"a"}, Apply: func(*compose.Scope) error { s.note("beta"); return nil }})
	s.settle()
	s.wantJournal("two", "one")
	if n := s.store.Size(); n != 0 {
		t.Errorf("%d entries are left", n)
	}
	if err := s.Unmount(child); err == nil {
		t.Error("the child of a failed apply can be named")
	}
}

// TestDependentsFirst: a dependent still calls its service in its teardown.
func TestDependentsFirst(t *testing.T) {
	s := newStage(t)
	open := true
	s.mount(compose.Component{Name: "shell", Provides: list{"shell"}, Apply: func(sc *compose.Scope) error {
		sc.Defer("close", func(context.Context) error { open = false; s.note("shell closed"); return nil })
		return sc.Provide("shell", func(what string) { s.note("shell: %s, open %v", what, open) })
	}})
	var view *compose.View
	s.mount(compose.Component{Name: "alpha", Inject: list{"shell"}, Provides: list{"alpha"}, Apply: func(sc *compose.Scope) error {
		view = sc.View()
		sc.Defer("bye", func(context.Context) error {
			v, err := view.Get("shell")
			if err != nil {
				return err
			}
			v.(func(string))("goodbye of alpha")
			return nil
		})
		return sc.Provide("alpha", 1)
	}})
	s.mount(compose.Component{Name: "beta", Inject: list{"alpha"}, Apply: func(sc *compose.Scope) error {
		sc.Defer("bye", s.noting("beta"))
		return nil
	}})
	s.settle()
	s.must(s.Switch(s.ids["shell"], "off"))
	s.settle()
	s.wantJournal("beta", "shell: goodbye of alpha, open true", "shell closed")
	s.wantReports()
	if _, err := view.Get("shell"); err == nil || err.Error() != `service "shell": the component is not loaded any more` {
		t.Errorf("after the last undo: %v", err)
	}
}

func TestChildOrder(t *testing.T) {
	parent := func(s *stage, kids ...compose.Component) compose.Component {
		return compose.Component{Name: "alpha", Provides: list{"a"}, Apply: func(sc *compose.Scope) error {
			sc.Defer("first", s.noting("first"))
			for i, kid := range kids {
				name, apply := kid.Name, kid.Apply
				kid.Apply = func(sc *compose.Scope) error {
					sc.Defer("undo", s.noting(name))
					if apply == nil {
						return provideAll(kid)(sc)
					}
					return apply(sc)
				}
				if _, err := sc.Mount(kid); err != nil {
					return err
				}
				sc.Defer("behind", s.noting(fmt.Sprintf("behind %d", i)))
			}
			return sc.Provide("a", 1)
		}}
	}
	leaving := map[string]func(*stage) error{
		"unmount":  func(s *stage) error { return s.Unmount(s.ids["alpha"]) },
		"switch":   func(s *stage) error { return s.Switch(s.ids["alpha"], "off") },
		"replace":  func(s *stage) error { return s.Replace(s.ids["alpha"], compose.Component{Name: "alpha"}) },
		"shutdown": func(s *stage) error { return s.Shutdown(context.Background()) },
	}
	for how, leave := range leaving {
		t.Run(how, func(t *testing.T) {
			s := newStage(t)
			s.mount(parent(s, compose.Component{Name: "kid"}, compose.Component{Name: "sister", Apply: func(sc *compose.Scope) error {
				_, err := sc.Mount(compose.Component{Name: "grandchild", Apply: func(sc *compose.Scope) error {
					sc.Defer("undo", s.noting("grandchild"))
					return nil
				}})
				return err
			}}))
			s.settle()
			wantActive(t, s.Runtime, 4)
			s.must(leave(s))
			s.settle()
			s.wantJournal("behind 1", "grandchild", "sister", "behind 0", "kid", "first")
			if n := len(s.Roster().Rows); n > 1 {
				t.Errorf("%d rows are left", n)
			}
		})
	}
	t.Run("a child whose provider goes too waits for its parent", func(t *testing.T) {
		s := newStage(t)
		s.mount(compose.Component{Name: "shell", Provides: list{"shell"}, Apply: func(sc *compose.Scope) error {
			sc.Defer("undo", s.noting("shell"))
			return sc.Provide("shell", 1)
		}})
		s.mount(parent(s, compose.Component{Name: "kid", Inject: list{"shell"}}))
		s.settle()
		s.must(s.Shutdown(context.Background()))
		s.wantJournal("behind 0", "kid", "first", "shell")
	})
	t.Run("a child that stands on its parent goes first", func(t *testing.T) {
		s := newStage(t)
		s.mount(parent(s, compose.Component{Name: "kid", Inject: list{"a"}}))
		s.settle()
		s.must(s.Unmount(s.ids["alpha"]))
		s.settle()
		s.wantJournal("kid", "behind 0", "first")
	})
	t.Run("the dependents of a child go before it", func(t *testing.T) {
		s := newStage(t)
		s.mount(parent(s, compose.Component{Name: "kid", Provides: list{"k"}}))
		s.mount(compose.Component{Name: "beta", Inject: list{"k"}, Apply: func(sc *compose.Scope) error {
			sc.Defer("undo", s.noting("beta"))
			return nil
		}})
		s.settle()
		s.must(s.Unmount(s.ids["alpha"]))
		s.settle()
		s.wantJournal("behind 0", "beta", "kid", "first")
		s.want("beta", "pending: waiting for k")
	})
	t.Run("a child can be unmounted alone", func(t *testing.T) {
		s := newStage(t)
		s.mount(parent(s, compose.Component{Name: "kid"}))
		s.settle()
		s.must(s.Unmount(s.Roster().Find("kid").ID))
		s.settle()
		s.wantJournal("kid")
		s.must(s.Unmount(s.ids["alpha"]))
		s.settle()
		s.wantJournal("behind 0", "first")
	})
	t.Run("nesting has an end", func(t *testing.T) {
		s := newStage(t)
		deepest := 0
		var apply func(int) func(*compose.Scope) error
		apply = func(depth int) func(*compose.Scope) error {
			return func(sc *compose.Scope) error {
				deepest = depth
				_, err := sc.Mount(compose.Component{Name: "me", Apply: apply(depth + 1)})
				return err
			}
		}
		s.mount(compose.Component{Name: "me", Apply: apply(0)})
		s.settle()
		rows := s.Roster().Rows
		if last := rows[len(rows)-1]; deepest != 500 || !strings.Contains(last.Reason, "nest deeper than 500") {
			t.Errorf("%d deep, %s", deepest, last.Reason)
		}
		s.must(s.Unmount(s.ids["me"]))
		s.settle()
		if n := len(s.Roster().Rows); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestShutdownOrder: dependents first, else the reverse of the static order,
// however things were mounted.
func TestShutdownOrder(t *testing.T) {
	list := []compose.Component{
		{Name: "a", Inject: list{"e"}},
		{Name: "b"},
		{Name: "c", Provides: list{"c"}},
		{Name: "d", Inject: list{"c"}},
		{Name: "e", Provides: list{"e"}},
		{Name: "f"},
	}
	for seed := range int64(10) {
		s := newStage(t)
		order := rand.New(rand.NewSource(seed)).Perm(len(list))
		for _, i := range order {
			c := list[i]
			c.Position = bus.At(bus.ClassHome, 0, c.Name)
			c.Apply = func(sc *compose.Scope) error {
				sc.Defer("undo", s.noting(c.Name))
				return provideAll(c)(sc)
			}
			s.mount(c)
		}
		s.settle()
		s.must(s.Shutdown(context.Background()))
		s.wantJournal("f", "d", "c", "b", "a", "e")
	}
}

func TestShutdownErrors(t *testing.T) {
	s := newStage(t)
	bad := errors.New("bad")
	for _, name := range []string{"alpha", "beta"} {
		s.mount(compose.Component{Name: name, Apply: func(sc *compose.Scope) error {
			sc.Defer("x", func(context.Context) error { return bad })
			return nil
		}})
	}
	s.settle()
	err := s.Shutdown(context.Background())
	if want := "beta: undo of x: bad\nalpha: undo of x: bad"; !errors.Is(err, bad) || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if again := s.Shutdown(context.Background()); again == nil || again.Error() != err.Error() {
		t.Errorf("a second shutdown: %v", again)
	}
	if _, err := s.Mount(compose.Component{Name: "late"}); !errors.Is(err, compose.ErrShutdown) {
		t.Errorf("mount after shutdown: %v", err)
	}
	if err := s.Switch(s.ids["alpha"], ""); !errors.Is(err, compose.ErrShutdown) {
		t.Errorf("switch after shutdown: %v", err)
	}
	if err := s.Settle(context.Background()); err != nil {
		t.Errorf("settle after shutdown: %v", err)
	}
}

// TestOneStep: what one apply registers is never seen in part, by readers of the
// store or of optional services.
func TestOneStep(t *testing.T) {
	s := newStage(t)
	port := bus.PortOf(s.bus, ping)
	keys := list{"a", "b", "c", "d"}
	var view *compose.View
	s.mount(compose.Component{Name: "reader", Inject: list{"a?", "b?", "c?", "d?"}, Apply: func(sc *compose.Scope) error {
		view = sc.View()
		return nil
	}})
	s.settle()
	during := make(chan int, 1)
	c := compose.Component{Name: "alpha", Provides: keys, Apply: func(sc *compose.Scope) error {
		for range 3 {
			compose.On(sc, port, bus.Listener[[]string, bus.None]{Do: func(_ context.Context, e *[]string) (*bus.None, error) {
				*e = append(*e, "x")
				return nil, nil
			}})
		}
		for _, k := range keys {
			if err := sc.Provide(k, 1); err != nil {
				return err
			}
			if ok, err := view.Has(k); ok || err != nil {
				return fmt.Errorf("%s is seen during apply: %w", k, err)
			}
		}
		var names []string
		port.Send(context.Background(), &names)
		during <- len(names)
		return nil
	}}
	s.mount(c)
	s.settle()
	s.want("alpha", "active")
	if n := <-during; n != 0 {
		t.Errorf("%d listeners heard an event during apply", n)
	}
	var stop atomic.Bool
	wrong := make(chan string, 1)
	go func() {
		defer close(wrong)
		for !stop.Load() {
			var names []string
			port.Send(context.Background(), &names)
			if len(names) != 0 && len(names) != 3 {
				wrong <- fmt.Sprintf("%d of 3 listeners", len(names))
				return
			}
			// The last key first: seeing it, all others must be there. It is taken
			// away in one step too, so the answer is only good if it lasts.
			last, _ := view.Has("d")
			first, _ := view.Has("a")
			if still, _ := view.Has("d"); last && still && !first {
				if again, _ := view.Has("a"); !again {
					if still, _ := view.Has("d"); still {
						wrong <- "d without a"
						return
					}
				}
			}
		}
	}()
	go func() {
		for range 200 {
			_ = s.Switch(s.ids["alpha"], "off")
			_ = s.Settle(context.Background())
			_ = s.Switch(s.ids["alpha"], "")
			_ = s.Settle(context.Background())
			<-during
		}
		stop.Store(true)
	}()
	for fault := range wrong {
		stop.Store(true)
		t.Error(fault)
	}
}

func TestProviderSwap(t *testing.T) {
	s := newStage(t)
	s.mount(compose.Component{Name: "second", Provides: list{"k"}, Position: bus.At(bus.ClassHome, 0, "b")})
	s.mount(compose.Component{Name: "user", Inject: list{"k"}, Position: bus.At(bus.ClassHome, 0, "c"), Apply: func(sc *compose.Scope) error {
		v, err := sc.View().Get("k")
		s.note("load with %v", v)
		sc.Defer("undo", s.noting("undo"))
		return err
	}})
	s.mount(compose.Component{Name: "bystander", Apply: func(sc *compose.Scope) error {
		sc.Defer("undo", s.noting("bystander undone"))
		return nil
	}})
	s.settle()
	s.mount(compose.Component{Name: "first", Provides: list{"k"}, Position: bus.At(bus.ClassHome, 0, "a")})
	s.settle()
	s.wantJournal("load with second's k", "undo", "load with first's k")
	s.want("second", `pending: conflict: "k" is provided by first`)
	// Unloading the loser touches nothing.
	s.must(s.Unmount(s.ids["second"]))
	s.settle()
	s.wantJournal()
	s.want("user", "active")
}

func TestOptional(t *testing.T) {
	s := newStage(t)
	var view *compose.View
	s.mount(compose.Component{Name: "alpha", Inject: list{"todos?"}, Apply: func(sc *compose.Scope) error {
		view = sc.View()
		s.note("load")
		sc.Defer("undo", s.noting("undo"))
		_, err := view.Get("todos")
		if _, has := view.Has("todos"); has == nil || err == nil || has.Error() != err.Error() {
			return fmt.Errorf("during apply: %w, %w", err, has)
		}
		return nil
	}})
	s.settle()
	check := func(want any) {
		t.Helper()
		got, err := view.Get("todos")
		has, hasErr := view.Has("todos")
		if got != want || (err == nil) != (want != nil) || has != (want != nil) || hasErr != nil {
			t.Errorf("got %v (%v), %v (%v), want %v", got, err, has, hasErr, want)
		}
	}
	check(nil)
	id := s.mount(compose.Component{Name: "beta", Provides: list{"todos"}})
	s.settle()
	check("beta's todos")
	s.must(s.Move(id, on("todos", "sandbox")))
	s.settle()
	check(nil)
	s.must(s.Move(s.ids["alpha"], on("todos", "sandbox")))
	s.settle()
	check("beta's todos")
	s.must(s.Unmount(id))
	s.settle()
	check(nil)
	s.wantJournal("load")
	if _, err := view.Get("shell"); err == nil || err.Error() != `service "shell": not in inject` {
		t.Errorf("a key that is not in inject: %v", err)
	}
}

func TestChainDeep(t *testing.T) {
	const n = 10_000
	s := newStage(t)
	comps := graph("chain", n)
	rand.New(rand.NewSource(1)).Shuffle(n, func(i, j int) { comps[i], comps[j] = comps[j], comps[i] })
	for _, c := range comps {
		s.mount(c)
	}
	s.settle()
	wantActive(t, s.Runtime, n)
	s.must(s.Unmount(s.ids["s0"]))
	s.settle()
	s.want("s1", "pending: waiting for s0")
	s.want("s9999", "pending: waiting for s9998")
	if c := s.Count(); c.Mounts != n-1 || c.Keys != n || c.Queued != 0 {
		t.Errorf("%+v", c)
	}
}

// TestCostOfOne: one replacement among many makes one row and one picture, not
// thousands.
func TestCostOfOne(t *testing.T) {
	const n = 5_000
	s := newStage(t)
	for _, c := range graph("star", n) {
		s.mount(c)
	}
	s.settle()
	before := s.Roster().Rows
	work := s.Work()
	s.must(s.Replace(s.ids["s2500"], compose.Component{Name: "s2500", Version: "2", Inject: list{"s0"}}))
	s.settle()
	after, fresh := s.Roster().Rows, 0
	for i := range after {
		if after[i] != before[i] {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d rows are new", fresh)
	}
	if did := s.Work() - work; did > 10 {
		t.Errorf("one replacement looked at %d mounts", did)
	}
}

// TestCostGrowsWithTheGraph: ten times more mounts are ten times more work.
func TestCostGrowsWithTheGraph(t *testing.T) {
	for _, shape := range []string{"chain", "star", "dag"} {
		work := func(n int) float64 {
			s := newStage(t)
			for _, c := range graph(shape, n) {
				s.mount(c)
			}
			s.settle()
			s.must(s.Switch(s.ids["s0"], "off"))
			s.settle()
			s.must(s.Switch(s.ids["s0"], ""))
			s.settle()
			wantActive(t, s.Runtime, n)
			return float64(s.Work()) / float64(n)
		}
		if few, many := work(300), work(3_000); many > 1.5*few {
			t.Errorf("%s: %.1f looks a mount with 300 mounts, %.1f with 3000", shape, few, many)
		}
	}
}

// TestReloads: nothing grows with the number of reloads.
func TestReloads(t *testing.T) {
	s := newStage(t)
	port := bus.PortOf(s.bus, ping)
	version := func(i int) compose.Component {
		return compose.Component{
			Name: "alpha", Version: fmt.Sprint(i), Inject: list{"shell", fmt.Sprintf("opt%d?", i)}, Provides: list{"a"},
			Isolate: on(fmt.Sprintf("opt%d", i), ""),
			Apply: func(sc *compose.Scope) error {
				compose.On(sc, port, bus.Listener[[]string, bus.None]{Do: func(_ context.Context, e *[]string) (*bus.None, error) {
					*e = append(*e, "heard")
					return nil, nil
				}})
				if _, err := sc.Mount(compose.Component{Name: "kid", Inject: list{"a"}}); err != nil {
					return err
				}
				sc.Defer("nothing", nil)
				return sc.Provide("a", i)
			},
		}
	}
	s.mount(compose.Component{Name: "shell", Provides: list{"shell"}})
	id := s.mount(version(0))
	s.settle()
	before := s.Count()
	for i := range 500 {
		s.must(s.Replace(id, version(i+1)))
		s.settle()
	}
	if after := s.Count(); after != before {
		t.Errorf("before %+v, after %+v", before, after)
	}
	var heard []string
	port.Send(context.Background(), &heard)
	if !slices.Equal(heard, list{"heard"}) || s.store.Size() != 1 {
		t.Errorf("heard %v, %d entries", heard, s.store.Size())
	}
	if row := s.Roster().Find("alpha"); row.ID != id || row.Version != "500" {
		t.Errorf("row %+v", row)
	}
}
