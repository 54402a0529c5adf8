package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"starling/trust/command"
)

// Stake is what a command may discard.
type Stake int

// The stakes; the page of the package says what belongs to which.
const (
	Nothing Stake = iota // run it
	Held                 // take a snapshot and run it
	Work                 // take a snapshot and ask
)

// item is a path to hold.
type item struct {
	stake Stake
	// spare: it may be left out when it is large. What is at stake never is.
	spare bool
	base  string // the folder whose parents are not remembered
}

// request is what is wanted of one working tree.
type request struct {
	worktree, index, untracked, ignored bool
	// staged: only the staged bytes that stand nowhere else.
	staged bool
	// direct: the paths are removed or overwritten themselves, not through git.
	direct bool
	// aside: nothing of it is worth a question.
	aside bool
	// over: git puts files there, see overwritten.
	over  *over
	names []string // relative to the working tree; none means all
}

func (r request) matches(c change) bool {
	return len(r.names) == 0 || slices.ContainsFunc(r.names, func(n string) bool {
		return n == "." || below(c.path, n) || c.dir && below(n, c.path)
	})
}

// repoPlan is what is wanted of one repository besides files.
type repoPlan struct {
	dir          string
	head, branch string
	tree         bool
	index        []Entry
	stash        []Stash
	refs         []Ref
	holders      []string // commits that others hold
}

type plan struct {
	s        *Store
	git      *git // nil without the program
	items    map[string]item
	gone     map[string]bool
	dirs     map[string]bool
	repos    map[string]*repoPlan
	requests map[string][]request // by working tree
	stake    Stake
}

// Stake tells what the losses of a command would cost now. An error means that
// nobody can tell: the command must not run.
func (s *Store) Stake(ctx context.Context, losses []command.Loss) (Stake, error) {
	p, err := s.plan(ctx, losses)
	if err != nil {
		return Work, err
	}
	return p.stake, nil
}

func (s *Store) newPlan() (*plan, error) {
	g, err := s.git()
	if err != nil && !errors.Is(err, errNoGit) {
		return nil, err
	}
	return &plan{
		s: s, git: g, items: map[string]item{}, gone: map[string]bool{}, dirs: map[string]bool{},
		repos: map[string]*repoPlan{}, requests: map[string][]request{},
	}, nil
}

func (s *Store) plan(ctx context.Context, losses []command.Loss) (*plan, error) {
	p, err := s.newPlan()
	if err != nil {
		return nil, err
	}
	for _, l := range losses {
		if l.Dir == "" {
			l.Dir = s.Workspace
		}
		l.Dir = standingFolder(l.Dir)
		if err := p.loss(ctx, l); err != nil {
			return nil, err
		}
	}
	return p, p.askAll(ctx)
}

func (p *plan) loss(ctx context.Context, l command.Loss) error {
	r, asks := request{}, false
	for _, kind := range l.Kinds {
		var err error
		switch kind {
		case command.Worktree:
			r.worktree, asks = true, true
		case command.Index:
			r.index, asks = true, true
		case command.Staged:
			r.staged, asks = true, true
		case command.Untracked:
			r.untracked, asks = true, true
		case command.Ignored:
			r.ignored, asks = true, true
		case command.InTheWay, command.IgnoredInTheWay:
			r.over, asks = &over{trees: l.Trees, others: l.Others, forced: kind == command.InTheWay}, true
		case command.File:
			err = p.files(l)
		case command.Tree:
			err = p.trees(ctx, l)
		case command.Stash:
			err = p.stashes(ctx, l)
		case command.Branch:
			err = p.branches(ctx, l)
		}
		if err != nil {
			return err
		}
	}
	if !asks {
		return nil
	}
	names := l.Names
	if len(names) == 0 {
		names = []string{""} // the whole working tree of the folder
	}
	for _, name := range names {
		path := at(l.Dir, name)
		dir, ok := top(path)
		if !ok || p.git == nil {
			continue // no working tree: the command fails
		}
		one := r
		if name != "" && path != dir {
			one.names = []string{relative(dir, path)}
		}
		p.request(dir, one)
	}
	return nil
}

// standingFolder is a folder, or the nearest one above it: the line may make it
// first.
func standingFolder(dir string) string {
	for {
		real, err := filepath.EvalSymlinks(dir)
		if info, stat := os.Stat(dir); err == nil && stat == nil && info.IsDir() {
			return real
		}
		if dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// at makes the name of a loss absolute and follows the links above it.
func at(dir, name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return resolved(name)
}

func relative(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return "."
	}
	return rel
}

// request adds to those of a working tree; equal ones with other names are joined.
func (p *plan) request(top string, r request) {
	for i, have := range p.requests[top] {
		same := have.over == nil && r.over == nil && have.worktree == r.worktree && have.index == r.index && have.staged == r.staged && have.untracked == r.untracked &&
			have.ignored == r.ignored && have.direct == r.direct && have.aside == r.aside
		if same && (len(have.names) == 0) == (len(r.names) == 0) {
			p.requests[top][i].names = append(have.names, r.names...)
			return
		}
	}
	p.requests[top] = append(p.requests[top], r)
}

// files are removed or overwritten in place. Without names it may be any file of
// the working tree.
func (p *plan) files(l command.Loss) error {
	if len(l.Names) == 0 {
		path := at(l.Dir, ".")
		if dir, ok := top(path); ok && p.git != nil {
			p.request(dir, request{worktree: true, untracked: true, direct: true})
			return nil
		}
		return p.walk(path, Work, false)
	}
	for _, name := range l.Names {
		if err := p.file(at(l.Dir, name), l.Dir); err != nil {
			return err
		}
	}
	return nil
}

// file is a file or folder that is removed or overwritten by a command that runs
// in dir.
func (p *plan) file(path, dir string) error {
	info, err := os.Lstat(path)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		// It may be the link that goes or the file it leads to.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			if err := p.target(target, dir); err != nil {
				return err
			}
		}
	case info.IsDir() && p.git != nil && (below(dir, path) || below(p.s.Workspace, path)):
		// Some files of it, by a pattern: nobody removes the folder he stands in.
	case info.IsDir() && isTop(path):
		if pointed(path) != "" {
			return p.tree(path)
		}
		return p.walk(path, Work, false)
	case info.IsDir(), info.Mode().IsRegular() && info.Size() > 0:
	case info.Mode().IsRegular():
		p.add(path, Nothing, false, filepath.Dir(path)) // no bytes, but it comes back with what has some
		return nil
	default:
		return nil
	}
	if dir, ok := top(path); ok && p.git != nil {
		p.request(dir, request{worktree: true, untracked: true, direct: true, names: []string{relative(dir, path)}})
		return nil
	}
	if p.temporary(path) {
		return p.walk(path, Held, true)
	}
	return p.walk(path, Work, false)
}

// target is the file a link leads to; a folder is not removed through a link.
func (p *plan) target(path, dir string) error {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil
	}
	return p.file(path, dir)
}

// temporary tells that a path outside every repository is scratch.
func (p *plan) temporary(path string) bool {
	if below(path, p.s.Workspace) {
		return false
	}
	dirs := []string{"/tmp", "/var/tmp"}
	if dir, ok := p.s.lookupEnv("TMPDIR"); ok && filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Clean(dir))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		return below(path, dir) || err == nil && below(path, real)
	})
}

// walk holds everything at and below a path. It stops where a snapshot is full.
func (p *plan) walk(root string, stake Stake, spare bool) error {
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case gone(err):
			return nil
		case err != nil && spare:
			return fs.SkipDir
		case err != nil:
			return err
		case path == p.s.Dir:
			return fs.SkipDir
		case d.IsDir():
			p.dirs[path] = true
		default:
			p.add(path, stake, spare, root)
		}
		if n++; n <= p.s.maxFiles() {
			return nil
		}
		if spare {
			return fs.SkipAll
		}
		return &TooMuchError{Files: p.s.maxFiles(), Largest: path}
	})
	return err
}

// add holds one path. What has no bytes is not worth a question.
func (p *plan) add(path string, stake Stake, spare bool, base string) {
	info, err := os.Lstat(path)
	if err != nil || below(path, p.s.Dir) {
		return
	}
	switch {
	case info.Mode().IsRegular():
		if info.Size() == 0 && stake == Work {
			stake, spare = Held, false
		}
	case info.Mode()&fs.ModeSymlink == 0:
		return
	}
	if have, ok := p.items[path]; ok {
		stake, spare = max(stake, have.stake), spare && have.spare
	}
	p.items[path] = item{stake: stake, spare: spare, base: base}
	p.raise(stake)
}

func (p *plan) raise(stake Stake) { p.stake = max(p.stake, stake) }

func (p *plan) repo(dir string) *repoPlan {
	r := p.repos[dir]
	if r == nil {
		r = &repoPlan{dir: dir}
		p.repos[dir] = r
	}
	return r
}
