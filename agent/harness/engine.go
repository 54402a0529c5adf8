package harness

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"starling/agent"
	"starling/agent/prompt"
	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/script/bind"
	"starling/tools"
	"starling/tools/shell"
	"starling/trust"
)

// Engine is a running starling: a composition, an agent and what joins them.
type Engine struct {
	options  Options
	bus      *bus.Bus
	runtime  *compose.Runtime
	registry *spec.Registries
	tools    *tools.Registry
	jail     *trust.Jail
	shell    *shell.Engine
	agent    *agent.Agent
	notices  *notices
	logs     *logs
	binder   *bind.Binder // nil until the plugins are mounted
	system   bus.Port[event.SystemPromptEvent, event.SystemPromptAnswer]
}

// New starts an engine: it mounts the host, the components and every plugin that
// counts, and waits until they settled. Close ends it.
func New(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	name, model, err := o.model()
	if err != nil {
		return nil, err
	}
	found, err := o.find()
	if err != nil {
		return nil, err
	}
	jail, err := trust.NewJail(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	e := newEngine(o, jail)
	e.agent = agent.New(agent.Options{
		Bus: e.bus, Tools: e.tools, Provider: model, Model: name, MaxTurns: o.MaxTurns,
		System: e.systemPrompt, Settle: e.runtime.Settle, Now: o.Now, Notice: e.notice,
	})
	if o.Model == "" {
		e.say(ctx, view.Notice{Text: "no model is configured: the built-in offline demo answers; --model script:FILE plays a scenario of your own"})
	}
	for _, n := range found.Notices {
		e.say(ctx, view.Notice{Text: n})
	}
	if err := e.mount(ctx, read(found.Files)); err != nil {
		return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
	}
	e.tellAbout(ctx)
	return e, nil
}

func newEngine(o Options, jail *trust.Jail) *Engine {
	store := bus.NewStore()
	e := &Engine{options: o, bus: bus.New(store), registry: spec.NewRegistries(store), jail: jail}
	e.tools = tools.New(e.registry.Tools)
	e.shell = shell.New(shell.Options{
		Dir: o.Workspace, Outside: o.Workspace, Env: o.Environ, Now: o.Now,
		Keep: func(name string) bool { return !trust.IsKeyVariable(name) },
	})
	e.notices = newNotices(e.bus, o.Notify)
	e.logs = newLogs(o.Home, o.Now)
	e.system = bus.PortOf(e.bus, event.SystemPrompt)
	e.runtime = compose.New(compose.Options{Store: store, Report: func(by bus.Owner, err error) {
		e.say(context.Background(), view.Notice{From: by.Name, Text: err.Error(), Warn: true})
	}})
	e.bus.Report = e.report
	e.bus.Barrier = e.runtime.Barrier
	return e
}

// mount brings up the host, the components and the plugins, and waits for them.
func (e *Engine) mount(ctx context.Context, plugins []plugin) error {
	emitted := announced(plugins)
	e.binder = bind.New(bind.Host{
		Bus: e.bus, Registries: e.registry,
		Name: e.options.Host, Cwd: e.options.Cwd, Workspace: e.options.Workspace, Home: e.options.Home, UserHome: e.options.UserHome,
		Now: e.options.Now, LookupEnv: e.options.LookupEnv, Shell: e.shell,
		Notify: func(ctx context.Context, from, text string, warn bool) {
			e.say(ctx, view.Notice{From: from, Text: text, Warn: warn})
		},
		Log:        e.logs.line,
		Announced:  func(name string) bool { return emitted[name] },
		CurrentRun: func() event.Run { return e.agent.CurrentRun() },
		Stuck: func(p *bind.Plugin, reason error) {
			// Only an engine that is closing refuses, and then it goes anyway.
			_ = e.runtime.Fail(compose.ID(p.UID()), "stuck: "+reason.Error())
		},
	})
	components := []compose.Component{hostOf(e.registry, e.jail)}
	for i, c := range e.options.Components {
		c.Position = bus.At(bus.ClassEmbedded, i, c.Name)
		components = append(components, c)
	}
	for _, pl := range plugins {
		components = append(components, pl.component(e.binder.Component))
	}
	if e.options.Component != nil {
		components = append(components, e.options.Component(e.bus))
	}
	for _, c := range components {
		if _, err := e.runtime.Mount(c); err != nil {
			return err
		}
	}
	return e.runtime.Settle(ctx)
}

// tellAbout names the plugins that are not running, and why.
func (e *Engine) tellAbout(ctx context.Context) {
	skipped := 0
	for _, row := range e.runtime.Roster().Rows {
		switch row.State {
		case compose.Active:
		case compose.Inactive:
			if row.Origin == "workspace" {
				skipped++
			}
		default:
			e.say(ctx, view.Notice{Text: fmt.Sprintf("plugin %s is %s: %s", row.Name, row.State, row.Reason), Warn: true})
		}
	}
	if skipped > 0 {
		e.say(ctx, view.Notice{Text: fmt.Sprintf("%d plugin %s of this workspace skipped: not approved (--list-plugins shows them; --plugin PATH runs one)", skipped, plural(skipped, "file", "files"))})
	}
	for _, c := range e.tools.Conflicts() {
		e.say(ctx, view.Notice{Text: c.String(), Warn: true})
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// report tells the person about a failed listener.
func (e *Engine) report(ctx context.Context, f bus.Failure) {
	text := fmt.Sprintf("%s: %v", f.Topic, f.Err)
	switch {
	case f.Closed:
		text += " (refused)"
	case f.Off:
		text += fmt.Sprintf(" (switched off after %d failures in a row, until the plugin is loaded again)", bus.StrikeLimit)
	}
	e.say(ctx, view.Notice{From: f.Owner.Name, Text: text, Warn: true})
}

func (e *Engine) say(ctx context.Context, n view.Notice) { e.notices.say(ctx, n) }

func (e *Engine) notice(ctx context.Context, text string) {
	e.say(ctx, view.Notice{Text: text})
}

// systemPrompt composes the system prompt through code/system-prompt.
func (e *Engine) systemPrompt(ctx context.Context) string {
	ev := event.SystemPromptEvent{Text: prompt.Base(e.options.Workspace)}
	e.system.Send(ctx, &ev)
	return ev.Text
}

// Prompt runs one prompt to its outcome.
func (e *Engine) Prompt(ctx context.Context, text string) view.Outcome {
	o := e.agent.Run(ctx, text)
	if err := e.binder.Flush(); err != nil {
		e.say(ctx, view.Notice{Text: err.Error(), Warn: true})
	}
	return view.Outcome{
		Stop: string(o.Stop), Why: o.StopWhy, Text: o.Text, Turns: o.Turns, Usage: o.Usage, Denied: o.Denied,
	}
}

// Command runs the command of that name.
func (e *Engine) Command(ctx context.Context, name, args string) (view.CommandReply, error) {
	if err := e.runtime.Settle(ctx); err != nil {
		return view.CommandReply{}, err
	}
	commands := e.commands()
	c, ok := commands[name]
	if !ok {
		reply := view.CommandReply{}
		for known := range commands {
			reply.Known = append(reply.Known, known)
		}
		sort.Strings(reply.Known)
		return reply, nil
	}
	r, err := c.Run(ctx, args)
	return view.CommandReply{Found: true, Lines: r.Lines}, err
}

// commands resolves the names: built-ins first, then plugins in static order; a
// second command of one name is name:2.
func (e *Engine) commands() map[string]spec.Command {
	names := map[string]spec.Command{}
	all := e.registry.Commands.All()
	for _, builtin := range []bool{true, false} {
		for _, entry := range all {
			c := entry.Value
			if c.Builtin != builtin {
				continue
			}
			name := c.Name
			for n := 2; ; n++ {
				if _, taken := names[name]; !taken {
					break
				}
				name = fmt.Sprintf("%s:%d", c.Name, n)
			}
			names[name] = c
		}
	}
	return names
}

// Plugins returns the roster without the host's own components.
func (e *Engine) Plugins() []view.Plugin {
	var rows []view.Plugin
	for _, row := range e.runtime.Roster().Rows {
		if row.Origin != "host" {
			rows = append(rows, rowOf(row))
		}
	}
	return rows
}

// Close takes everything down, dependents first. What failed on the way is
// joined in the error.
func (e *Engine) Close(ctx context.Context) error {
	errs := []error{e.runtime.Shutdown(ctx), e.shell.Close(ctx)}
	e.notices.close()
	if e.binder != nil {
		errs = append(errs, e.binder.Flush(), e.binder.Close())
	}
	return errors.Join(append(errs, e.logs.close(), e.jail.Close())...)
}
