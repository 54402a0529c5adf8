package permit

import (
	"path/filepath"

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
