package bind

import (
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"starling/bus/event"
)

// holdDefault is the limit of a hold in seconds.
const holdDefault = 300

// hold is cx.hold: it keeps the request back that is being shaped.
func (r *runValue) hold(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	seconds := holdDefault
	if err := starlark.UnpackArgs("cx.hold", args, kwargs, "limit_s?", &seconds); err != nil {
		return nil, err
	}
	if seconds < 0 {
		return nil, fmt.Errorf("cx.hold: limit_s must be at least 0 (for no limit), not %d", seconds)
	}
	held, err := r.run.Hold(time.Duration(seconds) * time.Second)
	if err != nil {
		return nil, fmt.Errorf("cx.hold: %w", err)
	}
	return &holdValue{held}, nil
}

// holdValue is the handle of a request that is kept back.
type holdValue struct{ held event.Hold }

var _ starlark.HasAttrs = (*holdValue)(nil)

func (h *holdValue) String() string        { return "<held request>" }
func (h *holdValue) Type() string          { return "hold" }
func (h *holdValue) Freeze()               {}
func (h *holdValue) Truth() starlark.Bool  { return true }
func (h *holdValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: hold") }
func (h *holdValue) AttrNames() []string   { return []string{"release", "released"} }

// Attr: release() lets the request go, released tells whether it is gone.
func (h *holdValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "released":
		return starlark.Bool(h.held.Released()), nil
	case "release":
		return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
				return nil, err
			}
			h.held.Release()
			return starlark.None, nil
		}), nil
	}
	return nil, fmt.Errorf("hold has no .%s field%s", name, didYouMean(name, h.AttrNames()))
}
