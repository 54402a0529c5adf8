package bind

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/bus/chat"
	"starling/trust"
)

// Info is what plugins may read of the session without a word; every function
// may be nil, and then there is nothing to read yet.
type Info struct {
	SystemPrompt func() string
	Instructions func() []TextFile
	Skills       func() []SkillInfo
	Tools        func() []ToolInfo
	Session      func() (SessionInfo, bool)
}

// TextFile is an instruction file.
type TextFile struct{ Path, Text string }

// SkillInfo is one skill.
type SkillInfo struct {
	Name, Description, Path string
	Project                 bool // of the workspace
}

// ToolInfo is one tool the model is offered.
type ToolInfo struct{ Name, Description, Snippet string }

// SessionInfo is the session that is recorded.
type SessionInfo struct {
	ID, Path, Title, Model string
	Messages               func() []chat.Message
}

func infoWords() []builtin {
	return []builtin{
		infoWord("system_prompt", func(i Info) (starlark.Value, error) {
			if i.SystemPrompt == nil {
				return starlark.String(""), nil
			}
			return starlark.String(i.SystemPrompt()), nil
		}),
		infoWord("agents_md", func(i Info) (starlark.Value, error) {
			return structs(i.Instructions, "file", func(f TextFile) starlark.StringDict {
				return starlark.StringDict{"path": starlark.String(f.Path), "text": starlark.String(f.Text)}
			}), nil
		}),
		infoWord("skills", func(i Info) (starlark.Value, error) {
			return structs(i.Skills, "skill", func(s SkillInfo) starlark.StringDict {
				return starlark.StringDict{
					"name": starlark.String(s.Name), "description": starlark.String(s.Description),
					"path": starlark.String(s.Path), "project": starlark.Bool(s.Project),
				}
			}), nil
		}),
		infoWord("tool_list", func(i Info) (starlark.Value, error) {
			return structs(i.Tools, "tool", func(t ToolInfo) starlark.StringDict {
				return starlark.StringDict{
					"name": starlark.String(t.Name), "description": starlark.String(t.Description), "snippet": starlark.String(t.Snippet),
				}
			}), nil
		}),
		infoWord("session", sessionValue),
	}
}

func infoWord(name string, read func(Info) (starlark.Value, error)) builtin {
	return builtin{name: name, run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs(name, args, kwargs); err != nil {
			return nil, err
		}
		return read(p.host.Info)
	}}
}

// structs makes a list of structs; nil lists nothing.
func structs[T any](read func() []T, kind string, fields func(T) starlark.StringDict) starlark.Value {
	var list []starlark.Value
	if read != nil {
		for _, x := range read() {
			list = append(list, starlarkstruct.FromStringDict(starlark.String(kind), fields(x)))
		}
	}
	return starlark.NewList(list)
}

func sessionValue(i Info) (starlark.Value, error) {
	if i.Session == nil {
		return starlark.None, nil
	}
	s, ok := i.Session()
	if !ok {
		return starlark.None, nil
	}
	messages := starlark.NewBuiltin("messages", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
			return nil, err
		}
		return messageList(s.Messages())
	})
	return starlarkstruct.FromStringDict(starlark.String("session"), starlark.StringDict{
		"id": starlark.String(s.ID), "path": starlark.String(s.Path), "title": starlark.String(s.Title),
		"model": starlark.String(s.Model), "messages": messages,
	}), nil
}

// promptWord queues a text like a typed line.
var promptWord = builtin{name: "prompt", run: func(p *Plugin, _ *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	if err := starlark.UnpackArgs("prompt", args, kwargs, "text", &text); err != nil {
		return nil, err
	}
	if err := p.needs(trust.Prompt); err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	if p.host.Prompt == nil {
		return nil, notAvailable("prompt")
	}
	if text == "" {
		return nil, errors.New("prompt: the text must not be empty")
	}
	if err := p.host.Prompt(p.Name(), text); err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	return starlark.None, nil
}}
