package shell

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// entry is one line of the system's process table.
type entry struct {
	pid, parent, group, session int
	// start tells two processes apart that had the same pid, in a unit of the
	// system's own.
	start  uint64
	zombie bool
}

// tree finds what belongs to one command: its session, the descendants of
// that session which left it, and whoever writes to its pipes.
type tree struct {
	leader int             // the command; also the id of its session and group
	reaped <-chan struct{} // closed when the leader was waited for
	pipes  []uint64        // inodes of the output pipes
	system *system
	mark   string // of the command's environment; "" where nobody can read it
	since  uint64 // when the command started, as entry.start
	born   time.Time

	mu     sync.Mutex
	strays map[int]uint64 // seen outside the session: pid -> start
}

func newTree(leader int, reaped <-chan struct{}, pipes []*os.File, sys *system) *tree {
	t := &tree{leader: leader, reaped: reaped, system: sys, born: time.Now(), strays: map[int]uint64{}}
	for _, p := range pipes {
		if info, err := p.Stat(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				t.pipes = append(t.pipes, uint64(st.Ino))
			}
		}
	}
	return t
}

func (t *tree) isReaped() bool {
	select {
	case <-t.reaped:
		return true
	default:
		return false
	}
}

// alive lists what is left of the command, without zombies.
func (t *tree) alive() []entry {
	// Asked before the table is read: a leader that was not reaped then cannot
	// have given its number to a stranger in the table.
	reaped := t.isReaped()
	table := t.table()
	if len(table) == 0 { // the system tells nothing: the group is all there is
		if syscall.Kill(-t.leader, 0) != nil {
			return nil
		}
		return []entry{{group: t.leader, session: t.leader}}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var left []entry
	for _, e := range t.members(table, reaped) {
		switch {
		case !e.zombie:
			left = append(left, e)
		case e.parent == os.Getpid() && e.pid != t.leader:
			// An orphan became our child: where we are process 1, nobody else
			// reaps it.
			_, _ = syscall.Wait4(e.pid, nil, syscall.WNOHANG, nil)
		}
	}
	return left
}

// young is for how long after the start of a command every process of a higher
// number is younger: numbers do not come round so soon.
const young = 500 * time.Millisecond

// table is the part of the process table that can hold something of the command.
// What it started has a higher number than its own as long as numbers did not come
// round, so a short command on a machine with many processes need not read them all.
func (t *tree) table() []entry {
	t.mu.Lock()
	own := len(t.strays) == 0 // a writer of the pipes may be older
	t.mu.Unlock()
	if own && time.Since(t.born) < young {
		if table, ok := processesFrom(t.leader); ok && time.Since(t.born) < young {
			return table
		}
	}
	return t.system.table.get()
}

// members picks the command's processes out of the table and remembers those
// outside the session, which would be unknown once their parent is gone.
func (t *tree) members(table []entry, reaped bool) []entry {
	// Once the leader is reaped, a process with its number is a stranger, and
	// the session of that number is the stranger's.
	lost := reaped && slices.ContainsFunc(table, func(e entry) bool { return e.pid == t.leader })
	ours := map[int]bool{}
	for grown := true; grown; {
		grown = false
		for _, e := range table {
			if ours[e.pid] {
				continue
			}
			inside := e.session == t.leader && !lost
			start, known := t.strays[e.pid]
			if !inside && !ours[e.parent] && (!known || start != e.start) && !t.marked(e) {
				continue
			}
			ours[e.pid], grown = true, true
			if !inside {
				t.strays[e.pid] = e.start
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(table), func(e entry) bool { return !ours[e.pid] })
}

// marked tells whether a process carries the mark of the command. Only those that
// started since can.
func (t *tree) marked(e entry) bool {
	return t.mark != "" && !e.zombie && e.start >= t.since && t.system.marks.of(e) == t.mark
}

// signal sends sig to all that can be found; with pipes also to the writers of
// the output pipes, which is the slower search.
func (t *tree) signal(sig syscall.Signal, pipes bool) {
	if pipes {
		t.findWriters()
	}
	left := t.alive()
	inGroup := func(e entry) bool { return e.group == t.leader && e.session == t.leader }
	if !t.isReaped() || slices.ContainsFunc(left, inGroup) {
		_ = syscall.Kill(-t.leader, sig) // the whole group at once, so that no fork slips through
	}
	for _, e := range left {
		if !inGroup(e) {
			_ = syscall.Kill(e.pid, sig)
		}
	}
}

// findWriters takes in whoever writes to the output pipes.
func (t *tree) findWriters() {
	writers := t.system.writers.get()
	for _, pipe := range t.pipes {
		t.adopt(writers[pipe])
	}
}

func (t *tree) adopt(pids []int) {
	if len(pids) == 0 {
		return
	}
	table := t.system.table.get()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range table {
		if slices.Contains(pids, e.pid) && e.session != t.leader && e.pid != os.Getpid() {
			t.strays[e.pid] = e.start
		}
	}
}
