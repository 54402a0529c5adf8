// Package tui draws a session on a terminal.
//
// It owns the screen and the keys, never a decision: it hears the bus and drives
// the engine through its Driver.
//
// Failure: a terminal that cannot be drawn on is an error before anything was made.
// However a session ends, in a panic too, the terminal is first as it was before.
//
// Blocking: one goroutine, the event loop, owns what is shown, and waits for keys, its
// inbox and time alone. Whatever asks the engine runs beside it.
package tui
