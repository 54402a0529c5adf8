package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Sessions that are open at once lose nothing of each other, whichever ends last; what
// was typed again is the newest.
func TestHistoryOfTwoSessions(t *testing.T) {
	home := t.TempDir()
	if err := saveHistory(home, []string{"old", "again"}); err != nil {
		t.Fatal(err)
	}
	one, err := loadHistory(home)
	if err != nil {
		t.Fatal(err)
	}
	two, err := loadHistory(home)
	if err != nil {
		t.Fatal(err)
	}
	one.Add("of the first")
	two.Add("of the second")
	two.Add("old")
	if err := saveHistory(home, two.Typed()); err != nil {
		t.Fatal(err)
	}
	if err := saveHistory(home, one.Typed()); err != nil {
		t.Fatal(err)
	}
	want := "\"again\"\n\"of the second\"\n\"old\"\n\"of the first\"\n"
	if got := historyOf(t, home); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A closed window ends all its sessions at once.
func TestHistoryOfSessionsThatEndAtOnce(t *testing.T) {
	home := t.TempDir()
	var ends sync.WaitGroup
	for i := range 8 {
		ends.Go(func() {
			if err := saveHistory(home, []string{strings.Repeat("x", i+1)}); err != nil {
				t.Error(err)
			}
		})
	}
	ends.Wait()
	if got := strings.Count(historyOf(t, home), "\n"); got != 8 {
		t.Errorf("%d entries of 8", got)
	}
}

// A file that is damaged, or none, is told of and left as it is. A link stays a link.
func TestHistoryFile(t *testing.T) {
	home := t.TempDir()
	path := historyFile(home)
	if err := os.WriteFile(path, []byte("\"fine\"\nnot json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := loadHistory(home)
	if err == nil || !strings.Contains(err.Error(), "1 lines of the history are damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	h.Add("more")
	if err := saveHistory(home, h.Typed()); err == nil || historyOf(t, home) != "\"fine\"\nnot json\n" {
		t.Errorf("%v, and now it has %q", err, historyOf(t, home))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := loadHistory(home); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "typed")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if err := saveHistory(home, []string{"more"}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "\"more\"\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func historyOf(t *testing.T, home string) string {
	t.Helper()
	data, err := os.ReadFile(historyFile(home))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
