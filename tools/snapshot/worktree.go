package snapshot

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"starling/trust/command"
)

// askAll asks git about every working tree there is a request for; submodules add
// requests of their own.
func (p *plan) askAll(ctx context.Context) error {
	for asked := map[string]bool{}; ; {
		var next []string
		for dir := range p.requests {
			if !asked[dir] {
				next = append(next, dir)
			}
		}
		if len(next) == 0 {
			return p.attach(ctx)
		}
		slices.Sort(next)
		for _, dir := range next {
			asked[dir] = true
			if err := p.ask(ctx, dir, p.requests[dir]); err != nil {
				return err
			}
		}
	}
}

func (p *plan) ask(ctx context.Context, top string, requests []request) error {
	var plain []request
	for _, r := range requests {
		if r.over == nil {
			plain = append(plain, r)
		} else if err := p.overwritten(ctx, top, r); err != nil {
			return err
		}
	}
	if requests = plain; len(requests) == 0 {
		return nil
	}
	untracked, ignored, files, all := false, false, false, false
	var names []string
	for _, r := range requests {
		untracked = untracked || r.untracked || r.worktree
		ignored = ignored || r.ignored || r.direct
		files = files || r.worktree || r.direct
		all = all || len(r.names) == 0
		names = append(names, r.names...)
	}
	if all {
		names = nil
	}
	// Both questions at once: each reads the whole index.
	var entries []listed
	var failure error
	var wg sync.WaitGroup
	if files {
		wg.Go(func() { entries, failure = p.git.index(ctx, top, names) })
	}
	st, err := p.git.status(ctx, top, untracked, ignored, names)
	wg.Wait()
	if err = errors.Join(err, failure); err != nil {
		return err
	}
	repo := p.repo(top)
	repo.head, repo.branch = st.head, st.branch
	deleted := map[string]bool{} // and every folder above
	for _, c := range st.changes {
		for path := c.path; c.work == 'D' && path != "." && !deleted[path]; path = filepath.Dir(path) {
			deleted[path] = true
		}
	}
	for _, c := range st.changes {
		for _, r := range requests {
			if !r.matches(c) {
				continue
			}
			// What stands where git puts a file back is overwritten as a tracked file is.
			r.untracked = r.untracked || r.worktree && c.index == '?' && inTheWay(c.path, deleted)
			if err := p.change(repo, c, r); err != nil {
				return err
			}
		}
	}
	if all && slices.ContainsFunc(requests, func(r request) bool { return r.index && len(r.names) == 0 }) {
		for _, name := range pending {
			p.add(filepath.Join(gitFolder(top), name), Held, false, gitFolder(top))
		}
	}
	p.hidden(repo, requests, entries)
	return nil
}

// inTheWay tells whether a path is a folder of deleted files, or lies where one
// was a file.
func inTheWay(path string, deleted map[string]bool) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if deleted[path] {
			return true
		}
	}
	return false
}

func (p *plan) change(repo *repoPlan, c change, r request) error {
	path := filepath.Join(repo.dir, c.path)
	stake := Work
	if r.aside {
		stake = Held
	}
	switch c.index {
	case '?':
		if !r.untracked {
			return nil
		}
		return p.unknown(repo, c, r, stake)
	case '!':
		if r.ignored {
			return p.unknown(repo, c, r, stake)
		}
		if !c.dir && r.direct {
			p.add(path, Held, true, repo.dir)
		}
		return nil
	}
	if r.index {
		p.staged(repo, c, stake)
	} else if r.staged && c.index != 'U' && c.work != '.' && !equals(path, c.entries[0].Object) {
		p.staged(repo, c, Held)
	}
	if !r.worktree || c.work == '.' && !(r.index && c.index != '.') {
		return nil
	}
	if c.sub[0] == 'S' {
		p.submodule(path, c, r)
		return nil
	}
	if info, err := os.Lstat(path); gone(err) || err == nil && info.IsDir() {
		p.gone[path] = true
		p.raise(Held)
		return nil
	}
	p.add(path, stake, r.aside, repo.dir)
	return nil
}

// unknown holds what git does not know: a file, or all of a folder.
func (p *plan) unknown(repo *repoPlan, c change, r request, stake Stake) error {
	path := filepath.Join(repo.dir, c.path)
	if !c.dir {
		p.add(path, stake, r.aside, repo.dir)
		return nil
	}
	if len(r.names) == 0 {
		return p.folder(path, stake, r.aside)
	}
	for _, name := range r.names {
		inner := filepath.Join(repo.dir, name)
		if !below(inner, path) {
			inner = path
		}
		if err := p.folder(inner, stake, r.aside); err != nil {
			return err
		}
	}
	return nil
}

// folder holds a folder git does not look into. Of another working tree the
// repository stands elsewhere, so what git knows of it is not lost.
func (p *plan) folder(path string, stake Stake, spare bool) error {
	if isTop(path) && pointed(path) != "" {
		return p.tree(path)
	}
	return p.walk(path, stake, spare)
}

func (p *plan) staged(repo *repoPlan, c change, stake Stake) {
	for _, e := range c.entries {
		if slices.ContainsFunc(repo.index, func(h Entry) bool { return h.Path == e.Path && h.Stage == e.Stage }) {
			continue
		}
		e.Committed = c.index == '.'
		repo.index = append(repo.index, e)
		switch {
		case e.Committed:
		case e.Gone, e.Intent:
			p.raise(Held)
		default:
			p.raise(stake)
		}
	}
}

// submodule looks into one that has work of its own. Through git it is seldom
// touched: then it is not worth a question.
func (p *plan) submodule(path string, c change, r request) {
	named := slices.ContainsFunc(r.names, func(n string) bool { return below(c.path, n) && n != "." })
	if c.nestedChanges() && isTop(path) {
		p.request(path, request{worktree: true, index: true, untracked: true, direct: r.direct, aside: r.aside || !r.direct && !named})
	}
}

// hidden looks at the files git was told not to look at.
func (p *plan) hidden(repo *repoPlan, requests []request, entries []listed) {
	for _, e := range entries {
		if !e.hidden || e.Stage != 0 || !strings.HasPrefix(e.Mode, "1") || e.Mode == "160000" {
			continue
		}
		wanted := slices.ContainsFunc(requests, func(r request) bool {
			return (r.worktree || r.direct) && r.matches(change{path: string(e.Path)})
		})
		path := filepath.Join(repo.dir, string(e.Path))
		if !wanted || equals(path, e.Object) {
			continue
		}
		p.add(path, Work, false, repo.dir)
	}
}

// equals tells that a path has the content of an object of git, or that nothing
// stands there.
func equals(path, object string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return gone(err)
	}
	var h hash.Hash = sha1.New()
	if len(object) == sha256.Size*2 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	if info.Mode().IsRegular() {
		f, err := openRegular(path)
		if err != nil {
			return false
		}
		defer f.Close()
		if _, err := io.Copy(h, f); err != nil {
			return false
		}
	} else {
		target, err := os.Readlink(path)
		if err != nil {
			return false
		}
		io.WriteString(h, target)
	}
	return hex.EncodeToString(h.Sum(nil)) == object
}

// trees are other working trees; without names all but the one the command runs in.
func (p *plan) trees(ctx context.Context, l command.Loss) error {
	names := l.Names
	if len(names) == 0 && p.git != nil {
		here, _ := top(at(l.Dir, "."))
		list, err := p.git.worktrees(ctx, l.Dir)
		if err != nil {
			return err
		}
		for _, w := range list {
			if w.path != here {
				names = append(names, w.path)
			}
		}
	}
	for _, name := range names {
		path := at(l.Dir, name)
		if !isTop(path) {
			continue // nothing checked out there
		}
		if err := p.tree(path); err != nil {
			return err
		}
	}
	return nil
}

// tree is a whole working tree that is removed. Its commits stand elsewhere.
func (p *plan) tree(dir string) error {
	if p.git == nil {
		return p.walk(dir, Work, false)
	}
	p.repo(dir).tree = true
	p.request(dir, request{worktree: true, index: true, untracked: true, direct: true})
	return nil
}

// attach adds what makes a removed working tree one again: the file that names
// its repository, and the folder of the repository that is its own.
func (p *plan) attach(ctx context.Context) error {
	for _, dir := range sortedKeys(p.repos) {
		repo := p.repos[dir]
		if !repo.tree {
			continue
		}
		if repo.branch == "" && repo.head != "" {
			if err := p.branches(ctx, command.Loss{Dir: dir, Names: []string{"HEAD"}}); err != nil {
				return err
			}
		}
		used := len(repo.index)+len(repo.refs) > 0
		for path := range p.items {
			used = used || below(path, dir)
		}
		own := pointed(dir)
		if !used || own == "" {
			repo.tree = used
			continue
		}
		p.add(filepath.Join(dir, ".git"), Held, false, dir)
		if _, err := os.Lstat(filepath.Join(own, "commondir")); err != nil {
			continue // of a submodule, which stays
		}
		if err := p.walk(own, Held, false); err != nil {
			return err
		}
	}
	return nil
}
