//go:build unix && !linux

package main

import "errors"

// screen needs what Linux tells of processes.
func screen(string, string, int) error { return errors.New("-screen runs on Linux only") }
