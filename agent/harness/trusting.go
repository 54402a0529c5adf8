package harness

import (
	"context"
	"fmt"
	"io"

	"starling/script"
	"starling/script/discover"
	"starling/trust"
)

// Workspace is what a workspace brings that needs approval, and the answers
// given for it.
type Workspace struct {
	source *source
	store  *trust.Store
	units  []unit
	// words of the plugins that configuration may be about, by name.
	words map[string][]string
}

// OpenWorkspace reads the code and configuration of the workspace; it runs
// nothing. The error is for people; with one of the trust file nothing counts as
// approved.
func OpenWorkspace(o Options) (*Workspace, error) {
	o = o.withDefaults()
	o.Plugins, o.NoPlugins = nil, false
	store, err := trust.Open(o.Home, o.Now)
	if err != nil {
		return nil, err
	}
	src := &source{options: o, store: store}
	files := map[string]plugin{}
	_, units, err := src.units(files)
	if err != nil {
		return nil, err
	}
	w := &Workspace{source: src, store: store, units: units, words: map[string][]string{}}
	if len(units) == 0 {
		return w, nil // a session reads the rest a moment later
	}
	found, err := discover.Find(src.find(nil))
	if err != nil {
		return nil, err
	}
	digest := digestOf(units)
	for i := range units {
		units[i].verdict = src.verdict(units[i], digest)
	}
	for _, f := range found.Files {
		if pl := src.load(files, f); pl.prog != nil {
			w.words[f.Name] = append(w.words[f.Name], pl.words().Strings()...)
		}
	}
	return w, nil
}

// Digest of everything the workspace brings: what --trust-digest takes.
func (w *Workspace) Digest() trust.Digest { return digestOf(w.units) }

// Path of the workspace.
func (w *Workspace) Path() string { return w.source.options.Workspace }

// Unit is one thing that needs approval, for people.
type Unit struct {
	Name    string        `json:"name"`
	Path    string        `json:"path"`
	Verdict trust.Verdict `json:"verdict"`
	Digest  trust.Digest  `json:"digest"`
}

// Units in the order of their names.
func (w *Workspace) Units() []Unit {
	units := []Unit{}
	for _, u := range w.units {
		units = append(units, Unit{u.name, u.path, u.verdict, u.bundle.Digest()})
	}
	return units
}

// Question about everything that is not approved; empty when all is.
func (w *Workspace) Question() trust.Question {
	q := trust.Question{Workspace: w.Path()}
	for _, u := range w.units {
		if u.verdict != trust.Approved {
			q.Subjects = append(q.Subjects, w.subject(u))
		}
	}
	return q
}

// Ask asks on a plain terminal and stores the answer. A stdin that is no
// terminal, and the end of ctx, are no answer and store nothing.
func (w *Workspace) Ask(ctx context.Context, in io.Reader, out io.Writer, terminal bool) (trust.Answer, error) {
	answer := trust.Ask(ctx, in, out, terminal, w.Question())
	switch answer {
	case trust.TrustVersion, trust.TrustEdits:
		return answer, w.Approve()
	case trust.TrustNot:
		return answer, w.Refuse()
	}
	return answer, nil
}

// Approve stores that a person approved exactly these bytes.
func (w *Workspace) Approve() error { return w.each(w.store.Approve) }

// Refuse stores that a person refused them.
func (w *Workspace) Refuse() error { return w.each(w.store.Refuse) }

func (w *Workspace) each(answer func(workspace, unit string, b trust.Bundle) error) error {
	for _, u := range w.units {
		if u.verdict == trust.Approved {
			continue
		}
		if err := answer(w.Path(), u.name, u.bundle); err != nil {
			return fmt.Errorf("%s: %w", u.name, err)
		}
	}
	return nil
}

// Revoke takes the answers for this workspace back and returns their number.
func (w *Workspace) Revoke() (int, error) { return w.store.Revoke(w.Path(), "") }

// subject says what a unit is and does, by its syntax tree.
func (w *Workspace) subject(u unit) trust.Subject {
	s := trust.Subject{Name: u.name, Path: u.path, Origin: string(discover.Workspace), Digest: u.bundle.Digest()}
	old, had := w.store.ApprovedText(w.Path(), u.name)
	if had {
		s.Diff = trust.Diff(old, u.bundle)
	}
	if u.plugin == nil {
		s.Effects = effects(u, w.words)
		return s
	}
	s.Hides = u.plugin.file.Hides
	if u.plugin.prog == nil {
		s.Effects = []string{"cannot be read: " + u.plugin.err.Error()}
		return s
	}
	describe(&s, u.plugin)
	if had {
		before := parse(u.plugin.file, memoryReader(old))
		s.Added = trust.Added(before.words(), s.Words)
	}
	return s
}

func describe(s *trust.Subject, pl *plugin) {
	d := pl.prog.Decl()
	s.Words = pl.words()
	s.Events, s.Services = d.Events, append(append([]string{}, d.Inject...), d.Provides...)
	s.Literals = script.Literals(pl.prog)
	for _, r := range d.Registrations {
		name := r.Name
		if name == "" {
			name = computed
		}
		switch r.Kind {
		case "tool":
			s.Tools = append(s.Tools, name)
		case "command":
			s.Commands = append(s.Commands, "/"+name)
		}
	}
}
