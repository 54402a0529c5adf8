// Package transcript is the conversation on a screen: blocks that are wrapped when they
// are first seen, kept by width, and drawn by the row.
//
// A frame costs what is visible, whatever the length of the whole. It belongs to one
// goroutine, the event loop.
package transcript
