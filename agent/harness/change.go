package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"starling/bus/compose"
	"starling/script/discover"
	"starling/trust"
)

// nameOf is the name in a key.
func nameOf(key string) string { return strings.Split(key, "\x00")[1] }

// change is what one look at the disk led to, for people.
type change struct {
	loaded, reloaded, unloaded []string
	kept                       []string // what a person refused before
	faults                     []string // of files
	// failing are the plugins that do not run since, with their reasons.
	failing []string
}

// String says what was done; what went wrong is told apart.
func (c change) String() string {
	var parts []string
	for _, p := range []struct {
		verb  string
		names []string
	}{{"loaded", c.loaded}, {"reloaded", c.reloaded}, {"unloaded", c.unloaded}} {
		if len(p.names) > 0 {
			parts = append(parts, p.verb+" "+strings.Join(p.names, ", "))
		}
	}
	return strings.Join(append(parts, c.kept...), " · ")
}

// err is what is wrong with the files; nil when nothing is.
func (c change) err() error {
	var errs []error
	for _, text := range c.faults {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

// notRunning says of a plugin that should run why it does not.
func notRunning(row *compose.Row) string {
	verb := "is " + string(row.State)
	if row.State == compose.Failed {
		verb = "failed"
	}
	return fmt.Sprintf("plugin %s %s: %s", row.Name, verb, row.Reason)
}

// states are those of every mount.
func (e *Engine) states() map[compose.ID]compose.State {
	all := map[compose.ID]compose.State{}
	for _, row := range e.runtime.Roster().Rows {
		all[row.ID] = row.State
	}
	return all
}

// judge takes out of what was loaded the plugins that do not run, and tells of all that
// do not since these changes.
func (s *syncing) judge(before map[compose.ID]compose.State) {
	c := &s.change
	for _, row := range s.e.runtime.Roster().Rows {
		if row.State != compose.Failed && row.State != compose.Pending {
			continue
		}
		touched := slices.Contains(c.loaded, row.Name) || slices.Contains(c.reloaded, row.Name)
		if !touched && before[row.ID] == row.State {
			continue
		}
		is := func(name string) bool { return name == row.Name }
		c.loaded, c.reloaded = slices.DeleteFunc(c.loaded, is), slices.DeleteFunc(c.reloaded, is)
		if told := slices.ContainsFunc(c.faults, func(text string) bool { return strings.Contains(text, row.Reason) }); !told {
			c.failing = append(c.failing, notRunning(row))
		}
	}
}

// refusedBefore leaves a version out that the person said no to, or asks once more.
func (s *syncing) refusedBefore(k string, m *mounted, pl *plugin) {
	name := nameOf(k)
	if s.named == name {
		s.pending = append(s.pending, newPending(k, errors.New("you refused this version before"), m, pl))
		s.change.kept = append(s.change.kept, "you are asked about "+name+" once more")
		return
	}
	s.change.kept = append(s.change.kept, name+" stays as it is: you refused its new version (/reload "+name+" asks again)")
}

// losesTo tells whether a file that nobody approved would take the place of a version
// that runs.
func (m *mounted) losesTo(pl *plugin) bool {
	return m != nil && m.plugin.runs() && pl != nil && pl.content != m.plugin.content && pl.file.Off != "" && pl.file.Off != discover.SwitchedOff
}

// unapproved keeps the version that runs: the person who asked for a look at the disk is
// asked about the new one.
func (s *syncing) unapproved(k string, m *mounted, pl *plugin) {
	m.behind = "its file changed and this version is not approved; the approved one goes on"
	s.e.live.held[k] = versionOf(pl)
	s.change.kept = append(s.change.kept, nameOf(k)+" stays as it is: its new version is not approved (/trust asks about it)")
}

// contentOf is what a person says yes to: whether it is approved on disk, too, does
// not matter to that.
func contentOf(pl *plugin) trust.Digest {
	if pl == nil {
		return removed
	}
	return pl.content
}

func versionOf(pl *plugin) trust.Digest {
	if pl == nil {
		return removed
	}
	return pl.version
}
