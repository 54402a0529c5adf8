package bind

import (
	"context"
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"starling/bus"
	"starling/bus/event"
	"starling/script"
	"starling/script/value"
	"starling/trust"
)

// opinion is what allow, ask and deny return: a verdict on a call.
type opinion struct {
	verdict
	kindOf bus.VerdictKind
	always bool
}

var (
	askWord  = opinionWord("ask", bus.Ask)
	denyWord = opinionWord("deny", bus.Deny)
)

// allowWord skips an ordinary question. Without the word permit it is an error,
// which denies.
var allowWord = builtin{name: "allow", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	o := &opinion{verdict: verdict{kind: "allow"}, kindOf: bus.Allow}
	if err := starlark.UnpackArgs("allow", args, kwargs, "always?", &o.always); err != nil {
		return nil, err
	}
	return o, p.needs(trust.Permit)
}}

// opinionWord makes ask or deny. As with block, a reason that is missing or no
// text does not weaken it.
func opinionWord(name string, kind bus.VerdictKind) builtin {
	plain := refuse(name)
	return builtin{name: name, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := plain.run(p, c, args, kwargs)
		if err != nil {
			return nil, err
		}
		return &opinion{verdict: *v.(*verdict), kindOf: kind}, nil
	}}
}

func decodePermission(p *Plugin, _ *event.PermissionEvent, v starlark.Value) (*bus.Verdict, error) {
	o, ok := v.(*opinion)
	if !ok {
		return nil, fmt.Errorf("a listener on %s returns None, allow(), ask(why) or deny(why), not %s", event.Permission.Name(), v.Type())
	}
	return &bus.Verdict{Kind: o.kindOf, Why: o.why, Always: o.always}, nil
}

// answered is what answer returns: a result in the place of the tool's.
type answered struct {
	verdict
	answer event.ToolAnswer
}

var answerWord = builtin{name: "answer", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	a := &answered{verdict: verdict{kind: "answer"}}
	var content, details starlark.Value = starlark.None, starlark.None
	err := starlark.UnpackArgs("answer", args, kwargs, "content", &content, "is_error?", &a.answer.IsError, "details?", &details)
	if err != nil {
		return nil, err
	}
	if err := p.needs(trust.Steer); err != nil {
		return nil, err
	}
	if a.answer.Content, err = plainText(content); err != nil {
		return nil, fmt.Errorf("answer: content %w", err)
	}
	if details != starlark.None {
		if a.answer.Details, err = value.ToJSON(details); err != nil {
			return nil, fmt.Errorf("answer: details: %w", err)
		}
	}
	return a, nil
}}

// originalWord calls the built-in tool that the plugin's own replaces, through
// guards and permissions. An error of that call is a result, as the model would
// read it; arguments that do not fit are an error.
var originalWord = builtin{name: "original", run: func(_ *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var arguments *starlark.Dict
	if err := starlark.UnpackArgs("original", args, kwargs, "args", &arguments); err != nil {
		return nil, err
	}
	run := toolRunOf(c.Context())
	switch {
	case run == nil || c.Info().Kind != script.Tool:
		return nil, errors.New("original works only inside execute of a tool")
	case run.original == nil:
		return nil, errors.New("original: this tool replaces no built-in; register it under the name of one, with replaces=True")
	}
	raw, err := value.ToJSON(arguments)
	if err != nil {
		return nil, fmt.Errorf("original: %w", err)
	}
	out := starlark.NewDict(3)
	c.Host(func() {
		r, failed := run.original(c.Context(), raw)
		if err = failed; err != nil {
			return
		}
		set(out, "content", starlark.String(r.Content))
		set(out, "is_error", starlark.Bool(r.IsError))
		if len(r.Details) > 0 {
			details, failed := value.JSON(r.Details)
			if err = failed; err == nil {
				set(out, "details", details)
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("original: %w", err)
	}
	return out, nil
}}

// answerQuestionWord answers an open question in the place of the person.
var answerQuestionWord = builtin{name: "answer_question", run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var id, answer string
	if err := starlark.UnpackArgs("answer_question", args, kwargs, "id", &id, "value", &answer); err != nil {
		return nil, err
	}
	if err := p.needs(trust.Permit); err != nil {
		return nil, err
	}
	if p.host.AnswerQuestion == nil {
		return nil, errors.New("answer_question: nobody asks questions here")
	}
	var err error
	c.Host(func() { err = p.host.AnswerQuestion(context.WithoutCancel(c.Context()), p.Name(), id, answer) })
	if err != nil {
		return nil, fmt.Errorf("answer_question: %w", err)
	}
	return starlark.None, nil
}}
