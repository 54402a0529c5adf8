package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"starling/agent"
	"starling/bus"
	"starling/bus/spec"
	"starling/bus/view"
	"starling/surfaces"
)

// renderTime is how long a plugin may take to draw one call, its result included.
const renderTime = time.Second

// viewKey is where the drawing of a call stands in the details of its result.
const viewKey = "view"

// renders draw calls with what plugins registered for them.
type renders struct {
	mu     sync.Mutex
	failed map[uint64]bool // registrations whose fault was told
}

// present draws a call and its result by the first render that matches and adds the
// widget tree to the details. A render that fails is told once and left out.
func (e *Engine) present(ctx context.Context, p agent.Presented) json.RawMessage {
	entry, ok := e.renderOf(p.Name)
	if !ok || denied(p.Details) {
		return p.Details
	}
	ctx, cancel := context.WithTimeoutCause(ctx, renderTime, fmt.Errorf("it took longer than %v", renderTime))
	defer cancel()
	tree, err := draw(ctx, entry.Value, p)
	var details json.RawMessage
	if err == nil && tree != nil {
		details, err = withView(p.Details, tree)
	}
	switch {
	case err != nil:
		e.renderFailed(entry, p.Name, err)
	case tree != nil:
		if hook := e.options.Screen.Presented; hook != nil {
			hook(p.ID, tree)
		}
		return details
	}
	return p.Details
}

func (e *Engine) renderOf(tool string) (bus.Entry[spec.Render], bool) {
	for _, entry := range e.registry.Surfaces.Renders.All() {
		if entry.Value.Matches(tool) {
			return entry, true
		}
	}
	return bus.Entry[spec.Render]{}, false
}

// denied tells whether a call was refused: that is the host's to show.
func denied(details json.RawMessage) bool {
	var d struct{ Denied bool }
	return json.Unmarshal(details, &d) == nil && d.Denied
}

// draw returns the widget tree of a call and its result; nil for none.
func draw(ctx context.Context, r spec.Render, p agent.Presented) (json.RawMessage, error) {
	arguments, details := any(p.Arguments), any(nil) // JSON is plain data
	if len(p.Details) > 0 {
		details = p.Details
	}
	call := map[string]any{"id": p.ID, "name": p.Name, "arguments": arguments}
	result := map[string]any{
		"id": p.ID, "name": p.Name, "arguments": arguments, "content": p.Content, "is_error": p.IsError, "details": details,
	}
	var parts []any
	for _, part := range []struct {
		what   string
		draw   func(context.Context, map[string]any) (any, error)
		fields map[string]any
	}{{"call", r.Call, call}, {"result", r.Result, result}} {
		tree, err := drawn(ctx, part.draw, part.fields)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
		if tree != nil {
			parts = append(parts, tree.Plain())
		}
	}
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return json.Marshal(parts[0])
	}
	return json.Marshal(map[string]any{"type": "rows", "children": parts})
}

// drawn asks a plugin for one part and waits no longer than ctx.
func drawn(ctx context.Context, f func(context.Context, map[string]any) (any, error), fields map[string]any) (*surfaces.Node, error) {
	if f == nil {
		return nil, nil
	}
	type answer struct {
		tree any
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if v := recover(); v != nil {
				a.err = fmt.Errorf("panic: %v", v)
			}
			done <- a
		}()
		a.tree, a.err = f(ctx, fields)
	}()
	select {
	case a := <-done:
		if a.err != nil || a.tree == nil {
			return nil, a.err
		}
		return surfaces.Parse(a.tree)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errNoPlace = errors.New("the details of the result are no dict, so there is no place for it beside them")

// withView adds a tree to details.
func withView(details, tree json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(details) > 0 {
		if err := json.Unmarshal(details, &fields); err != nil {
			return nil, errNoPlace
		}
		if fields == nil { // null
			fields = map[string]json.RawMessage{}
		}
	}
	fields[viewKey] = tree
	return json.Marshal(fields)
}

// renderFailed tells of the first fault of a registration.
func (e *Engine) renderFailed(entry bus.Entry[spec.Render], tool string, err error) {
	e.drawing.mu.Lock()
	again := e.drawing.failed[entry.Seq]
	if e.drawing.failed == nil {
		e.drawing.failed = map[uint64]bool{}
	}
	e.drawing.failed[entry.Seq] = true
	e.drawing.mu.Unlock()
	if !again {
		e.say(context.Background(), view.Notice{
			From: entry.Owner.Name, Text: fmt.Sprintf("render %s for %s: %v", entry.Value.Tool, tool, err), Warn: true,
		})
	}
}
