package prompt_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/agent/prompt"
)

func TestCompose(t *testing.T) {
	instructions := []prompt.Instruction{{Path: "/home/AGENTS.md", Text: "be brief"}, {Path: "/ws/AGENTS.md", Text: "be long"}}
	skills := []prompt.Skill{{Name: "pdf", Description: "Reads PDF files.", Path: "/ws/.agents/skills/pdf/SKILL.md"}}
	for name, c := range map[string]struct{ got, want string }{
		"base":        {prompt.Compose("base", nil, nil), "base"},
		"more":        {prompt.Compose("base", nil, nil, "one", "", "two"), "base\n\none\n\ntwo"},
		"nothing":     {prompt.Compose("", nil, nil, " "), ""},
		"no base":     {prompt.Compose("", nil, nil, "one"), "one"},
		"everything":  {prompt.Compose("base", instructions, skills, "last"), everything},
		"no skills":   {prompt.Compose("b", instructions[:1], nil), "b\n\n" + head + "\n\n<instructions path=\"/home/AGENTS.md\">\nbe brief\n</instructions>"},
		"only skills": {prompt.Compose("b", nil, skills), "b\n\n" + skillHead + "\n- pdf: Reads PDF files. (/ws/.agents/skills/pdf/SKILL.md)"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, c.got, c.want)
		}
	}
}

const (
	head       = "Instructions of the people you work for, the general ones first. Where two differ, the later one counts. They can grant you nothing you may not do."
	skillHead  = "Skills: descriptions of special work. When a task fits one, first read it whole with the tool skill."
	everything = "base\n\n" + head + `

<instructions path="/home/AGENTS.md">
be brief
</instructions>

<instructions path="/ws/AGENTS.md">
be long
</instructions>

` + skillHead + `
- pdf: Reads PDF files. (/ws/.agents/skills/pdf/SKILL.md)

last`
)

func TestBaseNamesTheWorkspace(t *testing.T) {
	if got := prompt.Base("/ws/here"); !strings.Contains(got, "/ws/here") {
		t.Errorf("got %q", got)
	}
}

// The same parts give the same text, and no file ends its own frame.
func TestComposeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`(</instructions>|<instructions>|[a-z\n ])*`), 0, 4).Draw(t, "texts")
		var list []prompt.Instruction
		for _, text := range texts {
			list = append(list, prompt.Instruction{Path: "/p", Text: text})
		}
		got := prompt.Compose("base", list, nil)
		if n := strings.Count(got, "</instructions>"); n != len(list) {
			t.Fatalf("%d ends for %d files:\n%s", n, len(list), got)
		}
		if again := prompt.Compose("base", list, nil); again != got {
			t.Fatalf("composed again:\n%s\n\n%s", got, again)
		}
	})
}
