package bind

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"starling/tools/shell"

	"starling/bus"
	"starling/bus/event"
	"starling/script"
	"starling/script/journal"
	"starling/script/value"
	"starling/trust"
)

// Binder makes components of plugin files, over one host.
type Binder struct {
	Host
	viewer   value.Viewer
	locks    *script.Locks // of every plugin, so that rings of waiting calls are seen
	jails    jails
	states   *states
	models   models
	guards   *guards
	calls    callCounts    // for the plugin record
	room     chan struct{} // of requests to models that run together
	spending spending
	atWork   atomic.Int32 // calls into plugins
	// folders and realHome are Workspace, UserHome and Home with links resolved.
	folders  trust.Folders
	realHome string
}

// jails are the folders plugins opened, until the host closes.
type jails struct {
	mu   sync.Mutex
	open map[string]*trust.Jail
}

// New returns a binder; nothing of h may change afterwards.
func New(h Host) *Binder {
	b := &Binder{Host: h, locks: script.NewLocks(), guards: newGuards(), room: make(chan struct{}, askTogether), jails: jails{open: map[string]*trust.Jail{}}}
	b.viewer.Convert = convert
	b.folders, b.realHome = h.Real, h.RealHome
	if b.folders.Workspace == "" {
		b.folders = trust.Folders{Workspace: trust.Resolved(h.Workspace), Home: trust.Resolved(h.UserHome)}
		b.realHome = trust.Resolved(h.Home)
	}
	b.states = newStates(h.Home, b.folders.Workspace)
	return b
}

// Flush writes the state that plugins saved: at the end of a run and of a
// session.
func (b *Binder) Flush() error { return b.states.flush() }

// Close releases what the plugins had open; call it after the last unload.
func (b *Binder) Close() error { return b.jails.close() }

// Host is what the program lends to its plugins.
type Host struct {
	Bus *bus.Bus
	// Name of the kind of host: "terminal", "headless" or "eval".
	Name      string
	Cwd       string
	Workspace string
	Home      string // starling's own folder
	UserHome  string // of the person: what "~/" stands for
	// Real and RealHome are Workspace, UserHome and Home with links resolved; without
	// Real.Workspace they are worked out.
	Real     trust.Folders
	RealHome string
	// Notify shows a line to the person; warn marks a fault. It must not block:
	// the caller may hold the lock of a plugin that listens to notices.
	Notify func(ctx context.Context, plugin, text string, warn bool)
	// Log keeps a line in the plugin's log. It must not block.
	Log func(plugin, text string)
	Now func() time.Time
	// LookupEnv reads a variable of the process.
	LookupEnv func(name string) (value string, ok bool)
	// IsKey tells whether a variable holds a key; nil goes by its name alone.
	IsKey func(name string) bool
	// Models answers model.ask; nil has none.
	Models Models
	// Prompt queues a text like a line a person typed; nil takes none.
	Prompt func(plugin, text string) error
	Info   Info
	// AnswerQuestion answers an open question in the person's place; nil: nobody
	// asks any.
	AnswerQuestion func(ctx context.Context, plugin, id, value string) error
	// Record keeps what a plugin got from the host: the nth result of a word within
	// a call. It must not block; nil keeps nothing.
	Record func(plugin, call, word string, n int, outcome json.RawMessage)
	// Journal knows which plugin handles what; nil for none.
	Journal *journal.Journal
	// Shell runs the commands of exec.
	Shell *shell.Engine
	// HTTP carries the requests of http.get and the like; nil is the default
	// transport.
	HTTP http.RoundTripper
	// CurrentRun returns the live run or nil.
	CurrentRun func() event.Run
	// Busy hears how many calls into plugins are at work, each time one more is; nil
	// hears nothing. It must not block.
	Busy func(calls int)
	// Stuck hears that a plugin's call was abandoned.
	Stuck func(plugin *Plugin, reason error)
}
