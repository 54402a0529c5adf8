package shell

import (
	"slices"
	"testing"
)

func TestMembers(t *testing.T) {
	table := []entry{
		{pid: 1, session: 1, group: 1},
		{pid: 40, parent: 30, session: 40, group: 40, start: 5}, // left the session; its parent did not
		{pid: 30, parent: 20, session: 20, group: 30},           // a job of its own
		{pid: 21, parent: 1, session: 20, group: 20},            // an orphan of the session
		{pid: 41, parent: 40, session: 40, group: 40, start: 6},
		{pid: 50, parent: 1, session: 50, group: 50, start: 7}, // not ours
		{pid: 60, parent: 1, session: 60, group: 60, start: 9}, // seen before
		{pid: 61, parent: 1, session: 61, group: 61, start: 9}, // the number was seen, the process was not
	}
	pidsOf := func(es []entry) []int {
		var out []int
		for _, e := range es {
			out = append(out, e.pid)
		}
		slices.Sort(out)
		return out
	}
	tr := &tree{leader: 20, strays: map[int]uint64{60: 9, 61: 8}}
	if got := pidsOf(tr.members(table, true)); !slices.Equal(got, []int{21, 30, 40, 41, 60}) {
		t.Errorf("members %v", got)
	}
	if tr.strays[40] != 5 || tr.strays[41] != 6 {
		t.Errorf("strays %v", tr.strays)
	}
	// The leader's number belongs to a stranger: its session is not ours, what
	// was seen before still is.
	table = append(table, entry{pid: 20, parent: 1, session: 20, group: 20})
	if got := pidsOf(tr.members(table, true)); !slices.Equal(got, []int{40, 41, 60}) {
		t.Errorf("members %v", got)
	}
	if got := pidsOf(tr.members(table, false)); !slices.Contains(got, 20) {
		t.Errorf("members %v without the running leader", got)
	}
}
