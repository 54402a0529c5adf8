package bind

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"starling/bus/spec"
	"starling/script/value"
	"starling/trust"
)

// ask is what send and prompt_with return: something for the host to do.
type ask struct{ spec.Ask }

// updateResult is what result returns: a model and asks.
type updateResult struct {
	model *starlark.Dict // nil keeps the old one
	asks  []spec.Ask
}

var (
	_ starlark.Value = (*ask)(nil)
	_ starlark.Value = (*updateResult)(nil)
)

func (a *ask) String() string        { return fmt.Sprintf("<%s>", a.Kind) }
func (a *ask) Type() string          { return string(a.Kind) }
func (a *ask) Freeze()               {}
func (a *ask) Truth() starlark.Bool  { return true }
func (a *ask) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", a.Kind) }

func (r *updateResult) String() string        { return "<result>" }
func (r *updateResult) Type() string          { return "result" }
func (r *updateResult) Freeze()               { r.model.Freeze() }
func (r *updateResult) Truth() starlark.Bool  { return true }
func (r *updateResult) Hash() (uint32, error) { return 0, errors.New("unhashable: result") }

// updated reads what an update returned.
func updated(v starlark.Value) (*updateResult, error) {
	switch v := v.(type) {
	case *updateResult:
		return v, nil
	case *starlark.Dict:
		return &updateResult{model: v}, nil
	case *starlark.List:
		asks, err := asksOf(v)
		return &updateResult{asks: asks}, err
	case starlark.NoneType:
		return nil, errors.New("update returned None; it returns the new model, result(model, [asks]) or a list of asks: is a return missing?")
	case starlark.String, *ask:
		return nil, fmt.Errorf("update returned %s alone; return a list: [%s]", v.Type(), v.String())
	}
	return nil, fmt.Errorf("update returns the new model (a dict), result(model, [asks]) or a list of asks, not %s", v.Type())
}

// asksOf reads a list of asks.
func asksOf(list starlark.Sequence) ([]spec.Ask, error) {
	var asks []spec.Ask
	for v := range starlark.Elements(list) {
		switch v := v.(type) {
		case *ask:
			asks = append(asks, v.Ask)
		case starlark.String:
			kind := spec.AskKind(v)
			if kind != spec.AskConsume && kind != spec.AskRelease {
				words := []string{string(spec.AskConsume), string(spec.AskRelease)}
				return nil, fmt.Errorf("asks[%d]: unknown ask %s%s", len(asks), value.Format(v, 80), didYouMean(string(v), words))
			}
			asks = append(asks, spec.Ask{Kind: kind})
		default:
			return nil, fmt.Errorf("asks[%d] must be \"consume\", \"release_focus\", send(…) or prompt_with(…), not %s", len(asks), v.Type())
		}
	}
	return asks, nil
}

var resultWord = builtin{name: "result", run: func(_ *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := &updateResult{}
	var list *starlark.List
	if err := starlark.UnpackArgs("result", args, kwargs, "model", &r.model, "asks?", &list); err != nil {
		return nil, err
	}
	if list == nil {
		return r, nil
	}
	var err error
	if r.asks, err = asksOf(list); err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return r, nil
}}

var sendWord = builtin{name: "send", run: func(_ *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &ask{spec.Ask{Kind: spec.AskSend}}
	var payload starlark.Value = starlark.None
	if err := starlark.UnpackArgs("send", args, kwargs, "name", &a.Name, "payload?", &payload); err != nil {
		return nil, err
	}
	frozen, err := value.NewFrozen(payload)
	if err != nil {
		return nil, fmt.Errorf("send: %w", value.Named("payload", err))
	}
	a.Payload = frozen
	return a, nil
}}

var promptWithWord = builtin{name: "prompt_with", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &ask{spec.Ask{Kind: spec.AskPrompt}}
	if err := starlark.UnpackArgs("prompt_with", args, kwargs, "text", &a.Text); err != nil {
		return nil, err
	}
	if err := p.needs(trust.Prompt); err != nil {
		return nil, fmt.Errorf("prompt_with: %w", err)
	}
	if a.Text == "" {
		return nil, errors.New("prompt_with: the text must not be empty")
	}
	return a, nil
}}
