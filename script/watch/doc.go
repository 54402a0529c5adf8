// Package watch turns changes of plugin folders into reload requests.
//
// It owns the quiet time and the rescan, never the reload itself.
//
// Failure: whatever goes wrong with watching costs speed, not changes: one
// notice, then a rescan every two seconds finds them. A file that cannot be
// read keeps the state it was last seen in.
//
// Blocking: nothing waits for the receiver; while it is busy, changes are
// merged into one.
package watch
