package fs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

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
