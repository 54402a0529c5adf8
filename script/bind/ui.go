package bind

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/surfaces"
)

// uiModule is the module ui: one constructor for each type of widget. They build the
// same dicts a plugin may write itself, and check names where they are written.
var uiModule = func() *starlarkstruct.Module {
	members := starlark.StringDict{}
	for _, t := range surfaces.Types() {
		members[string(t)] = starlark.NewBuiltin("ui."+string(t), constructor(t))
	}
	return &starlarkstruct.Module{Name: "ui", Members: members}
}()

func constructor(t surfaces.Type) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	fields, own := surfaces.Fields(t), surfaces.OwnFields(t)
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 1 || len(args) == 1 && len(own) == 0 {
			return nil, fmt.Errorf("%s takes %s", b.Name(), positional(own))
		}
		d := starlark.NewDict(1 + len(args) + len(kwargs))
		set := func(field string, v starlark.Value) error { return d.SetKey(starlark.String(field), v) }
		if err := set("type", starlark.String(t)); err != nil {
			return nil, err
		}
		if len(args) == 1 {
			if err := set(own[0], args[0]); err != nil {
				return nil, err
			}
		}
		for _, kv := range kwargs {
			field := string(kv[0].(starlark.String))
			switch {
			case !slices.Contains(fields, field):
				return nil, fmt.Errorf("%s has no field %q%s", b.Name(), field, didYouMean(field, fields))
			case len(args) == 1 && field == own[0]:
				return nil, fmt.Errorf("%s got %s twice", b.Name(), field)
			}
			if err := set(field, kv[1]); err != nil {
				return nil, err
			}
		}
		return d, nil
	}
}

func positional(own []string) string {
	if len(own) == 0 {
		return "no positional arguments; name them"
	}
	return fmt.Sprintf("one positional argument, %s; name the others", own[0])
}
