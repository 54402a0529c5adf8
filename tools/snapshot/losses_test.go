package snapshot_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// TestLosses: what each kind of loss means, and what its names limit.
func TestLosses(t *testing.T) {
	l := newLab(t)
	l.dirty()
	before := l.standing()
	kinds := func(k ...command.Lost) []command.Lost { return k }
	for name, c := range map[string]struct {
		dir   string
		kinds []command.Lost
		names []string
		stake snapshot.Stake
		has   []string // files it holds
		not   []string // and those it does not
	}{
		"any file":             {"", kinds(command.File), nil, snapshot.Work, []string{"modified.txt", "untracked.txt", "a.log"}, []string{"build/out.bin", "clean.txt"}},
		"any file of a folder": {"", kinds(command.File), []string{"dir"}, snapshot.Work, []string{"dir/in.txt", "dir/untracked.txt"}, []string{"modified.txt"}},
		"a folder to be made":  {"dir/not/yet", kinds(command.Worktree), nil, snapshot.Work, []string{"modified.txt"}, nil},
		"inside an ignored":    {"", kinds(command.Ignored), []string{"build/out.bin"}, snapshot.Work, []string{"build/out.bin"}, []string{"a.log"}},
		"all trees":            {"", kinds(command.Tree), nil, snapshot.Work, []string{"../wt/clean.txt", "../wt/staged-new.txt", "../apart/apart.txt"}, []string{"modified.txt"}},
		"trees from another":   {"../wt", kinds(command.Tree), []string{"../apart"}, snapshot.Work, []string{"../apart/apart.txt"}, []string{"../wt/clean.txt"}},
		"a submodule":          {"", kinds(command.Worktree), []string{"sub"}, snapshot.Work, []string{"sub/lib.txt"}, []string{"modified.txt"}},
		"no such tree":         {"", kinds(command.Tree), []string{"dir"}, snapshot.Nothing, nil, nil},
		"no such branch":       {"", kinds(command.Branch), []string{"nothing"}, snapshot.Nothing, nil, nil},
		"a merged branch":      {"", kinds(command.Branch, command.Stash), []string{"refs/heads/merged"}, snapshot.Nothing, nil, nil},
		"a branch by date":     {"", kinds(command.Stash), []string{"stash@{yesterday}"}, snapshot.Work, nil, nil},
		"every branch":         {"", kinds(command.Branch), nil, snapshot.Work, nil, nil},
		"no repository":        {"..", kinds(command.Worktree, command.Index, command.Stash, command.Branch), nil, snapshot.Nothing, nil, nil},
		"only the index":       {"", kinds(command.Index), []string{"both.txt"}, snapshot.Work, nil, []string{"both.txt"}},
		"the file of a link":   {"", kinds(command.File), []string{"link"}, snapshot.Work, []string{"link", "modified.txt"}, nil},
		"a device":             {"", kinds(command.File), []string{"/dev/null"}, snapshot.Nothing, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l.TB = t
			losses := []command.Loss{{Dir: filepath.Join(l.repo, c.dir), Kinds: c.kinds}}
			for _, n := range c.names {
				if c.kinds[0] != command.Branch && c.kinds[0] != command.Stash && !filepath.IsAbs(n) {
					n = l.path(n)
				}
				losses[0].Names = append(losses[0].Names, n)
			}
			if got := l.stake(losses); got != c.stake {
				t.Errorf("stake %d, want %d", got, c.stake)
			}
			snap := l.take(losses)
			if (snap == nil) != (c.stake == snapshot.Nothing) {
				t.Fatalf("%+v", snap)
			}
			if got := l.standing(); diff(before, got) != "" {
				t.Error(diff(before, got))
			}
			var paths []string
			if snap != nil {
				for _, f := range snap.Files {
					rel, err := filepath.Rel(l.repo, string(f.Path))
					ok(t, err)
					paths = append(paths, rel)
				}
			}
			for _, p := range c.has {
				if !slices.Contains(paths, p) {
					t.Errorf("%s is not among %q", p, paths)
				}
			}
			for _, p := range c.not {
				if slices.Contains(paths, p) {
					t.Errorf("%s is among %q", p, paths)
				}
			}
		})
	}
}

// TestOtherRepositories: bare ones, those without a commit, and those with longer
// ids.
func TestOtherRepositories(t *testing.T) {
	for name, c := range map[string]struct{ make, line, destroy string }{
		"no commit yet": {"git init -q && echo a >a.txt && git add a.txt && echo b >>a.txt", "git rm -rf a.txt", "git rm -rqf a.txt"},
		"long ids":      {"git init -q --object-format=sha256 && echo a >a.txt && git add . && git commit -qm a && echo b >a.txt && git add . && echo c >a.txt", "git reset --hard", "git reset -q --hard"},
		"bare":          {"git init -q ../x && cd ../x && git commit -q --allow-empty -m a && git checkout -q -b side && git commit -q --allow-empty -m b && git checkout -q main && cd ../repo && git clone -q --bare --no-local ../x . 2>/dev/null && rm -rf ../x", "git branch -D side", "git branch -qD side && git gc -q --prune=now"},
		"split index":   {"git init -q && git config core.splitIndex true && echo a >a.txt && git add . && git commit -qm a && echo b >a.txt && git add . && git update-index --split-index", "git reset --hard", "git reset -q --hard"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.run(c.make)
			state := func() string {
				return l.run("git for-each-ref refs/heads; if [ -e .git ]; then cat a.txt; git ls-files -s; git status --porcelain=v2; fi")
			}
			before := state()
			losses := l.losses(c.line)
			snap, err := l.store.Take(context.Background(), losses, c.line)
			ok(t, err)
			if snap == nil || snap.Stake != snapshot.Work {
				t.Fatalf("nothing at stake of %+v", losses)
			}
			l.run(c.destroy)
			r := l.restore(snap.ID, snapshot.RestoreOptions{})
			if got := state(); got != before {
				t.Errorf("%s\n%s", report(r), diff(before, got))
			}
		})
	}
}
