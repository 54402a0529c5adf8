package compose

import (
	"reflect"
	"slices"
)

// mark notes that the row of m may have changed.
func (g *graph) mark(m *mount) {
	if !m.dirty {
		m.dirty = true
		g.dirty = append(g.dirty, m)
	}
}

// spoil notes that the rows of everybody who claims b may have changed.
func (g *graph) spoil(b *binding) {
	if !b.dirty {
		b.dirty = true
		g.dirtyBindings = append(g.dirtyBindings, b)
	}
}

// publish makes the next picture out of the last one. It shares every row that
// did not change, and the whole picture when none did.
func (g *graph) publish(last *Roster) *Roster {
	g.publications++
	g.spread()
	var fresh []*mount
	for _, m := range g.dirty {
		m.dirty = false
		g.work++
		if m.gone {
			if m.row != nil {
				g.retired[m.row] = true
				m.row = nil
			}
			continue
		}
		row := g.row(m)
		if m.row != nil {
			if reflect.DeepEqual(row, m.row) {
				continue
			}
			g.retired[m.row] = true
		}
		m.row = row
		fresh = append(fresh, m)
	}
	g.dirty = nil
	if len(fresh) == 0 && len(g.retired) == 0 {
		return last
	}
	sortMounts(fresh)
	rows := make([]*Row, 0, len(last.Rows)+len(fresh)-len(g.retired))
	for _, row := range last.Rows {
		if len(g.retired) > 0 && g.retired[row] {
			continue
		}
		for len(fresh) > 0 && fresh[0].place().before(place{pos: row.Position, id: row.ID}) {
			rows = append(rows, fresh[0].row)
			fresh = fresh[1:]
		}
		rows = append(rows, row)
	}
	for _, m := range fresh {
		rows = append(rows, m.row)
	}
	clear(g.retired)
	return &Roster{Rows: rows}
}

// spread marks the rows that tell of something else that changed.
func (g *graph) spread() {
	for _, b := range g.dirtyBindings {
		b.dirty = false
		for _, m := range b.claimants {
			g.mark(m)
		}
		// Where else the key is served is told only where nobody owns it.
		if b.serving == nil && b.key.others != nil {
			g.markUsers(b)
		}
	}
	for _, k := range g.dirtyKeys {
		k.dirty = false
		k.each(func(b *binding) {
			if b.serving == nil {
				g.markUsers(b)
			}
		})
	}
	g.dirtyBindings, g.dirtyKeys = nil, nil
	if len(g.dirty) > 0 {
		g.findCycles()
	}
	// A conflict also tells what the owner waits for. The list grows meanwhile.
	for i := 0; i < len(g.dirty); i++ {
		m := g.dirty[i]
		if !m.owns {
			continue
		}
		for _, b := range m.offers {
			if len(b.claimants) > 1 {
				for _, c := range b.claimants {
					g.mark(c)
				}
			}
		}
	}
}

func (g *graph) markUsers(b *binding) {
	for _, u := range b.users {
		g.mark(u.m)
	}
}

func (g *graph) row(m *mount) *Row {
	row := &Row{
		ID: m.id, Name: m.c.Name, Origin: m.c.Origin, Position: m.c.Position, Version: m.c.Version,
		State: m.state, Reason: g.reason(m), Loads: m.loads,
		Inject: m.c.Inject, Provides: m.c.Provides, Emits: m.c.Emits, Uses: m.c.Uses,
		Description: m.c.Description, Path: m.c.Path,
	}
	if m.parent != nil {
		row.Parent = m.parent.id
	}
	if m.drain != nil {
		row.Swap = swapReason
	}
	if m.missing > 0 {
		for i := range m.needs {
			if n := &m.needs[i]; n.live == nil && n.b.serving == nil {
				row.Missing = append(row.Missing, n.key)
			}
		}
	}
	if m.live() {
		row.Registrations = make([]string, len(m.load.entries))
		for i, e := range m.load.entries {
			row.Registrations[i] = e.label
		}
	}
	return row
}

func sortMounts(list []*mount) {
	slices.SortFunc(list, func(a, b *mount) int {
		if a.place().before(b.place()) {
			return -1
		}
		if b.place().before(a.place()) {
			return 1
		}
		return 0
	})
}
