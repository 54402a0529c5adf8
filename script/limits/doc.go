// Package limits keeps one plugin call from eating the host: it rewrites the
// operators and methods of a parsed file whose result can be far larger than
// their operands into checked ones, shadows the builtins that loop, and watches
// the heap while calls run.
//
// It never runs a plugin, holds a deadline or counts nesting; those belong to
// package script, which rewrites a file before resolving it and adds Predeclared
// to the names it resolves against.
//
// Failure: a refused operation is an ordinary Starlark error at its own line that
// names the operator and the limit. Blocking: nothing waits; builtins that loop
// look at their thread's cancellation while they do.
package limits
