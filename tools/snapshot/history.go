package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"starling/trust/command"
)

// linked is one working tree of a repository.
type linked struct {
	path, head, branch string // branch is "" when detached
}

func (g *git) worktrees(ctx context.Context, dir string) ([]linked, error) {
	out, err := g.run(ctx, dir, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []linked
	for line := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			all = append(all, linked{path: value})
			continue
		}
		if len(all) == 0 {
			continue
		}
		switch w := &all[len(all)-1]; key {
		case "HEAD":
			w.head = value
		case "branch":
			w.branch = value
		}
	}
	return all, nil
}

// refs are the refs that hold commits for people: the stash and the notes of
// tools do not count.
func (g *git) refs(ctx context.Context, dir string) ([]Ref, error) {
	out, err := g.run(ctx, dir, nil, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var all []Ref
	for line := range strings.Lines(string(out)) {
		commit, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all = append(all, Ref{Name: Name(name), Commit: commit})
	}
	return all, nil
}

// commit is what a revision names; ok is false when it names nothing.
func (g *git) commit(ctx context.Context, dir, rev string) (id string, ok bool, err error) {
	out, err := g.run(ctx, dir, nil, "rev-parse", "--quiet", "--verify", "--end-of-options", rev+"^{commit}")
	if failed(err) {
		return "", false, nil
	}
	return strings.TrimSpace(string(out)), err == nil, err
}

// inRepository tells whether git works there at all; elsewhere its commands fail
// and nothing is lost.
func (p *plan) inRepository(ctx context.Context, dir string) (bool, error) {
	if p.git == nil {
		return false, nil
	}
	_, err := p.git.run(ctx, dir, nil, "rev-parse", "--git-dir")
	var said *gitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &said) && strings.Contains(said.said, "not a git repository"):
		return false, nil
	}
	return false, err
}

func (p *plan) historyOf(dir string) *repoPlan {
	path := at(dir, ".")
	if t, ok := top(path); ok {
		path = t
	}
	return p.repo(path)
}

// stashList returns the stash, newest first.
func (g *git) stashList(ctx context.Context, dir string) ([]Stash, error) {
	if _, ok, err := g.commit(ctx, dir, "refs/stash"); err != nil || !ok {
		return nil, err
	}
	out, err := g.run(ctx, dir, nil, "log", "-g", "-z", "--no-show-signature", "--format=%H%x00%gs", "refs/stash", "--")
	if err != nil {
		return nil, err
	}
	f := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var all []Stash
	for i := 0; i+1 < len(f); i += 2 {
		all = append(all, Stash{Commit: f[i], Message: Name(f[i+1])})
	}
	return all, nil
}

// stashes are entries of the stash; what may be any of them means all.
func (p *plan) stashes(ctx context.Context, l command.Loss) error {
	in, err := p.inRepository(ctx, l.Dir)
	if err != nil || !in {
		return err
	}
	all, err := p.git.stashList(ctx, l.Dir)
	if err != nil || len(all) == 0 {
		return err
	}
	lost := all
	if len(l.Names) > 0 {
		lost = nil
		for _, name := range l.Names {
			i, entry := stashIndex(name)
			if entry && i < 0 {
				lost = all
				break
			}
			if entry && i < len(all) {
				lost = append(lost, all[i])
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	repo := p.historyOf(l.Dir)
	for _, e := range lost {
		if !slices.Contains(repo.stash, e) {
			repo.stash = append(repo.stash, e)
		}
	}
	p.raise(Work)
	if repo.holders != nil {
		return nil
	}
	refs, err := p.git.refs(ctx, l.Dir)
	if err != nil {
		return err
	}
	for _, r := range refs {
		repo.holders = append(repo.holders, r.Commit)
	}
	return nil
}

// stashIndex reads stash@{N} and N. entry tells that the name is about the stash;
// the number is -1 when it may be any entry.
func stashIndex(name string) (n int, entry bool) {
	name = strings.TrimPrefix(name, "refs/")
	digits, inside := strings.CutPrefix(name, "stash@{")
	n, err := strconv.Atoi(strings.TrimSuffix(digits, "}"))
	switch {
	case err == nil && n >= 0:
		return n, true
	case inside, name == "stash":
		return -1, true
	}
	return 0, false
}

// branches are refs whose commits nothing else holds. Without names every branch
// that is not checked out may go, and what only the logs of refs know.
func (p *plan) branches(ctx context.Context, l command.Loss) error {
	in, err := p.inRepository(ctx, l.Dir)
	if err != nil || !in {
		return err
	}
	refs, err := p.git.refs(ctx, l.Dir)
	if err != nil {
		return err
	}
	trees, err := p.git.worktrees(ctx, l.Dir)
	if err != nil {
		return err
	}
	var lost []Ref
	dropped := map[Name]bool{}
	detached := ""
	switch {
	case len(l.Names) == 0:
		for _, r := range refs {
			out := slices.ContainsFunc(trees, func(t linked) bool { return t.branch == string(r.Name) })
			if strings.HasPrefix(string(r.Name), "refs/heads/") && !out {
				lost, dropped[r.Name] = append(lost, r), true
			}
		}
	default:
		for _, name := range l.Names {
			if name == "HEAD" {
				if id, ok, err := p.git.commit(ctx, l.Dir, "HEAD"); err != nil {
					return err
				} else if ok {
					lost, detached = append(lost, Ref{Commit: id}), id
				}
				continue
			}
			for _, prefix := range []string{"", "refs/", "refs/heads/", "refs/tags/", "refs/remotes/"} {
				i := slices.IndexFunc(refs, func(r Ref) bool { return string(r.Name) == prefix+name })
				if i >= 0 {
					lost, dropped[refs[i].Name] = append(lost, refs[i]), true
					break
				}
			}
		}
	}
	repo := p.historyOf(l.Dir)
	holders := []string{}
	for _, r := range refs {
		if !dropped[r.Name] {
			holders = append(holders, r.Commit)
		}
	}
	for _, t := range trees {
		if t.branch == "" && t.head != "" && t.head != detached && strings.Trim(t.head, "0") != "" {
			holders = append(holders, t.head)
		}
	}
	if len(l.Names) == 0 {
		logged, err := p.logged(ctx, l.Dir, refs, holders)
		if err != nil {
			return err
		}
		lost = append(lost, logged...)
	}
	for _, r := range lost {
		only, err := p.git.revisions(ctx, l.Dir, []string{r.Commit}, holders, "--max-count=1")
		if err != nil {
			return err
		}
		if len(only) > 0 && !slices.Contains(repo.refs, r) {
			repo.refs = append(repo.refs, r)
			p.raise(Work)
		}
	}
	repo.holders = holders
	return nil
}

// revisions lists what some commits reach and others do not.
func (g *git) revisions(ctx context.Context, dir string, from, not []string, options ...string) ([]string, error) {
	var in strings.Builder
	for _, id := range from {
		in.WriteString(id + "\n")
	}
	for _, id := range not {
		in.WriteString("^" + id + "\n")
	}
	out, err := g.run(ctx, dir, strings.NewReader(in.String()), append(append([]string{"rev-list"}, options...), "--stdin")...)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// logged are the newest commits that only logs of refs know; those of the stash
// are not among them.
func (p *plan) logged(ctx context.Context, dir string, refs []Ref, holders []string) ([]Ref, error) {
	not := slices.Clone(holders)
	for _, r := range refs {
		not = append(not, r.Commit)
	}
	lines, err := p.git.revisions(ctx, dir, nil, not, "--reflog", "--parents", "--topo-order")
	if err != nil {
		return nil, err
	}
	stash, err := p.git.stashList(ctx, dir)
	if err != nil {
		return nil, err
	}
	inner := map[string]bool{}
	for _, e := range stash {
		inner[e.Commit] = true
	}
	var tips []Ref
	for _, line := range lines { // children come first
		ids := strings.Fields(line)
		if !inner[ids[0]] {
			tips = append(tips, Ref{Commit: ids[0]})
		}
		for _, parent := range ids[1:] {
			inner[parent] = true
		}
	}
	const most = 500
	if len(tips) > most {
		return nil, fmt.Errorf("too much to hold: %d tips of commits stand only in logs of refs; make branches of those you need", len(tips))
	}
	return tips, nil
}
