package permit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	"starling/trust"
)

// Source is where a rule came from.
type Source string

// The sources. All of them count alike: deny over ask over allow.
const (
	FromFlag      Source = "flag"       // --allow, --ask, --deny
	FromSession   Source = "session"    // until exit
	FromWorkspace Source = "workspace"  // of this workspace, kept in rules.json
	FromHome      Source = "rules.json" // the lists of the person, for every workspace
)

var sources = []Source{FromFlag, FromSession, FromWorkspace, FromHome}

// Listed is one rule with what it does and where it came from.
type Listed struct {
	Rule   Rule
	Effect Effect
	Source Source
}

// Rules are what a person said about calls. A nil *Rules holds none. Methods are
// safe for concurrent use, also of several processes on one file; those that
// write wait for each other, at most ten seconds.
//
// The file is read once, by Load: what another program writes to it later counts
// from the next start only, so that nothing a run does can allow itself.
type Rules struct {
	file      string // "" for none
	workspace string // links resolved

	mu   sync.Mutex
	list []Listed
}

// Load reads the rules of a file (rules.json of the home; "" for none) that hold
// in a workspace, an absolute path. A file that is not there holds none. With an
// error, which names line and column, there are no rules to use and nothing may
// run: what could not be read may have denied something.
func Load(file, workspace string) (*Rules, error) {
	if real, err := filepath.EvalSymlinks(workspace); err == nil {
		workspace = real
	}
	r := &Rules{file: file, workspace: filepath.Clean(workspace)}
	if file == "" {
		return r, nil
	}
	stored, err := readFile(file)
	if err != nil {
		return nil, err
	}
	r.list = append(stored.workspaces[r.workspace].listed(FromWorkspace), stored.home.listed(FromHome)...)
	return r, nil
}

// With adds a rule until exit and returns r. One that is there is not added
// again.
func (r *Rules) With(source Source, effect Effect, rule Rule) *Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(Listed{rule, effect, source})
	return r
}

func (r *Rules) add(l Listed) {
	if !slices.Contains(r.list, l) {
		r.list = append(r.list, l)
	}
}

// Always adds rules that allow: until exit (FromSession), or kept in the file for
// this workspace (FromWorkspace) or for every one (FromHome), all in one write.
// After an error they count until exit, as FromSession; the error says why they
// are not stored. Without a file they count until exit.
func (r *Rules) Always(scope Source, rules ...Rule) error {
	var err error
	kept := r.file != "" && (scope == FromWorkspace || scope == FromHome)
	if kept {
		err = r.update(func(s *stored) {
			list := s.of(scope, r.workspace)
			for _, rule := range rules {
				if !slices.Contains(list[Allow], rule) {
					list[Allow] = append(list[Allow], rule)
				}
			}
		})
	}
	if !kept || err != nil {
		scope = FromSession
	}
	r.mu.Lock()
	for _, rule := range rules {
		r.add(Listed{rule, Allow, scope})
	}
	r.mu.Unlock()
	if err != nil {
		return fmt.Errorf("the rule counts until exit but is not stored: %w", err)
	}
	return nil
}

// Remove takes a rule back, from the file too where it stands there. After an
// error it is gone until exit; the error says why it is still stored. It is an
// error to remove what is not there.
func (r *Rules) Remove(l Listed) error {
	r.mu.Lock()
	i := slices.Index(r.list, l)
	if i >= 0 {
		r.list = slices.Delete(r.list, i, i+1)
	}
	r.mu.Unlock()
	switch {
	case i < 0:
		return fmt.Errorf("there is no rule %s %s (%s); /policy lists them", l.Effect, l.Rule, l.Source)
	case r.file == "" || l.Source != FromWorkspace && l.Source != FromHome:
		return nil
	}
	err := r.update(func(s *stored) {
		list := s.of(l.Source, r.workspace)
		list[l.Effect] = slices.DeleteFunc(list[l.Effect], func(have Rule) bool { return have == l.Rule })
	})
	if err != nil {
		return fmt.Errorf("the rule is taken back until exit but still stored: %w", err)
	}
	return nil
}

// List returns every rule: flags first, then session, workspace and home, each
// in the order given.
func (r *Rules) List() []Listed {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.list)
	slices.SortStableFunc(list, func(a, b Listed) int {
		return slices.Index(sources, a.Source) - slices.Index(sources, b.Source)
	})
	return list
}

// update makes one change to what the file holds now: what other processes put
// there stays, and does not get into this one.
func (r *Rules) update(change func(*stored)) (err error) {
	if !utf8.ValidString(r.workspace) {
		return fmt.Errorf("%q: a name that is no UTF-8 cannot be stored", r.workspace)
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
		return err
	}
	lock, err := trust.LockFile(filepath.Join(filepath.Dir(r.file), "rules.lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	now, err := readFile(r.file)
	if err != nil {
		return err
	}
	change(now)
	data, err := now.encode()
	if err != nil {
		return err
	}
	return trust.WritePrivate(r.file, data)
}
