package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/bus/view"
	"starling/script"
)

// refusable are the events an absent fail_closed plugin refuses.
var refusable = []string{event.Prompt.Name(), event.ToolCall.Name(), event.TurnEnd.Name()}

// absence is a fail_closed plugin that is not there to decide.
type absence struct {
	plugin string
	why    string
	topics []string
}

// sentry is a mounted fail_closed plugin.
type sentry struct {
	plugin  string
	topics  []string
	probes  bool   // it has some
	proved  uint64 // the load whose probes were driven
	failing string // the probe that went otherwise
}

// proving drives the probes of plugins that were loaded again without a look at
// the disk: when a provider got stuck, or came back.
type proving struct {
	mu     sync.Mutex      // one count at a time
	life   context.Context // of the engine; nil: nobody is asked
	asked  bool
	driven sync.WaitGroup
}

// guard drives the probes of every load that is new and counts who is there. It
// needs live.mu.
func (e *Engine) guard(ctx context.Context) {
	rows := map[compose.ID]*compose.Row{}
	for _, row := range e.runtime.Roster().Rows {
		rows[row.ID] = row
	}
	for _, k := range slices.Sorted(maps.Keys(e.live.mounted)) {
		m := e.live.mounted[k]
		row := rows[m.id]
		if row == nil || row.State != compose.Active || m.probed == row.Loads {
			continue
		}
		m.failing = e.probe(ctx, m.plugin)
		m.probed = row.Loads
		if m.failing != "" {
			e.say(ctx, view.Notice{From: m.plugin.file.Name, Text: m.failing, Warn: true})
		}
	}
	e.post()
	e.count(nil)
}

// post makes sentries of the fail_closed plugins as they are to run: before they
// load, so that a new one is missed until its probes were driven. It needs live.mu.
func (e *Engine) post() {
	sentries := map[compose.ID]sentry{}
	for _, m := range e.live.mounted {
		if m.plugin.failClosed() {
			sentries[m.id] = sentry{
				plugin: m.plugin.file.Name, topics: m.plugin.guards(),
				probes: m.plugin.probes(), proved: m.probed, failing: m.failing,
			}
		}
	}
	e.sentries.Store(&sentries)
}

func (pl plugin) probes() bool { return pl.prog != nil && len(pl.prog.Decl().Probes) > 0 }

// count finds the sentries that are not at their post. The composition calls it
// after each settle, before any event that waited for it goes on: a plugin that
// gets stuck or loses its provider is missed at once, one that was loaded again
// until its probes were driven. It always counts the newest roster, so that of
// two counts the later one holds.
func (e *Engine) count(*compose.Roster) {
	e.live.proving.mu.Lock()
	defer e.live.proving.mu.Unlock()
	sentries := e.sentries.Load()
	if sentries == nil {
		return
	}
	var absent []absence
	unproved := false
	closed := map[string]*bus.Refusal{}
	for _, row := range e.runtime.Roster().Rows {
		s, posted := (*sentries)[row.ID]
		why := ""
		if posted {
			why = s.absentBecause(row)
			unproved = unproved || s.unproved(row)
		}
		if why == "" {
			continue
		}
		absent = append(absent, absence{plugin: s.plugin, why: why, topics: s.topics})
		for _, topic := range s.topics {
			if closed[topic] == nil {
				closed[topic] = &bus.Refusal{
					Why: fmt.Sprintf("the plugin %s %s, and it is fail_closed", s.plugin, why),
					By:  bus.Owner{Name: s.plugin},
				}
			}
		}
	}
	e.absent.Store(&absent)
	e.closed.Store(&closed)
	if unproved {
		e.prove()
	}
}

// prove has the probes driven on a goroutine of the engine: whoever counts must
// not wait for plugins. It needs proving.mu.
func (e *Engine) prove() {
	p := &e.live.proving
	if p.life == nil || p.asked {
		return
	}
	p.asked = true
	life := p.life
	p.driven.Go(func() {
		e.live.mu.Lock() // a look at the disk that is under way drives them itself
		defer e.live.mu.Unlock()
		p.mu.Lock()
		p.asked = false
		p.mu.Unlock()
		if life.Err() == nil {
			e.guard(life)
		}
	})
}

// beginProving lets counts ask for probes until life ends.
func (e *Engine) beginProving(life context.Context) {
	e.live.proving.mu.Lock()
	e.live.proving.life = life
	e.live.proving.mu.Unlock()
	e.count(nil) // what changed since the start
}

// endProving waits for the probes that are being driven; its life has ended.
func (e *Engine) endProving() {
	e.live.proving.mu.Lock()
	e.live.proving.life = nil
	e.live.proving.mu.Unlock()
	e.live.proving.driven.Wait()
}

// unproved tells whether the plugin stands and nobody has driven its probes.
func (s sentry) unproved(row *compose.Row) bool {
	return s.probes && row.State == compose.Active && row.Loads != s.proved
}

// absentBecause says why a sentry is not there to decide; "" when it is, or when
// nobody wants it to run.
func (s sentry) absentBecause(row *compose.Row) string {
	switch {
	case row.State == compose.Inactive && row.Reason != quarantined:
		return ""
	case row.State == compose.Failed:
		return "failed (" + row.Reason + ")"
	case row.State != compose.Active:
		return "is " + string(row.State) + " (" + row.Reason + ")"
	case s.unproved(row):
		return "was loaded again and its probes have not been driven yet"
	}
	return s.failing
}

// guards are the refusable events the plugin names; all of them when it computes
// a name or cannot be read.
func (pl plugin) guards() []string {
	if pl.prog == nil || len(pl.prog.Loads()) > 0 { // a loaded file may subscribe too
		return refusable
	}
	var topics []string
	for _, name := range pl.prog.Decl().Events {
		if name == "" {
			return refusable
		}
		for _, t := range refusable {
			if t == name {
				topics = append(topics, t)
			}
		}
	}
	return topics
}

// probe drives the probes of a plugin through the whole live chain, running
// none of the calls. It returns what went otherwise.
func (e *Engine) probe(ctx context.Context, pl plugin) string {
	if pl.prog == nil {
		return ""
	}
	port := bus.PortOf(e.bus, event.ToolCall)
	for i, p := range pl.prog.Decl().Probes {
		if got, why := e.drive(ctx, port, p); got != p.Expect {
			return fmt.Sprintf("does not hold: probe %d (%s) should be %s and was %s%s", i+1, p.Tool, p.Expect, got, why)
		}
	}
	return ""
}

func (e *Engine) drive(ctx context.Context, port bus.Port[event.ToolCallEvent, event.ToolCallAnswer], p script.Probe) (got, why string) {
	ev := event.ToolCallEvent{
		ID: "probe", Name: p.Tool, Arguments: p.Arguments, ArgumentsJSON: string(p.Arguments), Origin: "probe",
	}
	if tool, _, ok := e.tools.Lookup(p.Tool); ok {
		checked, err := e.tools.Check(tool, string(p.Arguments))
		if err != nil {
			return "impossible", ": " + err.Error()
		}
		ev.Known, ev.Arguments, ev.ArgumentsJSON = true, checked, string(checked)
		if tool.Paths != nil {
			ev.Paths, ev.PathsKnown = tool.Paths(checked)
			ev.PathsOf = tool.Paths
		}
	}
	// Past the gate: it may be this very plugin that is still counted as absent.
	port.Snapshot().Send(ctx, &ev)
	if ev.Refused != nil {
		return "blocked", ": " + ev.Refused.Why
	}
	return "allowed", ""
}

// gate answers the bus: may this event go to its listeners?
func (e *Engine) gate(topic string) *bus.Refusal {
	closed := e.closed.Load()
	if closed == nil {
		return nil
	}
	return (*closed)[topic]
}

// missing is the error of a headless start without a fail_closed plugin.
func (e *Engine) missing() error {
	absent := e.absent.Load()
	if absent == nil {
		return nil
	}
	for _, a := range *absent {
		if len(a.topics) > 0 {
			return fmt.Errorf("plugin %s %s; it is fail_closed, so nothing runs without it: mend it, or switch it off in plugins.json", a.plugin, a.why)
		}
	}
	return nil
}
