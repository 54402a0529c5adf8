package compose_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"starling/bus"
	"starling/bus/compose"
)

var ping = bus.NewEmit[[]string]("test/ping")

// lab is a runtime whose components watch that the guarantees hold while they
// are loaded and undone.
type lab struct {
	store *bus.Store
	port  bus.Port[[]string, bus.None]
	run   *compose.Runtime

	mu      sync.Mutex
	faults  []string
	lives   map[*life]bool
	last    map[uint64]*life // by mount
	bad     int              // undos that were made to fail
	reports int
}

// life is one load as its own code sees it.
type life struct {
	content   string
	providers []*life
	applied   bool
	undone    int // effects taken back so far
	effects   int
	ended     bool
}

// service is what generated components provide.
type service struct {
	content string
	of      *life
}

func newLab() *lab {
	l := &lab{store: bus.NewStore(), lives: map[*life]bool{}, last: map[uint64]*life{}}
	l.port = bus.PortOf(bus.New(l.store), ping)
	l.run = compose.New(compose.Options{Store: l.store, Report: func(bus.Owner, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reports++
	}})
	return l
}

func (l *lab) fault(format string, args ...any) {
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// component makes a real component of a spec.
func (l *lab) component(sp *spec) compose.Component {
	c := compose.Component{
		Name: sp.name, Version: fmt.Sprint(sp.version), Position: bus.At(bus.ClassHome, 0, sp.name),
		Inject: slices.Clone(sp.needs), Provides: sp.provides, Isolate: sp.isolate, Off: sp.off,
	}
	for _, k := range sp.optional {
		c.Inject = append(c.Inject, k+"?")
	}
	if sp.broken {
		c.Broken = errors.New("does not parse")
	}
	if sp.drains {
		c.Drain = func(context.Context) error { return nil }
	}
	c.Apply = func(s *compose.Scope) error { return l.apply(sp, s) }
	return c
}

func (l *lab) apply(sp *spec, s *compose.Scope) error {
	me, contents := l.start(sp, s)
	fails := sp.fails(contents)
	l.effect(sp, s, me)
	if fails && !sp.forgets {
		if sp.panics {
			panic("by chance")
		}
		return errors.New("by chance")
	}
	for i, k := range sp.provides {
		if fails && i == len(sp.provides)-1 {
			break
		}
		if err := s.Provide(k, service{sp.content(), me}); err != nil {
			return err
		}
		l.effect(sp, s, me)
	}
	if fails && len(sp.provides) == 0 {
		return errors.New("nothing to leave out")
	}
	compose.On(s, l.port, bus.Listener[[]string, bus.None]{Do: func(_ context.Context, e *[]string) (*bus.None, error) {
		*e = append(*e, sp.name)
		return nil, nil
	}})
	for _, child := range sp.children {
		if _, err := s.Mount(l.component(child)); err != nil {
			return err
		}
		l.effect(sp, s, me)
	}
	for range sp.extra {
		l.effect(sp, s, me)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	me.applied = true
	return nil
}

// start notes a new life and checks what it may see.
func (l *lab) start(sp *spec, s *compose.Scope) (*life, []string) {
	me := &life{content: sp.content()}
	var contents []string
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range sp.optional {
		if slices.Contains(sp.needs, k) {
			continue
		}
		if _, err := s.View().Get(k); err == nil {
			l.fault("%s read the optional %s during apply", me.content, k)
		}
	}
	for _, k := range sp.needs {
		v, err := s.View().Get(k)
		if err != nil {
			l.fault("%s: %v", me.content, err)
			continue
		}
		of := v.(service).of
		if !of.applied || of.undone > 0 {
			l.fault("%s loads while its provider %s is not active", me.content, of.content)
		}
		me.providers = append(me.providers, of)
		contents = append(contents, v.(service).content)
	}
	if before := l.last[s.Owner().UID]; before != nil && !before.ended {
		l.fault("%s applied again before its last undo", me.content)
	}
	l.last[s.Owner().UID] = me
	l.lives[me] = true
	return me, contents
}

// effect registers an undo that checks its turn.
func (l *lab) effect(sp *spec, s *compose.Scope, me *life) {
	n := me.effects
	me.effects++
	view := s.View()
	s.Defer(fmt.Sprintf("effect %d", n), func(context.Context) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if me.undone == 0 {
			for other := range l.lives {
				if slices.Contains(other.providers, me) {
					l.fault("%s is undone before its dependent %s", me.content, other.content)
				}
			}
		}
		if want := me.effects - 1 - me.undone; n != want {
			l.fault("%s: effect %d is undone where %d was due", me.content, n, want)
		}
		me.undone++
		for i, k := range sp.needs {
			v, err := view.Get(k)
			if err != nil || v.(service).of != me.providers[i] || me.providers[i].ended {
				l.fault("%s: %s is not what it was loaded with in its teardown (%v)", me.content, k, err)
			}
		}
		if n == 0 {
			me.ended = true
			delete(l.lives, me)
		}
		if sp.badUndos&(1<<(n%8)) != 0 {
			l.bad++
			if n%2 == 0 {
				panic("undo by chance")
			}
			return errors.New("undo by chance")
		}
		return nil
	})
}

// heard returns who hears a ping, in order.
func (l *lab) heard() []string {
	var names []string
	l.port.Send(context.Background(), &names)
	return names
}

// contradicted tells whether a contradiction is reported.
func (l *lab) contradicted() bool {
	return slices.ContainsFunc(l.run.Roster().Rows, func(r *compose.Row) bool {
		return strings.HasPrefix(r.Reason, "contradiction: ")
	})
}

// shape tells the end of a history in the words of the model.
func (l *lab) shape() string {
	var b strings.Builder
	for _, row := range l.run.Roster().Rows {
		fmt.Fprintf(&b, "%s@%s %s\n", row.Name, row.Version, row.State)
	}
	return b.String() + l.run.Provided()
}

// told is the shape with everything people read beside it.
func (l *lab) told() string {
	var b strings.Builder
	b.WriteString(l.shape())
	for _, row := range l.run.Roster().Rows {
		fmt.Fprintf(&b, "%s: %s; missing %v, registered %v\n", row.Name, row.Reason, row.Missing, row.Registrations)
	}
	return b.String()
}

// check looks at a settled runtime.
func (l *lab) check(t fataler) {
	t.Helper()
	rows := l.run.Roster().Rows
	var active []string
	for _, row := range rows {
		switch {
		case row.State == compose.Loading || row.State == compose.Unloading:
			t.Fatalf("%s is %s after settling", row.Name, row.State)
		case row.State == compose.Active:
			active = append(active, row.Name)
			if row.Reason != "" {
				t.Fatalf("%s is active with the reason %q", row.Name, row.Reason)
			}
		case row.Reason == "" || strings.HasSuffix(row.Reason, "its turn"):
			t.Fatalf("%s is %s without a reason (%q)", row.Name, row.State, row.Reason)
		}
	}
	if heard := l.heard(); !slices.Equal(heard, active) {
		t.Fatalf("%v hear, %v are active", heard, active)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.faults) > 0 {
		t.Fatalf("%s", strings.Join(l.faults, "\n"))
	}
	if len(l.lives) != len(active) {
		t.Fatalf("%d lives, %d active", len(l.lives), len(active))
	}
	if l.reports != l.bad {
		t.Fatalf("%d undos failed, %d were reported", l.bad, l.reports)
	}
}

// end shuts down and looks for what is left.
func (l *lab) end(t fataler) {
	t.Helper()
	before := l.bad
	err := l.run.Shutdown(context.Background())
	if (err != nil) != (l.bad > before) {
		t.Fatalf("shutdown: %v, with %d failing undos", err, l.bad-before)
	}
	if n := l.store.Size(); n != 0 {
		t.Fatalf("%d entries are left in the store", n)
	}
	if len(l.lives) != 0 || len(l.faults) != 0 {
		t.Fatalf("after shutdown: %d lives, faults %v", len(l.lives), l.faults)
	}
	if rows := l.run.Roster().Rows; len(rows) != 0 {
		t.Fatalf("%d rows after shutdown", len(rows))
	}
}

// fataler is what testing.TB and rapid.T share.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var _ fataler = (*testing.T)(nil)
