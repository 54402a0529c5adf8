package fs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"starling/trust"
)

// place is where a path leads.
type place struct {
	jail    *trust.Jail // the one it lies in; nil outside of all
	rel     string      // inside the jail, links followed
	abs     string      // links followed
	name    string      // for guards and results: relative to the workspace, absolute outside
	allowed bool        // a person or a rule permitted exactly this path
}

type permitKey struct{}

// Permit lets the tools called with the context work on these paths although
// they lie outside the workspace or on the safety floor: paths as the tools
// report them, relative to the workspace or absolute, with their links followed.
// A permitted file is that file and a permitted folder all below it; no link
// leads on from there.
func Permit(ctx context.Context, paths ...string) context.Context {
	return context.WithValue(ctx, permitKey{}, append(permits(ctx), paths...))
}

func permits(ctx context.Context) []string {
	list, _ := ctx.Value(permitKey{}).([]string)
	return slices.Clip(list)
}

// locate follows a path through the workspace, the further folders and what is
// outside of both.
func (f *Files) locate(path string) (place, error) {
	if f.opt.Home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		path = f.opt.Home + path[1:]
	}
	const hops = 40 // from one folder to another, through links
	at := path
	for range hops {
		out, found, err := f.inside(at)
		if err != nil || found.jail != nil {
			return found, err
		}
		if !filepath.IsAbs(out.Target) {
			return place{}, out
		}
		next := out.Target
		if next == at {
			abs, err := trust.Follow(at)
			if err != nil {
				return place{}, err
			}
			if abs == at {
				return place{rel: abs, abs: abs, name: abs, allowed: false}, nil
			}
			next = abs
		}
		at = next
	}
	return place{}, fmt.Errorf("path %q: too many links", path)
}

// inside looks for the jail a path lies in, or else says where it leads.
func (f *Files) inside(path string) (*trust.OutsideError, place, error) {
	var last *trust.OutsideError
	for i, jail := range append([]*trust.Jail{f.jail}, f.opt.Folders...) {
		if i > 0 && !filepath.IsAbs(path) {
			break
		}
		rel, err := jail.Resolve(path)
		var out *trust.OutsideError
		switch {
		case err == nil:
			found := place{jail: jail, rel: rel, abs: filepath.Join(jail.Dir(), rel)}
			found.name = found.abs
			if i == 0 {
				found.name = rel
			}
			return nil, found, nil
		case !errors.As(err, &out):
			return nil, place{}, err
		case last == nil || out.Target != path: // it lies in this one, and leads on
			last = out
		}
	}
	return last, place{}, nil
}

// open finds the place of a path and the jail to work in. What was not permitted
// and lies outside is a *trust.OutsideError. The caller calls done.
func (f *Files) open(ctx context.Context, path string) (at place, done func(), err error) {
	at, err = f.locate(path)
	if err != nil {
		return place{}, nil, err
	}
	allowed := permits(ctx)
	at.allowed = slices.Contains(allowed, at.abs) || slices.Contains(allowed, at.name)
	if at.jail != nil {
		return at, func() {}, nil
	}
	if !at.allowed {
		return place{}, nil, &trust.OutsideError{Path: path, Target: at.abs}
	}
	dir := at.abs
	for {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	jail, err := trust.NewJail(dir)
	if err != nil {
		return place{}, nil, err
	}
	if err := same(jail, dir); err != nil {
		_ = jail.Close()
		return place{}, nil, err
	}
	at.rel, err = filepath.Rel(dir, at.abs)
	if err != nil {
		_ = jail.Close()
		return place{}, nil, err
	}
	at.jail = jail.Straight()
	return at, func() { _ = jail.Close() }, nil
}

// same refuses a jail whose folder is not the one of that name any more: a link
// may have taken its place since the path was permitted.
func same(jail *trust.Jail, dir string) error {
	now, err := filepath.EvalSymlinks(dir)
	if err != nil || now != dir || jail.Dir() != dir {
		return fmt.Errorf("%s was changed into a link while it was used", dir)
	}
	opened, err := jail.Stat(".")
	if err != nil {
		return err
	}
	if named, err := os.Lstat(dir); err != nil || !os.SameFile(opened, named) {
		return fmt.Errorf("%s was changed while it was used", dir)
	}
	return nil
}

// floor tells why a file is not written without a person's consent, "" when it
// may be.
func (f *Files) floor(at place) string {
	if at.allowed {
		return ""
	}
	return trust.FloorPath(trust.Folders{Workspace: at.jail.Dir(), Home: f.opt.Home}, f.opt.StateHome, at.abs)
}

// paths tells guards the one path a call touches, with links followed; outside
// the workspace, where it leads. A call that names none is about fallback.
func (f *Files) paths(fallback string) func(json.RawMessage) ([]string, bool) {
	return func(arguments json.RawMessage) ([]string, bool) {
		var given map[string]json.RawMessage // a struct would take "PATH" for path
		if json.Unmarshal(arguments, &given) != nil {
			return nil, false
		}
		path := fallback
		if raw, ok := given["path"]; ok && json.Unmarshal(raw, &path) != nil || path == "" {
			return nil, false
		}
		at, err := f.locate(path)
		if err != nil {
			return []string{path}, false
		}
		return []string{at.name}, true
	}
}
