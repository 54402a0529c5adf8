package trust_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"starling/trust"
)

// Whatever stands in the place of a file is refused at once, to read and to write; a
// link to a file is one.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe, open, socket := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe"), filepath.Join(dir, "open"), filepath.Join(dir, "s")
	must(t, os.WriteFile(file, []byte("1234"), 0o600))
	must(t, os.Symlink(file, link))
	must(t, syscall.Mkfifo(pipe, 0o600))
	must(t, syscall.Mkfifo(open, 0o600))
	both, err := os.OpenFile(open, os.O_RDWR, 0) // somebody reads it, and somebody writes to it
	must(t, err)
	defer both.Close()
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	for _, path := range []string{file, link} {
		if data, err := trust.ReadRegular(path, 4); err != nil || string(data) != "1234" {
			t.Errorf("%s: %q %v", path, data, err)
		}
		if _, err := trust.ReadRegular(path, 3); err == nil || err.Error() != path+": more than 3 bytes" {
			t.Errorf("%s is too large: %v", path, err)
		}
	}
	for _, path := range []string{pipe, open, socket, dir, os.DevNull, "/dev/zero"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREATE | os.O_APPEND} {
			f, err := trust.OpenRegular(path, flag, 0o600)
			if err == nil {
				t.Errorf("%s was opened with %#x", path, flag)
				f.Close()
				continue
			}
			if want := path + ": not a regular file"; err.Error() != want && !(path == dir && errors.Is(err, syscall.EISDIR)) && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s with %#x: %v", path, flag, err)
			}
		}
		if _, err := trust.ReadRegular(path, 1<<20); err == nil || !strings.HasSuffix(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := trust.ReadRegular(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	f, err := trust.OpenRegular(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	must(t, err)
	must(t, f.Close())
}

// A pipe in the place of a lock locks: nobody waits for its other end.
func TestLockOnAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	must(t, syscall.Mkfifo(path, 0o600))
	lock, err := trust.LockFile(path)
	must(t, err)
	must(t, lock.Close())
}
