package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"starling/tools"

	"starling/bus/spec"

	"go.starlark.net/starlark"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/script"
	"starling/script/discover"
	"starling/script/journal"
	"starling/trust"
)

// Plugin is one mounted file: the instance and what its builtins act on.
type Plugin struct {
	host    *Binder
	prog    *script.Program
	inst    *script.Instance
	words   trust.Words
	scope   *compose.Scope          // while apply runs, else nil; guarded by the call lock
	applied []func(context.Context) // what apply announced; guarded so too
	view    *compose.View
	owner   bus.Owner
	tasks   *tasks
	open    openCalls
	asks    asks
	locked  fileLocks
	panels  panels
	config  map[string]any
	own     map[string]any // registries of private realms, by key

	once sync.Map // what was reported once, by key
}

// Settings are what configuration says about a plugin.
type Settings struct {
	Config map[string]any
	// Realms by service key; "" is a private one.
	Realms map[string]string
}

// Component makes the component of a loaded file.
func (b *Binder) Component(prog *script.Program, file discover.File, set Settings) compose.Component {
	d := prog.Decl()
	c := compose.Component{
		Name: file.Name, Origin: string(file.Origin), Position: file.Position(),
		Inject: waitsFor(d.Inject, set.Realms), Provides: d.Provides, Emits: d.Emits, Uses: d.Uses, Isolate: set.Realms,
		Off: file.Off,
	}
	words, err := trust.ParseWords(d.Uses)
	if err != nil {
		c.Broken = fmt.Errorf("%s: uses: %w", file.Path, err)
		return c
	}
	var current atomic.Pointer[Plugin]
	c.Drain = func(ctx context.Context) error {
		if p := current.Load(); p != nil {
			return p.drain(ctx)
		}
		return nil
	}
	c.Check = func() error { return checkConfig(d.ConfigSchema, set.Config) }
	c.Apply = func(s *compose.Scope) error {
		p := &Plugin{host: b, prog: prog, words: words, view: s.View(), owner: s.Owner(), tasks: newTasks(), config: set.Config, own: map[string]any{}}
		p.inst = p.instance()
		current.Store(p)
		for key, realm := range set.Realms {
			if realm == "" && registryKey(key) {
				p.own[key] = spec.Child(b.Bus.Store(), key, "private to "+file.Name)
			}
		}
		return p.apply(s)
	}
	return c
}

// drain waits until no tool or command call of the plugin is open; when ctx ends
// first they are cancelled.
func (p *Plugin) drain(ctx context.Context) error {
	err := p.inst.Idle(ctx, script.Tool, script.Command)
	if err == nil {
		err = p.open.wait(ctx)
	}
	if err != nil {
		p.inst.Cancel(script.Tool, script.Command)
		p.open.cancel()
	}
	return err
}

// checkConfig holds the settings of a plugin against its config_schema.
func checkConfig(schema any, config map[string]any) error {
	if schema == nil {
		return nil
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		return fmt.Errorf("config_schema: %w", err)
	}
	if config == nil {
		config = map[string]any{}
	}
	given, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := tools.CheckJSON(raw, given); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	return nil
}

// waitsFor leaves out the host's registries the plugin has to itself: nobody can
// provide them.
func waitsFor(inject []string, realms map[string]string) []string {
	var keys []string
	for _, key := range inject {
		if realm, isolated := realms[key]; !isolated || realm != "" || !registryKey(key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func registryKey(key string) bool { return slices.Contains(spec.RegistryKeys, key) }

// instance makes the life of the file for one mount; nothing of it runs yet.
func (p *Plugin) instance() *script.Instance {
	return p.prog.New(script.Env{
		Predeclared: p.predeclared(),
		Print:       func(text string) { p.host.Log(p.owner.Name, text) },
		Limits:      p.prog.Decl().Limits,
		Locks:       p.host.locks,
		Tick:        p.host.guards.tick,
		Watch:       p.host.guards.watch,
		OnStuck:     func(reason *script.AbandonedError) { p.host.Stuck(p, reason) },
	})
}

// apply runs the file and its apply function; everything they register goes
// through s.
func (p *Plugin) apply(s *compose.Scope) error {
	// The first undo to be recorded is the last to run: the instance answers calls
	// until everything else is gone.
	s.Defer("instance", func(context.Context) error {
		p.inst.Close()
		return nil
	})
	s.Defer("locks", p.locked.close)
	ctx, entry := p.journalled(p.inChain(s.Context(), "apply"), "apply")
	defer entry.Leave()
	if err := p.inst.Load(ctx); err != nil {
		return err
	}
	// Recorded last, so it is the first to go: nothing of an unloading plugin runs
	// beside its teardowns.
	defer s.Defer("tasks", p.tasks.close)
	p.scope = s
	err := p.inst.Apply(ctx, p.context())
	p.scope = nil
	if err == nil {
		for _, f := range p.applied {
			f(ctx)
		}
	}
	p.applied = nil
	return err
}

// after runs f when the call has released the plugin. What apply announces waits
// for its success: a failed one leaves nothing, not even a word.
func (p *Plugin) after(c *call, f func(context.Context)) {
	if c.Info().Kind == script.Apply {
		p.applied = append(p.applied, f)
		return
	}
	c.After(f)
}

// Name of the plugin.
func (p *Plugin) Name() string { return p.owner.Name }

// UID of its mount.
func (p *Plugin) UID() uint64 { return p.owner.UID }

// call runs a callback of the plugin.
func (p *Plugin) call(ctx context.Context, kind script.Kind, what string, fn starlark.Callable, args ...starlark.Value) (starlark.Value, error) {
	return p.run(ctx, script.CallInfo{Kind: kind, What: what}, fn, args, nil)
}

// run is every call into the plugin: the journal knows of it, in case the process
// does not outlive it.
func (p *Plugin) run(ctx context.Context, info script.CallInfo, fn starlark.Callable, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if p.host.Busy != nil {
		p.host.Busy(int(p.host.atWork.Add(1)))
		defer p.host.atWork.Add(-1)
	}
	what := info.String()
	ctx, entry := p.journalled(p.inChain(ctx, what), what)
	defer entry.Leave()
	return p.inst.Call(p.recorded(ctx, what), info, fn, args, kwargs)
}

// entered carries the journal's entry to the calls that come out of this one.
type entered struct {
	context.Context
	entry journal.Entry
}

type journalKey struct{}

func (c *entered) Value(key any) any {
	if key == (journalKey{}) {
		return &c.entry
	}
	return c.Context.Value(key)
}

// journalled notes a call, to be left when it ended. The per-token event is left
// out: its cost is on every token.
func (p *Plugin) journalled(ctx context.Context, what string) (context.Context, journal.Entry) {
	if p.host.Journal == nil || what == event.Stream.Name() {
		return ctx, journal.Entry{}
	}
	var outer journal.Entry
	if e, ok := ctx.Value(journalKey{}).(*journal.Entry); ok {
		outer = *e
	}
	c := &entered{ctx, p.host.Journal.EnterFrom(outer, p.Name(), what)}
	return c, c.entry
}

// warn shows a fault of the plugin to the person.
func (p *Plugin) warn(ctx context.Context, format string, args ...any) {
	p.host.Notify(ctx, p.owner.Name, fmt.Sprintf(format, args...), true)
}

// warnOnce is warn for a fault that would repeat; key tells faults apart.
func (p *Plugin) warnOnce(ctx context.Context, key, format string, args ...any) {
	if _, said := p.once.LoadOrStore(key, true); !said {
		p.warn(ctx, format, args...)
	}
}

// injects tells whether the file declares key, required or optional.
func (p *Plugin) injects(key string) bool {
	for _, k := range p.prog.Decl().Inject {
		if k == key || k == key+"?" {
			return true
		}
	}
	return false
}
