//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package trust

import "golang.org/x/sys/unix"

// Requests of a terminal, as on Linux.
const (
	getSettings  = unix.TIOCGETA
	setSettings  = unix.TIOCSETA
	setAndForget = unix.TIOCSETAF
)
