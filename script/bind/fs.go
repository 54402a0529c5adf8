package bind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/trust"
)

const (
	readLimit             = 8 << 20 // bytes: the length of the longest text
	filePerm  fs.FileMode = 0o644
)

// place is a path a plugin may use: the jail it is opened in, and its name there
// with links resolved.
type place struct {
	jail *trust.Jail
	name string
}

// follow is how the last part of a path is resolved.
type follow func(j *trust.Jail, path string) (string, error)

// fsWord makes one word of the fs module that needs no more than the place.
func fsWord(name string, word trust.Kind, params []string, do func(at place, text string) (starlark.Value, error)) builtin {
	return fsWordOf(name, word, (*trust.Jail).Resolve, params, func(_ *Plugin, at place, text string) (starlark.Value, error) { return do(at, text) })
}

// fsWordOf makes one word of the fs module; do runs outside the plugin's
// computing time.
func fsWordOf(name string, word trust.Kind, last follow, params []string, do func(p *Plugin, at place, text string) (starlark.Value, error)) builtin {
	return builtin{name: "fs." + name, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		texts := make([]string, 2)
		pairs := make([]any, 0, 4)
		for i, param := range params {
			pairs = append(pairs, param, &texts[i])
		}
		if err := starlark.UnpackArgs("fs."+name, args, kwargs, pairs...); err != nil {
			return nil, err
		}
		var v starlark.Value
		var err error
		c.Host(func() {
			var at place
			if at, err = p.place(word, last, texts[0]); err == nil {
				v, err = do(p, at, texts[1])
			}
		})
		if err != nil {
			return nil, fmt.Errorf("fs.%s: %w", name, err)
		}
		return v, nil
	}}
}

func fsWords() []builtin {
	return []builtin{
		fsWord("read", trust.FSRead, []string{"path"}, func(at place, _ string) (starlark.Value, error) {
			data, err := at.jail.ReadFile(at.name, readLimit)
			return starlark.String(data), err
		}),
		fsWord("exists", trust.FSRead, []string{"path"}, func(at place, _ string) (starlark.Value, error) {
			ok, err := at.jail.Exists(at.name)
			return starlark.Bool(ok), err
		}),
		fsWord("list", trust.FSRead, []string{"path"}, listFolder),
		fsWord("stat", trust.FSRead, []string{"path"}, statFile),
		fsWord("write", trust.FSWrite, []string{"path", "text"}, func(at place, text string) (starlark.Value, error) {
			return starlark.None, at.jail.WriteFile(at.name, []byte(text), filePerm)
		}),
		fsWord("append", trust.FSWrite, []string{"path", "text"}, func(at place, text string) (starlark.Value, error) {
			return starlark.None, at.jail.Append(at.name, []byte(text), filePerm)
		}),
		// Of a link, the link goes: what it leads to is another name's business.
		fsWordOf("remove", trust.FSWrite, (*trust.Jail).ResolveName, []string{"path"}, func(_ *Plugin, at place, _ string) (starlark.Value, error) {
			return starlark.None, at.jail.Remove(at.name)
		}),
		fsWordOf("lock", trust.FSWrite, (*trust.Jail).Resolve, []string{"path"}, func(p *Plugin, at place, _ string) (starlark.Value, error) {
			ok, err := p.locked.take(at)
			return starlark.Bool(ok), err
		}),
		fsWordOf("unlock", trust.FSWrite, (*trust.Jail).Resolve, []string{"path"}, func(p *Plugin, at place, _ string) (starlark.Value, error) {
			return starlark.None, p.locked.give(at)
		}),
	}
}

func listFolder(at place, _ string) (starlark.Value, error) {
	entries, err := at.jail.List(at.name)
	if err != nil {
		return nil, err
	}
	names := make([]starlark.Value, len(entries))
	for i, e := range entries {
		names[i] = starlark.String(e.Name())
	}
	return starlark.NewList(names), nil
}

func statFile(at place, _ string) (starlark.Value, error) {
	info, err := at.jail.Stat(at.name)
	if err != nil {
		return nil, err
	}
	return starlarkstruct.FromStringDict(starlark.String("stat"), starlark.StringDict{
		"name":   starlark.String(info.Name()),
		"size":   starlark.MakeInt64(info.Size()),
		"is_dir": starlark.Bool(info.IsDir()),
		"mtime":  starlark.MakeInt64(info.ModTime().Unix()),
	}), nil
}

// place finds the jail a path may be opened in: that of the first word whose
// scope holds the path both by its name and with links resolved. The check binds
// to what is opened: a jail never leaves its root, wherever links are moved.
func (p *Plugin) place(kind trust.Kind, last follow, name string) (place, error) {
	at := p.host.folders
	abs, err := at.Abs(name)
	if err != nil {
		return place{}, err
	}
	if err := p.allows(kind, p.words, abs); err != nil {
		return place{}, err
	}
	var led error // a link that led out of the scope
	for _, w := range p.words {
		one := trust.Words{w}
		if w.Kind != kind || p.allows(kind, one, abs) != nil {
			continue
		}
		found, err := p.placeIn(w, kind, last, abs)
		if err == nil {
			return found, nil
		}
		led = err
	}
	return place{}, led
}

func (p *Plugin) placeIn(w trust.Word, kind trust.Kind, last follow, abs string) (place, error) {
	jail, err := p.host.jails.at(w.Root(p.host.folders))
	if err != nil {
		return place{}, err
	}
	rel, err := last(jail, abs)
	if err != nil {
		return place{}, p.leads(kind, abs, err)
	}
	real := filepath.Join(jail.Dir(), rel)
	if err := p.allows(kind, trust.Words{w}, real); err != nil {
		return place{}, fmt.Errorf("%s leads to %s: %w", abs, real, err)
	}
	if kind == trust.FSWrite {
		if why := trust.FloorPath(p.host.folders, p.host.realHome, real); why != "" {
			return place{}, fmt.Errorf("%s cannot be written by a plugin: %s", abs, why)
		}
	}
	if rel == "." {
		rel = jail.Dir() // an error would name no more than a dot
	}
	// What was judged is what is opened: a folder swapped for a link meanwhile is
	// not followed.
	return place{jail.Straight(), rel}, nil
}

// leads puts into words that a link leaves the folder of a scope and stays in the
// workspace: a word is missing, not the workspace left.
func (p *Plugin) leads(kind trust.Kind, abs string, err error) error {
	var out *trust.OutsideError
	if !errors.As(err, &out) || !within(p.host.folders.Workspace, out.Target) {
		return err
	}
	if missing := p.allows(kind, p.words, out.Target); missing != nil {
		return fmt.Errorf("%s leads to %s: %w", abs, out.Target, missing)
	}
	return fmt.Errorf("%s leads to %s; use that name", abs, out.Target)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func (p *Plugin) allows(kind trust.Kind, words trust.Words, abs string) error {
	if kind == trust.FSWrite {
		return words.AllowsWrite(p.host.folders, abs)
	}
	return words.AllowsRead(p.host.folders, abs)
}

// at returns the jail of a folder, opened at its first use. A folder that does
// not exist yet is reached from the nearest one above it that does.
func (j *jails) at(dir string) (*trust.Jail, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		if jail, ok := j.open[dir]; ok {
			return jail, nil
		}
		jail, err := trust.NewJail(dir)
		if err == nil {
			j.open[dir] = jail
			return jail, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return nil, err
		}
		dir = parent
	}
}

func (j *jails) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var errs []error
	for _, jail := range j.open {
		errs = append(errs, jail.Close())
	}
	j.open = map[string]*trust.Jail{}
	return errors.Join(errs...)
}

// fileLocks are the files a plugin has locked.
type fileLocks struct {
	mu   sync.Mutex
	held map[string]*trust.Lock // by absolute path
}

func (p place) path() string { return filepath.Join(p.jail.Dir(), p.name) }

// take locks a file; true also when the plugin holds it already.
func (l *fileLocks) take(at place) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[at.path()] != nil {
		return true, nil
	}
	lock, ok, err := at.jail.Lock(at.name)
	if !ok {
		return false, err
	}
	if l.held == nil {
		l.held = map[string]*trust.Lock{}
	}
	l.held[at.path()] = lock
	return true, nil
}

// give unlocks a file; nothing happens when the plugin does not hold it.
func (l *fileLocks) give(at place) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.held[at.path()]
	if lock == nil {
		return nil
	}
	delete(l.held, at.path())
	return lock.Unlock()
}

// close unlocks what is left at the unload.
func (l *fileLocks) close(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, lock := range l.held {
		errs = append(errs, lock.Unlock())
	}
	l.held = nil
	return errors.Join(errs...)
}
