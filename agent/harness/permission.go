package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"starling/agent"
	"starling/agent/prompt"
	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
	"starling/tools/fs"
	"starling/tools/snapshot"
	"starling/trust"
	"starling/trust/command"
	"starling/trust/permit"
)

const kindPermission = "permission"

// permissions decide which calls run; see package permit for the order.
type permissions struct {
	engine    *Engine
	port      bus.Port[event.PermissionEvent, bus.Verdict]
	rules     *permit.Rules
	paths     []string // of --allow-path
	at        trust.Folders
	extra     []string // of --add-dir, links resolved
	stateHome string
	snapshots *snapshot.Store // nil without a home

	asking sync.Mutex // one question at a time

	mu   sync.Mutex
	mode permit.Mode
	last []view.Decision // newest last
}

// keptDecisions is how many of them /policy shows.
const keptDecisions = 100

func newPermissions(e *Engine, o Options) (*permissions, error) {
	mode, err := permit.ParseMode(o.Mode)
	if err != nil {
		return nil, fmt.Errorf("--mode: %w", err)
	}
	file := ""
	if o.Home != "" {
		file = filepath.Join(o.Home, "rules.json")
	}
	at := e.real
	rules, err := permit.Load(file, at.Workspace)
	if err != nil {
		return nil, err
	}
	for _, flag := range []struct {
		name   string
		effect permit.Effect
		rules  []string
	}{{"allow", permit.Allow, o.Allow}, {"ask", permit.Ask, o.Ask}, {"deny", permit.Deny, o.Deny}} {
		for _, text := range flag.rules {
			rule, err := permit.ParseRule(text)
			if err != nil {
				return nil, fmt.Errorf("--%s: %w", flag.name, err)
			}
			rules.With(permit.FromFlag, flag.effect, rule)
		}
	}
	for _, glob := range o.AllowPaths {
		if err := permit.CheckAllowPath(glob); err != nil {
			return nil, fmt.Errorf("--allow-path: %w", err)
		}
	}
	p := &permissions{
		engine: e, port: bus.PortOf(e.bus, event.Permission), rules: rules, paths: o.AllowPaths,
		at: at, stateHome: e.realHome, mode: mode,
	}
	// What a command printed beyond what fits is read as a file of the workspace.
	p.extra = append(dirsOf(e.folders), e.spill)
	if o.Home != "" {
		p.snapshots = &snapshot.Store{Dir: snapshot.Dir(o.Home, at.Workspace), Workspace: at.Workspace, Environ: e.shell.Env(), Now: o.Now}
	}
	return p, nil
}

// Mode is the permission mode.
func (e *Engine) Mode() string {
	e.permissions.mu.Lock()
	defer e.permissions.mu.Unlock()
	return string(e.permissions.mode)
}

// SetMode changes the permission mode for the calls from now on.
func (e *Engine) SetMode(name string) error {
	mode, err := permit.ParseMode(name)
	if err != nil {
		return err
	}
	e.permissions.mu.Lock()
	defer e.permissions.mu.Unlock()
	e.permissions.mode = mode
	return nil
}

// Decisions are the last answers about tool calls, oldest first.
func (e *Engine) Decisions() []view.Decision {
	e.permissions.mu.Lock()
	defer e.permissions.mu.Unlock()
	return append([]view.Decision(nil), e.permissions.last...)
}

// Rules are the permission rules that hold, in the order they were given.
func (e *Engine) Rules() []view.Rule {
	var list []view.Rule
	for _, l := range e.permissions.rules.List() {
		list = append(list, view.Rule{Effect: string(l.Effect), Rule: l.Rule.String(), Source: string(l.Source)})
	}
	return list
}

// Forget takes a rule back, from its file too.
func (e *Engine) Forget(r view.Rule) error {
	for _, l := range e.permissions.rules.List() {
		if string(l.Effect) == r.Effect && l.Rule.String() == r.Rule && string(l.Source) == r.Source {
			return e.permissions.rules.Remove(l)
		}
	}
	return fmt.Errorf("there is no rule %s %s of %s", r.Effect, r.Rule, r.Source)
}

// asked is one call while it is decided about.
type asked struct {
	agent.PermitCall
	call    permit.Call
	summary string
	held    bool // what it may discard is in a snapshot
}

// risk is the class of the call: of a command that of its line.
func (a *asked) risk() string {
	if a.call.Command != nil {
		return string(a.call.Command.Risk)
	}
	return string(a.Tool.Risk)
}

// permit is what the loop asks before a call runs.
func (p *permissions) permit(ctx context.Context, c agent.PermitCall) agent.Permission {
	a := p.read(c)
	p.mu.Lock()
	mode := p.mode
	p.mu.Unlock()
	d := permit.Decide(a.call, permit.Policy{
		Mode: mode, Rules: p.rules, AllowPaths: p.paths, At: p.at, Extra: p.extra, StateHome: p.stateHome,
		Dirty: func(f command.Finding) bool { return p.dirty(ctx, f) },
	}, func(floor bool) bus.Verdict { return p.verdict(ctx, a, floor) })
	switch d.Effect {
	case permit.Deny:
		return p.deny(a, d)
	case permit.Ask:
		return p.ask(ctx, a, d)
	}
	if err := p.hold(ctx, a, d); err != nil {
		return p.refuse(a, "safety floor", err.Error())
	}
	p.note(a, "allow", d.By, "")
	return p.allowed(ctx, a)
}

// read prepares a call: what its command does, where it touches what.
func (p *permissions) read(c agent.PermitCall) *asked {
	a := &asked{PermitCall: c, summary: summaryOf(c.Tool.Name, c.Arguments)}
	a.call = permit.Call{
		Tool: c.Tool.Name, Arguments: c.Arguments, Paths: c.Paths, PathsKnown: c.PathsKnown, Risk: c.Tool.Risk,
		ReadOnly: c.Tool.ReadOnly, Rewritten: c.Rewritten, Origin: c.Origin, Cwd: p.at.Workspace,
		Replaced: !c.Tool.Builtin && p.engine.hides(c.Tool.Name),
	}
	if c.Tool.Builtin && c.Tool.Name == prompt.SkillToolName {
		a.call.Paths = nil // the skills were listed at the start: the agent reads them as it reads AGENTS.md
	}
	// What a replacement does beyond the tool it hides, its own words hold.
	a.call.PathsKnown = a.call.PathsKnown || a.call.Replaced
	if c.Tool.Name == p.engine.bash.Tool().Name {
		a.call.Cwd = p.engine.bash.Cwd()
		if reading, err := p.engine.bash.Read(c.Arguments); err == nil {
			a.call.Command = &reading
		}
	}
	return a
}

// dirty tells whether a finding is about work that is worth a question. Where
// nobody can tell it is.
func (p *permissions) dirty(ctx context.Context, f command.Finding) bool {
	if f.Loss == nil || p.snapshots == nil {
		return true
	}
	stake, err := p.snapshots.Stake(ctx, []command.Loss{*f.Loss})
	return err != nil || stake == snapshot.Work
}

// verdict asks the plugins.
func (p *permissions) verdict(ctx context.Context, a *asked, floor bool) bus.Verdict {
	e := &event.PermissionEvent{
		Tool: a.Tool.Name, Arguments: a.Arguments, Paths: a.Paths, PathsKnown: a.PathsKnown, Cwd: a.call.Cwd,
		Summary: a.summary, Risk: a.risk(), Origin: a.Origin, Floor: floor,
	}
	p.port.Send(ctx, e)
	return e.Verdict
}

// hold snapshots what the call may discard, before a person is asked about it and
// before it runs, and tells how to get back what is worth that.
func (p *permissions) hold(ctx context.Context, a *asked, d permit.Decision) error {
	if a.call.Command == nil || a.held {
		return nil
	}
	var losses []command.Loss
	quiet := true
	for _, f := range a.call.Command.Floor {
		if f.Loss != nil {
			losses = append(losses, *f.Loss)
			quiet = quiet && f.Loss.Quiet()
		}
	}
	switch {
	case len(losses) == 0, quiet && p.snapshots == nil:
		return nil
	case p.snapshots == nil:
		return errors.New("it may discard uncommitted work, and without a home folder there is no place for a snapshot of it")
	}
	taken, err := p.snapshots.Take(ctx, losses, a.summary)
	if err != nil {
		return fmt.Errorf("it may discard uncommitted work, and no snapshot of it could be made: %w", err)
	}
	a.held = true
	if taken != nil {
		if err := p.snapshots.PruneDaily(ctx); err != nil {
			p.engine.say(ctx, view.Notice{Text: err.Error(), Warn: true})
		}
	}
	if taken != nil && len(d.Losses) > 0 {
		p.engine.notice(ctx, fmt.Sprintf("before %s: %s kept; this brings it back: %s", a.summary, taken.Summary(), snapshot.RestoreCommand(taken.ID)))
	}
	return nil
}

// ask puts the question to the person; headless there is none.
func (p *permissions) ask(ctx context.Context, a *asked, d permit.Decision) agent.Permission {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.engine.questions.person {
		if err := p.hold(ctx, a, d); err != nil {
			return p.refuse(a, "safety floor", err.Error())
		}
	}
	q := &event.QuestionEvent{
		Kind: kindPermission, Tool: a.Tool.Name, Summary: a.summary, Detail: p.detail(ctx, a), Reasons: reasonsOf(d),
		Risk: a.risk(), Origin: a.Origin, Floor: d.Floor, Always: d.Always, Arguments: a.Arguments,
		Options: []string{view.AnswerYes, view.AnswerNo, view.AnswerEdit},
	}
	if len(d.Always) > 0 {
		q.Options = []string{view.AnswerYes, view.AnswerAlways, view.AnswerNo, view.AnswerEdit}
	}
	r := p.engine.questions.ask(ctx, q)
	switch r.Value {
	case view.AnswerYes, view.AnswerAlways:
		if err := p.hold(ctx, a, d); err != nil {
			return p.refuse(a, "safety floor", err.Error())
		}
		if r.Value == view.AnswerAlways {
			p.always(ctx, d.Always, r.Everywhere)
		}
		p.note(a, "allow", r.by, "")
		return p.allowed(ctx, a)
	case view.AnswerEdit:
		return agent.Permission{Arguments: r.Arguments}
	}
	switch r.by {
	case byHost:
		return p.deny(a, d)
	case byTimeout:
		return p.refuse(a, "the time limit", fmt.Sprintf("no answer came within %d min (%s)", int(view.AnswerTime.Minutes()), strings.Join(q.Reasons, "; ")))
	case byPerson:
		why := strings.TrimSpace(r.Why)
		if why == "" {
			why = "no"
		}
		return p.refuse(a, "the person", why)
	}
	return p.refuse(a, strings.TrimPrefix(r.by, "plugin "), r.Why)
}

// always stores rules; a store that fails is told and the rules hold until exit.
func (p *permissions) always(ctx context.Context, texts []string, everywhere bool) {
	scope := permit.FromSession
	if everywhere {
		scope = permit.FromWorkspace
	}
	var rules []permit.Rule
	for _, text := range texts {
		rule, err := permit.ParseRule(text)
		if err != nil { // Decide spelled it
			p.engine.say(ctx, view.Notice{Text: "rule not kept: " + err.Error(), Warn: true})
			continue
		}
		rules = append(rules, rule)
	}
	if err := p.rules.Always(scope, rules...); err != nil {
		p.engine.say(ctx, view.Notice{Text: err.Error(), Warn: true})
	}
	p.engine.notice(ctx, fmt.Sprintf("from now on allowed (%s): %s; /policy takes it back", scope, strings.Join(texts, ", ")))
}

// allowed lets the call run; what it was permitted to touch travels with it.
func (p *permissions) allowed(ctx context.Context, a *asked) agent.Permission {
	if len(a.Paths) == 0 {
		return agent.Permission{}
	}
	return agent.Permission{Ctx: fs.Permit(ctx, a.Paths...)}
}

// deny refuses a call by a decision; headless that is also what asking comes to.
func (p *permissions) deny(a *asked, d permit.Decision) agent.Permission {
	why := strings.Join(reasonsOf(d), "; ")
	if d.Hint != "" {
		why += ". " + strings.ToUpper(d.Hint[:1]) + d.Hint[1:]
	}
	by := "permissions"
	switch {
	case d.Floor:
		by = "safety floor"
	case strings.HasPrefix(d.By, "plugin "):
		by = strings.TrimPrefix(d.By, "plugin ")
		why = strings.TrimPrefix(why, d.By+" denies it: ") // the result names it
	}
	return p.refuse(a, by, why)
}

func (p *permissions) refuse(a *asked, by, why string) agent.Permission {
	p.note(a, "deny", by, why)
	return agent.Permission{Refused: &bus.Refusal{By: bus.Owner{Name: by}, Why: why}}
}

func (p *permissions) note(a *asked, effect, by, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, view.Decision{Tool: a.Tool.Name, Summary: a.summary, Effect: effect, By: by, Why: why})
	if len(p.last) > keptDecisions {
		p.last = p.last[len(p.last)-keptDecisions:]
	}
}

// detail is what a person looks at before they answer.
func (p *permissions) detail(ctx context.Context, a *asked) string {
	if a.call.Command != nil {
		return a.call.Command.Line
	}
	if a.Tool.Preview != nil {
		if text := a.Tool.Preview(ctx, a.Arguments); text != "" {
			return text
		}
	}
	var out bytes.Buffer
	if json.Indent(&out, a.Arguments, "", "  ") != nil {
		return string(a.Arguments)
	}
	return view.ReadableJSON(out.String())
}

// reasonsOf are the sentences of a decision.
func reasonsOf(d permit.Decision) []string {
	if len(d.Reasons) == 0 {
		return []string{d.By}
	}
	return d.Reasons
}

// summaryLength is the longest summary of a call, in characters.
const summaryLength = 120

// summaryOf is a call in one line.
func summaryOf(tool string, arguments json.RawMessage) string {
	var a map[string]any
	_ = json.Unmarshal(arguments, &a) // what is no object has no such keys
	text := view.ReadableJSON(string(arguments))
	for _, key := range []string{"command", "path", "pattern", "question", "url"} {
		if s, ok := a[key].(string); ok {
			text = s
			break
		}
	}
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > summaryLength {
		line = string(r[:summaryLength]) + "…"
	} else if rest != "" {
		line += " …"
	}
	return tool + " " + view.RevealLine(line)
}

// hides tells whether a built-in of that name is replaced.
func (e *Engine) hides(name string) bool {
	_, hidden := e.tools.Hidden(name)
	return hidden
}
