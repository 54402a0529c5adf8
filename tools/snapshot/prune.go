package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"starling/trust"
)

// Keep says which snapshots stay. Zero values are the defaults.
type Keep struct {
	Age    time.Duration // 30 days
	Bytes  int64         // of all contents on disk, 2 GiB
	Newest int           // this many stay whatever they weigh, 20
}

// Defaults of Keep.
const (
	DefaultKeepAge    = 30 * 24 * time.Hour
	DefaultKeepBytes  = 2 << 30
	DefaultKeepNewest = 20
)

// Prune removes snapshots that are too old, then the oldest while all contents
// weigh too much, and every content that no snapshot needs. It returns how many
// snapshots it removed. While a snapshot cannot be read nothing is removed.
func (s *Store) Prune(ctx context.Context, keep Keep) (removed int, err error) {
	if keep.Age == 0 {
		keep.Age = DefaultKeepAge
	}
	if keep.Bytes == 0 {
		keep.Bytes = DefaultKeepBytes
	}
	if keep.Newest == 0 {
		keep.Newest = DefaultKeepNewest
	}
	if _, err := os.Lstat(s.blobs()); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	unlock, err := s.lock(ctx, true)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	all, err := s.List()
	if err != nil {
		return 0, err
	}
	sizes, total, err := s.contents()
	if err != nil {
		return 0, err
	}
	uses := map[string]int{}
	for _, snap := range all {
		for _, d := range snap.digests() {
			uses[d]++
		}
	}
	free := func(snap *Snapshot) {
		for _, d := range snap.digests() {
			if uses[d]--; uses[d] == 0 {
				total -= sizes[d]
			}
		}
	}
	for d, n := range sizes { // leftovers of a process that died
		if uses[d] == 0 {
			total -= n
		}
	}
	for i := len(all) - 1; i >= keep.Newest; i-- { // the oldest is the last
		if s.now().Sub(all[i].Time) <= keep.Age && total <= keep.Bytes {
			break
		}
		if err := os.Remove(s.path(all[i].ID)); err != nil {
			return removed, fmt.Errorf("snapshots: %w", err)
		}
		removed++
		free(all[i])
	}
	// A content may go only when the manifest that named it is gone for good.
	if err := syncFolder(s.Dir); err != nil {
		return removed, err
	}
	for d := range sizes {
		if uses[d] > 0 {
			continue
		}
		if err := os.Remove(s.blobPath(d)); err != nil {
			return removed, fmt.Errorf("snapshots: %w", err)
		}
	}
	return removed, nil
}

// pruned is the file whose time says when PruneDaily last did something.
const pruned = "pruned"

// PruneDaily is Prune by the defaults, at most once in 24 hours for each store. It
// costs one look at a file otherwise.
func (s *Store) PruneDaily(ctx context.Context) error {
	stamp := filepath.Join(s.Dir, pruned)
	now := s.now()
	info, err := os.Lstat(stamp)
	if err == nil && now.Sub(info.ModTime()).Abs() < 24*time.Hour {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("snapshots: %w", err)
	}
	if _, err := s.Prune(ctx, Keep{}); err != nil {
		return err
	}
	f, err := trust.OpenRegular(stamp, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("snapshots: %w", err)
	}
	f.Close()
	return os.Chtimes(stamp, now, now)
}

// contents are the files of the contents and their sizes, leftovers among them.
func (s *Store) contents() (sizes map[string]int64, total int64, err error) {
	entries, err := os.ReadDir(s.blobs())
	if err != nil {
		return nil, 0, fmt.Errorf("snapshots: %w", err)
	}
	sizes = map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, 0, err
		}
		sizes[e.Name()] = info.Size()
		total += info.Size()
	}
	return sizes, total, nil
}
