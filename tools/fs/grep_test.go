package fs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/bus/spec"
	"starling/tools/fs"
)

func (d *desk) tree(files map[string]string) {
	d.t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o755); err != nil {
			d.t.Fatal(err)
		}
		d.put(name, []byte(content))
	}
}

func (d *desk) out(tool string, a args) string {
	d.t.Helper()
	r, err := d.call(tool, a)
	if err != nil {
		d.t.Fatalf("%s %v: %v", tool, a, err)
	}
	return r.Content
}

func TestGrep(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("é", 5000) + "needle" + strings.Repeat("x", 100_000)
	d.tree(map[string]string{
		".gitignore":   "out/\n*.log\n!keep.log\n",
		"a.go":         "package a\n\nfunc Foo() {}\nfunc foo2() {}\n",
		"b/c.go":       "\xef\xbb\xbffunc Bar() {}\r\nfoo\r\n",
		"b/.hidden":    "foo\n",
		"out/x.go":     "foo\n",
		"x.log":        "foo\n",
		"keep.log":     "foo",
		"latin":        "caf\xe9 foo\n",
		"pic":          "foo\x00bar\n",
		"late":         strings.Repeat("y\n", 9000) + "foo \x00\n",
		"long":         long,
		".git/config":  "foo\n",
		"sub/.git/foo": "foo\n",
	})
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "foo"}, "a.go:4:func foo2() {}\nb/.hidden:1:foo\nb/c.go:2:foo\nkeep.log:1:foo\nlatin:1:caf\\xE9 foo\n"},
		{args{"pattern": "foo", "path": "b"}, "b/.hidden:1:foo\nb/c.go:2:foo\n"},
		{args{"pattern": "foo", "path": "out"}, "out/x.go:1:foo\n"},
		{args{"pattern": "foo", "path": "keep.log"}, "keep.log:1:foo\n"},
		{args{"pattern": "foo", "path": filepath.Join(d.dir, "x.log")}, "x.log:1:foo\n"},
		{args{"pattern": "FOO", "ignore_case": true, "glob": "*.go"}, "a.go:3:func Foo() {}\na.go:4:func foo2() {}\nb/c.go:2:foo\n"},
		{args{"pattern": "^foo$"}, "b/.hidden:1:foo\nb/c.go:2:foo\nkeep.log:1:foo\n"},
		{args{"pattern": `^func \w+\(\) \{\}$`, "glob": "b/**"}, "b/c.go:1:func Bar() {}\n"},
		{args{"pattern": `^$`}, "a.go:2:\n"},
		{args{"pattern": `[A-Z][a-z]+\(`, "limit": 1}, "a.go:3:func Foo() {}\n[1 of 2 matching lines in 2 files shown; narrow pattern, path or glob]\n"},
		{args{"pattern": `caf.`}, "latin:1:caf\\xE9 foo\n"},
		{args{"pattern": `foo|Bar`, "path": "b"}, "b/.hidden:1:foo\nb/c.go:1:func Bar() {}\nb/c.go:2:foo\n"},
		{args{"pattern": "absent"}, "[no line in . matches]\n"},
		{args{"pattern": "needle"}, "long:1:… " + strings.Repeat("é", 73) + "needle" + strings.Repeat("x", 148) + " …\n"},
	} {
		if diff := cmp.Diff(c.want, d.out("grep", c.a)); diff != "" {
			t.Errorf("grep %v (-want, +got):\n%s", c.a, diff)
		}
	}
}

func TestGrepRefuses(t *testing.T) {
	d := newDesk(t)
	d.tree(map[string]string{"pic": "foo\x00bar\n", "a": "x"})
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"pattern": "("}, "missing closing"},
		{args{"pattern": "(?<=a)b"}, "RE2"},
		{args{"pattern": `a\nb`}, "line break"},
		{args{"pattern": "a", "glob": "[a"}, "open bracket"},
		{args{"pattern": "a", "path": "absent"}, "no such file"},
		{args{"pattern": "a", "path": "../x"}, "outside the workspace"},
		{args{"pattern": "a", "path": "pic"}, "binary"},
		{args{"pattern": "a", "limit": 0}, "limit"},
		{args{"pattern": ""}, "pattern"},
		{args{"pattern": "a", "Path": "/"}, "Path"},
	} {
		if r, err := d.call("grep", c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("grep %v = %q, %v; want %q", c.a, r.Content, err, c.want)
		}
	}
}

// Links, pipes and folders nobody may read neither hold a search up nor lead it
// out.
func TestGrepStaysAndEnds(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Join(filepath.Dir(d.dir), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("foo secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.tree(map[string]string{"in/a": "foo in\n"})
	for link, to := range map[string]string{"out": "../outside", "file": "../outside/secret", "loop": ".", "in/up": "..", "again": "in/a"} {
		if err := os.Symlink(to, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := d.out("grep", args{"pattern": "foo"}); got != "in/a:1:foo in\n" {
		t.Errorf("got %q", got)
	}
	if got := d.out("grep", args{"pattern": "foo", "path": "again"}); got != "in/a:1:foo in\n" {
		t.Errorf("got %q", got)
	}
	if got := d.out("glob", args{"pattern": "*"}); got != "again\nfile\nin/a\nin/up\nloop\nout\npipe\n" {
		t.Errorf("got %q", got)
	}
	for _, path := range []string{"out", "file", "pipe"} {
		if r, err := d.call("grep", args{"pattern": "foo", "path": path}); err == nil {
			t.Errorf("grep in %s: %q", path, r.Content)
		}
	}
	deep := d.dir
	for range 260 {
		deep = filepath.Join(deep, "d")
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := d.out("grep", args{"pattern": "foo"}); got != "in/a:1:foo in\n[1 folder more than 200 levels down not looked into]\n" {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"grep", "glob", "ls"} {
		tool, _, _ := d.reg.Lookup(name)
		b, _ := json.Marshal(args{"pattern": "foo"})
		if name == "ls" {
			b = []byte("{}")
		}
		if _, err := tool.Execute(ctx, spec.ToolCall{Arguments: b}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after its context: %v", name, err)
		}
	}
}

// A line of any length and a file of any size are searched through a bounded
// buffer, and the numbers stay right across its borders.
func TestGrepLarge(t *testing.T) {
	d := newDesk(t)
	var b strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&b, "line %d of many\n", i+1)
	}
	b.WriteString(strings.Repeat("z", 300_000) + " line 60001\nend line\n")
	d.put("big", []byte(b.String()))
	for pattern, want := range map[string]string{
		"line 59999 ":  "big:59999:line 59999 of many\n",
		"^end [a-z]+$": "big:60002:end line\n",
		`[^0-9]60001$`: "big:60001:… " + strings.Repeat("z", 300-len(" line 60001")) + " line 60001\n",
	} {
		if got := d.out("grep", args{"pattern": pattern}); got != want {
			t.Errorf("%s: %.300q, want %.300q", pattern, got, want)
		}
	}
	got := d.out("grep", args{"pattern": "of many", "limit": 2000})
	if n := strings.Count(got, "of many"); n != 1000 || !strings.HasSuffix(got, "[1000 of 60000 matching lines in 1 file shown; narrow pattern, path or glob]\n") {
		t.Errorf("%d lines, %q", n, got[len(got)-100:])
	}
}

// Whatever the pattern and the lines, the lines shown are those a plain loop over
// them finds.
func TestGrepAsALoopDoes(t *testing.T) {
	d := newDesk(t)
	piece := rapid.SampledFrom([]string{
		"a", "b", "K", "foo", "Foo", "é", ".", `\s`, `\b`, `\w+`, "^", "$", "[^a]", "(a|b)", "x*", "foo|ba", "(?i)fo", `\.`, "K?", ".*", "ſ", `\W`, `\B`, "(foo)+", "a{2}", `\x{FFFD}`,
	})
	word := rapid.SampledFrom([]string{"a", "b", "k", "s", "foo", "FOO", "Fo", "é", " ", "\t", ".", "\xe9", "ba", "K", "ſ", "\uFFFD", "aa"})
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.Map(rapid.SliceOfN(piece, 1, 4), func(p []string) string { return strings.Join(p, "") }).
			Filter(func(p string) bool { _, err := regexp.Compile(p); return err == nil }).Draw(t, "pattern")
		fold := rapid.Bool().Draw(t, "ignore case")
		line := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "words"), "") + rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end")
		})
		content := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "")
		if rapid.Bool().Draw(t, "open end") {
			content = strings.TrimSuffix(content, "\n")
		}
		d.put("f", []byte(content))
		expr := pattern
		if fold {
			expr = "(?i:" + pattern + ")"
		}
		re := regexp.MustCompile(expr)
		var want []int
		for i, l := range strings.SplitAfter(content, "\n") {
			if l != "" && re.MatchString(strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")) {
				want = append(want, i+1)
			}
		}
		r, err := d.call("grep", args{"pattern": pattern, "ignore_case": fold})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, l := range strings.Split(r.Content, "\n") {
			var n int
			if _, err := fmt.Sscanf(l, "f:%d:", &n); err == nil {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s in %q: lines %v, want %v", expr, content, got, want)
		}
	})
}

func TestGlobAndLs(t *testing.T) {
	d := newDesk(t)
	d.tree(map[string]string{
		".gitignore": "out/\n", "a.go": "x", "b/c.go": "xx", "b/d/e.go": "", "b/d/e.ts": "", "out/z.go": "", ".github/w.yml": "", "lf\nname": "abc",
	})
	for link, to := range map[string]string{"l": "b/c.go", "dangling": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tool string
		a    args
		want string
	}{
		{"glob", args{"pattern": "*.go"}, "a.go\nb/c.go\nb/d/e.go\n"},
		{"glob", args{"pattern": "/*.go"}, "a.go\n"},
		{"glob", args{"pattern": "**/*.{go,ts}", "path": "b", "limit": 2}, "b/c.go\nb/d/e.go\n[2 of 3 files shown; narrow pattern or path]\n"},
		{"glob", args{"pattern": "*.go", "path": "out"}, "out/z.go\n"},
		{"glob", args{"pattern": "*.yml"}, ".github/w.yml\n"},
		{"glob", args{"pattern": "*.py"}, "[no file in . is like *.py]\n"},
		{"ls", args{}, ".github/\n.gitignore  5\na.go  1\nb/\ndangling -> nowhere\nl -> b/c.go\nlf?name  3\nout/\n"},
		{"ls", args{"path": "b", "limit": 1}, "c.go  2\n[1 of 2 entries shown; glob finds the others]\n"},
	} {
		if diff := cmp.Diff(c.want, d.out(c.tool, c.a)); diff != "" {
			t.Errorf("%s %v (-want, +got):\n%s", c.tool, c.a, diff)
		}
	}
	for _, a := range []args{{"path": "a.go"}, {"path": ".."}, {"path": "absent"}} {
		if r, err := d.call("ls", a); err == nil {
			t.Errorf("ls %v: %q", a, r.Content)
		}
	}
}

// 50 000 small files, as a benchmark makes them.
func manyFiles(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "ws")
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("d%02d/e%02d", i/1000, i/50%20))
		if i%50 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		var text strings.Builder
		for l := range 40 {
			fmt.Fprintf(&text, "func line%d(a int) int { return a + %d } // some words\n", l, i*l)
		}
		if i%5000 == 17 {
			text.WriteString("the needle is here\n")
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.go", i)), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkGrep(b *testing.B) {
	dir := manyFiles(b, 50_000)
	for _, pattern := range []string{"needle", "(?i)NEEDLE", `[a-z]+ is h[aeiou]re`, `\bn[a-z]+e\b i`, `[nN]e{2}dle?\W`} {
		run := func(name string, env []string) {
			b.Run(name+"/"+pattern, func(b *testing.B) {
				d := deskWith(b, dir, fs.Options{Env: env})
				for b.Loop() {
					if got := d.out("grep", args{"pattern": pattern}); strings.Count(got, "\n") != 10 {
						b.Fatal(got)
					}
				}
			})
		}
		run("own", nil)
		rg, err := exec.LookPath("rg")
		if err != nil {
			continue
		}
		run("with-rg", os.Environ())
		b.Run("rg/"+pattern, func(b *testing.B) {
			for b.Loop() {
				out, err := exec.Command(rg, "--no-config", "--hidden", "-n", "-e", pattern, dir).Output()
				if err != nil || strings.Count(string(out), "\n") != 10 {
					b.Fatal(err, string(out))
				}
			}
		})
	}
}
