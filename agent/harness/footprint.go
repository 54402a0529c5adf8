package harness

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// footprint is what the file system says about everything that decides which
// plugins run, without reading any of it. The zero footprint equals no other.
type footprint struct {
	began time.Time // of the reading it belongs to
	marks map[string]mark
}

// mark changes with every change of a file or of the entries of a folder. Its
// change time, unlike the time of modification, cannot be set.
type mark struct {
	device, inode uint64
	size          int64
	changed       time.Time
}

// clockStep is the resolution of file times: what changed this long before a
// reading began may have changed after it.
const clockStep = 50 * time.Millisecond

// footprint of the folders, of all that lies in them, and of the other files of c.
// It stays zero where what could not be read hides which files count.
func (s *source) footprint(began time.Time, c composition) footprint {
	if len(c.faults) > 0 {
		return footprint{}
	}
	f := footprint{began: began, marks: map[string]mark{}}
	for _, dir := range s.options.pluginDirs() {
		f.folder(dir)
	}
	for _, path := range s.options.compositionFiles() {
		f.add(path)
	}
	for _, pl := range c.plugins {
		if pl.err != nil {
			return footprint{}
		}
		f.add(pl.file.Path)
		for name := range pl.bundle {
			if pl.file.Dir != "" {
				f.add(filepath.Join(pl.file.Dir, filepath.FromSlash(name)))
			}
		}
	}
	return f
}

// folder adds a plugin folder and its entries.
func (f footprint) folder(dir string) {
	f.add(dir)
	entries, _ := os.ReadDir(dir) // one that is not there has a mark too
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f.add(path)
		if !e.Type().IsRegular() {
			f.add(filepath.Join(path, "main.star"))
		}
	}
}

func (f footprint) add(path string) {
	if _, done := f.marks[path]; !done {
		f.marks[path] = markOf(path)
	}
}

// markOf follows links; what is not there has the zero mark.
func markOf(path string) mark {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return mark{}
	}
	return mark{
		device: uint64(st.Dev), inode: st.Ino, size: st.Size,
		changed: time.Unix(st.Ctim.Unix()),
	}
}

// same tells whether nothing changed on the disk since the latest reading. It
// may be wrong about a change only by taking one for granted.
func (s *source) same() bool {
	if s.left.marks == nil {
		return false
	}
	edge := s.left.began.Add(-clockStep)
	for path, was := range s.left.marks {
		if was.changed.After(edge) || markOf(path) != was {
			return false
		}
	}
	return true
}
