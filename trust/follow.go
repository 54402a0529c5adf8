package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Follow returns where an absolute path leads when all its links are followed,
// those of its last part and those that lead to nothing too. Parts that are not
// there are kept, for a file need not exist to be written; ".." is the parent of
// where the parts before it lead. With an error, which says what could not be
// looked up, it returns the path as far as it was followed and the rest behind.
func Follow(abs string) (string, error) {
	parts := split(abs)
	at := string(filepath.Separator)
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		here := filepath.Join(at, part)
		target, err := linkAt(here)
		if err == nil && target != "" {
			if links++; links > maxLinks {
				err = errors.New("too many links")
			}
		}
		if err != nil {
			return filepath.Join(append([]string{here}, parts...)...), fmt.Errorf("path %q: %w", abs, err)
		}
		if target == "" {
			at = here
			continue
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		parts = append(split(target), parts...)
	}
	return at, nil
}

// linkAt returns where the link at a path points, "" when it is none or nothing
// is there.
func linkAt(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	return os.Readlink(path)
}

// onward is a folder and the parts behind it. What ".." means behind a part that
// may be a link is left to who follows it.
func onward(dir string, parts ...string) string {
	path := strings.Join(append([]string{dir}, parts...), "/")
	if slices.Contains(split(path), "..") {
		return path
	}
	return filepath.Clean(path)
}
