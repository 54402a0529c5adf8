package bind

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"

	"go.starlark.net/starlark"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
	"starling/trust"
)

// service is what provide offers: the functions of one plugin, reached through
// its call lock, with copies of whatever crosses.
type service struct {
	plugin  *Plugin
	name    string
	methods map[string]starlark.Callable
}

var _ spec.Service = (*service)(nil)

var provideWord = builtin{name: "provide", registers: true, run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var (
		name    string
		methods *starlark.Dict
	)
	if err := starlark.UnpackArgs("provide", args, kwargs, "service", &name, "methods", &methods); err != nil {
		return nil, err
	}
	s := &service{plugin: p, name: name, methods: map[string]starlark.Callable{}}
	for _, item := range methods.Items() {
		method, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("provide: a method name must be a text, not %s", item[0].Type())
		}
		fn, ok := item[1].(starlark.Callable)
		if !ok {
			return nil, fmt.Errorf("provide: %s.%s must be a function, not %s", name, method, item[1].Type())
		}
		s.methods[method] = fn
	}
	if err := p.scope.Provide(name, s); err != nil {
		return nil, fmt.Errorf("provide: %w", err)
	}
	return starlark.None, nil
}}

// Methods returns the names, sorted.
func (s *service) Methods() []string {
	names := make([]string, 0, len(s.methods))
	for name := range s.methods {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Call runs one method on plain data, for callers written in Go.
func (s *service) Call(ctx context.Context, method string, args []any, kwargs map[string]any) (any, error) {
	positional := make(starlark.Tuple, len(args))
	for i, a := range args {
		v, err := value.FromGo(a)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: argument %d: %w", s.name, method, i, err)
		}
		positional[i] = v
	}
	var named []starlark.Tuple
	for _, key := range slices.Sorted(maps.Keys(kwargs)) {
		v, err := value.FromGo(kwargs[key])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: argument %s: %w", s.name, method, key, err)
		}
		named = append(named, starlark.Tuple{starlark.String(key), v})
	}
	v, err := s.run(ctx, method, positional, named)
	if err != nil {
		return nil, err
	}
	return value.ToGo(v)
}

// call runs one method for another plugin: arguments and result are copied.
func (s *service) call(ctx context.Context, method string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	positional := make(starlark.Tuple, len(args))
	for i, a := range args {
		v, err := value.Copy(a)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", s.name, method, value.Named(fmt.Sprintf("arguments[%d]", i), err))
		}
		positional[i] = v
	}
	named := make([]starlark.Tuple, len(kwargs))
	for i, kv := range kwargs {
		v, err := value.Copy(kv[1])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", s.name, method, value.Named(string(kv[0].(starlark.String)), err))
		}
		named[i] = starlark.Tuple{kv[0], v}
	}
	v, err := s.run(ctx, method, positional, named)
	if err != nil {
		return nil, err
	}
	out, err := value.Copy(v)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", s.name, method, value.Named("result", err))
	}
	return out, nil
}

func (s *service) run(ctx context.Context, method string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	fn, ok := s.methods[method]
	if !ok {
		return nil, fmt.Errorf("service %s has no method %q%s", s.name, method, didYouMean(method, s.Methods()))
	}
	return s.plugin.run(ctx, script.CallInfo{Kind: script.Service, What: s.name + "." + method}, fn, args, kwargs)
}

var invokeWord = builtin{name: "invoke", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("invoke needs a service and a method, as in invoke(\"todos\", \"open\")")
	}
	key, ok := starlark.AsString(args[0])
	method, ok2 := starlark.AsString(args[1])
	if !ok || !ok2 {
		return nil, fmt.Errorf("invoke: service and method must be texts")
	}
	v, err := p.view.Get(key)
	if err != nil {
		return nil, fmt.Errorf("invoke: %w", err)
	}
	var out starlark.Value
	switch s := v.(type) {
	case *service:
		c.Host(func() { out, err = s.call(c.Context(), method, args[2:], kwargs) })
		return out, err
	case spec.Service:
		c.Host(func() { out, err = p.invokeGo(c, s, key, method, args[2:], kwargs) })
		return out, err
	}
	return nil, fmt.Errorf("invoke: service %q has no methods; its functions are words of their own", key)
}}

func (p *Plugin) invokeGo(c *call, s spec.Service, key, method string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	positional := make([]any, len(args))
	for i, a := range args {
		v, err := value.ToGo(a)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", key, method, value.Named(fmt.Sprintf("arguments[%d]", i), err))
		}
		positional[i] = v
	}
	named := make(map[string]any, len(kwargs))
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		v, err := value.ToGo(kv[1])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", key, method, value.Named(name, err))
		}
		named[name] = v
	}
	out, err := s.Call(spec.WithCaller(c.Context(), caller{p, c.ran()}), method, positional, named)
	if err != nil {
		return nil, fmt.Errorf("%s.%s: %w", key, method, err)
	}
	return value.FromGo(out)
}

// caller is the plugin as a host service sees it.
type caller struct {
	*Plugin
	ran bool
}

// Needs is an error that names the word when the plugin lacks it.
func (c caller) Needs(word string) error { return c.needs(trust.Kind(word)) }

// Ran tells whether a command or a tool makes the call.
func (c caller) Ran() bool { return c.ran }

var hasServiceWord = builtin{name: "has_service", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var key string
	if err := starlark.UnpackArgs("has_service", args, kwargs, "service", &key); err != nil {
		return nil, err
	}
	ok, err := p.view.Has(key)
	if err != nil {
		return nil, fmt.Errorf("has_service: %w", err)
	}
	return starlark.Bool(ok), nil
}}

var emitWord = builtin{name: "emit", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var payload starlark.Value = starlark.None
	if err := starlark.UnpackArgs("emit", args, kwargs, "event", &name, "payload?", &payload); err != nil {
		return nil, err
	}
	if !slices.Contains(p.prog.Decl().Emits, name) {
		return nil, fmt.Errorf("emit: %q is not in emits%s", name, didYouMean(name, p.prog.Decl().Emits))
	}
	frozen, err := value.NewFrozen(payload)
	if err != nil {
		return nil, fmt.Errorf("emit %s: %w", name, value.Named("payload", err))
	}
	if err := p.announce(c.Context(), name); err != nil {
		return nil, fmt.Errorf("emit %s: %w", name, err)
	}
	port := bus.PortOf(p.host.Bus, event.CustomTopic(name))
	// Listeners may call back into this plugin, so they run when it is free.
	p.after(c, func(ctx context.Context) {
		port.Send(context.WithoutCancel(ctx), &event.Custom{Name: name, Value: frozen})
	})
	return starlark.None, nil
}}
