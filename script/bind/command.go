package bind

import (
	"context"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"starling/bus/spec"
	"starling/script"
)

var commandWord = builtin{name: "command", registers: true, service: "commands", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var (
		c        spec.Command
		run      starlark.Value
		complete starlark.Value = starlark.None
	)
	if err := starlark.UnpackArgs("command", args, kwargs, "name", &c.Name, "description", &c.Description, "run", &run, "complete?", &complete); err != nil {
		return nil, err
	}
	c.Name = strings.TrimPrefix(c.Name, "/")
	if err := commandName(c.Name); err != nil {
		return nil, err
	}
	fn, err := callable("command "+c.Name+": run", run, 1)
	if err != nil {
		return nil, err
	}
	c.Run = func(ctx context.Context, args string) (spec.CommandResult, error) {
		v, err := p.call(ctx, script.Command, "/"+c.Name, fn, starlark.String(args))
		if err != nil {
			return spec.CommandResult{}, err
		}
		return commandResult(v)
	}
	if complete != starlark.None {
		propose, err := callable("command "+c.Name+": complete", complete, 1)
		if err != nil {
			return nil, err
		}
		c.Complete = func(ctx context.Context, args string) ([]string, error) {
			v, err := p.call(ctx, script.View, "/"+c.Name+" completion", propose, starlark.String(args))
			if err != nil {
				return nil, err
			}
			r, err := commandResult(v)
			return r.Lines, err
		}
	}
	return starlark.None, register(p, "commands", "command "+c.Name, c)
}}

func commandName(name string) error {
	ok := name != "" && len(name) <= 40
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return fmt.Errorf("command: a name has letters, digits, '-' and '_' only, at most 40, not %q", name)
	}
	return nil
}

// commandResult reads what run returned: None, a text, a list of texts or
// new_session().
func commandResult(v starlark.Value) (spec.CommandResult, error) {
	switch v {
	case starlark.None:
		return spec.CommandResult{}, nil
	case newSession:
		return spec.CommandResult{NewSession: true}, nil
	}
	if seq, ok := v.(starlark.Sequence); ok {
		if _, isDict := v.(*starlark.Dict); !isDict {
			var lines []string
			for i, x := range elements(seq) {
				line, ok := starlark.AsString(x)
				if !ok {
					return spec.CommandResult{}, fmt.Errorf("a command returns None, a text, a list of texts or new_session(); item %d is %s", i, x.Type())
				}
				lines = append(lines, line)
			}
			return spec.CommandResult{Lines: lines}, nil
		}
	}
	s, err := plainText(v)
	if err != nil {
		return spec.CommandResult{}, fmt.Errorf("a command returns None, a text, a list of texts or new_session(), not %s", v.Type())
	}
	return spec.CommandResult{Lines: []string{s}}, nil
}

// newSession is what a command returns to have a new session begun.
var newSession = freshSession{}

type freshSession struct{}

func (freshSession) String() string        { return "new_session()" }
func (freshSession) Type() string          { return "new_session" }
func (freshSession) Freeze()               {}
func (freshSession) Truth() starlark.Bool  { return starlark.True }
func (freshSession) Hash() (uint32, error) { return 0, fmt.Errorf("new_session() is no key") }

var newSessionWord = builtin{name: "new_session", run: func(_ *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs("new_session", args, kwargs); err != nil {
		return nil, err
	}
	return newSession, nil
}}
