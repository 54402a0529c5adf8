package bind

import (
	"fmt"

	"go.starlark.net/starlark"

	"starling/bus"
)

// verdict is what block, reject and stop return: how a listener says no.
type verdict struct {
	kind string // the word that made it
	why  string
}

var _ starlark.Value = (*verdict)(nil)

func (v *verdict) String() string        { return fmt.Sprintf("%s(%q)", v.kind, v.why) }
func (v *verdict) Type() string          { return v.kind }
func (v *verdict) Freeze()               {}
func (v *verdict) Truth() starlark.Bool  { return true }
func (v *verdict) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", v.kind) }

func (v *verdict) refusal() *bus.Refusal {
	return &bus.Refusal{Why: v.why, Stop: v.kind == "block_and_stop"}
}

// noReason stands where a plugin refused without saying why.
const noReason = "no reason was given"

// refuse makes the builtin of one refusing word. A reason that is missing or no
// text still refuses: a slip in a guard must not open it.
func refuse(kind string) builtin {
	return builtin{name: kind, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v := &verdict{kind: kind, why: noReason}
		if kind == "stop" {
			v.why = "" // that a plugin wants no more is enough
		}
		var why starlark.Value = starlark.None
		if err := starlark.UnpackArgs(kind, args, kwargs, "why?", &why); err != nil {
			return nil, err
		}
		if text, ok := starlark.AsString(why); ok && text != "" {
			v.why = text
			return v, nil
		}
		if kind != "stop" || why != starlark.None {
			p.warn(c.Context(), "%s: why should be a text that says why, not %s; refused all the same", c.Info().What, describe(why))
		}
		return v, nil
	}}
}

func describe(v starlark.Value) string {
	if s, ok := starlark.AsString(v); ok && s == "" {
		return "an empty one"
	}
	return v.Type()
}
