package prompt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"starling/bus/spec"
)

// SkillToolName is the name of the tool that reads skills.
const SkillToolName = "skill"

var skillParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "name": {"type": "string", "description": "Name of the skill"},
    "file": {"type": "string", "description": "A file beside its SKILL.md, when the skill tells to read one"}
  },
  "required": ["name"],
  "additionalProperties": false
}`)

// SkillTool returns the tool skill(name, file): it reads a skill that list has
// when it is called, also where the tool read does not reach, as in the home.
func SkillTool(list func() []Skill) spec.Tool {
	return spec.Tool{
		Name:        SkillToolName,
		Description: "Read the text of a skill that the system prompt lists, or a file beside it.",
		Parameters:  skillParameters,
		ReadOnly:    true,
		Risk:        spec.RiskRead,
		Builtin:     true,
		Paths:       func(arguments json.RawMessage) ([]string, bool) { return skillPaths(list(), arguments) },
		Execute: func(_ context.Context, call spec.ToolCall) (spec.ToolResult, error) {
			var a skillArguments
			if err := json.Unmarshal(call.Arguments, &a); err != nil {
				return spec.ToolResult{}, err
			}
			text, err := textOf(list(), a)
			return spec.ToolResult{Content: text}, err
		},
	}
}

type skillArguments struct {
	Name string `json:"name"`
	File string `json:"file"`
}

func textOf(list []Skill, a skillArguments) (string, error) {
	var names []string
	for _, s := range list {
		if s.Name == a.Name {
			return s.Text(a.File)
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "", fmt.Errorf("there is no skill %q: there are none here", a.Name)
	}
	return "", fmt.Errorf("there is no skill %q; skills: %s", a.Name, strings.Join(names, ", "))
}

// skillPaths is the file a call reads: relative in the workspace, else absolute.
func skillPaths(list []Skill, arguments json.RawMessage) (paths []string, all bool) {
	var a skillArguments
	if json.Unmarshal(arguments, &a) != nil {
		return nil, false
	}
	for _, s := range list {
		if s.Name != a.Name {
			continue
		}
		rel, err := s.file(a.File)
		if err != nil {
			break
		}
		if s.Project {
			return []string{rel}, true
		}
		return []string{s.folder.path(rel)}, true
	}
	return nil, true // nothing is read
}
