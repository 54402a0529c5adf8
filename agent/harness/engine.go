package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"starling/agent"
	"starling/agent/prompt"
	"starling/agent/provider"
	"starling/bus"
	"starling/bus/chat"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/script"
	"starling/script/bind"
	"starling/script/journal"
	"starling/tools"
	"starling/tools/bash"
	"starling/tools/dialog"
	"starling/tools/fs"
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
	folders  []*trust.Jail // of Options.AddDirs
	shell    *shell.Engine
	spill    string // folder for output that does not fit; made when needed
	// real are workspace and home of the person with links resolved, realHome is that of
	// starling: a start asks often, and each answer is a look at every part of the path.
	real     trust.Folders
	realHome string
	bash     *bash.Bash
	todos    dialog.Todos
	agent    *agent.Agent
	notices  *notices
	// announcer tells what happens beside a run, in order.
	announcer   *announcer
	questions   *questions
	permissions *permissions
	exits       bus.Port[event.ProcessExitEvent, bus.None]
	changes     bus.Port[event.FileChangeEvent, bus.None]
	logs        *logs
	binder      *bind.Binder
	journal     *journal.Journal // nil without plugins or a home
	system      bus.Port[event.SystemPromptEvent, event.SystemPromptAnswer]

	source   *source
	live     live
	troubles troubles
	watch    *watching
	runs     atomic.Int64 // that are alive
	models   *models
	record   *record // nil until the agent is made
	texts    prompt.Texts
	composed atomic.Pointer[string] // the system prompt as it was composed last
	// greetings are lines for the person before the first prompt.
	greetings []string
	queue     promptQueue
	// stage is held while a run goes, or a session takes the place of another.
	stage      sync.Mutex
	sitting    sitting // of a terminal
	completing completions
	drawing    renders
	asks       trustAsks
	disk       *fs.Files // of the tools, of what is attached and of files
	files      fileList
	current    atomic.Pointer[composition]
	sentries   atomic.Pointer[map[compose.ID]sentry]
	absent     atomic.Pointer[[]absence]
	closed     atomic.Pointer[map[string]*bus.Refusal]
	bill       atomic.Pointer[bill] // nil before any session was gone on with
}

// New starts an engine: it mounts the host, the components and every plugin that
// counts, and waits until they settled. Close ends it. Headless, it is an error
// when a fail_closed plugin is not there.
func New(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	store, storeErr := trust.Open(o.Home, o.Now)
	src := &source{options: o, store: store, edits: setOf(o.EditUnits)}
	found, err := src.read()
	if err != nil {
		return nil, err
	}
	if o.TrustDigest != "" && found.digest != o.TrustDigest {
		return nil, fmt.Errorf("--trust-digest: the code and configuration of this workspace have the digest %s, not %s", found.digest, o.TrustDigest)
	}
	jail, err := trust.NewJail(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	folders, err := openFolders(o)
	if err != nil {
		return nil, errors.Join(err, jail.Close())
	}
	log, deaths, journalErr := openJournal(o, jail, found)
	found.quarantine(deaths)
	e := newEngine(o, jail, folders, src, log)
	e.warn(ctx, storeErr, journalErr)
	err = e.prepare(ctx)
	if !errors.Is(err, e.models.faults) { // else it is what ends the start
		e.warn(ctx, e.models.faults)
	}
	if err == nil {
		err = e.start(ctx, found)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
	}
	e.startedWith(found)
	e.tellAbout(ctx, found)
	e.watch = newWatching(e)
	if o.Host == "terminal" {
		e.greet(ctx) // somebody looks on already
		e.beginTicks()
	}
	return e, nil
}

func newEngine(o Options, jail *trust.Jail, folders []*trust.Jail, src *source, log *journal.Journal) *Engine {
	store := bus.NewStore()
	e := &Engine{options: o, bus: bus.New(store), registry: spec.NewRegistries(store), jail: jail, folders: folders, source: src, journal: log, spill: spillFolder()}
	e.live = live{mounted: map[string]*mounted{}, held: map[string]trust.Digest{}, granted: map[string]map[trust.Digest]bool{}, refused: map[string]trust.Digest{}, edits: map[string]bool{}, realms: map[string]bool{}}
	e.real = trust.Folders{Workspace: jail.Dir(), Home: trust.Resolved(o.UserHome)}
	e.realHome = trust.Resolved(o.Home)
	e.tools = tools.New(e.registry.Tools)
	e.models = newModels(o, agent.NewPurse(agent.Caps{Cost: o.MaxCost}))
	e.shell = shell.New(shell.Options{
		Dir: o.Workspace, Outside: o.Workspace, Env: o.Environ, Now: o.Now, Spill: e.spill, Ended: e.exited, Watchdog: true,
		Keep: func(name string) bool { return !e.models.isKey(name) },
	})
	e.bash = bash.New(bash.Options{
		Engine: e.shell, Workspace: jail.Dir(), Extra: dirsOf(folders), Home: e.real.Home, StateHome: e.realHome,
	})
	e.models.runIn(e.shell)
	e.announcer = newAnnouncer()
	e.notices = newNotices(e.bus, o.Notify, e.announcer)
	e.questions = newQuestions(e.bus, o.Host == "terminal")
	e.exits, e.changes = bus.PortOf(e.bus, event.ProcessExit), bus.PortOf(e.bus, event.FileChange)
	e.logs = newLogs(o.Home, o.Now, e.models.mask)
	e.system = bus.PortOf(e.bus, event.SystemPrompt)
	e.runtime = compose.New(compose.Options{Store: store, Settled: e.count, Report: func(by bus.Owner, err error) {
		e.say(context.Background(), view.Notice{From: by.Name, Text: err.Error(), Warn: true})
	}})
	e.bus.Report = e.report
	e.bus.Barrier = e.runtime.Barrier
	e.bus.Gate = e.gate
	e.binder = bind.New(bind.Host{
		Bus: e.bus, Name: o.Host, Cwd: o.Cwd, Workspace: o.Workspace, Home: o.Home, UserHome: o.UserHome,
		Real: e.real, RealHome: e.realHome,
		Now: o.Now, LookupEnv: o.LookupEnv, IsKey: e.models.isKey, Shell: e.shell, Journal: log, Log: e.logs.line,
		Models: e.models, Prompt: e.enqueue, Info: e.info(), Record: e.keep,
		Notify: func(ctx context.Context, from, text string, warn bool) {
			e.notices.plugin(ctx, view.Notice{From: from, Text: text, Warn: warn}, time.Now())
		},
		CurrentRun: func() event.Run { return e.agent.CurrentRun() }, AnswerQuestion: e.answerQuestion, Busy: o.Busy,
		Stuck: func(p *bind.Plugin, reason error) {
			// Only an engine that is closing refuses, and then it goes anyway.
			_ = e.runtime.Fail(compose.ID(p.UID()), "stuck: "+reason.Error())
		},
	})
	return e
}

// prepare makes the agent: its model, the texts it is told and the conversation
// it goes on with.
func (e *Engine) prepare(ctx context.Context) error {
	o := e.options
	b, err := e.models.get(o.Model)
	if err != nil && o.Model == "" {
		return err
	}
	if err != nil {
		return fmt.Errorf("--model: %w", err)
	}
	level, note, err := b.think(o.Think)
	if err != nil {
		return fmt.Errorf("--think: %w", err)
	}
	e.greetings = append(e.greetings, b.note, note, e.uncapped(b))
	e.models.choose(choice{b, o.Think})
	if !o.NoContext {
		e.texts = prompt.Gather(prompt.Places{Home: o.Home, UserHome: o.UserHome, Workspace: o.Workspace, Cwd: o.Cwd})
		e.greetings = append(append(e.greetings, e.texts.Notices...), e.texts.Listed())
	}
	if e.permissions, err = newPermissions(e, o); err != nil {
		return err
	}
	record, messages, err := newRecord(e)
	if err != nil {
		return err
	}
	e.record = record
	e.todos.Restore(messages)
	e.bash.Restore(messages)
	e.agent = agent.New(agent.Options{
		Bus: e.bus, Tools: e.tools, Provider: b.provider, Model: b.name, Thinking: level, Models: e.route,
		MaxTurns: o.MaxTurns, Purse: e.models.purse, System: e.systemPrompt, Settle: e.runtime.Settle,
		Now: o.Now, Notice: e.notice, Tick: o.Host == "headless", Transcript: messages, Appended: record.append,
		Permit: e.permissions.permit, Mask: e.models.own.Opaque, Aside: (&aside{dir: e.spill}).keep,
		Present: e.present,
	})
	return nil
}

// route makes the model a plugin named for a request.
func (e *Engine) route(_ context.Context, name string) (provider.Provider, string, error) {
	b, err := e.models.byPlugin(name)
	return b.provider, b.name, err
}

// start brings up the host, the components and the plugins, and waits for them.
func (e *Engine) start(ctx context.Context, found composition) error {
	if e.options.Host == "terminal" {
		e.sit()
	}
	components := []compose.Component{e.host(), e.turns()}
	for i, c := range e.options.Components {
		c.Position = bus.At(bus.ClassEmbedded, i, c.Name)
		components = append(components, c)
	}
	if e.options.Component != nil {
		components = append(components, e.options.Component(e.bus))
	}
	for _, c := range components {
		if _, err := e.runtime.Mount(c); err != nil {
			return err
		}
	}
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	if err := e.adopt(found); err != nil {
		return err
	}
	for _, pl := range found.plugins {
		id, err := e.runtime.Mount(e.component(pl))
		if err != nil {
			return err
		}
		e.live.mounted[key(pl.file)] = &mounted{id: id, plugin: pl}
	}
	if err := e.settled(ctx); err != nil {
		return err
	}
	if e.options.Host == "headless" {
		return e.missing()
	}
	return nil
}

func (e *Engine) component(pl plugin) compose.Component {
	return pl.component(e.binder, e.current.Load().settings.Config(pl.file.Name))
}

// tellAbout names the plugins that are not running, and why.
func (e *Engine) tellAbout(ctx context.Context, found composition) {
	for _, n := range found.notices {
		e.notice(ctx, n)
	}
	for _, err := range found.faults {
		e.say(ctx, view.Notice{Text: err.Error(), Warn: true})
	}
	for _, row := range e.runtime.Roster().Rows {
		if row.State != compose.Active && row.State != compose.Inactive {
			e.say(ctx, view.Notice{Text: notRunning(row), Warn: true})
		}
	}
	if found.skipped > 0 {
		e.notice(ctx, trust.SkippedText(found.skipped, e.options.Host == "terminal"))
	}
	var names []string
	for _, t := range e.tools.List() {
		names = append(names, t.Name)
	}
	for _, text := range e.permissions.rules.Strangers(names) {
		e.say(ctx, view.Notice{Text: text, Warn: true})
	}
}

// report tells the person about a failed listener.
func (e *Engine) report(ctx context.Context, f bus.Failure) {
	text := fmt.Sprintf("%s: %v", f.Topic, f.Err)
	switch {
	case f.Closed:
		text += " (refused)"
	case f.Off:
		text += fmt.Sprintf(" (switched off after %d failures in a row, until the plugin is loaded again)", bus.StrikeLimit)
		e.troubles.switchedOff(f, e.runtime.Roster().Rows)
	}
	e.say(ctx, view.Notice{From: f.Owner.Name, Text: text, Warn: true})
	var place *script.Error
	if errors.As(f.Err, &place) && place.Backtrace != "" {
		e.logs.line(f.Owner.Name, f.Topic+": "+place.Error()+"\n"+place.Backtrace)
	}
}

// warn tells of errors; nil is none.
func (e *Engine) warn(ctx context.Context, errs ...error) {
	for _, err := range errs {
		if err != nil {
			e.say(ctx, view.Notice{Text: err.Error(), Warn: true})
		}
	}
}

func (e *Engine) say(ctx context.Context, n view.Notice) { e.notices.say(ctx, n) }

func (e *Engine) notice(ctx context.Context, text string) {
	e.say(ctx, view.Notice{Text: text})
}

// systemPrompt composes the system prompt: base, instruction files, skills, what
// was added, and what plugins make of it.
func (e *Engine) systemPrompt(ctx context.Context) string {
	ev := event.SystemPromptEvent{Text: e.plainSystem()}
	e.system.Send(ctx, &ev)
	e.composed.Store(&ev.Text)
	return ev.Text
}

// plainSystem is the system prompt before any plugin changes it.
func (e *Engine) plainSystem() string {
	base := prompt.Base(e.options.Workspace)
	if e.options.System != "" {
		base = e.options.System
	}
	return prompt.Compose(base, e.texts.Instructions, e.texts.Skills, e.options.AppendSystem)
}

// Attachable says what Prompt and Steer would say against a file.
func (e *Engine) Attachable(ctx context.Context, file string) error {
	_, err := e.attach(ctx, []string{file})
	return err
}

// Prompt runs one prompt to its outcome, and then what plugins queued meanwhile. The
// model gets the files with it, as Attach reads them; one that cannot be read is an
// outcome "error" before anything ran.
func (e *Engine) Prompt(ctx context.Context, text string, files ...string) view.Outcome {
	if !e.stage.TryLock() {
		return e.outcome(agent.Outcome{Stop: agent.StopError, StopWhy: agent.ErrRunning.Error(), Err: agent.ErrRunning})
	}
	defer e.stage.Unlock()
	attached, err := e.attach(ctx, files)
	if err != nil {
		o := e.outcome(agent.Outcome{Stop: agent.StopError, StopWhy: err.Error(), Err: err})
		o.Untaken = true
		return o
	}
	e.queue.begun(text)
	e.greet(ctx)
	e.runs.Add(1)
	e.record.begin(ctx)
	o := e.agent.Run(ctx, text, attached...)
	for n := 0; o.Stop == agent.StopEnd; n++ {
		next, ok := e.queue.take(n)
		if !ok {
			break
		}
		e.say(ctx, view.Notice{From: next.plugin, Text: "prompt: " + next.text})
		o = after(o, e.agent.Run(ctx, next.text))
	}
	for _, dropped := range e.queue.drop() {
		e.say(ctx, view.Notice{From: dropped.plugin, Text: "its prompt was not run: " + dropped.text, Warn: true})
	}
	e.between(ctx)
	e.runs.Add(-1)
	for _, err := range []error{e.binder.Flush(), e.record.flush()} {
		if err != nil {
			e.say(ctx, view.Notice{Text: err.Error(), Warn: true})
		}
	}
	return e.outcome(o)
}

// after is the outcome of two runs of one prompt: the second says how it ended,
// both say what was answered and what it cost.
func after(first, second agent.Outcome) agent.Outcome {
	if first.Text != "" && second.Text != "" {
		second.Text = first.Text + "\n\n" + second.Text
	} else if second.Text == "" {
		second.Text = first.Text
	}
	second.Turns += first.Turns
	second.Denied += first.Denied
	second.Usage = first.Usage.Add(second.Usage)
	second.Took += first.Took
	return second
}

// SessionID is what Options.Resume takes; empty when nothing is recorded.
func (e *Engine) SessionID() string {
	e.record.mu.Lock()
	s := e.record.session
	e.record.mu.Unlock()
	if s == nil || !s.OnDisk() {
		return ""
	}
	return s.ID()
}

func (e *Engine) outcome(o agent.Outcome) view.Outcome {
	v := view.Outcome{
		Stop: string(o.Stop), Why: o.StopWhy, Text: o.Text, Turns: o.Turns, Usage: o.Usage, Denied: o.Denied,
	}
	if len(e.agent.Transcript()) > 0 { // of a first prompt that was rejected there is no file
		v.Session = e.SessionID()
	}
	if err := e.record.unsaved(); err != nil {
		v.Unsaved = err.Error()
	}
	return v
}

// greet tells once what the first prompt is answered with.
func (e *Engine) greet(ctx context.Context) {
	for _, line := range e.greetings {
		if line != "" {
			e.notice(ctx, line)
		}
	}
	e.greetings = nil
}

// Transcript returns the conversation so far; it is read-only.
func (e *Engine) Transcript() []chat.Message { return e.agent.Transcript() }

// Plugins returns the roster without the host's own components.
func (e *Engine) Plugins() []view.Plugin {
	var rows []view.Plugin
	overruled := e.overruled()
	for _, row := range e.runtime.Roster().Rows {
		if row.Origin != "host" {
			v := rowOf(row)
			v.Cost = e.models.costOf(row.Name)
			v.Notes = append(v.Notes, e.troubles.of(row, e.sitting.panels)...)
			v.Notes = append(v.Notes, overruledOf(row.ID, overruled)...)
			rows = append(rows, v)
		}
	}
	return append(rows, e.troubles.out()...)
}

// Close takes everything down, dependents first. Undos that fail are told as
// notices while it goes on; the error is about everything else.
func (e *Engine) Close(ctx context.Context) error {
	if e.watch != nil {
		e.watch.close()
	}
	if e.record != nil {
		e.record.end(ctx, "end")
	}
	errs := []error{e.rise(ctx), e.shut(ctx), e.shell.Close(ctx)}
	e.files.close(ctx)
	e.notices.close()
	e.announcer.close()
	if e.record != nil {
		errs = append(errs, e.record.close())
	}
	errs = append(errs, e.binder.Flush(), e.binder.Close(), e.journal.Close(), e.logs.close(), e.jail.Close())
	for _, folder := range e.folders {
		errs = append(errs, folder.Close())
	}
	errs = append(errs, os.RemoveAll(e.spill))
	return errors.Join(errs...)
}

// shut ends the composition; what undos reported was said already.
func (e *Engine) shut(ctx context.Context) error {
	err := e.runtime.Shutdown(ctx)
	if ctx.Err() != nil || errors.Is(err, compose.ErrInside) {
		return err
	}
	return nil
}
