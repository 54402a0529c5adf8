package trust_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"starling/trust"
)

// What a write that was killed left goes with a later write in that folder, once it is
// too old to be somebody's at work; nothing else of a like name does.
func TestWritesSweepWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{
		".starling-0123456789abcdef.tmp":     2 * time.Hour,
		".starling-0123456789abcdee.tmp":     time.Minute, // a write that goes on
		".starling-0123456789ABCDEF.tmp":     2 * time.Hour,
		".starling-0123456789abcdef0.tmp":    2 * time.Hour,
		".starling-notes.tmp":                2 * time.Hour,
		".starling-0123456789abcdef.tmp.txt": 2 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".starling-0000000000000000.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	if err := jail.WriteFile("f", []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 7 { // f and six of the others
		t.Errorf("left: %v", left)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".starling-0123456789abcdef.tmp")); !os.IsNotExist(err) {
		t.Errorf("the old one: %v", err)
	}
}
