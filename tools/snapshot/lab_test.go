package snapshot_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"starling/tools/snapshot"
	"starling/trust/command"
)

func TestMain(m *testing.M) {
	if run, ok := children[os.Getenv("SNAPSHOT_CHILD")]; ok {
		run(os.Args[len(os.Args)-1])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// lab is a folder with a repository, what belongs to it, and a store.
type lab struct {
	testing.TB
	root  string // holds everything
	repo  string
	env   []string
	store *snapshot.Store
}

func newLab(t testing.TB) *lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	ok(t, err)
	l := &lab{TB: t, root: root, repo: filepath.Join(root, "repo")}
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "home"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_DATE=2026-03-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-03-01T12:00:00Z",
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l.store = &snapshot.Store{
		Dir: filepath.Join(root, "state", "snapshots", "w"), Workspace: l.repo, Environ: l.env,
		Now: func() time.Time { now = now.Add(time.Second); return now },
	}
	ok(t, os.MkdirAll(l.repo, 0o755))
	l.write("../home/.gitconfig", "[user]\nname=a\nemail=a@example.org\n[init]\ndefaultBranch=main\ntemplateDir=\n[protocol \"file\"]\nallow=always\n[advice]\ndetachedHead=false\n")
	return l
}

// bash runs a line in the repository; what it says and its status are for those
// who look.
func (l *lab) bash(line string) (string, error) {
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = l.repo, l.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs a line that must succeed.
func (l *lab) run(line string) string {
	l.Helper()
	out, err := l.bash("set -e; " + line)
	if err != nil {
		l.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

func (l *lab) path(name string) string { return filepath.Join(l.repo, name) }

func (l *lab) write(name, content string) {
	l.Helper()
	ok(l, os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
	ok(l, os.WriteFile(l.path(name), []byte(content), 0o644))
}

// losses are what the reader of command lines says a line may discard.
func (l *lab) losses(line string) []command.Loss {
	var all []command.Loss
	for _, f := range command.Read(line, command.Setting{Workspace: l.repo, Home: filepath.Join(l.root, "home")}).Floor {
		if f.Loss != nil {
			all = append(all, *f.Loss)
		}
	}
	return all
}

func (l *lab) stake(losses []command.Loss) snapshot.Stake {
	l.Helper()
	stake, err := l.store.Stake(context.Background(), losses)
	ok(l, err)
	return stake
}

func (l *lab) take(losses []command.Loss) *snapshot.Snapshot {
	l.Helper()
	snap, err := l.store.Take(context.Background(), losses, "test")
	ok(l, err)
	return snap
}

func (l *lab) restore(id string, o snapshot.RestoreOptions) *snapshot.Report {
	l.Helper()
	report, err := l.store.Restore(context.Background(), id, o)
	ok(l, err)
	return report
}

// dirty makes a repository with every kind of uncommitted work.
func (l *lab) dirty() {
	l.Helper()
	l.run(`git init -q ../origin && cd ../origin && echo lib >lib.txt && echo two >two.txt && git add . && git commit -qm lib`)
	l.write(".gitignore", "*.log\n/build/\n")
	l.write(".gitattributes", "crlf.txt text eol=crlf\n")
	for _, name := range []string{"modified", "staged", "both", "deleted", "gone-staged", "clean", "hidden", "dir/in", "mode"} {
		l.write(name+".txt", name+" first\n")
	}
	l.write("crlf.txt", "one\r\ntwo\r\n")
	l.write("odd/-dash", "dash\n")
	l.write("odd/sp ace", "space\n")
	l.write("odd/new\nline", "line\n")
	l.write("odd/byte\xff", "byte\n")
	l.write("odd/*star", "star\n")
	l.write("bin", "a\x00b\n")
	l.write("then.txt", "only in the first commit\n")
	l.run(`git init -q && ln -s clean.txt link && git add . && git commit -qm first
		git rm -q then.txt && echo second >>clean.txt && git commit -qam second
		git branch merged HEAD~1
		git checkout -q -b topic && echo topic >>modified.txt && echo t >topic.txt && git add . && git commit -qm topic
		git checkout -q -b side main && echo side >side.txt && git add . && git commit -qm side
		git checkout -q main
		git submodule --quiet add ../origin sub && git commit -qm sub
		echo one >>clean.txt && git stash -q && echo two >>clean.txt && echo u >u.txt && git stash -q -u -m 'second ✓'
		git worktree add -q -b wt ../wt
		git worktree add -q --detach ../apart`)
	l.run(`cd sub && echo dirty >>lib.txt && echo staged >>two.txt && git add two.txt && echo new >new.txt`)
	l.run(`cd ../wt && echo wt >>clean.txt && echo staged >staged-new.txt && git add staged-new.txt && echo later >>staged-new.txt && rm modified.txt && echo u >'un tracked'`)
	l.run(`cd ../apart && echo apart >apart.txt && git add . && git commit -qm apart && echo more >>apart.txt`)
	l.run(`git init -q nested && cd nested && echo n >n.txt && git add . && git commit -qm n && echo dirty >>n.txt && echo u >u.txt`)
	for _, name := range []string{"modified.txt", "both.txt", "hidden.txt", "crlf.txt", "dir/in.txt", "bin", "odd/-dash", "odd/sp ace", "odd/new\nline", "odd/byte\xff", "odd/*star"} {
		data, err := os.ReadFile(l.path(name))
		ok(l, err)
		l.write(name, string(data)+"second \xff\x00\r\n")
	}
	l.run(`git update-index --assume-unchanged hidden.txt
		git add both.txt && echo third >>both.txt
		echo second >>staged.txt && git add staged.txt
		echo new >new-staged.txt && git add new-staged.txt
		git rm -q gone-staged.txt && rm deleted.txt
		echo intent >intent.txt && git add -N intent.txt
		chmod +x mode.txt && ln -sfn modified.txt link && ln -s nowhere untracked-link
		echo u >untracked.txt && mkdir -p 'un tracked/deep' && echo a >'un tracked/deep/a b' && chmod 700 'un tracked' && chmod 600 untracked.txt
		echo u >dir/untracked.txt && echo then >then.txt
		echo log >a.log && mkdir build && echo out >build/out.bin && echo -n >empty.txt`)
}

// standing is everything a person would miss: files, modes, links, entries of
// indexes, entries of stashes, branches.
type standing map[string]string

func (l *lab) standing() standing {
	l.Helper()
	all := standing{}
	skip := map[string]bool{filepath.Join(l.root, "state"): true, filepath.Join(l.root, "home"): true, filepath.Join(l.root, "backup"): true}
	ok(l, filepath.WalkDir(l.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case skip[path], d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Name() == ".git":
			return nil
		}
		info, err := d.Info()
		ok(l, err)
		name := strings.TrimPrefix(path, l.root)
		switch {
		case d.IsDir():
			all[name] = info.Mode().String()
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			ok(l, err)
			all[name] = "-> " + target
		default:
			data, err := os.ReadFile(path)
			ok(l, err)
			all[name] = info.Mode().String() + " " + string(data)
		}
		return nil
	}))
	for _, dir := range []string{"repo", "repo/sub", "repo/nested", "wt", "apart"} {
		if _, err := os.Lstat(filepath.Join(l.root, dir, ".git")); err != nil {
			continue
		}
		asks := []string{"ls-files -s -z", "status --porcelain=v2 -z -uall --ignored=matching --ignore-submodules=none"}
		if dir == "repo" {
			// A dropped entry of the stash comes back as the newest.
			asks = append(asks, "stash list --format=%H%x00%gs | sort", "for-each-ref refs/heads --format='%(refname) %(objectname)'")
		}
		for _, args := range asks {
			all["git -C "+dir+" "+args] = l.run("git -C ../" + dir + " " + args)
		}
	}
	return all
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func diff(want, got any) string { return cmp.Diff(want, got) }

func report(r *snapshot.Report) string {
	var b strings.Builder
	for _, one := range r.Results {
		fmt.Fprintf(&b, "%s %s %q %s\n", one.State, one.What, one.Name, one.Note)
	}
	return b.String() + strings.Join(r.Notes, "\n")
}
