package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links one path may go through, as in the kernel.
const maxLinks = 40

// resolve follows path part by part and returns where it leads, relative to the
// root. It finds the name to use and the words for a refusal; that nothing
// leaves the root is held by the rooted open that follows.
func (j *Jail) resolve(path string, followLast bool) (string, error) {
	rest, err := j.relative(path)
	if err != nil {
		return "", err
	}
	parts := split(rest)
	var at []string // no link among them
	for links := 0; len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return "", j.outside(path, append([]string{".."}, parts...))
			}
			at = at[:len(at)-1]
			continue
		}
		here := filepath.Join(filepath.Join(at...), part)
		at = append(at, part)
		if len(parts) == 0 && !followLast {
			break
		}
		target, err := j.link(path, here)
		if err != nil {
			return "", err
		}
		if target == "" {
			continue
		}
		if j.straight {
			return "", errChanged(path)
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("path %q: too many links", path)
		}
		at = at[:len(at)-1]
		if filepath.IsAbs(target) {
			inside, ok := j.inside(target)
			if !ok {
				return "", &OutsideError{Path: path, Target: onward(target, parts...)}
			}
			at, target = nil, inside
		}
		parts = append(split(target), parts...)
	}
	if len(at) == 0 {
		return ".", nil
	}
	return filepath.Join(at...), nil
}

// link returns where the link at here points, "" when it is none.
func (j *Jail) link(path, here string) (string, error) {
	info, err := j.root.Lstat(here)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", j.say(path, err)
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	target, err := j.root.Readlink(here)
	if err != nil {
		return "", j.say(path, err)
	}
	return target, nil
}

// relative refuses what is no path and makes absolute ones relative.
func (j *Jail) relative(path string) (string, error) {
	switch {
	case path == "":
		return "", errors.New("path is empty: name a file inside the workspace")
	case strings.IndexByte(path, 0) >= 0:
		return "", fmt.Errorf("path %q holds a zero byte", path)
	case path == "~", strings.HasPrefix(path, "~/"):
		return "", &OutsideError{Path: path, Target: "the home directory"}
	case !filepath.IsAbs(path):
		return path, nil
	}
	rest, ok := j.inside(path)
	if !ok {
		return "", &OutsideError{Path: path, Target: onward(path)}
	}
	return rest, nil
}

// inside takes the directory of the jail off an absolute path. It does not clean
// the rest: with links, a/../b need not be b.
func (j *Jail) inside(path string) (string, bool) {
	for _, dir := range []string{j.dir, j.as} {
		if rest, ok := below(path, dir); ok {
			return rest, true
		}
	}
	// The directory may be reached by another name, through links above it.
	for head, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(head); err == nil {
			if under, ok := below(real, j.dir); ok {
				return under + rest, true
			}
			return "", false
		}
		// filepath.Dir would drop a link together with the ".." behind it.
		cut := strings.LastIndexByte(head, filepath.Separator)
		if cut <= 0 {
			return "", false
		}
		head, rest = head[:cut], head[cut:]+rest
	}
}

func below(path, dir string) (string, bool) {
	if path == dir {
		return ".", true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.CutPrefix(path, dir)
}

func (j *Jail) outside(path string, rest []string) error {
	dir := j.dir // no link, so ".." is the folder above it
	for len(rest) > 0 && rest[0] == ".." {
		dir, rest = filepath.Dir(dir), rest[1:]
	}
	return &OutsideError{Path: path, Target: onward(dir, rest...)}
}

func split(path string) []string {
	return strings.Split(filepath.ToSlash(path), "/")
}

// Resolved is an absolute path with its links resolved, as far as it exists; "" is none.
func Resolved(path string) string {
	if path == "" {
		return ""
	}
	rest := ""
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
