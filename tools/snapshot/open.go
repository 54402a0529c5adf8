package snapshot

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openRegular opens a file that is no link, and never waits for a pipe that took
// its place.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) }
