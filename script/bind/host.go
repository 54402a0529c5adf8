package bind

import (
	"context"
	"time"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
	"starling/trust"
)

// Binder makes components of plugin files, over one host.
type Binder struct {
	Host
	viewer value.Viewer
	locks  *script.Locks // of every plugin, so that rings of waiting calls are seen
}

// New returns a binder; nothing of h may change afterwards.
func New(h Host) *Binder {
	b := &Binder{Host: h, locks: script.NewLocks()}
	b.viewer.Convert = convert
	return b
}

// Host is what the program lends to its plugins.
type Host struct {
	Bus        *bus.Bus
	Registries *spec.Registries
	// Jail is the workspace as plugins may open it.
	Jail *trust.Jail
	// Name of the kind of host: "terminal", "headless" or "eval".
	Name      string
	Cwd       string
	Workspace string
	Home      string // starling's own folder
	UserHome  string // of the person: what "~/" stands for
	// Notify shows a line to the person; warn marks a fault. It must not block:
	// the caller may hold the lock of a plugin that listens to notices.
	Notify func(ctx context.Context, plugin, text string, warn bool)
	// Log keeps a line in the plugin's log. It must not block.
	Log func(plugin, text string)
	Now func() time.Time
	// Announced tells whether some known plugin announces the custom event.
	Announced func(event string) bool
	// CurrentRun returns the live run or nil.
	CurrentRun func() event.Run
	// Stuck hears that a plugin's call was abandoned.
	Stuck func(plugin *Plugin, reason error)
	// ToolList returns the tools the model is offered now.
	ToolList func() []spec.Tool
	// SystemPrompt returns the system prompt as it was composed last.
	SystemPrompt func(ctx context.Context) string
}
