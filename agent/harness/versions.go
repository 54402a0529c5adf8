package harness

import (
	"context"
	"fmt"
	"slices"

	"starling/bus/compose"
)

// maxEarlier is how many earlier versions of a plugin are kept.
const maxEarlier = 16

// ran is a version of a plugin that was active.
type ran struct {
	plugin plugin
	// failed: something of it did, such as a view or a listener.
	failed bool
}

// ranAs is the version that runs now; nil when it is not active.
func (e *Engine) ranAs(m *mounted) *ran {
	if !m.plugin.runs() {
		return nil
	}
	for _, row := range e.runtime.Roster().Rows {
		if row.ID == m.id && row.State == compose.Active {
			return &ran{m.plugin, len(e.troubles.failing(row, e.sitting.panels)) > 0}
		}
	}
	return nil
}

// keep remembers a version that another one replaced. One that fails is not worth the
// place of one that does not: several broken saves do not take the good one away.
func (m *mounted) keep(was ran) {
	m.earlier = slices.DeleteFunc(m.earlier, func(r ran) bool { return r.plugin.content == was.plugin.content })
	m.earlier = append(m.earlier, was)
	if len(m.earlier) <= maxEarlier {
		return
	}
	oldest := max(0, slices.IndexFunc(m.earlier, func(r ran) bool { return r.failed }))
	m.earlier = slices.Delete(m.earlier, oldest, oldest+1)
}

// good is where the newest version is of which nothing failed, or else the newest one;
// -1 for none.
func (m *mounted) good() int {
	for i, r := range slices.Backward(m.earlier) {
		if !r.failed {
			return i
		}
	}
	return len(m.earlier) - 1
}

// Restore brings back the last version of a plugin that was active and of which nothing
// failed, in memory: the file on disk stays as it is until it changes again. Called
// again, it goes further back.
func (e *Engine) Restore(ctx context.Context, name string) error {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	for _, m := range e.live.mounted {
		if m.plugin.file.Name != name {
			continue
		}
		at := m.good()
		if at < 0 {
			return fmt.Errorf("plugin %s: there is no earlier version that ran", name)
		}
		good, broken := m.earlier[at].plugin, m.plugin
		again := parse(good.file, memoryReader(good.bundle))
		again.realms, again.content, again.version = good.realms, good.content, good.version
		if err := e.runtime.Replace(m.id, e.component(again)); err != nil {
			return err
		}
		m.plugin, m.earlier = again, m.earlier[:at]
		m.behind = "an older version was brought back; its file counts again when it changes"
		if !m.restored {
			e.live.held[key(good.file)] = broken.version // what the disk has
		}
		m.restored = true
		return e.settled(ctx)
	}
	return fmt.Errorf("there is no plugin %q", name)
}
