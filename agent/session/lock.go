package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is what a session that another writer holds is refused with.
var ErrLocked = errors.New("the session is in use")

// LockedError says who writes a session. It is ErrLocked.
type LockedError struct {
	ID string
	// Owner is the writer's description of itself, "" when there is none.
	Owner string
}

func (e *LockedError) Error() string {
	who := e.Owner
	if who == "" {
		who = "another process"
	}
	return fmt.Sprintf("session %s is in use by %s; wait for its end, or begin another session", e.ID, who)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// lockWait is how long a lock may be held by nobody: a command that its owner was
// starting when it was killed has the owner's files until it runs.
const lockWait = time.Second

// lock locks the file of a session. The lock is the kernel's, on the open file: it
// ends with the process, so that of a dead owner is free at once, whatever has its
// process id now. owner says who we are.
func lock(f *os.File, id, owner string, now time.Time) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(lockWait); errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	path := ownerFile(f.Name())
	if errors.Is(err, unix.EWOULDBLOCK) {
		text, _ := os.ReadFile(path)
		return &LockedError{ID: id, Owner: strings.TrimSpace(string(text))}
	}
	if err != nil {
		return fmt.Errorf("session %s: lock: %w", id, err)
	}
	// Who it is only makes a message better: a full disk is no reason to refuse.
	_ = os.WriteFile(path, fmt.Appendf(nil, "%s since %s\n", owner, now.UTC().Format(time.RFC3339)), 0o600)
	return nil
}

// unlock gives the lock back and closes the file.
func unlock(f *os.File) error {
	_ = os.Remove(ownerFile(f.Name()))
	return f.Close()
}

func ownerFile(path string) string { return path + ".owner" }

// lockedFile gives the lock back on Close.
type lockedFile struct{ *os.File }

func (f lockedFile) Close() error { return unlock(f.File) }
