package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"starling/bus/compose"
	"starling/bus/view"
	"starling/script/discover"
	"starling/trust"
)

// mounted is a plugin that stands in the composition.
type mounted struct {
	id     compose.ID
	plugin plugin // as it runs
	// earlier are the versions before it that were active, newest last.
	earlier []ran
	// restored: an earlier version runs in the place of the one on disk.
	restored bool
	// probed is the load whose probes were driven, failing what went otherwise.
	probed  uint64
	failing string
	// behind says why the file on disk is not what runs; "" when it is.
	behind string
}

// live is the engine's picture of the composition on disk and in memory.
type live struct {
	mu      sync.Mutex // one change at a time
	mounted map[string]*mounted
	// held are versions that were noted and not loaded: said once each.
	held map[string]trust.Digest
	// granted are contents and bundles a person said yes to, edits the plugins whose
	// edits they trust until the end.
	granted map[string]map[trust.Digest]bool
	edits   map[string]bool
	// refused are the contents a person said no to: they stay out until the file
	// changes again, or the person names the plugin.
	refused map[string]trust.Digest
	// overruled are the lines that said what is not in effect, as long as it is not.
	overruled map[string]bool
	pending   bool // something changed that waits for a turn to end
	// realms are the shared realms of host keys that have a registry.
	realms map[string]bool
	// tended: a process that outlived its run is waited for, or what it left on
	// the disk is looked at.
	tended  atomic.Bool
	proving proving
}

// key of a plugin: a file that takes another's place is another plugin.
func key(f discover.File) string { return string(f.Origin) + "\x00" + f.Name + "\x00" + f.Path }

// Reload looks at the disk once more and brings the composition in line with it:
// a person asked, so changed files of home and command line count at once, but for
// what the person refused. name reloads one plugin even when nothing changed, its
// panels anew where the last view or update failed, and asks about it once more where it
// was refused; "" looks at all. It says what was done, also beside an error, which is
// about files that do not load.
func (e *Engine) Reload(ctx context.Context, name string) (string, error) {
	var said []string
	if name != "" {
		e.live.mu.Lock()
		found := false
		for k, m := range e.live.mounted {
			if m.plugin.file.Name == name {
				found = true
				delete(e.live.held, k)
				if e.live.refused[k] == "" {
					m.plugin.version, m.plugin.content = "", "" // differ from every other
				}
			}
		}
		for k := range e.live.refused {
			found = found || nameOf(k) == name
		}
		e.live.mu.Unlock()
		if !found {
			return "", fmt.Errorf("there is no plugin %q", name)
		}
		said = e.startOver(name)
	}
	c, err := e.sync(ctx, syncing{asked: true, named: name})
	if err != nil {
		return "", err
	}
	if s := c.String(); s != "" {
		said = append(said, s)
	}
	if len(said) == 0 && len(c.faults) == 0 {
		said = []string{"nothing changed"}
	}
	return strings.Join(said, " · "), c.err()
}

// changed is called by the watcher: what may count now is made so, the rest is
// noted.
func (e *Engine) changed(ctx context.Context) {
	e.live.mu.Lock()
	later := e.alive() && (e.options.TrustEdits || len(e.live.edits) > 0)
	e.live.pending = e.live.pending || later
	e.live.mu.Unlock()
	if !later {
		e.follow(ctx)
	}
}

// follow makes the changes that may be made unasked.
func (e *Engine) follow(ctx context.Context) {
	c, err := e.sync(ctx, syncing{})
	if ctx.Err() != nil {
		return // the engine ends
	}
	if err != nil {
		e.say(ctx, view.Notice{Text: "plugins: " + err.Error(), Warn: true})
		return
	}
	if s := c.String(); s != "" {
		e.say(ctx, view.Notice{Text: "plugins: " + s})
	}
	for _, text := range append(c.faults, c.failing...) {
		e.say(ctx, view.Notice{Text: text, Warn: true})
	}
}

// edits makes the changes that waited for the end of a turn.
func (e *Engine) edits(ctx context.Context) {
	e.live.mu.Lock()
	pending := e.live.pending
	e.live.pending = false
	e.live.mu.Unlock()
	if pending {
		e.follow(ctx)
	}
}

// between is the end of a run, while it still counts as alive: what it left on
// the disk is looked at now. Seen a moment later, it would pass for the work of
// a person.
func (e *Engine) between(ctx context.Context) {
	if e.options.Host == "eval" {
		return // a trial runs what it was started with
	}
	outlived := e.startsProcesses()
	e.look(context.WithoutCancel(ctx)) // a run that was cancelled left things too
	if outlived {
		e.tend()
	}
}

// look makes or holds what changed since the files were read last.
func (e *Engine) look(ctx context.Context) {
	e.live.mu.Lock()
	same := !e.live.pending && e.source.same()
	e.live.pending = false
	e.live.mu.Unlock()
	if !same {
		e.follow(ctx)
	}
}

const (
	// tendEvery is how often it is looked whether processes of a run are alive.
	tendEvery = 50 * time.Millisecond
	// tendQuiet is how long none must have been seen: one that a plugin does not
	// wait for may be about to start.
	tendQuiet = 250 * time.Millisecond
)

// tend has a look at the disk when the last process that outlives the run ended.
// Until it was taken, a change may be the work of that process.
func (e *Engine) tend() {
	if e.watch == nil || e.live.tended.Swap(true) {
		return
	}
	e.watch.while(func(life context.Context) {
		defer e.live.tended.Store(false)
		tick := time.NewTicker(tendEvery)
		defer tick.Stop()
		for quiet := time.Duration(0); quiet < tendQuiet; quiet += tendEvery {
			select {
			case <-life.Done():
				return
			case <-tick.C:
			}
			if e.runs.Load() > 0 || e.processes() {
				quiet = 0
			}
		}
		e.look(life)
	})
}

// startsProcesses tells whether a process may outlive a run.
func (e *Engine) startsProcesses() bool {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	for _, m := range e.live.mounted {
		runs := func(w trust.Word) bool { return w.Kind == trust.Exec }
		if m.plugin.runs() && slices.ContainsFunc(m.plugin.words(), runs) {
			return true
		}
	}
	return e.processes()
}

// alive tells whether a run, or a process one started, is alive: then a changed
// file may be the model's work.
func (e *Engine) alive() bool {
	return e.runs.Load() > 0 || e.live.tended.Load() || e.processes()
}

// processes tells whether one is running that is not the person's own.
func (e *Engine) processes() bool {
	for _, p := range e.shell.List() {
		if p.Running && p.Origin != originPerson {
			return true
		}
	}
	return false
}

// unasked decides about a change nobody was asked about; next is nil when the
// file is gone. Its error says why the change is not made.
func (e *Engine) unasked(old *mounted, next *plugin) error {
	ran := old != nil && old.plugin.runs()
	goes := next == nil || next.file.Off != "" // from what runs
	switch {
	case !ran && (next == nil || !next.runs()):
		return nil // nothing that runs is touched
	case next != nil && ran && next.file.Off != "" && next.file.Off != discover.SwitchedOff:
		return errors.New("its file changed and this version is not approved; the approved one goes on")
	case e.alive() && !e.options.TrustEdits && !e.trustsEdits(old, next):
		if e.asksPerson() {
			return errors.New("it changed while a run is alive")
		}
		return errors.New("it changed while a run is alive; not loaded (with --trust-edits edits are loaded between turns)")
	case e.alive() && ran && goes && old.plugin.failClosed():
		return errors.New("it was taken away while a run is alive and it is fail_closed, which needs a person; it goes on")
	case goes || next.err != nil, e.live.granted[key(next.file)][next.bundle.Digest()]:
		return nil
	}
	var had trust.Words
	if ran {
		had = old.plugin.words()
	}
	added := trust.Added(had, next.words())
	then := "; start again to load it"
	if e.asksPerson() {
		then = "" // the question is its end
	}
	switch list := strings.Join(added.Strings(), ", "); {
	case len(added) == 0:
		return nil
	case old == nil:
		return fmt.Errorf("it is new and asks for %s, which needs a person%s", list, then)
	default:
		return fmt.Errorf("this version also asks for %s, which needs a person%s", list, then)
	}
}

func (pl plugin) words() trust.Words {
	if pl.prog == nil {
		return nil
	}
	words, err := trust.ParseWords(pl.prog.Decl().Uses)
	if err != nil {
		return nil // a file with such words does not load
	}
	return words
}

// sync reads the disk and makes the changes that may be made: those s asks for when a
// person asked, else those unasked allows. What is refused is noted once a version.
func (e *Engine) sync(ctx context.Context, s syncing) (change, error) {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	next, err := e.source.read()
	if err != nil {
		return change{}, err
	}
	if err := e.adopt(next); err != nil {
		return change{}, err
	}
	s.e = e
	defer func() { e.ask(s.pending, next, s.named) }()
	before := e.states()
	present := map[string]bool{}
	for i := range next.plugins {
		pl := &next.plugins[i]
		present[key(pl.file)] = true
		s.bring(pl)
	}
	for _, k := range slices.Sorted(maps.Keys(e.live.mounted)) {
		if !present[k] {
			s.drop(k)
		}
	}
	err = e.settled(ctx)
	s.judge(before)
	return s.change, err
}

// adopt takes over what does not belong to one plugin.
func (e *Engine) adopt(next composition) error {
	e.current.Store(&next)
	return e.isolateHost(next)
}

// settled waits for the composition and looks at its guards again. It needs
// live.mu.
func (e *Engine) settled(ctx context.Context) error {
	e.post()
	if err := e.runtime.Settle(ctx); err != nil {
		return err
	}
	e.guard(ctx)
	e.tellOverruled(ctx)
	e.publish()
	return nil
}

// syncing is one pass over the differences.
type syncing struct {
	e       *Engine
	asked   bool
	named   string // by the person who asked; "" for all
	revoked bool   // what was approved is approved no more
	change  change
	pending []pending // what a person is asked about
}

// bring mounts, replaces, switches or moves one plugin.
func (s *syncing) bring(pl *plugin) {
	e, k := s.e, key(pl.file)
	m := e.live.mounted[k]
	switch {
	case m != nil && m.plugin.version == pl.version:
		delete(e.live.held, k) // what was held is gone from the disk
		delete(e.live.refused, k)
		m.behind = ""
	case !s.allowed(k, m, pl):
	case m == nil:
		s.mount(k, pl)
	default:
		s.update(k, m, pl)
	}
}

func (s *syncing) mount(k string, pl *plugin) {
	id, err := s.e.runtime.Mount(s.e.component(*pl))
	if !s.ok(err) {
		return
	}
	s.e.live.mounted[k] = &mounted{id: id, plugin: *pl}
	if pl.runs() {
		s.change.loaded = append(s.change.loaded, pl.file.Name)
	} else if pl.err != nil {
		s.change.faults = append(s.change.faults, pl.err.Error())
	}
}

// update brings a mounted plugin to another version by the smallest step.
func (s *syncing) update(k string, m *mounted, pl *plugin) {
	e, name := s.e, pl.file.Name
	component := e.component(*pl)
	switch {
	case pl.content != m.plugin.content:
		was := e.ranAs(m)
		if err := e.runtime.Replace(m.id, component); err != nil {
			m.behind = broken(pl, err) + "; the version before it goes on"
			s.note(k, pl, m.behind)
			return
		}
		if was != nil {
			m.keep(*was)
		}
		c := &s.change
		switch {
		case m.plugin.runs() && pl.runs():
			c.reloaded = append(c.reloaded, name)
		case pl.runs():
			c.loaded = append(c.loaded, name)
		case m.plugin.runs() && pl.file.Off != "":
			c.unloaded = append(c.unloaded, name+" ("+pl.file.Off+")")
		}
	case pl.file.Off != m.plugin.file.Off:
		if !s.ok(e.runtime.Switch(m.id, pl.file.Off)) {
			return
		}
		if pl.file.Off == "" {
			s.change.loaded = append(s.change.loaded, name)
		} else {
			s.change.unloaded = append(s.change.unloaded, name+" ("+pl.file.Off+")")
		}
	}
	if !maps.Equal(m.plugin.realms, pl.realms) && s.ok(e.runtime.Move(m.id, component.Isolate)) {
		s.change.reloaded = append(s.change.reloaded, name+" (moved)")
	}
	m.plugin, m.behind, m.restored = *pl, "", false
}

// broken is why a version did not load, in the file's own words where it has some.
func broken(pl *plugin, err error) string {
	if pl.err != nil {
		return pl.err.Error()
	}
	return err.Error()
}

func (s *syncing) drop(k string) {
	m := s.e.live.mounted[k]
	if !s.allowed(k, m, nil) || !s.ok(s.e.runtime.Unmount(m.id)) {
		return
	}
	delete(s.e.live.mounted, k)
	delete(s.e.live.held, k)
	delete(s.e.live.refused, k)
	s.change.unloaded = append(s.change.unloaded, m.plugin.file.Name)
}

func (s *syncing) ok(err error) bool {
	if err != nil {
		s.change.faults = append(s.change.faults, err.Error())
	}
	return err == nil
}

// allowed asks whether a change may be made; one that was held stays so until a
// person asks or the file changes again.
func (s *syncing) allowed(k string, m *mounted, pl *plugin) bool {
	if s.e.live.granted[k][contentOf(pl)] {
		delete(s.e.live.held, k)
		return true
	}
	if s.asked && !s.revoked && s.e.live.refused[k] == contentOf(pl) && (m != nil && m.plugin.runs() || pl != nil && pl.runs()) {
		s.refusedBefore(k, m, pl)
		return false
	}
	if s.asked && !s.revoked && m.losesTo(pl) {
		s.unapproved(k, m, pl)
		return false
	}
	if s.asked {
		delete(s.e.live.held, k)
		delete(s.e.live.refused, k)
		return true
	}
	if s.e.live.held[k] == versionOf(pl) {
		return false
	}
	if err := s.e.unasked(m, pl); err != nil {
		if m != nil {
			m.behind = err.Error()
		}
		if s.e.asksPerson() {
			s.e.live.held[k] = versionOf(pl)
			s.pending = append(s.pending, newPending(k, err, m, pl))
			return false
		}
		s.note(k, pl, nameOf(k)+": "+err.Error())
		return false
	}
	delete(s.e.live.held, k)
	return true
}

// note says once a version why it was not loaded.
func (s *syncing) note(k string, pl *plugin, text string) {
	s.e.live.held[k] = versionOf(pl)
	s.change.faults = append(s.change.faults, text)
}

// removed is the version of a file that is gone.
const removed trust.Digest = "removed"
