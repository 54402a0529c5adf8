package bind

import (
	"fmt"
	"sort"

	"starling/trust"

	"go.starlark.net/starlark"

	"starling/bus/event"
)

// runWord gives the handle of the run a callback belongs to, else of the one
// that goes now.
var runWord = builtin{name: "run", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("run", args, kwargs); err != nil {
		return nil, err
	}
	if cx, ok := c.Context().Value(runKey{}).(*runValue); ok && cx.plugin == p {
		return cx, nil
	}
	if p.host.CurrentRun == nil {
		return starlark.None, nil
	}
	if run := p.host.CurrentRun(); run != nil {
		return p.runValue(run), nil
	}
	return starlark.None, nil
}}

// runKey marks the calls of listeners that were handed a cx.
type runKey struct{}

// runValue makes cx of a run. Whoever runs into a limit through it is named.
func (p *Plugin) runValue(run event.Run) *runValue {
	if a, ok := run.(event.Attributed); ok {
		run = a.As(p.owner)
	}
	return &runValue{plugin: p, run: run}
}

// runValue is cx: the handle on a run, as one plugin may use it.
type runValue struct {
	plugin *Plugin
	run    event.Run
}

var _ starlark.HasAttrs = (*runValue)(nil)

func (r *runValue) String() string        { return "<run>" }
func (r *runValue) Type() string          { return "run" }
func (r *runValue) Freeze()               {}
func (r *runValue) Truth() starlark.Bool  { return true }
func (r *runValue) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: run") }

// runMethods change the run; steer tells which need that word.
var runMethods = map[string]struct {
	steer    bool
	optional bool // the text may be left out
	do       func(r event.Run, text string) error
}{
	"note":      {steer: true, do: event.Run.Note},
	"push_user": {steer: true, do: event.Run.PushUser},
	"cancel":    {optional: true, do: event.Run.Cancel},
}

var runReads = map[string]func(event.Run) starlark.Value{
	"cancelled": func(r event.Run) starlark.Value { return starlark.Bool(r.Cancelled()) },
	"model":     func(r event.Run) starlark.Value { return starlark.String(r.Model()) },
	"turn":      func(r event.Run) starlark.Value { return starlark.MakeInt(r.Turn()) },
	"usage":     func(r event.Run) starlark.Value { return usageValue(r.Usage()) },
	"task":      func(r event.Run) starlark.Value { return starlark.String(r.Task()) },
	"budget": func(r event.Run) starlark.Value {
		share, ok := r.Budget()
		if !ok {
			return starlark.None
		}
		return starlark.Float(share)
	},
}

func (r *runValue) AttrNames() []string {
	var names []string
	for name := range runReads {
		names = append(names, name)
	}
	for name := range runMethods {
		names = append(names, name)
	}
	names = append(names, "hold")
	sort.Strings(names)
	return names
}

func (r *runValue) Attr(name string) (starlark.Value, error) {
	if read, ok := runReads[name]; ok {
		return read(r.run), nil
	}
	if name == "hold" {
		return starlark.NewBuiltin(name, r.hold), nil
	}
	m, ok := runMethods[name]
	if !ok {
		return nil, fmt.Errorf("run has no .%s field%s", name, didYouMean(name, r.AttrNames()))
	}
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var text string
		param := "text"
		if m.optional {
			param = "why?"
		}
		if err := starlark.UnpackArgs("cx."+name, args, kwargs, param, &text); err != nil {
			return nil, err
		}
		if m.steer {
			if err := r.plugin.needs(trust.Steer); err != nil {
				return nil, fmt.Errorf("cx.%s: %w", name, err)
			}
		}
		if text == "" && !m.optional {
			return nil, fmt.Errorf("cx.%s: the text must not be empty", name)
		}
		if err := m.do(r.run, text); err != nil {
			return nil, fmt.Errorf("cx.%s: %w", name, err)
		}
		return starlark.None, nil
	}), nil
}
