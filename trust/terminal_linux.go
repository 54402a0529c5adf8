package trust

import "golang.org/x/sys/unix"

// Requests of a terminal: its settings, set at once, set while what was typed and not
// read is dropped.
const (
	getSettings  = unix.TCGETS
	setSettings  = unix.TCSETS
	setAndForget = unix.TCSETSF
)
