package snapshot_test

import (
	"testing"

	"starling/tools/snapshot"
)

// TestStagedAlone: staged bytes that stand neither on disk nor in HEAD come back after
// every line that puts something else in their place, and cost no question.
func TestStagedAlone(t *testing.T) {
	l := newLab(t)
	l.run(`git init -q && echo first >a && echo first >b && echo first >c && git add . && git commit -qm first
		echo staged >a && echo other >b && git add a b && echo disk >a && echo disk >c && echo new >new`)
	l.run("mkdir ../backup && cp -a ../repo ../backup/")
	again := func() {
		l.run("cd .. && rm -rf repo state && cp -a backup/. . && cd repo && git update-index -q --refresh || true")
	}
	for _, c := range []struct {
		line string
		lost bool
	}{
		{"git reset -q", true},
		{"git reset -q HEAD a", true},
		{"git reset -q -- a b", true},
		{"git add -A", true},
		{"git add -u", true},
		{"git add a", true},
		{"git add .", true},
		{"git commit -qam w", true},
		{"git commit -qm w a", true},
		{"git read-tree HEAD", true},
		{"git update-index a", true},
		{"git stash -q && git stash pop -q", true},
		{"git rm -qf --cached a", true},
		{"git restore --staged a", true},
		{"git checkout -q HEAD -- a", true},
		{"git add c new", false},
		{"git commit -qm w", false},
		{"git reset -q --soft HEAD", false},
		{"git add -n .", false},
		{"git rm -q --cached c", false},
	} {
		t.Run(c.line, func(t *testing.T) {
			l.TB = t
			again()
			before := l.run("git show :a")
			losses := l.losses(c.line)
			snap := l.take(losses)
			l.run(c.line)
			if got := l.run("git show :a || true"); (got != before) != c.lost {
				t.Fatalf("%q is staged after it", got)
			}
			if !c.lost {
				return
			}
			if snap == nil {
				t.Fatalf("nothing is held of %+v", losses)
			}
			l.restore(snap.ID, snapshot.RestoreOptions{})
			if got := l.run("git show :a"); got != before {
				t.Errorf("%q is staged after the restore of %+v", got, snap)
			}
		})
	}
	again()
	for line, want := range map[string]snapshot.Stake{
		"git reset -q": snapshot.Held, "git add -A": snapshot.Held, "git add b c": snapshot.Nothing, "git commit -qam w": snapshot.Held,
	} {
		if got := l.stake(l.losses(line)); got != want {
			t.Errorf("%s: stake %d, want %d", line, got, want)
		}
	}
}
