package harness

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/view"
	"starling/surfaces"
)

// troubles are what is wrong with plugins beside their states, for who lists them. What
// comes of the files is a copy, so that nobody waits for a look at the disk.
type troubles struct {
	mu     sync.Mutex
	off    map[compose.ID][]silent
	behind map[compose.ID]string
	left   []view.Plugin
}

// silent is a listener that was switched off.
type silent struct {
	topic string
	load  uint64 // of the plugin: with the next one the listener is back
}

// switchedOff notes a listener that failed too often.
func (t *troubles) switchedOff(f bus.Failure, rows []*compose.Row) {
	id := compose.ID(f.Owner.UID)
	i := slices.IndexFunc(rows, func(row *compose.Row) bool { return row.ID == id })
	if i < 0 {
		return
	}
	one := silent{f.Topic, rows[i].Loads}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off == nil {
		t.off = map[compose.ID][]silent{}
	}
	earlier := func(x silent) bool { return x.load != one.load }
	t.off[id] = append(slices.DeleteFunc(t.off[id], earlier), one)
}

// publish copies what a look at the disk left. It needs live.mu.
func (e *Engine) publish() {
	behind := map[compose.ID]string{}
	var left []view.Plugin
	for _, m := range e.live.mounted {
		if m.behind != "" {
			behind[m.id] = m.behind
		}
	}
	for _, pl := range e.current.Load().plugins {
		k := key(pl.file)
		if e.live.mounted[k] == nil && e.live.refused[k] == pl.content {
			left = append(left, view.Plugin{
				Name: pl.file.Name, Origin: string(pl.file.Origin), Approval: "refused", State: string(compose.Inactive),
				Reason: "you refused it; /reload " + pl.file.Name + " asks again", Path: pl.file.Path,
				Inject: list(nil), Provides: list(nil), Emits: list(nil), Uses: pl.words().Strings(), Registrations: list(nil),
			})
		}
	}
	t := &e.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	t.behind, t.left = behind, left
}

// out are the plugins that stand on disk and in no composition: a person refused them.
func (t *troubles) out() []view.Plugin {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.left)
}

// of says what is wrong with a plugin now.
func (t *troubles) of(row *compose.Row, panels *surfaces.Host) []string {
	t.mu.Lock()
	why := t.behind[row.ID]
	t.mu.Unlock()
	var notes []string
	if why != "" {
		notes = append(notes, why)
	}
	return append(notes, t.failing(row, panels)...)
}

// failing says what of a plugin failed since it was loaded.
func (t *troubles) failing(row *compose.Row, panels *surfaces.Host) []string {
	t.mu.Lock()
	failed := map[string]int{}
	for _, s := range t.off[row.ID] {
		if s.load == row.Loads && row.State == compose.Active {
			failed[s.topic]++
		}
	}
	t.mu.Unlock()
	var notes []string
	for _, topic := range slices.Sorted(maps.Keys(failed)) {
		notes = append(notes, fmt.Sprintf("its listener of %s is switched off after %d failures in a row; /reload %s switches it on", topic, bus.StrikeLimit, row.Name))
	}
	if panels == nil {
		return notes
	}
	for _, p := range panels.Panels() {
		if p.ID.Plugin != row.Name {
			continue
		}
		for _, why := range []string{p.Err, p.UpdateErr} {
			if why != "" {
				notes = append(notes, why)
			}
		}
	}
	return notes
}

// startOver gives the panels of a plugin whose last view or update failed a new model:
// what they know may be what they fail of. It says so.
func (e *Engine) startOver(name string) (said []string) {
	if e.sitting.panels == nil {
		return nil
	}
	for _, p := range e.sitting.panels.Panels() {
		if p.ID.Plugin != name || p.Err == "" && p.UpdateErr == "" {
			continue
		}
		e.binder.ForgetModel(p.ID)
		said = append(said, fmt.Sprintf("surface %q begins anew with its init: it had failed", p.ID.Name))
	}
	return said
}
