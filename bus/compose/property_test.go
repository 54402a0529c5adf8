package compose_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"starling/bus"
	"starling/bus/compose"
)

var someKeys = []string{"a", "b", "c", "d"}

// roll draws evenly from 0 to n-1; rapid's own integers lean to small ones, which
// makes everything provide everything.
func roll(t *rapid.T, what string, n int) int {
	v := 0
	for _, bit := range rapid.SliceOfN(rapid.Bool(), 10, 10).Draw(t, what) {
		if v *= 2; bit {
			v++
		}
	}
	return v % n
}

// chance is true in so many of a hundred cases; it shrinks to false.
func chance(t *rapid.T, what string, odds int) bool { return roll(t, what, 100) >= 100-odds }

func drawKeys(t *rapid.T, what string, keys []string, odds int) []string {
	var list []string
	for _, k := range keys {
		if chance(t, what+" "+k, odds) {
			list = append(list, k)
		}
	}
	return list
}

func drawIsolate(t *rapid.T, keys []string) map[string]string {
	isolate := map[string]string{}
	for _, k := range keys {
		switch roll(t, "realm of "+k, 10) {
		case 9:
			isolate[k] = ""
		case 7, 8:
			isolate[k] = "sandbox"
		}
	}
	return isolate
}

// drawSpec makes a component. Needs and provides overlap freely, so that
// duplicates, self-cycles and longer cycles are common.
func drawSpec(t *rapid.T, name string, version int, keys []string, depth int) *spec {
	s := &spec{
		name: name, version: version,
		needs:    drawKeys(t, "needs", keys, 30),
		optional: drawKeys(t, "optional", keys, 15),
		provides: drawKeys(t, "provides", keys, 35),
		salt:     rapid.Uint32().Draw(t, "salt"),
		odds:     []int{0, 0, 50, 100}[roll(t, "odds of failing", 4)],
		panics:   chance(t, "panics", 50),
		forgets:  chance(t, "forgets", 25),
		extra:    roll(t, "undos", 3),
		drains:   chance(t, "drains", 50),
	}
	if !chance(t, "needs itself", 15) {
		s.needs = slices.DeleteFunc(s.needs, func(k string) bool { return slices.Contains(s.provides, k) })
	}
	if chance(t, "bad undos", 20) {
		s.badUndos = 1 + roll(t, "which undos", 255)
	}
	if chance(t, "isolated", 33) {
		s.isolate = drawIsolate(t, keys)
	}
	if depth > 0 && chance(t, "parent", 25) {
		for i := range 1 + roll(t, "children", 2) {
			s.children = append(s.children, drawSpec(t, fmt.Sprintf("%s.%d", name, i), version, keys, depth-1))
		}
	}
	return s
}

// step is one outside change.
type step struct {
	kind    string
	name    string
	s       *spec // the new version
	off     string
	isolate map[string]string
}

func (s step) String() string {
	text := s.kind + " " + s.name
	if s.kind == "switch" {
		text += fmt.Sprintf(" %q", s.off)
	}
	if s.kind == "move" {
		text += fmt.Sprint(" ", s.isolate)
	}
	if s.s != nil {
		text += " " + s.s.String()
	}
	return text
}

func (s *spec) String() string {
	text := fmt.Sprintf("%s needs %v provides %v isolate %v", s.content(), s.needs, s.provides, s.isolate)
	if s.off != "" || s.broken {
		text += fmt.Sprintf(" off %q broken %v", s.off, s.broken)
	}
	if s.odds > 0 {
		text += fmt.Sprintf(" fails in %d%%", s.odds)
	}
	return text + fmt.Sprint(" children ", s.children)
}

// changes are the kinds, as often as they are drawn.
var changes = []string{
	"unmount", "switch", "switch", "replace", "replace", "replace",
	"move", "move", "fail", "reverse", "breaks",
}

// history generates changes that make sense after one another.
type history struct {
	keys     []string
	names    []string
	versions map[string]int
	mounted  map[string]*spec
	stuck    map[string]bool
}

func newHistory(t *rapid.T) *history {
	h := &history{versions: map[string]int{}, mounted: map[string]*spec{}, stuck: map[string]bool{}}
	h.keys = someKeys[:1+roll(t, "keys", len(someKeys))]
	for i := range 2 + roll(t, "components", 5) {
		h.names = append(h.names, fmt.Sprintf("c%d", i))
	}
	return h
}

func (h *history) draw(t *rapid.T) step {
	name := h.names[roll(t, "name", len(h.names))]
	s := h.mounted[name]
	if s == nil {
		h.versions[name]++
		next := drawSpec(t, name, h.versions[name], h.keys, 2)
		next.broken = chance(t, "broken", 4)
		h.mounted[name] = next
		return step{kind: "mount", name: name, s: next}
	}
	changed := *s
	switch kind := changes[roll(t, "kind", len(changes))]; kind {
	case "unmount":
		delete(h.mounted, name)
		delete(h.stuck, name)
		return step{kind: kind, name: name}
	case "switch":
		if changed.off = ""; s.off == "" && !h.stuck[name] {
			changed.off = "switched off"
		}
		delete(h.stuck, name)
		h.mounted[name] = &changed
		return step{kind: kind, name: name, off: changed.off}
	case "move":
		changed.isolate = drawIsolate(t, h.keys)
		h.mounted[name] = &changed
		return step{kind: kind, name: name, isolate: changed.isolate}
	case "fail":
		if s.off != "" || s.broken {
			return step{kind: "nothing", name: name}
		}
		h.stuck[name] = true
		return step{kind: kind, name: name}
	case "breaks":
		worse := &spec{name: name, broken: true, off: s.off}
		if s.broken { // nothing runs that would be kept
			delete(h.stuck, name)
			h.mounted[name] = worse
		}
		return step{kind: "replace", name: name, s: worse}
	default:
		h.versions[name]++
		next := drawSpec(t, name, h.versions[name], h.keys, 2)
		if kind == "reverse" { // what it needed it provides now
			next.needs, next.provides = s.provides, s.needs
		}
		next.off = s.off
		delete(h.stuck, name)
		h.mounted[name] = next
		return step{kind: "replace", name: name, s: next}
	}
}

// do makes a change in a runtime.
func (l *lab) do(t fataler, ids map[string]compose.ID, s step) {
	t.Helper()
	id, err := ids[s.name], error(nil)
	switch s.kind {
	case "mount":
		ids[s.name], err = l.run.Mount(l.component(s.s))
	case "unmount":
		err = l.run.Unmount(id)
	case "switch":
		err = l.run.Switch(id, s.off)
	case "move":
		err = l.run.Move(id, s.isolate)
	case "fail":
		l.settle(t) // it means the version that runs, not one that waits for its turn
		err = l.run.Fail(id, "stuck")
	case "replace":
		err = l.run.Replace(id, l.component(s.s))
		if s.s.broken == (err == nil) {
			t.Fatalf("replace with a broken version: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
}

// do makes a change in the model.
func (m *model) do(s step) {
	n := m.find(s.name)
	switch s.kind {
	case "mount":
		m.mount(s.s, nil, bus.At(bus.ClassHome, 0, s.name))
	case "unmount":
		m.remove(n)
	case "switch":
		c := *n.s
		c.off = s.off
		n.s = &c
		n.stuck, n.failed = "", false
	case "move":
		m.move(n, s.isolate)
	case "fail":
		n.stuck, n.failed = "stuck", false
	case "replace":
		m.replace(n, s.s)
	}
}

// load mounts the final configuration from nothing.
func (h *history) load(t fataler, order []string) *lab {
	l := newLab()
	ids := map[string]compose.ID{}
	for _, name := range order {
		s := h.mounted[name]
		if s == nil {
			continue
		}
		l.do(t, ids, step{kind: "mount", name: name, s: s})
		if h.stuck[name] {
			l.do(t, ids, step{kind: "fail", name: name})
		}
	}
	l.settle(t)
	return l
}

func (l *lab) settle(t fataler) {
	t.Helper()
	ctx, cancel := patience()
	defer cancel()
	if err := l.run.Settle(ctx); err != nil {
		t.Fatalf("settle: %v\n%s", err, l.run.State())
	}
}

// TestConfluence: after any history the runtime is where the model is, and where
// loading the final configuration from nothing ends.
func TestConfluence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		l, m, ids := newLab(), &model{}, map[string]compose.ID{}
		for range 1 + roll(t, "steps", 20) {
			s := h.draw(t)
			t.Log(s)
			l.do(t, ids, s)
			if s.kind == "fail" {
				m.settle()
			}
			m.do(s)
			if !chance(t, "goes on at once", 20) {
				l.settle(t)
				l.check(t)
				m.settle()
			}
		}
		l.settle(t)
		l.check(t)
		m.settle()
		fresh := h.load(t, rapid.Permutation(h.names).Draw(t, "order"))
		fresh.check(t)
		from := &model{}
		for _, name := range h.names {
			if s := h.mounted[name]; s != nil {
				from.do(step{kind: "mount", name: name, s: s})
				if h.stuck[name] {
					from.do(step{kind: "fail", name: name})
				}
			}
		}
		from.settle()
		got, want := l.shape(), fresh.shape()
		if !l.contradicted() && !fresh.contradicted() {
			if got, want := l.told(), fresh.told(); got != want {
				t.Fatalf("the end depends on the history\nafter the history:\n%sfrom nothing:\n%s", got, want)
			}
			if !from.unstable && want != from.shape() {
				t.Fatalf("from nothing, the model ends elsewhere\nruntime:\n%smodel:\n%s", want, from.shape())
			}
			if !m.unstable && got != m.shape() {
				t.Fatalf("after the history, the model ends elsewhere\nruntime:\n%smodel:\n%s", got, m.shape())
			}
		}
		l.end(t)
		fresh.end(t)
	})
}

// TestManyCallers: requests from many goroutines end where the same
// configuration ends that is loaded from nothing.
func TestManyCallers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		steps := map[string][]step{}
		for range 1 + roll(t, "steps", 20) {
			s := h.draw(t)
			steps[s.name] = append(steps[s.name], s)
		}
		l := newLab()
		var wg sync.WaitGroup
		for _, list := range steps {
			wg.Go(func() {
				ids := map[string]compose.ID{}
				for i, s := range list {
					l.do(t, ids, s)
					if i%3 == 2 {
						l.settle(t)
					}
					l.run.Roster().Find(s.name)
				}
			})
		}
		wg.Wait()
		l.settle(t)
		l.check(t)
		fresh := h.load(t, h.names)
		if !l.contradicted() && !fresh.contradicted() && l.told() != fresh.told() {
			t.Fatalf("after many callers:\n%sfrom nothing:\n%s", l.told(), fresh.told())
		}
		l.end(t)
		fresh.end(t)
	})
}

// TestNoTrace: what is mounted and taken away leaves nothing.
func TestNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		l := h.load(t, nil)
		ids := map[string]compose.ID{}
		for range roll(t, "steps", 8) {
			l.do(t, ids, h.draw(t))
		}
		l.settle(t)
		before, counts, size := l.told(), l.run.Count(), l.store.Size()
		calm := !l.contradicted()
		guest := drawSpec(t, "guest", 1, h.keys, 2)
		id, err := l.run.Mount(l.component(guest))
		if err != nil {
			t.Fatalf("mount: %v", err)
		}
		if chance(t, "settles", 50) {
			l.settle(t)
			calm = calm && !l.contradicted()
		}
		if err := l.run.Unmount(id); err != nil {
			t.Fatalf("unmount: %v", err)
		}
		l.settle(t)
		l.check(t)
		if calm && !l.contradicted() {
			now := l.run.Count()
			now.Watched = counts.Watched // which bindings a retry was weighed by may differ
			if after := l.told(); after != before || now != counts || l.store.Size() != size {
				t.Fatalf("a guest left a trace\nbefore %+v, %d entries:\n%safter %+v, %d entries:\n%s", counts, size, before, now, l.store.Size(), after)
			}
		}
		l.end(t)
	})
}
