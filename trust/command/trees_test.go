package command_test

import (
	"fmt"
	"strings"
	"testing"

	"starling/trust/command"
)

// TestTrees: of which revisions git puts files into the working tree, whether by
// force (!), below which names, and whether there may be others (+).
func TestTrees(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"git reset --hard", "!HEAD"},
		{"git reset --hard HEAD~2", "!HEAD~2"},
		{"git reset --hard $X", "!+"},
		{"git reset $X", "!+"},
		{"git reset HEAD~2", ""},
		{"git reset --keep HEAD~2", "HEAD~2"},
		{"git reset --merge", "HEAD"},
		{"git fetch && git reset --hard origin/main", "!origin/main+"},
		{"ls && git reset --hard origin/main", "!origin/main"},
		{"git commit -m x; git reset --hard HEAD~2", "!HEAD~2+"},
		{"git -C sub reset --hard x", "!x"},
		{"git --git-dir=x reset --hard", "!HEAD+"},
		{"while true; do git reset --hard HEAD~1; done", "!HEAD~1"},
		{"while true; do git reset --hard HEAD~1; make; done", "!HEAD~1+"},
		{"git checkout -f", "!HEAD"},
		{"git checkout -f topic", "!topic"},
		{"git checkout -f --detach topic", "!topic"},
		{"git checkout -f -b new topic", "!topic"},
		{"git checkout -f -- a", ""},
		{"git checkout -f topic -- a b", "!topic:a,b"},
		{"git checkout topic -- a", "!topic:a"},
		{"git checkout topic a", "!topic:a"},
		{"git checkout topic", "topic"},
		{"git checkout -", "@{-1}"},
		{"git checkout -b new", ""},
		{"git checkout -B new topic", "topic"},
		{"git checkout -- a", ""},
		{"git checkout .", ""},
		{"git checkout $X", "+"},
		{"git switch topic", "topic"},
		{"git switch -", "@{-1}"},
		{"git switch -f topic", "!topic"},
		{"git switch --discard-changes", "!HEAD"},
		{"git switch -c new topic", "topic"},
		{"git switch -c new", ""},
		{"git restore a", ""},
		{"git restore --staged a", ""},
		{"git restore -s topic a", "!topic:a"},
		{"git restore --source=topic .", "!topic:."},
		{"git restore -SW a", "!HEAD:a"},
		{"git merge a b", "a,b"},
		{"git merge -m x a", "a"},
		{"git merge", "@{upstream}"},
		{"git merge --abort", "HEAD,ORIG_HEAD+"},
		{"git pull", "@{upstream}+"},
		{"git pull origin main", "@{upstream},origin,main,origin/main+"},
		{"git rebase main", "main,HEAD+"},
		{"git rebase --onto a b c", "b,c,a,HEAD+"},
		{"git cherry-pick a", "a,HEAD"},
		{"git cherry-pick a..b", "HEAD+"},
		{"git revert a", "a,a^,HEAD"},
		{"git am x.patch", "HEAD+"},
		{"git bisect start", "HEAD+"},
		{"git bisect log", ""},
		{"git stash pop", "stash@{0},stash@{0}^3,stash@{0}^1"},
		{"git stash apply 2", "stash@{2},stash@{2}^3,stash@{2}^1"},
		{"git stash branch new stash@{1}", "stash@{1},stash@{1}^3,stash@{1}^1"},
		{"git stash pop $X", "+"},
		{"git stash", "!HEAD"},
		{"git stash push -m x", "!HEAD"},
		{"git stash list", ""},
		{"git stash drop", ""},
		{"git read-tree -u --reset topic", "!topic"},
		{"git read-tree -m -u topic", "topic"},
		{"git read-tree topic", ""},
		{"git status", ""},
	} {
		var got []string
		for _, f := range command.Read(c.line, shop).Floor {
			l := f.Loss
			if l == nil || l.Kinds[0] != command.InTheWay && l.Kinds[0] != command.IgnoredInTheWay {
				continue
			}
			if quiet := l.Kinds[0] == command.IgnoredInTheWay; l.Quiet() != quiet {
				t.Errorf("%s: quiet %v of %v", c.line, l.Quiet(), l.Kinds)
			}
			one := strings.Join(l.Trees, ",")
			if !l.Quiet() {
				one = "!" + one
			}
			if len(l.Names) > 0 {
				one += ":" + strings.ReplaceAll(strings.ReplaceAll(strings.Join(l.Names, ","), "/home/ann/shop/", ""), "/home/ann/shop", ".")
			}
			if l.Others {
				one += "+"
			}
			got = append(got, one)
		}
		if said := fmt.Sprint(strings.Join(got, " ")); said != c.want {
			t.Errorf("%s: %q, want %q", c.line, said, c.want)
		}
	}
}
