package command

import (
	"context"
	"encoding/json"

	"starling/bus/chat"
	"starling/bus/view"
)

// Driver is what a terminal session needs of the engine. All methods may be
// called from any goroutine but the event loop: each may wait.
type Driver interface {
	// Prompt runs one prompt to its outcome; ctx stops it. The files are sent along.
	Prompt(ctx context.Context, text string, files ...string) view.Outcome
	// Steer adds a user message to the run that goes on, with the files; an error when
	// none goes on, or one cannot be read.
	Steer(text string, files ...string) error
	// Attachable says what Prompt and Steer would say against a file.
	Attachable(ctx context.Context, file string) error
	// Transcript is the conversation so far; read-only.
	Transcript() []chat.Message
	// Status is cheap: it is asked after each event that may change it.
	Status() view.Status

	// Commands are those of plugins and of the person's files; the terminal has
	// its own besides.
	Commands() []view.Command
	Command(ctx context.Context, name, args string) (view.CommandReply, error)
	Complete(ctx context.Context, name, args string) ([]string, error)

	// Answer settles a question that code/question announced.
	Answer(id string, a view.Answer) error
	// Recheck decides about edited arguments of an open permission question
	// without running anything: what the schema says against them.
	Recheck(tool string, arguments json.RawMessage) error

	Mode() string
	SetMode(name string) error
	Decisions() []view.Decision
	Rules() []view.Rule
	Forget(r view.Rule) error

	Models() []view.Model
	// SetModel takes a name as --model does; note is for the person.
	SetModel(name string) (note string, err error)
	SetThinking(level string) (note string, err error)

	Sessions() ([]view.Session, error)
	// Switch goes on with another session; "" begins a new one. An error while a
	// run goes on.
	Switch(ctx context.Context, id string) error

	Tools() []view.Tool
	Skills() []view.Skill
	Processes() []view.Process
	StopProcess(id int) error
	// Shell runs a command of the person (the !line), with its output as it comes;
	// cite puts both into the conversation.
	Shell(ctx context.Context, line string, cite bool, output func(string)) (view.Ended, error)
	// Note puts a message of the person into the conversation without running it.
	Note(text string) error
	// Files lists files of the workspace for @, at most limit, best first.
	Files(ctx context.Context, query string, limit int) ([]string, error)

	Plugins() []view.Plugin
	PluginLog(name string, lines int) []string
	// Reload reads the plugins (all when name is empty) anew and says what it did.
	Reload(ctx context.Context, name string) (string, error)
	// Restore brings back the last version of a plugin that ran.
	Restore(ctx context.Context, name string) error
	// Trust stores an approval of what the workspace brings, or takes it back.
	Trust(ctx context.Context, approve bool) (string, error)
}
