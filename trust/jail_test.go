package trust_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/trust"
)

// place is a workspace beside a folder that nothing may reach.
type place struct {
	ws, outside string
	jail        *trust.Jail
}

// TB is what a place needs of a test, a rapid one too.
type TB interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return placeIn(t, t.TempDir())
}

func placeIn(t TB, top string) *place {
	t.Helper()
	p := &place{ws: filepath.Join(top, "ws"), outside: filepath.Join(top, "outside")}
	for _, dir := range []string{p.ws, p.outside, filepath.Join(p.ws, "sub")} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	put(t, filepath.Join(p.ws, "in.txt"), "inside")
	put(t, filepath.Join(p.outside, "secret"), "secret")
	jail, err := trust.NewJail(p.ws)
	must(t, err)
	p.jail = jail
	return p
}

func must(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func get(t TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func (p *place) link(t TB, target, name string) {
	t.Helper()
	must(t, os.Symlink(target, filepath.Join(p.ws, name)))
}

// untouched fails when anything but the secret lies outside.
func (p *place) untouched(t TB) {
	t.Helper()
	list, err := os.ReadDir(p.outside)
	must(t, err)
	if len(list) != 1 || get(t, filepath.Join(p.outside, "secret")) != "secret" {
		t.Fatalf("outside was touched: %v", list)
	}
}

// B-04: every way out, tried with every method.
func TestNothingLeadsOut(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	p.link(t, "../outside/new.txt", "out")
	p.link(t, "../outside", "dir")
	p.link(t, filepath.Join(p.outside, "new.txt"), "abs")
	p.link(t, "dir", "chain")
	p.link(t, "sub/../../outside/new.txt", "dotted")
	p.link(t, "../../outside", "sub/up")
	paths := []string{
		"out", "dir/a", "dir", "abs", "chain/a", "dotted", "sub/up/a",
		"..", "../outside/b", "sub/../../outside/b", "./../outside/b", "sub/up/../b",
		filepath.Join(p.outside, "b"), p.ws + "/../outside/b", p.ws + "x", "/etc/passwd",
		"~", "~/b", "new/../../outside/b",
	}
	methods := map[string]func(string) error{
		"resolve": func(s string) error { _, err := p.jail.Resolve(s); return err },
		"read":    func(s string) error { _, err := p.jail.ReadFile(s, 0); return err },
		"write":   func(s string) error { return p.jail.WriteFile(s, []byte("x"), 0o644) },
		"append":  func(s string) error { return p.jail.Append(s, []byte("x"), 0o644) },
		"stat":    func(s string) error { _, err := p.jail.Stat(s); return err },
		"list":    func(s string) error { _, err := p.jail.List(s); return err },
		"exists":  func(s string) error { _, err := p.jail.Exists(s); return err },
	}
	for _, path := range paths {
		for name, call := range methods {
			err := call(path)
			var out *trust.OutsideError
			if !errors.Is(err, trust.ErrOutside) || !errors.As(err, &out) {
				t.Errorf("%s %q: got %v, want an error about the workspace", name, path, err)
				continue
			}
			if !strings.Contains(err.Error(), fmt.Sprintf("%q", path)) || !strings.Contains(err.Error(), "inside") {
				t.Errorf("%s %q: the error helps nobody: %v", name, path, err)
			}
		}
	}
	p.untouched(t)
}

func TestResolve(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	p.link(t, "sub", "dir")
	p.link(t, filepath.Join(p.ws, "sub"), "absdir")
	p.link(t, "absent.txt", "dangling")
	p.link(t, "../in.txt", "sub/back")
	p.link(t, "loop-b", "loop-a")
	p.link(t, "loop-a", "loop-b")
	must(t, os.Mkdir(filepath.Join(p.ws, "sub", "deep"), 0o755))
	p.link(t, "sub/deep", "down")
	alias := filepath.Join(filepath.Dir(p.ws), "alias")
	must(t, os.Symlink(p.ws, alias))
	for path, want := range map[string]string{
		"in.txt":                            "in.txt",
		".":                                 ".",
		"./sub//x/./y":                      "sub/x/y",
		"sub/..":                            ".",
		"sub/../in.txt":                     "in.txt",
		"dir/x":                             "sub/x",
		"absdir/x":                          "sub/x",
		"dir/../in.txt":                     "in.txt",
		"dangling":                          "absent.txt",
		"sub/back":                          "in.txt",
		"in.txt/below":                      "in.txt/below",
		p.ws:                                ".",
		p.ws + "/":                          ".",
		filepath.Join(p.ws, "new/file"):     "new/file",
		filepath.Join(alias, "sub", "file"): "sub/file",
		alias + "/down/../new":              "sub/new", // ".." is the parent of where the link leads
		alias + "/down/../new/../gone/x":    "sub/gone/x",
		alias + "/gone/../new":              "new",
		p.ws + "/down/../new":               "sub/new",
		"...":                               "...",
		"~x":                                "~x",
	} {
		if got, err := p.jail.Resolve(path); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"": "empty", "a\x00b": "zero byte", "loop-a": "too many links",
	} {
		if got, err := p.jail.Resolve(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q) = %q, %v; want an error with %q", path, got, err, want)
		}
	}
}

func TestJailOfALinkedFolder(t *testing.T) {
	p := newPlace(t)
	p.jail.Close()
	alias := filepath.Join(filepath.Dir(p.ws), "alias")
	must(t, os.Symlink(p.ws, alias))
	jail, err := trust.NewJail(alias)
	must(t, err)
	defer jail.Close()
	for _, path := range []string{"in.txt", filepath.Join(alias, "in.txt"), filepath.Join(p.ws, "in.txt")} {
		if got, err := jail.Resolve(path); err != nil || got != "in.txt" {
			t.Errorf("Resolve(%q) = %q, %v", path, got, err)
		}
	}
	if real, _ := filepath.EvalSymlinks(p.ws); jail.Dir() != real {
		t.Errorf("Dir() = %q, want %q", jail.Dir(), real)
	}
}

func TestNewJailNeedsAFolder(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	for _, dir := range []string{filepath.Join(p.ws, "absent"), filepath.Join(p.ws, "in.txt")} {
		if j, err := trust.NewJail(dir); err == nil {
			j.Close()
			t.Errorf("NewJail(%q) is no error", dir)
		}
	}
}

// D-06: modes and links survive, and whatever fails leaves the old content and
// no temporary file.
func TestWriteFileKeepsModeAndLink(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	p := newPlace(t)
	defer p.jail.Close()
	for name, mode := range map[string]fs.FileMode{"script": 0o755, "shared": 0o640, "private": 0o600, "odd": 0o664} {
		path := filepath.Join(p.ws, name)
		put(t, path, "old")
		must(t, os.Chmod(path, mode))
		must(t, p.jail.WriteFile(name, []byte("new"), 0o644))
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != mode || get(t, path) != "new" {
			t.Errorf("%s: mode %o content %q, want %o %q", name, info.Mode().Perm(), get(t, path), mode, "new")
		}
	}
	must(t, p.jail.WriteFile("made", nil, 0o666))
	if info, err := os.Stat(filepath.Join(p.ws, "made")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a new file ignores the umask: %v %v", info.Mode(), err)
	}
	p.link(t, "sub/target.txt", "link")
	for _, content := range []string{"created through it", "replaced through it"} {
		must(t, p.jail.WriteFile("link", []byte(content), 0o644))
		if target, err := os.Readlink(filepath.Join(p.ws, "link")); err != nil || target != "sub/target.txt" {
			t.Fatalf("the link is no link any more: %q, %v", target, err)
		}
		if got := get(t, filepath.Join(p.ws, "sub/target.txt")); got != content {
			t.Errorf("target holds %q", got)
		}
	}
	noTemps(t, p.ws)
}

func noTemps(t TB, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Fatalf("a temporary file is left: %s", path)
		}
		return err
	}))
}

func TestWriteFileRefuses(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	put(t, filepath.Join(p.ws, "fixed"), "old")
	must(t, os.Chmod(filepath.Join(p.ws, "fixed"), 0o444))
	must(t, syscall.Mkfifo(filepath.Join(p.ws, "pipe"), 0o644))
	for path, want := range map[string]string{
		"sub":                    "a directory",
		".":                      "workspace itself",
		"fixed":                  "read-only",
		"pipe":                   "a pipe",
		"in.txt/below":           "not a directory",
		strings.Repeat("n", 300): "too long",
	} {
		err := p.jail.WriteFile(path, []byte("new"), 0o644)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("WriteFile(%.20q): %v, want %q", path, err, want)
		}
	}
	if got := get(t, filepath.Join(p.ws, "fixed")); got != "old" {
		t.Errorf("fixed holds %q", got)
	}
	noTemps(t, p.ws)
}

// The longest name that fits is written, although its temporary file is beside
// it; a rename that fails takes the temporary file with it.
func TestWriteFileLongestName(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	name := strings.Repeat("n", 255)
	must(t, p.jail.WriteFile("deep/er/"+name, []byte("x"), 0o644))
	if got := get(t, filepath.Join(p.ws, "deep/er", name)); got != "x" {
		t.Errorf("content %q", got)
	}
	noTemps(t, p.ws)
}

// A write that the disk refuses half-way leaves the old content and nothing else.
func TestWriteFileOnAFullDisk(t *testing.T) {
	if alone(t) {
		return
	}
	p := newPlace(t)
	defer p.jail.Close()
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: old.Max}))
	err := p.jail.WriteFile("in.txt", make([]byte, 64<<10), 0o644)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("got %v", err)
	}
	if got := get(t, filepath.Join(p.ws, "in.txt")); got != "inside" {
		t.Errorf("content %.20q", got)
	}
	noTemps(t, p.ws)
}

func TestReadFile(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	must(t, syscall.Mkfifo(filepath.Join(p.ws, "pipe"), 0o644))
	if b, err := p.jail.ReadFile("in.txt", 6); err != nil || string(b) != "inside" {
		t.Errorf("%q, %v", b, err)
	}
	for path, want := range map[string]string{
		"sub": "a directory", "pipe": "a pipe", "absent": "no such file",
	} {
		if _, err := p.jail.ReadFile(path, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadFile(%q): %v, want %q", path, err, want)
		}
	}
	if _, err := p.jail.ReadFile("in.txt", 5); err == nil || !strings.Contains(err.Error(), "6 bytes") {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, err := p.jail.ReadFile("absent", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is no fs.ErrNotExist: %v", err)
	}
}

func TestAppendRemoveListExists(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	must(t, p.jail.Append("log/a.txt", []byte("one\n"), 0o644))
	must(t, p.jail.Append("log/a.txt", []byte("two\n"), 0o644))
	if got := get(t, filepath.Join(p.ws, "log/a.txt")); got != "one\ntwo\n" {
		t.Errorf("appended %q", got)
	}
	must(t, p.jail.WriteFile("log/B.txt", nil, 0o644))
	must(t, p.jail.WriteFile("log/c/x", nil, 0o644))
	list, err := p.jail.List("log")
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if want := []string{"B.txt", "a.txt", "c"}; !slices.Equal(names, want) {
		t.Errorf("List = %v, want %v", names, want)
	}
	p.link(t, "../outside/secret", "out")
	p.link(t, "in.txt", "link")
	for _, path := range []string{"out", "link", "log/a.txt"} {
		must(t, p.jail.Remove(path))
	}
	for path, want := range map[string]bool{
		"in.txt": true, "log": true, "log/a.txt": false, "link": false, "in.txt/x": false, "log/c/x": true,
	} {
		if got, err := p.jail.Exists(path); got != want || err != nil {
			t.Errorf("Exists(%q) = %v, %v", path, got, err)
		}
	}
	for _, path := range []string{".", "log", "../outside/secret", "sub/../../outside/secret"} {
		if err := p.jail.Remove(path); err == nil {
			t.Errorf("Remove(%q) is no error", path)
		}
	}
	p.untouched(t)
	p.jail.Close()
	if _, err := p.jail.Exists("in.txt"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// B-04, the race: a folder is swapped for a link outside and back while files
// in it are written. Some calls fail; none gets out.
func TestSwappedFolder(t *testing.T) {
	p := newPlace(t)
	defer p.jail.Close()
	sub := filepath.Join(p.ws, "sub")
	aside := filepath.Join(p.ws, "aside")
	done := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(sub, aside)
			_ = os.Symlink("../outside", sub)
			_ = os.Remove(sub)
			_ = os.Rename(aside, sub)
		}
	})
	calls := []func(){
		func() { _ = p.jail.WriteFile("sub/a", []byte("x"), 0o644) },
		func() { _ = p.jail.Append("sub/b", []byte("x"), 0o644) },
		func() { _ = p.jail.Remove("sub/secret") },
		func() {
			if b, err := p.jail.ReadFile("sub/secret", 0); err == nil {
				t.Errorf("read %q outside", b)
			}
		},
	}
	for until := time.Now().Add(300 * time.Millisecond); time.Now().Before(until); {
		for _, call := range calls {
			call()
		}
	}
	close(done)
	swapper.Wait()
	p.untouched(t)
}

// Whatever links stand in a workspace and whatever path is named, a write lands
// inside or nowhere, and what it says it resolved to is where it lands.
func TestAnyTreeOfLinks(t *testing.T) {
	top := t.TempDir()
	n := 0
	names := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		n++
		p := placeIn(t, filepath.Join(top, fmt.Sprint(n)))
		defer p.jail.Close()
		for range rapid.IntRange(0, 5).Draw(t, "links") {
			at := rapid.SampledFrom([]string{"", "sub/"}).Draw(t, "at") + rapid.SampledFrom(names).Draw(t, "name")
			parts := rapid.SliceOfN(rapid.SampledFrom([]string{"..", ".", "a", "b", "c", "sub", "outside", "ws"}), 1, 4).Draw(t, "target")
			target := strings.Join(parts, "/")
			if rapid.IntRange(0, 4).Draw(t, "absolute") == 0 {
				target = filepath.Join(filepath.Dir(p.ws), target)
			}
			_ = os.Symlink(target, filepath.Join(p.ws, at)) // the name may be taken
		}
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"..", ".", "a", "b", "c", "sub", "outside", "new"}), 1, 5).Draw(t, "path")
		path := strings.Join(parts, "/")
		rel, resolveErr := p.jail.Resolve(path)
		err := p.jail.WriteFile(path, []byte("written"), 0o644)
		p.untouched(t)
		if resolveErr != nil && err == nil {
			t.Fatalf("%q does not resolve (%v) but is written", path, resolveErr)
		}
		if err != nil {
			return
		}
		full := filepath.Join(p.ws, rel)
		if real, e := filepath.EvalSymlinks(full); e != nil || get(t, full) != "written" || real != filepath.Join(p.jail.Dir(), rel) {
			t.Fatalf("%q resolved to %q, which is not where it was written (%q, %v)", path, rel, real, e)
		}
	})
}

// alone runs the test in a process of its own and returns true; there it returns
// false. A limit on the size of files would meet what the test program writes too.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv("TEST_ALONE") == t.Name() {
		return false
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), "TEST_ALONE="+t.Name())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}
