package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what was typed on a terminal and not read yet, such as the
// beginning of a line. Anything else it leaves alone.
func forgetTyped(in *os.File) { _ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
