package command_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"starling/bus/chat"
	"starling/bus/view"
	"starling/surfaces"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/input"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// fake is a session whose parts a test sets; did is what was asked of it.
type fake struct {
	command.Driver // what no command asks for
	did            []string
	err            error // of every method that can fail

	running  bool
	queued   []string
	attached []string
	files    []string // of the workspace
	lines    bool
	hidden   bool // what stands beside
	panels   []surfaces.Panel
	status   view.Status
	mode     string
	messages []chat.Message
	commands []view.Command
	replies  map[string]view.CommandReply
	models   []view.Model
	sessions []view.Session
	plugins  []view.Plugin
	procs    []view.Process
	rules    []view.Rule
	answers  []view.Decision
	tools    []view.Tool
	skills   []view.Skill
	said     string // of every method that has a note
	aside    bool   // a question was put off
}

var _ command.Session = (*fake)(nil)

func (f *fake) do(format string, args ...any) error {
	f.did = append(f.did, fmt.Sprintf(format, args...))
	return f.err
}

func (f *fake) Running() bool            { return f.running }
func (f *fake) Queued() []string         { return f.queued }
func (f *fake) Attached() []string       { return f.attached }
func (f *fake) Lines() bool              { return f.lines }
func (f *fake) Beside() bool             { return !f.hidden }
func (f *fake) Panels() []surfaces.Panel { return f.panels }
func (f *fake) Theme() string            { return "dark" }
func (f *fake) Keys() input.Keymap       { return input.DefaultKeys() }
func (f *fake) Now() time.Time           { return noon }
func (f *fake) AskAgain() bool           { return f.aside }

func (f *fake) Shortcuts() command.Shortcuts { return command.DefaultShortcuts() }

func (f *fake) Attachable(_ context.Context, file string) error {
	if !slices.Contains(f.files, file) {
		return fmt.Errorf("%s: no such file", file)
	}
	return nil
}

func (f *fake) Files(_ context.Context, query string, limit int) ([]string, error) {
	f.did = append(f.did, fmt.Sprintf("files %q", query))
	return f.files[:min(limit, len(f.files))], f.err
}

func (f *fake) Status() view.Status       { return f.status }
func (f *fake) Mode() string              { return f.mode }
func (f *fake) Commands() []view.Command  { return f.commands }
func (f *fake) Models() []view.Model      { return f.models }
func (f *fake) Plugins() []view.Plugin    { return f.plugins }
func (f *fake) Processes() []view.Process { return f.procs }
func (f *fake) Rules() []view.Rule        { return f.rules }
func (f *fake) Tools() []view.Tool        { return f.tools }
func (f *fake) Skills() []view.Skill      { return f.skills }

func (f *fake) Decisions() []view.Decision { return f.answers }
func (f *fake) Transcript() []chat.Message { return f.messages }
func (f *fake) StopProcess(id int) error   { return f.do("stop %d", id) }

func (f *fake) Sessions() ([]view.Session, error) { return f.sessions, f.err }

func (f *fake) SetMode(name string) error {
	if err := f.do("mode %s", name); err != nil {
		return err
	}
	f.mode = name
	return nil
}

func (f *fake) SetModel(name string) (string, error) {
	if err := f.do("model %s", name); err != nil {
		return "", err
	}
	f.status.Model = name
	return f.said, nil
}

func (f *fake) SetThinking(level string) (string, error) {
	if err := f.do("think %s", level); err != nil {
		return "", err
	}
	f.status.Thinking = level
	return f.said, nil
}

func (f *fake) Forget(r view.Rule) error { return f.do("forget %s %s", r.Effect, r.Rule) }

func (f *fake) Switch(_ context.Context, id string) error { return f.do("switch %q", id) }

func (f *fake) PluginLog(name string, n int) []string {
	if name != "guard" {
		return nil
	}
	return []string{"10:00:01 ready", "10:04:11 blocked write CHANGELOG.md"}[:min(n, 2)]
}

func (f *fake) Reload(_ context.Context, name string) (string, error) {
	return f.said, f.do("reload %q", name)
}

func (f *fake) Restore(_ context.Context, name string) error { return f.do("restore %s", name) }

func (f *fake) Trust(_ context.Context, approve bool) (string, error) {
	return f.said, f.do("trust %v", approve)
}

func (f *fake) Command(_ context.Context, name, args string) (view.CommandReply, error) {
	r, ok := f.replies[name]
	if !ok {
		var known []string
		for k := range f.replies {
			known = append(known, k)
		}
		return view.CommandReply{Known: known}, nil
	}
	r.Found = true
	return r, f.do("command %s %q", name, args)
}

func (f *fake) Complete(_ context.Context, name, args string) ([]string, error) {
	if name != "deploy" {
		return nil, errors.New("no such command")
	}
	return []string{args + "staging", args + "production"}, f.err
}

// day is a session in the middle of a working day.
func day() *fake {
	value := 0.4
	tree := &surfaces.Node{Type: surfaces.Progress, Value: &value}
	return &fake{
		mode:   "ask",
		status: view.Status{Workspace: "shop", Branch: "main", Model: "acme/large", Thinking: "medium", Mode: "ask", Tokens: 36_400, Context: 200_000, Cost: 0.0421, Session: "s-7"},
		queued: []string{"and log the refused addresses", "then run the\ntests"},
		panels: []surfaces.Panel{
			{ID: surfaces.ID{Plugin: "panel", Name: "todos"}, Placement: surfaces.Placement{Kind: surfaces.Side}, Tree: tree},
			{ID: surfaces.ID{Plugin: "tests", Name: "tests"}, Placement: surfaces.Placement{Kind: surfaces.Side}, Tree: tree},
			{ID: surfaces.ID{Plugin: "ask", Name: "form"}, Placement: surfaces.Placement{Kind: surfaces.Overlay}},
			{ID: surfaces.ID{Plugin: "clock", Name: "clock"}, Placement: surfaces.Placement{Kind: surfaces.Status}, Text: "12:00"},
		},
		messages: []chat.Message{
			chat.TextMessage(chat.User, "add a rate limit to the login handler"),
			{Role: chat.Assistant, Model: "acme/large", Usage: &chat.Usage{Input: 12_300, Output: 410, CacheRead: 9_000, Cost: 0.0301}, Blocks: []chat.Block{
				{Kind: chat.Thinking, Text: "first I read"},
				{Kind: chat.Text, Text: "I'll look at the handler first."},
				{Kind: chat.Call, ID: "1", Name: "read", Arguments: `{"path":"login.go"}`},
			}},
			{Role: chat.ToolRole, Blocks: []chat.Block{{Kind: chat.Result, ID: "1", Name: "read", Text: strings.Repeat("x", 900)}}},
			{Role: chat.Assistant, Model: "acme/large", Usage: &chat.Usage{Input: 800, Output: 120, CacheRead: 12_000, CacheWrite: 400, Cost: 0.0100}, Blocks: []chat.Block{
				{Kind: chat.Text, Text: "The limiter is in place:\n\n```go\nlimiter.Allow(ip)\n```\n\n12 requests a minute."},
			}},
		},
		commands: []view.Command{
			{Name: "deploy", Description: "Deploy the shop.", From: "release"},
			{Name: "fix", Description: "Fix an issue by its number."},
			{Name: "help", Description: "A plugin's own help.", From: "rogue"},
			{Name: "deploy:2", Description: "Deploy it again.", From: "zeta"},
		},
		replies: map[string]view.CommandReply{
			"deploy": {Lines: []string{"deployed", "to staging"}}, "fix": {}, "deploy:2": {Lines: []string{"again"}},
		},
		models: []view.Model{
			{ID: "acme/large", Name: "Large", Provider: "acme", Levels: []string{"off", "low", "medium", "high"}, Context: 200_000},
			{ID: "acme/small", Name: "Small", Provider: "acme", Context: 32_000},
			{ID: "demo", Name: "the built-in offline demo"},
		},
		sessions: []view.Session{
			{ID: "s-3", Title: "fix the cart", Changed: noon.Add(-50 * time.Hour), Messages: 41, Folder: "/home/me/shop"},
			{ID: "s-7", Title: "add a rate limit to the login handler", Changed: noon.Add(-20 * time.Second), Messages: 4, Folder: "/home/me/shop"},
			{ID: "s-5", Title: "", Changed: noon.Add(-90 * time.Minute), Messages: 1, Folder: "/home/me/shop/web"},
		},
		plugins: []view.Plugin{
			{Name: "guard", Origin: "home", Approval: "approved", State: "active", Path: "~/.starling/plugins/guard.star", Description: "Keeps the model away from the changelog.", Registrations: []string{"on agent/tool-call"}},
			{Name: "second", Origin: "home", Approval: "approved", State: "active", Uses: []string{"model:0.50"}, Registrations: []string{"tool second_opinion"}, Cost: 0.0123},
			{Name: "nag", Origin: "flag", Approval: "approved", State: "pending", Reason: "waiting for todos", Inject: []string{"todos"}},
			{Name: "tests", Origin: "workspace", Approval: "approved", State: "active", Uses: []string{"exec"}, Registrations: []string{"instance", "locks", "surface tests", "on code/file-change", "tasks"}},
			{Name: "broken", Origin: "workspace", Approval: "approved", State: "failed", Reason: "broken.star:7:3: undefined: tol; did you mean tool?", Notes: []string{"nothing announces x/y"}},
			{Name: "fresh", Origin: "workspace", Approval: "not approved", State: "inactive", Reason: "not approved", Uses: []string{"fs.read:docs/**", "net:api.example.org"}},
		},
		procs: []view.Process{
			{ID: 3, PID: 4711, Origin: "bash", Command: "go test ./...", Status: "running", Running: true, Elapsed: 75 * time.Second},
			{ID: 1, PID: 4242, Origin: "plugin tests", Command: "git status", Status: "exit 0", Elapsed: 12 * time.Millisecond},
		},
		rules: []view.Rule{{Effect: "allow", Rule: "bash(go test *)", Source: "this session"}, {Effect: "deny", Rule: "edit(vendor/**)", Source: "~/.starling/rules.json"}},
		answers: []view.Decision{
			{Tool: "read", Summary: "read login.go", Effect: "allow", By: "mode ask"},
			{Tool: "bash", Summary: "rm -rf build", Effect: "deny", By: "plugin guard", Why: "removal needs a person"},
			{Tool: "write", Effect: "allow", By: "person"},
		},
		tools: []view.Tool{
			{Name: "bash", Description: "Run a line in a shell. It keeps its folder.", Risk: "change"},
			{Name: "read", Description: "Read a file.", Risk: "read"},
			{Name: "second_opinion", Description: "Ask another model a question.", Risk: "network", From: "second"},
		},
		skills: []view.Skill{{Name: "release", Description: "How a release is made here.", Path: ".starling/skills/release"}},
	}
}
