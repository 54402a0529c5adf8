// Package headless prints a run as text, for scripts and CI.
//
// It owns stdout and stderr of a run: the answer and nothing else on the one,
// notes and progress on the other. It drives the engine through its Driver and
// decides nothing.
//
// Failure: a stdout that cannot be written ends the run with status 1; a stderr
// that cannot is ignored.
package headless
