package bind

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"go.starlark.net/starlark"

	"starling/script"
	"starling/script/limits"
)

// guards are the checked operations of every plugin and the watchdog over their
// calls.
type guards struct {
	mu    sync.Mutex
	names map[limits.Limits]starlark.StringDict

	dog     *limits.Watchdog
	watched sync.Map // *script.Call -> *atomic.Uint64, its ticks
}

func newGuards() *guards {
	return &guards{names: map[limits.Limits]starlark.StringDict{}, dog: limits.NewWatchdog(limits.WatchdogConfig{})}
}

// of returns the checked operations for these limits; plugins with the same
// limits share them.
func (g *guards) of(l script.Limits) starlark.StringDict {
	l = l.Full()
	size := limits.Defaults()
	size.String, size.List, size.Dict = number(l.String), number(l.List), number(l.Dict)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names[size] == nil {
		names := limits.Predeclared(size)
		// Package script has its own of these two, which go to the plugin's log.
		delete(names, "print")
		delete(names, "fail")
		g.names[size] = names
	}
	return g.names[size]
}

func number(n int64) int { return int(min(n, math.MaxInt32)) }

// watch is called for a call that has been computing for some milliseconds: from
// then on it answers for what the heap does.
func (g *guards) watch(c *script.Call) {
	ticks := &atomic.Uint64{}
	if _, again := g.watched.LoadOrStore(c, ticks); again {
		return
	}
	leave := g.dog.Enter(limits.Call{
		Ticks:  ticks.Load,
		Cancel: func(reason string) { c.Cancel(errors.New(reason)) },
	})
	context.AfterFunc(c.Context(), func() {
		g.watched.Delete(c)
		leave()
	})
}

// tick is called every some thousand steps of a call.
func (g *guards) tick(c *script.Call) {
	if ticks, ok := g.watched.Load(c); ok {
		ticks.(*atomic.Uint64).Add(1)
	}
}
