package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"starling/trust"

	"github.com/gofrs/flock"
)

// Bounds of one snapshot.
const (
	DefaultMaxBytes = 512 << 20
	DefaultMaxFiles = 20_000
)

// Bounds of what is held without a question.
const (
	heldFileBytes = 4 << 20
	heldBytes     = 64 << 20
	heldFiles     = 1000
)

const lockRetry = 20 * time.Millisecond

// Store is a folder of snapshots of one workspace. It may be copied; its fields
// are not changed once it is in use.
type Store struct {
	// Dir is made, for its owner only, by the first snapshot; absolute.
	Dir string
	// Workspace is absolute, links resolved. Relative paths mean it, and git is
	// never run from inside it.
	Workspace string
	// Environ is where PATH, HOME and the configuration of git are looked up, as
	// NAME=VALUE.
	Environ []string
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// Rand makes ids differ, the system's source when nil.
	Rand io.Reader
	// MaxBytes and MaxFiles bound one snapshot; 0 is the default.
	MaxBytes int64
	MaxFiles int

	fault func(op string) error // for tests
}

// Root is the folder that holds the stores of all workspaces.
func Root(home string) string { return filepath.Join(home, "snapshots") }

// Dir is where the snapshots of a workspace stand below starling's home.
func Dir(home, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(Root(home), hex.EncodeToString(sum[:8]))
}

// RestoreCommand is what a person types to bring a snapshot back.
func RestoreCommand(id string) string { return "starling session restore " + id }

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now().UTC().Truncate(time.Millisecond)
	}
	return s.Now().UTC().Truncate(time.Millisecond)
}

func (s *Store) maxBytes() int64 {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return DefaultMaxBytes
}

func (s *Store) maxFiles() int {
	if s.MaxFiles > 0 {
		return s.MaxFiles
	}
	return DefaultMaxFiles
}

// newID makes an id that sorts by time.
func (s *Store) newID(now time.Time) (string, error) {
	random := s.Rand
	if random == nil {
		random = rand.Reader
	}
	var b [3]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("snapshot id: %w", err)
	}
	return strings.Replace(now.Format("20060102-150405.000"), ".", "-", 1) + "-" + hex.EncodeToString(b[:]), nil
}

// validID tells whether a text can be an id: it becomes part of a path.
func validID(id string) bool {
	for _, c := range []byte(id) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == '-') {
			return false
		}
	}
	return id != "" && id[0] != '-'
}

// make makes the folders of the store.
func (s *Store) make() error {
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("snapshots: the folder %q is no absolute path", s.Dir)
	}
	if err := os.MkdirAll(s.blobs(), 0o700); err != nil {
		return fmt.Errorf("snapshots: %w", err)
	}
	return nil
}

// lock keeps other processes from removing contents (shared) or from adding them
// (exclusive). It waits until ctx ends.
func (s *Store) lock(ctx context.Context, exclusive bool) (unlock func() error, err error) {
	l := flock.New(filepath.Join(s.Dir, "lock"), flock.SetPermissions(0o600), flock.SetFlag(trust.LockFlag))
	take := l.TryRLockContext
	if exclusive {
		take = l.TryLockContext
	}
	if _, err := take(ctx, lockRetry); err != nil {
		return nil, errors.Join(fmt.Errorf("snapshots: the store is busy: %w", err), l.Close())
	}
	return l.Close, nil
}

func (s *Store) failing(op string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(op)
}

// TooMuchError refuses what is larger than a snapshot may be.
type TooMuchError struct {
	Bytes        int64 // of all files; 0 when there are too many to add up
	Files        int
	Largest      string
	LargestBytes int64
}

func (e *TooMuchError) Error() string {
	const next = "commit it or move it away first, or name less"
	switch {
	case e.Bytes == 0:
		return fmt.Sprintf("too much to hold: more than %d files (one is %s); %s", e.Files, e.Largest, next)
	case e.Largest == "":
		return fmt.Sprintf("too much to hold: more than %s of staged content or commits; %s", size(e.Bytes), next)
	}
	return fmt.Sprintf("too much to hold: %s in %s, the largest is %s with %s; %s",
		size(e.Bytes), count(e.Files, "file"), e.Largest, size(e.LargestBytes), next)
}

// size is a number of bytes for people.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return count(int(n), "byte")
	}
	value, names := float64(n)/unit, "kMGTPE"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %cB", value, names[0])
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(what, "y"))
	case strings.HasSuffix(what, "h"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
