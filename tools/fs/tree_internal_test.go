package fs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"starling/trust"
)

func TestTreeTooLarge(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer jail.Close()
	for limit, known := range map[int]bool{99: false, 100: true} {
		got, err := New(jail).snapshot(t.Context(), limit)
		if err != nil || (got != nil) != known {
			t.Errorf("100 files, at most %d: %v, %v", limit, got != nil, err)
		}
	}
}
