// Package bash is the built-in tool bash: one line for a shell, with a kept
// folder, and what the model reads of it.
//
// It owns the kept folder, the words about output, time and children; processes
// belong to tools/shell. Failure: a command that fails is a result the model
// reads, not an error. Blocking: until the command ends, its time is over or the
// context does.
package bash
