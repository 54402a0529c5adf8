package fs

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"starling/trust"
)

// MaxTree is the number of files above which a Tree is not known.
const MaxTree = 50_000

// Tree is how the files of a session stood at one moment: size, time, inode and
// mode, never a content. Files that git ignores are not in it. A nil Tree is not
// known.
type Tree struct {
	files map[string]stamp
}

type stamp struct {
	size, sec, nsec int64
	inode           uint64
	mode            uint32
}

// Snapshot looks at every file of one jail. It is nil, without an error, when
// there are more than MaxTree.
func Snapshot(ctx context.Context, jail *trust.Jail) (*Tree, error) { return New(jail).Snapshot(ctx) }

// Snapshot looks at every file of the workspace and the further folders. It is
// nil, without an error, when there are more than MaxTree.
func (f *Files) Snapshot(ctx context.Context) (*Tree, error) { return f.snapshot(ctx, MaxTree) }

func (f *Files) snapshot(ctx context.Context, most int) (*Tree, error) {
	t := &Tree{files: map[string]stamp{}}
	var mu sync.Mutex
	full := false
	for i, jail := range append([]*trust.Jail{f.jail}, f.opt.Folders...) {
		at := place{jail: jail, rel: ".", abs: jail.Dir(), name: jail.Dir()}
		if i == 0 {
			at.name = "."
		}
		_, err := f.walk(ctx, at, func(e *entry) bool {
			s, ok := stampOf(e.dir.fd, e.name)
			mu.Lock()
			defer mu.Unlock()
			if ok {
				t.files[below(at.name, e.path())] = s
			}
			full = full || len(t.files) > most
			return !full
		})
		if full {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// held is a content that is known of a file as long as the file has the stamp.
type held struct {
	stamp  stamp
	digest digest
}

// hold remembers the content of a file that was read or written. What the file was at
// the start of a reading it must be at the end.
func (f *Files) hold(at place, d digest, before iofs.FileInfo) {
	now, err := at.jail.Stat(at.rel)
	if err != nil {
		return
	}
	s, ok := stampOfInfo(now)
	if was, also := stampOfInfo(before); !ok || before != nil && (!also || was != s) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) >= MaxTree {
		clear(f.held)
	}
	f.held[at.name] = held{s, d}
}

// Bounds of the contents that Changes reads: of one file, and of all of one call.
const (
	maxHashed    = 1 << 20
	maxHashedAll = 16 << 20
)

// Changes is Diff with the digests that cost little: before, of a file that a tool of
// this session read or wrote as it was then; after, of a regular file of at most
// maxHashed bytes, until maxHashedAll bytes were read. Others are "".
func (f *Files) Changes(ctx context.Context, before, after *Tree) []Change {
	changes := before.Diff(after)
	left := int64(maxHashedAll)
	for i := range changes {
		c := &changes[i]
		f.mu.Lock()
		h, known := f.held[c.Path]
		f.mu.Unlock()
		if was, there := before.files[c.Path]; known && there && was == h.stamp {
			c.Before = h.digest.String()
		}
		now, there := after.files[c.Path]
		if !there || now.mode&unix.S_IFMT != unix.S_IFREG || now.size > min(maxHashed, left) {
			continue
		}
		left -= now.size
		if d, ok := f.digestOf(ctx, c.Path, now); ok {
			c.After = d.String()
		}
	}
	return changes
}

// digestOf reads a file that still has its stamp.
func (f *Files) digestOf(ctx context.Context, path string, want stamp) (digest, bool) {
	at, err := f.locate(path)
	if err != nil || at.jail == nil {
		return digest{}, false
	}
	file, err := at.jail.Open(at.rel)
	if err != nil {
		return digest{}, false
	}
	defer file.Close()
	info, err := file.Stat()
	if s, ok := stampOfInfo(info); err != nil || !ok || s != want {
		return digest{}, false
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(&cancelled{ctx, file}, maxHashed)); err != nil {
		return digest{}, false
	}
	d := digest(hash.Sum(nil))
	f.hold(at, d, info)
	return d, true
}

func stampOfInfo(info iofs.FileInfo) (stamp, bool) {
	if info == nil {
		return stamp{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	at := info.ModTime()
	return stamp{size: info.Size(), sec: at.Unix(), nsec: int64(at.Nanosecond()), inode: st.Ino, mode: uint32(st.Mode)}, true
}

func stampOf(dir int, name string) (stamp, bool) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		sec, nsec := st.Mtim.Unix()
		return stamp{size: st.Size, sec: sec, nsec: nsec, inode: st.Ino, mode: uint32(st.Mode)}, err == nil
	}
}

// Diff returns what changed between two moments, sorted by path, without digests:
// no content was read. It is nil when one of them is not known.
func (t *Tree) Diff(newer *Tree) []Change {
	if t == nil || newer == nil {
		return nil
	}
	var out []Change
	for path, now := range newer.files {
		if before, was := t.files[path]; !was {
			out = append(out, Change{Path: path, Kind: Created})
		} else if before != now {
			out = append(out, Change{Path: path, Kind: Modified})
		}
	}
	for path := range t.files {
		if _, is := newer.files[path]; !is {
			out = append(out, Change{Path: path, Kind: Deleted})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}
