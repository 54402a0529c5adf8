package trust

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

const (
	lockWait  = 10 * time.Second
	lockRetry = 5 * time.Millisecond
)

// LockFlag opens the file of a lock. A pipe in its place is locked like a file, and not
// waited for.
const LockFlag = os.O_CREATE | os.O_RDONLY | syscall.O_NONBLOCK

// LockFile takes the lock at a path, which one process has at a time and closes when it is
// done. It waits for another one at most ten seconds. The folder has to be there.
func LockFile(path string) (io.Closer, error) {
	lock := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(LockFlag))
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: another starling holds it: %w", path, err)
		}
		return nil, err
	}
	return lock, nil
}

// WritePrivate replaces a file in one step, for its owner's eyes only. A link stays a
// link.
func WritePrivate(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return renameio.WriteFile(path, data, 0o600, renameio.WithStaticPermissions(0o600))
}
