package session

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"starling/trust"

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
// process id now.
func lock(f *os.File, id string) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(lockWait); errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return &LockedError{ID: id, Owner: ownerOf(f)}
	}
	if err != nil {
		return fmt.Errorf("session %s: lock: %w", id, err)
	}
	return nil
}

// own says beside the file who goes on with it.
func own(f *os.File, owner string, now time.Time) {
	// Who it is only makes a message better: a full disk is no reason to refuse.
	file, err := trust.OpenRegular(ownerFile(f.Name()), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.WriteString(since(owner, now) + "\n")
}

// ownerOf reads who writes a session: whoever goes on with it says so beside the file,
// whoever began it in its header.
func ownerOf(f *os.File) string {
	if text, err := trust.ReadRegular(ownerFile(f.Name()), maxHeader); err == nil {
		return strings.TrimSpace(string(text))
	}
	var h headerLine
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, maxHeader)).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &h) != nil || h.Owner == "" {
		return ""
	}
	return since(h.Owner, h.Started)
}

// maxHeader is more than any header has, in bytes.
const maxHeader = 64 << 10

func since(owner string, begin time.Time) string {
	return owner + " since " + begin.UTC().Format(time.RFC3339)
}

func ownerFile(path string) string { return path + ".owner" }

// goneOn is the file of a session that somebody goes on with, until Close.
type goneOn struct{ *os.File }

func (f goneOn) Close() error {
	_ = os.Remove(ownerFile(f.Name()))
	return f.File.Close()
}
