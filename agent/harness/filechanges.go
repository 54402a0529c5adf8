package harness

import (
	"context"

	"starling/bus/event"
	"starling/bus/spec"
	"starling/tools/fs"
)

// fileChanged announces a change that a file tool made.
func (e *Engine) fileChanged(c fs.Change) {
	if !e.changes.Listening() {
		return
	}
	e.announcer.later(func() {
		e.changes.Send(context.Background(), &event.FileChangeEvent{
			Path: c.Path, Kind: string(c.Kind), Before: c.Before, After: c.After,
		})
	})
}

// watched makes a tool announce the files of the workspace, and of the further
// folders, that differ after it ran, as long as somebody listens: nobody else pays for
// the comparison.
func (e *Engine) watched(t spec.Tool, files *fs.Files) spec.Tool {
	run := t.Execute
	t.Execute = func(ctx context.Context, c spec.ToolCall) (spec.ToolResult, error) {
		if !e.changes.Listening() {
			return run(ctx, c)
		}
		before, err := files.Snapshot(ctx)
		if err != nil || before == nil { // too many files: nobody can tell
			return run(ctx, c)
		}
		result, failed := run(ctx, c)
		// What a cancelled command changed is changed all the same.
		after, err := files.Snapshot(context.WithoutCancel(ctx))
		if err == nil && after != nil {
			for _, change := range files.Changes(context.WithoutCancel(ctx), before, after) {
				e.fileChanged(change)
			}
		}
		return result, failed
	}
	return t
}
