package command_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/trust/command"
)

// TestPaths: what a line is sure to touch, and whether there can be more.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		line  string
		paths string
		all   bool
		why   string
	}{
		{"cat a b/c", "a b/c", true, "its files"},
		{"cat a | sort -o b", "a b", false, "what sort writes"},
		{"cat a > b", "a b", true, "redirections"},
		{"cat < /etc/hosts", "/etc/hosts", true, "absolute outside"},
		{"rm -rf x ../y", "/home/ann/y x", true, "removals"},
		{"cat $X a", "a", false, "one word is unknown"},
		{"cat *.go", "", false, "a pattern"},
		{"cd a && cat b", "a a/b", true, "the folder is followed"},
		{"cd a; cat b", "a a/b b", false, "the cd may have failed"},
		{"go test ./...", "", false, "runs code"},
		{"git diff", "", false, "reads what it finds"},
		{"ls", ".", true, "the folder"},
		{"grep -r x src", "src", true, "below the folder"},
		{"grep x", "", true, "its input"},
		{"echo a b", "", true, "none"},
		{"sh -c 'cat a'", "a", true, "a line inside"},
		{"eval \"$X\"; cat a", "", false, "unknown code may change the folder"},
		{"cp a b", "a b b/a", true, "the target may be a folder"},
		{"touch a; mkdir -p d/e", "a d/e", true, "new ones"},
		{"tee -a a b", "a b", true, "its files"},
		{"cat ~/x", "/home/ann/x", true, "the home"},
		{"head -n 3 a", "a", true, "3 is a number of lines"},
		{"sed -n 1p a", "a", true, "the script is no file"},
		{"find src -name x", "src", true, "its starting point"},
		{"find . -exec cat {} +", ".", false, "runs a command"},
		{"xargs cat", "", false, "words of the input"},
	} {
		got := command.Read(c.line, shop)
		if d := cmp.Diff(strings.Fields(c.paths), got.Paths, cmp.Transformer("len", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Errorf("%q (%s): %s", c.line, c.why, d)
		}
		if got.PathsKnown != c.all {
			t.Errorf("%q: all paths known %v, want %v: %s", c.line, got.PathsKnown, c.all, c.why)
		}
	}
}

// TestLinks: links are followed, also those that lead to nothing (fault B-04).
func TestLinks(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, home := filepath.Join(top, "ws"), filepath.Join(top, "home")
	for _, dir := range []string{ws + "/sub", home + "/.ssh", top + "/outside"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"out": "../outside/new.txt", "dir": "../outside", "key": "../home/.ssh/id_rsa", "rc": home + "/.bashrc", "loop": "loop", "up": "..",
	} {
		if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	at := command.Setting{Workspace: ws, Home: home}
	for _, c := range []struct {
		line, path, floor string
		free              bool
	}{
		{"cat sub/a", "sub/a", "", true},
		{"echo x > out", top + "/outside/new.txt", "", false},
		{"echo x > dir/a", top + "/outside/a", "", false},
		{"cat dir/a", top + "/outside/a", "", false},
		{"cat sub/../../outside/b", top + "/outside/b", "", false},
		{"cat dir/../x", top + "/x", "", false},
		{"cat key", home + "/.ssh/id_rsa", "keys or passwords", false},
		{"echo x > rc", home + "/.bashrc", ".bashrc", false},
		{"rm -rf up", "up", "", false},
		{"rm -rf up/", top, "holds the workspace", false},
		{"rm -rf up/ws", ".", "the workspace itself", false},
		{"cd up && cat x", top + "/x", "", false},
		{"cat loop", "loop", "", true},
	} {
		got := command.Read(c.line, at)
		if !strings.Contains("\n"+strings.Join(got.Paths, "\n")+"\n", "\n"+c.path+"\n") {
			t.Errorf("%q: paths %q without %q", c.line, got.Paths, c.path)
		}
		free := true
		for _, p := range got.Parts {
			free = free && p.Free
		}
		if free != c.free {
			t.Errorf("%q: free %v, want %v", c.line, free, c.free)
		}
		said := ""
		for _, f := range got.Floor {
			if f.Loss == nil {
				said += f.Why
			}
		}
		if (said != "") != (c.floor != "") || !strings.Contains(said, c.floor) {
			t.Errorf("%q: floor %q, want %q", c.line, said, c.floor)
		}
	}
}

// TestLossNames: a loss names what has to be held.
func TestLossNames(t *testing.T) {
	for _, c := range []struct {
		line  string
		names string
		dir   string
	}{
		{"git checkout -- a b/c", "/home/ann/shop/a /home/ann/shop/b/c", "/home/ann/shop"},
		{"git checkout .", "/home/ann/shop", "/home/ann/shop"},
		{"git checkout '*.go'", "", "/home/ann/shop"},
		{"git checkout -- \"$X\"", "", "/home/ann/shop"},
		{"cd sub && git restore a", "/home/ann/shop/sub/a", "/home/ann/shop/sub"},
		{"git -C sub reset --hard", "", "/home/ann/shop/sub"},
		{"git branch -D x y", "x y", "/home/ann/shop"},
		{"git stash drop stash@{1}", "stash@{1}", "/home/ann/shop"},
		{"git stash drop", "stash@{0}", "/home/ann/shop"},
		{"echo x > a", "/home/ann/shop/a", "/home/ann/shop"},
		{"rm a b", "/home/ann/shop/a /home/ann/shop/b", "/home/ann/shop"},
	} {
		got := command.Read(c.line, shop)
		found := false
		for _, f := range got.Floor {
			if f.Loss == nil || f.Loss.Trees != nil {
				continue
			}
			found = true
			if names := strings.Join(f.Loss.Names, " "); names != c.names || f.Loss.Dir != c.dir {
				t.Errorf("%q: names %q in %q, want %q in %q", c.line, names, f.Loss.Dir, c.names, c.dir)
			}
		}
		if !found {
			t.Errorf("%q: no loss", c.line)
		}
	}
}

// TestArgv: the words as the program is given them.
func TestArgv(t *testing.T) {
	got := command.Read(`git commit -m "a b" $X`, shop).Parts[0]
	words, known := got.Argv()
	if d := cmp.Diff([]string{"git", "commit", "-m", "a b", "$X"}, words); d != "" || known {
		t.Errorf("known %v: %s", known, d)
	}
	if want := "git commit -m 'a b' $X"; got.Text != want {
		t.Errorf("as a rule spells it: %q, want %q", got.Text, want)
	}
	if _, known := command.Read("'ls' -l", shop).Parts[0].Argv(); !known {
		t.Error("every word is known, Argv says not")
	}
}
