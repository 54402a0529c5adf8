package ignore

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree is a repository in which git and this package are asked the same.
type tree struct {
	top, home string
}

func newTree(t testing.TB) *tree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git: ", err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{top: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home")}
	for _, d := range []string{tr.top, filepath.Join(tr.home, ".config", "git")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tr.git(t, "", "init", "-q")
	return tr
}

func (tr *tree) git(t interface{ Fatalf(string, ...any) }, in string, args ...string) string {
	cmd := exec.Command("git", append([]string{"-C", tr.top}, args...)...)
	cmd.Env = []string{"HOME=" + tr.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	cmd.Stdin = strings.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1 && args[0] == "check-ignore") {
		t.Fatalf("git %v: %v\n%s", args, err, stderr.String())
	}
	return string(out)
}

func put(t interface{ Fatalf(string, ...any) }, path, content string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatalf("%v", err)
	}
}

// seen walks the tree as a caller of the package does.
func (tr *tree) seen(t interface{ Fatalf(string, ...any) }) []string {
	out := []string{}
	who := Person{Home: tr.home}
	var walk func(dir string, rules *Rules)
	walk = func(dir string, rules *Rules) {
		rules = rules.With(dir, read(filepath.Join(tr.top, dir, ".gitignore")))
		entries, err := os.ReadDir(filepath.Join(tr.top, dir))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, e := range entries {
			path := strings.TrimPrefix(dir+"/"+e.Name(), "/")
			switch {
			case e.Name() == ".git", rules.Ignored(path, e.IsDir()):
			case e.IsDir():
				walk(path, rules)
			default:
				out = append(out, path)
			}
		}
	}
	rules, at := Load(tr.top, tr.top, who)
	if at != "" {
		t.Fatalf("the top is at %q", at)
	}
	walk("", rules)
	slices.Sort(out)
	return out
}

func (tr *tree) listed(t interface{ Fatalf(string, ...any) }) []string {
	out := strings.Split(strings.TrimSuffix(tr.git(t, "", "ls-files", "-o", "--exclude-standard", "-z"), "\x00"), "\x00")
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })
	slices.Sort(out)
	return out
}

func TestAsGitDoes(t *testing.T) {
	for name, c := range map[string]struct {
		ignore map[string]string // file to content
		files  string
	}{
		"plain":         {map[string]string{".gitignore": "a\nb/\n/c\n*.o\n"}, "a x/a b x/b y/b/z c x/c q.o x/q.o"},
		"negation":      {map[string]string{".gitignore": "*.log\n!keep.log\n", "x/.gitignore": "keep.log\n!a.log\n"}, "a.log keep.log x/keep.log x/a.log x/y/a.log"},
		"below ignored": {map[string]string{".gitignore": "/build/\n!/build/keep\n"}, "build/keep build/x keep"},
		"anchors":       {map[string]string{".gitignore": "a/b\n/d\ne/*/f\n", "x/.gitignore": "a/b\n/d\n"}, "a/b x/a/b y/a/b d x/d y/d e/q/f e/q/r/f"},
		"stars":         {map[string]string{".gitignore": "**/m\nn/**\no/**/p\nr**s\nt**/u\n"}, "m x/m n/a n/b/c o/p o/q/p o/q/r/p rxs x/r/s tu txx/u t/x/u"},
		"classes":       {map[string]string{".gitignore": "[!x]1\n[^x]2\n[a-c]3\n[]]4\n[[:digit:]]5\n[a-]6\n[\\]]7\n[!]]8\n[z-a]9\n"}, "a1 x1 a2 x2 b3 d3 ]4 a4 15 a5 a6 -6 b6 ]7 a7 ]8 a8 a9"},
		"escapes":       {map[string]string{".gitignore": "\\#a\n#b\n\\!c\nd\\ \ne \nf\\*\ng\\\\\n"}, "#a #b !c e f* fx"},
		"blanks":        {map[string]string{".gitignore": "a  \nb\\  \n\tc\nd\t\n  \n e\n"}, "a c e d"},
		"open":          {map[string]string{".gitignore": "a[b\nc\\\n[]d\nx\n"}, "a[b c [] d x"},
		"line ends":     {map[string]string{".gitignore": "\xef\xbb\xbfa\r\nb\r\nc"}, "a b c d"},
		"bytes":         {map[string]string{".gitignore": "?x\n??y\n"}, "éx ax éy éay"},
		"person":        {map[string]string{"../home/.config/git/ignore": "*.swp\n", ".git/info/exclude": "secret\n!a.swp\n"}, "a.swp b.swp secret x/secret"},
		"configured":    {map[string]string{"../home/.config/git/ignore": "*.swp\n", "../home/mine": "z\n", "../home/.gitconfig": "[user]\n\tname = excludesfile\n[Core]\n\texcludesFile = \"~/mine\" ; here\n"}, "a.swp z x/z"},
		"escaped slash": {map[string]string{".gitignore": "a\\/b\nc/**\\/d\n"}, "a/b x/a/b c/d c/x/d"},
		"only stars":    {map[string]string{"x/.gitignore": "**\n!y\n", "z/.gitignore": "/**\n!/y/\n!/y/w\n"}, "x/a x/y z/a z/y/w z/y/v"},
		"directory":     {map[string]string{".gitignore": "foo/*\n!foo/bar/\nfoo/bar/*\n!foo/bar/baz\n"}, "foo/a foo/bar/a foo/bar/baz"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			for _, f := range strings.Fields(c.files) {
				put(t, filepath.Join(tr.top, f), "")
			}
			for f, content := range c.ignore {
				put(t, filepath.Join(tr.top, f), content)
			}
			if diff := cmp.Diff(tr.listed(t), tr.seen(t)); diff != "" {
				t.Errorf("git and we see (-, +):\n%s", diff)
			}
		})
	}
}

// Whatever stands in ignore files, a file is seen here iff git sees it.
func TestAsGitDoesAnything(t *testing.T) {
	tr := newTree(t)
	var files []string
	names := []string{"a", "b", "ab", "a.b", "#a", "!b", "a ", "é"}
	for _, x := range names {
		files = append(files, x+".f")
		for _, y := range names[:4] {
			files = append(files, x+"/"+y+".f", x+"/"+y+"/a", x+"/"+y+"/ab")
		}
	}
	for _, f := range files {
		put(t, filepath.Join(tr.top, f), "")
	}
	atom := rapid.SampledFrom([]string{
		"a", "b", "ab", ".", "f", "*", "**", "?", "/", "/", "**/", "/**", "/**/", "[ab]", "[!a]", "[^b]", "[a-b]", "[[:alpha:]]",
		"[]", "[", "]", "\\", "\\*", "\\a", " ", "\\ ", "#", "\\#", "!", "é", "[!é]", "*.f", "-", "\t", "[a/]", "\\/",
	})
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "", "!", "/", "#"}).Draw(t, "first") +
			strings.Join(rapid.SliceOfN(atom, 1, 5).Draw(t, "atoms"), "") + rapid.SampledFrom([]string{"", "", "/", " ", "\r"}).Draw(t, "last")
	})
	places := []string{".gitignore", "a/.gitignore", "a/b/.gitignore", "ab/.gitignore", ".git/info/exclude", "../home/.config/git/ignore"}
	rapid.Check(t, func(t *rapid.T) {
		for _, p := range places {
			lines := rapid.SliceOfN(line, 0, 3).Draw(t, p)
			put(t, filepath.Join(tr.top, p), strings.Join(lines, "\n"))
		}
		if diff := cmp.Diff(tr.listed(t), tr.seen(t)); diff != "" {
			t.Fatalf("git and we see (-, +):\n%s", diff)
		}
	})
}

// A repository inside of another, and a work tree whose .git is a file, have
// rules of their own.
func TestTops(t *testing.T) {
	tr := newTree(t)
	put(t, filepath.Join(tr.top, ".git/info/exclude"), "hidden\n")
	put(t, filepath.Join(tr.top, ".gitignore"), "up\n")
	put(t, filepath.Join(tr.top, "sub/dir/f"), "")
	tr.git(t, "", "-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-q", "--allow-empty", "-m", "m")
	other := filepath.Join(filepath.Dir(tr.top), "other")
	tr.git(t, "", "worktree", "add", "-q", other)
	plain := filepath.Join(filepath.Dir(tr.top), "plain")
	put(t, filepath.Join(plain, "x/y"), "")
	put(t, filepath.Join(plain, ".gitignore"), "up\n")
	for _, c := range []struct {
		dir, fallback, at string
		ignored           string
	}{
		{filepath.Join(tr.top, "sub/dir"), tr.top, "sub/dir", "hidden up"},
		{other, other, "", "hidden"},
		{filepath.Join(plain, "x"), plain, "x", "up"},
		{filepath.Join(plain, "x"), filepath.Join(plain, "x"), "", ""},
	} {
		rules, at := Load(c.dir, c.fallback, Person{Home: tr.home})
		if at != c.at {
			t.Errorf("%s: at %q, want %q", c.dir, at, c.at)
		}
		for _, name := range []string{"hidden", "up"} {
			want := slices.Contains(strings.Fields(c.ignored), name)
			if got := rules.Ignored(strings.TrimPrefix(at+"/"+name, "/"), false); got != want {
				t.Errorf("%s: %s ignored %v, want %v", c.dir, name, got, want)
			}
		}
	}
	if got := Repository(plain); got != "" {
		t.Errorf("%s is in a repository at %s", plain, got)
	}
}

// Patterns written to be slow are not.
func TestHostilePattern(t *testing.T) {
	rules := (*Rules)(nil).With("", []byte(strings.Repeat("*a", 400)+"b\n"+strings.Repeat("**/a/", 300)+"b\n"))
	if rules.Ignored(strings.Repeat("a", 4000), false) || rules.Ignored(strings.Repeat("a/", 2000)+"c", false) {
		t.Error("matched")
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct{ glob, yes, no string }{
		{"*.go", "a.go x/a.go", "a.gox go"},
		{"**/*.go", "a.go x/y/a.go", "a.c"},
		{"/*.go", "a.go", "x/a.go"},
		{"src/**/*.{ts,tsx}", "src/a.ts src/x/y.tsx", "a.ts src/a.js"},
		{"./x/*", "x/a", "x/a/b a"},
		{"{a,{b,c}d}", "a x/bd cd", "b ad"},
		{"{a}", "{a}", "a"},
		{"!a", "!a", "a b"},
		{"x/**", "x/a x/b/c", "x y"},
	} {
		g, err := CompileGlob(c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		for want, list := range map[bool]string{true: c.yes, false: c.no} {
			for _, path := range strings.Fields(list) {
				if got := g.Match(path, false); got != want {
					t.Errorf("%s on %s is %v", c.glob, path, got)
				}
			}
		}
	}
	for _, bad := range []string{"", "[a", `a\`, strings.Repeat("{a,b}", 12)} {
		if _, err := CompileGlob(bad); err == nil {
			t.Errorf("%q compiles", bad)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a*b/**/c", "[!a-z]", "!x/", `\#`, "[[:alpha:]]?", "{a,b}"} {
		f.Add(s, "a/b/c")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		if len(text) > 1000 || len(path) > 1000 {
			return
		}
		(*Rules)(nil).With("", []byte(text)).Ignored(path, false)
		if g, err := CompileGlob(text); err == nil && !strings.ContainsAny(text, `*?[]\{}!`) && !strings.HasSuffix(text, "/") && !strings.Contains(text, "/") {
			if !g.Match(text, false) {
				t.Fatalf("%q does not match itself", text)
			}
		}
	})
}
