package bind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/compose"
	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
	"starling/surfaces"
)

// models are what surfaces know, by plugin and name: they outlive a replacement of
// the plugin and end with the process.
type models struct {
	mu   sync.Mutex
	held map[surfaces.ID]*spec.Model
}

func (m *models) of(id surfaces.ID) *spec.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = map[surfaces.ID]*spec.Model{}
	}
	if m.held[id] == nil {
		m.held[id] = spec.NewModel(nil)
	}
	return m.held[id]
}

// ForgetModel has a surface begin anew with its init when it is registered the next
// time. The one that stands keeps its model until then.
func (b *Binder) ForgetModel(id surfaces.ID) {
	b.models.mu.Lock()
	defer b.models.mu.Unlock()
	delete(b.models.held, id)
}

// panels are the surfaces of one mount, by name.
type panels struct {
	mu   sync.Mutex
	held map[string]*spec.Model
}

// add notes a surface; false when the name is taken.
func (s *panels) add(name string, m *spec.Model) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[string]*spec.Model{}
	}
	_, taken := s.held[name]
	s.held[name] = m
	return !taken
}

func (s *panels) find(name string) (m *spec.Model, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[name], slices.Sorted(maps.Keys(s.held))
}

// surfaceWords are surface, render and what their functions use.
func surfaceWords() []builtin {
	return []builtin{surfaceWord, renderWord, surfaceStateWord, resultWord, sendWord, promptWithWord}
}

var surfaceWord = builtin{name: "surface", registers: true, service: "surfaces", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var (
		s                             spec.Surface
		placement, view, init, update starlark.Value = nil, nil, starlark.None, starlark.None
	)
	err := starlark.UnpackArgs("surface", args, kwargs, "name", &s.Name, "placement", &placement, "view", &view, "init?", &init, "update?", &update, "tick?", &s.Tick)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("surface %q", s.Name)
	if err := surfaces.ValidateName(s.Name); err != nil {
		return nil, fmt.Errorf("surface: %w", err)
	}
	if s.Placement, err = placementOf(placement); err != nil {
		return nil, fmt.Errorf("%s: placement: %w", what, err)
	}
	if s.View, err = p.viewer(what, view); err != nil {
		return nil, err
	}
	if update != starlark.None {
		if s.Update, err = p.updater(what, update); err != nil {
			return nil, err
		}
	} else if s.Tick {
		return nil, fmt.Errorf("%s: tick=True needs an update that gets the ticks", what)
	}
	start, err := startOf(what, c, init)
	if err != nil {
		return nil, err
	}
	s.Model = p.host.models.of(surfaces.ID{Plugin: p.Name(), Name: s.Name})
	if !p.panels.add(s.Name, s.Model) {
		return nil, fmt.Errorf("%s is registered twice", what)
	}
	if err := begin(s.Model, start); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return starlark.None, register(p, "surfaces", "surface "+s.Name, s)
}}

// placementOf checks a placement and returns it as plain data.
func placementOf(v starlark.Value) (map[string]any, error) {
	plain, err := value.ToGo(v)
	if err != nil {
		return nil, err
	}
	if _, err := surfaces.ParsePlacement(plain); err != nil {
		return nil, err
	}
	m, _ := plain.(map[string]any) // what was parsed is one
	return m, nil
}

// startOf runs init, which makes the model a panel starts with.
func startOf(what string, c *call, init starlark.Value) (*starlark.Dict, error) {
	if init == starlark.None {
		return starlark.NewDict(0), nil
	}
	fn, err := callable(what+": init", init, 0)
	if err != nil {
		return nil, err
	}
	v, err := starlark.Call(c.thread, fn, nil, nil)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("%s: init returns the model, a dict, not %s", what, v.Type())
	}
	return d, nil
}

// begin gives a model its start: the keys of init are defaults, what was stored
// before wins.
func begin(m *spec.Model, start *starlark.Dict) error {
	d := starlark.NewDict(start.Len())
	for _, item := range start.Items() {
		if err := d.SetKey(item[0], item[1]); err != nil {
			return err
		}
	}
	if m.Stored() {
		kept, err := modelOf(m)
		if err != nil {
			return err
		}
		for _, item := range kept.Items() {
			if err := d.SetKey(item[0], item[1]); err != nil {
				return err
			}
		}
	}
	frozen, err := value.NewFrozen(d)
	if err != nil {
		return value.Named("model", err)
	}
	m.Begin(frozen)
	return nil
}

// modelOf is the frozen dict of a model.
func modelOf(m *spec.Model) (*starlark.Dict, error) {
	v, _ := m.Load()
	return dictOf(v)
}

func dictOf(model any) (*starlark.Dict, error) {
	var v starlark.Value
	switch model := model.(type) {
	case nil:
		v = starlark.NewDict(0)
	case *value.Frozen:
		v = model.Value()
	default:
		var err error
		if v, err = value.FromGo(model); err != nil {
			return nil, err
		}
		v.Freeze()
	}
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("the model is no dict but a %s", v.Type())
	}
	return d, nil
}

// viewer makes the view of a surface: it gets a frozen model and returns plain data.
func (p *Plugin) viewer(what string, view starlark.Value) (func(context.Context, any, map[string]any) (any, error), error) {
	fn, err := callable(what+": view", view, 1)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, model any, host map[string]any) (any, error) {
		d, err := dictOf(model)
		if err == nil {
			d, err = over(d, host)
		}
		if err != nil {
			return nil, err
		}
		v, err := p.call(ctx, script.View, "view of "+what, fn, d)
		if err != nil {
			return nil, err
		}
		return value.ToGo(v)
	}, nil
}

// over is a frozen dict with keys of the host laid over it.
func over(d *starlark.Dict, host map[string]any) (*starlark.Dict, error) {
	if len(host) == 0 {
		return d, nil
	}
	out := starlark.NewDict(d.Len() + len(host))
	for _, item := range d.Items() {
		if err := out.SetKey(item[0], item[1]); err != nil {
			return nil, err
		}
	}
	for key, x := range host {
		v, err := value.FromGo(x)
		if err == nil {
			err = out.SetKey(starlark.String(key), v)
		}
		if err != nil {
			return nil, err
		}
	}
	out.Freeze()
	return out, nil
}

// updater makes the update of a surface. The model is read and stored while the
// plugin is held, so that what another callback of it stored is never lost.
func (p *Plugin) updater(what string, update starlark.Value) (func(context.Context, *spec.Model, map[string]any) ([]spec.Ask, error), error) {
	fn, err := callable(what+": update", update, 2)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, model *spec.Model, msg map[string]any) ([]spec.Ask, error) {
		m, err := structOf("message", msg)
		if err != nil {
			return nil, err
		}
		var asks []spec.Ask
		step := starlark.NewBuiltin("update", func(thread *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			current, err := modelOf(model)
			if err != nil {
				return nil, err
			}
			mine, err := value.Copy(current)
			if err != nil {
				return nil, err
			}
			v, err := starlark.Call(thread, fn, starlark.Tuple{mine, m}, nil)
			if err != nil {
				return nil, err
			}
			out, err := updated(v)
			if f, ok := fn.(*starlark.Function); ok && err != nil {
				return nil, fmt.Errorf("%w (update begins in line %d)", err, f.Position().Line)
			}
			if err != nil {
				return nil, err
			}
			if out.model != nil {
				frozen, err := value.NewFrozen(out.model)
				if err != nil {
					return nil, value.Named("model", err)
				}
				model.Store(frozen)
			}
			asks = out.asks
			return starlark.None, nil
		})
		info := script.CallInfo{Kind: script.Update, What: "update of " + what}
		if msg["kind"] == surfaces.TickMessage {
			info.Kind = script.Tick
		}
		if _, err := p.run(ctx, info, step, nil, nil); err != nil {
			return nil, err
		}
		return asks, nil
	}, nil
}

// structOf makes a frozen struct of plain data, whose fields read as attributes.
func structOf(kind string, fields map[string]any) (starlark.Value, error) {
	d := starlark.StringDict{}
	for name, x := range fields {
		if frozen, ok := x.(*value.Frozen); ok {
			d[name] = frozen.Value()
			continue
		}
		if payload, ok := x.(spec.Payload); ok {
			x = payload.Plain()
		}
		v, err := value.FromGo(x)
		if err != nil {
			return nil, value.Named(kind+"."+name, err)
		}
		d[name] = v
	}
	s := starlarkstruct.FromStringDict(starlark.String(kind), d)
	s.Freeze()
	return s, nil
}

var surfaceStateWord = builtin{name: "surface_state", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var d *starlark.Dict
	if err := starlark.UnpackArgs("surface_state", args, kwargs, "name", &name, "state?", &d); err != nil {
		return nil, err
	}
	model, names := p.panels.find(name)
	if model == nil {
		return nil, fmt.Errorf("surface_state: this plugin has no surface %q%s", name, didYouMean(name, names))
	}
	if d == nil {
		current, err := modelOf(model)
		if err != nil {
			return nil, err
		}
		return value.Copy(current)
	}
	if c.Info().Kind == script.View {
		return nil, errors.New("surface_state: a view only draws; change the model in update or in another callback")
	}
	frozen, err := value.NewFrozen(d)
	if err != nil {
		return nil, fmt.Errorf("surface_state: %w", value.Named("state", err))
	}
	if c.ran() {
		model.Raise()
	}
	model.Store(frozen)
	return starlark.None, nil
}}

// renderWord registers how calls of a tool look in the transcript.
var renderWord = builtin{name: "render", registers: true, service: "surfaces", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var r spec.Render
	var call, result starlark.Value = starlark.None, starlark.None
	if err := starlark.UnpackArgs("render", args, kwargs, "tool_or_glob", &r.Tool, "call?", &call, "result?", &result); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if call == starlark.None && result == starlark.None {
		return nil, fmt.Errorf("render %s: give call, result or both", r.Tool)
	}
	var err error
	if r.Call, err = p.drawer("render "+r.Tool+": call", "call", call); err != nil {
		return nil, err
	}
	if r.Result, err = p.drawer("render "+r.Tool+": result", "result", result); err != nil {
		return nil, err
	}
	found, err := p.registry("surfaces")
	if err != nil {
		return nil, err
	}
	s, ok := found.(*spec.Surfaces)
	if !ok {
		return nil, errors.New("the service \"surfaces\" is no registry of the host")
	}
	compose.Register(p.scope, s.Renders.Slot(), "render "+r.Tool, r)
	return starlark.None, nil
}}

// drawer makes one function of a render; nil for None.
func (p *Plugin) drawer(what, kind string, v starlark.Value) (func(context.Context, map[string]any) (any, error), error) {
	if v == starlark.None {
		return nil, nil
	}
	fn, err := callable(what, v, 1)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, fields map[string]any) (any, error) {
		in, err := structOf(kind, fields)
		if err != nil {
			return nil, err
		}
		out, err := p.call(ctx, script.View, what, fn, in)
		if err != nil {
			return nil, err
		}
		return value.ToGo(out)
	}, nil
}
