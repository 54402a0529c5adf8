package bind

import (
	"context"
	"fmt"
	"sync/atomic"
)

// chainEvents is how many custom events may come of one thing that happened: a
// host event, a tool call, a command, a reply.
const chainEvents = 1000

// chain counts what came of one call into a plugin from outside. Nesting bounds
// only how deep events of events go: ten at each of thirteen levels would never
// end.
type chain struct {
	root   string // the plugin and the call it began with
	events atomic.Int64
	told   atomic.Bool
}

type chainKey struct{}

// chained carries the chain to every call that comes of this one.
type chained struct {
	context.Context
	chain *chain
}

func (c *chained) Value(key any) any {
	if key == (chainKey{}) {
		return c.chain
	}
	return c.Context.Value(key)
}

// inChain returns ctx with the chain it belongs to, a new one where it has none.
func (p *Plugin) inChain(ctx context.Context, what string) context.Context {
	if _, ok := ctx.Value(chainKey{}).(*chain); ok {
		return ctx
	}
	return &chained{ctx, &chain{root: what + " of plugin " + p.Name()}}
}

// announce counts one more event of the chain. Beyond the bound it is an error,
// and the person is told once.
func (p *Plugin) announce(ctx context.Context, name string) error {
	c, ok := ctx.Value(chainKey{}).(*chain)
	if !ok || c.events.Add(1) <= chainEvents {
		return nil
	}
	err := fmt.Errorf("plugin %s announces too much: %d events came of one call, %s; a listener must not answer events with ever more of them", p.Name(), chainEvents, c.root)
	if c.told.CompareAndSwap(false, true) {
		p.warn(ctx, "emit %s: %v", name, err)
	}
	return err
}
