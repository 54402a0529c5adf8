package snapshot

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"starling/trust/command"
)

// Take holds what the losses would discard. When it returns a snapshot, all of it
// is on disk for good, and its Stake says whether to ask; nil means that there was
// nothing to hold. An error means
// that it cannot be held, and the command must not run; a *TooMuchError says that
// it is too large. why is the command, for people.
func (s *Store) Take(ctx context.Context, losses []command.Loss, why string) (*Snapshot, error) {
	p, err := s.plan(ctx, losses)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	snap, err := s.write(ctx, p, why)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return snap, nil
}

func (s *Store) write(ctx context.Context, p *plan, why string) (*Snapshot, error) {
	if p.stake == Nothing {
		return nil, nil
	}
	snap := &Snapshot{Version: version, Workspace: Name(s.Workspace), Why: Name(why), Stake: p.stake}
	if err := p.list(snap); err != nil {
		return nil, err
	}
	if len(snap.Files) == 0 && len(snap.Repos) == 0 {
		return nil, nil // all that was spared was too large
	}
	if err := s.make(); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, false)
	if err != nil {
		return nil, err
	}
	err = s.fill(ctx, p, snap)
	return snap, errors.Join(err, unlock())
}

// fill stores the contents, then the manifest: what is listed is whole.
func (s *Store) fill(ctx context.Context, p *plan, snap *Snapshot) error {
	if err := s.storeFiles(ctx, snap); err != nil {
		return err
	}
	for i := range snap.Repos {
		if err := s.storeRepo(ctx, p, &snap.Repos[i]); err != nil {
			return err
		}
	}
	if err := syncFolder(s.blobs()); err != nil {
		return err
	}
	snap.Time = s.now()
	for {
		id, err := s.newID(snap.Time)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(s.path(id)); err != nil {
			snap.ID = id
			break
		}
	}
	data, err := json.MarshalIndent(snap, "", "\t")
	if err != nil {
		return err
	}
	if err := s.failing("manifest"); err != nil {
		return err
	}
	if err := renameio.WriteFile(s.path(snap.ID), append(data, '\n'), 0o600, renameio.WithStaticPermissions(0o600), renameio.WithTempDir(s.Dir)); err != nil {
		return err
	}
	return errors.Join(syncFolder(s.Dir), syncFolder(filepath.Dir(s.Dir)))
}

// list turns the plan into entries without contents, within the bounds.
func (p *plan) list(snap *Snapshot) error {
	too := &TooMuchError{}
	var spareBytes, spareFiles int64
	dirs := map[string]bool{}
	for _, path := range sortedKeys(p.items) {
		it := p.items[path]
		info, err := os.Lstat(path)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		f := File{Path: Name(path), Kind: Regular, Mode: Mode(info.Mode().Perm()), Size: info.Size()}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			f = File{Path: Name(path), Kind: Link, Target: Name(target)}
		} else if !info.Mode().IsRegular() {
			continue
		}
		if it.spare {
			if f.Size > heldFileBytes || spareBytes+f.Size > heldBytes || spareFiles == heldFiles {
				snap.Left++
				continue
			}
			spareBytes, spareFiles = spareBytes+f.Size, spareFiles+1
		} else {
			too.Files, too.Bytes = too.Files+1, too.Bytes+f.Size
			if f.Size >= too.LargestBytes {
				too.Largest, too.LargestBytes = path, f.Size
			}
		}
		snap.Files = append(snap.Files, f)
		parents(dirs, path, it.base)
	}
	if too.Bytes > p.s.maxBytes() || too.Files > p.s.maxFiles() {
		return too
	}
	for path := range p.gone {
		snap.Files = append(snap.Files, File{Path: Name(path), Kind: Gone})
	}
	slices.SortFunc(snap.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for path := range p.dirs {
		dirs[path] = true
	}
	for _, path := range sortedKeys(dirs) {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			snap.Dirs = append(snap.Dirs, Folder{Path: Name(path), Mode: Mode(info.Mode().Perm())})
		}
	}
	for _, dir := range sortedKeys(p.repos) {
		r := p.repos[dir]
		if len(r.index)+len(r.stash)+len(r.refs) == 0 && !r.tree && !p.under(dir) {
			continue
		}
		slices.SortFunc(r.index, func(a, b Entry) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Stage, b.Stage))
		})
		snap.Repos = append(snap.Repos, Repo{
			Dir: Name(dir), Head: r.head, Branch: r.branch, Tree: r.tree, Index: r.index, Stash: r.stash, Refs: r.refs,
		})
	}
	return nil
}

// under tells whether a path of a working tree is held.
func (p *plan) under(dir string) bool {
	for path := range p.items {
		if below(path, dir) {
			return true
		}
	}
	for path := range p.gone {
		if below(path, dir) {
			return true
		}
	}
	return false
}

// parents adds the folders above a path, up to its base.
func parents(dirs map[string]bool, path, base string) {
	for dir := filepath.Dir(path); below(dir, base) && !dirs[dir]; dir = filepath.Dir(dir) {
		dirs[dir] = true
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

func (s *Store) storeFiles(ctx context.Context, snap *Snapshot) error {
	vanished := make([]bool, len(snap.Files))
	err := each(len(snap.Files), func(i int) error {
		f := &snap.Files[i]
		if f.Kind != Regular {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		f.Digest, f.Size, err = s.putFile(string(f.Path), s.maxBytes())
		if gone(err) {
			_, err := os.Lstat(string(f.Path))
			if vanished[i] = gone(err); vanished[i] {
				return nil
			}
		}
		if err != nil {
			return fmt.Errorf("cannot hold %s: %w", f.Path, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	i := -1
	snap.Files = slices.DeleteFunc(snap.Files, func(File) bool { i++; return vanished[i] })
	return nil
}

// storeRepo stores the staged contents and the objects of stash and refs.
func (s *Store) storeRepo(ctx context.Context, p *plan, r *Repo) error {
	if err := s.storeIndex(ctx, p.git, r); err != nil {
		return fmt.Errorf("staged content of %s: %w", r.Dir, err)
	}
	if len(r.Stash)+len(r.Refs) == 0 {
		return nil
	}
	var in strings.Builder
	for _, e := range r.Stash {
		in.WriteString(e.Commit + "\n")
	}
	for _, ref := range r.Refs {
		in.WriteString(ref.Commit + "\n")
	}
	for _, id := range p.repos[string(r.Dir)].holders {
		in.WriteString("^" + id + "\n")
	}
	b, err := s.newBlob(s.maxBytes())
	if err != nil {
		return err
	}
	err = p.git.stream(ctx, string(r.Dir), strings.NewReader(in.String()), b, "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset")
	if b.err != nil {
		err = b.err // git only says that nobody reads on
	}
	if err != nil {
		b.drop()
		return fmt.Errorf("commits of %s: %w", r.Dir, err)
	}
	r.Pack, err = b.keep()
	r.Size = b.size
	return err
}

// storeIndex reads the staged contents from git, all in one process.
func (s *Store) storeIndex(ctx context.Context, g *git, r *Repo) error {
	wanted := map[string][]int{}
	var order []string
	for i, e := range r.Index {
		if e.Gone || e.Intent || e.Committed || e.Mode == "160000" {
			continue
		}
		if wanted[e.Object] == nil {
			order = append(order, e.Object)
		}
		wanted[e.Object] = append(wanted[e.Object], i)
	}
	if len(order) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pr, pw := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := g.stream(ctx, string(r.Dir), strings.NewReader(strings.Join(order, "\n")+"\n"), pw, "cat-file", "--batch")
		pw.CloseWithError(err)
		ended <- err
	}()
	out, left := bufio.NewReader(pr), s.maxBytes()
	read := func(object string) error {
		digest, size, err := s.object(out, object, left)
		if err != nil {
			return err
		}
		left -= size
		for _, i := range wanted[object] {
			r.Index[i].Digest, r.Index[i].Size = digest, size
		}
		return nil
	}
	for _, object := range order {
		if err := read(object); err != nil {
			cancel()
			pr.CloseWithError(err)
			<-ended
			return err
		}
	}
	return <-ended
}

// object reads one answer of git cat-file --batch.
func (s *Store) object(out *bufio.Reader, object string, limit int64) (digest string, size int64, err error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != object || f[1] != "blob" {
		return "", 0, fmt.Errorf("git has no content %s: it says %q", object, strings.TrimSpace(line))
	}
	if size, err = strconv.ParseInt(f[2], 10, 64); err != nil {
		return "", 0, err
	}
	digest, got, err := s.put(io.LimitReader(out, size), limit)
	if err == nil && got != size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = out.Discard(1) // the line end behind it
	}
	return digest, size, err
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
