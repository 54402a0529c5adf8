package snapshot

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeBelow writes the files of a snapshot below a folder. Nothing that stands
// there is overwritten.
func (s *Store) writeBelow(ctx context.Context, snap *Snapshot, to string, report *Report) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	content := map[string]string{} // digests of the files, by path
	for _, f := range snap.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		content[string(f.Path)] = f.Digest
		if f.Kind != Gone {
			s.writeOne(root, nameBelow(string(snap.Workspace), string(f.Path)), "file", f, report)
		}
	}
	for _, r := range snap.Repos {
		for _, e := range r.Index {
			path := filepath.Join(string(r.Dir), string(e.Path))
			if e.Digest == "" || content[path] == e.Digest {
				continue
			}
			mode := Mode(0o644)
			if e.Mode == "100755" {
				mode = 0o755
			}
			name := nameBelow(string(snap.Workspace), path) + ".staged" + strings.Repeat("~", e.Stage)
			s.writeOne(root, name, "staged", File{Path: Name(path), Kind: Regular, Mode: mode, Digest: e.Digest}, report)
		}
		if len(r.Stash)+len(r.Refs) > 0 {
			report.Notes = append(report.Notes, "stash entries and branches are restored only without --to")
		}
	}
	return nil
}

// nameBelow is the path a file gets below a folder: its path in the workspace, else
// the whole path.
func nameBelow(workspace, path string) string {
	if workspace != "" && below(path, workspace) && path != workspace {
		return relative(workspace, path)
	}
	return strings.TrimPrefix(path, "/")
}

func (s *Store) writeOne(root *os.Root, name, what string, f File, report *Report) {
	err := root.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil && f.Kind == Link {
		err = root.Symlink(string(f.Target), name)
	} else if err == nil {
		err = s.copyTo(root, name, f)
	}
	if err != nil {
		report.failed(what, f.Path, err)
		return
	}
	report.add(what, f.Path, Restored, "as "+filepath.Join(root.Name(), name))
}

func (s *Store) copyTo(root *os.Root, name string, f File) (err error) {
	in, err := s.openBlob(f.Digest)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Chmod(os.FileMode(f.Mode))
}

// check reads a content to its end.
func (s *Store) check(digest string) error {
	in, err := s.openBlob(digest)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(io.Discard, in)
	return err
}
