package watch

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// receiver plays the part that reloads: it follows the changes and keeps count.
type receiver struct {
	t     *testing.T
	w     *Watcher
	known map[string]Digest
	loads map[string]int // times a file was added or changed
	gone  map[string]int
}

// receive starts a watcher over dir. Without poll, only events can help.
func receive(t *testing.T, o Options) *receiver {
	t.Helper()
	if o.Poll == 0 {
		o.Poll = time.Hour
	}
	if o.Log == nil {
		o.Log = func(text string) { t.Errorf("notice %q", text) }
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &receiver{t: t, w: w, known: w.Known(), loads: map[string]int{}, gone: map[string]int{}}
}

func (r *receiver) take(c Change) {
	r.t.Helper()
	if c.empty() {
		r.t.Error("an empty change")
	}
	for _, path := range c.Added {
		if _, ok := r.known[path]; ok {
			r.t.Errorf("%s was added twice", path)
		}
	}
	for _, path := range c.Changed {
		if sum, ok := r.known[path]; !ok || sum == c.Digests[path] {
			r.t.Errorf("%s changed, but was not known or is the same", path)
		}
	}
	for _, path := range slices.Concat(c.Added, c.Changed) {
		r.known[path] = c.Digests[path]
		r.loads[filepath.Base(path)]++
	}
	for _, path := range c.Removed {
		if _, ok := r.known[path]; !ok {
			r.t.Errorf("%s was removed and not known", path)
		}
		delete(r.known, path)
		r.gone[filepath.Base(path)]++
	}
}

// next takes the next change, which must come.
func (r *receiver) next() Change {
	r.t.Helper()
	select {
	case c := <-r.w.Changes():
		r.take(c)
		return c
	case <-time.After(patience):
		r.t.Fatalf("no change came; known %v", slices.Sorted(maps.Keys(r.known)))
		return Change{}
	}
}

// sync takes changes until what is known equals what lies in dir.
func (r *receiver) sync(dir string) {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		want := disk(r.t, dir)
		if maps.Equal(r.known, want) {
			return
		}
		select {
		case c := <-r.w.Changes():
			r.take(c)
		case <-deadline:
			r.t.Fatalf("never in sync: known %v, on disk %v", slices.Sorted(maps.Keys(r.known)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// disk reads what a receiver should know, by plain walking.
func disk(t *testing.T, dir string) map[string]Digest {
	t.Helper()
	files := map[string]Digest{}
	_ = filepath.WalkDir(dir+"/", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !counts(d.Name()) {
			return nil
		}
		if b, err := os.ReadFile(p); err == nil {
			files[filepath.Clean(p)] = sha256.Sum256(b)
		}
		return nil
	})
	return files
}

func sh(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", "set -e; "+line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=dumb", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replace writes path as one step, as an editor's atomic save does.
func replace(t *testing.T, path, text string) {
	t.Helper()
	write(t, filepath.Dir(path)+"/.tmp", text)
	if err := os.Rename(filepath.Dir(path)+"/.tmp", path); err != nil {
		t.Fatal(err)
	}
}

// scripted is a notifier that a test drives.
type scripted struct {
	events chan fsnotify.Event
	errors chan error
	failAt int // Add that fails, counted from 1; 0 = none
	fault  error

	mu     sync.Mutex
	added  []string
	closed bool
}

func newScripted() *scripted {
	return &scripted{events: make(chan fsnotify.Event), errors: make(chan error)}
}

func (s *scripted) Add(folder string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added = append(s.added, folder)
	if s.failAt > 0 && len(s.added) >= s.failAt {
		return s.fault
	}
	return nil
}
func (s *scripted) Remove(string) error           { return nil }
func (s *scripted) Events() <-chan fsnotify.Event { return s.events }
func (s *scripted) Errors() <-chan error          { return s.errors }

func (s *scripted) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *scripted) folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := slices.Clone(s.added)
	slices.Sort(f)
	return slices.Compact(f)
}

func (s *scripted) open() (Notifier, error) { return s, nil }

// realTemp is a temporary folder without links in its path.
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(dir, "/")
}
