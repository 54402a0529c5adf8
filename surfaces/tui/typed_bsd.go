//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// inputQueue names what is flushed: what the terminal has to read.
const inputQueue = 1

// forgetTyped drops what was typed on a terminal and not read yet, such as the
// beginning of a line. Anything else it leaves alone.
func forgetTyped(in *os.File) {
	_ = unix.IoctlSetPointerInt(int(in.Fd()), unix.TIOCFLUSH, inputQueue)
}
