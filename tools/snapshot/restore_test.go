package snapshot_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// small is a repository with one file of each kind.
func small(t *testing.T) *lab {
	l := newLab(t)
	l.write("dir/tracked.txt", "first\n")
	l.write("staged.txt", "first\n")
	l.run("git init -q && git add . && git commit -qm first && git branch first && echo >more && git add . && git commit -qm second")
	l.write("dir/tracked.txt", "changed\n")
	l.write("dir/untracked.txt", "unknown\n")
	l.run("echo staged >staged.txt && git add staged.txt && echo later >staged.txt")
	return l
}

func (l *lab) states(r *snapshot.Report) map[string]snapshot.State {
	all := map[string]snapshot.State{}
	for _, one := range r.Results {
		all[one.What+" "+strings.TrimPrefix(string(one.Name), l.repo+"/")] = one.State
	}
	return all
}

const discard = "git reset --hard && git clean -fd"

// TestRestoreKeepsWhatStandsThere: a restore can be taken back.
func TestRestoreKeepsWhatStandsThere(t *testing.T) {
	l := small(t)
	snap := l.take(l.losses(discard))
	l.run("git reset -q --hard && git clean -qfd")
	l.write("dir/tracked.txt", "a new idea\n")
	l.write("dir/untracked.txt", "another\n")
	l.run("echo otherwise >staged.txt && git add staged.txt && chmod 755 dir/untracked.txt")
	now := l.standing()
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if r.Before == "" || !r.Complete() {
		t.Fatalf("nothing was kept:\n%s", report(r))
	}
	back := l.restore(r.Before, snapshot.RestoreOptions{})
	if got := l.standing(); diff(now, got) != "" {
		t.Errorf("%s\n%s", report(back), diff(now, got))
	}
}

// TestRestoreInTheWay: what cannot be put back in place is said, and --to has it.
func TestRestoreInTheWay(t *testing.T) {
	for name, c := range map[string]struct{ line, path, want string }{
		"a folder":               {"rm -f dir/untracked.txt && mkdir -p dir/untracked.txt/x && echo y >dir/untracked.txt/x/y", "dir/untracked.txt", "a folder stands there now"},
		"a file above":           {"rm -rf dir && echo x >dir", "dir/untracked.txt", "is no folder now"},
		"a link above":           {"mkdir ../else && rm -rf dir && ln -s ../else dir", "dir/untracked.txt", "leads to "},
		"the repository is gone": {"rm -rf .git", "staged.txt", "is no working tree now"},
	} {
		t.Run(name, func(t *testing.T) {
			l := small(t)
			snap := l.take(l.losses(discard))
			l.run(c.line)
			r := l.restore(snap.ID, snapshot.RestoreOptions{})
			found := false
			for _, one := range r.Results {
				found = found || one.State == snapshot.Failed && strings.HasSuffix(string(one.Name), c.path) && strings.Contains(one.Note, c.want)
			}
			if !found || r.Complete() {
				t.Errorf("no failure of %s with %q:\n%s", c.path, c.want, report(r))
			}
			if left, err := os.ReadDir(filepath.Join(l.root, "else")); err == nil && len(left) > 0 {
				t.Errorf("%v was written through a link", left)
			}
			to := filepath.Join(l.root, "out")
			if r := l.restore(snap.ID, snapshot.RestoreOptions{To: to}); !r.Complete() {
				t.Errorf("not written elsewhere:\n%s", report(r))
			}
			for file, want := range map[string]string{
				"dir/tracked.txt": "changed\n", "dir/untracked.txt": "unknown\n", "staged.txt": "later\n", "staged.txt.staged": "staged\n",
			} {
				if got, err := os.ReadFile(filepath.Join(to, file)); string(got) != want {
					t.Errorf("%s holds %q: %v", file, got, err)
				}
			}
		})
	}
}

// TestRestorePaths brings back one file and nothing else.
func TestRestorePaths(t *testing.T) {
	l := small(t)
	snap := l.take(l.losses(discard + " && git stash clear"))
	l.run("git reset -q --hard && git clean -qfd")
	r := l.restore(snap.ID, snapshot.RestoreOptions{Paths: []string{"dir"}})
	want := map[string]snapshot.State{"file dir/tracked.txt": snapshot.Restored, "file dir/untracked.txt": snapshot.Restored}
	if got := l.states(r); diff(want, got) != "" {
		t.Error(diff(want, got))
	}
	if got := l.run("cat staged.txt"); got != "first\n" {
		t.Errorf("staged.txt holds %q", got)
	}
	if _, err := l.store.Restore(context.Background(), snap.ID, snapshot.RestoreOptions{Paths: []string{"dir", "nowhere"}}); err == nil || !strings.Contains(err.Error(), "holds nothing at nowhere") {
		t.Errorf("a path that is not held: %v", err)
	}
}

// TestRestoreOnAnotherCommit: files come back as they were, and the report says
// where the commits are.
func TestRestoreOnAnotherCommit(t *testing.T) {
	l := small(t)
	snap := l.take(l.losses("git reset --hard HEAD~1"))
	l.run("git reset -q --hard HEAD~1")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "main stood at ") {
		t.Errorf("notes %q", r.Notes)
	}
	if got := l.run("cat dir/tracked.txt staged.txt; git show :staged.txt"); got != "changed\nlater\nstaged\n" {
		t.Errorf("the files hold %q", got)
	}
}

// TestRestoreRefTaken: a branch never replaces another one.
func TestRestoreRefTaken(t *testing.T) {
	l := small(t)
	l.run("git checkout -q -b side && git commit -qam side && git checkout -q main")
	snap := l.take(l.losses("git branch -D side"))
	l.run("git branch -qD side && git branch side first")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if got := l.run("git log --format=%s side side-restored-1 --not first"); got != "side\nsecond\n" || !r.Complete() {
		t.Errorf("%q\n%s", got, report(r))
	}
	if again := l.restore(snap.ID, snapshot.RestoreOptions{}); again.Results[0].State != snapshot.Same {
		t.Errorf("again: %s", report(again))
	}
}

// TestConflict holds the three sides of a merge that was not finished.
func TestConflict(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "base\n")
	l.run(`git init -q && git add . && git commit -qm base && git checkout -q -b side && echo side >a.txt && git commit -qam side
		git checkout -q main && echo main >a.txt && git commit -qam main; git merge -q side >/dev/null || true; echo by hand >a.txt`)
	before := l.standing()
	snap := l.take(l.losses("git reset --hard"))
	l.run("git reset -q --hard")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if got := l.standing(); diff(before, got) != "" {
		t.Errorf("%s\n%s", report(r), diff(before, got))
	}
	l.run("git commit -qam merged")
	if got := l.run("git log -1 --format=%P | wc -w"); strings.TrimSpace(got) != "2" {
		t.Errorf("the merge has %s parents", got)
	}
	l.run("git reset -q --hard HEAD~1 && git commit -q --allow-empty -m other")
	r = l.restore(snap.ID, snapshot.RestoreOptions{})
	if _, err := os.Lstat(l.path(".git/MERGE_HEAD")); err == nil {
		t.Errorf("a merge goes on where it did not begin:\n%s", report(r))
	}
}

// TestOutsideARepository: everything that is named counts, but not scratch.
func TestOutsideARepository(t *testing.T) {
	l := newLab(t)
	l.write("plain/a.txt", "a\n")
	l.write("plain/b/c.txt", "c\n")
	l.run("mkdir plain/none && ln -s a.txt plain/link && chmod 750 plain/b")
	before := l.standing()
	losses := l.losses("rm -rf plain")
	if l.stake(losses) != snapshot.Work {
		t.Fatalf("nothing at stake: %+v", losses)
	}
	snap := l.take(losses)
	l.run("rm -rf plain")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if got := l.standing(); diff(before, got) != "" {
		t.Errorf("%s\n%s", report(r), diff(before, got))
	}
	scratch := filepath.Join(l.root, "scratch")
	l.write("../scratch/out.txt", "out\n")
	store := *l.store
	store.Environ = append(store.Environ, "TMPDIR="+scratch)
	stake, err := store.Stake(context.Background(), []command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.File}, Names: []string{filepath.Join(scratch, "out.txt")}}})
	if stake != snapshot.Held || err != nil {
		t.Errorf("a file of a temporary folder: stake %d, %v", stake, err)
	}
}

// TestDamagedContent is told, and never written.
func TestDamagedContent(t *testing.T) {
	l := small(t)
	snap := l.take(l.losses(discard))
	l.run("git reset -q --hard && git clean -qfd")
	for _, d := range snap.Digests() {
		if d != "" {
			data, err := os.ReadFile(l.store.Blob(d))
			ok(t, err)
			data[0] ^= 1
			ok(t, os.WriteFile(l.store.Blob(d), data, 0o600))
		}
	}
	clean := l.standing()
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	for _, one := range r.Results {
		if one.State != snapshot.Failed || !strings.Contains(one.Note, "is damaged") {
			t.Errorf("%+v", one)
		}
	}
	if got := l.standing(); diff(clean, got) != "" {
		t.Error(diff(clean, got))
	}
}

// TestRepositoryRunsNothing: what a repository brings is not started, and nothing
// in it is written.
func TestRepositoryRunsNothing(t *testing.T) {
	l := small(t)
	l.write(".git/trap", "#!/bin/sh\ntouch "+filepath.Join(l.root, "trapped")+"\n")
	l.run("chmod +x .git/trap && mkdir -p bin .git/hooks && cp .git/trap bin/git && for h in post-index-change reference-transaction; do cp .git/trap .git/hooks/$h; done; rm -f ../trapped")
	l.run("git config core.fsmonitor .git/trap; git config core.pager .git/trap; git config log.showSignature true; git config gpg.program .git/trap; rm -f ../trapped")
	own := func() string {
		return l.run("find .git -type f | sort | xargs -d '\\n' ls -l --time-style=full-iso; true")
	}
	before := own()
	store := *l.store
	store.Environ = append([]string{"PATH=" + l.path("bin") + ":" + os.Getenv("PATH")}, l.env[1:]...)
	snap, err := store.Take(context.Background(), l.losses(discard+"; git stash clear; git branch -D first"), "test")
	ok(t, err)
	if got := own(); diff(before, got) != "" {
		t.Errorf("taking it wrote:\n%s", diff(before, got))
	}
	l.run("git -c core.fsmonitor=false -c core.hooksPath=/dev/null reset -q --hard; rm -f ../trapped")
	if _, err := store.Restore(context.Background(), snap.ID, snapshot.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(l.root, "trapped")); err == nil {
		t.Error("a program of the repository was started")
	}
}

// TestTreeTaken: a working tree that took the place of the removed one is left
// alone.
func TestTreeTaken(t *testing.T) {
	l := small(t)
	l.run("git worktree add -q -b wt ../wt && cd ../wt && echo dirty >more && echo new >new && git add new")
	snap := l.take(l.losses("git worktree remove --force ../wt"))
	l.run("git worktree remove --force ../wt && mkdir ../other && git worktree add -q -f ../other/wt wt && echo theirs >../other/wt/more && git -C ../other/wt add more")
	theirs := l.run("git -C ../other/wt status --porcelain=v2; git worktree list")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if r.Complete() || !strings.Contains(report(r), "another working tree has its place") {
		t.Errorf("%s", report(r))
	}
	if got := l.run("git -C ../other/wt status --porcelain=v2; git worktree list"); diff(theirs, got) != "" {
		t.Errorf("%s\n%s", report(r), diff(theirs, got))
	}
	if got := l.run("cat ../wt/more"); got != "dirty\n" {
		t.Errorf("the file holds %q", got)
	}
}

// TestOwnFile: a file of git that was overwritten alone comes back.
func TestOwnFile(t *testing.T) {
	l := small(t)
	before := l.run("cat .git/config")
	snap := l.take([]command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.File}, Names: []string{l.path(".git/config")}}})
	l.run("echo >.git/config")
	r := l.restore(snap.ID, snapshot.RestoreOptions{})
	if got := l.run("cat .git/config"); got != before || r.Before == "" {
		t.Errorf("it holds %q\n%s", got, report(r))
	}
}
