package permit

import (
	"os"
	"path/filepath"
	"strings"

	"starling/trust"
)

// places are the folders of a decision.
type places struct {
	at    trust.Folders
	extra []string
}

// inside tells whether an absolute path lies in the workspace or in a folder that
// counts as it.
func (p places) inside(abs string) bool {
	if trust.Below(abs, p.at.Workspace) {
		return true
	}
	for _, dir := range p.extra {
		if trust.Below(abs, dir) {
			return true
		}
	}
	return false
}

// abs is a path of a call: workspace-relative or absolute, nothing else.
func (p places) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.at.Workspace, path)
}

// absAll is abs of every path.
func (p places) absAll(paths []string) []string {
	all := make([]string, len(paths))
	for i, path := range paths {
		all[i] = p.abs(path)
	}
	return all
}

// maxLinks is how many links one path may go through, as in the kernel.
const maxLinks = 40

// followLinks returns where an absolute path leads, also when the file, or what a
// link points to, is not there yet. It is false when that cannot be told.
func followLinks(path string) (string, bool) {
	parts := strings.Split(path, "/")
	at := "/"
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
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case err != nil && !os.IsNotExist(err):
			return "", false
		case err != nil || info.Mode()&os.ModeSymlink == 0:
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", false
		}
		if links++; links > maxLinks {
			return "", false
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		parts = append(strings.Split(target, "/"), parts...)
	}
	return at, true
}
