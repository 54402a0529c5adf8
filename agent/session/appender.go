package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"starling/trust"
)

// File is what lines are appended to.
type File interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// UnsavedError says that entries wait in memory because their file cannot be
// written. It stands until they are on disk.
type UnsavedError struct {
	Path    string
	Entries int
	Err     error // why
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("session file %s: %d entries are not saved: %v", e.Path, e.Entries, e.Err)
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// appender adds whole lines to a file: what was added stays in memory until it
// is on disk, so nothing is lost or glued to a half line when a write fails. Its
// owner serialises calls.
type appender struct {
	path string
	// open opens the file for appending; it is called again until it succeeds.
	open func() (File, error)
	file File
	size int64 // of what is safely on disk: whole lines
	// pending is what comes at size; entries counts its lines.
	pending []byte
	entries int
	// excess says that the file may be longer than size, by half a line of ours.
	excess bool
	// fragment is the length of a half line behind size that somebody else left;
	// it is set aside before the first write.
	fragment int64
	err      error
	// written are the bytes of pending that early wrote, the first covered of which the
	// sync that goes on makes last; syncing is how that ends, nil while none goes on.
	syncing          chan error
	written, covered int
}

// add queues a line and returns where in the file it will stand.
func (a *appender) add(line []byte) int64 {
	offset := a.size + int64(len(a.pending))
	a.pending = append(a.pending, line...)
	a.entries++
	return offset
}

// flush writes what is queued: one write, one sync.
func (a *appender) flush() error {
	a.settle()
	if a.entries == 0 && a.err == nil {
		return nil
	}
	a.err = a.write()
	return a.unsaved()
}

// early writes what is queued and leaves its sync to a goroutine: a process that dies
// loses nothing by it, only a machine does. While one sync goes on more may be
// written; one further sync is for all of it.
func (a *appender) early() error {
	if a.syncing != nil {
		select {
		case err := <-a.syncing:
			a.synced(err)
		default:
		}
	}
	if a.err != nil || a.excess && a.written == 0 || a.fragment > 0 || a.entries == 0 {
		return a.flush()
	}
	if err := a.ready(); err != nil {
		a.err = err
		return a.unsaved()
	}
	rest := a.pending[a.written:]
	n, err := a.file.Write(rest)
	a.excess = true
	if err != nil || n < len(rest) {
		a.settle()
		a.excess = true
		return a.flush() // it makes the file whole first
	}
	a.written += n
	if a.syncing == nil {
		a.sync()
	}
	return nil
}

// sync begins a sync of all that is written.
func (a *appender) sync() {
	a.covered, a.syncing = a.written, make(chan error, 1)
	go func(file File, done chan<- error) { done <- file.Sync() }(a.file, a.syncing)
}

// synced takes the end of a sync. When it failed all that is not known to be on disk
// is written anew.
func (a *appender) synced(err error) {
	a.syncing = nil
	if err != nil {
		a.err, a.written, a.covered = err, 0, 0
		return
	}
	a.wrote(a.covered)
	a.written, a.covered = a.written-a.covered, 0
	a.excess = a.written > 0
}

// settle waits until all that was written early is on disk, or a sync failed.
func (a *appender) settle() {
	for a.syncing != nil || a.written > 0 {
		if a.syncing == nil {
			a.sync()
		}
		a.synced(<-a.syncing)
	}
}

func (a *appender) unsaved() error {
	if a.err == nil {
		return nil
	}
	return &UnsavedError{Path: a.path, Entries: a.entries, Err: a.err}
}

func (a *appender) write() error {
	if err := a.ready(); err != nil {
		return err
	}
	if a.entries == 0 {
		return nil
	}
	n, err := a.file.Write(a.pending)
	if err == nil && n < len(a.pending) {
		err = io.ErrShortWrite
	}
	a.excess = true
	if keep := bytes.LastIndexByte(a.pending[:n], '\n') + 1; keep > 0 {
		// A failed sync may have lost pages that later syncs call clean, so all
		// of it is written anew then.
		if err := a.file.Sync(); err != nil {
			return err
		}
		a.wrote(keep)
		a.excess = keep != n
	}
	if err != nil && a.excess { // leave no half line behind, should we die now
		a.excess = a.file.Truncate(a.size) != nil
	}
	return err
}

func (a *appender) wrote(n int) {
	a.size += int64(n)
	if n == len(a.pending) {
		a.entries = 0
		if a.pending = a.pending[:0]; cap(a.pending) > 1<<20 {
			a.pending = nil
		}
		return
	}
	for _, line := range bytes.SplitAfter(a.pending[:n], []byte("\n")) {
		if len(line) > 1 { // not the break a whole last line lacked
			a.entries--
		}
	}
	a.pending = append([]byte(nil), a.pending[n:]...)
}

// ready opens the file and makes it end with a whole line.
func (a *appender) ready() error {
	if a.file == nil {
		f, err := a.open()
		if err != nil {
			return err
		}
		a.file = f
	}
	if a.fragment > 0 {
		if err := setAside(a.path, a.size, a.fragment); err != nil {
			return err
		}
		a.fragment, a.excess = 0, true
	}
	if a.excess && a.written == 0 {
		if err := a.file.Truncate(a.size); err != nil {
			return err
		}
		a.excess = false
	}
	return nil
}

// setAside copies a half line into a file of its own, PATH.torn-N.
func setAside(path string, offset, length int64) (err error) {
	in, err := trust.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	var out *os.File
	for n := 1; out == nil; n++ {
		out, err = os.OpenFile(fmt.Sprintf("%s.torn-%d", path, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	_, err = io.Copy(out, io.NewSectionReader(in, offset, length))
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		err = errors.Join(err, os.Remove(out.Name()))
	}
	return err
}

// openAppend opens a file for appending; made says that it must not be there
// yet.
func openAppend(path string, made bool) (*os.File, error) {
	flags := os.O_RDWR | os.O_APPEND
	if made {
		flags |= os.O_CREATE | os.O_EXCL
	}
	return trust.OpenRegular(path, flags, 0o600)
}

// syncDir makes a new name in a folder last.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
