package command_test

import (
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust/command"
)

// shelf is a workspace of one folder below /w; what it lists is nowhere else.
func shelf(env ...string) command.Setting {
	folders := map[string][]string{
		"/w":         {".git", "a.o", "B.O", ".c.o", "[x]", "main.c", "own.o.bak", "*.log", "sub", "link", "out", ".envrc"},
		"/w/sub":     {"d.o", "e.txt"},
		"/far":       {"f.o", "g.txt"},
		"/w/many":    slices.Repeat([]string{"x.o"}, 1001),
		"/w/crowded": slices.Repeat([]string{"x.txt"}, 20_001),
	}
	links := map[string]string{"/w/link": "/far", "/w/out": "/far/g.txt"}
	return command.Setting{
		Workspace: "/w", Home: "/home/ann", StateHome: "/home/ann/.starling", Env: append([]string{"PATH=/bin"}, env...),
		Resolve: func(abs string) string {
			for from, to := range links {
				if abs == from || strings.HasPrefix(abs, from+"/") {
					return path.Clean(to + strings.TrimPrefix(abs, from))
				}
			}
			return path.Clean(abs)
		},
		List: func(abs string) ([]string, error) {
			if names, ok := folders[abs]; ok {
				return names, nil
			}
			return nil, errors.New("no such folder")
		},
	}
}

// lost are the names of the losses of a line from /w on: "all" for all work.
func lost(line string, at command.Setting) string {
	var out []string
	for _, f := range command.Read(line, at).Floor {
		switch {
		case f.Loss == nil:
		case len(f.Loss.Names) == 0:
			out = append(out, "all")
		default:
			for _, name := range f.Loss.Names {
				if rel, err := filepath.Rel("/w", name); err == nil {
					name = rel
				}
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// TestWhatIsLost: a loss names no more than a line may touch, and no less.
func TestWhatIsLost(t *testing.T) {
	for _, c := range []struct{ line, want, why string }{
		// Patterns.
		{"rm *.o", ".c.o B.O a.o", "what matches under any option of the shell"},
		{"rm *.obj", "", "nothing matches"},
		{"rm *.obj main.c", "main.c", "and one that is named"},
		{"rm -f sub/*.o", "sub/d.o", "in a folder"},
		{"rm sub/*.obj link/*.obj", "", "nothing in two"},
		{"rm link/*.o", "../far/f.o", "through a link"},
		{"rm link/../*.o", "..", "no link is dropped before it is followed, and nobody can list there"},
		{"rm gone/*.o", "gone", "a folder nobody can list"},
		{"rm many/*.o", "many", "more than are named"},
		{"rm crowded/*.o", "crowded", "more than are looked at"},
		{"rm [x]", "*.log .c.o .envrc B.O [x] a.o link main.c out own.o.bak sub", "a class, or a file of this name"},
		{"rm '*'.log*", "*.log .c.o .envrc B.O [x] a.o link main.c out own.o.bak sub", "a quoted star is a star too"},
		{"rm *.'l'og", "*.log", "quotes inside"},
		{"rm \\*.l?g", "*.log", "a backslash"},
		{"rm **", ".", "it may go down"},
		{"rm .*", ".", "it may go up"},
		{"rm .x*", "", "it does not"},
		{"rm */*.o", "all", "several folders"},
		{"rm @(a).o", "all", "a pattern of another kind"},
		{"rm {a,z}*.o", "a.o", "braces"},
		{"rm ~/*.o", "../home/ann", "a folder nobody can list"},
		{"truncate -s 0 *.obj", "", "cut"},
		{"truncate -s 0 *.c", "main.c", "cut"},
		{"sed -i s/a/b/ *.obj", "", "edited"},
		{"echo x >*.obj", "", "a redirection"},
		{"echo x >ou?", "../far/g.txt out", "through a link that matches"},
		{"cp main.c ou*", "../far/g.txt out", "through a link that matches"},
		{"rm ou*", "out", "the link itself"},
		{"cd sub && rm *.o", "sub/d.o", "after cd"},
		{"cd sub; rm *.obj", "", "wherever it is"},
		{"cd sub; rm *.o", ".c.o B.O a.o sub/d.o", "wherever it is"},
		{"cd \"$x\"; rm *.obj", "all", "wherever that is"},
		{"cd -P link && rm *.o", "../far/f.o", "through a link"},
		{"ls; rm *.obj; echo done", "", "nothing else changes"},
		{"ls | head -2; rm *.obj", "", "nothing else changes, though beside it"},
		{"rm *.obj; make", "", "what comes later comes later"},
		{"rm -f *.obj && touch z.obj", "", "what comes later comes later"},
		// What the line may have made by then.
		{"touch z.obj; rm *.obj", ".", "a file of this line"},
		{"mv main.c z.obj; rm *.obj", ". main.c z.obj z.obj/main.c", "a file of this line"},
		{"make; rm *.obj", ".", "nobody knows what it makes"},
		{"ln -s / z && rm z/*.obj", "all", "a link of this line"},
		{"ln -s main.c z.obj; rm *.obj", ".", "a link of this line"},
		{"shopt -s nocaseglob; rm *.obj", ".", "other rules"},
		{"shopt -s extglob globstar; rm *.obj", ".", "other rules"},
		{"GLOBIGNORE=x; rm *.obj", ".", "other rules"},
		{"rm *.obj & make", ".", "beside it"},
		{"rm *.obj | make", ".", "beside it"},
		{"rm *.obj > >(make)", ". all", "beside it"},
		{"coproc make; rm *.obj", ".", "beside it"},
		{"for i in 1 2; do rm *.obj; make; done", ".", "once more"},
		{"while true; do rm *.obj; make; done", ".", "once more"},
		{"f() { rm *.obj; }; make; f", ".", "later"},
		{"trap 'make' EXIT; rm *.obj", ".", "nobody knows when"},
		{"trap 'rm *.obj' EXIT; make", ".", "later"},
		{"sh -c 'rm *.obj; make'", ".", "another shell"},
		{"eval 'rm *.obj'", ".", "another text"},
		{"find . -exec rm *.obj ';' -exec mv main.c z.obj ';'", ". main.c z.obj z.obj/main.c", "once more"},
		{"timeout 9 rm *.obj", ".", "not by the shell itself"},
		{"rm *.obj $(make)", "all", "before it"},
		{"X=$(make) rm *.obj", ".", "before it"},
		{"unlink() { make; }; if true; then unlink x; fi; rm *.obj", ".", "another unlink"},
		// Moved work.
		{"mv main.c b; rm b", "b b/main.c main.c", "what was moved there"},
		{"mv main.c b && echo x >b", "b b/main.c main.c", "what was moved there"},
		{"mv main.c a.o sub; rm -r sub", "a.o main.c sub sub/a.o sub/main.c", "into a folder"},
		{"mv main.c sub/z; git clean -fd", "all main.c sub/z sub/z/main.c", "what git does not know then"},
		{"mv main.c b; rm c", "b b/main.c c", "another file"},
		{"mv \"$x\" b; rm b", "all b", "nobody knows what"},
		{"mv *.c b; rm b", ". b", "some of them"},
		{"git mv main.c b; rm b", "b main.c", "by git"},
		{"rm b; mv main.c b", "b b/main.c", "the other way round"},
		{"for i in 1 2; do rm b; mv main.c b; done", "b b/main.c main.c", "and round again"},
		// Variables.
		{`rm "$x"`, "", "no file has that name"},
		{`rm $x`, "", "no word at all"},
		{`rm "$x.o"`, ".o", "only its end"},
		{`rm "${x}" a.o`, "a.o", "and another"},
		{`rm ""`, "", "no file has that name"},
		{`echo y > "$x"`, "", "no file has that name"},
		{`rm "$x/sub"`, "../sub", "from the root"},
		{`rm "$x"*.o`, "all", "a pattern is left alone"},
		{`rm "$X"`, "all", "bash gives some of these a value"},
		{`rm "$given"`, "all", "the environment has it"},
		{`rm "${x:-a}"`, "all", "with a default"},
		{`rm "${#x}"`, "all", "its length"},
		{`rm "$x"-rf`, "all", "an option"},
		{`rm "$x$(ls)"`, "all", "and something else"},
		{`: ${x:=a}; rm "$x"`, "all", "it gets a default"},
		{`x=; : ${x:=a}; rm "$x"`, "all", "it gets a default"},
		{`x=a; : ${x=b}; rm "$x"`, "all", "it may get a default"},
		{`x=a; rm "$x"`, "a", "set here"},
		{`x='a b'; rm "$x"`, "a b", "set here"},
		{`read x; rm "$x"`, "all", "read"},
		{`rm "$x"; x=a`, "all", "set, though later"},
		{`while true; do rm "$x"; x=a; done`, "all", "set in the round before"},
		{`f() { rm "$x"; }; x=a f`, "all", "set for the function"},
		{`printf -v x a; rm "$x"`, "all", "set"},
		{`export x=a; rm "$x"`, "all", "set"},
		{`eval x=a; rm "$x"`, "all", "set"},
		{`source f; rm "$x"`, "all", "set, maybe"},
		{`(( x = 1 )); rm "$x"`, "all", "set"},
		{`echo $(( y )); rm "$x"`, "all", "y may set it"},
		{`n=x; declare "$n"=a; rm "$x"`, "all", "set by another name"},
		{`exec {x}>f; rm "$x"`, "all f", "set to a number"},
		{`for x in $(ls); do rm "$x"; done`, "all", "set by a loop"},
		{`sh -c 'rm "$x"'`, "all", "in another shell"},
		// Loops.
		{`for f in a b; do rm "$f"; done`, "a b", "one and the other"},
		{`for f in a b; do rm $f; done`, "a b", "one and the other"},
		{`for f in *.obj; do rm "$f"; done`, "", "nothing"},
		{`for f in *.c z; do rm "$f"; done`, "main.c z", "what matches and what does not"},
		{`for f in *.o; do rm $f; done`, "all", "split, and a pattern again"},
		{`for f in 'a b'; do rm $f; done`, "all", "split"},
		{`for f in *.obj; do rm "$f"; make; done`, ".", "what the round before made"},
		{`for f in a; do rm "$f.o"; done`, "all", "a part of a word"},
		{`for f in -rf a; do rm "$f"; done`, "all", "an option"},
		{`for f in a; do f=b; rm "$f"; done`, "all", "set again"},
		{`for f in a; do rm "$f"; done; for f in b; do :; done`, "all", "two loops"},
		{`for f in a; do cd sub; rm "$f"; done`, "all", "somewhere"},
		{`for f in a; do cd sub && rm *.o; done`, "all", "somewhere"},
		{`for d in sub; do for f in a b; do rm "$f" "$d"; done; done`, "a b sub", "one in another"},
		{`for f in a; do sh -c 'rm "$f"'; done`, "all", "in another shell"},
		{`for f in a; do :; done; rm "$f"`, "all", "behind the loop"},
		{`for f; do rm "$f"; done`, "all", "words nobody knows"},
		{`for f in a b; do echo x > "$f"; done`, "a b", "written"},
	} {
		if got := lost(c.line, shelf("given=1")); got != c.want {
			t.Errorf("%s (%s): %q, want %q", c.line, c.why, got, c.want)
		}
	}
	for name, at := range map[string]command.Setting{"BASH_ENV": shelf("BASH_ENV=f"), "ENV": shelf("ENV=f"), "no environment": {Workspace: "/w", Resolve: path.Clean}} {
		if got := lost(`rm "$x"`, at); got != "all" {
			t.Errorf("with %s: %q", name, got)
		}
	}
}

// TestFloorBehindTheUnknown: a word nobody knows does not hide the next.
func TestFloorBehindTheUnknown(t *testing.T) {
	for line, want := range map[string]string{
		`rm "$X" .git/config`:             ".git",
		`rm $X ~/papers`:                  "home directory",
		`tee "$X" .git/config`:            ".git",
		`truncate -s 0 $X ~/.bashrc`:      ".bashrc",
		`echo x >.envr*`:                  ".envrc",
		`sed -i s/a/b/ .env*`:             ".envrc",
		`for f in .envrc; do rm $f; done`: ".envrc",
	} {
		said := ""
		for _, f := range command.Read(line, shelf()).Floor {
			if f.Loss == nil {
				said += f.Why + "; "
			}
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", line, said, want)
		}
	}
}

// TestGlobsAreWide: whatever a shell makes of a pattern, the loss names it.
func TestGlobsAreWide(t *testing.T) {
	bash := bashOf(t)
	names := rapid.StringOfN(rapid.RuneFrom([]rune("ab.AB[]*?!- x")), 1, 4, -1)
	pieces := rapid.SampledFrom([]string{"a", "b", "B", ".", "*", "?", "[ab]", "[!a]", "[a-b]", "[[:upper:]]", `\*`, "'*'", `"?"`, "-", "[", "]", "x"})
	options := []string{"", "shopt -s dotglob", "shopt -s nocaseglob", "shopt -s nullglob", "shopt -s globstar", "set -f"}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		must(rt, err)
		for _, name := range rapid.SliceOfN(names, 0, 12).Draw(rt, "names") {
			if name != "." && name != ".." {
				must(rt, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
			}
		}
		pattern := strings.Join(rapid.SliceOfN(pieces, 1, 5).Draw(rt, "pattern"), "")
		line := "rm -- " + pattern
		named := map[string]bool{}
		for _, f := range command.Read(line, command.Setting{Workspace: dir, Env: []string{}}).Floor {
			if f.Loss == nil {
				continue
			}
			if len(f.Loss.Names) == 0 || slices.Contains(f.Loss.Names, dir) {
				return // all of the folder is held
			}
			for _, name := range f.Loss.Names {
				named[filepath.Base(name)] = true
			}
		}
		for _, option := range options {
			for _, name := range bash(dir, option+"\nprintf '%s\\0' "+pattern) {
				if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && name != "" && !named[filepath.Base(filepath.Join(dir, name))] {
					rt.Fatalf("%s with %q is given %q, and only %v are named", line, option, name, named)
				}
			}
		}
	})
}

func must(t interface{ Fatal(args ...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// bashOf runs lines in a folder and returns the words they print.
func bashOf(t *testing.T) func(dir, line string) []string {
	path, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	return func(dir, line string) []string {
		cmd := exec.Command(path, "-c", line)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			return nil // a pattern it cannot read
		}
		return strings.Split(string(out), "\x00")
	}
}
