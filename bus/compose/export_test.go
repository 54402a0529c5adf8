package compose

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Counts is what a runtime holds that must not grow.
type Counts struct {
	Mounts, Keys, Bindings, Known, Waiting, Queued, Watched int
}

// Count asks the owner goroutine. The runtime must not be shut down.
func (r *Runtime) Count() Counts {
	answer := make(chan Counts)
	r.post(func(g *graph) {
		c := Counts{Mounts: len(g.mounts), Keys: len(g.keys), Waiting: len(g.waiting)}
		c.Queued = len(g.ready.list) + len(g.down.list) + len(g.late.list) + len(g.claiming.list) + len(g.recheck)
		for _, k := range g.keys {
			k.each(func(b *binding) {
				c.Bindings++
				c.Watched += len(b.watchers)
			})
		}
		answer <- c
	})
	c := <-answer
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Known = len(r.known)
	return c
}

// Provided lists every served binding.
func (r *Runtime) Provided() string {
	answer := make(chan string)
	r.post(func(g *graph) {
		var lines []string
		for _, k := range g.keys {
			k.each(func(b *binding) {
				if b.serving == nil {
					return
				}
				private := ""
				if b.realm.owner != 0 {
					private = g.mounts[b.realm.owner].c.Name
				}
				lines = append(lines, fmt.Sprintf("%s in {%s %s} by %s\n", k.name, b.realm.name, private, b.serving.c.Name))
			})
		}
		sort.Strings(lines)
		answer <- strings.Join(lines, "")
	})
	return <-answer
}

// State tells what the owner goroutine is at, for a test that hangs.
func (r *Runtime) State() string {
	answer := make(chan string, 1)
	r.post(func(g *graph) {
		text := fmt.Sprintf("leaving %d, draining %d, call %v, down %d, late %d\n", g.leaving, g.draining, g.call != nil, len(g.down.list), len(g.late.list))
		for _, m := range g.mounts {
			text += fmt.Sprintf("%s %s tries %d", m.c.Name, m.state, m.tries)
			if m.load != nil {
				text += fmt.Sprintf(", holders %d, leaving %v", m.load.holders, m.load.leaving)
			}
			text += "\n"
		}
		answer <- text
	})
	select {
	case text := <-answer:
		return text
	case <-time.After(time.Second):
		return "the owner goroutine does not answer"
	}
}

// Work tells how many mounts were looked at so far.
func (r *Runtime) Work() uint64 {
	answer := make(chan uint64)
	r.post(func(g *graph) { answer <- g.work })
	return <-answer
}
