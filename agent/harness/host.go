package harness

import (
	"slices"

	"starling/agent/prompt"
	"starling/bus"
	"starling/bus/compose"
	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

// hostComponent provides the registries as services, and nothing else: they
// exist in every mode.
func hostComponent() compose.Component {
	return compose.Component{
		Name: "host", Origin: "host", Position: bus.At(bus.ClassHost, 0, "host"),
		Provides: spec.HostKeys,
	}
}

// hostOf is the host with its services and built-in tools.
func hostOf(reg *spec.Registries, jail *trust.Jail, skills []prompt.Skill) compose.Component {
	c := hostComponent()
	c.Apply = func(s *compose.Scope) error {
		for key, registry := range reg.ByKey() {
			if err := s.Provide(key, registry); err != nil {
				return err
			}
		}
		files := fs.New(jail)
		builtin := files.All()
		if len(skills) > 0 {
			builtin = append(builtin, prompt.SkillTool(func() []prompt.Skill { return skills }))
		}
		for _, t := range builtin {
			compose.Register(s, reg.Tools.Slot(), "tool "+t.Name, t)
		}
		return nil
	}
	return c
}

// childRegistry provides a registry of the host in a shared realm, for the
// mounts in it.
func childRegistry(store *bus.Store, key, realm string) compose.Component {
	name := "host " + key + " in " + realm
	return compose.Component{
		Name: name, Origin: "host", Position: bus.At(bus.ClassHost, 1, name),
		Provides: []string{key}, Isolate: map[string]string{key: realm},
		Apply: func(s *compose.Scope) error { return s.Provide(key, spec.Child(store, key, realm)) },
	}
}

// isolateHost mounts a child registry for every shared realm some plugin sees a
// host key in. They stay until the engine ends: an empty one costs nothing.
func (e *Engine) isolateHost(c composition) error {
	for _, pl := range c.plugins {
		for key, realm := range pl.realms {
			name := key + "\x00" + realm
			if realm == "" || e.live.realms[name] || !slices.Contains(spec.RegistryKeys, key) {
				continue
			}
			if _, err := e.runtime.Mount(childRegistry(e.bus.Store(), key, realm)); err != nil {
				return err
			}
			e.live.realms[name] = true
		}
	}
	return nil
}
