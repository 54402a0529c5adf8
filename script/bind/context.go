package bind

import (
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// context makes ctx, the argument of apply.
func (p *Plugin) context() starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("ctx"), starlark.StringDict{
		"name":      starlark.String(p.owner.Name),
		"cwd":       starlark.String(p.host.Cwd),
		"workspace": starlark.String(p.host.Workspace),
		"host":      starlark.String(p.host.Name),
	})
}
