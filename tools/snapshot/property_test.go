package snapshot_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// TestAnyTree: whatever a working tree holds, after a snapshot, any destruction
// and a restore it is the same again.
func TestAnyTree(t *testing.T) {
	l := newLab(t)
	names := rapid.SampledFrom([]string{"a", "b.log", "-c", "d e", "d", "d/x", "d/y.log", "d/e", "d/e/z", "f\nf", "\xff", "build/o", "build/p/q", "*", ":(top)a", "ü"})
	content := rapid.SampledFrom([]string{"", "one\n", "two\n", "three\r\n", "\x00\xff", "one\ntwo\n"})
	// touch does something to one path of the disk.
	touch := func(rt *rapid.T) {
		path := l.path(names.Draw(rt, "name"))
		what := rapid.SampledFrom([]string{"write", "write", "write", "link", "remove", "mode"}).Draw(rt, "what")
		text := content.Draw(rt, "content")
		for dir := filepath.Dir(path); dir != l.repo; dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				ok(l, os.Remove(dir))
			}
		}
		ok(l, os.MkdirAll(filepath.Dir(path), 0o755))
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			ok(l, os.RemoveAll(path))
		}
		switch what {
		case "write":
			_ = os.Remove(path)
			_ = os.WriteFile(path, []byte(text), 0o644)
		case "link":
			_ = os.Remove(path)
			_ = os.Symlink("to "+fmt.Sprintf("%q", text), path)
		case "remove":
			_ = os.Remove(path)
		case "mode":
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
				ok(l, os.Chmod(path, info.Mode().Perm()^0o111))
			}
		}
	}
	if os.Getenv("SOAK") == "" {
		// The same trees in every ordinary run, and few: each is some dozen processes.
		setFlag(t, "rapid.seed", "1")
		setFlag(t, "rapid.checks", "25")
	}
	rapid.Check(t, func(rt *rapid.T) {
		l.run("cd .. && rm -rf repo state && mkdir repo && cd repo && git init -q && printf '*.log\\nbuild/\\n' >.gitignore")
		several := func(label string) {
			for range rapid.IntRange(0, 8).Draw(rt, label) {
				touch(rt)
			}
		}
		several("first")
		l.run("git add . && git commit -qm first")
		several("staged")
		l.run("git add .")
		several("later")
		before := l.standing()
		losses := []command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Worktree, command.Index, command.Untracked, command.Ignored}}}
		stake := l.stake(losses)
		snap := l.take(losses)
		if (snap == nil) != (stake == snapshot.Nothing) {
			rt.Fatalf("stake %d, snapshot %+v", stake, snap)
		}
		l.run(rapid.SampledFrom([]string{
			"git reset -q --hard && git clean -qffdx", "git rm -rqf . && git read-tree HEAD && git clean -qffdx", "find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +; git read-tree HEAD", "git clean -qfdx; git checkout -q HEAD -- . ",
		}).Draw(rt, "destroyed"))
		if snap == nil {
			return
		}
		r := l.restore(snap.ID, snapshot.RestoreOptions{})
		// What git has, one by one: where a file took the place of a folder it gives up.
		l.run("git ls-files -dz | xargs -0 -r -n1 git checkout-index -q -- || true")
		r2 := l.restore(snap.ID, snapshot.RestoreOptions{})
		got := l.standing()
		for name := range got {
			if _, ok := before[name]; !ok && got[name] == before["/repo"] {
				delete(got, name) // a folder left empty by a deletion
			}
		}
		for name, mode := range before {
			if _, ok := got[name]; !ok && mode == before["/repo"] {
				delete(before, name)
			}
		}
		if diff(before, got) != "" {
			rt.Fatalf("%s\n%s\n%s", report(r), report(r2), diff(before, got))
		}
	})
}

// setFlag sets a flag of the test program until the test ends.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	if f == nil {
		t.Fatalf("there is no flag %s", name)
	}
	before := f.Value.String()
	ok(t, flag.Set(name, value))
	t.Cleanup(func() { ok(t, flag.Set(name, before)) })
}
