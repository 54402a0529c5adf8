package fs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func BenchmarkSnapshot(b *testing.B) {
	d := deskIn(b, manyFiles(b, 50_000))
	files := fs.New(d.jail)
	for b.Loop() {
		if tree, err := files.Snapshot(b.Context()); tree == nil || err != nil {
			b.Fatal(err)
		}
	}
}
