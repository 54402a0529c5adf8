package bind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"starling/trust"

	"go.starlark.net/starlark"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
	"starling/script"
)

// subscriber puts one callback of a plugin on a topic.
type subscriber func(p *Plugin, fn starlark.Callable)

// subscribers has one line for each built-in event: what a listener may return
// is the business of its decoder.
func subscribers() map[string]subscriber {
	return map[string]subscriber{
		event.SystemPrompt.Name(): listen(event.SystemPrompt, decodeSystemPrompt),
		event.Prompt.Name():       listen(event.Prompt, decodePrompt),
		event.RunStart.Name():     observe(event.RunStart),
		event.TurnStart.Name():    observe(event.TurnStart),
		event.Request.Name():      listen(event.Request, decodeRequest),
		event.Stream.Name():       observe(event.Stream),
		event.Message.Name():      observe(event.Message),
		event.ToolCall.Name():     listen(event.ToolCall, decodeToolCall),
		event.ToolProgress.Name(): observe(event.ToolProgress),
		event.ToolResult.Name():   listen(event.ToolResult, decodeToolResult),
		event.TurnEnd.Name():      listen(event.TurnEnd, decodeTurnEnd),
		event.RunEnd.Name():       observe(event.RunEnd),
		event.Notice.Name():       observe(event.Notice),
		event.SessionStart.Name(): observe(event.SessionStart),
		event.SessionEnd.Name():   observe(event.SessionEnd),

		event.ProviderError.Name(): listen(event.ProviderError, decodeProviderError),
		event.Tick.Name():          observe(event.Tick),

		event.Permission.Name():  listen(event.Permission, decodePermission),
		event.Question.Name():    observe(event.Question),
		event.Answer.Name():      observe(event.Answer),
		event.ProcessExit.Name(): observe(event.ProcessExit),
		event.FileChange.Name():  observe(event.FileChange),
	}
}

var onWord = builtin{name: "on", registers: true, run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var fn starlark.Value
	if err := starlark.UnpackArgs("on", args, kwargs, "event", &name, "fn", &fn); err != nil {
		return nil, err
	}
	callback, err := callable("on: fn", fn, 1)
	if err != nil {
		return nil, err
	}
	if err := CheckEvent(name); err != nil {
		return nil, fmt.Errorf("on: %w", err)
	}
	if subscribe, ok := subscribers()[name]; ok {
		subscribe(p, callback)
		return starlark.None, nil
	}
	observe(event.CustomTopic(name))(p, callback)
	return starlark.None, nil
}}

// CheckEvent tells whether a plugin may subscribe to the name.
func CheckEvent(name string) error {
	if event.Later(name) {
		return fmt.Errorf("%s is not announced by this version of starling, so a listener would never run", name)
	}
	for _, n := range event.Names() {
		if n == name {
			return nil
		}
	}
	if event.InFamily(name) {
		return fmt.Errorf("there is no event %q%s", name, didYouMean(name, event.Names()))
	}
	if err := script.CheckEventName(name); err != nil {
		return err
	}
	return nil
}

// callable checks that v can be called with n positional arguments.
func callable(what string, v starlark.Value, n int) (starlark.Callable, error) {
	fn, ok := v.(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%s must be a function, not %s", what, v.Type())
	}
	f, ok := v.(*starlark.Function)
	if !ok {
		return fn, nil
	}
	if takes := f.NumParams(); !f.HasVarargs() {
		if f.HasKwargs() {
			takes--
		}
		required := 0
		for i := range takes {
			if f.ParamDefault(i) == nil {
				required++
			}
		}
		if n > takes || n < required {
			return nil, fmt.Errorf("%s: function %s must take %s", what, f.Name(), arguments(n))
		}
	}
	return fn, nil
}

func arguments(n int) string {
	if n == 1 {
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// listen subscribes with a decoder for what the callback returns.
func listen[E, A any](topic *bus.Topic[E, A], decode func(p *Plugin, e *E, v starlark.Value) (*A, error)) subscriber {
	return func(p *Plugin, fn starlark.Callable) {
		port := bus.PortOf(p.host.Bus, topic)
		named := starlark.StringDict{"event": starlark.String(topic.Name())}
		compose.On(p.scope, port, bus.Listener[E, A]{
			FailClosed: p.prog.Decl().FailClosed,
			Do: func(ctx context.Context, e *E) (*A, error) {
				handed, err := p.eventValue(named, e)
				if err != nil {
					return nil, err
				}
				if of, ok := handed.(*runEvent); ok {
					ctx = context.WithValue(ctx, runKey{}, of.cx)
				}
				v, err := p.call(ctx, script.Listener, topic.Name(), fn, handed)
				if err != nil || v == starlark.None {
					return nil, err
				}
				answer, err := decode(p, e, v)
				if err != nil {
					return nil, located(fn, err)
				}
				return answer, nil
			},
		})
	}
}

// located puts the place of the function before an error about what it returned:
// no line failed, so no line would be named.
func located(fn starlark.Callable, err error) error {
	if f, ok := fn.(*starlark.Function); ok {
		return fmt.Errorf("%s: %w", f.Position(), err)
	}
	return err
}

// observe subscribes to an event whose returns are ignored; one that is not None
// is a misunderstanding, said once.
func observe[E any](topic *bus.Topic[E, bus.None]) subscriber {
	return listen(topic, func(p *Plugin, _ *E, v starlark.Value) (*bus.None, error) {
		p.warnOnce(context.Background(), "return "+topic.Name(), "a listener on %s returned %s; what it returns is ignored", topic.Name(), v.Type())
		return nil, nil
	})
}

// answer reads the dict a listener returned where returning any field needs the
// word steer.
func (p *Plugin) answer(name string, v starlark.Value, allowed ...string) (map[string]starlark.Value, error) {
	fields, err := fieldsOf(name, v, allowed...)
	if err != nil {
		return nil, err
	}
	if len(fields) > 0 {
		if err := p.needs(trust.Steer); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// fieldsOf reads a dict: only the given fields, each by name.
func fieldsOf(name string, v starlark.Value, allowed ...string) (map[string]starlark.Value, error) {
	dict, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("a listener on %s returns None or {%s}, not %s", name, quoted(allowed), v.Type())
	}
	fields := make(map[string]starlark.Value, dict.Len())
	for _, item := range dict.Items() {
		key, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("%s: a field name must be a text, not %s", name, item[0].Type())
		}
		if !slices.Contains(allowed, key) {
			return nil, fmt.Errorf("%s: there is no field %q in its answer%s", name, key, didYouMean(key, allowed))
		}
		fields[key] = item[1]
	}
	return fields, nil
}

func quoted(names []string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = fmt.Sprintf("%q: …", n)
	}
	return strings.Join(parts, ", ")
}

// text reads a field that must be a text; absent is nil.
func text(event string, fields map[string]starlark.Value, name string) (*string, error) {
	v, ok := fields[name]
	if !ok || v == starlark.None {
		return nil, nil
	}
	s, ok := starlark.AsString(v)
	if !ok {
		return nil, fmt.Errorf("%s: %s must be a text, not %s", event, name, v.Type())
	}
	return &s, nil
}

// texts reads a field that must be a list of texts; absent is nil.
func texts(event string, fields map[string]starlark.Value, name string) ([]string, error) {
	v, ok := fields[name]
	if !ok || v == starlark.None {
		return nil, nil
	}
	it, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("%s: %s must be a list of texts, not %s", event, name, v.Type())
	}
	list := make([]string, 0, it.Len())
	for i, x := range elements(it) {
		s, ok := starlark.AsString(x)
		if !ok {
			return nil, fmt.Errorf("%s: %s[%d] must be a text, not %s", event, name, i, x.Type())
		}
		list = append(list, s)
	}
	return list, nil
}

func elements(seq starlark.Iterable) []starlark.Value {
	var all []starlark.Value
	it := seq.Iterate()
	defer it.Done()
	for v := starlark.Value(nil); it.Next(&v); {
		all = append(all, v)
	}
	return all
}
