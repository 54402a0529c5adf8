package permit_test

import (
	"strings"
	"testing"

	"starling/bus"
	"starling/bus/spec"
	"starling/trust"
	"starling/trust/command"
	"starling/trust/permit"
)

const (
	workspace = "/w"
	home      = "/h"
)

// word is a word a program is given as it stands; "$…" is one nobody knows.
func word(text string) command.Word {
	return command.Word{Text: text, Known: !strings.HasPrefix(text, "$")}
}

// part is a command of known words in the workspace, of class change.
func part(words ...string) command.Part {
	p := command.Part{Kind: command.Simple, Text: strings.Join(words, " "), Dir: workspace, Risk: spec.RiskChange}
	for _, w := range words {
		p.Words = append(p.Words, word(w))
	}
	return p
}

func reads(p command.Part) command.Part { p.Risk = spec.RiskRead; return p }
func free(p command.Part) command.Part  { p.Free, p.Risk = true, spec.RiskRead; return p }

func in(dir string, p command.Part) command.Part { p.Dir = dir; return p }

func redirect(op, file string) command.Part {
	p := part(op, file)
	p.Kind = command.Redirect
	return p
}

func variable(text string) command.Part {
	p := part(text)
	p.Kind = command.Assign
	p.Words[0].Known = !strings.Contains(text, "$")
	return p
}

// line is a reading of parts that touches nothing else.
func line(parts ...command.Part) *command.Reading {
	return &command.Reading{Line: "a line", Parts: parts, PathsKnown: true}
}

func touching(r *command.Reading, paths ...string) *command.Reading { r.Paths = paths; return r }

func bash(r *command.Reading) permit.Call {
	return permit.Call{Tool: "bash", Command: r, Risk: spec.RiskChange, Cwd: workspace, Origin: "main"}
}

func on(tool string, risk spec.Risk, paths ...string) permit.Call {
	return permit.Call{Tool: tool, Risk: risk, ReadOnly: risk == spec.RiskRead, Paths: paths, PathsKnown: true, Origin: "main"}
}

func with(arguments string, c permit.Call) permit.Call { c.Arguments = []byte(arguments); return c }

// policy is a mode and rules such as "deny bash(rm *)".
func policy(t *testing.T, mode permit.Mode, rules ...string) permit.Policy {
	t.Helper()
	r := new(permit.Rules)
	for _, text := range rules {
		effect, text, ok := strings.Cut(text, " ")
		if !ok {
			t.Fatalf("%q has no effect", text)
		}
		r.With(permit.FromFlag, permit.Effect(effect), rule(t, text))
	}
	return permit.Policy{Mode: mode, Rules: r, At: trust.Folders{Workspace: workspace, Home: home}, StateHome: home + "/.starling"}
}

func says(kind bus.VerdictKind) permit.Verdicts {
	return func(bool) bus.Verdict { return bus.Verdict{Kind: kind, Why: "because", By: bus.Owner{Name: "p"}} }
}
