package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newKeeper returns an engine that can say where a shell ended, in a folder whose
// name no quoting may stumble over.
func newKeeper(t *testing.T, change func(*Options)) *Engine {
	return newEngine(t, func(o *Options) {
		o.Spill = filepath.Join(t.TempDir(), "it's a $HOME `x` \"y\" \\ folder")
		if change != nil {
			change(o)
		}
	})
}

// watchedLines are lines, and where their shell ends below the folder of the engine: "-"
// means that it does not say. None of them may notice that it is watched.
var watchedLines = []struct{ name, line, dir string }{
	{"stays", "true", "."},
	{"cd", "cd sub", "sub"},
	{"nothing to print", "cd sub; echo out; echo err >&2", "sub"},
	{"status", "cd sub; false", "sub"},
	{"exit", "cd sub; exit 7", "sub"},
	{"first status", "echo $?", "."},
	{"errexit", "set -e; cd sub; false; echo never", "sub"},
	{"strict", "set -eu; cd sub; echo $undefined; echo never", "sub"},
	{"noclobber", "set -C; cd sub; true", "sub"},
	{"xtrace", "set -x; cd sub; true", "sub"},
	{"pipefail", "cd sub; set -o pipefail 2>/dev/null; false | true", "sub"},
	{"subshell", "(cd sub; exit 3)", "."},
	{"substitution", "x=$(cd sub; pwd); echo ${x##*/}", "."},
	{"pipeline", "cd sub | cat; cd sub && pwd | sed 's:.*/::'", "sub"},
	{"function", "f() { cd sub; return 4; }; f", "sub"},
	{"here-document", "cat <<E\na $? b\nE\ncd sub; cat <<'E'\n$x\nE", "sub"},
	{"here-document is last", "cd sub; cat <<E\nend\nE", "sub"},
	{"comment is last", "cd sub # and no more", "sub"},
	{"comment is first", "# where\ncd sub", "sub"},
	{"lines are counted", "\n\nno-such-command\ncd sub", "sub"},
	{"does not parse", "cd sub; if (", "-?"},
	{"a program's signal", "cd sub; sh -c 'kill -SEGV $$'; echo $?", "sub"},
	{"own trap", "trap 'echo bye' EXIT; cd sub; exit 5", "-"},
	{"own trap in a subshell", "(trap 'echo bye' EXIT; exit 5); cd sub", "sub"},
	{"other traps", "trap 'echo term' TERM; kill -TERM $$; cd sub", "sub"},
	{"exec", "cd sub; exec sh -c 'echo $0; exit 6' name", "-"},
	{"exec of a descriptor", "exec 3>&1; echo three >&3; cd sub", "sub"},
	{"environment", "env | grep -i -e starling -e BASH_ENV | grep -v ^STARLING_PROCESS=; cd sub", "sub"},
	{"folder is gone", "mkdir -p gone; cd gone; rmdir ../gone; echo here", "-"},
	{"odd name", "mkdir -p 'a $b `c` \"d\n'; cd a*; true", "a $b `c` \"d\n"},
	{"child", "cd sub; sleep 0.05 & cd ..; wait", "."},
}

// What a line prints, how it ends and where are those of the line alone.
func TestKeepDir(t *testing.T) {
	onlySh := t.TempDir()
	for _, p := range []string{"sh", "cat", "sed", "env", "grep", "sleep", "mkdir", "rmdir"} {
		for _, dir := range []string{"/bin/", "/usr/bin/"} {
			if _, err := os.Stat(dir + p); err == nil {
				_ = os.Symlink(dir+p, filepath.Join(onlySh, p))
			}
		}
	}
	for _, shellName := range []string{"bash", "sh"} {
		for _, c := range watchedLines {
			t.Run(shellName+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				e := newKeeper(t, nil)
				dir, err := filepath.EvalSymlinks(e.opt.Dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
					t.Fatal(err)
				}
				start := func(keep bool) Outcome {
					if shellName == "bash" {
						return run(t, e, Command{Line: c.line, KeepDir: keep})
					}
					pl := plan{path: filepath.Join(onlySh, "sh"), args: []string{"sh", "-c", "--", c.line}, shell: "sh", dir: e.opt.Dir, env: e.environment(nil, e.opt.Dir)}
					p, err := e.begin(pl, Command{Line: c.line, KeepDir: keep})
					if err != nil {
						t.Fatal(err)
					}
					e.enter(p)
					go p.supervise(t.Context(), 0)
					<-p.returned
					return p.outcome
				}
				plain, watched := start(false), start(true)
				same := func(o Outcome) string {
					return fmt.Sprintf("%d %q\nout %s\nerr %s", o.Status, o.Signal, o.Stdout, numberless(o.Stderr.String()))
				}
				if diff := cmp.Diff(same(plain), same(watched)); diff != "" {
					t.Error(diff)
				}
				want := filepath.Join(dir, c.dir)
				switch c.dir {
				case "-":
					want = ""
				case "-?": // whether a line that does not parse sets the trap is the shell's
					want = watched.Dir
				}
				if watched.Dir != want || plain.Dir != "" {
					t.Errorf("ended in %q, want %q", watched.Dir, want)
				}
				if left, _ := filepath.Glob(filepath.Join(e.opt.Spill, "folder-*")); len(left) > 0 {
					t.Errorf("left over: %q", left)
				}
			})
		}
	}
}

// numberless drops what differs between any two runs, and the line that a shell
// without a file to read shows of a syntax error.
func numberless(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, "`") {
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.Trim(word, "0123456789") != "" {
				b.WriteString(word + " ")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// The person's own BASH_ENV goes on being read, and programs see it as it was.
func TestKeepDirAndBashEnv(t *testing.T) {
	home := t.TempDir()
	program(t, filepath.Join(home, "env.sh"), "greeting=hello\n")
	e := newKeeper(t, func(o *Options) { o.Env = append(o.Env, "WHERE="+home, `BASH_ENV=$WHERE/env.sh`) })
	o := run(t, e, Command{Line: `echo $greeting; bash -c 'echo $greeting $BASH_ENV'; cd /`, KeepDir: true})
	if want := "hello\nhello $WHERE/env.sh\n"; o.Stdout.String() != want || o.Dir != "/" {
		t.Errorf("%q in %q", o.Stdout, o.Dir)
	}
}

// In its POSIX mode bash reads nothing before a line; no program of the line may
// read it instead.
func TestKeepDirOfPosix(t *testing.T) {
	for _, variable := range []string{"POSIXLY_CORRECT=1", "SHELLOPTS=braceexpand:posix"} {
		e := newKeeper(t, func(o *Options) { o.Env = append(o.Env, variable) })
		o := run(t, e, Command{Line: "cd /; bash -c 'cd /usr; echo in; true'; env | grep -e BASH_ENV -e STARLING_FOLDER", KeepDir: true})
		if o.Stdout.String() != "in\n" || o.Dir != "/" {
			t.Errorf("%s: %q in %q", variable, o.Stdout, o.Dir)
		}
	}
}

// Whatever a command puts where the report would be, Run returns and trusts none.
func TestKeepDirIsSpoiled(t *testing.T) {
	for _, spoil := range []string{"mkfifo $f", "mkdir $f", "ln -s /etc/hostname $f", "head -c 1000000 /dev/zero >$f", "echo relative >$f", "ln -s $f $f"} {
		e := newKeeper(t, func(o *Options) { o.Spill = filepath.Join(t.TempDir(), "spill") })
		o := run(t, e, Command{Line: "f=" + e.opt.Spill + "/folder-1; " + spoil + "; trap - EXIT", KeepDir: true, Timeout: patience})
		if o.Dir != "" || o.TimedOut || o.Status != 0 {
			t.Errorf("%s: %+v", spoil, o)
		}
	}
	// A pipe that somebody could still write to has no end.
	e := newKeeper(t, func(o *Options) { o.Spill = filepath.Join(t.TempDir(), "spill") })
	o := run(t, e, Command{Line: "f=" + e.opt.Spill + "/folder-1; mkfifo $f; sleep 300 <>$f & trap - EXIT", KeepDir: true, Timeout: patience})
	if o.Dir != "" || o.TimedOut || !o.Background {
		t.Errorf("an open pipe: %+v", o)
	}
}

// A child in the background neither holds the folder back nor changes it.
func TestKeepDirWithBackground(t *testing.T) {
	e := newKeeper(t, nil)
	o := run(t, e, Command{Line: "cd /; (cd /usr; exec sleep 300) & echo $!", KeepDir: true})
	if !o.Background || o.Dir != "/" {
		t.Errorf("%+v", o)
	}
	child := pids(t, o.Stdout.Head)[0]
	if len(o.Left) != 1 || o.Left[0].PID != child || !strings.Contains(o.Left[0].Name, "sleep") {
		t.Errorf("left %+v, want %d", o.Left, child)
	}
}

// After the engine closed, nothing of it is in the folder.
func TestKeepDirLeavesNothing(t *testing.T) {
	e := newKeeper(t, nil)
	run(t, e, Command{Line: "cd /; sleep 300 &", KeepDir: true})
	if _, err := e.Run(t.Context(), Command{Argv: []string{"true"}, KeepDir: true}); err != nil {
		t.Error(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(e.opt.Spill)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v %v", left, err)
	}
}
