package harness

import (
	"fmt"
	"strings"
)

// FailMounted takes a plugin out as an abandoned call does.
func (e *Engine) FailMounted(name, reason string) error {
	for _, m := range e.live.mounted {
		if m.plugin.file.Name == name {
			return e.runtime.Fail(m.id, reason)
		}
	}
	return fmt.Errorf("there is no plugin %q", name)
}

// SameOnDisk tells whether the file system shows no change since the last reading.
func (e *Engine) SameOnDisk() bool {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	return e.source.same()
}

// Waits tells whether something that changed is loaded before the next turn.
func (e *Engine) Waits() bool {
	e.live.mu.Lock()
	defer e.live.mu.Unlock()
	return e.live.pending
}

// LoadAgain replaces a plugin by itself, without a look at the disk.
func (e *Engine) LoadAgain(file string) error {
	for k, m := range e.live.mounted {
		if strings.HasSuffix(k, "/"+file) {
			return e.runtime.Replace(m.id, e.component(m.plugin))
		}
	}
	return fmt.Errorf("there is no plugin %q", file)
}

// LoadsOf is how often a plugin became active.
func (e *Engine) LoadsOf(name string) uint64 {
	if row := e.runtime.Roster().Find(name); row != nil {
		return row.Loads
	}
	return 0
}

// Absent is why the first missing guard is missing; "" when all are there.
func (e *Engine) Absent() string {
	for _, a := range *e.absent.Load() {
		return a.plugin + " " + a.why
	}
	return ""
}
