package prompt_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"starling/agent/prompt"
	"starling/bus/spec"
)

// place is a person's home with a workspace.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place { return place{t, t.TempDir()} }

func (p place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p place) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) link(target, name string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(target, p.path(name)); err != nil {
		p.t.Fatal(err)
	}
}

// gather reads the place with ws/cwd as the current folder.
func (p place) gather(cwd string) prompt.Texts {
	return prompt.Gather(prompt.Places{
		Home: p.path("home/.starling"), UserHome: p.path("home"), Workspace: p.path("ws"), Cwd: p.path("ws/" + cwd),
	})
}

// said joins notices with the place's folder left out.
func (p place) said(texts prompt.Texts) string {
	return strings.ReplaceAll(strings.Join(texts.Notices, "\n"), p.dir+"/", "")
}

// instructions are "path: text" with the place's folder left out.
func (p place) instructions(texts prompt.Texts) []string {
	var got []string
	for _, i := range texts.Instructions {
		got = append(got, strings.TrimPrefix(i.Path, p.dir+"/")+": "+i.Text)
	}
	return got
}

func TestInstructions(t *testing.T) {
	p := newPlace(t)
	p.write("home/.starling/AGENTS.md", "of the person\r\n")
	p.write("AGENTS.md", "above the workspace")
	p.write("ws/AGENTS.md", "\ufeffof the workspace\n")
	p.write("ws/CLAUDE.md", "hidden by the other")
	p.write("ws/a/CLAUDE.md", "of a")
	p.write("ws/a/b/AGENTS.md", " \n")
	p.write("ws/a/b/CLAUDE.md", "hidden by an empty one")
	p.write("ws/a/b/c/AGENTS.md", "of c \x1b[31mred\x1b[0m\u202e\U000e0041")
	p.write("ws/x/AGENTS.md", "of a folder beside")
	texts := p.gather("a/b/c")
	want := []string{
		"home/.starling/AGENTS.md: of the person", "ws/AGENTS.md: of the workspace",
		"ws/a/CLAUDE.md: of a", "ws/a/b/c/AGENTS.md: of c red",
	}
	if got := p.instructions(texts); !slices.Equal(got, want) || len(texts.Notices) > 0 {
		t.Errorf("got %q, notices %q", got, texts.Notices)
	}
	if got := p.instructions(p.gather("")); !slices.Equal(got, want[:2]) {
		t.Errorf("in the workspace itself: %q", got)
	}
	if got := p.instructions(p.gather("..")); !slices.Equal(got, want[:2]) {
		t.Errorf("outside the workspace: %q", got)
	}
	wantListed := "instructions: " + p.path("home/.starling/AGENTS.md") + ", " + p.path("ws/AGENTS.md")
	if got := p.gather("").Listed(); got != wantListed {
		t.Errorf("listed %q", got)
	}
}

func TestNoPlaces(t *testing.T) {
	texts := prompt.Gather(prompt.Places{})
	if len(texts.Instructions)+len(texts.Skills)+len(texts.Notices) > 0 || texts.Listed() != "" {
		t.Errorf("got %+v", texts)
	}
	p := newPlace(t)
	if texts := p.gather(""); len(texts.Instructions)+len(texts.Skills)+len(texts.Notices) > 0 {
		t.Errorf("folders that are not there: %+v", texts)
	}
}

func TestInstructionsLinks(t *testing.T) {
	p := newPlace(t)
	p.write("secret.txt", "a secret")
	p.write("ws/AGENTS.md", "the one text")
	p.link("AGENTS.md", "ws/CLAUDE.md")
	p.link("../AGENTS.md", "ws/a/AGENTS.md") // met twice, counts once
	p.link(p.path("secret.txt"), "ws/a/b/AGENTS.md")
	p.link("../../../../secret.txt", "ws/a/b/c/CLAUDE.md")
	p.link("../../..", "ws/a/b/c/out")
	texts := p.gather("a/b/c")
	if got := p.instructions(texts); !slices.Equal(got, []string{"ws/a/AGENTS.md: the one text"}) {
		t.Errorf("got %q", got)
	}
	want := "ws/a/b/AGENTS.md is a link that leads out of ws (to secret.txt): it is left out\n" +
		"ws/a/b/c/CLAUDE.md is a link that leads out of ws (to secret.txt): it is left out"
	said := strings.ReplaceAll(p.said(texts), p.dir+"/", "")
	if said != want {
		t.Errorf("said\n%s\nwant\n%s", said, want)
	}
}

func TestInstructionsThatAreNoText(t *testing.T) {
	p := newPlace(t)
	p.write("ws/AGENTS.md", "a\x00b")
	p.write("ws/a/AGENTS.md/inner", "")
	p.write("ws/a/b/c/x", "")
	if err := syscall.Mkfifo(p.path("ws/a/b/AGENTS.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.write("ws/a/b/c/AGENTS.md", "caf\xe9 ok")
	texts := p.gather("a/b/c")
	if got := p.instructions(texts); !slices.Equal(got, []string{"ws/a/b/c/AGENTS.md: caf ok"}) {
		t.Errorf("got %q", got)
	}
	for _, want := range []string{"ws/AGENTS.md is no text file", "ws/a/AGENTS.md is left out: ", "is a directory", "is a pipe"} {
		if !strings.Contains(p.said(texts), want) {
			t.Errorf("no %q in\n%s", want, p.said(texts))
		}
	}
}

func TestInstructionsTooLarge(t *testing.T) {
	p := newPlace(t)
	line := strings.Repeat("x", 99) + "\n"
	long := strings.Repeat(line, prompt.MaxInstruction/100+10)
	p.write("ws/AGENTS.md", long)
	texts := p.gather("")
	size := prompt.MaxInstruction / 100 * 100
	note := fmt.Sprintf("ws/AGENTS.md has %d bytes: only the first %d are used", len(long), size)
	if got := p.said(texts); got != note+"; shorten it or split it into skills" {
		t.Errorf("said %q", got)
	}
	text := strings.ReplaceAll(texts.Instructions[0].Text, p.dir+"/", "")
	if want := long[:size-1] + "\n\n[" + note + "]"; text != want {
		t.Errorf("text ends %q", text[len(text)-200:])
	}

	// All together: the general ones make room.
	dir := "ws"
	for i := range 6 {
		p.write(dir+"/AGENTS.md", fmt.Sprintf("file %d\n", i)+long)
		dir = fmt.Sprintf("%s/d%d", dir, i)
	}
	texts = p.gather("d0/d1/d2/d3/d4")
	total := 0
	for _, i := range texts.Instructions {
		total += len(i.Text)
	}
	last := texts.Instructions[len(texts.Instructions)-1]
	if !strings.HasPrefix(last.Text, "file 5\n") || total > prompt.MaxInstructions+6*500 {
		t.Errorf("%d bytes, last %q", total, last.Text[:20])
	}
	if !strings.Contains(p.said(texts), "ws/AGENTS.md is left out: the instruction files together have more than 256 KiB") {
		t.Errorf("said %q", p.said(texts))
	}
}

const skillText = "---\nname: %s\ndescription: %s\n---\n\nbody of %s\n"

func skill(name, description string) string {
	return fmt.Sprintf(skillText, name, description, description)
}

func TestSkills(t *testing.T) {
	p := newPlace(t)
	p.write("ws/.starling/skills/both/SKILL.md", skill("both", "of the workspace"))
	p.write("ws/.agents/skills/both/SKILL.md", skill("both", "hidden: agents"))
	p.write("ws/.agents/skills/zeta/SKILL.md", "---\ndescription: named by its folder\n---\n")
	p.write("ws/.agents/skills/.hidden/SKILL.md", skill("hidden", "x"))
	p.write("ws/.agents/skills/empty/notes.txt", "no skill")
	p.write("ws/.agents/skills/README.md", "about this folder")
	p.write("home/.starling/skills/both/SKILL.md", skill("both", "hidden: home"))
	p.write("home/.starling/skills/alpha.md", "---\ndescription: one file\n---\n")
	p.write("home/.agents/skills/mid/SKILL.md", skill("mid", "of the home"))
	texts := p.gather("")
	var got []string
	for _, s := range texts.Skills {
		got = append(got, fmt.Sprintf("%s|%s|%s|%v", s.Name, s.Description, strings.TrimPrefix(s.Path, p.dir+"/"), s.Project))
	}
	want := []string{
		"alpha|one file|home/.starling/skills/alpha.md|false",
		"both|of the workspace|ws/.starling/skills/both/SKILL.md|true",
		"mid|of the home|home/.agents/skills/mid/SKILL.md|false",
		"zeta|named by its folder|ws/.agents/skills/zeta/SKILL.md|true",
	}
	if !slices.Equal(got, want) || len(texts.Notices) > 0 {
		t.Errorf("got %q, notices %q", got, texts.Notices)
	}
	if texts.Listed() != "skills: alpha, both, mid, zeta" {
		t.Errorf("listed %q", texts.Listed())
	}
}

func TestSkillsThatAreWrong(t *testing.T) {
	p := newPlace(t)
	p.write("ws/.agents/skills/none/SKILL.md", "no front matter")
	p.write("ws/.agents/skills/open/SKILL.md", "---\nname: open\n")
	p.write("ws/.agents/skills/mute/SKILL.md", "---\nname: mute\n---\n")
	p.write("ws/.agents/skills/misnamed/SKILL.md", skill("not a name", "kept under its folder's name"))
	p.write("ws/.agents/skills/long/SKILL.md", skill("long", strings.Repeat("ä", 600)))
	p.write("ws/.agents/skills/bad name/SKILL.md", "---\ndescription: x\n---\n")
	p.write("ws/.starling/skills", "a file")
	p.link(p.path("home"), "ws/.agents/skills/linked")
	texts := p.gather("")
	var names []string
	for _, s := range texts.Skills {
		names = append(names, s.Name)
		if len(s.Description) > prompt.MaxDescription+len("…") {
			t.Errorf("%s: a description of %d bytes", s.Name, len(s.Description))
		}
	}
	if !slices.Equal(names, []string{"long", "misnamed"}) {
		t.Errorf("names %q", names)
	}
	for _, want := range []string{
		"none/SKILL.md: it has no front matter: begin it with ---",
		"open/SKILL.md: its front matter has no end",
		"mute/SKILL.md: it has no description; it is left out",
		`misnamed/SKILL.md: the name "not a name" may hold`,
		"long/SKILL.md: the description has more than 1024 bytes",
		`bad name/SKILL.md: the name "bad name" may hold letters, digits, . _ and - only; it is left out`,
		"ws/.starling/skills holds no skills",
	} {
		if !strings.Contains(p.said(texts), want) {
			t.Errorf("no %q in\n%s", want, p.said(texts))
		}
	}
	if n := len(texts.Notices); n != 7 {
		t.Errorf("%d notices:\n%s", n, p.said(texts))
	}
}

func TestSkillTool(t *testing.T) {
	p := newPlace(t)
	p.write("ws/.env", "KEY=1")
	p.write("home/.starling/skills/far/SKILL.md", skill("far", "of the home"))
	p.write("home/.starling/skills/far/steps/more.md", "more to read")
	p.write("ws/.agents/skills/near/SKILL.md", skill("near", "of the workspace"))
	p.write("ws/.agents/skills/near/large.txt", strings.Repeat("long line\n", prompt.MaxSkillFile/5))
	p.write("ws/.agents/skills/single.md", skill("single", "one file"))
	p.link("../../../.env", "ws/.agents/skills/near/env")
	texts := p.gather("")
	tool := prompt.SkillTool(func() []prompt.Skill { return texts.Skills })
	run := func(name, file string) string {
		t.Helper()
		arguments, err := json.Marshal(map[string]string{"name": name, "file": file})
		if err != nil {
			t.Fatal(err)
		}
		paths, all := tool.Paths(arguments)
		result, err := tool.Execute(context.Background(), spec.ToolCall{Arguments: arguments})
		if err != nil {
			return "error: " + err.Error()
		}
		return strings.ReplaceAll(fmt.Sprint(paths, all, result.Content), p.dir+"/", "")
	}
	for _, c := range []struct{ name, file, want string }{
		{"far", "", "[home/.starling/skills/far/SKILL.md] true" + skill("far", "of the home")},
		{"far", "steps/more.md", "[home/.starling/skills/far/steps/more.md] truemore to read"},
		{"near", "", "[.agents/skills/near/SKILL.md] true" + skill("near", "of the workspace")},
		{"single", "", "[.agents/skills/single.md] true" + skill("single", "one file")},
		{"single", "near/SKILL.md", "error: skill single: it is one file: leave out file to read it"},
		{"near", "../../../.env", `error: skill near: file "../../../.env" does not lie in its folder`},
		{"near", "/etc/passwd", `error: skill near: file "/etc/passwd" does not lie in its folder`},
		{"near", "env", `error: skill near: file "env" is a link that leads out of its folder`},
		{"nobody", "", `error: there is no skill "nobody"; skills: far, near, single`},
	} {
		if got := run(c.name, c.file); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.name, c.file, got, c.want)
		}
	}
	if got := run("near", "large.txt"); !strings.Contains(got, "large.txt has 131070 bytes: only the first 65530 are shown]") {
		t.Errorf("large: %q", got[max(0, len(got)-200):])
	}
	if got := run("near", "missing.md"); !strings.HasPrefix(got, "error: skill near: ") {
		t.Errorf("missing: %q", got)
	}
	if !json.Valid(tool.Parameters) || !tool.ReadOnly || tool.Sequential {
		t.Errorf("tool %+v", tool)
	}
	none := prompt.SkillTool(func() []prompt.Skill { return nil })
	if _, err := none.Execute(context.Background(), spec.ToolCall{Arguments: json.RawMessage(`{"name":"x"}`)}); err == nil || err.Error() != `there is no skill "x": there are none here` {
		t.Errorf("none: %v", err)
	}
}

func TestManySkills(t *testing.T) {
	p := newPlace(t)
	for i := range prompt.MaxSkills + 3 {
		p.write(fmt.Sprintf("ws/.agents/skills/s%03d.md", i), "---\ndescription: x\n---\n")
	}
	texts := p.gather("")
	if len(texts.Skills) != prompt.MaxSkills || p.said(texts) != "there are 203 skills: only the first 200 are used" {
		t.Errorf("%d skills, said %q", len(texts.Skills), p.said(texts))
	}
}
