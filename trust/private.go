package trust

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

const (
	lockWait  = 10 * time.Second
	lockRetry = 5 * time.Millisecond
)

// LockFile takes the lock at a path, which one process has at a time and closes when it is
// done. It waits for another one at most ten seconds. The folder has to be there.
func LockFile(path string) (io.Closer, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
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
