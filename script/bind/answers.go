package bind

import (
	"fmt"

	"starling/trust"

	"go.starlark.net/starlark"

	"starling/bus/chat"
	"starling/bus/event"
	"starling/script/value"
)

func decodeSystemPrompt(p *Plugin, _ *event.SystemPromptEvent, v starlark.Value) (*event.SystemPromptAnswer, error) {
	if s, ok := starlark.AsString(v); ok {
		if err := p.needs(trust.Steer); err != nil {
			return nil, err
		}
		return &event.SystemPromptAnswer{Replace: &s}, nil
	}
	name := event.SystemPrompt.Name()
	fields, err := p.answer(name, v, "append", "replace")
	if err != nil {
		return nil, err
	}
	replace, err := text(name, fields, "replace")
	if err != nil {
		return nil, err
	}
	more, err := text(name, fields, "append")
	if err != nil {
		return nil, err
	}
	a := &event.SystemPromptAnswer{Replace: replace}
	if more != nil {
		a.Append = *more
	}
	return a, nil
}

func decodePrompt(p *Plugin, _ *event.PromptEvent, v starlark.Value) (*event.PromptAnswer, error) {
	name := event.Prompt.Name()
	if no, ok := v.(*verdict); ok {
		if no.kind != "reject" {
			return nil, fmt.Errorf("%s is refused with reject(why), not with %s", name, no.kind)
		}
		return &event.PromptAnswer{Reject: no.refusal()}, nil
	}
	fields, err := p.answer(name, v, "text")
	if err != nil {
		return nil, err
	}
	t, err := text(name, fields, "text")
	return &event.PromptAnswer{Text: t}, err
}

func decodeToolCall(p *Plugin, _ *event.ToolCallEvent, v starlark.Value) (*event.ToolCallAnswer, error) {
	name := event.ToolCall.Name()
	if no, ok := v.(*verdict); ok {
		if no.kind != "block" && no.kind != "block_and_stop" {
			return nil, fmt.Errorf("%s is refused with block(why) or block_and_stop(why), not with %s", name, no.kind)
		}
		return &event.ToolCallAnswer{Block: no.refusal()}, nil
	}
	fields, err := p.answer(name, v, "arguments")
	if err != nil {
		return nil, err
	}
	args, ok := fields["arguments"]
	if !ok {
		return nil, nil
	}
	if _, ok := args.(*starlark.Dict); !ok {
		return nil, fmt.Errorf("%s: arguments must be a dict, not %s", name, args.Type())
	}
	raw, err := value.ToJSON(args)
	if err != nil {
		return nil, fmt.Errorf("%s: arguments: %w", name, err)
	}
	return &event.ToolCallAnswer{Arguments: raw}, nil
}

func decodeToolResult(p *Plugin, _ *event.ToolResultEvent, v starlark.Value) (*event.ToolResultAnswer, error) {
	name := event.ToolResult.Name()
	fields, err := p.answer(name, v, "content", "is_error", "details")
	if err != nil {
		return nil, err
	}
	var a event.ToolResultAnswer
	if a.Content, err = text(name, fields, "content"); err != nil {
		return nil, err
	}
	if e, ok := fields["is_error"]; ok {
		flag, ok := e.(starlark.Bool)
		if !ok {
			return nil, fmt.Errorf("%s: is_error must be True or False, not %s", name, e.Type())
		}
		a.IsError = (*bool)(&flag)
	}
	if d, ok := fields["details"]; ok {
		if a.Details, err = value.ToJSON(d); err != nil {
			return nil, fmt.Errorf("%s: details: %w", name, err)
		}
	}
	return &a, nil
}

func decodeTurnEnd(_ *Plugin, _ *event.TurnEndEvent, v starlark.Value) (*event.TurnEndAnswer, error) {
	no, ok := v.(*verdict)
	if !ok || no.kind != "stop" {
		return nil, fmt.Errorf("a listener on %s returns None or stop(), not %s", event.TurnEnd.Name(), v.Type())
	}
	return &event.TurnEndAnswer{Stop: no.refusal()}, nil
}

// laterFields are fields of agent/request this version does not shape by:
// ignoring one would let a plugin believe it did.
var laterFields = []string{"messages", "history", "then", "model"}

func decodeRequest(p *Plugin, _ *event.RequestEvent, v starlark.Value) (*event.RequestAnswer, error) {
	name := event.Request.Name()
	known := []string{"system", "prefix", "suffix", "prompt_prefix", "exclude_tools", "allow_tools"}
	fields, err := p.answer(name, v, append(known, laterFields...)...)
	if err != nil {
		return nil, err
	}
	for _, f := range laterFields {
		if _, set := fields[f]; set {
			return nil, fmt.Errorf("%s: the field %q is not available in this version of starling", name, f)
		}
	}
	var a event.RequestAnswer
	for _, f := range []struct {
		name string
		to   **string
	}{{"system", &a.System}, {"suffix", &a.Suffix}, {"prompt_prefix", &a.PromptPrefix}} {
		if *f.to, err = text(name, fields, f.name); err != nil {
			return nil, err
		}
	}
	if a.Prefix, err = prefix(name, fields["prefix"]); err != nil {
		return nil, err
	}
	if a.Exclude, err = texts(name, fields, "exclude_tools"); err != nil {
		return nil, err
	}
	if a.Allow, err = texts(name, fields, "allow_tools"); err != nil {
		return nil, err
	}
	a.AllowSet = a.Allow != nil
	return &a, nil
}

// prefix reads [{"role", "text"}].
func prefix(event string, v starlark.Value) ([]chat.Message, error) {
	if v == nil || v == starlark.None {
		return nil, nil
	}
	seq, ok := v.(starlark.Sequence)
	if !ok {
		return nil, fmt.Errorf("%s: prefix must be a list of {\"role\", \"text\"}, not %s", event, v.Type())
	}
	var list []chat.Message
	for i, x := range elements(seq) {
		dict, ok := x.(*starlark.Dict)
		if !ok {
			return nil, fmt.Errorf("%s: prefix[%d] must be a dict, not %s", event, i, x.Type())
		}
		role, text := stringKey(dict, "role"), stringKey(dict, "text")
		switch chat.Role(role) {
		case chat.System, chat.User, chat.Assistant:
		default:
			return nil, fmt.Errorf("%s: prefix[%d]: role must be \"system\", \"user\" or \"assistant\", not %q", event, i, role)
		}
		if text == "" {
			return nil, fmt.Errorf("%s: prefix[%d]: text must not be empty", event, i)
		}
		list = append(list, chat.TextMessage(chat.Role(role), text))
	}
	return list, nil
}

func stringKey(d *starlark.Dict, key string) string {
	v, ok, err := d.Get(starlark.String(key))
	if !ok || err != nil {
		return ""
	}
	s, _ := starlark.AsString(v)
	return s
}
