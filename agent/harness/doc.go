// Package harness is wiring only: it turns options into an engine and owns its
// start, reload and stop.
//
// It knows everybody and leaves the rules to the rooms it joins. One is its own, since
// it needs all of them: which change on the disk becomes live without a person, and when.
//
// Failure: an engine that cannot start is an error that says what to do; a
// plugin that cannot is a row with a reason, and the engine starts without it.
//
// Blocking: New waits for the first settle, Close for every teardown.
package harness
