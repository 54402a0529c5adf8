// Package script runs one Starlark file: it reads the declarations without
// running anything, loads it, and lets one call in at a time.
//
// It owns the syntax tree, the call lock, the limits of steps and time and the
// errors with positions; it never decides when a plugin runs nor what its
// builtins do (those are handed in as predeclared names).
//
// Failure: every error of a file or a call is an *Error (or a list of them) with
// its place; a panic inside a call becomes one too. A call that does not return
// a second after it was cancelled is abandoned, and the instance refuses all
// others from then on.
//
// Blocking: a call waits for the calls before it, first come first served, at
// most 30 seconds and never longer than its context; calls that would wait for
// each other are refused at once.
package script
