package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"starling/agent/prompt"
	"starling/bus"
	"starling/bus/compose"
	"starling/bus/spec"
	"starling/tools/dialog"
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

// host is the host with its services and built-in tools.
func (e *Engine) host() compose.Component {
	c := hostComponent()
	c.Apply = func(s *compose.Scope) error {
		for key, registry := range e.registry.ByKey() {
			if err := s.Provide(key, registry); err != nil {
				return err
			}
		}
		if err := s.Provide("processes", processes{e.shell}); err != nil {
			return err
		}
		for _, t := range e.builtin() {
			compose.Register(s, e.registry.Tools.Slot(), "tool "+t.Name, t)
		}
		return nil
	}
	return c
}

// builtin are the built-in tools.
func (e *Engine) builtin() []spec.Tool {
	o := e.options
	files := fs.NewWith(e.jail, fs.Options{
		Folders: e.folders, Changed: e.fileChanged, Home: e.real.Home, StateHome: e.realHome, Env: e.shell.Env(),
		Blind: func() bool { return !e.models.sees(e.agent.Model()) },
	})
	e.disk = files
	e.files.look = func(ctx context.Context) ([]string, error) { return files.Paths(ctx, fs.MaxTree) }
	all := append([]spec.Tool{e.watched(e.bash.Tool(), files)}, files.All()...)
	all = append(all, e.todos.Tool(), dialog.QuestionTool(e.asker()))
	if o.Host != "terminal" {
		// Saying is not doing: nobody looks on, so the end is an act.
		all = append(all, dialog.FinishTool())
	}
	if skills := e.texts.Skills; len(skills) > 0 {
		all = append(all, prompt.SkillTool(func() []prompt.Skill { return skills }))
	}
	return all
}

// openFolders opens the folders of --add-dir.
func openFolders(o Options) ([]*trust.Jail, error) {
	var folders []*trust.Jail
	for _, dir := range o.AddDirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Cwd, dir)
		}
		jail, err := trust.NewJail(dir)
		if err != nil {
			for _, open := range folders {
				_ = open.Close() // nothing was done in it
			}
			return nil, fmt.Errorf("--add-dir: %w", err)
		}
		folders = append(folders, jail)
	}
	return folders, nil
}

func dirsOf(folders []*trust.Jail) []string {
	var dirs []string
	for _, f := range folders {
		dirs = append(dirs, f.Dir())
	}
	return dirs
}

// spillFolder is a name nobody can guess, for a folder that is made when needed. The
// generator of the runtime is seeded by the system; crypto/rand would set up one more.
func spillFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("starling-%016x%016x", rand.Uint64(), rand.Uint64()))
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
