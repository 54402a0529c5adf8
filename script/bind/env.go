package bind

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"starling/trust"
)

var envWord = builtin{name: "env.get", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs("env.get", args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	if err := p.words.AllowsEnv(name); err != nil {
		return nil, fmt.Errorf("env.get: %w", err)
	}
	// What a model takes its key from may have any name: as with other keys, no
	// wildcard yields it.
	exact := func(w trust.Word) bool { return w.Kind == trust.Env && w.Scope == name }
	if p.host.IsKey != nil && p.host.IsKey(name) && !slices.ContainsFunc(p.words, exact) {
		return nil, fmt.Errorf("env.get: %s holds a key, so it needs %q in uses", name, "env:"+name)
	}
	v, ok := p.host.LookupEnv(name)
	if !ok {
		return starlark.None, nil
	}
	return starlark.String(v), nil
}}
