package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// over is what git puts into a working tree: files of trees.
type over struct {
	trees  []string // revisions, as git is told them
	others bool     // and some that nobody knows
	forced bool     // over everything; else it refuses, but not for ignored files
}

// overwritten holds what git does not know, or ignores, that stands where it puts
// files. What is equal to them goes only with the next commit that lacks it, so it
// is worth no question.
func (p *plan) overwritten(ctx context.Context, top string, r request) error {
	wanted, err := p.git.files(ctx, top, r.over.trees)
	if err != nil {
		return fmt.Errorf("trees of %s: %w", top, err)
	}
	entries, err := p.git.index(ctx, top, nil)
	if err != nil {
		return err
	}
	w := inWay{top: top, request: r, tracked: map[string]bool{}, kinds: map[string]fs.FileMode{}, found: map[string]bool{}}
	for _, e := range entries {
		w.tracked[string(e.Path)] = true
	}
	for path, objects := range wanted {
		if err := w.look(path, objects); err != nil {
			return err
		}
	}
	st, err := p.git.status(ctx, top, r.over.others, r.over.others, r.names)
	if err != nil {
		return err
	}
	repo := p.repo(top)
	repo.head, repo.branch = st.head, st.branch
	ignored, err := p.git.ignored(ctx, top, sortedKeys(w.found))
	if err != nil {
		return err
	}
	for path, same := range w.found {
		switch {
		case ignored[path], same:
			p.add(filepath.Join(top, path), Held, false, top)
		case r.over.forced:
			p.add(filepath.Join(top, path), Work, false, top)
		}
	}
	for _, c := range st.changes {
		switch {
		case !r.over.others || c.dir || !r.matches(c):
		case c.index == '!':
			p.add(filepath.Join(top, c.path), Held, true, top)
		case c.index == '?' && r.over.forced:
			p.add(filepath.Join(top, c.path), Work, false, top)
		}
	}
	return nil
}

// inWay looks for what stands where files come.
type inWay struct {
	top     string
	request request
	tracked map[string]bool
	kinds   map[string]fs.FileMode // of folders above; 0 for what is not there
	found   map[string]bool        // relative to top; true when git puts the same bytes there
}

// notThere stands for a path where nothing is.
const notThere = fs.ModeIrregular

func (w *inWay) kind(path string) (fs.FileMode, error) {
	info, err := os.Lstat(filepath.Join(w.top, path))
	switch {
	case gone(err):
		return notThere, nil
	case err != nil:
		return 0, err
	}
	return info.Mode().Type(), nil
}

// look looks at one path, and at those above it, which must be folders.
func (w *inWay) look(path string, objects []string) error {
	if w.tracked[path] || !w.request.matches(change{path: path}) {
		return nil
	}
	for i, c := range path {
		if c != '/' {
			continue
		}
		above := path[:i]
		kind, known := w.kinds[above]
		if !known {
			var err error
			if kind, err = w.kind(above); err != nil {
				return err
			}
			w.kinds[above] = kind
		}
		if kind == fs.ModeDir {
			continue
		}
		if kind != notThere && !w.tracked[above] {
			w.found[above] = false
		}
		return nil
	}
	switch kind, err := w.kind(path); {
	case err != nil:
		return err
	case kind == fs.ModeDir:
		return w.below(path)
	case kind != notThere:
		w.found[path] = !slices.ContainsFunc(objects, func(o string) bool { return !equals(filepath.Join(w.top, path), o) })
	}
	return nil
}

// below finds what git does not know in a folder that stands where a file comes.
func (w *inWay) below(dir string) error {
	return filepath.WalkDir(filepath.Join(w.top, dir), func(path string, d fs.DirEntry, err error) error {
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if rel := relative(w.top, path); !d.IsDir() && !w.tracked[rel] {
			w.found[rel] = false
		}
		return nil
	})
}

// files lists the paths of trees with the objects they have there. What is no
// revision has none: git fails then.
func (g *git) files(ctx context.Context, top string, revs []string) (map[string][]string, error) {
	all, seen := map[string][]string{}, map[string]bool{}
	for _, rev := range revs {
		ids, err := g.treesOf(ctx, top, rev)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if seen[id] {
				continue
			}
			seen[id] = true
			out, err := g.run(ctx, top, nil, "ls-tree", "-r", "-z", "--full-tree", id)
			if err != nil {
				return nil, err
			}
			for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
				if len(line) == 0 {
					continue
				}
				info, path, ok := strings.Cut(string(line), "\t")
				f := strings.Fields(info)
				if !ok || len(f) != 3 {
					return nil, fmt.Errorf("git ls-tree printed the line %q", line)
				}
				if f[1] == "blob" {
					all[path] = append(all[path], f[2])
				}
			}
		}
	}
	return all, nil
}

// treesOf finds the tree of a revision. A name without a branch may be that of a
// branch of a remote, which checkout and switch take then.
func (g *git) treesOf(ctx context.Context, top, rev string) ([]string, error) {
	out, err := g.run(ctx, top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{tree}")
	if err != nil && failed(err) && !strings.ContainsAny(rev, "*?[\\:^~@") {
		out, err = g.run(ctx, top, nil, "for-each-ref", "--format=%(objectname)^{tree}", "refs/remotes/*/"+rev)
	}
	if err != nil && failed(err) {
		return nil, nil
	}
	return strings.Fields(string(out)), err
}

// ignored tells which paths git ignores.
func (g *git) ignored(ctx context.Context, top string, paths []string) (map[string]bool, error) {
	all := map[string]bool{}
	if len(paths) == 0 {
		return all, nil
	}
	loose := *g // this subcommand takes paths as they are, and refuses to be told so
	loose.env = append(slices.Clone(g.env), "GIT_LITERAL_PATHSPECS=0")
	out, err := loose.run(ctx, top, strings.NewReader("./"+strings.Join(paths, "\x00./")+"\x00"), "check-ignore", "-z", "--stdin")
	if err != nil && !(failed(err) && len(out) == 0 && exitCode(err) == 1) { // 1: none of them
		return nil, err
	}
	for path := range bytes.SplitSeq(out, []byte{0}) {
		all[strings.TrimPrefix(string(path), "./")] = true
	}
	return all, nil
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return -1
	}
	return exit.ExitCode()
}
