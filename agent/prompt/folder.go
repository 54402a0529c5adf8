package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"starling/bus/view"
	"starling/trust"
)

// Files reads below one folder and nowhere else; *trust.Jail does. Paths are
// relative to the folder.
type Files interface {
	// Open opens a regular file; pipes and devices are refused unopened.
	Open(path string) (*os.File, error)
	List(path string) ([]fs.DirEntry, error)
	Stat(path string) (fs.FileInfo, error)
	// Resolve follows the links of a path.
	Resolve(path string) (string, error)
}

// Folder is a place texts are read from.
type Folder struct {
	Dir   string // absolute, as people know it
	Files Files  // nil: there is no such folder
}

// path is what people call a file of the folder.
func (f Folder) path(rel string) string { return filepath.Join(f.Dir, rel) }

func (f Folder) isDir(rel string) bool {
	dir, _ := f.look(rel)
	return dir
}

// has tells whether something has that name, be it readable or not.
func (f Folder) has(rel string) bool {
	_, there := f.look(rel)
	return there
}

// look is isDir and has at once.
func (f Folder) look(rel string) (dir, there bool) {
	if f.Files == nil {
		return false, false
	}
	info, err := f.Files.Stat(rel)
	return err == nil && info.IsDir(), !missing(err)
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// content is the text of a file, at most max bytes of it.
type content struct {
	text string
	size int64 // of the whole file
	cut  bool
	info fs.FileInfo
}

// read returns the start of a text file. What a person does not see in it (escape
// sequences, direction marks, invisible tags) the model does not get either.
func (f Folder) read(rel string, max int) (content, error) {
	file, err := f.Files.Open(rel)
	if err != nil {
		return content{}, f.say(rel, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return content{}, f.say(rel, err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, int64(max)+1))
	if err != nil {
		return content{}, f.say(rel, err)
	}
	c := content{size: info.Size(), cut: len(raw) > max, info: info}
	text := string(raw)
	if c.cut {
		text = text[:max]
		// A line cut in two could say the opposite.
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i+1]
		}
	}
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.IndexByte(text, 0) >= 0 {
		return content{}, fmt.Errorf("%s is no text file: it is left out", f.path(rel))
	}
	c.text = view.Clean(text)
	return c, nil
}

func (f Folder) say(rel string, err error) error {
	var out *trust.OutsideError
	if errors.As(err, &out) {
		return fmt.Errorf("%s is a link that leads out of %s (to %s): it is left out", f.path(rel), f.Dir, out.Target)
	}
	return fmt.Errorf("%s is left out: %w", f.path(rel), err)
}
