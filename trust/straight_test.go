package trust_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"starling/trust"
)

// A path that was judged is not followed elsewhere, whatever takes the place of
// its folders.
func TestStraightRefusesLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	j := jail.Straight()
	for _, step := range []struct {
		name string
		do   func(path string) error
	}{
		{"write", func(p string) error { return j.WriteFile(p, []byte("x"), 0o644) }},
		{"append", func(p string) error { return j.Append(p, []byte("x"), 0o644) }},
		{"read", func(p string) error { _, err := j.ReadFile(p, 0); return err }},
		{"remove", func(p string) error { return j.Remove(p) }},
	} {
		for _, path := range []string{"x", "out/deep/x"} {
			if err := step.do(path); err != nil {
				t.Errorf("%s %s: %v", step.name, path, err)
			}
		}
		if err := os.Symlink(filepath.Join(".git", "hooks"), filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := step.do("link/x"); err == nil {
			t.Errorf("%s went through a link", step.name)
		}
		if err := os.Remove(filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Remove("gone/x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove below a folder that is not there: %v", err)
	}
}

// The same while somebody swaps a folder for a link all the time.
func TestStraightUnderSwaps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"hooks", "real"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("hooks", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		at := filepath.Join(dir, "at")
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, name := range []string{"real", "link"} {
				_ = os.Rename(filepath.Join(dir, name), at)
				_ = os.Rename(at, filepath.Join(dir, name))
			}
		}
	}()
	j := jail.Straight()
	for range 300 {
		_ = j.WriteFile("at/x", []byte("x"), 0o644)
		_ = j.Append("at/y", []byte("x"), 0o644)
	}
	close(stop)
	<-stopped
	left, err := os.ReadDir(filepath.Join(dir, "hooks"))
	if err != nil || len(left) != 0 {
		t.Errorf("written through the link: %v %v", left, err)
	}
}
