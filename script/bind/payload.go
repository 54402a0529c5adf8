package bind

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/chat"
	"starling/bus/event"
	"starling/script/value"
)

// memo is what every payload embeds: one view for all listeners.
type memo interface {
	View() any
	Keep(any)
}

// eventValue makes what a listener of p is handed for the payload e; named holds
// the event's name for all events of it.
func (p *Plugin) eventValue(named starlark.StringDict, e any) (starlark.Value, error) {
	if c, ok := e.(*event.Custom); ok {
		return customValue(c)
	}
	m, _ := e.(memo)
	view, ok := m.View().(*value.View)
	if !ok {
		var err error
		if view, err = p.host.viewer.View("event", e, named); err != nil {
			return nil, err
		}
		m.Keep(view)
	}
	if run := runOf(e); run != nil {
		return &runEvent{View: view, cx: p.runValue(run)}, nil
	}
	return view, nil
}

// runEvent is a payload with the run handle, which is a plugin's own: what it
// may do depends on the plugin's words.
type runEvent struct {
	*value.View
	cx *runValue
}

func (e *runEvent) Attr(name string) (starlark.Value, error) {
	if name == "cx" {
		return e.cx, nil
	}
	return e.View.Attr(name)
}

func runOf(e any) event.Run {
	switch e := e.(type) {
	case *event.RunStartEvent:
		return e.Run
	case *event.TurnStartEvent:
		return e.Run
	case *event.RequestEvent:
		return e.Run
	case *event.MessageEvent:
		return e.Run
	case *event.TurnEndEvent:
		return e.Run
	case *event.RunEndEvent:
		return e.Run
	}
	return nil
}

// customValue makes the value of a custom event: the attributes of a dict with
// text keys, or .value.
func customValue(e *event.Custom) (starlark.Value, error) {
	if kept, ok := e.View().(starlark.Value); ok {
		return kept, nil
	}
	var v starlark.Value = starlark.None
	if f, ok := e.Value.(*value.Frozen); ok {
		v = f.Value()
	} else if e.Value != nil {
		made, err := value.FromGo(e.Value.Plain())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		made.Freeze()
		v = made
	}
	made := starlarkstruct.FromStringDict(starlark.String("event"), attributes(e.Name, v))
	made.Freeze()
	e.Keep(starlark.Value(made))
	return made, nil
}

func attributes(name string, v starlark.Value) starlark.StringDict {
	attrs := starlark.StringDict{}
	if dict, ok := v.(*starlark.Dict); ok {
		for _, item := range dict.Items() {
			key, ok := starlark.AsString(item[0])
			if !ok {
				attrs = nil
				break
			}
			attrs[key] = item[1]
		}
		if attrs != nil {
			attrs["event"] = starlark.String(name)
			return attrs
		}
	}
	return starlark.StringDict{"event": starlark.String(name), "value": v}
}

// convert gives the shapes of the plugin API to the host's own types.
func convert(_ string, v any) (starlark.Value, bool) {
	switch v := v.(type) {
	case chat.Usage:
		return usageValue(v), true
	case []chat.Message:
		list, err := messageList(v)
		return list, err == nil
	case []event.MessageCall:
		list := make([]starlark.Value, len(v))
		for i, c := range v {
			call, err := callDict(c.ID, c.Name, string(c.Arguments))
			if err != nil {
				return nil, false
			}
			list[i] = call
		}
		return starlark.NewList(list), true
	case *bool:
		if v == nil {
			return starlark.None, true
		}
		return starlark.Bool(*v), true
	case *float64:
		if v == nil {
			return starlark.None, true
		}
		return starlark.Float(*v), true
	case event.Tail:
		return starlarkstruct.FromStringDict(starlark.String("tail"), starlark.StringDict{
			"streak": starlark.MakeInt(v.Streak), "trouble": starlark.Bool(v.Trouble),
			"first": starlark.Bool(v.First), "steering": starlark.Bool(v.Steering),
		}), true
	}
	return nil, false
}

func usageValue(u chat.Usage) starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String("usage"), starlark.StringDict{
		"input": starlark.MakeInt(u.Input), "output": starlark.MakeInt(u.Output),
		"cache_read": starlark.MakeInt(u.CacheRead), "cost": starlark.Float(u.Cost),
	})
}

// messageList makes the dicts of messages(): role, text, tool_calls,
// tool_call_id, is_error.
func messageList(messages []chat.Message) (starlark.Value, error) {
	list := make([]starlark.Value, 0, len(messages))
	for _, m := range messages {
		d := starlark.NewDict(5)
		set(d, "role", starlark.String(m.Role))
		text, id, isError := m.Text(), "", false
		calls := []starlark.Value{}
		for _, b := range m.Blocks {
			switch b.Kind {
			case chat.Call:
				c, err := callDict(b.ID, b.Name, b.Arguments)
				if err != nil {
					return nil, err
				}
				calls = append(calls, c)
			case chat.Result:
				text, id, isError = b.Text, b.ID, b.IsError
			}
		}
		set(d, "text", starlark.String(text))
		set(d, "tool_calls", starlark.NewList(calls))
		set(d, "tool_call_id", starlark.String(id))
		set(d, "is_error", starlark.Bool(isError))
		list = append(list, d)
	}
	return starlark.NewList(list), nil
}

func callDict(id, name, arguments string) (starlark.Value, error) {
	args, err := value.JSON([]byte(arguments))
	if err != nil {
		// What the model sent need not be JSON; it is shown as it came.
		args = starlark.String(arguments)
	}
	d := starlark.NewDict(3)
	set(d, "id", starlark.String(id))
	set(d, "name", starlark.String(name))
	set(d, "arguments", args)
	return d, nil
}

// set puts a text key into a fresh dict, which cannot fail.
func set(d *starlark.Dict, key string, v starlark.Value) { _ = d.SetKey(starlark.String(key), v) }
