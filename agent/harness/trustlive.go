package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"starling/bus/event"
	"starling/bus/view"
	"starling/script/discover"
	"starling/trust"
)

const kindTrust = "trust"

// pending is a change of a plugin that a person decides about.
type pending struct {
	key  string
	why  string
	old  *plugin // as it stands; nil for a new one
	next *plugin // nil when the file is gone
}

// newPending is a change as it stands now.
func newPending(k string, why error, m *mounted, next *plugin) pending {
	p := pending{key: k, why: why.Error(), next: next}
	if m != nil {
		old := m.plugin
		p.old = &old
	}
	return p
}

// unapproved tells whether the change is one of the workspace that needs approval,
// not one more question.
func (p pending) unapproved() bool {
	return p.next != nil && p.next.file.Off != "" && p.next.file.Off != discover.SwitchedOff
}

// asksPerson tells whether somebody looks at a screen.
func (e *Engine) asksPerson() bool { return e.options.Host == "terminal" }

// trustsEdits tells whether a person trusts the edits of a plugin in this session.
// It needs live.mu.
func (e *Engine) trustsEdits(old *mounted, next *plugin) bool {
	switch {
	case next != nil:
		return e.live.edits[key(next.file)]
	case old != nil:
		return e.live.edits[key(old.plugin.file)]
	}
	return false
}

// startedWith marks what the start has asked about, and whose edits the person
// trusts since.
func (e *Engine) startedWith(found composition) {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	for _, u := range found.units {
		e.asks.new(u)
		if u.plugin != nil && e.source.edits[u.name] {
			e.live.edits[key(u.plugin.file)] = true
		}
	}
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// batch is what one question is about.
type batch struct {
	changes []pending
	units   []unit // of the workspace, not approved
	about   *Workspace
	grants  map[string][]trust.Digest
	running []string // the units of which an approved version runs
}

// ask puts what a look at the disk found to the person, beside what goes on. named is
// a plugin the person wants to be asked about although it was refused.
func (e *Engine) ask(changes []pending, found composition, named string) {
	if !e.asksPerson() || e.watch == nil {
		return
	}
	b := e.batchOf(changes, found.units, named)
	e.asks.withdraw(&b, func(old batch) bool { return old.overlaps(b) || !old.stands(found) }, found)
	if len(b.units)+len(b.changes) == 0 {
		return
	}
	b.running = e.running(b.units)
	open := e.asks.begin(b)
	e.watch.while(func(life context.Context) {
		defer e.asks.end(open)
		e.askTrust(life, open)
	})
}

// add puts a unit of the workspace into the question.
func (b *batch) add(u unit, settings discover.Settings) {
	b.units = append(b.units, u)
	if u.plugin != nil {
		pl := *u.plugin
		pl.finish(settings)
		b.grants[key(pl.file)] = []trust.Digest{pl.content, pl.bundle.Digest()}
	}
}

// running are the names of units of which an approved version runs. It needs live.mu.
func (e *Engine) running(units []unit) (names []string) {
	for _, u := range units {
		if u.plugin == nil {
			continue
		}
		if m := e.live.mounted[key(u.plugin.file)]; m != nil && m.plugin.runs() {
			names = append(names, u.name)
		}
	}
	return names
}

// batchOf gathers what there is to ask. A plugin of the workspace that is not
// approved is a unit; the others are changes.
func (e *Engine) batchOf(changes []pending, units []unit, named string) batch {
	b := batch{grants: map[string][]trust.Digest{}}
	for _, u := range units {
		again := u.verdict == trust.Refused && named != "" && u.name == trust.PluginUnit(named)
		if again || u.verdict == trust.Unknown && e.asks.new(u) {
			b.add(u, e.current.Load().settings)
		}
	}
	for _, c := range changes {
		if !c.unapproved() {
			b.changes = append(b.changes, c)
			b.grants[c.key] = []trust.Digest{contentOf(c.next)}
		}
	}
	b.about = &Workspace{source: e.source, store: e.source.store, units: b.units, words: map[string][]string{}}
	for _, pl := range e.current.Load().plugins {
		b.about.words[pl.file.Name] = append(b.about.words[pl.file.Name], pl.words().Strings()...)
	}
	return b
}

// askTrust asks and does what the answer says. Nobody's answer changes nothing.
func (e *Engine) askTrust(life context.Context, open *asking) {
	ctx, cancel := open.within(life)
	defer cancel()
	if ctx.Err() != nil {
		return
	}
	b := open.batch
	r := e.questions.ask(ctx, b.question(e.options.Workspace))
	if r.by != byPerson {
		return
	}
	e.trusted(life, b, r.Value)
	if r.Value == view.AnswerNo {
		e.say(life, view.Notice{Text: b.refusal()})
		return
	}
	e.follow(life)
}

// trusted keeps an answer. One that cannot be stored is told of; it counts until exit all
// the same.
func (e *Engine) trusted(ctx context.Context, b batch, answer string) {
	if err := e.keepTrust(b, answer); err != nil {
		e.say(ctx, view.Notice{Text: "trust: " + err.Error(), Warn: true})
	}
}

func (e *Engine) keepTrust(b batch, answer string) error {
	if answer == view.AnswerNo {
		e.live.mu.Lock()
		for k, digests := range b.grants {
			e.live.refused[k] = digests[0]
		}
		e.publish()
		e.live.mu.Unlock()
		return b.about.Refuse()
	}
	err := b.about.Approve()
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	for k, digests := range b.grants {
		delete(e.live.refused, k)
		if e.live.granted[k] == nil {
			e.live.granted[k] = map[trust.Digest]bool{}
		}
		for _, d := range digests {
			e.live.granted[k][d] = true
		}
	}
	if answer != view.AnswerTrustEdits {
		return err
	}
	for k := range b.grants {
		e.live.edits[k] = true
	}
	edits := map[string]bool{}
	for name := range e.source.edits {
		edits[name] = true
	}
	for _, u := range b.units {
		edits[u.name] = true
	}
	e.source.edits = edits
	return err
}

func (b batch) question(workspace string) *event.QuestionEvent {
	q := trust.Question{Workspace: workspace}
	var reasons []string
	for _, u := range b.units {
		q.Subjects = append(q.Subjects, b.about.subject(u))
	}
	if len(b.units) > 0 {
		reasons = append(reasons, "the workspace brings a version that is not approved")
	} else {
		q.Head = "What plugins run is about to change."
	}
	for _, c := range b.changes {
		s := c.subject()
		q.Subjects = append(q.Subjects, s)
		reasons = append(reasons, s.Name+": "+c.why)
	}
	slices.Sort(reasons)
	return &event.QuestionEvent{
		Kind: kindTrust, Summary: "trust " + b.names() + "?",
		Detail: q.Text() + "\nWith no, " + b.without() + ".\n", Reasons: slices.Compact(reasons),
		Origin: "host", Options: []string{view.AnswerTrust, view.AnswerTrustEdits, view.AnswerNo}, Floor: true,
	}
}

// names are what it is about.
func (b batch) names() string {
	var names []string
	for _, u := range b.units {
		names = append(names, u.name)
	}
	for _, c := range b.changes {
		names = append(names, c.subject().Name)
	}
	return strings.ReplaceAll(strings.Join(names, ", "), "/", " ")
}

// refusal says what a no came to.
func (b batch) refusal() string { return "not trusted: " + b.names() + ": " + b.without() }

// without says what becomes of what is refused.
func (b batch) without() string {
	after := " until its file changes or /reload NAME asks again"
	switch {
	case b.ran() && b.fresh():
		return "what ran goes on and what is new does not run," + after
	case b.ran():
		return "what ran goes on" + after
	case len(b.grants) > 0:
		return "it does not run" + after
	}
	return "it does not count" // files that are no plugin: /trust asks again
}

// ran tells whether an earlier version of something in it runs.
func (b batch) ran() bool {
	for _, c := range b.changes {
		if c.old != nil && c.old.runs() {
			return true
		}
	}
	return len(b.running) > 0
}

// fresh tells whether something in it does not run yet.
func (b batch) fresh() bool {
	for _, c := range b.changes {
		if c.old == nil || !c.old.runs() {
			return true
		}
	}
	return len(b.running) < len(b.units)
}

// subject says what a change of a plugin does.
func (c pending) subject() trust.Subject {
	pl := c.next
	if pl == nil {
		pl = c.old
		return trust.Subject{
			Name: trust.PluginUnit(pl.file.Name), Path: pl.file.Path, Origin: string(pl.file.Origin),
			Effects: []string{"its file is gone: the plugin stops"},
		}
	}
	s := trust.Subject{
		Name: trust.PluginUnit(pl.file.Name), Path: pl.file.Path, Origin: string(pl.file.Origin),
		Digest: pl.bundle.Digest(), Hides: pl.file.Hides,
	}
	if c.old != nil {
		s.Diff = trust.Diff(c.old.bundle, pl.bundle)
	}
	switch {
	case pl.file.Off != "":
		s.Effects = []string{"is switched off: " + pl.file.Off}
	case pl.prog == nil:
		s.Effects = []string{fmt.Sprintf("cannot be read: %v", pl.err)}
	default:
		describe(&s, pl)
		if c.old != nil {
			s.Added = trust.Added(c.old.words(), s.Words)
		}
	}
	return s
}

// Trust asks the person about everything of the workspace that is not approved, and
// keeps the answer; or takes the answers back. It says what came of it.
func (e *Engine) Trust(ctx context.Context, approve bool) (string, error) {
	if !approve {
		n, err := e.source.store.Revoke(e.options.Workspace, "")
		if err != nil {
			return "", err
		}
		e.live.mu.Lock()
		// What was trusted beyond these bytes ends as well.
		e.source.edits, e.source.trusted = nil, map[string]bool{}
		clear(e.live.edits)
		clear(e.live.granted)
		e.live.mu.Unlock()
		said, err := e.reloaded(ctx, syncing{asked: true, revoked: true})
		return fmt.Sprintf("%d answers taken back · %s", n, said), err
	}
	w, err := e.openWorkspace()
	if err != nil {
		return "", err
	}
	b := batch{about: w, grants: map[string][]trust.Digest{}}
	for _, u := range w.units {
		if u.verdict == trust.Approved {
			continue
		}
		e.asks.new(u)
		b.add(u, e.current.Load().settings)
	}
	if len(b.units) == 0 {
		return "the workspace brings nothing that is not approved", nil
	}
	e.live.mu.Lock()
	e.asks.withdraw(&b, func(old batch) bool { return old.overlaps(b) }, *e.current.Load())
	b.running = e.running(b.units)
	open := e.asks.begin(b)
	e.live.mu.Unlock()
	defer e.asks.end(open)
	within, cancel := open.within(ctx)
	defer cancel()
	r := e.questions.ask(within, b.question(e.options.Workspace))
	if r.by != byPerson {
		return "nobody answered; nothing is stored", nil
	}
	e.trusted(ctx, b, r.Value)
	if r.Value == view.AnswerNo {
		return b.refusal(), nil
	}
	return e.reloaded(ctx, syncing{asked: true})
}

// reloaded is a look at the disk after an answer: it says what was done, and what went
// wrong as notices.
func (e *Engine) reloaded(ctx context.Context, s syncing) (string, error) {
	c, err := e.sync(ctx, s)
	if err != nil {
		return "", err
	}
	for _, text := range append(c.faults, c.failing...) {
		e.say(ctx, view.Notice{Text: text, Warn: true})
	}
	if s := c.String(); s != "" {
		return s, nil
	}
	return "nothing changed", nil
}

// openWorkspace is the workspace as it stands, with the answers of this engine.
func (e *Engine) openWorkspace() (*Workspace, error) {
	w, err := OpenWorkspace(e.options)
	if err != nil {
		return nil, err
	}
	w.store = e.source.store
	for i := range w.units {
		w.units[i].verdict = w.store.Decide(w.Path(), w.units[i].name, w.units[i].bundle.Digest()).Verdict
	}
	return w, nil
}
