package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"starling/trust"
	"starling/trust/command"
)

// State of a part of a restored snapshot.
type State string

// The states.
const (
	Restored State = "restored"
	Same     State = "already there"
	Removed  State = "removed"    // it was deleted when the snapshot was taken
	Kept     State = "left alone" // of a repository that stands and differs
	Failed   State = "not restored"
)

// Result is what became of one part.
type Result struct {
	// What is "file", "staged", "stash", "branch" or "tree".
	What string `json:"what"`
	// Name is a path, the message of a stash entry or a ref.
	Name  Name  `json:"name"`
	State State `json:"state"`
	// Note says where it is or what to do, "" when there is nothing to say.
	Note string `json:"note,omitempty"`
}

// Report is what Restore did.
type Report struct {
	ID string `json:"id"`
	// Before is the snapshot of what stood in the way; "" when nothing did.
	Before  string   `json:"before,omitempty"`
	Results []Result `json:"results"`
	Notes   []string `json:"notes,omitempty"`
}

// Complete tells that nothing failed.
func (r *Report) Complete() bool {
	return !slices.ContainsFunc(r.Results, func(one Result) bool { return one.State == Failed })
}

func (r *Report) add(what string, name Name, state State, note string) {
	r.Results = append(r.Results, Result{What: what, Name: name, State: state, Note: note})
}

func (r *Report) failed(what string, name Name, err error) { r.add(what, name, Failed, err.Error()) }

// RestoreOptions say what is restored and where.
type RestoreOptions struct {
	// Paths limits it to these files and folders; relative ones mean the
	// workspace. Stash entries and branches are left alone then.
	Paths []string
	// To is a folder, absolute: the files are written below it, staged content
	// beside them as NAME.staged, and no repository is touched.
	To string
}

// Restore brings a snapshot back. ref is as in Load. What stands in the way is
// held in a snapshot of its own first. The report says for each part what became
// of it; an error means that nothing, or only what the report lists, was done.
func (s *Store) Restore(ctx context.Context, ref string, o RestoreOptions) (*Report, error) {
	snap, err := s.Load(ref)
	if err != nil {
		return nil, err
	}
	if err := s.choose(snap, o.Paths); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	report := &Report{ID: snap.ID}
	if o.To != "" {
		return report, s.writeBelow(ctx, snap, o.To, report)
	}
	r := &restorer{s: s, snap: snap, report: report}
	if r.git, err = s.git(); err != nil && len(snap.Repos) > 0 {
		return report, err
	}
	r.look(ctx)
	if err := r.holdFirst(ctx); err != nil {
		return report, err
	}
	return report, r.all(ctx)
}

// choose drops from a snapshot what was not asked for.
func (s *Store) choose(snap *Snapshot, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	wanted := make([]string, len(paths))
	used := make([]bool, len(paths))
	for i, p := range paths {
		wanted[i] = at(s.Workspace, p)
	}
	chosen := func(path string) bool {
		any := false
		for i, w := range wanted {
			if below(path, w) {
				any, used[i] = true, true
			}
		}
		return any
	}
	snap.Files = slices.DeleteFunc(snap.Files, func(f File) bool { return !chosen(string(f.Path)) })
	for i := range snap.Repos {
		r := &snap.Repos[i]
		r.Index = slices.DeleteFunc(r.Index, func(e Entry) bool { return !chosen(filepath.Join(string(r.Dir), string(e.Path))) })
		r.Stash, r.Refs, r.Pack = nil, nil, ""
		r.Tree = r.Tree && chosen(string(r.Dir))
	}
	for i, p := range paths {
		if !used[i] {
			return fmt.Errorf("snapshot %s holds nothing at %s; starling session snapshots --json lists what it holds", snap.ID, p)
		}
	}
	return nil
}

// holdFirst takes a snapshot of everything the restore would change.
func (r *restorer) holdFirst(ctx context.Context) error {
	s, snap := r.s, r.snap
	byTop := map[string][]string{}
	changes := map[string]bool{}
	add := func(path string) {
		dir, ok := top(path)
		if !ok {
			dir = filepath.Dir(path)
		}
		byTop[dir] = append(byTop[dir], path)
	}
	for _, f := range snap.Files {
		if path := string(f.Path); !r.repositories.has(path) && !r.taken.has(path) && !same(f) {
			add(path)
			changes[path] = true
		}
	}
	for _, repo := range snap.Repos {
		for _, e := range repo.Index {
			add(filepath.Join(string(repo.Dir), string(e.Path)))
		}
	}
	var losses []command.Loss
	for _, dir := range sortedKeys(byTop) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		losses = append(losses, command.Loss{
			Dir: dir, Names: byTop[dir],
			Kinds: []command.Lost{command.File, command.Worktree, command.Index, command.Untracked, command.Ignored},
		})
	}
	p, err := s.plan(ctx, losses)
	if err != nil {
		return err
	}
	// Only what will be another than now is held.
	for path, it := range p.items {
		if it.stake != Work || !changes[path] {
			delete(p.items, path)
		}
	}
	clear(p.gone)
	clear(p.dirs)
	for _, repo := range p.repos {
		i := slices.IndexFunc(snap.Repos, func(r Repo) bool { return string(r.Dir) == repo.dir })
		repo.index = slices.DeleteFunc(repo.index, func(e Entry) bool { return i < 0 || e.Committed || wants(snap.Repos[i], e) })
		repo.tree = false
	}
	before, err := s.write(ctx, p, "starling session restore "+snap.ID)
	if before != nil && err == nil {
		r.report.Before = before.ID
	}
	return err
}

// wants tells whether a snapshot has exactly this staged entry.
func wants(r Repo, e Entry) bool {
	return slices.ContainsFunc(r.Index, func(h Entry) bool {
		return h.Path == e.Path && h.Stage == e.Stage && h.Object == e.Object && h.Mode == e.Mode && h.Gone == e.Gone
	})
}

// own tells whether a file is of git itself.
func own(f File) bool { return slices.Contains(strings.Split(string(f.Path), "/"), ".git") }

// same tells whether a file of a snapshot stands as it was.
func same(f File) bool {
	info, err := os.Lstat(string(f.Path))
	switch {
	case err != nil:
		return f.Kind == Gone && gone(err)
	case f.Kind == Gone:
		return info.IsDir()
	case f.Kind == Link:
		target, err := os.Readlink(string(f.Path))
		return err == nil && target == string(f.Target)
	case f.Kind == Regular && info.Mode().IsRegular():
		if info.Size() != f.Size || Mode(info.Mode().Perm()) != f.Mode {
			return false
		}
		digest, err := digestOf(string(f.Path))
		return err == nil && digest == f.Digest
	}
	return false
}

// restorer brings a snapshot back in place.
type restorer struct {
	s      *Store
	git    *git
	snap   *Snapshot
	report *Report
	// repositories are the folders of git that are held whole, and taken those
	// that belong to another working tree now.
	repositories, taken places
	// elsewhere are files of merges that began on another commit.
	elsewhere places
}

// places are folders and single files.
type places []string

func (p places) has(path string) bool {
	return slices.ContainsFunc(p, func(place string) bool { return below(path, place) })
}

var errTaken = errors.New("another working tree has its place in the repository now; use --to DIR")

// look finds the repositories among the files, and what must not be touched.
func (r *restorer) look(ctx context.Context) {
	for _, repo := range r.snap.Repos {
		dir := string(repo.Dir)
		if !isTop(dir) {
			continue
		}
		if id, ok, err := r.git.commit(ctx, dir, "HEAD"); err != nil || !ok || id != repo.Head {
			for _, name := range pending {
				r.elsewhere = append(r.elsewhere, filepath.Join(gitFolder(dir), name))
			}
		}
	}
	for _, f := range r.snap.Files {
		path := string(f.Path)
		switch base := filepath.Base(path); {
		case base == ".git":
			r.repositories = append(r.repositories, path)
		case base == "HEAD" && own(f) && filepath.Base(filepath.Dir(path)) != "logs":
			r.repositories = append(r.repositories, filepath.Dir(path))
		case base == "gitdir" && own(f) && !same(f):
			if _, err := os.Lstat(path); err != nil {
				continue
			}
			r.taken = append(r.taken, filepath.Dir(path))
			if pointer, err := trust.ReadRegular(r.s.blobPath(f.Digest), maxPointer); err == nil {
				r.taken = append(r.taken, strings.TrimSuffix(string(pointer), "\n"))
			}
		}
	}
}

func (r *restorer) all(ctx context.Context) error {
	// The files that make a folder a working tree come first, then what git knows
	// of it, then the files that differ.
	for _, f := range r.snap.Files {
		if own(f) {
			r.file(f)
		}
	}
	for _, repo := range r.snap.Repos {
		if err := r.history(ctx, repo); err != nil {
			return err
		}
		if repo.Tree && !r.taken.has(filepath.Join(string(repo.Dir), ".git")) {
			r.populate(ctx, repo)
		}
	}
	// A file that was deleted may stand where a folder was.
	for _, deleted := range []bool{true, false} {
		for _, f := range r.snap.Files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !own(f) && (f.Kind == Gone) == deleted {
				r.file(f)
			}
		}
	}
	r.emptyFolders()
	for _, repo := range r.snap.Repos {
		if err := r.index(ctx, repo); err != nil {
			return err
		}
		r.head(ctx, repo)
	}
	return nil
}

// removeEmpty removes a folder in which there are folders alone. With anything else in
// it nothing is removed.
func removeEmpty(path string) error {
	var folders []string
	err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			err = errNotEmpty
		}
		folders = append(folders, at)
		return err
	})
	for _, folder := range slices.Backward(folders) {
		if err != nil {
			break
		}
		err = os.Remove(folder)
	}
	return err
}

var errNotEmpty = errors.New("there are files in it")

func (r *restorer) file(f File) {
	if same(f) {
		r.report.add("file", f.Path, Same, "")
		return
	}
	path := string(f.Path)
	switch _, err := os.Lstat(path); {
	case r.taken.has(path):
		r.report.failed("file", f.Path, errTaken)
		return
	case err == nil && r.repositories.has(path):
		// Parts of two repositories make none.
		r.report.add("file", f.Path, Kept, "")
		return
	case r.elsewhere.has(path):
		r.report.add("file", f.Path, Kept, "the merge began on another commit")
		return
	}
	if err := r.s.straight(path, r.snap); err != nil {
		r.report.failed("file", f.Path, err)
		return
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		if err := removeEmpty(path); err != nil { // folders without a file are nothing
			r.report.failed("file", f.Path, errors.New("a folder stands there now; use --to DIR"))
			return
		}
	}
	if f.Kind == Gone {
		if err := os.Remove(path); err != nil {
			r.report.failed("file", f.Path, err)
			return
		}
		r.report.add("file", f.Path, Removed, "")
		return
	}
	if err := r.s.place(f, path); err != nil {
		r.report.failed("file", f.Path, err)
		return
	}
	r.report.add("file", f.Path, Restored, "")
}

// straight makes the folders above a path and refuses one that a link leads
// elsewhere.
func (s *Store) straight(path string, snap *Snapshot) error {
	dir := filepath.Dir(path)
	var missing []string
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is no folder now; use --to DIR", dir)
		}
		if err == nil {
			break
		}
		if !gone(err) {
			return err
		}
		missing = append(missing, dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return fmt.Errorf("its folder leads to %s now; use --to DIR", real)
	}
	slices.Reverse(missing)
	for _, dir := range missing {
		if err := os.Mkdir(dir, modeOf(snap, dir)); err != nil {
			return err
		}
		if err := os.Chmod(dir, modeOf(snap, dir)); err != nil {
			return err
		}
	}
	return nil
}

func modeOf(snap *Snapshot, dir string) os.FileMode {
	i, ok := slices.BinarySearchFunc(snap.Dirs, dir, func(f Folder, dir string) int { return strings.Compare(string(f.Path), dir) })
	if ok {
		return os.FileMode(snap.Dirs[i].Mode) | 0o300 // or nothing could be put into it
	}
	return 0o755
}

// emptyFolders makes those that held nothing.
func (r *restorer) emptyFolders() {
	for _, d := range r.snap.Dirs {
		if _, err := os.Lstat(string(d.Path)); gone(err) {
			if err := r.s.straight(filepath.Join(string(d.Path), "x"), r.snap); err != nil {
				r.report.failed("file", d.Path, err)
			}
		}
	}
}

// place writes a file or a link; what stood there is replaced in one step.
func (s *Store) place(f File, path string) error {
	if f.Kind == Link {
		return renameio.Symlink(string(f.Target), path)
	}
	in, err := s.openBlob(f.Digest)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := os.FileMode(f.Mode)
	out, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer out.Cleanup() // nothing once it was replaced
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}
