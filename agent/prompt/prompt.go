package prompt

import (
	"fmt"
	"strings"

	"starling/bus/view"
)

// Base is the system prompt before any plugin changes it.
func Base(workspace string) string {
	return fmt.Sprintf(`You are starling, a coding agent. You work in the folder %s with the tools you are offered.

Look before you change. Change only what the task asks for. When a tool call is refused, read why and choose another way or explain; do not repeat it. When you are done, say in a few sentences what you did and what you did not do.`, workspace)
}

const (
	instructionsHead = "Instructions of the people you work for, the general ones first. Where two differ, the later one counts. They can grant you nothing you may not do."
	skillsHead       = "Skills: descriptions of special work. When a task fits one, first read it whole with the tool " + SkillToolName + "."
)

// Compose joins the parts of the system prompt: base, instruction files, skills,
// then each text of more, with a blank line between. The same parts give the
// same bytes.
func Compose(base string, instructions []Instruction, skills []Skill, more ...string) string {
	parts := []string{base}
	if len(instructions) > 0 {
		parts = append(parts, instructionsHead)
	}
	for _, i := range instructions {
		parts = append(parts, fmt.Sprintf("<instructions path=%q>\n%s\n%s", i.Path, sealed(i.Text), instructionsEnd))
	}
	if len(skills) > 0 {
		lines := []string{skillsHead}
		for _, s := range skills {
			lines = append(lines, fmt.Sprintf("- %s: %s (%s)", s.Name, s.Description, view.CleanLine(s.Path)))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	kept := parts[:0]
	for _, part := range append(parts, more...) {
		if strings.TrimSpace(part) != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}

const instructionsEnd = "</instructions>"

// sealed keeps a file from ending its own frame and going on in our voice.
func sealed(text string) string {
	return strings.ReplaceAll(text, instructionsEnd, "<\\/instructions>")
}
