package bind

import (
	"context"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
)

// inertWords are registrations that something consumes in some modes only: they
// stand in every mode, so that a plugin that registers evals and guards tool calls
// guards in CI too.
func inertWords() []builtin {
	return []builtin{gateWord, strategyWord, evalWord("case"), evalWord("variant"), evalWord("metric"), evalWord("grader")}
}

// callPlain runs a callback on plain data.
func (p *Plugin) callPlain(ctx context.Context, kind script.Kind, what string, fn starlark.Callable, args ...any) (any, error) {
	in := make([]starlark.Value, len(args))
	for i, a := range args {
		v, err := value.FromGo(a)
		if err != nil {
			return nil, err
		}
		in[i] = v
	}
	out, err := p.call(ctx, kind, what, fn, in...)
	if err != nil {
		return nil, err
	}
	return value.ToGo(out)
}

var gateWord = builtin{name: "gate", registers: true, service: "gates", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	g := spec.Gate{Scope: "main"}
	var check starlark.Value
	var limit starlark.Value = starlark.MakeInt(2)
	if err := starlark.UnpackArgs("gate", args, kwargs, "name", &g.Name, "check", &check, "max_rejections?", &limit, "scope?", &g.Scope); err != nil {
		return nil, err
	}
	fn, err := callable("gate "+g.Name+": check", check, 1)
	if err != nil {
		return nil, err
	}
	switch n, err := starlark.AsInt32(limit); {
	case limit == starlark.None:
		g.MaxRejections = -1
	case err != nil || n < 1:
		return nil, fmt.Errorf("gate %s: max_rejections must be a number of at least 1, or None for a hard rule", g.Name)
	default:
		g.MaxRejections = n
	}
	if !slices.Contains([]string{"main", "child", "all"}, g.Scope) {
		return nil, fmt.Errorf("gate %s: scope must be \"main\", \"child\" or \"all\", not %q", g.Name, g.Scope)
	}
	g.Check = func(ctx context.Context, in any) (any, error) {
		return p.callPlain(ctx, script.Gate, "gate "+g.Name, fn, in)
	}
	return starlark.None, register(p, "gates", "gate "+g.Name, g)
}}

var strategyWord = builtin{name: "strategy", registers: true, service: "strategies", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var s spec.Strategy
	var request starlark.Value
	if err := starlark.UnpackArgs("strategy", args, kwargs, "name", &s.Name, "description", &s.Description, "request", &request); err != nil {
		return nil, err
	}
	fn, err := callable("strategy "+s.Name+": request", request, 1)
	if err != nil {
		return nil, err
	}
	s.Request = func(ctx context.Context, e any) (any, error) {
		return p.callPlain(ctx, script.Listener, "strategy "+s.Name, fn, e)
	}
	return starlark.None, register(p, "strategies", "strategy "+s.Name, s)
}}

// evalWord makes case, variant, metric or grader: fields are kept as they are,
// functions among them apart.
func evalWord(kind string) builtin {
	positional := map[string][]string{"metric": {"name", "fn"}, "grader": {"name", "fn"}, "case": {"name"}, "variant": {"name"}}[kind]
	return builtin{name: kind, registers: true, service: "evals", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > len(positional) {
			return nil, fmt.Errorf("%s takes %d positional arguments at most; name the others", kind, len(positional))
		}
		e := spec.Eval{Kind: kind, Fields: map[string]any{}, Funcs: map[string]func(context.Context, ...any) (any, error){}}
		take := func(key string, v starlark.Value) error {
			if _, twice := e.Fields[key]; twice {
				return fmt.Errorf("%s: %s was given twice", kind, key)
			}
			if fn, ok := v.(starlark.Callable); ok {
				e.Fields[key] = nil
				e.Funcs[key] = func(ctx context.Context, in ...any) (any, error) {
					return p.callPlain(ctx, script.Gate, kind+" "+e.Name, fn, in...)
				}
				return nil
			}
			plain, err := value.ToGo(v)
			if err != nil {
				return fmt.Errorf("%s: %w", kind, value.Named(key, err))
			}
			e.Fields[key] = plain
			return nil
		}
		for i, v := range args {
			if err := take(positional[i], v); err != nil {
				return nil, err
			}
		}
		for _, kv := range kwargs {
			if err := take(string(kv[0].(starlark.String)), kv[1]); err != nil {
				return nil, err
			}
		}
		name, _ := e.Fields["name"].(string)
		if name == "" {
			return nil, fmt.Errorf("%s needs a name", kind)
		}
		if len(positional) == 2 && e.Funcs["fn"] == nil {
			return nil, fmt.Errorf("%s %s: fn must be a function", kind, name)
		}
		e.Name = name
		return starlark.None, register(p, "evals", kind+" "+name, e)
	}}
}
