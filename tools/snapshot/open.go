package snapshot

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"starling/trust"
)

// openRegular opens a file that is no link.
func openRegular(path string) (*os.File, error) {
	return trust.OpenRegular(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
}

func notFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) }
