package watch

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"starling/trust"
)

const (
	maxFolders = 1000    // of plugins; more is a mistake such as a link to a whole tree
	maxLinks   = 16      // one after another
	maxDepth   = 32      // below a plugin folder
	maxHashed  = 4 << 20 // bytes of one file
	young      = 2 * time.Second
)

// file is the state of one file.
type file struct {
	key   key
	sum   Digest
	extra bool // only Options.Files names it
}

// key changes with nearly every change of content.
type key struct {
	dev, inode  uint64
	size, mtime int64
}

// look is what one walk through the folders finds.
type look struct {
	w      *Watcher
	files  map[string]file
	extras map[string]bool // all that Options.Files named
	scope  scope
	real   map[string]place // where the links of a folder's path lead
	walked int              // folders, each as often as links lead to it
	above  map[string]bool  // real folders of the walk's present line, against link cycles
}

// place is a path without links, or why there is none.
type place struct {
	path string
	err  error
}

// resolve follows the links of a folder's path, once in a look: the files of a folder
// have it in common.
func (l *look) resolve(dir string) (string, error) {
	p, known := l.real[dir]
	if !known {
		p.path, p.err = filepath.EvalSymlinks(dir)
		l.real[dir] = p
	}
	return p.path, p.err
}

// look walks through all folders and renews the watches on the way: each
// folder is watched before it is read, so that nothing falls in between.
func (w *Watcher) look() look {
	l := look{
		w: w, files: map[string]file{}, extras: map[string]bool{}, real: map[string]place{}, above: map[string]bool{},
		scope: scope{folders: map[string]bool{}, names: map[string]bool{}, trees: map[string]bool{}},
	}
	for _, dir := range w.opt.Dirs {
		l.anchor(dir, 0)
		l.walk(dir, 0)
	}
	for _, path := range w.opt.Files() {
		path = filepath.Clean(path)
		l.extras[path] = true
		if _, seen := l.files[path]; !seen && filepath.IsAbs(path) {
			l.anchor(path, 0)
			if info, err := os.Lstat(path); err == nil {
				l.file(path, true, isLink(info.Mode()))
			}
		}
	}
	w.unwatchOthers(l.scope.folders)
	return l
}

func (l *look) watch(folder string) {
	if !l.scope.folders[folder] {
		l.scope.folders[folder] = true
		l.w.watch(folder)
	}
}

// anchor watches for path itself to appear, vanish or be exchanged: the folder
// above it, or while that is missing the nearest one there is; and the same for
// what a link leads to, also one that leads nowhere yet.
func (l *look) anchor(path string, links int) {
	p, parent := filepath.Clean(path), ""
	for {
		var err error
		if parent, err = l.resolve(filepath.Dir(p)); err == nil {
			break
		}
		if p == filepath.Dir(p) {
			return
		}
		p = filepath.Dir(p)
	}
	l.watch(parent)
	l.scope.names[filepath.Join(parent, filepath.Base(p))] = true
	target, err := os.Readlink(p)
	if err != nil || links >= maxLinks {
		return
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(parent, target)
	}
	l.anchor(target, links+1)
}

func (l *look) walk(dir string, depth int) {
	real, err := l.resolve(dir)
	if err != nil || l.above[real] {
		return
	}
	if l.walked++; l.walked > maxFolders || depth > maxDepth {
		l.w.notice("many", fmt.Sprintf("plugin folder %s: more than %d folders or %d levels; the rest is not watched", dir, maxFolders, maxDepth))
		return
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return
	}
	l.above[real] = true
	defer delete(l.above, real)
	l.scope.trees[real] = true
	l.watch(real)
	entries, _ := os.ReadDir(dir) // what could be read counts
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case isFolder(path, e):
			l.scope.names[filepath.Join(real, e.Name())] = true
			l.walk(path, depth+1)
		case counts(e.Name()):
			l.file(path, false, isLink(e.Type()))
		}
	}
}

func isFolder(path string, e fs.DirEntry) bool {
	if !isLink(e.Type()) {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isLink(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 }

// counts tells whether a file of that name is part of a plugin.
func counts(name string) bool {
	return strings.HasSuffix(name, ".star") && !strings.HasPrefix(name, ".")
}

// file takes one file in, reading it only where its content may have changed.
func (l *look) file(path string, extra, link bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if link {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			l.watch(filepath.Dir(real))
			l.scope.names[real] = true
		}
	}
	have, seen := l.w.current[path]
	k := keyOf(info)
	// A change within the resolution of file times leaves no trace in them.
	if seen && have.key == k && l.w.opt.Now().Sub(info.ModTime()) > young {
		l.files[path] = file{k, have.sum, extra}
		return
	}
	sum, k, err := digest(path)
	switch {
	case err == nil:
		l.files[path] = file{k, sum, extra}
	case seen:
		have.key, have.extra = key{}, extra // read again at the next look
		l.files[path] = have
	}
}

func keyOf(info fs.FileInfo) key {
	k := key{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		k.dev, k.inode = uint64(st.Dev), uint64(st.Ino)
	}
	return k
}

// digest reads a file. It returns the key of what it opened, which may be newer
// than what the caller saw.
func digest(path string) (Digest, key, error) {
	f, err := trust.OpenRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return Digest{}, key{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Digest{}, key{}, err
	}
	h, k := sha256.New(), keyOf(info)
	n, err := io.Copy(h, io.LimitReader(f, maxHashed))
	if err != nil {
		return Digest{}, key{}, err
	}
	if n == maxHashed {
		h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(k.size)), uint64(k.mtime)))
	}
	return Digest(h.Sum(nil)), k, nil
}

// scope tells which events may mean a change. The folder above a plugin folder
// is often a busy one, and only its entry for the plugin folder is of interest.
// Paths are real ones, as the events name them.
type scope struct {
	folders map[string]bool // watched
	names   map[string]bool // of entries that matter by name
	trees   map[string]bool // folders in which plugins lie
}

func (s scope) matters(path string) bool {
	if s.names[path] || s.trees[path] || s.folders[path] {
		return true
	}
	name := filepath.Base(path)
	if !s.trees[filepath.Dir(path)] || strings.HasPrefix(name, ".") {
		return false
	}
	if counts(name) {
		return true
	}
	info, err := os.Lstat(path)
	return err == nil && (info.IsDir() || isLink(info.Mode()))
}
