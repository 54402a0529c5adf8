package harness

import (
	"context"
	"fmt"

	"starling/bus/event"
	"starling/bus/spec"
	"starling/tools/shell"
)

// processes is the service of that name: what the shell tool and plugins started.
type processes struct{ shell *shell.Engine }

var _ spec.Service = processes{}

// Methods returns the names, sorted.
func (processes) Methods() []string { return []string{"list", "stop"} }

// Call runs list() or stop(id); stop needs the word exec.
func (p processes) Call(ctx context.Context, method string, args []any, kwargs map[string]any) (any, error) {
	switch method {
	case "list":
		if len(args)+len(kwargs) > 0 {
			return nil, fmt.Errorf("takes no argument")
		}
		rows := []any{}
		for _, r := range p.shell.List() {
			rows = append(rows, map[string]any{
				"id": int64(r.ID), "pid": int64(r.PID), "origin": r.Origin, "command": r.Command,
				"status": r.Status, "elapsed_ms": r.Elapsed.Milliseconds(),
			})
		}
		return rows, nil
	case "stop":
		if caller := spec.CallerOf(ctx); caller != nil {
			if err := caller.Needs("exec"); err != nil {
				return nil, err
			}
		}
		id, err := theID(args, kwargs)
		if err != nil {
			return nil, err
		}
		return nil, p.shell.Stop(int(id))
	}
	return nil, fmt.Errorf("there is no method %q; there are list and stop", method)
}

func theID(args []any, kwargs map[string]any) (int64, error) {
	given, ok := kwargs["id"]
	if ok != (len(kwargs) == 1) || len(args)+len(kwargs) != 1 {
		return 0, fmt.Errorf("takes one argument, the id of a process")
	}
	if !ok {
		given = args[0]
	}
	id, ok := given.(int64)
	if !ok {
		return 0, fmt.Errorf("id must be a number, as in list()")
	}
	return id, nil
}

// exited announces the end of a process.
func (e *Engine) exited(row shell.Row) {
	if !e.exits.Listening() {
		return
	}
	e.announcer.later(func() {
		e.exits.Send(context.Background(), &event.ProcessExitEvent{
			ID: row.ID, Origin: row.Origin, Command: row.Command, Status: row.Status, ElapsedMS: int(row.Elapsed.Milliseconds()),
		})
	})
}
