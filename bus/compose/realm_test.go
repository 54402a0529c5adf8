package compose_test

import (
	"testing"

	"starling/bus"
	"starling/bus/compose"
)

// told is a component that tells when it loads, with what, and when it goes.
func told(s *stage, name string, inject, provides []string, kids ...compose.Component) compose.Component {
	return compose.Component{Name: name, Inject: inject, Provides: provides, Apply: func(sc *compose.Scope) error {
		text := name
		for _, k := range inject {
			v, err := sc.View().Get(k)
			if err != nil {
				return err
			}
			text += " with " + v.(string)
		}
		s.note("%s", text)
		sc.Defer("tell", s.noting(name+" undone"))
		for _, k := range provides {
			if err := sc.Provide(k, name); err != nil {
				return err
			}
		}
		for _, kid := range kids {
			if _, err := sc.Mount(kid); err != nil {
				return err
			}
		}
		return nil
	}}
}

func TestMove(t *testing.T) {
	t.Run("a consumer alone", func(t *testing.T) {
		s := newStage(t)
		s.mount(told(s, "shell", nil, list{"shell"}))
		s.mount(told(s, "user", list{"shell"}, nil))
		s.mount(told(s, "other", list{"shell"}, nil))
		s.settle()
		s.take()
		s.must(s.Move(s.ids["user"], on("shell", "sandbox")))
		s.settle()
		s.wantJournal("user undone")
		s.want("user", "pending: waiting for shell: provided only in the default realm")
		s.must(s.Move(s.ids["user"], nil))
		s.settle()
		s.wantJournal("user with shell")
	})
	t.Run("a provider goes, what was merely shared stays", func(t *testing.T) {
		s := newStage(t)
		s.mount(told(s, "shell", nil, list{"shell", "fs"}))
		s.mount(told(s, "user", list{"shell"}, nil))
		s.mount(told(s, "other", list{"fs"}, nil))
		waiting := told(s, "waiting", list{"shell"}, nil)
		waiting.Isolate = on("shell", "sandbox")
		s.mount(waiting)
		s.settle()
		s.take()
		s.must(s.Move(s.ids["shell"], on("shell", "sandbox")))
		s.settle()
		s.wantJournal("user undone", "waiting with shell")
		s.want("other", "active")
		s.want("user", `pending: waiting for shell: provided only in realm "sandbox"`)
	})
	t.Run("both go to one realm and stay joined", func(t *testing.T) {
		s := newStage(t)
		s.mount(told(s, "shell", nil, list{"shell"}))
		s.mount(told(s, "user", list{"shell"}, nil))
		s.settle()
		s.take()
		s.must(s.Move(s.ids["shell"], on("shell", "sandbox")))
		s.must(s.Move(s.ids["user"], on("shell", "sandbox")))
		s.settle()
		s.want("user", "active")
		s.want("shell", "active")
		// The provider was never rebuilt.
		for _, line := range s.take() {
			if line != "user undone" && line != "user with shell" {
				t.Errorf("journal has %q", line)
			}
		}
	})
	t.Run("what is provided inside travels", func(t *testing.T) {
		s := newStage(t)
		inner := told(s, "inner", nil, list{"shell"})
		user := told(s, "inner user", list{"shell"}, nil)
		s.mount(told(s, "outer", nil, nil, inner, user))
		s.mount(told(s, "outside", list{"shell"}, nil))
		s.settle()
		s.wantJournal("outer", "inner", "inner user with inner", "outside with inner")
		s.must(s.Move(s.ids["outer"], on("shell", "")))
		s.settle()
		s.wantJournal("outside undone")
		inside := list{"outer", "inner", "inner user"}
		for _, name := range inside {
			s.want(name, "active")
		}
		s.want("outside", "pending: waiting for shell: provided only in a private realm")
		s.must(s.Move(s.ids["outer"], nil))
		s.settle()
		s.wantJournal("outside with inner")
	})
	t.Run("a child's own realm stays its own", func(t *testing.T) {
		s := newStage(t)
		inner := told(s, "inner", nil, list{"shell"})
		inner.Isolate = on("shell", "mine")
		s.mount(told(s, "outer", nil, nil, inner))
		user := told(s, "user", list{"shell"}, nil)
		user.Isolate = on("shell", "mine")
		s.mount(user)
		s.settle()
		s.take()
		s.must(s.Move(s.ids["outer"], on("shell", "sandbox")))
		s.settle()
		s.wantJournal()
		s.want("user", "active")
	})
	t.Run("into a realm whose key is taken", func(t *testing.T) {
		s := newStage(t)
		owner := told(s, "owner", nil, list{"shell"})
		owner.Isolate = on("shell", "sandbox")
		s.mount(owner)
		s.mount(told(s, "late", nil, list{"shell"}))
		s.mount(told(s, "user", list{"shell"}, nil))
		s.settle()
		s.take()
		s.must(s.Move(s.ids["late"], on("shell", "sandbox")))
		s.settle()
		s.wantJournal("user undone", "late undone")
		s.want("late", `pending: conflict: "shell" is provided by owner`)
	})
	t.Run("into a realm where it comes first", func(t *testing.T) {
		s := newStage(t)
		s.mount(told(s, "first", nil, list{"shell"}))
		second := told(s, "second", nil, list{"shell"})
		second.Isolate = on("shell", "sandbox")
		s.mount(second)
		user := told(s, "user", list{"shell"}, nil)
		user.Isolate = on("shell", "sandbox")
		s.mount(user)
		s.settle()
		s.take()
		s.must(s.Move(s.ids["first"], on("shell", "sandbox")))
		s.settle()
		s.wantJournal("user undone", "second undone", "user with first")
		s.want("second", `pending: conflict: "shell" is provided by first`)
	})
	t.Run("a private realm stays the same one over a reload", func(t *testing.T) {
		s := newStage(t)
		inner := told(s, "inner user", list{"shell"}, nil)
		outer := told(s, "outer", nil, list{"shell"}, inner)
		outer.Isolate = on("shell", "")
		id := s.mount(outer)
		s.settle()
		s.take()
		s.must(s.Move(id, on("shell", "")))
		s.settle()
		s.wantJournal()
		s.must(s.Replace(id, outer))
		s.settle()
		s.wantJournal("inner user undone", "outer undone", "outer", "inner user with outer")
	})
}

// TestRealmsAreQuiet: a change in one realm wakes nobody outside it.
func TestRealmsAreQuiet(t *testing.T) {
	s := newStage(t)
	for _, realm := range []string{"", "one", "two"} {
		for _, c := range []compose.Component{told(s, "shell "+realm, nil, list{"shell"}), told(s, "user "+realm, list{"shell"}, nil)} {
			if realm != "" {
				c.Isolate = on("shell", realm)
			}
			s.mount(c)
		}
	}
	s.settle()
	s.take()
	s.must(s.Switch(s.ids["shell one"], "off"))
	s.settle()
	s.must(s.Switch(s.ids["shell one"], ""))
	s.settle()
	s.wantJournal("user one undone", "shell one undone", "shell one", "user one with shell one")
}

// TestHostComponents: a host component is an ordinary mount; the one of the last class
// gives way to a plugin.
func TestHostComponents(t *testing.T) {
	s := newStage(t)
	host := func(class bus.Class, name string) compose.Component {
		c := told(s, name, nil, list{name})
		c.Position = bus.At(class, 0, name)
		return c
	}
	memory := host(bus.ClassLast, "memory")
	s.mount(host(bus.ClassHost, "tools"))
	s.mount(memory)
	plugin := told(s, "plugin", list{"tools"}, list{"memory"})
	plugin.Position = bus.At(bus.ClassWorkspace, 0, "plugin")
	s.mount(plugin)
	s.settle()
	s.want("plugin", "active")
	s.want("memory", `pending: conflict: "memory" is provided by plugin`)
	s.must(s.Unmount(s.ids["plugin"]))
	s.settle()
	s.want("memory", "active")
	rival := told(s, "rival", nil, list{"tools"})
	rival.Position = bus.At(bus.ClassWorkspace, 0, "rival")
	s.mount(rival)
	s.settle()
	s.want("rival", `pending: conflict: "tools" is provided by tools`)
}
