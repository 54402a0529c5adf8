package bind

import (
	"fmt"

	"starling/trust"

	"go.starlark.net/starlark"

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
	if a, ok := v.(*answered); ok {
		return &event.ToolCallAnswer{Answer: &a.answer}, nil
	}
	fields, err := p.answer(name, v, "arguments", "note")
	if err != nil {
		return nil, err
	}
	answer := &event.ToolCallAnswer{}
	if answer.Note, err = noteOf(name, fields); err != nil {
		return nil, err
	}
	args, ok := fields["arguments"]
	if !ok {
		return answer, nil
	}
	if _, ok := args.(*starlark.Dict); !ok {
		return nil, fmt.Errorf("%s: arguments must be a dict, not %s", name, args.Type())
	}
	raw, err := value.ToJSON(args)
	if err != nil {
		return nil, fmt.Errorf("%s: arguments: %w", name, err)
	}
	answer.Arguments = raw
	return answer, nil
}

// noteOf reads the field note; absent is "".
func noteOf(name string, fields map[string]starlark.Value) (string, error) {
	note, err := text(name, fields, "note")
	if err != nil || note == nil {
		return "", err
	}
	return *note, nil
}

func decodeToolResult(p *Plugin, _ *event.ToolResultEvent, v starlark.Value) (*event.ToolResultAnswer, error) {
	name := event.ToolResult.Name()
	fields, err := p.answer(name, v, "content", "is_error", "details", "note")
	if err != nil {
		return nil, err
	}
	var a event.ToolResultAnswer
	if a.Note, err = noteOf(name, fields); err != nil {
		return nil, err
	}
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

func decodeProviderError(_ *Plugin, _ *event.ProviderErrorEvent, v starlark.Value) (*event.ProviderErrorAnswer, error) {
	name := event.ProviderError.Name()
	if no, ok := v.(*verdict); ok {
		if no.kind != "stop" {
			return nil, fmt.Errorf("%s is ended with stop(), not with %s", name, no.kind)
		}
		return &event.ProviderErrorAnswer{Stop: no.refusal()}, nil
	}
	fields, err := fieldsOf(name, v, "model", "wait_ms")
	if err != nil {
		return nil, err
	}
	model, err := text(name, fields, "model")
	if err != nil {
		return nil, err
	}
	a := &event.ProviderErrorAnswer{Model: given(model)}
	if wait, ok := fields["wait_ms"]; ok && wait != starlark.None {
		var ms int
		if err := starlark.AsInt(wait, &ms); err != nil {
			return nil, fmt.Errorf("%s: wait_ms must be a number of milliseconds, not %s", name, wait.Type())
		}
		a.WaitMS = &ms
	}
	return a, nil
}
