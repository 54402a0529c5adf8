package trust_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"starling/trust"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// fataler is what tests and property tests share.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func open(t fataler, home string) *trust.Store {
	t.Helper()
	s, err := trust.Open(home, clock)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func text(s string) trust.Bundle { return trust.Bundle{"guard.star": []byte(s)} }

const guard = "plugin/guard"

// folders makes folders below a fresh, resolved one.
func folders(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func noError(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, s *trust.Store, workspace string, b trust.Bundle, verdict trust.Verdict, reason string) {
	t.Helper()
	if got := s.Decide(workspace, guard, b.Digest()); got.Verdict != verdict || got.Reason != reason {
		t.Errorf("%s: got %+v, want %s: %s", workspace, got, verdict, reason)
	}
}

func TestDecide(t *testing.T) {
	root := folders(t, "repo/sub", "other")
	repo := filepath.Join(root, "repo")
	s := open(t, filepath.Join(root, "home"))
	want(t, s, repo, text("1"), trust.Unknown, "not decided yet")
	noError(t, s.Approve(repo, guard, text("1")))
	for _, again := range []*trust.Store{s, open(t, filepath.Join(root, "home"))} {
		want(t, again, repo, text("1"), trust.Approved, "approved on 2026-03-04 for "+repo)
		want(t, again, repo, text("2"), trust.Unknown, "changed since it was approved on 2026-03-04 for "+repo)
		want(t, again, filepath.Join(root, "other"), text("1"), trust.Unknown, "not decided yet")
		if d := again.Decide(repo, "plugin/other", text("1").Digest()); d.Verdict != trust.Unknown {
			t.Errorf("another unit of the same bytes: %+v", d)
		}
		if d := again.Decide(repo, guard, ""); d.Verdict != trust.Unknown {
			t.Errorf("no digest: %+v", d)
		}
	}
	// A refused version does not take the approval of another one with it.
	noError(t, s.Refuse(repo, guard, text("2")))
	want(t, s, repo, text("2"), trust.Refused, "refused on 2026-03-04 for "+repo)
	want(t, s, repo, text("1"), trust.Approved, "approved on 2026-03-04 for "+repo)
	// The last answer about one version counts.
	noError(t, s.Refuse(repo, guard, text("1")))
	want(t, s, repo, text("1"), trust.Refused, "refused on 2026-03-04 for "+repo)
	want(t, s, repo, text("2"), trust.Unknown, "changed since it was refused on 2026-03-04 for "+repo)
	noError(t, s.Approve(repo, guard, text("1")))
	want(t, s, repo, text("1"), trust.Approved, "approved on 2026-03-04 for "+repo)
}

// B-02: parent yes, child no.
func TestTheLongestPathDecides(t *testing.T) {
	root := folders(t, "parent/child/below", "parent/sister", "elsewhere")
	parent, child := filepath.Join(root, "parent"), filepath.Join(root, "parent/child")
	noError(t, os.Symlink(child, filepath.Join(root, "elsewhere/link")))
	for name, refuse := range map[string]func(*trust.Store) error{
		"the unit":   func(s *trust.Store) error { return s.Refuse(child, guard, text("1")) },
		"the folder": func(s *trust.Store) error { return s.RefuseAll(child) },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			s := open(t, home)
			noError(t, s.Approve(parent, guard, text("1")))
			noError(t, refuse(s))
			s = open(t, home)
			for _, path := range []string{
				child, child + "/", child + "/below", child + "/below/..", parent + "/sister/../child", parent + "//child/.",
				root + "/elsewhere/link", root + "/elsewhere/link/", root + "/elsewhere/link/below", root + "/elsewhere/link/below/..",
				child + "/gone/deep",
			} {
				if d := s.Decide(path, guard, text("1").Digest()); d.Verdict != trust.Refused || d.Folder != child {
					t.Errorf("%s: %+v", path, d)
				}
			}
			for _, path := range []string{
				parent, parent + "/", parent + "/sister", child + "/..",
				root + "/elsewhere/link/..", // the parent of where the link leads
			} {
				if d := s.Decide(path, guard, text("1").Digest()); d.Verdict != trust.Approved || d.Folder != parent {
					t.Errorf("%s: %+v", path, d)
				}
			}
			if d := s.Decide(parent+"2", guard, text("1").Digest()); d.Verdict != trust.Unknown {
				t.Errorf("a folder whose name starts alike: %+v", d)
			}
			// What the parent approves later does not reach the child either.
			noError(t, s.Approve(parent, guard, text("2")))
			if d := s.Decide(child, guard, text("2").Digest()); d.Verdict == trust.Approved {
				t.Errorf("a new version below a refusal: %+v", d)
			}
		})
	}
}

func TestMovingCarriesNothing(t *testing.T) {
	root := folders(t, "repo", "home")
	repo, moved := filepath.Join(root, "repo"), filepath.Join(root, "moved")
	s := open(t, filepath.Join(root, "home"))
	noError(t, s.Approve(repo, guard, text("1")))
	noError(t, os.Rename(repo, moved))
	want(t, s, moved, text("1"), trust.Unknown, "not decided yet")
	noError(t, os.Mkdir(repo, 0o755)) // another folder takes the name
	want(t, s, repo, text("evil"), trust.Unknown, "changed since it was approved on 2026-03-04 for "+repo)
	noError(t, os.Remove(repo))
	noError(t, os.Symlink(moved, repo))
	want(t, s, repo, text("1"), trust.Unknown, "not decided yet")
}

func TestRefuseAll(t *testing.T) {
	root := folders(t, "repo/sub", "home")
	repo, sub := filepath.Join(root, "repo"), filepath.Join(root, "repo/sub")
	home := filepath.Join(root, "home")
	s := open(t, home)
	noError(t, s.Approve(repo, guard, text("1")))
	noError(t, s.Approve(sub, guard, text("1")))
	noError(t, s.Refuse(sub, guard, text("0")))
	noError(t, s.RefuseAll(repo))
	for _, s := range []*trust.Store{s, open(t, home)} {
		want(t, s, repo, text("1"), trust.Refused, "everything in "+repo+" was refused on 2026-03-04")
		if d := s.Decide(sub, guard, text("1").Digest()); d.Verdict == trust.Approved {
			t.Errorf("an earlier approval below: %+v", d)
		}
	}
	noError(t, s.Approve(sub, guard, text("1"))) // answered later, for itself
	want(t, s, sub, text("1"), trust.Approved, "approved on 2026-03-04 for "+sub)
	want(t, s, repo, text("1"), trust.Refused, "everything in "+repo+" was refused on 2026-03-04")
	if n, err := s.Revoke(repo, ""); n != 1 || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	want(t, s, repo, text("1"), trust.Unknown, "not decided yet")
}

func TestRevokeAndList(t *testing.T) {
	root := folders(t, "a", "b", "home")
	a, b, home := filepath.Join(root, "a"), filepath.Join(root, "b"), filepath.Join(root, "home")
	s := open(t, home)
	noError(t, s.Approve(b, "plugins.json", text("x")))
	noError(t, s.Approve(a, guard, text("1")))
	noError(t, s.Refuse(a, "plugin/other", text("2")))
	list := []trust.Record{
		{Folder: a, Unit: guard, Approved: text("1").Digest(), ApprovedAt: noon},
		{Folder: a, Unit: "plugin/other", Refused: text("2").Digest(), RefusedAt: noon},
		{Folder: b, Unit: "plugins.json", Approved: text("x").Digest(), ApprovedAt: noon},
	}
	for _, s := range []*trust.Store{s, open(t, home)} {
		if d := cmp.Diff(list, s.List()); d != "" {
			t.Error(d)
		}
	}
	noError(t, os.Remove(a)) // answers of a folder that is gone can still be revoked
	for _, c := range []struct {
		workspace, unit string
		want, left      int
	}{{a, "nothing", 0, 3}, {a + "/", guard, 1, 2}, {b, guard, 0, 2}, {a, "", 1, 1}, {b, "", 1, 0}} {
		n, err := s.Revoke(c.workspace, c.unit)
		if n != c.want || err != nil || len(s.List()) != c.left || len(open(t, home).List()) != c.left {
			t.Errorf("revoke %s %q: %d, %v; left %v", c.workspace, c.unit, n, err, s.List())
		}
	}
	if left, err := os.ReadDir(filepath.Join(home, "trust")); len(left) != 0 {
		t.Errorf("texts nobody approves any more: %v, %v", left, err)
	}
}

func TestApprovedText(t *testing.T) {
	root := folders(t, "repo/sub", "home/trust")
	repo, home := filepath.Join(root, "repo"), filepath.Join(root, "home")
	mine := filepath.Join(home, "trust", "notes.json")
	noError(t, os.WriteFile(mine, []byte("x"), 0o644))
	s := open(t, home)
	if b, ok := s.ApprovedText(repo, guard); ok {
		t.Errorf("of nothing: %v", b)
	}
	one := trust.Bundle{"guard.star": []byte("\x00\xff one"), "../lib.star": []byte("l")}
	noError(t, s.Approve(repo, guard, one))
	noError(t, s.Refuse(repo, guard, text("2"))) // the diff is still against what was approved
	for _, s := range []*trust.Store{s, open(t, home)} {
		if b, ok := s.ApprovedText(repo, guard); !ok || !cmp.Equal(b, one) {
			t.Errorf("got %q, %v", b, ok)
		}
		if b, ok := s.ApprovedText(filepath.Join(repo, "sub"), guard); !ok || !cmp.Equal(b, one) {
			t.Errorf("below: got %q, %v", b, ok)
		}
	}
	noError(t, s.Approve(repo, "empty", trust.Bundle{}))
	if b, ok := s.ApprovedText(repo, "empty"); !ok || len(b) != 0 {
		t.Errorf("an approved nothing: %q, %v", b, ok)
	}
	files, err := os.ReadDir(filepath.Join(home, "trust"))
	if len(files) != 3 || err != nil {
		t.Fatalf("texts %v, %v", files, err)
	}
	for _, f := range files { // a text somebody altered is none
		if f.Name() == "notes.json" {
			continue
		}
		noError(t, os.WriteFile(filepath.Join(home, "trust", f.Name()), []byte(`{"files":{"guard.star":"QQ=="}}`), 0o600))
	}
	if b, ok := s.ApprovedText(repo, guard); ok {
		t.Errorf("altered text: %q", b)
	}
	noError(t, s.Approve(repo, guard, text("3")))
	if b, ok := s.ApprovedText(repo, guard); !ok || !cmp.Equal(b, text("3")) {
		t.Errorf("got %q, %v", b, ok)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("a file of somebody else is gone: %v", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	root := folders(t, "repo")
	home := filepath.Join(root, "home")
	noError(t, open(t, home).Approve(root+"/repo", guard, text("1")))
	noError(t, filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}))
}

func TestALinkStaysALink(t *testing.T) {
	root := folders(t, "repo", "home", "dotfiles")
	noError(t, os.WriteFile(root+"/dotfiles/trust.json", []byte(`{"version": 1}`), 0o644))
	noError(t, os.Symlink(root+"/dotfiles/trust.json", root+"/home/trust.json"))
	noError(t, open(t, root+"/home").Approve(root+"/repo", guard, text("1")))
	if info, err := os.Lstat(root + "/home/trust.json"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	want(t, open(t, root+"/home"), root+"/repo", text("1"), trust.Approved, "approved on 2026-03-04 for "+root+"/repo")
}

// A file that cannot be understood decides nothing, says so, and is not written
// over: a refusal in it would be lost.
func TestUnreadableFiles(t *testing.T) {
	digest := string(text("1").Digest())
	line := `{"workspace": "/w", "unit": "plugin/guard", "approved": "` + digest + `", "approved_at": "2026-03-04T12:00:00Z"}`
	for content, problem := range map[string]string{
		"":                                     "malformed",
		"{":                                    "malformed",
		"[]":                                   "malformed",
		"{}":                                   "no version",
		`{"version": 0, "decisions": []}`:      "no version",
		`{"version": "1"}`:                     "malformed",
		`{"version": 2, "decisions": "other"}`: "has version 2, this starling reads version 1",
		`{"version": 1, "more": 1}`:            `unknown field "more"`,
		`{"version": 1, "decisions": []} x`:    "malformed",
		`{"version": 1, "decisions": [{}]}`:    "decision 1",
		`{"version": 1, "decisions": [` + line + `, ` + line + `]}`:                                  "decision 2: is there twice",
		`{"version": 1, "decisions": [` + strings.Replace(line, "/w", "w", 1) + `]}`:                 "no absolute path",
		`{"version": 1, "decisions": [` + strings.Replace(line, "/w", "/a/../w", 1) + `]}`:           "no absolute path",
		`{"version": 1, "decisions": [` + strings.Replace(line, digest, "sha256:0", 1) + `]}`:        "hexadecimal",
		`{"version": 1, "decisions": [` + strings.Replace(line, "plugin/guard", "", 1) + `]}`:        "no name",
		`{"version": 1, "decisions": [` + strings.Replace(line, "plugin/guard", "*", 1) + `]}`:       "can only be refused",
		`{"version": 1, "decisions": [` + strings.Replace(line, `"approved"`, `"aproved"`, 1) + `]}`: "unknown field",
		`{"version": 1, "decisions": [{"workspace": "/w", "unit": "x"}]}`:                            "neither approved nor refused",
		`{"version": 1, "decisions": [` + strings.Replace(line, "2026", "soon", 1) + `]}`:            "malformed",
	} {
		home := t.TempDir()
		path := filepath.Join(home, "trust.json")
		noError(t, os.WriteFile(path, []byte(content), 0o600))
		s, err := trust.Open(home, clock)
		if s == nil || err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: got %v, want %q in it", content, err, problem)
			continue
		}
		if d := s.Decide("/w", guard, text("1").Digest()); d.Verdict != trust.Unknown || len(s.List()) != 0 {
			t.Errorf("%q: decides %+v", content, d)
		}
		if err := s.Approve(home, guard, text("1")); err == nil || !strings.Contains(err.Error(), "not stored") {
			t.Errorf("%q: approving over it: %v", content, err)
		}
		if d := s.Decide(home, guard, text("1").Digest()); d.Verdict != trust.Approved {
			t.Errorf("%q: the answer does not count in this run: %+v", content, d)
		}
		if now, err := os.ReadFile(path); string(now) != content {
			t.Errorf("%q became %q, %v", content, now, err)
		}
	}
	s, err := trust.Open(folders(t, "trust.json"), clock)
	if s == nil || err == nil {
		t.Errorf("a folder in its place: %v", err)
	}
	home := t.TempDir()
	noError(t, syscall.Mkfifo(filepath.Join(home, "trust.json"), 0o600))
	if _, err := trust.Open(home, clock); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe in its place: %v", err)
	}
}

func TestLenientReading(t *testing.T) {
	home := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(home, "trust.json"), []byte("\xef\xbb\xbf{\"version\": 1}\n"), 0o600))
	if got := open(t, home).List(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// What something else writes counts at the next start only.
func TestChangesFromOutsideWait(t *testing.T) {
	root := folders(t, "a", "b", "home")
	home := root + "/home"
	first, second := open(t, home), open(t, home)
	noError(t, second.Approve(root+"/a", guard, text("1")))
	want(t, first, root+"/a", text("1"), trust.Unknown, "not decided yet")
	noError(t, first.Approve(root+"/b", guard, text("1")))
	want(t, first, root+"/a", text("1"), trust.Unknown, "not decided yet") // nor by the own write
	want(t, open(t, home), root+"/a", text("1"), trust.Approved, "approved on 2026-03-04 for "+root+"/a")
	want(t, open(t, home), root+"/b", text("1"), trust.Approved, "approved on 2026-03-04 for "+root+"/b")
	noError(t, os.Remove(home+"/trust.json"))
	want(t, first, root+"/b", text("1"), trust.Approved, "approved on 2026-03-04 for "+root+"/b")
}

func TestWrongArguments(t *testing.T) {
	s := open(t, t.TempDir())
	for _, unit := range []string{"", "*", "a\nb"} {
		if err := s.Approve("/tmp", unit, nil); err == nil {
			t.Errorf("unit %q was approved", unit)
		}
	}
	for name, err := range map[string]error{
		"approve": s.Approve("repo", guard, nil), "refuse": s.Refuse("", guard, nil), "all": s.RefuseAll("."),
	} {
		if err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Errorf("%s of a relative folder: %v", name, err)
		}
	}
	if d := s.Decide("repo", guard, text("1").Digest()); d.Verdict != trust.Unknown || !strings.Contains(d.Reason, "absolute") {
		t.Errorf("relative: %+v", d)
	}
	if len(s.List()) != 0 {
		t.Errorf("stored %v", s.List())
	}
}

func TestWithoutAHome(t *testing.T) {
	s := open(t, "")
	root := folders(t)
	noError(t, s.Approve(root, guard, text("1")))
	want(t, s, root, text("1"), trust.Approved, "approved on 2026-03-04 for "+root)
}

func TestReadOnlyHome(t *testing.T) {
	root := folders(t, "repo")
	noError(t, os.WriteFile(root+"/home", nil, 0o600)) // a file where the folder should be
	s, err := trust.Open(root+"/home", clock)
	if err == nil {
		t.Fatal("no error")
	}
	if err := s.Refuse(root+"/repo", guard, text("1")); err == nil || !strings.Contains(err.Error(), "counts until exit") {
		t.Errorf("got %v", err)
	}
	want(t, s, root+"/repo", text("1"), trust.Refused, "refused on 2026-03-04 for "+root+"/repo")
}

// TestTwoProcesses writes from several processes, and from several goroutines of
// each, at once: no answer may be lost. With the variable set it is one of them.
func TestTwoProcesses(t *testing.T) {
	const variable, each = "TRUST_TEST_WRITER", 6
	if spec := os.Getenv(variable); spec != "" {
		home, name, _ := strings.Cut(spec, "|")
		s := open(t, home)
		var writers sync.WaitGroup
		for i := range each {
			writers.Go(func() {
				if err := s.Approve(filepath.Dir(home), fmt.Sprintf("plugin/%s%d", name, i), text(name+fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		return
	}
	root := folders(t, "home")
	home := root + "/home"
	names := []string{"a", "b"}
	var children sync.WaitGroup
	for _, name := range names {
		child := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$")
		child.Env = append(os.Environ(), variable+"="+home+"|"+name)
		children.Go(func() {
			if out, err := child.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	children.Wait()
	var want, got []string
	for _, name := range names {
		for i := range each {
			want = append(want, fmt.Sprintf("plugin/%s%d", name, i))
		}
	}
	sort.Strings(want)
	s := open(t, home)
	for _, r := range s.List() {
		got = append(got, r.Unit)
		if _, ok := s.ApprovedText(root, r.Unit); !ok {
			t.Errorf("the text of %s is lost", r.Unit)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
