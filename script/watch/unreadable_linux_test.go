package watch

import (
	"os"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// A file that cannot be read for a while is neither gone nor changed. Nobody,
// not even root, reads the start of a process's memory.
func TestUnreadable(t *testing.T) {
	dir := realTemp(t) + "/p"
	write(t, dir+"/a.star", "0")
	s := newScripted()
	r := receive(t, Options{Dirs: []string{dir}, Notify: s.open})
	if err := os.Symlink("/proc/self/mem", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"/link", dir+"/a.star"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/z.star", "z")
	event := fsnotify.Event{Name: dir + "/z.star", Op: fsnotify.Create}
	s.events <- event
	if c := r.next(); len(c.Added) != 1 || len(c.Changed)+len(c.Removed) != 0 {
		t.Errorf("change %+v", c)
	}
	replace(t, dir+"/a.star", "1")
	s.events <- event
	if c := r.next(); len(c.Changed) != 1 {
		t.Errorf("change %+v once it can be read", c)
	}
}
