// Package headless prints a run for scripts and CI: as text, as one JSON
// document, or as one JSON event a line (docs/headless.md).
//
// It owns stdout and stderr of a run: the answer in the format asked for and
// nothing else on the one, notes and progress on the other. It drives the engine
// through its Driver and decides nothing.
//
// Failure: a stdout that cannot be written ends the run with status 1, in
// silence when its reader left; a stderr that cannot is ignored.
//
// Blocking: a slow reader of stdout holds up nobody but End, and End no longer
// than a moment after the context of the run is over.
package headless
