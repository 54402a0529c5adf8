package compose

import (
	"context"

	"starling/bus"
)

// Component is something that can be mounted: a plugin file or a Go value. The
// lists are static, known before any of its code runs.
type Component struct {
	Name     string
	Origin   string       // "host", "embedded", "home", "workspace" or "flag"
	Position bus.Position // place in the static order
	// Version tells two contents of one file apart (a digest); "" for Go values.
	Version string
	// Inject are the service keys it waits for; "key?" is optional.
	Inject []string
	// Provides are the keys it offers; apply must provide each of them.
	Provides []string
	Emits    []string
	Uses     []string // capability words, for the roster
	// Description and Path of the file it comes from, for the roster.
	Description, Path string
	// Isolate maps a key to a realm: "" is a private one, anything else is
	// shared by name. Keys not in it live in the parent's (default) realm.
	Isolate map[string]string
	// Check vets the settings before a load; may be nil. Its error fails the mount.
	Check func() error
	// Apply registers everything through the scope; nil registers nothing. It runs
	// on a worker with a context that ends at the limit or when the mount must go.
	Apply func(*Scope) error
	// Drain waits until no tool or command call of it is running; a replacement
	// calls it before it tears the old version down. nil: nothing to wait for.
	Drain func(ctx context.Context) error
	// Broken is why the file cannot be loaded at all: the mount goes to failed with
	// this reason and stays there until it is replaced.
	Broken error
	// Off is why the mount must not run ("not approved", "switched off in
	// plugins.json", "quarantined"): it is inactive with this reason.
	Off string
}

// State of a mount.
type State string

// The states, shown to people in these words.
const (
	Pending   State = "pending"
	Loading   State = "loading"
	Active    State = "active"
	Unloading State = "unloading"
	Failed    State = "failed"
	Inactive  State = "inactive"
)

// ID of a mount; never reused.
type ID uint64

// Row is one mount as people see it.
type Row struct {
	ID       ID
	Name     string
	Origin   string
	Position bus.Position
	Version  string
	State    State
	Reason   string // why it is not active; empty when it is
	Swap     string // why a new version has not taken over yet; empty when none waits
	Parent   ID     // 0: none
	Loads    uint64 // how often it became active; 0: never yet
	Inject   []string
	Provides []string
	Emits    []string
	Uses     []string
	// Description and Path of the file it comes from.
	Description, Path string
	Missing           []string // required keys without an active provider in its realm
	Registrations     []string // labels of the undo list, in registration order
}

// Roster is an immutable picture of every mount, in static order. Unchanged rows
// are shared between pictures.
type Roster struct {
	Rows []*Row
}

// Find returns the row of that name or nil; the first in static order where
// several carry it.
func (r *Roster) Find(name string) *Row {
	for _, row := range r.Rows {
		if row.Name == name {
			return row
		}
	}
	return nil
}

// Undo takes one registration back. ctx ends at the undo's limit.
type Undo func(ctx context.Context) error
