// Package command is the terminal's own commands: what /NAME ARGS does, shows and
// completes, without drawing anything.
//
// A command gets a Session and returns a Reply, which is plain data: text that lays
// itself out at a width, a choice, a live view, or something the screen is to do. The
// line mode prints what the screen draws.
//
// Blocking: Run, Complete and what a Key or a View calls may wait for the engine, so
// none of them belongs on the event loop. Laying out waits for nothing.
package command
