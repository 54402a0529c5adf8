package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// bubble runs a test of times on a clock that only moves when all is idle.
func bubble(t *testing.T, f func(t *testing.T, dir string, s *scripted, w *Watcher, received func() []string)) {
	dir := realTemp(t) + "/p"
	write(t, dir+"/a.star", "0")
	synctest.Test(t, func(t *testing.T) {
		s := newScripted()
		w, err := New(Options{Dirs: []string{dir}, Notify: s.open, Log: func(text string) { t.Errorf("notice %q", text) }})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		start := time.Now()
		var mu sync.Mutex
		var log []string
		go func() {
			for c := range w.Changes() {
				mu.Lock()
				log = append(log, fmt.Sprintf("%v +%d ~%d -%d", time.Since(start), len(c.Added), len(c.Changed), len(c.Removed)))
				mu.Unlock()
			}
		}()
		f(t, dir, s, w, func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(log)
		})
	})
}

func TestQuietTime(t *testing.T) {
	bubble(t, func(t *testing.T, dir string, s *scripted, _ *Watcher, received func() []string) {
		ev := fsnotify.Event{Name: dir + "/a.star", Op: fsnotify.Write}
		for i := range 5 {
			write(t, dir+"/a.star", fmt.Sprint("half", i))
			s.events <- ev
			time.Sleep(30 * time.Millisecond)
		}
		time.Sleep(9 * time.Millisecond)
		if got := received(); len(got) != 0 {
			t.Errorf("too early: %v", got)
		}
		time.Sleep(time.Second)
		if got := received(); !slices.Equal(got, []string{"160ms +0 ~1 -0"}) {
			t.Errorf("received %v", got)
		}
	})
}

func TestLongestWait(t *testing.T) {
	bubble(t, func(t *testing.T, dir string, s *scripted, _ *Watcher, received func() []string) {
		for i := range 50 { // half a second of slow writes are two changes
			write(t, dir+"/a.star", fmt.Sprint("half", i))
			s.events <- fsnotify.Event{Name: dir + "/a.star", Op: fsnotify.Write}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
		if got := received(); !slices.Equal(got, []string{"400ms +0 ~1 -0", "530ms +0 ~1 -0"}) {
			t.Errorf("received %v", got)
		}
	})
}

func TestVanishMustLast(t *testing.T) {
	bubble(t, func(t *testing.T, dir string, s *scripted, _ *Watcher, received func() []string) {
		remove := func() {
			if err := os.Remove(dir + "/a.star"); err != nil {
				t.Fatal(err)
			}
			s.events <- fsnotify.Event{Name: dir + "/a.star", Op: fsnotify.Remove}
		}
		remove()
		time.Sleep(60 * time.Millisecond) // looked at 40, absent
		write(t, dir+"/a.star", "new")
		s.events <- fsnotify.Event{Name: dir + "/a.star", Op: fsnotify.Create}
		time.Sleep(time.Second)
		if got := received(); !slices.Equal(got, []string{"100ms +0 ~1 -0"}) {
			t.Errorf("received %v", got)
		}
		remove()
		time.Sleep(500 * time.Millisecond)
		if got := received(); len(got) != 2 || got[1] != "1.14s +0 ~0 -1" {
			t.Errorf("received %v", got)
		}
	})
}

func TestChmodAndStrangersAreIgnored(t *testing.T) {
	bubble(t, func(t *testing.T, dir string, s *scripted, _ *Watcher, received func() []string) {
		write(t, dir+"/a.star", "new") // would be found by any look
		for _, ev := range []fsnotify.Event{
			{Name: dir + "/a.star", Op: fsnotify.Chmod},
			{Name: dir + "/a.txt", Op: fsnotify.Write},
			{Name: dir + "/.a.star", Op: fsnotify.Write},
			{Name: filepath.Dir(dir) + "/session.jsonl", Op: fsnotify.Write},
			{Name: filepath.Dir(dir) + "/b.star", Op: fsnotify.Write},
		} {
			s.events <- ev
		}
		time.Sleep(1900 * time.Millisecond)
		if got := received(); len(got) != 0 {
			t.Errorf("received %v", got)
		}
		time.Sleep(time.Second) // the poll finds it, after the quiet time
		if got := received(); !slices.Equal(got, []string{"2.04s +0 ~1 -0"}) {
			t.Errorf("received %v", got)
		}
	})
}

func TestOverflowAndRescan(t *testing.T) {
	bubble(t, func(t *testing.T, dir string, s *scripted, w *Watcher, received func() []string) {
		write(t, dir+"/a.star", "new")
		s.errors <- fsnotify.ErrEventOverflow
		time.Sleep(100 * time.Millisecond)
		write(t, dir+"/b.star", "new")
		w.Rescan()
		time.Sleep(100 * time.Millisecond)
		if got := received(); !slices.Equal(got, []string{"40ms +0 ~1 -0", "140ms +1 ~0 -0"}) {
			t.Errorf("received %v", got)
		}
	})
}

// Bug report I-02: limits of the system cost one notice; polling goes on.
func TestDegrades(t *testing.T) {
	for _, c := range []struct {
		name string
		make func() (*scripted, func() (Notifier, error))
		hurt func(*scripted)
	}{
		{"no watcher at all", func() (*scripted, func() (Notifier, error)) {
			return nil, func() (Notifier, error) { return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE) }
		}, nil},
		{"no space at the fifth", func() (*scripted, func() (Notifier, error)) {
			s := newScripted()
			s.failAt, s.fault = 5, syscall.ENOSPC
			return s, s.open
		}, nil},
		{"the source ends", func() (*scripted, func() (Notifier, error)) {
			s := newScripted()
			return s, s.open
		}, func(s *scripted) { close(s.events); close(s.errors) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := realTemp(t) + "/p"
			for i := range 6 {
				write(t, fmt.Sprintf("%s/sub%d/main.star", dir, i), "0")
			}
			synctest.Test(t, func(t *testing.T) {
				s, open := c.make()
				var notices []string
				w, err := New(Options{Dirs: []string{dir}, Notify: open, Log: func(text string) { notices = append(notices, text) }})
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if c.hurt != nil {
					c.hurt(s)
				}
				for i := range 3 {
					write(t, dir+"/sub5/main.star", fmt.Sprint("new", i))
					if got := <-w.Changes(); len(got.Changed) != 1 {
						t.Errorf("change %+v", got)
					}
				}
				synctest.Wait()
				if len(notices) != 1 || !strings.Contains(notices[0], "every 2s") {
					t.Errorf("notices %q", notices)
				}
				if s != nil && !s.closed {
					t.Error("the watcher keeps what it holds of the system")
				}
			})
		})
	}
}

// Other errors of single folders do not give up the rest.
func TestFolderVanishesWhileAdding(t *testing.T) {
	dir := realTemp(t) + "/p"
	write(t, dir+"/a.star", "0")
	s := newScripted()
	s.failAt, s.fault = 2, &os.PathError{Op: "add", Path: dir, Err: syscall.ENOENT}
	r := receive(t, Options{Dirs: []string{dir}, Notify: s.open})
	replace(t, dir+"/a.star", "1")
	s.events <- fsnotify.Event{Name: dir + "/a.star", Op: fsnotify.Create}
	r.next()
}

func TestOtherErrorIsSaidOnce(t *testing.T) {
	dir := realTemp(t) + "/p"
	write(t, dir+"/a.star", "0")
	s := newScripted()
	notices := make(chan string, 10)
	r := receive(t, Options{Dirs: []string{dir}, Notify: s.open, Log: func(text string) { notices <- text }})
	for i := range 3 {
		replace(t, dir+"/a.star", fmt.Sprint("new", i))
		s.errors <- errors.New("short read")
		r.next()
	}
	if len(notices) != 1 {
		t.Errorf("%d notices", len(notices))
	}
}

// Bug report I-02: a big workspace costs nothing; only plugin folders, what
// they link to and the folders right above are watched.
func TestOnlyPluginFoldersAreWatched(t *testing.T) {
	ws := realTemp(t)
	for i := range 200 {
		write(t, fmt.Sprintf("%s/src/d%d/deep/f.go", ws, i), "")
	}
	dot := ws + "/.starling"
	write(t, dot+"/sessions/a/b.jsonl", "")
	write(t, dot+"/plugins/a.star", "")
	write(t, dot+"/plugins/dir/sub/lib.star", "")
	write(t, dot+"/plugins/dir/.git/objects/x", "")
	write(t, ws+"/shared/linked.star", "")
	if err := os.Symlink(ws+"/shared/linked.star", dot+"/plugins/linked.star"); err != nil {
		t.Fatal(err)
	}
	s := newScripted()
	receive(t, Options{Dirs: []string{dot + "/plugins", ws + "/home/.starling/plugins"}, Notify: s.open})
	want := []string{ws, dot, dot + "/plugins", dot + "/plugins/dir", dot + "/plugins/dir/sub", ws + "/shared"}
	slices.Sort(want)
	if got := s.folders(); !slices.Equal(got, want) {
		t.Errorf("watched %q", got)
	}
}

func TestTooManyFolders(t *testing.T) {
	dir := realTemp(t) + "/p"
	write(t, dir+"/a/x.star", "")
	for i := range 20 { // two links each, to the next: a million ways through
		here, next := fmt.Sprintf("%s/n%d", dir, i), fmt.Sprintf("%s/n%d", dir, i+1)
		write(t, here+"/x.star", "")
		for _, l := range []string{"/l", "/r"} {
			if err := os.Symlink(next, here+l); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, dir+"/n20/x.star", "")
	s := newScripted()
	var notices []string
	w, err := New(Options{Dirs: []string{dir}, Notify: s.open, Log: func(text string) { notices = append(notices, text) }})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if len(notices) != 1 || !strings.Contains(notices[0], "more than") {
		t.Errorf("notices %q", notices)
	}
}

// The times of a file tell nothing about a change just after the last look.
func TestYoungFileIsReadAgain(t *testing.T) {
	dir := realTemp(t) + "/p"
	path := dir + "/a.star"
	write(t, path, "0")
	stamp := time.Now()
	now := stamp
	keep := func(text string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	keep("0")
	w := &Watcher{opt: withDefaults(Options{Dirs: []string{dir}, Now: func() time.Time { return now }}), noticed: map[string]bool{}}
	w.current = w.look().files
	keep("1")
	now = stamp.Add(time.Second)
	l := w.look()
	if l.files[path].sum == w.current[path].sum {
		t.Error("a young file was not read again")
	}
	w.current = l.files
	keep("2")
	now = stamp.Add(time.Minute)
	if w.look().files[path].sum != w.current[path].sum {
		t.Error("an old file was read without need")
	}
}

func BenchmarkLook(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			hour := time.Now().Add(-time.Hour)
			for i := range n {
				path := fmt.Sprintf("%s/f%d.star", dir, i)
				if err := os.WriteFile(path, []byte(strings.Repeat("x = 1\n", 1000)), 0o644); err != nil {
					b.Fatal(err)
				}
				if err := os.Chtimes(path, hour, hour); err != nil {
					b.Fatal(err)
				}
			}
			w := &Watcher{opt: withDefaults(Options{Dirs: []string{dir}}), noticed: map[string]bool{}}
			w.current = w.look().files
			for b.Loop() {
				w.current = w.look().files
			}
		})
	}
}
