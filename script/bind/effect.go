package bind

import (
	"context"
	"fmt"

	"go.starlark.net/starlark"

	"starling/script"
)

var effectWord = builtin{name: "effect", registers: true, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var setup, teardown starlark.Value
	if err := starlark.UnpackArgs("effect", args, kwargs, "setup", &setup, "teardown", &teardown); err != nil {
		return nil, err
	}
	undo, err := callable("effect: teardown", teardown, 0)
	if err != nil {
		return nil, err
	}
	if setup != starlark.None {
		do, err := callable("effect: setup", setup, 0)
		if err != nil {
			return nil, err
		}
		if _, err := starlark.Call(c.thread, do, nil, nil); err != nil {
			return nil, fmt.Errorf("effect: setup: %w", err)
		}
	}
	p.scope.Defer("effect "+undo.Name(), func(ctx context.Context) error {
		_, err := p.call(ctx, script.Undo, "teardown "+undo.Name(), undo)
		return err
	})
	return starlark.None, nil
}}
