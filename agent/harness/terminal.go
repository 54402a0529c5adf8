package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"starling/agent"
	"starling/agent/prompt"
	"starling/bus/chat"
	"starling/bus/compose"
	"starling/bus/view"
	"starling/surfaces"
	"starling/trust"
)

// Screen is what a terminal session hears of its engine. No function may block;
// each may be nil.
type Screen struct {
	// Panels are what a host of panels needs of it. The engine adds Surfaces and
	// Prompt, and where they are nil Report and Running.
	Panels surfaces.Options
	// Queued takes a text like a line a person typed while a run goes: of a plugin,
	// or with from "" of a command the person typed. nil keeps them in the engine,
	// which runs them behind the prompt that goes.
	Queued func(from, text string) error
	// Commands are the names of the screen's own commands: no other has one of them.
	Commands []string
	// Presented hears what a plugin draws of a call: a widget tree as JSON, as it
	// stands under "view" in the details of the result.
	Presented func(call string, tree json.RawMessage)
}

// sitting is what lives as long as a terminal session.
type sitting struct {
	panels *surfaces.Host
	end    context.CancelFunc
	done   chan struct{}
}

// sit makes the panels, before the plugins are there.
func (e *Engine) sit() {
	o := e.options.Screen.Panels
	o.Surfaces, o.Prompt = e.registry.Surfaces, e.enqueue
	if o.Running == nil {
		o.Running = func() bool { return e.runs.Load() > 0 }
	}
	if o.Report == nil {
		o.Report = func(plugin, text string) {
			e.say(context.Background(), view.Notice{From: plugin, Text: text, Warn: true})
		}
	}
	e.sitting.panels = surfaces.New(o)
	e.registry.Surfaces.Serve(e.sitting.panels.Service())
	var life context.Context
	life, e.sitting.end = context.WithCancel(context.Background())
	e.sitting.done = make(chan struct{})
	go func() {
		defer close(e.sitting.done)
		e.sitting.panels.Follow(life, e.bus.Store())
	}()
}

// beginTicks announces code/tick as long as the terminal lives.
func (e *Engine) beginTicks() {
	e.watch.while(func(life context.Context) { agent.Tick(life, e.bus) })
	e.watch.while(func(life context.Context) {
		agent.Beat(life, e.bus.Store(), e.sitting.panels.Ticks, e.sitting.panels.Tick)
	})
}

// rise takes the panels away; their plugins leave behind them.
func (e *Engine) rise(ctx context.Context) error {
	if e.sitting.panels == nil {
		return nil
	}
	e.registry.Surfaces.Serve(nil)
	e.sitting.end()
	<-e.sitting.done
	ctx, cancel := context.WithTimeout(ctx, panelsGrace)
	defer cancel()
	if err := e.sitting.panels.Close(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil // a view that does not end is ended with its plugin
}

// panelsGrace is how long the end waits for what panels do.
const panelsGrace = time.Second

// Panels are those of a terminal session; nil in every other host.
func (e *Engine) Panels() *surfaces.Host { return e.sitting.panels }

// Steer adds a message of the person to the run that goes; an error when none does, or a
// file cannot be read.
func (e *Engine) Steer(text string, files ...string) error {
	attached, err := e.attach(context.Background(), files)
	if err != nil {
		return err
	}
	return e.agent.Steer(text, attached...)
}

// attach reads files that the person sends along, whatever their rules and the
// workspace's say: they named them.
func (e *Engine) attach(ctx context.Context, files []string) ([]chat.Block, error) {
	var blocks []chat.Block
	for _, path := range files {
		b, err := e.disk.Attach(ctx, path)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b...)
	}
	return blocks, nil
}

// Note puts a message of the person into the conversation; the model reads it with
// the next request.
func (e *Engine) Note(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the note is empty")
	}
	e.record.begin(context.Background())
	return e.agent.Note(text)
}

// Status is cheap: it reads memory, and one small file for the branch.
func (e *Engine) Status() view.Status {
	b := e.models.current()
	s := view.Status{
		Workspace: filepath.Base(e.options.Workspace), Branch: branchOf(e.options.Workspace),
		Model: e.agent.Model(), Thinking: e.agent.Thinking(), Mode: e.Mode(),
		Tokens: e.agent.Tokens(e.systemText()), Context: b.model.ContextWindow,
		Cost: e.spent(), Session: e.SessionID(),
	}
	for _, row := range e.runtime.Roster().Rows {
		switch row.State {
		case compose.Active, compose.Inactive:
		case compose.Failed:
			s.Failed++
		default:
			s.Waiting++
		}
	}
	return s
}

// systemText is the system prompt as it was composed last; before the first run, as
// it would be without plugins.
func (e *Engine) systemText() string {
	if text := e.composed.Load(); text != nil {
		return *text
	}
	return e.plainSystem()
}

// headLimit is the most that is read of a file that names a branch, in bytes.
const headLimit = 4 << 10

// branchOf is the branch that is checked out in a folder, the beginning of the
// commit where none is, "" where git keeps nothing.
func branchOf(dir string) string {
	git := filepath.Join(dir, ".git")
	if pointer, ok := strings.CutPrefix(smallFile(git), "gitdir:"); ok { // a linked work tree
		if git = strings.TrimSpace(pointer); !filepath.IsAbs(git) {
			git = filepath.Join(dir, git)
		}
	}
	head := strings.TrimSpace(smallFile(filepath.Join(git, "HEAD")))
	if ref, ok := strings.CutPrefix(head, "ref:"); ok {
		return view.CleanLine(strings.TrimPrefix(strings.TrimSpace(ref), "refs/heads/"))
	}
	if len(head) >= 40 {
		return view.CleanLine(head[:7])
	}
	return ""
}

// smallFile is the beginning of a regular file; "" where there is none.
func smallFile(path string) string {
	f, err := trust.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, headLimit))
	if err != nil {
		return ""
	}
	return string(data)
}

// Tools are those the model can call now.
func (e *Engine) Tools() []view.Tool {
	var list []view.Tool
	for _, t := range e.tools.List() {
		row := view.Tool{Name: t.Name, Description: t.Description, Risk: string(t.Risk)}
		if _, owner, ok := e.tools.Lookup(t.Name); ok && !t.Builtin {
			row.From = owner.Name
		}
		list = append(list, row)
	}
	return list
}

// Skills are those the model may read.
func (e *Engine) Skills() []view.Skill {
	var list []view.Skill
	for _, s := range e.texts.Skills {
		list = append(list, skillRow(s))
	}
	return list
}

func skillRow(s prompt.Skill) view.Skill {
	return view.Skill{Name: s.Name, Description: s.Description, Path: s.Path}
}

// Processes are the running ones and the last that ended.
func (e *Engine) Processes() []view.Process {
	var list []view.Process
	for _, r := range e.shell.List() {
		list = append(list, view.Process{
			ID: r.ID, PID: r.PID, Origin: r.Origin, Command: r.Command, Status: r.Status, Running: r.Running, Elapsed: r.Elapsed,
		})
	}
	return list
}

// StopProcess asks a process and what it started to end; it does not wait.
func (e *Engine) StopProcess(id int) error { return e.shell.Stop(id) }

// Recheck tells what the schema of a tool says against edited arguments; nothing
// runs.
func (e *Engine) Recheck(tool string, arguments json.RawMessage) error {
	t, _, ok := e.tools.Lookup(tool)
	if !ok {
		return errors.New("there is no tool " + tool + " any more")
	}
	_, err := e.tools.Check(t, string(arguments))
	return err
}
