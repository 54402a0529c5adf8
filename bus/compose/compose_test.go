package compose_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"starling/bus"
	"starling/bus/compose"
)

func settle(t testing.TB, r *compose.Runtime) {
	t.Helper()
	if err := r.Settle(context.Background()); err != nil {
		t.Fatalf("settle: %v", err)
	}
}

func shutdown(t testing.TB, r *compose.Runtime) {
	t.Helper()
	if err := r.Shutdown(context.Background()); err != nil {
		t.Fatalf("shutdown: %v", err)
	}
}

func wantActive(t testing.TB, r *compose.Runtime, n int) {
	t.Helper()
	active := 0
	for _, row := range r.Roster().Rows {
		if row.State == compose.Active {
			active++
		} else if !t.Failed() {
			t.Errorf("%s is %s: %s", row.Name, row.State, row.Reason)
		}
	}
	if active != n {
		t.Errorf("%d active, want %d", active, n)
	}
}

// patience bounds a wait that only a fault makes long.
func patience() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 60*time.Second)
}

// stage is a runtime for table tests, with a journal its components write to.
type stage struct {
	testing.TB
	*compose.Runtime
	store *bus.Store
	bus   *bus.Bus
	count int
	ids   map[string]compose.ID

	mu      sync.Mutex
	journal []string
	reports []string
}

func newStage(t testing.TB) *stage {
	s := newStageWith(t, compose.Options{})
	t.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	return s
}

func newStageWith(t testing.TB, o compose.Options) *stage {
	s := &stage{TB: t, store: bus.NewStore(), ids: map[string]compose.ID{}}
	s.bus = bus.New(s.store)
	o.Store = s.store
	o.Report = func(_ bus.Owner, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reports = append(s.reports, err.Error())
	}
	s.Runtime = compose.New(o)
	return s
}

func (s *stage) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, fmt.Sprintf(format, args...))
}

// noting is an undo that writes what to the journal.
func (s *stage) noting(what string) compose.Undo {
	return func(context.Context) error { s.note("%s", what); return nil }
}

// take returns the journal and empties it.
func (s *stage) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.journal
	s.journal = nil
	return j
}

func (s *stage) wantJournal(want ...string) {
	s.Helper()
	if got := s.take(); !slices.Equal(got, want) {
		s.Errorf("journal\n got %q\nwant %q", got, want)
	}
}

func (s *stage) wantReports(want ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.reports, want) {
		s.Errorf("reports\n got %q\nwant %q", s.reports, want)
	}
	s.reports = nil
}

// mount mounts a component in mount order; without an apply it provides what it
// declares.
func (s *stage) mount(c compose.Component) compose.ID {
	s.Helper()
	if c.Position == "" {
		c.Position = bus.At(bus.ClassEmbedded, s.count, c.Name)
		s.count++
	}
	if c.Apply == nil {
		c.Apply = provideAll(c)
	}
	id, err := s.Mount(c)
	if err != nil {
		s.Fatalf("mount: %v", err)
	}
	s.ids[c.Name] = id
	return id
}

func provideAll(c compose.Component) func(*compose.Scope) error {
	return func(sc *compose.Scope) error {
		for _, key := range c.Provides {
			if err := sc.Provide(key, c.Name+"'s "+key); err != nil {
				return err
			}
		}
		return nil
	}
}

// Fail is the runtime's, not the test's.
func (s *stage) Fail(id compose.ID, reason string) error { return s.Runtime.Fail(id, reason) }

func (s *stage) settle() { s.Helper(); settle(s.TB, s.Runtime) }

// must fails the test at an error of a request.
func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// want checks state and reason of a mount, as one string: "active",
// "pending: waiting for shell".
func (s *stage) want(name, want string) {
	s.Helper()
	row := s.Roster().Find(name)
	if row == nil {
		s.Errorf("%s is not in the roster, want %q", name, want)
		return
	}
	got := string(row.State)
	if row.Reason != "" {
		got += ": " + row.Reason
	}
	if got != want {
		s.Errorf("%s\n got %q\nwant %q", name, got, want)
	}
}

func on(isolate ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(isolate); i += 2 {
		m[isolate[i]] = isolate[i+1]
	}
	return m
}
