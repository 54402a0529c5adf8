// Package bus carries events: topics with a mode and a failure policy, and one
// dispatch path over immutable snapshots of their listeners.
//
// It owns the store in which listeners and registrations stand, in static
// order, published together. It never knows who listens, never starts a
// goroutine and imports the standard library only.
//
// Failure: an error or panic of a listener stays with that listener. A closed
// topic turns it into a refusal; an open one reports it, keeps the value before
// it, and switches the listener off after three failures in a row.
//
// Blocking: a dispatch runs its listeners one after another on the caller's
// goroutine and takes no lock; only publishing a batch does.
package bus
