package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"starling/trust"
)

// DefaultMaxBlobs is what the store of contents may take, 256 MiB.
const DefaultMaxBlobs = 256 << 20

const digestPrefix = "sha256:"

// blobs keeps contents by digest, the least recently written go first when it is
// full.
type blobs struct {
	dir string
	max int64
	now func() time.Time

	mu   sync.Mutex
	size int64 // what the folder holds, -1 when not known yet
}

func (st Store) blobs() *blobs {
	b := &blobs{dir: filepath.Join(st.Dir, "blobs"), max: st.MaxBlobs, now: st.now, size: -1}
	if b.max <= 0 {
		b.max = DefaultMaxBlobs
	}
	return b
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return digestPrefix + hex.EncodeToString(sum[:])
}

func (b *blobs) path(digest string) (string, error) {
	digits, ok := strings.CutPrefix(digest, digestPrefix)
	if sum, err := hex.DecodeString(digits); !ok || err != nil || len(sum) != sha256.Size {
		return "", fmt.Errorf("%q is no digest", digest)
	}
	return filepath.Join(b.dir, digits), nil
}

// put stores a content; one that is larger than the whole store is left out. It
// does not sync: get finds out what a crash spoiled.
func (b *blobs) put(digest string, content []byte) (err error) {
	path, err := b.path(digest)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	size := int64(len(content))
	if size > b.max {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		return os.Chtimes(path, time.Time{}, b.now()) // used again: keep it longer
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	if err := b.makeRoom(size); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.dir, ".new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chtimes(f.Name(), time.Time{}, b.now())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	b.size += size
	return nil
}

// makeRoom removes the oldest contents until size more fit, and some more, so
// that this is rare.
func (b *blobs) makeRoom(size int64) error {
	if b.size >= 0 && b.size+size <= b.max {
		return nil
	}
	entries, err := os.ReadDir(b.dir) // anew: other processes store too
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	b.size = 0
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
			b.size += info.Size()
		}
	}
	if b.size+size <= b.max {
		return nil
	}
	slices.SortFunc(files, func(x, y fs.FileInfo) int { return x.ModTime().Compare(y.ModTime()) })
	for _, f := range files {
		if b.size+size <= b.max-b.max/10 {
			break
		}
		if err := os.Remove(filepath.Join(b.dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		b.size -= f.Size()
	}
	return nil
}

// get returns a content, ErrGone when it is not there or not what it was.
func (b *blobs) get(digest string) ([]byte, error) {
	path, err := b.path(digest)
	if err != nil {
		return nil, err
	}
	content, err := trust.ReadRegular(path, b.max)
	if errors.Is(err, fs.ErrNotExist) || err == nil && digestOf(content) != digest {
		return nil, ErrGone
	}
	return content, err
}
