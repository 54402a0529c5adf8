// Package harness is wiring only: it turns options into an engine and owns its
// start, reload and stop.
//
// It knows everybody and decides nothing: rules live in the rooms it joins.
//
// Failure: an engine that cannot start is an error that says what to do; a
// plugin that cannot is a row with a reason, and the engine starts without it.
//
// Blocking: New waits for the first settle, Close for every teardown.
package harness
