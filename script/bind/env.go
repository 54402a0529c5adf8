package bind

import (
	"fmt"

	"go.starlark.net/starlark"
)

var envWord = builtin{name: "env.get", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs("env.get", args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	if err := p.words.AllowsEnv(name); err != nil {
		return nil, fmt.Errorf("env.get: %w", err)
	}
	v, ok := p.host.LookupEnv(name)
	if !ok {
		return starlark.None, nil
	}
	return starlark.String(v), nil
}}
