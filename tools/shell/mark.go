package shell

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
)

// markName is the variable every process of a command carries, so that one which
// left the session, its parent and the pipes is still found: a daemon.
const markName = "STARLING_PROCESS"

// markFD is the file a command is given that has the mark for its name, where the
// system has such files: what cleared its environment keeps it. It is empty and
// cannot be written. Its number is none that shells use.
const markFD = 19

// markFileName is what its name begins with; the mark follows.
const markFileName = "starling-process-"

// newMark is the part of the marks that is the engine's alone.
func newMark() string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "" // then daemons are not found; everything else is
	}
	return hex.EncodeToString(b[:])
}

// markOf is the mark of process id.
func (e *Engine) markOf(id int) string {
	if e.mark == "" {
		return ""
	}
	return fmt.Sprintf("%s.%d", e.mark, id)
}

// marks remembers the mark of each process it was asked about: the environment of
// one is read once, however many commands look for theirs.
type marks struct {
	read func(pid int) []byte // the environment, NAME=VALUE and a NUL each; nil where nobody can tell
	file func(pid int) string // the mark of its file, "" without

	mu   sync.Mutex
	seen map[instance]string
}

// instance is a process that is not mistaken for a later one of the same number.
type instance struct {
	pid   int
	start uint64
}

// mostMarks bounds what is remembered; beyond it the reading starts over.
const mostMarks = 1 << 14

func (m *marks) of(e entry) string {
	key := instance{e.pid, e.start}
	m.mu.Lock()
	defer m.mu.Unlock()
	if mark, ok := m.seen[key]; ok {
		return mark
	}
	mark := ""
	if m.file != nil {
		mark = m.file(e.pid)
	}
	for variable := range bytes.SplitSeq(m.read(e.pid), []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, []byte(markName+"=")); ok {
			mark = string(value)
		}
	}
	if m.seen == nil || len(m.seen) >= mostMarks {
		m.seen = map[instance]string{}
	}
	m.seen[key] = mark
	return mark
}
