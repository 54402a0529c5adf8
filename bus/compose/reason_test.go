package compose_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"starling/bus"
	"starling/bus/compose"
)

type list = []string

func failing(err error) func(*compose.Scope) error {
	return func(*compose.Scope) error { return err }
}

func TestReasons(t *testing.T) {
	type want = map[string]string
	tests := []struct {
		name   string
		mounts []compose.Component
		then   func(*stage)
		want   want
	}{
		{"active", []compose.Component{{Name: "alpha"}}, nil, want{"alpha": "active"}},
		{
			"one missing key",
			[]compose.Component{{Name: "alpha", Inject: list{"shell"}}},
			nil,
			want{"alpha": "pending: waiting for shell"},
		},
		{
			"two missing keys",
			[]compose.Component{{Name: "alpha", Inject: list{"shell", "net", "fs"}}, {Name: "beta", Provides: list{"net"}}},
			nil,
			want{"alpha": "pending: waiting for shell, fs"},
		},
		{
			"an optional key is not waited for",
			[]compose.Component{{Name: "alpha", Inject: list{"todos?"}}},
			nil,
			want{"alpha": "active"},
		},
		{
			"a key named both ways is required",
			[]compose.Component{{Name: "alpha", Inject: list{"todos?", "todos"}}},
			nil,
			want{"alpha": "pending: waiting for todos"},
		},
		{"provided in a realm", []compose.Component{
			{Name: "alpha", Provides: list{"shell"}, Isolate: on("shell", "sandbox")},
			{Name: "beta", Inject: list{"shell"}},
		}, nil, want{"alpha": "active", "beta": `pending: waiting for shell: provided only in realm "sandbox"`}},
		{"provided in two realms", []compose.Component{
			{Name: "alpha", Provides: list{"shell"}, Isolate: on("shell", "sandbox")},
			{Name: "gamma", Provides: list{"shell"}, Isolate: on("shell", "jail")},
			{Name: "beta", Inject: list{"shell"}},
		}, nil, want{"beta": `pending: waiting for shell: provided only in realm "jail" and realm "sandbox"`}},
		{"provided outside the own realm", []compose.Component{
			{Name: "alpha", Provides: list{"shell"}},
			{Name: "beta", Inject: list{"shell"}, Isolate: on("shell", "")},
		}, nil, want{"beta": "pending: waiting for shell: provided only in the default realm"}},
		{"provided in a private realm", []compose.Component{
			{Name: "alpha", Provides: list{"shell"}, Isolate: on("shell", "")},
			{Name: "beta", Inject: list{"net", "shell"}},
		}, nil, want{"beta": "pending: waiting for net, shell (provided only in a private realm)"}},
		{"the hint goes with the provider", []compose.Component{
			{Name: "alpha", Provides: list{"shell"}, Isolate: on("shell", "sandbox")},
			{Name: "beta", Inject: list{"shell"}},
		}, func(s *stage) { s.must(s.Switch(s.ids["alpha"], "off")) }, want{"beta": "pending: waiting for shell"}},
		{
			"conflict",
			[]compose.Component{{Name: "alpha", Provides: list{"shell"}}, {Name: "beta", Provides: list{"net", "shell"}}},
			nil,
			want{"alpha": "active", "beta": `pending: conflict: "shell" is provided by alpha`},
		},
		{
			"conflict with one that waits",
			[]compose.Component{{Name: "alpha", Inject: list{"fs"}, Provides: list{"shell"}}, {Name: "beta", Provides: list{"shell"}}},
			nil,
			want{"beta": `pending: conflict: "shell" is provided by alpha (waiting for fs)`},
		},
		{
			"the conflict ends",
			[]compose.Component{{Name: "alpha", Provides: list{"shell"}}, {Name: "beta", Provides: list{"shell"}}},
			func(s *stage) { s.must(s.Unmount(s.ids["alpha"])) },
			want{"beta": "active"},
		},
		{
			"what the owner waits for changes",
			[]compose.Component{{Name: "alpha", Inject: list{"fs"}, Provides: list{"shell"}}, {Name: "beta", Provides: list{"shell"}}},
			func(s *stage) { s.mount(compose.Component{Name: "gamma", Provides: list{"fs"}}) },
			want{"beta": `pending: conflict: "shell" is provided by alpha`},
		},
		{
			"a cycle of one",
			[]compose.Component{{Name: "alpha", Inject: list{"a"}, Provides: list{"a"}}},
			nil,
			want{"alpha": "pending: cycle: alpha -> alpha"},
		},
		{"a cycle of three", []compose.Component{
			{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}},
			{Name: "beta", Inject: list{"c"}, Provides: list{"b"}},
			{Name: "gamma", Inject: list{"a"}, Provides: list{"c"}},
			{Name: "delta", Inject: list{"a"}},
		}, nil, want{
			"alpha": "pending: cycle: alpha -> beta -> gamma -> alpha",
			"beta":  "pending: cycle: alpha -> beta -> gamma -> alpha",
			"gamma": "pending: cycle: alpha -> beta -> gamma -> alpha",
			"delta": "pending: waiting for a",
		}},
		{"two cycles in one knot", []compose.Component{
			{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}},
			{Name: "beta", Inject: list{"a", "c"}, Provides: list{"b"}},
			{Name: "gamma", Inject: list{"b"}, Provides: list{"c"}},
		}, nil, want{
			"alpha": "pending: cycle: alpha -> beta -> alpha",
			"beta":  "pending: cycle: alpha -> beta -> alpha",
			"gamma": "pending: cycle: beta -> gamma -> beta",
		}},
		{"realms keep a cycle apart", []compose.Component{
			{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}},
			{Name: "beta", Inject: list{"a"}, Provides: list{"b"}, Isolate: on("b", "sandbox")},
		}, nil, want{"alpha": "pending: waiting for b", "beta": "pending: waiting for a"}},
		{"an edit breaks a cycle", []compose.Component{
			{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}},
			{Name: "beta", Inject: list{"a"}, Provides: list{"b"}},
		}, func(s *stage) {
			c := compose.Component{Name: "beta", Provides: list{"b"}}
			c.Apply = provideAll(c)
			s.must(s.Replace(s.ids["beta"], c))
		}, want{"alpha": "active", "beta": "active"}},
		{"an edit reverses a dependency", []compose.Component{
			{Name: "alpha", Provides: list{"a"}},
			{Name: "beta", Inject: list{"a"}, Provides: list{"b"}},
		}, func(s *stage) {
			alpha := compose.Component{Name: "alpha", Inject: list{"b"}}
			beta := compose.Component{Name: "beta", Provides: list{"b"}}
			beta.Apply = provideAll(beta)
			s.must(s.Replace(s.ids["alpha"], alpha))
			s.must(s.Replace(s.ids["beta"], beta))
		}, want{"alpha": "active", "beta": "active"}},
		{"a cycle member that is switched off is none", []compose.Component{
			{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}},
			{Name: "beta", Inject: list{"a"}, Provides: list{"b"}, Off: "switched off in plugins.json"},
		}, nil, want{"alpha": "pending: waiting for b", "beta": "inactive: switched off in plugins.json"}},
		{
			"apply fails",
			[]compose.Component{{Name: "alpha", Apply: failing(errors.New("a.star:3:7: boom"))}},
			nil,
			want{"alpha": "failed: apply: a.star:3:7: boom"},
		},
		{
			"apply panics",
			[]compose.Component{{Name: "alpha", Apply: func(*compose.Scope) error { panic("boom") }}},
			nil,
			want{"alpha": "failed: apply: panic: boom"},
		},
		{
			"left unprovided",
			[]compose.Component{{Name: "alpha", Provides: list{"x", "y"}, Apply: func(s *compose.Scope) error { return s.Provide("y", 1) }}},
			nil,
			want{"alpha": `failed: apply: left "x" unprovided`},
		},
		{
			"provides what it did not declare",
			[]compose.Component{{Name: "alpha", Apply: func(s *compose.Scope) error { return s.Provide("y", 1) }}},
			nil,
			want{"alpha": `failed: apply: provide "y": not in provides of alpha`},
		},
		{"provides twice", []compose.Component{{Name: "alpha", Provides: list{"y"}, Apply: func(s *compose.Scope) error {
			_ = s.Provide("y", 1)
			return s.Provide("y", 2)
		}}}, nil, want{"alpha": `failed: apply: provide "y": provided already`}},
		{
			"settings",
			[]compose.Component{{Name: "alpha", Check: func() error { return errors.New("depth: want a number") }}},
			nil,
			want{"alpha": "failed: settings: depth: want a number"},
		},
		{
			"broken",
			[]compose.Component{{Name: "alpha", Broken: errors.New("a.star:1:1: got newline")}},
			nil,
			want{"alpha": "failed: a.star:1:1: got newline"},
		},
		{
			"a broken one holds no key",
			[]compose.Component{{Name: "alpha", Provides: list{"a"}, Broken: errors.New("no")}, {Name: "beta", Provides: list{"a"}}},
			nil,
			want{"beta": "active"},
		},
		{"not approved", []compose.Component{{Name: "alpha", Off: "not approved"}}, nil, want{"alpha": "inactive: not approved"}},
		{
			"switched on",
			[]compose.Component{{Name: "alpha", Off: "not approved"}},
			func(s *stage) { s.must(s.Switch(s.ids["alpha"], "")) },
			want{"alpha": "active"},
		},
		{
			"stuck",
			[]compose.Component{{Name: "alpha", Provides: list{"a"}}, {Name: "beta", Inject: list{"a"}}, {Name: "gamma", Provides: list{"a"}}},
			func(s *stage) { s.must(s.Fail(s.ids["alpha"], "stuck: tool loop did not return")) },
			want{"alpha": "failed: stuck: tool loop did not return", "beta": "active", "gamma": "active"},
		},
		{
			"stuck, then switched on again",
			[]compose.Component{{Name: "alpha"}},
			func(s *stage) {
				s.must(s.Fail(s.ids["alpha"], "stuck"))
				s.must(s.Switch(s.ids["alpha"], ""))
			},
			want{"alpha": "active"},
		},
		{
			"a failed provider gives its key away",
			[]compose.Component{{Name: "alpha", Provides: list{"a"}, Apply: failing(errors.New("boom"))}, {Name: "beta", Provides: list{"a"}}},
			nil,
			want{"alpha": "failed: apply: boom", "beta": "active"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			for _, c := range test.mounts {
				s.mount(c)
			}
			s.settle()
			if test.then != nil {
				test.then(s)
				s.settle()
			}
			for name, want := range test.want {
				s.want(name, want)
			}
		})
	}
}

// TestFailureOfThePast: beta failed with alpha, and gamma took its key. When alpha
// cannot be there any more, beta waits for it as if it had never been tried, and
// has its key again.
func TestFailureOfThePast(t *testing.T) {
	s := newStage(t)
	s.mount(compose.Component{Name: "alpha", Inject: list{"root"}, Provides: list{"a"}})
	s.mount(compose.Component{Name: "beta", Inject: list{"a"}, Provides: list{"k"}, Apply: failing(errors.New("no"))})
	s.mount(compose.Component{Name: "gamma", Provides: list{"k"}})
	s.mount(compose.Component{Name: "root", Provides: list{"root"}})
	s.settle()
	s.want("beta", "failed: apply: no")
	s.want("gamma", "active")
	s.must(s.Switch(s.ids["root"], "off"))
	s.settle()
	s.want("beta", "pending: waiting for a")
	s.want("gamma", `pending: conflict: "k" is provided by beta (waiting for a)`)
	s.must(s.Switch(s.ids["root"], ""))
	s.settle()
	s.want("beta", "failed: apply: no")
	s.want("gamma", "active")
}

// TestContradiction: alpha fails with gamma's b, and stands in beta's way; beta
// fails, and takes gamma's key when alpha does not stand in its way.
func TestContradiction(t *testing.T) {
	s := newStage(t)
	tries := map[string]int{}
	fails := func(name string) func(*compose.Scope) error {
		return func(*compose.Scope) error {
			s.note("%s", name)
			tries[name]++
			return errors.New("no")
		}
	}
	s.mount(compose.Component{Name: "alpha", Inject: list{"b"}, Provides: list{"a"}, Apply: fails("alpha")})
	s.mount(compose.Component{Name: "beta", Provides: list{"a", "b"}, Apply: fails("beta")})
	s.mount(compose.Component{Name: "gamma", Provides: list{"b"}})
	s.settle()
	s.want("alpha", "failed: contradiction: alpha and beta exclude each other")
	s.want("gamma", "active")
	if tries["alpha"] != 4 || tries["beta"] > 4 {
		t.Errorf("tries: %v", tries)
	}
	s.must(s.Unmount(s.ids["beta"]))
	s.settle()
	s.want("alpha", "failed: apply: no")
}

// TestContradictionOfAChild: alpha's child takes the key that alpha stands on, by
// way of beta, from a child of gamma.
func TestContradictionOfAChild(t *testing.T) {
	s := newStage(t)
	applies := 0
	kid := func(name string) func(*compose.Scope) error {
		return func(sc *compose.Scope) error {
			if name == "alpha's" {
				applies++
			}
			_, err := sc.Mount(compose.Component{Name: name, Provides: list{"k"}, Apply: func(sc *compose.Scope) error { return sc.Provide("k", 1) }})
			return err
		}
	}
	s.mount(compose.Component{Name: "alpha", Inject: list{"d"}, Apply: kid("alpha's")})
	s.mount(compose.Component{Name: "beta", Inject: list{"k"}, Provides: list{"d"}})
	s.mount(compose.Component{Name: "gamma", Apply: kid("gamma's")})
	s.settle()
	s.want("alpha", "failed: contradiction: alpha and beta exclude each other")
	s.want("beta", "active")
	if applies != 4 {
		t.Errorf("%d applies, want 4", applies)
	}
	// The next outside change gives it new tries, and it ends the same way.
	s.mount(compose.Component{Name: "guest"})
	s.settle()
	s.want("alpha", "failed: contradiction: alpha and beta exclude each other")
	if applies != 8 {
		t.Errorf("%d applies, want 8", applies)
	}
	// Without beta there is nothing to exclude.
	s.must(s.Unmount(s.ids["beta"]))
	s.settle()
	s.want("alpha", "pending: waiting for d")
}

// TestChildrenTakeNoKeys: a child does not take a key from who is there by
// configuration, however early its parent stands and whoever came first.
func TestChildrenTakeNoKeys(t *testing.T) {
	for _, childFirst := range []bool{true, false} {
		s := newStage(t)
		parent := compose.Component{Name: "parent", Position: bus.At(bus.ClassHost, 0, ""), Apply: func(sc *compose.Scope) error {
			_, err := sc.Mount(compose.Component{Name: "child", Provides: list{"k"}, Apply: func(sc *compose.Scope) error { return sc.Provide("k", 1) }})
			return err
		}}
		plugin := compose.Component{Name: "plugin", Provides: list{"k"}}
		if childFirst {
			s.mount(parent)
			s.settle()
			s.want("child", "active")
			s.mount(plugin)
		} else {
			s.mount(plugin)
			s.settle()
			s.mount(parent)
		}
		s.settle()
		s.want("plugin", "active")
		s.want("child", `pending: conflict: "k" is provided by plugin`)
	}
}

func TestLongCycle(t *testing.T) {
	const n = 10_000
	s := newStage(t)
	names := make([]string, 0, n+1)
	for i := range n {
		name := fmt.Sprintf("c%05d", i)
		names = append(names, name)
		s.mount(compose.Component{Name: name, Inject: list{fmt.Sprintf("k%d", (i+1)%n)}, Provides: list{fmt.Sprintf("k%d", i)}})
	}
	s.settle()
	want := "pending: cycle: " + strings.Join(append(names, names[0]), " -> ")
	s.want(names[0], want)
	s.want(names[n-1], want)
	s.must(s.Unmount(s.ids[names[n/2]]))
	s.settle()
	s.want(names[0], "pending: waiting for k1")
}

func TestRosterRow(t *testing.T) {
	s := newStage(t)
	s.mount(compose.Component{
		Name: "alpha", Origin: "embedded", Version: "v1", Inject: list{"shell", "todos?"}, Provides: list{"a"}, Emits: list{"x/y"}, Uses: list{"process"},
		Apply: func(sc *compose.Scope) error {
			sc.Defer("timer", nil)
			if err := sc.Provide("a", 1); err != nil {
				return err
			}
			_, err := sc.Mount(compose.Component{Name: "child"})
			return err
		},
	})
	s.settle()
	row := s.Roster().Find("alpha")
	if !slices.Equal(row.Missing, list{"shell"}) || row.Registrations != nil {
		t.Errorf("waiting: missing %q, registrations %q", row.Missing, row.Registrations)
	}
	s.mount(compose.Component{Name: "beta", Provides: list{"shell"}})
	s.settle()
	row = s.Roster().Find("alpha")
	if row.Missing != nil || !slices.Equal(row.Registrations, list{"timer", "provide a", "mount child"}) {
		t.Errorf("active: missing %q, registrations %q", row.Missing, row.Registrations)
	}
	if row.Origin != "embedded" || row.Version != "v1" || !slices.Equal(row.Emits, list{"x/y"}) || !slices.Equal(row.Uses, list{"process"}) {
		t.Errorf("row %+v", row)
	}
	child := s.Roster().Find("child")
	if child.Parent != row.ID || child.Origin != "embedded" {
		t.Errorf("child %+v", child)
	}
	var order list
	for _, row := range s.Roster().Rows {
		order = append(order, row.Name)
	}
	if !slices.Equal(order, list{"alpha", "child", "beta"}) {
		t.Errorf("order %q", order)
	}
}

func TestRosterSharesRows(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"a", "c", "d"} {
		s.mount(compose.Component{Name: name, Position: bus.At(bus.ClassHome, 0, name)})
	}
	s.settle()
	before := s.Roster()
	s.mount(compose.Component{Name: "b", Position: bus.At(bus.ClassHome, 0, "b")})
	s.must(s.Unmount(s.ids["d"]))
	s.settle()
	after := s.Roster()
	if len(before.Rows) != 3 || len(after.Rows) != 3 || after.Rows[0] != before.Rows[0] || after.Rows[2] != before.Rows[1] || after.Rows[1].Name != "b" {
		t.Errorf("rows are not shared: %v, %v", before.Rows, after.Rows)
	}
	s.must(s.Switch(s.ids["a"], "")) // it is on already
	s.settle()
	if s.Roster() != after {
		t.Error("a settle without a change made a new roster")
	}
}

// TestRosterCountsLoads: whoever checks a load can tell that it was another one,
// also of a mount that was only loaded again for its provider.
func TestRosterCountsLoads(t *testing.T) {
	s := newStage(t)
	root := compose.Component{Name: "root", Provides: list{"root"}}
	root.Apply = provideAll(root)
	s.mount(root)
	s.mount(compose.Component{Name: "user", Inject: list{"root"}})
	s.mount(compose.Component{Name: "other"})
	s.mount(compose.Component{Name: "never", Inject: list{"nothing"}})
	want := func(loads map[string]uint64) {
		t.Helper()
		s.settle()
		for _, row := range s.Roster().Rows {
			if row.Loads != loads[row.Name] {
				t.Errorf("%s was loaded %d times, want %d", row.Name, row.Loads, loads[row.Name])
			}
		}
	}
	want(map[string]uint64{"root": 1, "user": 1, "other": 1})
	s.must(s.Replace(s.ids["root"], root))
	want(map[string]uint64{"root": 2, "user": 2, "other": 1})
	s.must(s.Fail(s.ids["root"], "stuck"))
	want(map[string]uint64{"root": 2, "user": 2, "other": 1})
	s.must(s.Switch(s.ids["root"], ""))
	want(map[string]uint64{"root": 3, "user": 3, "other": 1})
}

// TestDependentsOfAFailure: dependents never hear of it, and it is tried again
// when its own provider is a new one.
func TestDependentsOfAFailure(t *testing.T) {
	s := newStage(t)
	works := false
	s.mount(compose.Component{Name: "alpha", Provides: list{"a"}, Inject: list{"root"}, Apply: func(sc *compose.Scope) error {
		if !works {
			return errors.New("no luck")
		}
		return sc.Provide("a", 1)
	}})
	s.mount(compose.Component{Name: "beta", Inject: list{"a"}, Apply: func(*compose.Scope) error {
		s.note("beta")
		return nil
	}})
	s.mount(compose.Component{Name: "root", Provides: list{"root"}})
	s.settle()
	s.want("alpha", "failed: apply: no luck")
	s.want("beta", "pending: waiting for a")
	s.wantJournal()
	works = true
	s.mount(compose.Component{Name: "unrelated"})
	s.settle()
	s.want("alpha", "failed: apply: no luck") // nothing it depends on has changed
	root := compose.Component{Name: "root", Provides: list{"root"}, Version: "2"}
	root.Apply = provideAll(root)
	s.must(s.Replace(s.ids["root"], root))
	s.settle()
	s.want("alpha", "active")
	s.want("beta", "active")
	s.wantJournal("beta")
}
