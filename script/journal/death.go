package journal

import (
	"cmp"
	"slices"
	"time"
)

// Death is a call that was under way when its process died.
type Death struct {
	// Plugin and What are as they were entered, not cleaned for a screen.
	Plugin, What string
	When         time.Time // the call was entered
	// Innermost: no other call had come out of it, so it was at work and did not
	// wait for another plugin.
	Innermost bool
}

// Blamed returns, of what Open returned, the newest innermost call of each
// plugin. Several plugins can have been at work at once; which of them ended the
// process cannot be told.
func Blamed(deaths []Death) []Death {
	var blamed []Death
	for _, d := range deaths {
		if d.Innermost && !slices.ContainsFunc(blamed, func(b Death) bool { return b.Plugin == d.Plugin }) {
			blamed = append(blamed, d)
		}
	}
	return blamed
}

// deathsIn returns the entries of a journal, newest first.
func deathsIn(data []byte) []Death {
	var records []record
	alive := map[uint64]bool{}
	for ; len(data) >= slotSize; data = data[slotSize:] {
		if r, ok := read(data[:slotSize]); ok {
			records = append(records, r)
			alive[r.seq] = true
		}
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(b.seq, a.seq) })
	var deaths []Death
	for _, r := range records {
		waits := slices.ContainsFunc(records, func(other record) bool { return other.cameOutOf(r, alive) })
		deaths = append(deaths, Death{Plugin: r.plugin, What: r.what, When: time.Unix(0, r.when), Innermost: !waits})
	}
	return deaths
}

// cameOutOf tells whether a call came directly out of the call outer. Between
// them there may have been one that ended already, as after a call that left its
// work to be done once it is over: then it counts for all the older ones of the
// chain, of which one waits for it.
func (r record) cameOutOf(outer record, alive map[uint64]bool) bool {
	if r.outer == 0 || alive[r.outer] {
		return r.outer != 0 && r.outer == outer.seq
	}
	return r.chain == outer.chain && outer.seq < r.outer
}

// newestFirst joins what several processes left.
func newestFirst(of [][]Death) []Death {
	of = slices.DeleteFunc(of, func(d []Death) bool { return len(d) == 0 })
	slices.SortStableFunc(of, func(a, b []Death) int { return b[0].When.Compare(a[0].When) })
	return slices.Concat(of...)
}
