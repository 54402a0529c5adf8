package trust

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Lock is an exclusive lock on a file, held until Unlock or the death of the
// process.
type Lock struct{ file *os.File }

// Lock locks a file of the jail, which is made with its folders when it is not
// there. It does not wait: ok is false when anybody else holds it, in this
// process too.
func (j *Jail) Lock(path string) (lock *Lock, ok bool, err error) {
	rel, err := j.resolve(path, true)
	if err != nil {
		return nil, false, err
	}
	dir, base, err := j.parent(path, rel)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	f, err := dir.OpenFile(base, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, false, j.say(path, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false, errors.Join(fmt.Errorf("%s is no file to lock", path), err, f.Close())
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, f.Close()
	}
	if err != nil {
		return nil, false, errors.Join(j.say(path, err), f.Close())
	}
	return &Lock{f}, true, nil
}

// Unlock gives the lock back; the file stays.
func (l *Lock) Unlock() error { return l.file.Close() }
