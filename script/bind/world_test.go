package bind_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
	"starling/tools"
	"starling/tools/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a host for plugins without an agent.
type world struct {
	t        *testing.T
	dir      string
	store    *bus.Store
	bus      *bus.Bus
	registry *spec.Registries
	tools    *tools.Registry
	runtime  *compose.Runtime
	binder   *bind.Binder
	shell    *shell.Engine
	home     string
	config   map[string]map[string]any

	mu      sync.Mutex
	notices []string
	ids     map[string]compose.ID
	current event.Run // what the host says goes now
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), store: bus.NewStore(), ids: map[string]compose.ID{}}
	w.bus = bus.New(w.store)
	w.registry = spec.NewRegistries(w.store)
	w.tools = tools.New(w.registry.Tools)
	w.runtime = compose.New(compose.Options{Store: w.store, Report: func(by bus.Owner, err error) { w.note(by.Name + ": " + err.Error()) }})
	w.bus.Report = func(_ context.Context, f bus.Failure) {
		w.note(fmt.Sprintf("%s: %s: %v closed=%v off=%v", f.Owner.Name, f.Topic, f.Err, f.Closed, f.Off))
	}
	w.shell = shell.New(shell.Options{Dir: w.dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}, Outside: w.dir})
	w.home = t.TempDir()
	w.binder = bind.New(bind.Host{
		Bus: w.bus, Name: "headless", Cwd: w.dir, Workspace: w.dir, Home: w.home, Shell: w.shell,
		LookupEnv: func(name string) (string, bool) {
			v, ok := map[string]string{"CI_JOB": "7", "MY_API_KEY": "secret"}[name]
			return v, ok
		},
		Notify:     func(_ context.Context, from, text string, _ bool) { w.note(from + ": " + text) },
		Log:        func(from, text string) { w.note("log " + from + ": " + text) },
		Now:        func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		CurrentRun: func() event.Run { return w.current },
		Stuck:      func(p *bind.Plugin, reason error) { _ = w.runtime.Fail(compose.ID(p.UID()), "stuck: "+reason.Error()) },
	})
	w.add(compose.Component{
		Name: "host", Origin: "host", Position: bus.At(bus.ClassHost, 0, "host"), Provides: spec.RegistryKeys,
		Apply: func(s *compose.Scope) error {
			for key, registry := range w.registry.ByKey() {
				if err := s.Provide(key, registry); err != nil {
					return err
				}
			}
			return nil
		},
	})
	t.Cleanup(func() {
		if err := w.runtime.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if n := w.store.Size(); n != 0 {
			t.Errorf("%d entries are left in the store after shutdown", n)
		}
		if err := w.shell.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := w.binder.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, strings.ReplaceAll(text, w.dir+"/", ""))
}

func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.notices, "\n")
}

func (w *world) add(c compose.Component) {
	w.t.Helper()
	id, err := w.runtime.Mount(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ids[c.Name] = id
}

// component parses and binds a plugin from its text.
func (w *world) component(name, src string) compose.Component {
	w.t.Helper()
	file := discover.File{Name: name, Path: name + ".star", Origin: discover.Flag}
	prog, err := script.Parse(name, file.Path, []byte(src))
	if err == nil {
		err = bind.Compile(prog)
	}
	if err != nil {
		return compose.Component{Name: name, Origin: "flag", Position: file.Position(), Broken: err}
	}
	return w.binder.Component(prog, file, bind.Settings{Config: w.config[name], Realms: prog.Decl().Isolate})
}

// load mounts plugins from texts and waits.
func (w *world) load(sources map[string]string) {
	w.t.Helper()
	names := make([]string, 0, len(sources))
	for name := range sources {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		w.add(w.component(name, sources[name]))
	}
	w.settle()
}

func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.runtime.Settle(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// state is "active", or the state with its reason.
func (w *world) state(name string) string {
	row := w.runtime.Roster().Find(name)
	if row == nil {
		return "absent"
	}
	if row.Reason == "" {
		return string(row.State)
	}
	return string(row.State) + ": " + row.Reason
}

func (w *world) active(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if s := w.state(name); s != "active" {
			w.t.Fatalf("plugin %s is %s\n%s", name, s, w.said())
		}
	}
}

// call sends a tool call through agent/tool-call and returns the event.
func (w *world) call(tool, arguments string) *event.ToolCallEvent {
	e := &event.ToolCallEvent{ID: "1", Name: tool, Arguments: []byte(arguments), ArgumentsJSON: arguments, Known: true, PathsKnown: true, Origin: "main"}
	bus.PortOf(w.bus, event.ToolCall).Send(context.Background(), e)
	return e
}

// run executes a registered tool.
func (w *world) run(tool, arguments string) (spec.ToolResult, error) {
	w.t.Helper()
	t, _, ok := w.tools.Lookup(tool)
	if !ok {
		w.t.Fatalf("there is no tool %s\n%s", tool, w.said())
	}
	return t.Execute(context.Background(), spec.ToolCall{ID: "1", Name: tool, Arguments: []byte(arguments), Progress: func(string) {}})
}

func (w *world) write(name, content string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// models, info and prompts give the host more to lend; before the first load.
func (w *world) models(m bind.Models)                      { w.binder.Models = m }
func (w *world) info(i bind.Info)                          { w.binder.Info = i }
func (w *world) prompts(f func(plugin, text string) error) { w.binder.Prompt = f }

func (w *world) sendRunEnd() {
	bus.PortOf(w.bus, event.RunEnd).Send(context.Background(), &event.RunEndEvent{Stop: "end"})
}
