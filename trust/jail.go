package trust

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrOutside is wrapped by every refusal of a path that leads out of a jail.
var ErrOutside = errors.New("outside the workspace")

// OutsideError says which path led where.
type OutsideError struct {
	Path   string // as given
	Target string // absolute, as far as it was followed; see Follow for the rest
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("path %q leads outside the workspace (to %s): name a path inside it", e.Path, e.Target)
}

// Unwrap makes errors.Is(err, ErrOutside) hold.
func (e *OutsideError) Unwrap() error { return ErrOutside }

// Jail opens files below one directory and nowhere else. Every method takes a
// path relative to that directory, or an absolute one inside it, and follows
// links that stay inside. The check is bound to what is opened, not to the
// text of the path, so a directory swapped for a link between check and use
// leads nowhere. Methods are safe for concurrent use.
type Jail struct {
	root *os.Root
	dir  string // links resolved
	as   string // as it was given, absolute
	// straight refuses links, see Straight.
	straight bool
	// swept are the folders that were looked through for what killed writes left.
	swept *sync.Map
}

// NewJail opens the jail of a directory, which must exist.
func NewJail(workspaceDir string) (*Jail, error) {
	as, err := filepath.Abs(workspaceDir)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", workspaceDir, err)
	}
	dir, err := filepath.EvalSymlinks(as)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", workspaceDir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace %q: %w", workspaceDir, err)
	}
	return &Jail{root: root, dir: dir, as: as, swept: &sync.Map{}}, nil
}

// Straight is the same jail for paths that Resolve or ResolveName returned: a
// link among their folders is refused, also one that took the place of a folder
// since they were judged. Only the jail it comes from is closed.
func (j *Jail) Straight() *Jail {
	s := *j
	s.straight = true
	return &s
}

// Dir is the directory of the jail, absolute and with links resolved.
func (j *Jail) Dir() string { return j.dir }

// Close releases the directory; every later call is an error.
func (j *Jail) Close() error { return j.root.Close() }

// Resolve returns the workspace-relative path, with links followed and slashes
// between its parts, that path stands for ("." for the workspace itself). What
// it names need not exist. A path that leads out is an *OutsideError.
func (j *Jail) Resolve(path string) (string, error) {
	rel, err := j.resolve(path, true)
	return filepath.ToSlash(rel), err
}

// ResolveName is Resolve without following a link in the last part: what a
// removal is about.
func (j *Jail) ResolveName(path string) (string, error) {
	rel, err := j.resolve(path, false)
	return filepath.ToSlash(rel), err
}

// Open opens a regular file for reading. Directories, pipes and devices are
// refused without touching their content.
func (j *Jail) Open(path string) (*os.File, error) {
	rel, err := j.resolve(path, true)
	if err != nil {
		return nil, err
	}
	return j.open(path, rel, os.O_RDONLY, 0)
}

// ReadFile returns the content of a regular file. A file of more than max bytes
// is an error that names its size; max below 1 means no limit.
func (j *Jail) ReadFile(path string, max int64) ([]byte, error) {
	f, err := j.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, j.say(path, err)
	}
	if max > 0 && info.Size() > max {
		return nil, fmt.Errorf("%s has %d bytes, more than the limit of %d", path, info.Size(), max)
	}
	var from io.Reader = f
	if max > 0 {
		from = io.LimitReader(f, max+1) // the file may grow while it is read
	}
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), 1<<20)) + bytes.MinRead)
	if _, err := b.ReadFrom(from); err != nil {
		return nil, j.say(path, err)
	}
	if max > 0 && int64(b.Len()) > max {
		return nil, fmt.Errorf("%s has more than the limit of %d bytes", path, max)
	}
	return b.Bytes(), nil
}

// WriteFile replaces or creates a file in one step: readers see the old content
// or the new one, and after an error the old one is whole. Parent directories
// are made. An existing file keeps its mode (a file without any write bit is
// refused) and a link stays a link: what it points to inside is written. A new
// file gets perm under the process's umask. Other hard links keep the old
// content.
func (j *Jail) WriteFile(path string, data []byte, perm fs.FileMode) error {
	rel, err := j.resolve(path, true)
	if err != nil {
		return err
	}
	dir, base, err := j.parent(path, rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	old, err := dir.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return j.say(path, err)
	case !old.Mode().IsRegular():
		return fmt.Errorf("%s is %s, not a file to write to", path, kindOf(old.Mode()))
	case old.Mode().Perm()&0o222 == 0:
		return fmt.Errorf("%s is read-only (mode %04o): %w", path, old.Mode().Perm(), fs.ErrPermission)
	}
	j.sweep(dir)
	return j.say(path, replace(dir, base, data, old, perm))
}

// replace writes data beside base and renames it there. All names are below one
// opened directory, so it cannot be swapped in between.
func replace(dir *os.Root, base string, data []byte, old fs.FileInfo, perm fs.FileMode) (err error) {
	temp, err := tempName()
	if err != nil {
		return err
	}
	if old != nil {
		perm = 0o600 // nobody else reads it before it has the mode of the old one
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(dir.Remove(temp)))
		}
	}()
	if _, err = f.Write(data); err == nil && old != nil {
		err = f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
	}
	if err == nil {
		err = f.Sync() // a rename may reach the disk before the bytes do
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return dir.Rename(temp, base)
}

// Append adds data to a file in one write and returns when it is on disk. The
// file and its parent directories are made when missing.
func (j *Jail) Append(path string, data []byte, perm fs.FileMode) error {
	rel, err := j.resolve(path, true)
	if err != nil {
		return err
	}
	dir, base, err := j.parent(path, rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := j.openIn(dir, path, base, os.O_WRONLY|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	return j.say(path, err)
}

// Remove removes a file or an empty directory; of a link, the link.
func (j *Jail) Remove(path string) error {
	rel, err := j.resolve(path, false)
	if err != nil {
		return err
	}
	if rel == "." {
		return fmt.Errorf("path %q is the workspace itself: it is not removed", path)
	}
	dir, base := filepath.Split(rel)
	folder, err := j.folder(filepath.Clean(dir), false)
	if err != nil {
		return j.say(path, err)
	}
	defer folder.Close()
	return j.say(path, folder.Remove(base))
}

// Stat describes what path leads to.
func (j *Jail) Stat(path string) (fs.FileInfo, error) {
	rel, err := j.resolve(path, true)
	if err != nil {
		return nil, err
	}
	info, err := j.root.Stat(rel)
	return info, j.say(path, err)
}

// Exists tells whether path leads to something. A path that leads out is an
// error, not an answer.
func (j *Jail) Exists(path string) (bool, error) {
	_, err := j.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	return err == nil, err
}

// List returns the entries of a directory, sorted by name.
func (j *Jail) List(path string) ([]fs.DirEntry, error) {
	rel, err := j.resolve(path, true)
	if err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(j.root.FS(), filepath.ToSlash(rel))
	return list, j.say(path, err)
}

// open opens a resolved path and refuses everything but regular files. Without
// O_NONBLOCK the open of a pipe would wait for its other end.
func (j *Jail) open(path, rel string, flag int, perm fs.FileMode) (*os.File, error) {
	if !j.straight {
		return j.openIn(j.root, path, rel, flag, perm)
	}
	dir, base := filepath.Split(rel)
	folder, err := j.folder(filepath.Clean(dir), false)
	if err != nil {
		return nil, j.say(path, err)
	}
	defer folder.Close()
	return j.openIn(folder, path, base, flag, perm)
}

// Folder opens a directory, for its entries and for opens relative to it.
func (j *Jail) Folder(path string) (*os.File, error) {
	rel, err := j.resolve(path, true)
	if err != nil {
		return nil, err
	}
	dir, err := j.folder(rel, false)
	if err != nil {
		return nil, j.say(path, err)
	}
	defer dir.Close()
	f, err := dir.Open(".")
	return f, j.say(path, err)
}

// openIn is open below a folder of the jail.
func (j *Jail) openIn(dir *os.Root, path, rel string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := dir.OpenFile(rel, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, j.say(path, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is %s, not a file", path, kindOf(info.Mode()))
	case j.straight:
		if named, lstat := dir.Lstat(rel); lstat != nil || !os.SameFile(named, info) {
			err = errChanged(path)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// parent opens the directory of a resolved path, making it when missing.
func (j *Jail) parent(path, rel string) (*os.Root, string, error) {
	if rel == "." {
		return nil, "", fmt.Errorf("path %q is the workspace itself, not a file to write to", path)
	}
	dir, base := filepath.Split(rel)
	dir = filepath.Clean(dir)
	if !j.straight {
		if err := j.mkdirs(path, dir); err != nil {
			return nil, "", err
		}
	}
	root, err := j.folder(dir, true)
	return root, base, j.say(path, err)
}

// folder opens a folder of the jail. Straight, it goes there part by part, making
// those that are missing, and no part may be a link: the folder that was opened
// must be the one that has the name.
func (j *Jail) folder(dir string, missing bool) (*os.Root, error) {
	if !j.straight {
		return j.root.OpenRoot(dir)
	}
	at, err := j.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for _, part := range split(dir) {
		if part == "." {
			continue
		}
		next, err := step(at, part, missing)
		_ = at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func step(at *os.Root, part string, missing bool) (*os.Root, error) {
	if missing {
		if err := at.Mkdir(part, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	next, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	named, lstat := at.Lstat(part)
	if err != nil || lstat != nil || !os.SameFile(opened, named) {
		_ = next.Close()
		return nil, errChanged(part)
	}
	return next, nil
}

func errChanged(path string) error {
	return fmt.Errorf("%s was changed into a link while it was used", path)
}

func (j *Jail) mkdirs(path, dir string) error {
	if dir == "." {
		return nil
	}
	err := j.root.MkdirAll(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		err = syscall.ENOTDIR // a part of it is a file
	}
	return j.say(path, err)
}

// say puts an error of the operating system into words about the given path.
func (j *Jail) say(path string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	if err.Error() == "path escapes from parent" { // os keeps this error to itself
		return fmt.Errorf("path %q leads %w: something in it changed while it was used", path, ErrOutside)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// staleTemp is how old a temporary file is before nobody can be writing it any more.
const staleTemp = time.Hour

// sweep removes what writes that were killed left in a folder, once for each folder of
// a jail. It is no fault when it cannot: the names are ours alone, and the files harm
// nobody.
func (j *Jail) sweep(dir *os.Root) {
	info, err := dir.Stat(".")
	if err != nil {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	key := [2]uint64{uint64(st.Dev), uint64(st.Ino)}
	if _, done := j.swept.LoadOrStore(key, true); done {
		return
	}
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // a partial list is the best there is
	for _, name := range names {
		if !isTemp(name) {
			continue
		}
		if left, err := dir.Lstat(name); err == nil && left.Mode().IsRegular() && time.Since(left.ModTime()) > staleTemp {
			_ = dir.Remove(name) // somebody else may have been faster
		}
	}
}

// isTemp tells names of tempName from all others.
func isTemp(name string) bool {
	middle, ok := strings.CutPrefix(name, ".starling-")
	middle, ok2 := strings.CutSuffix(middle, ".tmp")
	raw, err := hex.DecodeString(middle)
	return ok && ok2 && err == nil && len(raw) == 8 && middle == strings.ToLower(middle)
}

// tempName is short, so that it fits where the longest file name does.
func tempName() (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("temporary name: %w", err)
	}
	return ".starling-" + hex.EncodeToString(b[:]) + ".tmp", nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
