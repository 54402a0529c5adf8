package harness

import (
	"time"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/view"
	"starling/script/discover"
	"starling/trust"
)

// Options of an engine. The zero value of a field is a sensible default.
type Options struct {
	// Home is starling's own folder; "" for none.
	Home string
	// UserHome is the person's home folder; it is never a workspace.
	UserHome string
	// Cwd is the current folder, absolute.
	Cwd string
	// Workspace is found from Cwd when empty.
	Workspace string
	// Host is the kind of host plugins see: "terminal", "headless" or "eval".
	Host string
	// Plugins are the paths of --plugin.
	Plugins []string
	// NoPlugins leaves out every plugin but those.
	NoPlugins bool
	// TrustPlugins approves everything the workspace brings, for this engine.
	TrustPlugins bool
	// TrustDigest approves it when it has exactly this digest.
	TrustDigest trust.Digest
	// TrustEdits loads edits of files that were running, also while a run is
	// alive.
	TrustEdits bool
	// EditUnits are units of the workspace whose edits a person trusts in this
	// engine, as they answered before it began; see Workspace.Units.
	EditUnits []string
	// Model is a name, demo or script:FILE; "" is the first of models.json, else
	// that of a known key variable, else the built-in demo.
	Model string
	// Think is the thinking level; "" leaves it to the model.
	Think string
	// MaxTurns of a run; 0 is the default of the loop.
	MaxTurns int
	// MaxCost of all requests together, in US dollars; 0 is no cap.
	MaxCost float64
	// System replaces the base of the system prompt, AppendSystem comes behind it.
	System, AppendSystem string
	// NoContext leaves out instruction files and skills.
	NoContext bool
	// Resume is the session to go on with: ID, a prefix of it, "last", each with
	// :MESSAGE; Continue goes on with the newest of the current folder.
	Resume   string
	Continue bool
	// Mode is the permission mode: ask, auto-edit, plan or yolo; "" is ask.
	Mode string
	// Allow, Ask and Deny are permission rules, AllowPaths globs of paths that the
	// safety floor lets be.
	Allow, Ask, Deny, AllowPaths []string
	// AddDirs are further folders that count as workspace for tools.
	AddDirs []string
	// LookupEnv reads a variable of the process; nil finds none.
	LookupEnv func(name string) (string, bool)
	// Environ is the environment of commands, NAME=VALUE; key variables in it are
	// not passed on.
	Environ []string
	// Notify shows a notice to the person; it must not block.
	Notify func(view.Notice)
	// Busy hears how many calls into plugins are at work, each time one more is; nil
	// hears nothing. It must not block.
	Busy func(calls int)
	// Component of the screen, on the engine's bus; may be nil.
	Component func(*bus.Bus) compose.Component
	// Screen of a terminal session.
	Screen Screen
	// Components of an embedding program, in mount order.
	Components []compose.Component
	// Now is the clock plugins see; time.Now when nil.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Workspace == "" {
		o.Workspace = discover.FindWorkspace(o.Cwd, o.UserHome)
	}
	if o.Host == "" {
		o.Host = "headless"
	}
	if o.Notify == nil {
		o.Notify = func(view.Notice) {}
	}
	if o.LookupEnv == nil {
		o.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
