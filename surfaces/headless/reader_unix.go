//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package headless

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// readerLeft tells whether w is a pipe or socket that nobody reads any more.
func readerLeft(w io.Writer) bool {
	file, ok := w.(syscall.Conn)
	if !ok {
		return false
	}
	conn, err := file.SyscallConn()
	if err != nil {
		return false
	}
	left := false
	err = conn.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(p, 0)
		left = err == nil && n > 0 && p[0].Revents&unix.POLLERR != 0
	})
	return err == nil && left
}
