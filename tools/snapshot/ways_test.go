package snapshot_test

import (
	"strings"
	"testing"

	"starling/tools/snapshot"
)

// ways are lines that lose uncommitted work of the dirty repository. back is what
// a person types to stand on the same commit again, when the line left it.
var ways = []struct{ name, line, back string }{
	{"reset hard", "git reset --hard", ""},
	{"reset hard to another commit", "git reset --hard HEAD~1", "git reset -q --hard ORIG_HEAD"},
	{"reset over an untracked file", "git reset --hard HEAD~2", "git reset -q --hard ORIG_HEAD"},
	{"reset merge", "git checkout -- both.txt && git reset --merge", ""},
	{"checkout all", "git checkout -- .", ""},
	{"checkout a path of HEAD", "git checkout HEAD -- both.txt staged.txt", ""},
	{"checkout a folder", "cd odd && git checkout .", ""},
	{"checkout another branch by force", "git checkout -f topic", "git checkout -qf main"},
	{"checkout detached by force", "git checkout --force --detach HEAD~1", "git checkout -qf main"},
	{"restore all", "git restore .", ""},
	{"restore staged and worktree", "git restore --staged --worktree .", ""},
	{"restore staged", "git restore --staged both.txt", ""},
	{"restore of a commit", "git restore --source=HEAD~1 modified.txt", ""},
	{"switch, discarding", "git switch --discard-changes topic", "git checkout -qf main"},
	{"switch by force", "git switch -f topic", "git checkout -qf main"},
	{"clean", "git clean -fd", ""},
	{"clean with nested repositories", "git clean -ffd", ""},
	{"clean with ignored", "git clean -fdx", ""},
	{"clean only ignored", "git clean -fdX", ""},
	{"clean a folder", "git clean -fd 'un tracked'", ""},
	{"stash drop", "git stash drop", ""},
	{"stash drop of an older one", "git stash drop stash@{1}", ""},
	{"stash clear", "git stash clear", ""},
	{"branch -D", "git branch -D side", ""},
	{"branch -d --force", "git branch -d -f side", ""},
	{"branch moved", "git branch -f side main", "git branch -qD side"},
	{"update-ref", "git update-ref -d refs/heads/side", ""},
	{"reflog and gc", "git reflog expire --expire=now --all && git gc -q --prune=now", ""},
	{"worktree remove", "git worktree remove --force ../wt", ""},
	{"worktree remove of a detached one", "git worktree remove --force ../apart", "git gc -q --prune=now"},
	{"submodule deinit", "git submodule deinit -f sub", ""},
	{"rm of a modified file", "rm -f modified.txt", ""},
	{"rm of a file with a dash", "rm -f -- odd/-dash untracked.txt", ""},
	{"rm of a folder", "rm -rf dir odd 'un tracked'", ""},
	{"rm of a nested repository", "rm -rf nested", ""},
	{"rm of a submodule", "rm -rf sub", ""},
	{"rm of a worktree", "rm -rf ../wt", ""},
	{"rm of a pattern", "rm -f *.txt", "git checkout -q -- clean.txt staged.txt new-staged.txt"},
	{"rm of links", "rm -f link untracked-link", ""},
	{"git rm", "git rm -f both.txt staged.txt new-staged.txt", ""},
	{"git rm of a folder", "git rm -rf odd", ""},
	{"find", "find . -name '*.txt' -not -path './.git/*' -delete", "git checkout -q -- clean.txt staged.txt new-staged.txt"},
	{"redirection", "echo x >modified.txt", ""},
	{"redirection by force", "set -C; echo x >|untracked.txt", ""},
	{"redirection of nothing", ": >both.txt", ""},
	{"tee", "echo x | tee modified.txt untracked.txt", ""},
	{"cp", "cp clean.txt untracked.txt", ""},
	{"cp into a folder", "cp clean.txt modified.txt && cp -f modified.txt untracked.txt", ""},
	{"mv", "mv -f clean.txt modified.txt", "git checkout -q clean.txt"},
	{"sed", "sed -i s/second/third/ modified.txt", ""},
	{"truncate", "truncate -s 0 modified.txt", ""},
	{"dd", "dd if=/dev/null of=modified.txt status=none", ""},
	{"checkout-index", "git checkout-index -f -a", ""},
	{"read-tree", "git read-tree -u --reset HEAD", ""},
	{"xargs", "git ls-files -m -z | xargs -0 git checkout --", ""},
	{"a shell in a shell", `bash -c 'git reset --hard && git clean -fdx'`, ""},
	{"another folder", "git -C sub reset --hard", ""},
	{"stash and drop", "git reset -q -- intent.txt; git stash -q -u && git stash drop -q", ""},
	{"stash and clear", "git reset -q -- intent.txt; git stash -q; git stash clear", ""},
	{"stash with ignored", "git reset -q -- intent.txt; git stash push -qa -m x && git stash drop", ""},
	{"stash, and drop what had its number", "git reset -q -- intent.txt; git stash -q; git stash drop -q stash@{1}", "git stash drop -q"},
	{"pop and discard", "git stash list | head -n 1; git checkout -q -f . && git clean -fdq && git stash pop -q; git reset -q --hard; git clean -fdq", ""},
	{"apply and remove", "git checkout -f -q . && git clean -fdq && git stash pop -q --index; rm -f clean.txt u.txt", "git checkout -q -- clean.txt"},
	{"drop twice", "git stash drop -q && git stash drop -q", ""},
	{"drop in a loop", "for i in 1 2; do git stash drop -q; done", ""},
	{"commit on a branch that goes", "git switch -qc t && git add -A && git commit -qm w && git switch -q main && git branch -qD t", ""},
	{"commit of what is staged", "git checkout -qb t; git commit -qm w; git checkout -qf main; git branch -qD t", ""},
	{"commit detached", "git checkout -q --detach; git commit -qam w; git checkout -q main; git reflog expire --expire=now --all; git gc -q --prune=now", ""},
	{"add and reset", "git add -A && git reset -q --hard", ""},
	{"add a file and remove it", "git add untracked.txt && git rm -qf untracked.txt", ""},
	{"add by force", "git add -f a.log build/out.bin && git rm -qf a.log build/out.bin", ""},
	{"unstage and clean", "git reset -q; git clean -fdq", ""},
	{"unstage with restore and clean", "git restore --staged . && git clean -fdq", ""},
	{"forget and clean", "git rm -q --cached modified.txt && git clean -fdq", ""},
	{"a branch by another name", "git branch -m side other && git branch -D other", ""},
	{"several", "git stash clear; git reset --hard; git clean -fd; git branch -D side", ""},
}

// TestWays runs every line for real: what stood before stands again, to the byte,
// the mode and the entry of the index.
func TestWays(t *testing.T) {
	l := newLab(t)
	l.dirty()
	before := l.standing()
	l.run("mkdir ../backup && cp -a ../repo ../wt ../apart ../backup/")
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			l.TB = t
			l.run("cd .. && chmod -R u+rwx repo && rm -rf repo wt apart state && cp -a backup/. . && cd repo && for d in . sub nested ../wt ../apart; do git -C $d update-index -q --refresh; done || true")
			losses := l.losses(w.line)
			if stake := l.stake(losses); stake != snapshot.Work {
				t.Fatalf("stake %d of %+v", stake, losses)
			}
			snap := l.take(losses)
			if got := l.standing(); diff(before, got) != "" {
				t.Fatalf("taking it changed something:\n%s", diff(before, got))
			}
			out, err := l.bash(w.line)
			if diff(before, l.standing()) == "" {
				t.Fatalf("nothing was lost: %v\n%s", err, out)
			}
			if w.back != "" {
				l.run(w.back)
			}
			r := l.restore(snap.ID, snapshot.RestoreOptions{})
			if !r.Complete() {
				t.Errorf("not complete:\n%s", report(r))
			}
			if got := l.standing(); diff(before, got) != "" {
				t.Errorf("%+v\n%s\nbefore and after:\n%s", losses, report(r), diff(before, got))
			}
			again := l.restore(snap.ID, snapshot.RestoreOptions{})
			for _, one := range again.Results {
				if one.State != snapshot.Same && one.State != snapshot.Kept {
					t.Errorf("restored again: %+v", one)
				}
			}
			if again.Before != "" {
				t.Errorf("restored again, something stood in the way: %s", report(again))
			}
		})
	}
	if len(ways) < 30 {
		t.Fatal("the table lost its lines")
	}
}

// TestNothingAtStake: ordinary lines cost no question.
func TestNothingAtStake(t *testing.T) {
	l := newLab(t)
	l.dirty()
	for _, c := range []struct {
		line string
		want snapshot.Stake
	}{
		{"echo x >new.txt", snapshot.Nothing},
		{"echo x >clean.txt", snapshot.Nothing},
		{"echo x >empty.txt", snapshot.Nothing},
		{"echo x >/dev/null", snapshot.Nothing},
		{"rm -rf build", snapshot.Nothing},
		{"rm build/out.bin", snapshot.Nothing},
		{"rm clean.txt", snapshot.Nothing},
		{"git branch -D merged", snapshot.Nothing},
		{"git stash", snapshot.Held},
		{"git stash && git branch -D merged", snapshot.Held},
		{"git add -A && git commit -qm x && rm -f clean.txt build/out.bin", snapshot.Held},
		{"git checkout main && git pull && git branch -D merged", snapshot.Held},
		{"git add clean.txt && git rm -qf staged.txt.no", snapshot.Nothing},
		{"echo x >a.log", snapshot.Held},
		{"rm a.log", snapshot.Held},
		{"rm empty.txt", snapshot.Nothing},
		{"rm staged.txt", snapshot.Nothing}, // the index has it
	} {
		if got := l.stake(l.losses(c.line)); got != c.want {
			t.Errorf("%s: stake %d, want %d of %+v", c.line, got, c.want, l.losses(c.line))
		}
	}
	l.run("git reset -q --hard && git update-index --no-assume-unchanged hidden.txt && git checkout -q . && git clean -qffd && git submodule --quiet update --force && git -C sub clean -qfd")
	for _, line := range []string{"git reset --hard", "git checkout -- .", "git clean -fd", "git restore .", "git switch -f topic", "rm -rf dir", "rm -f *.o", "rm -rf *"} {
		if got := l.stake(l.losses(line)); got == snapshot.Work {
			t.Errorf("in a clean tree, %s: %+v\n%s", line, l.losses(line), strings.TrimSpace(l.run("git status --short")))
		}
	}
	l.run("rm a.log && git clean -qfdx")
	for _, line := range []string{"git reset --hard", "git clean -fdx"} {
		if got := l.stake(l.losses(line)); got != snapshot.Nothing {
			t.Errorf("in a clean tree, %s: stake %d", line, got)
		}
	}
}
