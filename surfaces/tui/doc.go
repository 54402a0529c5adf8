// Package tui draws a session on a terminal.
//
// It owns the screen and the keys, never a decision: it hears the bus and drives
// the engine through its Driver.
package tui
