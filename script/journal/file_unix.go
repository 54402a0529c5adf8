//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"starling/trust"

	"golang.org/x/sys/unix"
)

const prefix = "journal-"

// maxTries ends the search for a file that nobody takes for a dead one's.
const maxTries = 10

// errTaken: somebody else removed the file, or is about to.
var errTaken = errors.New("file was taken away while it was made")

// pages is a mapped file, and the lock that says its owner lives.
type pages struct {
	mem  []byte
	file *os.File // holds the lock until it is closed
}

// create makes the file of this process.
func create(dir string) (*pages, error) {
	for try := 1; ; try++ {
		p, err := tryCreate(dir)
		if err == nil || !errors.Is(err, errTaken) || try == maxTries {
			return p, err
		}
	}
}

// tryCreate loses, with errTaken, to another process that finds the file before
// it is locked and takes it for a dead one's.
func tryCreate(dir string) (_ *pages, err error) {
	f, err := os.CreateTemp(dir, fmt.Sprintf("%s%d-*", prefix, os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			_ = f.Close()
		}
	}()
	locked, err := lock(f)
	if err != nil {
		return nil, err
	}
	if !locked || !stands(f) {
		return nil, fmt.Errorf("%s: %w", f.Name(), errTaken)
	}
	// Written, not just made longer: a page without a place on the disk would be
	// a fault later.
	if _, err := f.Write(make([]byte, fileSize)); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, fileSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: map: %w", f.Name(), err)
	}
	return &pages{mem: mem, file: f}, nil
}

// remove takes the file away and, when nobody uses them, the pages.
func (p *pages) remove(idle bool) error {
	err := errors.Join(removed(p.file.Name()), p.file.Close())
	if idle {
		err = errors.Join(err, unix.Munmap(p.mem))
	}
	return err
}

// gather returns what the dead left in dir and, to consume it, removes their
// files. What cannot be read is an error; the rest is returned.
func gather(dir string, consume bool) ([]Death, error) {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	var all [][]Death
	for _, e := range entries {
		// Anything but a regular file could keep the start waiting.
		if !strings.HasPrefix(e.Name(), prefix) || !e.Type().IsRegular() {
			continue
		}
		deaths, err := deathsOf(filepath.Join(dir, e.Name()), consume)
		all, errs = append(all, deaths), append(errs, err)
	}
	return newestFirst(all), errors.Join(errs...)
}

func deathsOf(path string, consume bool) (_ []Death, err error) {
	f, err := trust.OpenRegular(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	locked, err := lock(f)
	if err != nil || !locked {
		return nil, err // not locked: its owner lives, or another start reads it
	}
	if !stands(f) {
		return nil, nil // another start has read it
	}
	data, err := io.ReadAll(io.LimitReader(f, fileSize))
	if consume {
		err = errors.Join(err, removed(path))
	}
	return deathsIn(data), err
}

// removed removes a file that may be gone already.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// lock takes the lock of f, or returns false when somebody else has it.
func lock(f *os.File) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, fmt.Errorf("%s: lock: %w", f.Name(), err)
		}
	}
}

// stands tells whether the open file is still the one of its name.
func stands(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, named)
}
