package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"starling/tools/snapshot"
	"starling/trust/command"
)

// TestBounds: what is too large is refused in words, and nothing is left behind.
func TestBounds(t *testing.T) {
	l := small(t)
	l.write("data/big.bin", strings.Repeat("x", 5000))
	l.run("for i in 1 2 3 4 5; do echo $i >data/$i; done; git stash -q -u && git stash apply -q --index")
	for name, c := range map[string]struct {
		line  string
		bytes int64
		files int
		want  string
	}{
		"bytes":   {"git clean -fd", 1000, 0, "too much to hold: 5.0 kB in 7 files, the largest is " + l.path("data/big.bin") + " with 5.0 kB; commit it or move it away first"},
		"files":   {"git clean -fd", 0, 3, "in 7 files"},
		"staged":  {"git restore --staged .", 3, 0, "too much to hold: more than 3 bytes of staged content or commits"},
		"commits": {"git stash drop", 100, 0, "too much to hold: more than 100 bytes of staged content or commits"},
		"walk":    {"rm -rf ../plain", 0, 3, "too much to hold: more than 3 files"},
	} {
		t.Run(name, func(t *testing.T) {
			l.run("mkdir -p ../plain && touch ../plain/1 ../plain/2 ../plain/3 ../plain/4")
			store := *l.store
			store.MaxBytes, store.MaxFiles, store.Environ = c.bytes, c.files, append(l.env, "TMPDIR=/nowhere")
			store.Dir = filepath.Join(l.root, "state", "snapshots", name)
			losses := l.losses(c.line)
			if name == "walk" { // below the temporary folder of the test it would be scratch
				store.Workspace = l.root
			}
			_, err := store.Take(context.Background(), losses, "test")
			var too *snapshot.TooMuchError
			if !errors.As(err, &too) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if list, err := store.List(); len(list) > 0 || err != nil {
				t.Errorf("listed: %v, %v", list, err)
			}
		})
	}
}

// TestSparedIsLeftOut: what nobody named never stops a command by its size.
func TestSparedIsLeftOut(t *testing.T) {
	l := small(t)
	l.write("dir/.gitignore", "*.bin\n")
	l.write("dir/huge.bin", strings.Repeat("x", 5<<20))
	// What git fetches may have a file of any name.
	snap := l.take(l.losses("git fetch && git reset --hard origin/main"))
	if snap.Left != 1 || !strings.Contains(snap.Summary(), "1 large ignored or untouched file left out") {
		t.Errorf("left %d: %s", snap.Left, snap.Summary())
	}
	for _, f := range snap.Files {
		if strings.HasSuffix(string(f.Path), "huge.bin") {
			t.Error("it is held")
		}
	}
}

// TestPrivate: contents are for their owner only.
func TestPrivate(t *testing.T) {
	l := small(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	l.take(l.losses(discard))
	ok(t, filepath.WalkDir(filepath.Join(l.root, "state"), func(path string, d fs.DirEntry, err error) error {
		ok(t, err)
		info, err := d.Info()
		ok(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return nil
	}))
}

// TestFaults has every step of storing fail once: there is an error and no
// snapshot, and the next one is whole.
func TestFaults(t *testing.T) {
	l := small(t)
	l.run("git stash -q && git stash apply -q --index && git branch side && git commit -qam side --allow-empty && git reset -q --soft side")
	losses := l.losses(discard + "; git stash drop")
	for n := 0; ; n++ {
		store := *l.store
		store.Dir = filepath.Join(l.root, "state", fmt.Sprint(n))
		at, failed := 0, ""
		var mu sync.Mutex // files are stored a few at once
		_, err := store.WithFault(func(op string) error {
			mu.Lock()
			defer mu.Unlock()
			if at++; at == n+1 {
				failed = op
				return syscall.ENOSPC
			}
			return nil
		}).Take(context.Background(), losses, "test")
		if failed == "" {
			if n < 10 || err != nil {
				t.Fatalf("only %d steps; %v", n, err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("step %d (%s): %v", n, failed, err)
		}
		if list, err := store.List(); len(list) > 0 || err != nil {
			t.Fatalf("step %d (%s): listed %v, %v", n, failed, list, err)
		}
		snap, err := store.Take(context.Background(), losses, "test")
		ok(t, err)
		whole(t, &store, snap)
		if n, err := store.Prune(context.Background(), snapshot.Keep{}); n != 0 || err != nil {
			t.Fatalf("pruned %d, %v", n, err)
		}
		whole(t, &store, snap)
		if left, err := filepath.Glob(filepath.Join(store.Dir, "blobs", ".tmp-*")); len(left) > 0 || err != nil {
			t.Fatalf("leftovers %v, %v", left, err)
		}
	}
}

// whole checks that every content of a snapshot is there.
func whole(t testing.TB, s *snapshot.Store, snap *snapshot.Snapshot) {
	t.Helper()
	for _, d := range snap.Digests() {
		if d == "" {
			continue
		}
		if _, err := os.Stat(s.Blob(d)); err != nil {
			t.Fatal(err)
		}
	}
	report, err := s.Restore(context.Background(), snap.ID, snapshot.RestoreOptions{To: t.TempDir()})
	ok(t, err)
	for _, one := range report.Results {
		if one.State == snapshot.Failed {
			t.Fatalf("%+v", one)
		}
	}
}

// TestUnreadable: what cannot be held is an error, not a gap.
func TestUnreadable(t *testing.T) {
	l := newLab(t)
	l.write("plain/a", "a\n")
	ok(t, os.Symlink("a", l.path("plain/link")))
	store := l.store.WithFault(func(op string) error {
		if op == "create" {
			return fs.ErrPermission
		}
		return nil
	})
	_, err := store.Take(context.Background(), l.losses("rm -rf plain"), "test")
	if err == nil || !strings.Contains(err.Error(), "cannot hold "+l.path("plain/a")) {
		t.Errorf("%v", err)
	}
}

// A pipe in the place of a file of the store is no wait.
func TestPipes(t *testing.T) {
	l := small(t)
	ok(t, os.MkdirAll(l.store.Dir, 0o700))
	ok(t, syscall.Mkfifo(filepath.Join(l.store.Dir, "lock"), 0o600))
	snap := l.take([]command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Untracked}}})
	for _, f := range snap.Files {
		path := filepath.Join(l.store.Dir, "blobs", f.Digest)
		if err := os.Remove(path); err == nil {
			ok(t, syscall.Mkfifo(path, 0o600))
		}
	}
	l.run("rm -r dir")
	if r := l.restore(snap.ID, snapshot.RestoreOptions{}); !strings.Contains(report(r), "not a regular file") {
		t.Errorf("contents: %s", report(r))
	}
	ok(t, syscall.Mkfifo(filepath.Join(l.store.Dir, "pruned"), 0o600))
	l.store.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	if err := l.store.PruneDaily(context.Background()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("the stamp: %v", err)
	}
}

// TestPrune drops by age and size, never the newest, and only what nobody needs.
func TestPrune(t *testing.T) {
	l := small(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l.store.Now = func() time.Time { return now }
	l.write("same.txt", "the same in all\n")
	file := func() []command.Loss {
		return []command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Untracked}}}
	}
	var all []*snapshot.Snapshot
	for i := range 8 {
		l.write("dir/untracked.txt", strings.Repeat(fmt.Sprint(i), 1000))
		all = append(all, l.take(file()))
		now = now.Add(24 * time.Hour)
	}
	stand := func() string {
		list, err := l.store.List()
		ok(t, err)
		var days []string
		for _, s := range list {
			whole(t, l.store, s)
			for i, a := range all {
				if a.ID == s.ID {
					days = append(days, fmt.Sprint(i))
				}
			}
		}
		return strings.Join(days, " ")
	}
	for _, c := range []struct {
		keep snapshot.Keep
		want string
	}{
		{snapshot.Keep{}, "7 6 5 4 3 2 1 0"},
		{snapshot.Keep{Age: time.Hour}, "7 6 5 4 3 2 1 0"},
		{snapshot.Keep{Age: 7 * 24 * time.Hour, Newest: 1}, "7 6 5 4 3 2 1"},
		{snapshot.Keep{Bytes: 5100, Newest: 1}, "7 6 5 4 3"},
		{snapshot.Keep{Bytes: 1, Newest: 3}, "7 6 5"},
		{snapshot.Keep{Age: time.Hour, Newest: 1}, "7"},
	} {
		before := stand()
		n, err := l.store.Prune(context.Background(), c.keep)
		ok(t, err)
		if got := stand(); got != c.want || n != len(strings.Fields(before))-len(strings.Fields(got)) {
			t.Errorf("%+v leaves %q and says %d, want %q", c.keep, got, n, c.want)
		}
	}
	if blobs, err := os.ReadDir(filepath.Join(l.store.Dir, "blobs")); len(blobs) != 2 || err != nil {
		t.Errorf("%d contents are left, %v", len(blobs), err)
	}
	ok(t, os.WriteFile(filepath.Join(l.store.Dir, "20260101-000000-000-abcdef.json"), []byte("{"), 0o600))
	if n, err := l.store.Prune(context.Background(), snapshot.Keep{Age: 1, Newest: 1}); err == nil || n != 0 {
		t.Errorf("with a manifest nobody can read, %d were removed: %v", n, err)
	}
}

// TestLoad: ids, their beginnings, and the last one.
func TestLoad(t *testing.T) {
	l := small(t)
	first := l.take(l.losses(discard))
	second := l.take(l.losses(discard))
	for ref, want := range map[string]string{first.ID: first.ID, second.ID[:len(second.ID)-2]: second.ID, "last": second.ID} {
		if got, err := l.store.Load(ref); err != nil || got.ID != want {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for ref, want := range map[string]string{"2026": "may be", "": "file does not exist", "../x": "file does not exist"} {
		if _, err := l.store.Load(ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

// TestPruneDaily: by the defaults, the first time and then a day later.
func TestPruneDaily(t *testing.T) {
	l := small(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l.store.Now = func() time.Time { return now }
	for i := range snapshot.DefaultKeepNewest + 2 {
		l.write("dir/untracked.txt", fmt.Sprint(i))
		l.take([]command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Untracked}}})
		now = now.Add(time.Minute)
	}
	for _, c := range []struct {
		later time.Duration
		want  int
	}{
		{0, snapshot.DefaultKeepNewest + 2},                               // nothing is old; the stamp is made
		{snapshot.DefaultKeepAge, snapshot.DefaultKeepNewest},             // a day has gone by long since
		{time.Hour, snapshot.DefaultKeepNewest + 1},                       // one more was taken meanwhile, and it is too early
		{24 * time.Hour, snapshot.DefaultKeepNewest},                      // not any more
		{-10 * 365 * 24 * time.Hour, snapshot.DefaultKeepNewest},          // a clock that went back
		{snapshot.DefaultKeepAge + time.Hour, snapshot.DefaultKeepNewest}, // and on again
	} {
		now = now.Add(c.later)
		if c.later == time.Hour {
			l.write("dir/untracked.txt", "more")
			l.take([]command.Loss{{Dir: l.repo, Kinds: []command.Lost{command.Untracked}}})
		}
		ok(t, l.store.PruneDaily(context.Background()))
		list, err := l.store.List()
		ok(t, err)
		if len(list) != c.want {
			t.Errorf("%v later: %d snapshots, want %d", c.later, len(list), c.want)
		}
	}
}
