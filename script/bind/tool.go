package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"starling/trust"

	"go.starlark.net/starlark"

	"starling/bus/spec"
	"starling/script"
	"starling/script/value"
	"starling/tools"
)

var toolWord = builtin{name: "tool", registers: true, service: "tools", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var (
		t          spec.Tool
		parameters = starlark.NewDict(0)
		execute    starlark.Value
		risk       starlark.Value = starlark.None
	)
	err := starlark.UnpackArgs("tool", args, kwargs,
		"name", &t.Name, "description", &t.Description, "parameters", &parameters, "execute", &execute,
		"read_only?", &t.ReadOnly, "risk?", &risk, "sequential?", &t.Sequential, "replaces?", &t.Replaces)
	if err != nil {
		return nil, err
	}
	if err := tools.ValidateName(t.Name); err != nil {
		return nil, fmt.Errorf("tool: %w", err)
	}
	fn, err := callable("tool "+t.Name+": execute", execute, 1)
	if err != nil {
		return nil, err
	}
	if t.Parameters, err = schemaOf(parameters); err != nil {
		return nil, fmt.Errorf("tool %s: parameters: %w", t.Name, err)
	}
	if err := p.setRisk(&t, risk); err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	t.Execute = func(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
		return p.execute(ctx, fn, call)
	}
	return starlark.None, register(p, "tools", "tool "+t.Name, t)
}}

func schemaOf(parameters *starlark.Dict) (json.RawMessage, error) {
	if parameters.Len() == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	raw, err := value.ToJSON(parameters)
	if err != nil {
		return nil, err
	}
	return raw, tools.ValidateSchema(raw)
}

// acting are the words that make a plugin's tools at least of class change.
var acting = []trust.Kind{trust.Exec, trust.FSWrite, trust.Net, trust.Listen, trust.Prompt}

// setRisk gives the tool its class: read when the plugin can only look, else
// change; what the file says never lowers that.
func (p *Plugin) setRisk(t *spec.Tool, given starlark.Value) error {
	acts := false
	for _, word := range acting {
		acts = acts || p.has(word)
	}
	t.Risk = spec.RiskRead
	if acts {
		t.Risk = spec.RiskChange
	}
	if given != starlark.None {
		name, ok := starlark.AsString(given)
		switch r := spec.Risk(name); {
		case !ok:
			return fmt.Errorf("risk must be a text, not %s", given.Type())
		case r == spec.RiskRead:
		case r == spec.RiskChange, r == spec.RiskDestructive, r == spec.RiskNetwork:
			t.Risk = r
		default:
			return fmt.Errorf("there is no risk %q; it is \"read\", \"change\", \"destructive\" or \"network\"", name)
		}
	}
	// Read-only phases let such a tool run; one that can act is none.
	t.ReadOnly = t.ReadOnly && t.Risk == spec.RiskRead
	return nil
}

// execute runs one call in the plugin.
func (p *Plugin) execute(ctx context.Context, fn starlark.Callable, call spec.ToolCall) (spec.ToolResult, error) {
	args, err := value.JSON(call.Arguments)
	if err != nil {
		return spec.ToolResult{}, fmt.Errorf("arguments: %w", err)
	}
	run := &toolRun{progress: call.Progress, original: call.Original}
	v, err := p.call(context.WithValue(ctx, toolRunKey{}, run), script.Tool, call.Name, fn, args)
	if err != nil {
		return spec.ToolResult{}, err
	}
	if h, ok := v.(*laterHandle); ok {
		ctx, done := p.open.enter(ctx)
		defer done()
		return p.wait(ctx, h)
	}
	return toolResult(v)
}

// toolResult reads what execute returned.
func toolResult(v starlark.Value) (spec.ToolResult, error) {
	dict, ok := v.(*starlark.Dict)
	if !ok {
		s, err := plainText(v)
		if err != nil {
			return spec.ToolResult{}, fmt.Errorf("execute returns text, a number, None or {\"content\", \"is_error\", \"details\"}, not %s", v.Type())
		}
		return spec.ToolResult{Content: s}, nil
	}
	var r spec.ToolResult
	for _, item := range dict.Items() {
		key, _ := starlark.AsString(item[0])
		var err error
		switch key {
		case "content":
			if r.Content, err = plainText(item[1]); err != nil {
				return r, fmt.Errorf("content: %w", err)
			}
		case "is_error":
			flag, ok := item[1].(starlark.Bool)
			if !ok {
				return r, fmt.Errorf("is_error must be True or False, not %s", item[1].Type())
			}
			r.IsError = bool(flag)
		case "details":
			if r.Details, err = value.ToJSON(item[1]); err != nil {
				return r, fmt.Errorf("details: %w", err)
			}
		default:
			return r, fmt.Errorf("a tool result has no %s%s", value.Format(item[0], 80), didYouMean(key, []string{"content", "is_error", "details"}))
		}
	}
	return r, nil
}

// plainText is a text, a number or a truth value as text; None is "done".
func plainText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return strings.ToValidUTF8(string(v), "\uFFFD"), nil
	case starlark.NoneType:
		return "done", nil
	case starlark.Bool, starlark.Int, starlark.Float:
		return value.Text(v, 1<<16), nil
	}
	return "", fmt.Errorf("must be a text, not %s", v.Type())
}
