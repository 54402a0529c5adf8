package snapshot_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/tools/snapshot"
)

const notKnown = "the commit is made by the line"

// overwriting are lines that put files of other commits over what git does not
// know, or only over what it ignores. back is how the commit is left again.
var overwriting = []struct {
	name, line, back string
	want             snapshot.Stake
}{
	{"reset hard", "git reset -q --hard old", "git reset -q --hard ORIG_HEAD", snapshot.Work},
	{"reset hard to what was known", "git reset -q --hard", "", snapshot.Work},
	{"reset keep", "git reset -q --keep log", "git reset -q --keep ORIG_HEAD", snapshot.Held},
	{"checkout by force", "git checkout -qf old", "git checkout -qf main", snapshot.Work},
	{"checkout by force to a new branch", "git checkout -qf -b new old", "git checkout -qf main && git branch -qD new", snapshot.Work},
	{"checkout of a branch of a remote", "git checkout -qf far", "git checkout -qf main && git branch -qD far", snapshot.Work},
	{"checkout of files", "git checkout old -- big.bin folder", "git rm -rq --cached big.bin folder && rm -r folder", snapshot.Work},
	{"switch by force", "git switch -qf --detach old", "git checkout -qf main", snapshot.Work},
	{"switch, discarding", "git switch -q --discard-changes log", "git checkout -qf main", snapshot.Held},
	{"restore of a revision", "git restore -s old .", "git checkout -q -- . && rm -rf big.bin folder file seen.log log.d", snapshot.Work},
	{"read-tree", "git read-tree -u --reset old", "git read-tree -u --reset main", snapshot.Work},
	{"another folder", "cd kept && git -C .. reset -q --hard old", "git reset -q --hard ORIG_HEAD", snapshot.Work},
	{notKnown, "git tag now old && git reset -q --hard now", "git reset -q --hard ORIG_HEAD && git tag -d now", snapshot.Work},
	{"checkout", "git checkout -q log", "git checkout -q main", snapshot.Held},
	{"switch", "git switch -q --detach log", "git switch -q main", snapshot.Held},
	{"merge", "git merge -q log", "git reset -q --hard ORIG_HEAD", snapshot.Held},
	{"merge of an octopus", "git merge -q log side2", "git reset -q --hard ORIG_HEAD", snapshot.Held},
	{"pull", "git pull -q --no-rebase . log", "git reset -q --hard ORIG_HEAD", snapshot.Held},
	{"rebase", "git rebase -q log", "git reset -q --hard ORIG_HEAD", snapshot.Held},
	{"cherry-pick", "git cherry-pick log", "git reset -q --hard HEAD~1", snapshot.Held},
	{"revert", "git revert --no-edit without", "git reset -q --hard HEAD~1", snapshot.Held},
	{"stash pop", "git stash pop -q", `git reset -q --hard && git stash store -m "$(git log -1 --format=%s stashed)" stashed`, snapshot.Held},
	{"stash apply", "git stash apply -q 0", "git reset -q --hard", snapshot.Held},
}

// overwritable makes a repository whose other commits have files that stand
// here too, unknown to git or ignored, larger than what is held unasked.
func (l *lab) overwritable(forced bool) {
	l.Helper()
	l.write("kept/in.txt", "kept\n")
	l.write("f.txt", "one\n")
	l.run("git init -q . && git add . && git commit -qm base && git branch side2")
	l.write("big.bin", "first\n")
	l.write("folder/a.txt", "a\n")
	l.write("folder/b/c.txt", "c\n")
	l.write("file", "was a file\n")
	l.write("link", "was a file\n")
	l.write("same.txt", "the same\n")
	l.write("seen.log", "first\n")
	l.write("log.d/x.log", "x\n")
	l.run("git add . && git commit -qm old && git branch old && git branch side && git remote add origin ../none && git update-ref refs/remotes/origin/far old")
	l.run("git rm -rq big.bin folder file link same.txt seen.log log.d && git commit -qm 'gone again' && git tag without")
	l.run("git checkout -q -b log && mkdir log.d && echo new >seen.log && echo new >log.d/x.log && git add . && git commit -qm log && git checkout -q main")
	l.run("git checkout -q side2 && echo s >side2.txt && git add . && git commit -qm side2 && git checkout -q main")
	l.run("mkdir log.d && echo stashed >seen.log && echo stashed >log.d/x.log && git add . && git stash -q && git tag stashed stash@{0}")
	l.write(".gitignore", "*.log\nlog.d/\n")
	l.run("git add . && git commit -qm ignore")
	l.write("seen.log", strings.Repeat("log ", 2<<20))
	l.write("log.d/x.log", strings.Repeat("x", 5<<20))
	l.write("other.log", "in nobody's way\n")
	if !forced {
		return
	}
	l.write("big.bin", string(bytes.Repeat([]byte("big \xff\x00"), 1<<20)))
	l.write("folder", "now a file\n")
	l.write("file/deep/in.txt", "now a folder\n")
	l.write("file/x.log", "ignored in it\n")
	l.write("same.txt", "the same\n")
	l.write("alone.txt", "in nobody's way\n")
	l.run("ln -s nowhere link && chmod 600 big.bin")
	l.write("known.txt", "known\n")
	l.run("git add known.txt && git commit -qm known && git rm -q --cached known.txt && echo more >>known.txt")
}

// TestOverwritten runs every line for real: what was overwritten comes back, to
// the byte and whatever its size, and nothing else is held of what is known.
func TestOverwritten(t *testing.T) {
	labs := map[bool]*lab{true: newLab(t), false: newLab(t)}
	for forced, l := range labs {
		l.overwritable(forced)
		l.run("mkdir ../backup && cp -a ../repo ../backup/")
	}
	for _, w := range overwriting {
		t.Run(w.name, func(t *testing.T) {
			l := labs[w.want == snapshot.Work]
			l.TB = t
			l.run("cd .. && rm -rf repo state && cp -a backup/. . && cd repo && git update-index -q --refresh || true")
			if w.name == notKnown {
				l.run("rm -r seen.log log.d file/x.log") // held only as far as they are small
			}
			before := l.standing()
			losses := l.losses(w.line)
			if stake := l.stake(losses); stake != w.want {
				t.Fatalf("stake %d of %+v", stake, losses)
			}
			snap := l.take(losses)
			out, err := l.bash(w.line)
			if diff(before, l.standing()) == "" {
				t.Fatalf("nothing was lost: %v\n%s", err, out)
			}
			if w.back != "" {
				l.run(w.back)
			}
			r := l.restore(snap.ID, snapshot.RestoreOptions{})
			if got := l.standing(); diff(before, got) != "" {
				t.Errorf("%v\n%s\n%+v\n%s\nbefore and after:\n%s", err, out, losses, report(r), diff(before, got))
			}
			for _, f := range snap.Files {
				name := filepath.Base(string(f.Path))
				if !losses[0].Others && (name == "alone.txt" || name == "other.log") {
					t.Errorf("%s is in nobody's way, and held", f.Path)
				}
			}
		})
	}
}

// TestNothingInTheWay: without anything in its way, no line costs a question or a
// snapshot.
func TestNothingInTheWay(t *testing.T) {
	l := newLab(t)
	l.overwritable(false)
	l.run("rm -r seen.log log.d")
	l.write("alone.txt", "in nobody's way\n")
	for _, line := range []string{
		"git reset --hard old", "git checkout -f old", "git checkout log", "git switch --discard-changes old", "git merge log", "git stash pop",
		"git restore -s old .", "git checkout old -- big.bin", "git checkout nothing", "git checkout f.txt", "git reset --hard nothing", "git cherry-pick log",
	} {
		if got := l.stake(l.losses(line)); got != snapshot.Nothing {
			t.Errorf("%s: stake %d of %+v", line, got, l.losses(line))
		}
	}
	if _, err := os.Stat(l.store.Dir); err == nil {
		t.Error("a store was made")
	}
}
