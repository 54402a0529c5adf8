package compose_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"starling/bus"
	"starling/bus/compose"
)

func TestApplyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageWith(t, compose.Options{})
		began := time.Now()
		release := make(chan struct{})
		var late *compose.Scope
		s.mount(compose.Component{Name: "slow", Provides: list{"a"}, Apply: func(sc *compose.Scope) error {
			late = sc
			sc.Defer("early", s.noting("early undone"))
			<-sc.Context().Done()
			<-release // deaf to its context
			s.note("%v", context.Cause(sc.Context()))
			sc.Defer("late", s.noting("late undone"))
			sc.Stage("staged late", nil, nil)
			if _, err := sc.Mount(compose.Component{Name: "kid"}); err != nil {
				s.note("%v", err)
			}
			return sc.Provide("a", 1)
		}})
		s.mount(compose.Component{Name: "next", Position: bus.At(bus.ClassFlag, 0, "next")})
		s.settle()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("settled after %s", took)
		}
		s.want("slow", "failed: apply: ran over its limit of 10s")
		s.want("next", "active")
		s.wantJournal("early undone")
		close(release)
		synctest.Wait()
		closed := "its apply has returned, so nobody would undo it"
		s.wantJournal("ran over its limit", "late undone", "mount kid: "+closed)
		s.wantReports("slow: late: "+closed, "slow: staged late: "+closed)
		if err := late.Provide("a", 1); err == nil {
			t.Error("an abandoned apply provides")
		}
		s.must(s.Shutdown(context.Background()))
	})
}

func TestApplyIsTold(t *testing.T) {
	tests := map[string]func(*stage) error{
		"unmount":  func(s *stage) error { return s.Unmount(s.ids["alpha"]) },
		"switch":   func(s *stage) error { return s.Switch(s.ids["alpha"], "off") },
		"provider": func(s *stage) error { return s.Unmount(s.ids["shell"]) },
		"fail":     func(s *stage) error { return s.Fail(s.ids["alpha"], "stuck") },
		"shutdown": func(s *stage) error { return s.Shutdown(context.Background()) },
	}
	want := map[string]string{
		"switch": "inactive: off", "provider": "pending: waiting for shell", "fail": "failed: stuck",
	}
	for how, leave := range tests {
		t.Run(how, func(t *testing.T) {
			s := newStage(t)
			began := make(chan struct{})
			s.mount(compose.Component{Name: "shell", Provides: list{"shell"}})
			s.mount(compose.Component{Name: "alpha", Inject: list{"shell"}, Apply: func(sc *compose.Scope) error {
				sc.Defer("x", s.noting("undone"))
				close(began)
				<-sc.Context().Done()
				return sc.Context().Err() // does not count as a failure
			}})
			<-began
			s.must(leave(s))
			s.settle()
			s.wantJournal("undone")
			if want, ok := want[how]; ok {
				s.want("alpha", want)
			} else if s.Roster().Find("alpha") != nil {
				t.Error("alpha is still in the roster")
			}
		})
	}
}

// TestContextLasts: a component may hang its own goroutines on the context.
func TestContextLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageWith(t, compose.Options{})
		s.mount(compose.Component{Name: "alpha", Apply: func(sc *compose.Scope) error {
			go func() {
				<-sc.Context().Done()
				s.note("told")
			}()
			return nil
		}})
		s.settle()
		time.Sleep(time.Hour)
		synctest.Wait()
		s.wantJournal()
		s.must(s.Unmount(s.ids["alpha"]))
		s.settle()
		synctest.Wait()
		s.wantJournal("told")
		s.must(s.Shutdown(context.Background()))
	})
}

func TestUndoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStageWith(t, compose.Options{})
		deaf := make(chan struct{})
		s.mount(compose.Component{Name: "alpha", Apply: func(sc *compose.Scope) error {
			sc.Defer("first", s.noting("first"))
			sc.Defer("deaf", func(context.Context) error { <-deaf; return nil })
			sc.Defer("waits", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
			sc.Defer("own deadline", func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, 0)
				defer cancel()
				return ctx.Err() // not the limit of the undo
			})
			sc.Defer("last", s.noting("last"))
			return nil
		}})
		s.settle()
		began := time.Now()
		s.must(s.Unmount(s.ids["alpha"]))
		s.settle()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("settled after %s", took)
		}
		s.wantJournal("last", "first")
		s.wantReports(
			"alpha: undo of own deadline: context deadline exceeded",
			"alpha: undo of waits: ran over its limit of 5s",
			"alpha: undo of deaf: ran over its limit of 5s",
		)
		close(deaf)
		synctest.Wait()
		s.wantReports()
		s.must(s.Shutdown(context.Background()))
	})
}

func TestGoexit(t *testing.T) {
	s := newStage(t)
	s.mount(compose.Component{Name: "alpha", Apply: func(*compose.Scope) error { runtime.Goexit(); return nil }})
	s.settle()
	s.want("alpha", "failed: apply: ended its goroutine")
}

func TestDrain(t *testing.T) {
	t.Run("the swap waits, visibly", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newStageWith(t, compose.Options{})
			release := make(chan struct{})
			old := versioned(s, "1")
			old.Drain = func(ctx context.Context) error {
				select {
				case <-release:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			id := s.mount(old)
			s.mount(compose.Component{Name: "user", Inject: list{"a"}, Apply: func(sc *compose.Scope) error {
				v, err := sc.View().Get("a")
				s.note("user of %v", v)
				return err
			}})
			s.settle()
			s.must(s.Replace(id, versioned(s, "2")))
			synctest.Wait()
			row := s.Roster().Find("alpha")
			if row.State != compose.Active || row.Version != "1" || row.Swap != "the new version waits for a running call" || row.Reason != "" {
				t.Errorf("while it waits: %+v", row)
			}
			s.must(s.Barrier(t.Context())) // or a guard asked from inside that call would wait for itself
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("settle does not wait for the swap: %v", err)
			}
			// Others go on meanwhile.
			s.mount(compose.Component{Name: "other"})
			synctest.Wait()
			s.want("other", "active")
			close(release)
			s.settle()
			s.wantJournal("apply 1", "user of 1", "undo 1", "apply 2", "user of 2")
			if row := s.Roster().Find("alpha"); row.ID != id || row.Version != "2" || row.Swap != "" {
				t.Errorf("after the swap: %+v", row)
			}
			s.must(s.Shutdown(context.Background()))
			s.wantReports()
		})
	})
	ends := map[string]struct {
		ask  func(*stage, compose.ID) error
		want string
	}{
		"a second request": {func(s *stage, id compose.ID) error { return s.Replace(id, versioned(s, "3")) }, "apply 1, undo 1, apply 3"},
		"unmount":          {func(s *stage, id compose.ID) error { return s.Unmount(id) }, "apply 1, undo 1"},
		"switched off":     {func(s *stage, id compose.ID) error { return s.Switch(id, "off") }, "apply 1, undo 1"},
		"its call is abandoned": {
			func(s *stage, id compose.ID) error { return s.Fail(id, "stuck") }, "apply 1, undo 1, apply 2",
		},
		"shutdown": {func(s *stage, _ compose.ID) error { return s.Shutdown(context.Background()) }, "apply 1, undo 1"},
	}
	for how, test := range ends {
		for _, deaf := range []bool{false, true} {
			t.Run(how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStageWith(t, compose.Options{})
					released := make(chan struct{})
					old := versioned(s, "1")
					old.Drain = func(ctx context.Context) error {
						<-ctx.Done()
						if deaf {
							<-released
						}
						return ctx.Err()
					}
					id := s.mount(old)
					s.settle()
					s.must(s.Replace(id, versioned(s, "2")))
					synctest.Wait()
					s.must(test.ask(s, id))
					s.settle()
					if got := strings.Join(s.take(), ", "); got != test.want {
						t.Errorf("got %s, want %s", got, test.want)
					}
					if deaf && how == "a second request" {
						s.wantReports("alpha: waiting for running calls: did not end within 5s of being told to")
					}
					close(released)
					s.must(s.Shutdown(context.Background()))
				})
			})
		}
	}
	t.Run("a failing drain is reported and the swap goes on", func(t *testing.T) {
		s := newStage(t)
		old := versioned(s, "1")
		old.Drain = func(context.Context) error { panic("lost count") }
		id := s.mount(old)
		s.settle()
		s.must(s.Replace(id, versioned(s, "2")))
		s.settle()
		s.wantReports("alpha: waiting for running calls: panic: lost count")
		s.wantJournal("apply 1", "undo 1", "apply 2")
	})
}

// versioned is a component that tells when it comes and goes.
func versioned(s *stage, v string) compose.Component {
	return compose.Component{Name: "alpha", Version: v, Provides: list{"a"}, Apply: func(sc *compose.Scope) error {
		s.note("apply %s", v)
		sc.Defer("tell", s.noting("undo "+v))
		return sc.Provide("a", v)
	}}
}

func TestReplace(t *testing.T) {
	t.Run("a broken version is refused", func(t *testing.T) {
		s := newStage(t)
		id := s.mount(versioned(s, "1"))
		s.settle()
		broken := errors.New("a.star:2:1: got newline")
		if err := s.Replace(id, compose.Component{Name: "alpha", Broken: broken}); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		s.settle()
		s.want("alpha", "active")
		s.wantJournal("apply 1")
	})
	t.Run("a broken version of a broken one shows its fault", func(t *testing.T) {
		s := newStage(t)
		id := s.mount(compose.Component{Name: "alpha", Broken: errors.New("one")})
		if err := s.Replace(id, compose.Component{Name: "alpha", Broken: errors.New("two")}); err == nil {
			t.Error("accepted")
		}
		s.settle()
		s.want("alpha", "failed: two")
		s.must(s.Replace(id, versioned(s, "1")))
		s.settle()
		s.want("alpha", "active")
	})
	t.Run("the old code is not resumed when the new fails", func(t *testing.T) {
		s := newStage(t)
		id := s.mount(versioned(s, "1"))
		s.settle()
		s.must(s.Replace(id, compose.Component{Name: "alpha", Provides: list{"a"}, Apply: failing(errors.New("boom"))}))
		s.settle()
		s.want("alpha", "failed: apply: boom")
		s.wantJournal("apply 1", "undo 1")
		s.must(s.Replace(id, versioned(s, "3")))
		s.settle()
		s.wantJournal("apply 3")
	})
	t.Run("only the last of many requests counts", func(t *testing.T) {
		s := newStage(t)
		hold := make(chan struct{})
		slow := versioned(s, "1")
		apply := slow.Apply
		slow.Apply = func(sc *compose.Scope) error { <-hold; return apply(sc) }
		id := s.mount(slow)
		for _, v := range []string{"2", "3", "4"} {
			s.must(s.Replace(id, versioned(s, v)))
		}
		close(hold)
		s.settle()
		if j := s.take(); j[len(j)-1] != "apply 4" {
			t.Errorf("journal %q", j)
		}
		if row := s.Roster().Find("alpha"); row.Version != "4" || row.State != compose.Active {
			t.Errorf("row %+v", row)
		}
	})
	t.Run("the position may change", func(t *testing.T) {
		s := newStage(t)
		id := s.mount(versioned(s, "1"))
		s.mount(compose.Component{Name: "beta"})
		s.settle()
		c := versioned(s, "2")
		c.Position = bus.At(bus.ClassFlag, 0, "alpha")
		s.must(s.Replace(id, c))
		s.settle()
		if rows := s.Roster().Rows; len(rows) != 2 || rows[0].Name != "beta" || rows[1].Version != "2" {
			t.Errorf("rows %v", rows)
		}
	})
}

func TestWaitingFromInside(t *testing.T) {
	s := newStage(t)
	errs := make(chan error, 8)
	inside := func(ctx context.Context) {
		errs <- s.Settle(ctx)
		errs <- s.Shutdown(ctx)
		errs <- s.Barrier(ctx)
	}
	s.mount(compose.Component{Name: "alpha", Apply: func(sc *compose.Scope) error {
		inside(sc.Context())
		_, err := s.Mount(compose.Component{Name: "guest"}) // asking is allowed
		sc.Defer("x", func(ctx context.Context) error { inside(ctx); return nil })
		return err
	}})
	s.settle()
	s.want("guest", "active")
	s.must(s.Unmount(s.ids["alpha"]))
	s.settle()
	for range 2 {
		if err := <-errs; !errors.Is(err, compose.ErrInside) {
			t.Errorf("settle: %v", err)
		}
		if err := <-errs; !errors.Is(err, compose.ErrInside) {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-errs; err != nil {
			t.Errorf("barrier: %v", err)
		}
	}
}

func TestBarrier(t *testing.T) {
	s := newStage(t)
	s.settle()
	s.must(s.Barrier(t.Context())) // nothing is running
	hold, running := make(chan struct{}), make(chan struct{})
	s.mount(compose.Component{Name: "guard", Apply: func(*compose.Scope) error {
		close(running)
		<-hold
		s.note("guard stands")
		return nil
	}})
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Barrier(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("while a settle runs: %v", err)
	}
	if err := s.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("while a settle runs: %v", err)
	}
	close(hold)
	s.must(s.Barrier(t.Context()))
	s.wantJournal("guard stands")
	if n := testing.AllocsPerRun(100, func() { _ = s.Barrier(ctx) }); n != 0 {
		t.Errorf("an open barrier allocates %v times", n)
	}
}

func TestSettledHears(t *testing.T) {
	var mu sync.Mutex
	var heard []*compose.Roster
	r := compose.New(compose.Options{Settled: func(ro *compose.Roster) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, ro)
	}})
	if _, err := r.Mount(compose.Component{Name: "alpha"}); err != nil {
		t.Fatal(err)
	}
	settle(t, r)
	mu.Lock()
	if last := heard[len(heard)-1]; last != r.Roster() || last.Find("alpha").State != compose.Active {
		t.Errorf("heard %v", last)
	}
	mu.Unlock()
	shutdown(t, r)
	if last := heard[len(heard)-1]; len(last.Rows) != 0 {
		t.Errorf("after shutdown: %v", last)
	}
}

func TestShutdownGivesUpWaiting(t *testing.T) {
	s := newStage(t)
	hold := make(chan struct{})
	s.mount(compose.Component{Name: "alpha", Apply: func(sc *compose.Scope) error {
		sc.Defer("slow", func(context.Context) error { <-hold; return nil })
		return nil
	}})
	s.settle()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(hold)
	s.must(s.Shutdown(t.Context()))
}

func TestBadRequests(t *testing.T) {
	s := newStage(t)
	if _, err := s.Mount(compose.Component{}); err == nil || err.Error() != "a component needs a name" {
		t.Errorf("mount without a name: %v", err)
	}
	id := s.mount(compose.Component{Name: "alpha"})
	s.must(s.Unmount(id))
	for what, err := range map[string]error{
		"unmount": s.Unmount(id),
		"switch":  s.Switch(id, ""),
		"replace": s.Replace(id, compose.Component{Name: "alpha"}),
		"move":    s.Move(id, nil),
		"fail":    s.Fail(id, "x"),
	} {
		if want := what + ": no mount has the id 1"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if again := s.mount(compose.Component{Name: "alpha"}); again == id {
		t.Error("an id was used again")
	}
}
