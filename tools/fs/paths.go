package fs

import (
	"context"
	"slices"
	"sync"

	"starling/trust"
)

// Paths lists the files of the workspace and the further folders that git does not
// ignore, sorted: relative to the workspace, absolute outside. Of more than most,
// some most of them are listed.
func (f *Files) Paths(ctx context.Context, most int) ([]string, error) {
	paths := []string{}
	var mu sync.Mutex
	for i, jail := range append([]*trust.Jail{f.jail}, f.opt.Folders...) {
		at := place{jail: jail, rel: ".", abs: jail.Dir(), name: jail.Dir()}
		if i == 0 {
			at.name = "."
		}
		_, err := f.walk(ctx, at, func(e *entry) bool {
			mu.Lock()
			defer mu.Unlock()
			if len(paths) < most {
				paths = append(paths, below(at.name, e.path()))
			}
			return len(paths) < most
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(paths)
	return paths, nil
}
