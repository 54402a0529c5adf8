package fs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

func TestTree(t *testing.T) {
	d := newDesk(t)
	d.tree(map[string]string{".gitignore": "out/\n", "a": "1", "b/c": "2", "gone": "3", "mode": "4", "swap": "5", "out/x": "6"})
	more := t.TempDir()
	jail, err := trust.NewJail(more)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	files := fs.NewWith(d.jail, fs.Options{Folders: []*trust.Jail{jail}})
	before, err := files.Snapshot(t.Context())
	if err != nil || before == nil {
		t.Fatal(before, err)
	}
	if got := before.Diff(before); len(got) != 0 {
		t.Errorf("a tree differs from itself: %v", got)
	}
	d.put("a", []byte("longer"))
	d.tree(map[string]string{"new/n": "", "out/y": ""})
	if err := os.WriteFile(filepath.Join(more, "m"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Remove(filepath.Join(d.dir, "gone")),
		os.Chmod(filepath.Join(d.dir, "mode"), 0o755),
		os.Remove(filepath.Join(d.dir, "swap")),
		os.Symlink("a", filepath.Join(d.dir, "swap")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	after, err := files.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []fs.Change{
		{Path: filepath.Join(jail.Dir(), "m"), Kind: fs.Created},
		{Path: "a", Kind: fs.Modified},
		{Path: "gone", Kind: fs.Deleted},
		{Path: "mode", Kind: fs.Modified},
		{Path: "new/n", Kind: fs.Created},
		{Path: "swap", Kind: fs.Modified},
	}
	if diff := cmp.Diff(want, before.Diff(after)); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	if got := before.Diff(nil); got != nil {
		t.Errorf("against what is not known: %v", got)
	}
}

// Digests of what a command changed: after, of files that are read at small cost;
// before, of files a tool or an earlier comparison knows as they were then.
func TestChangesHaveDigests(t *testing.T) {
	d := newDesk(t)
	d.tree(map[string]string{"read": "1", "unread": "2", "gone": "3", "big": "4", "touched": "5"})
	files := fs.New(d.jail)
	tool := files.Read()
	for _, name := range []string{"read", "gone", "touched"} {
		if _, err := tool.Execute(t.Context(), spec.ToolCall{Arguments: json.RawMessage(`{"path":"` + name + `"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	large := strings.Repeat("x", 1<<20+1)
	d.put("touched", []byte("behind"))
	for _, c := range []struct {
		files map[string]string
		want  []fs.Change
	}{
		{map[string]string{"read": "11", "unread": "22", "big": large, "gone": "", "touched": "55", "new": "n"}, []fs.Change{
			{Path: "big", Kind: fs.Modified},
			{Path: "gone", Kind: fs.Deleted, Before: sum("3")},
			{Path: "new", Kind: fs.Created, After: sum("n")},
			{Path: "read", Kind: fs.Modified, Before: sum("1"), After: sum("11")},
			{Path: "touched", Kind: fs.Modified, After: sum("55")},
			{Path: "unread", Kind: fs.Modified, After: sum("22")},
		}},
		{map[string]string{"unread": "222", "new": ""}, []fs.Change{
			{Path: "new", Kind: fs.Deleted, Before: sum("n")},
			{Path: "unread", Kind: fs.Modified, Before: sum("22"), After: sum("222")},
		}},
	} {
		before, err := files.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, content := range c.files {
			if content != "" {
				d.put(name, []byte(content))
			} else if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		after, err := files.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, files.Changes(t.Context(), before, after)); diff != "" {
			t.Errorf("(-want, +got):\n%s", diff)
		}
	}
}

func BenchmarkSnapshot(b *testing.B) {
	d := deskIn(b, manyFiles(b, 50_000))
	files := fs.New(d.jail)
	for b.Loop() {
		if tree, err := files.Snapshot(b.Context()); tree == nil || err != nil {
			b.Fatal(err)
		}
	}
}
