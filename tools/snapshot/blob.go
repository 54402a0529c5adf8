package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"starling/trust"
)

const temporary = ".tmp-"

func (s *Store) blobs() string                 { return filepath.Join(s.Dir, "blobs") }
func (s *Store) blobPath(digest string) string { return filepath.Join(s.blobs(), digest) }

// blob is a content that is being stored.
type blob struct {
	s    *Store
	file *os.File
	hash hash.Hash
	size int64
	max  int64
	err  error // why it refused to be written
}

func (s *Store) newBlob(limit int64) (*blob, error) {
	if err := s.failing("create"); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(s.blobs(), temporary+"*")
	if err != nil {
		return nil, err
	}
	return &blob{s: s, file: f, hash: sha256.New(), max: limit}, nil
}

// Write refuses what goes beyond the bound.
func (b *blob) Write(p []byte) (n int, err error) {
	defer func() { b.err = errors.Join(b.err, err) }()
	if b.size+int64(len(p)) > b.max {
		return 0, &TooMuchError{Bytes: b.max}
	}
	if err := b.s.failing("write"); err != nil {
		return 0, err
	}
	n, err = b.file.Write(p)
	b.hash.Write(p[:n])
	b.size += int64(n)
	return n, err
}

func (b *blob) drop() {
	// It is only a leftover; pruning looks for those too.
	_ = b.file.Close()
	_ = os.Remove(b.file.Name())
}

// keep puts the content under its digest, on disk for good once the folder is
// synced too.
func (b *blob) keep() (digest string, err error) {
	digest = hex.EncodeToString(b.hash.Sum(nil))
	to := b.s.blobPath(digest)
	if info, err := os.Lstat(to); err == nil && info.Mode().IsRegular() && info.Size() == b.size {
		b.drop()
		return digest, nil
	}
	err = b.s.failing("sync")
	if err == nil {
		err = b.file.Sync()
	}
	err = errors.Join(err, b.file.Close())
	if err == nil {
		err = b.s.failing("rename")
	}
	if err == nil {
		err = os.Rename(b.file.Name(), to)
	}
	if err != nil {
		_ = os.Remove(b.file.Name())
		return "", err
	}
	return digest, nil
}

// putFile stores the content of a regular file.
func (s *Store) putFile(path string, limit int64) (digest string, size int64, err error) {
	f, err := openRegular(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	return s.put(f, limit)
}

func (s *Store) put(r io.Reader, limit int64) (digest string, size int64, err error) {
	b, err := s.newBlob(limit)
	if err != nil {
		return "", 0, err
	}
	if _, err := io.Copy(b, r); err != nil {
		b.drop()
		return "", 0, err
	}
	digest, err = b.keep()
	return digest, b.size, err
}

// openBlob opens a content; reading it to its end fails when it is not what its
// name says.
func (s *Store) openBlob(digest string) (io.ReadCloser, error) {
	f, err := trust.OpenRegular(s.blobPath(digest), os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("content %.12s: %w", digest, err)
	}
	return &checked{file: f, digest: digest, hash: sha256.New()}, nil
}

type checked struct {
	file   *os.File
	digest string
	hash   hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(c.hash.Sum(nil)) != c.digest {
		return n, fmt.Errorf("content %.12s is damaged", c.digest)
	}
	return n, err
}

func (c *checked) Close() error { return c.file.Close() }

// digestOf is the digest of a regular file.
func digestOf(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// syncFolder makes names in a folder last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// each runs work for 0…n-1, a few at once, and returns the first errors. Syncs of
// several files cost little more than that of one.
func each(n int, work func(i int) error) error {
	const workers = 8
	var wg sync.WaitGroup
	next := make(chan int)
	errs := make([]error, min(workers, n))
	for w := range errs {
		wg.Go(func() {
			for i := range next {
				if errs[w] == nil {
					errs[w] = work(i)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// gone tells that a path is not there, whatever part of it is missing.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || notFolder(err) }
