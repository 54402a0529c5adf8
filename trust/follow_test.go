package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"starling/trust"
)

// tangle is a folder with links of every kind.
func tangle(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(top, "a/b/c"), 0o755))
	must(t, os.MkdirAll(filepath.Join(top, "far/deep"), 0o755))
	must(t, os.WriteFile(filepath.Join(top, "a/f"), []byte("f"), 0o644))
	for name, target := range map[string]string{
		"file": "a/f", "dir": "a/b", "abs": filepath.Join(top, "a"), "chain": "dir", "dangling": "gone/x", "into": "dangling/y",
		"loop": "loop", "ping": "pong", "pong": "ping/x", "a/up": "..", "a/b/out": "../../far/deep", "slash": "a/b/", "dots": "./a/./b/..",
		"root": "/", "empty-end": "a//b",
	} {
		must(t, os.Symlink(target, filepath.Join(top, name)))
	}
	for i := range 50 {
		target := "a"
		if i > 0 {
			target = "n" + strings.Repeat("i", i-1)
		}
		must(t, os.Symlink(target, filepath.Join(top, "n"+strings.Repeat("i", i))))
	}
	return top
}

func TestFollow(t *testing.T) {
	top := tangle(t)
	for _, c := range []struct{ path, want, why string }{
		{"a/f", "a/f", "no link"},
		{"file", "a/f", "a link to a file"},
		{"dir/c", "a/b/c", "a link on the way"},
		{"chain/c/new", "a/b/c/new", "a link to a link, and what is not there yet"},
		{"abs/b", "a/b", "an absolute link"},
		{"dangling", "gone/x", "a link to nothing"},
		{"into", "gone/x/y", "a link through a link to nothing"},
		{"dangling/../z", "gone/z", ".. behind what is not there"},
		{"new/../a", "a", ".. behind what is not there"},
		{"dir/..", "a", ".. is the parent of where the link leads"},
		{"dir/../../file", "a/f", "twice, and on"},
		{"a/b/out/../x", "far/x", ".. behind a link to elsewhere"},
		{"a/up/a/up/far", "far", "round and round"},
		{"slash", "a/b", "a slash at the end of a link"},
		{"dots/f", "a/f", "dots inside of a link"},
		{"empty-end", "a/b", "nothing between two slashes"},
		{"root" + top + "/file", "a/f", "from the root again"},
		{".//a/./b/", "a/b", "dots and slashes"},
		{"a/f/x", "a/f/x", "below a file"},
		{"a/f/../f", "a/f", ".. behind a file"},
		{"n" + strings.Repeat("i", 39), "a", "as many links as the kernel follows"},
	} {
		got, err := trust.Follow(top + "/" + c.path)
		if want := filepath.Join(top, c.want); err != nil || got != want {
			t.Errorf("%s (%s): %s, %v; want %s", c.path, c.why, got, err, want)
		}
	}
	for _, path := range []string{"/", "//", "/..", "/../.."} {
		if got, err := trust.Follow(path); got != "/" || err != nil {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
}

// Where nobody can tell, Follow says so.
func TestFollowFails(t *testing.T) {
	top := tangle(t)
	for _, c := range []struct{ path, want string }{
		{"loop", "loop"},
		{"loop/x", "loop/x"},
		{"dir/../../ping", ""},
		{"n" + strings.Repeat("i", 40), ""},
		{"a/" + strings.Repeat("x", 5000) + "/y", "a/" + strings.Repeat("x", 5000) + "/y"},
		{"a/z\x00/y", "a/z\x00/y"},
	} {
		got, err := trust.Follow(top + "/" + c.path)
		if err == nil || !filepath.IsAbs(got) || c.want != "" && got != filepath.Join(top, c.want) {
			t.Errorf("%.60s: %.200s, %v", c.path, got, err)
		}
	}
	if os.Geteuid() == 0 {
		return // root looks into every folder
	}
	must(t, os.Mkdir(filepath.Join(top, "shut"), 0o000))
	if got, err := trust.Follow(top + "/shut/x"); !errors.Is(err, os.ErrPermission) || got != top+"/shut/x" {
		t.Errorf("a folder nobody may look into: %s, %v", got, err)
	}
}

// Property: what exists is where the system says it is, and what Follow returns
// leads nowhere else.
func TestFollowAsTheSystem(t *testing.T) {
	top := tangle(t)
	names := []string{"a", "b", "c", "f", "file", "dir", "abs", "chain", "dangling", "into", "up", "out", "far", "deep", "slash", "dots", "..", ".", "", "loop", "ping", "new"}
	rapid.Check(t, func(t *rapid.T) {
		path := top + "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(names), 0, 8).Draw(t, "parts"), "/")
		got, err := trust.Follow(path)
		if again, e := trust.Follow(got); err == nil && (e != nil || again != got) {
			t.Fatalf("%s leads to %s, and that to %s, %v", path, got, again, e)
		}
		want, evalErr := filepath.EvalSymlinks(path)
		info, statErr := os.Stat(path)
		switch {
		case statErr == nil:
			named, lstatErr := os.Lstat(got)
			if err != nil || lstatErr != nil || !os.SameFile(info, named) {
				t.Fatalf("%s: %s, %v; the system opens another file (%v)", path, got, err, lstatErr)
			}
			if evalErr == nil && want != got {
				t.Fatalf("%s: %s, want %s", path, got, want)
			}
		case errors.Is(statErr, syscall.ELOOP) && err == nil && !strings.Contains(path, ".."):
			t.Fatalf("%s: %s without an error, and the system sees too many links", path, got)
		}
	})
}
