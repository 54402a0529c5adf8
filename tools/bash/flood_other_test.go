//go:build unix && !linux

package bash

// instead is what the program does instead of its tests: nothing here.
func instead() func() int { return nil }
