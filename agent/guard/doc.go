// Package guard holds the built-in guards and gates of the loop, one file each.
//
// Each is a small component on the bus, named and switchable; none knows
// another.
package guard
