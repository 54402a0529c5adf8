package fs_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/tools/fs"
)

type change = map[string]any

// edits are pairs of old and new text.
func edits(pairs ...string) []change {
	var out []change
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, change{"old_text": pairs[i], "new_text": pairs[i+1]})
	}
	return out
}

func hexOf(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

func TestEdit(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", []byte("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"))
	r, err := d.call("edit", args{"path": "./a.txt", "edits": edits("two", "2\n2b", "nine\n", "")})
	if err != nil {
		t.Fatal(err)
	}
	want := "edited a.txt (2 edits, +2 -2 lines); now:\n1\tone\n2\t2\n3\t2b\n4\tthree\n5\tfour\n6\tfive\n7\tsix\n8\tseven\n9\teight\n"
	if diff := cmp.Diff(want, r.Content); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	after := "one\n2\n2b\nthree\nfour\nfive\nsix\nseven\neight\n"
	if got := d.get("a.txt"); got != after {
		t.Errorf("a.txt holds %q", got)
	}
	var v struct {
		Path, Diff, Before, After string
		Added, Removed            int
	}
	if err := json.Unmarshal(r.Details, &v); err != nil {
		t.Fatal(err)
	}
	old := "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
	if v.Path != "a.txt" || v.Added != 2 || v.Removed != 2 || v.Before != hexOf(old) || v.After != hexOf(after) {
		t.Errorf("details %+v", v)
	}
	diff := "--- a.txt\n+++ a.txt\n@@ -1,9 +1,9 @@\n one\n-two\n+2\n+2b\n three\n four\n five\n six\n seven\n eight\n-nine\n"
	if diff := cmp.Diff(diff, v.Diff); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}

func TestEditRefuses(t *testing.T) {
	d := newDesk(t)
	d.tree(map[string]string{"a.txt": "a\nb\na\n", "bin": "a\x00b", ".git/config": "a\n", "ro": "a\n"})
	if err := os.Chmod(filepath.Join(d.dir, "ro"), 0o444); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(d.dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(large.Truncate(fs.MaxEdit+1), large.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "a.txt", "edits": edits("a", "x")}, "stands 2 times in a.txt"},
		{args{"path": "a.txt", "edits": edits("b", "x", "c", "y")}, "a.txt was not changed: edits[1]: old_text is not in a.txt"},
		{args{"path": "a.txt", "edits": edits("", "x")}, "call write"},
		{args{"path": "a.txt", "edits": []change{}}, "edits: minItems"},
		{args{"path": "a.txt", "edits": []change{{"old_text": "b"}}}, `missing "new_text"`},
		{args{"path": "a.txt", "edits": []change{{"old_text": "b", "new_text": "c", "ALL": true}}}, "ALL"},
		{args{"path": "absent", "edits": edits("a", "x")}, "absent: no such file; to create it call write"},
		{args{"path": "bin", "edits": edits("a", "x")}, "binary"},
		{args{"path": "ro", "edits": edits("a", "x")}, "read-only"},
		{args{"path": "large", "edits": edits("a", "x")}, "more than"},
		{args{"path": ".", "edits": edits("a", "x")}, "directory"},
		{args{"path": "../a.txt", "edits": edits("a", "x")}, "outside the workspace"},
		{args{"path": ".git/config", "edits": edits("a", "x")}, "without a person's consent"},
	} {
		if r, err := d.call("edit", c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("edit %v = %q, %v; want %q", c.a, r.Content, err, c.want)
		}
	}
	if got := d.get("a.txt") + d.get("ro"); got != "a\nb\na\na\n" {
		t.Errorf("changed to %q", got)
	}
}

// D-05: what somebody else saved since the last read is neither overwritten nor
// edited unseen; own changes in a row are no such thing.
func TestEditNoticesForeignChanges(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.dir, "a.txt")
	d.put("a.txt", []byte("mine\nb\n"))
	d.read(args{"path": "a.txt"})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.put("a.txt", []byte("thei\nb\n"))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	_, err = d.call("edit", args{"path": "a.txt", "edits": edits("b", "B")})
	if err == nil || !strings.Contains(err.Error(), "changed by somebody else") || !strings.Contains(err.Error(), "1\tthei\n2\tb\n") {
		t.Fatalf("got %v", err)
	}
	for _, e := range [][]change{edits("b", "B"), edits("B", "C"), edits("C", "D")} {
		if _, err := d.call("edit", args{"path": "a.txt", "edits": e}); err != nil {
			t.Fatalf("own edit: %v", err)
		}
	}
	if _, err := d.call("write", args{"path": "a.txt", "content": "x\n"}); err != nil {
		t.Fatalf("own write after own edits: %v", err)
	}
	if _, err := d.call("edit", args{"path": "a.txt", "edits": edits("x", "y")}); err != nil {
		t.Fatalf("own edit after own write: %v", err)
	}
	d.put("never", []byte("read\n"))
	if _, err := d.call("edit", args{"path": "never", "edits": edits("read", "so far")}); err != nil {
		t.Errorf("a file that was never read: %v", err)
	}
}

// D-06: modes and links stay.
func TestEditKeepsModeAndLink(t *testing.T) {
	mask := syscall.Umask(0o077)
	defer syscall.Umask(mask)
	d := newDesk(t)
	d.tree(map[string]string{"sub/f": "a\n"})
	for name, mode := range map[string]os.FileMode{"x.sh": 0o755, "g": 0o640, "p": 0o600} {
		d.put(name, []byte("a\n"))
		if err := os.Chmod(filepath.Join(d.dir, name), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := d.call("edit", args{"path": name, "edits": edits("a", "b")}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(filepath.Join(d.dir, name)); err != nil || info.Mode() != mode || d.get(name) != "b\n" {
			t.Errorf("%s: %v %v %q", name, info.Mode(), err, d.get(name))
		}
	}
	if err := os.Symlink("sub/f", filepath.Join(d.dir, "link")); err != nil {
		t.Fatal(err)
	}
	r, err := d.call("edit", args{"path": "link", "edits": edits("a", "b")})
	if err != nil || !strings.HasPrefix(r.Content, "edited sub/f ") {
		t.Errorf("%q, %v", r.Content, err)
	}
	if to, err := os.Readlink(filepath.Join(d.dir, "link")); err != nil || to != "sub/f" || d.get("sub/f") != "b\n" {
		t.Errorf("link to %q, %v; %q", to, err, d.get("sub/f"))
	}
	if err := os.Link(filepath.Join(d.dir, "p"), filepath.Join(d.dir, "second")); err != nil {
		t.Fatal(err)
	}
	for tool, a := range map[string]args{"edit": {"path": "p", "edits": edits("b", "c")}, "write": {"path": "second", "content": "d"}} {
		before, err := os.Stat(filepath.Join(d.dir, a["path"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		d.read(args{"path": a["path"]})
		linked := before.Sys().(*syscall.Stat_t).Nlink > 1
		if r, err := d.call(tool, a); err != nil || strings.Contains(r.Content, "1 other name (hard links)") != linked {
			t.Errorf("%s: %q, %v", tool, r.Content, err)
		}
	}
}

// D-06: when the disk is full the old content stays whole and nothing is left.
func TestEditFullDisk(t *testing.T) {
	if alone(t) {
		return
	}
	d := newDesk(t)
	old := strings.Repeat("line\n", 20_000) + "end\n"
	d.put("a.txt", []byte(old))
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 8192, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	r, err := d.call("edit", args{"path": "a.txt", "edits": edits("end", "END")})
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); e != nil {
		t.Fatal(e)
	}
	if err == nil {
		t.Fatalf("no error: %q", r.Content)
	}
	names, _ := os.ReadDir(d.dir)
	if d.get("a.txt") != old || len(names) != 1 {
		t.Errorf("the file has %d bytes, the folder %v", len(d.get("a.txt")), names)
	}
	if _, err := d.call("edit", args{"path": "a.txt", "edits": edits("end", "END")}); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

// D-07: bytes that are no text are kept, shown as \xNN, and all of a result is
// valid JSON.
func TestEditLatin1(t *testing.T) {
	d := newDesk(t)
	d.put("l1.txt", []byte("\xf5 caf\xe9\nb\nplain\n"))
	r, err := d.call("edit", args{"path": "l1.txt", "edits": edits("plain", "PLAIN", `\xF5 caf`, `\xF5 CAF`)})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.get("l1.txt"); got != "\xf5 CAF\xe9\nb\nPLAIN\n" {
		t.Errorf("holds %q", got)
	}
	if !utf8.ValidString(r.Content) || !utf8.Valid(r.Details) || strings.Contains(r.Content+string(r.Details), "\uFFFD") ||
		!strings.Contains(r.Content, `1	\xF5 CAF\xE9`) || !strings.Contains(string(r.Details), `+\\xF5 CAF\\xE9\n`) {
		t.Errorf("content %q, details %s", r.Content, r.Details)
	}
}

// Every mix of line ends, marks, encodings, modes and links: an edit of one line
// through the tool changes that line alone.
func TestEditAnything(t *testing.T) {
	d := newDesk(t)
	line := rapid.SampledFrom([]string{"", "plain", "“q” — x  ", "caf\xe9", "\xf5", "é\u00A0", "tab\t", "$1 %s", "\uFFFD"})
	end := rapid.SampledFrom([]string{"\n", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for range rapid.IntRange(0, 4).Draw(t, "lines") {
				b.WriteString(line.Draw(t, "line") + end.Draw(t, "end"))
			}
			return b.String()
		})
		head := rapid.SampledFrom([]string{"", "\uFEFF"}).Draw(t, "mark") + part.Draw(t, "head")
		tail := rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "break") + part.Draw(t, "tail")
		next := rapid.SampledFrom([]string{"", "new", `x $1 ${name} $& $$ \1 %s %%`, "é — “”"}).Draw(t, "new")
		mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o600, 0o222 | 0o444}).Draw(t, "mode")
		path := filepath.Join(d.dir, "file")
		if err := errors.Join(os.WriteFile(path, []byte(head+"TARGET"+tail), 0o644), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		name := "file"
		if rapid.Bool().Draw(t, "through a link") {
			name = "link"
			_ = os.Symlink("file", filepath.Join(d.dir, name))
		}
		d.read(args{"path": name}) // the last edit was ours, this content is not
		r, err := d.call("edit", args{"path": name, "edits": edits("TARGET", next)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != head+next+tail {
			t.Fatalf("%q, %v; want %q", got, err, head+next+tail)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Fatalf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
		if !utf8.ValidString(r.Content) || !json.Valid(r.Details) {
			t.Fatalf("content %q, details %s", r.Content, r.Details)
		}
	})
}

// Agents that share the tools do not lose each other's edits.
func TestEditsAtOnce(t *testing.T) {
	d := newDesk(t)
	var content strings.Builder
	for i := range 16 {
		fmt.Fprintf(&content, "<%d>\n", i)
	}
	d.put("a", []byte(content.String()))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, err := d.call("edit", args{"path": "a", "edits": edits(fmt.Sprintf("<%d>", i), fmt.Sprintf("(%d)", i))}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := d.get("a"); strings.Contains(got, "<") || strings.Count(got, "(") != 16 {
		t.Errorf("holds %q", got)
	}
}

func TestWriteDetails(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		content, diff  string
		added, removed int
	}{
		{"a\nb\n", "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n", 2, 0},
		{"a\nc", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n", 1, 1},
		{"a\nc", "", 0, 0},
		{strings.Repeat("x", 5<<20), "", 1, 2},
		{"small\n", "", 1, 1},
	} {
		before := ""
		if b, err := os.ReadFile(filepath.Join(d.dir, "f")); err == nil {
			before = hexOf(string(b))
		}
		r, err := d.call("write", args{"path": "f", "content": c.content})
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Diff, Before, After string
			Added, Removed      int
		}
		if err := json.Unmarshal(r.Details, &v); err != nil {
			t.Fatal(err)
		}
		if v.Diff != c.diff || v.Added != c.added || v.Removed != c.removed || v.Before != before || v.After != hexOf(c.content) {
			t.Errorf("%.20q: %+v", c.content, v)
		}
	}
}

func TestChangesAreTold(t *testing.T) {
	var got []fs.Change
	dir := t.TempDir()
	d := deskWith(t, dir, fs.Options{Changed: func(c fs.Change) { got = append(got, c) }})
	steps := []struct {
		tool string
		a    args
	}{
		{"write", args{"path": "sub/a", "content": "1\n"}},
		{"write", args{"path": "sub/a", "content": "2\n"}},
		{"edit", args{"path": "sub/a", "edits": edits("2", "3")}},
		{"edit", args{"path": "sub/a", "edits": edits("4", "3")}},
		{"write", args{"path": "../b", "content": "1"}},
		{"read", args{"path": "sub/a"}},
	}
	failed := 0
	for _, s := range steps {
		if _, err := d.call(s.tool, s.a); err != nil {
			failed++
		}
	}
	want := []fs.Change{
		{Path: "sub/a", Kind: fs.Created, After: hexOf("1\n")},
		{Path: "sub/a", Kind: fs.Modified, Before: hexOf("1\n"), After: hexOf("2\n")},
		{Path: "sub/a", Kind: fs.Modified, Before: hexOf("2\n"), After: hexOf("3\n")},
	}
	if diff := cmp.Diff(want, got); diff != "" || failed != 2 {
		t.Errorf("%d calls failed; (-want, +got):\n%s", failed, diff)
	}
}

func BenchmarkEdit5MB(b *testing.B) {
	d := newDesk(b)
	line := "some words of a line, and more of them\r\n"
	content := []byte("first\r\n" + strings.Repeat(line, 5<<20/len(line)) + "last\r\n")
	d.put("a", content)
	texts := []string{"last", "LAST"}
	for i := 0; b.Loop(); i++ {
		if _, err := d.call("edit", args{"path": "a", "edits": edits(texts[i%2], texts[1-i%2])}); err != nil {
			b.Fatal(err)
		}
	}
	if got := d.get("a"); !bytes.HasPrefix([]byte(got), content[:len(content)-6]) {
		b.Error("bytes were lost")
	}
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

// The diff of an edit has the lines that differ, not those that its texts only name.
func TestEditDiffHasWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct {
		before         string
		edits          []change
		diff           string // its lines without heads and neighbours
		added, removed int
	}{
		"two lines more": {
			"f {\n a\n b\n}\n", edits("f {\n a\n b\n}\n", "f {\n a\n new\n more\n b\n}\n"),
			"+ new\n+ more\n", 2, 0,
		},
		"one of four": {
			"a\nb\nc\nd\n", edits("a\nb\nc\nd", "a\nb\nX\nd"),
			"-c\n+X\n", 1, 1,
		},
		"a part of a line": {"one two three\n", edits("two", "2"), "-one two three\n+one 2 three\n", 1, 1},
		"twice in a line":  {"one two three\nx\n", edits("one", "1", "three", "3"), "-one two three\n+1 two 3\n", 1, 1},
		"lines side by side": {
			"a\nb\nc\n", edits("a\n", "A\n", "b\n", "B\n"),
			"-a\n-b\n+A\n+B\n", 2, 2,
		},
		"joined lines":      {"a\nb\nc\n", edits("a\n", "a "), "-a\n-b\n+a b\n", 1, 2},
		"no line end":       {"a\nb", edits("b", "b\nc\n"), "-b\n+b\n+c\n", 2, 1},
		"gone at the start": {"a\nb\n", edits("a\n", ""), "-a\n", 0, 1},
		"all of it":         {"a\n", edits("a\n", ""), "-a\n", 0, 1},
		"the same text":     {"a\nb\n", edits("a\nb\n", "a\nb\n"), "", 0, 0},
	} {
		d := newDesk(t)
		d.put("f", []byte(c.before))
		a := args{"path": "f", "edits": c.edits}
		shown := d.preview("edit", a)
		r, err := d.call("edit", a)
		if err != nil {
			if c.diff != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var v struct {
			Diff           string
			Added, Removed int
		}
		if err := json.Unmarshal(r.Details, &v); err != nil {
			t.Fatal(err)
		}
		var changed strings.Builder
		for line := range strings.Lines(v.Diff) {
			if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") {
				changed.WriteString(line)
			}
		}
		if changed.String() != c.diff || v.Added != c.added || v.Removed != c.removed {
			t.Errorf("%s: +%d -%d\n%s", name, v.Added, v.Removed, v.Diff)
		}
		if shown != v.Diff && c.diff != "" {
			t.Errorf("%s: shown before\n%s\nand after\n%s", name, shown, v.Diff)
		}
	}
}

// However many places an edit changes, each line that stays is none of the change.
func TestEditDiffOfManyPlaces(t *testing.T) {
	d := newDesk(t)
	d.put("f", []byte(strings.Repeat("head\nold\ntail\n", 900)))
	edit := []args{{"old_text": "head\nold\ntail\n", "new_text": "head\nold\nnew\ntail\n", "all": true}}
	r, err := d.call("edit", args{"path": "f", "edits": edit})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Content, "at 900 places, +900 -0 lines") {
		t.Errorf("%.300s", r.Content)
	}
}
