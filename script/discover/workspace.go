package discover

import (
	"os"
	"path/filepath"
)

// FindWorkspace returns the nearest folder at or above cwd that holds .starling
// or .git, but never the home folder of the person (where .starling is the home
// of starling); cwd when there is none.
func FindWorkspace(cwd, userHome string) string {
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		if (exists(filepath.Join(dir, ".starling")) || exists(filepath.Join(dir, ".git"))) && !samePath(dir, userHome) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return filepath.Clean(cwd)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
