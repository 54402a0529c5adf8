package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"starling/bus"
	"starling/bus/chat"
	"starling/bus/event"
	"starling/bus/spec"
)

// PermitCall is a call that passed its guards, on its final arguments.
type PermitCall struct {
	ID         string
	Tool       spec.Tool
	Owner      bus.Owner // who registered the tool
	Hidden     bool      // the tool is a built-in that a plugin replaced and calls
	Arguments  json.RawMessage
	Paths      []string // workspace-relative with links followed, absolute outside
	PathsKnown bool
	Rewritten  bool // by a plugin
	Origin     string
}

// Permission is the answer about a PermitCall. The zero value lets it run.
type Permission struct {
	// Refused says who denied it and why; nil lets it run.
	Refused *bus.Refusal
	// Arguments a person edited: the call enters again, with its guards. nil: as
	// they were.
	Arguments json.RawMessage
	// Note for the model, behind the result; empty for none.
	Note string
	// Ctx is what the tool runs under, made of the one that was given; nil is that.
	Ctx context.Context
}

// maxEdits is how often one call may be edited before it is refused.
const maxEdits = 8

// permit asks whether the call may run and leaves a result in it when not.
func (t *turnState) permit(ctx context.Context, c *call) {
	ask := t.r.a.o.Permit
	if ask == nil {
		return
	}
	for range maxEdits {
		p := ask(ctx, PermitCall{
			ID: c.block.ID, Tool: c.tool, Owner: c.owner, Hidden: c.origin != t.r.a.o.Origin,
			Arguments: c.arguments, Paths: c.paths, PathsKnown: c.allPaths,
			Rewritten: c.rewritten, Origin: c.origin,
		})
		switch {
		case ctx.Err() != nil:
			c.refuse(neverRan)
			return
		case p.Refused != nil:
			t.blocked(c, p.Refused)
			return
		case p.Arguments == nil:
			c.permitted = p.Ctx
			if p.Note != "" {
				c.notes = append(c.notes, event.Note{By: "starling", Text: p.Note})
			}
			return
		}
		if t.edited(ctx, c, p.Arguments); c.result != nil {
			return
		}
	}
	c.refuse("the call was edited too often")
}

// edited takes the arguments a person put in the place of the model's through
// the schema and the guards.
func (t *turnState) edited(ctx context.Context, c *call, arguments json.RawMessage) {
	checked, err := t.r.a.o.Tools.Check(c.tool, string(arguments))
	if err != nil {
		c.refuse(fmt.Sprintf("the arguments as the person edited them do not fit: %v", err))
		return
	}
	c.arguments, c.rewritten = checked, false
	t.guard(ctx, c)
}

// original makes what a replacement calls the tool it hides with; nil when the
// tool replaces none.
func (t *turnState) original(c *call) func(context.Context, json.RawMessage) (spec.ToolResult, error) {
	hidden, ok := t.r.a.o.Tools.Hidden(c.tool.Name)
	if !ok || c.origin != t.r.a.o.Origin {
		return nil
	}
	return func(ctx context.Context, arguments json.RawMessage) (spec.ToolResult, error) {
		inner := &call{
			block: chat.Block{Kind: chat.Call, ID: c.block.ID, Name: hidden.Name, Arguments: string(arguments)},
			tool:  hidden, known: true, origin: "plugin " + c.owner.Name, owner: bus.Owner{Name: "host"},
		}
		checked, err := t.r.a.o.Tools.Check(hidden, string(arguments))
		if err != nil {
			return spec.ToolResult{}, err
		}
		inner.arguments = checked
		t.guard(ctx, inner)
		if inner.result == nil {
			t.permit(ctx, inner)
		}
		if inner.result == nil {
			if inner.permitted != nil {
				ctx = inner.permitted
			}
			result := t.perform(ctx, inner)
			inner.result = &result
		}
		return *inner.result, nil
	}
}
