package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"go.starlark.net/starlark"

	"starling/script/value"
)

// recordedWords are the words whose results come from outside the plugin: with
// them a session can be replayed through a changed plugin.
var recordedWords = map[string]bool{
	"fs.read": true, "fs.exists": true, "fs.list": true, "fs.stat": true, "fs.lock": true,
	"exec": true, "http.get": true, "http.post": true, "http.request": true,
	"env.get": true, "random.token": true, "model.ask": true, "model.list": true,
	"original": true, "config": true, "state": true, "system_prompt": true, "agents_md": true, "skills": true, "tool_list": true,
}

// callRecord counts what one call of a plugin got, by word.
type callRecord struct {
	id string
	mu sync.Mutex
	n  map[string]int
}

type recordKey struct{}

// recorded gives a call its name in the plugin record: what it handles, and the
// how many-th of these it is.
func (p *Plugin) recorded(ctx context.Context, what string) context.Context {
	if p.host.Record == nil {
		return ctx
	}
	return context.WithValue(ctx, recordKey{}, &callRecord{id: fmt.Sprintf("%s#%d", what, p.host.calls.next(p.Name(), what))})
}

// callCounts numbers the calls of each plugin, by what they handle.
type callCounts struct {
	mu sync.Mutex
	n  map[[2]string]int
}

func (c *callCounts) next(plugin, what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[[2]string]int{}
	}
	key := [2]string{plugin, what}
	c.n[key]++
	return c.n[key]
}

// keep records what a word gave the plugin. A reply comes later and is kept by
// async.
func (p *Plugin) keep(ctx context.Context, word string, v starlark.Value, err error) {
	if p.host.Record == nil {
		return
	}
	call, _ := ctx.Value(recordKey{}).(*callRecord)
	if call == nil {
		return
	}
	raw, ok := outcomeJSON(v, err)
	if !ok {
		return // a handle: what it brings is recorded when it comes
	}
	call.mu.Lock()
	if call.n == nil {
		call.n = map[string]int{}
	}
	n := call.n[word]
	call.n[word]++
	call.mu.Unlock()
	p.host.Record(p.Name(), call.id, word, n, raw)
}

// outcomeJSON is {"value": …} or {"error": …}.
func outcomeJSON(v starlark.Value, err error) (json.RawMessage, bool) {
	if err != nil {
		raw, e := json.Marshal(map[string]string{"error": err.Error()})
		return raw, e == nil
	}
	raw, e := value.ToJSON(v)
	if e != nil {
		return nil, false
	}
	return json.RawMessage(fmt.Sprintf(`{"value":%s}`, raw)), true
}
