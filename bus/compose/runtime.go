package compose

import (
	"context"
	"time"

	"starling/bus"
)

// Options of a Runtime.
type Options struct {
	Store *bus.Store
	// ApplyLimit and UndoLimit default to 10 s and 5 s.
	ApplyLimit time.Duration
	UndoLimit  time.Duration
	// Report hears of failing and late undos and of misuse; it must not block.
	Report func(owner bus.Owner, err error)
	// Settled hears the roster after each settle; it must not block.
	Settled func(*Roster)
}

// Runtime owns the graph. All its methods are safe for concurrent use.
type Runtime struct{}

// New starts a runtime; Shutdown ends it.
func New(o Options) *Runtime { panic("stub") }

// Mount accepts a component and returns its id; it loads in the settle that
// follows. It is an error after Shutdown.
func (r *Runtime) Mount(c Component) (ID, error) { panic("stub") }

// Unmount takes a mount away; the record is freed. The work is done in the settle
// that follows.
func (r *Runtime) Unmount(id ID) error { panic("stub") }

// Switch turns a mount off with a reason for people, or on when off is "".
func (r *Runtime) Switch(id ID, off string) error { panic("stub") }

// Replace puts a new version in the place of a mount: the old one is drained,
// undone, and the new one loads with the same id record kept in the roster. A
// component with Broken set is refused and the old one keeps running.
func (r *Runtime) Replace(id ID, c Component) error { panic("stub") }

// Move changes the realms of a mount without rebuilding it.
func (r *Runtime) Move(id ID, isolate map[string]string) error { panic("stub") }

// Fail unmounts a mount whose call was abandoned: it is failed with this reason
// until it is replaced or switched.
func (r *Runtime) Fail(id ID, reason string) error { panic("stub") }

// Settle waits until everything asked for so far is done. From inside an apply
// or an undo it is an error.
func (r *Runtime) Settle(ctx context.Context) error { panic("stub") }

// Barrier waits for a settle that is running; it returns at once when none is,
// from inside an apply or undo, and while a swap waits for a running call.
func (r *Runtime) Barrier(ctx context.Context) error { panic("stub") }

// Shutdown takes everything down, dependents first, in a deterministic order, and
// ends the runtime. Errors of undos are joined.
func (r *Runtime) Shutdown(ctx context.Context) error { panic("stub") }

// Roster returns the newest picture; it takes no lock.
func (r *Runtime) Roster() *Roster { panic("stub") }
