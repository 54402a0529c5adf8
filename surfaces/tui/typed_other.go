//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package tui

import "os"

// forgetTyped: such a system has no way to drop what was typed.
func forgetTyped(*os.File) {}
