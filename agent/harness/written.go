package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/script/discover"
	"starling/trust"
)

const (
	// maxWritten is how many commands one folder may hold, writtenLimit the bytes of
	// one.
	maxWritten   = 200
	writtenLimit = 64 << 10
	// argumentsWord stands in a file for what was typed behind the command.
	argumentsWord = "$ARGUMENTS"
)

// nameable tells whether a file may name a command, by the rule for plugins.
func nameable(name string) bool {
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return name != "" && len(name) <= 40 && !strings.ContainsFunc(name, strange)
}

// commandFolder is where commands are written as texts, below home and workspace.
const commandFolder = "commands"

// readCommands reads the commands of a folder: each file NAME.md. What is no plain
// file, too large or of a strange name is left out.
func readCommands(read func(name string) ([]byte, error), list func() ([]os.DirEntry, error)) trust.Bundle {
	entries, err := list()
	if err != nil {
		return nil
	}
	b := trust.Bundle{}
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".md")
		if !ok || !nameable(name) || len(b) == maxWritten {
			continue
		}
		if data, err := read(entry.Name()); err == nil {
			b[commandFolder+"/"+entry.Name()] = data
		}
	}
	return b
}

// homeCommands are the person's own.
func homeCommands(home string) trust.Bundle {
	if home == "" {
		return nil
	}
	dir := filepath.Join(home, commandFolder)
	return readCommands(
		func(name string) ([]byte, error) { return plainFile(filepath.Join(dir, name)) },
		func() ([]os.DirEntry, error) { return os.ReadDir(dir) },
	)
}

func plainFile(path string) ([]byte, error) {
	data, err := discover.ReadSource(path)
	if err == nil && len(data) > writtenLimit {
		err = fmt.Errorf("%s has more than %d bytes", path, writtenLimit)
	}
	return data, err
}

// workspaceCommands are those a checkout brings; no link leads out of it.
func workspaceCommands(workspace string) trust.Bundle {
	if _, err := os.Lstat(filepath.Join(workspace, ".starling")); err != nil {
		return nil // most often there is none, and each start asks
	}
	jail, err := trust.NewJail(workspace)
	if err != nil {
		return nil
	}
	defer jail.Close()
	dir := filepath.Join(".starling", commandFolder)
	return readCommands(
		func(name string) ([]byte, error) { return jail.ReadFile(filepath.Join(dir, name), writtenLimit) },
		func() ([]os.DirEntry, error) { return jail.List(dir) },
	)
}

// textUnit is the text of a workspace that steers, as one thing to be approved;
// false where there is none.
func (s *source) textUnit() (unit, bool) {
	b := workspaceCommands(s.options.Workspace)
	return unit{
		name: trust.UnitText, path: filepath.Join(s.options.Workspace, ".starling", commandFolder), bundle: b,
	}, len(b) > 0
}

// textEffects says what the text of a workspace does.
func textEffects(b trust.Bundle) []string {
	var all []string
	for _, name := range b.Names() {
		all = append(all, fmt.Sprintf("/%s sends the model %s: %s", commandName(name), name, described(b[name])))
	}
	return all
}

func commandName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".md") }

// commandFile is where a command of the person stands.
func commandFile(name string) string { return commandFolder + "/" + name + ".md" }

// described is the first line of a text that says something.
func described(text []byte) string {
	for line := range bytes.Lines(text) {
		if s := strings.Trim(strings.TrimSpace(string(line)), "#-*> "); s != "" {
			if r := []rune(s); len(r) > descriptionLength {
				s = string(r[:descriptionLength]) + "…"
			}
			return s
		}
	}
	return ""
}

const descriptionLength = 80

// written are the commands in files, those of the workspace before those of the
// home. A file that changed counts as it stands, one of the workspace when it is
// approved so.
func (e *Engine) written() []spec.Command {
	var list []spec.Command
	seen := map[string]bool{}
	add := func(b trust.Bundle) {
		for _, name := range b.Names() {
			command, text := commandName(name), string(b[name])
			if seen[command] {
				continue
			}
			seen[command] = true
			list = append(list, spec.Command{
				Name: command, Description: described(b[name]),
				Run: func(_ context.Context, args string) (spec.CommandResult, error) {
					return spec.CommandResult{}, e.enqueue("", filledIn(text, args))
				},
			})
		}
	}
	if !e.options.NoPlugins {
		if u, ok := e.source.textUnit(); ok && e.approved(u) {
			add(u.bundle)
		}
	}
	add(homeCommands(e.options.Home))
	slices.SortFunc(list, func(a, b spec.Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// approved tells whether the text of the workspace counts as it stands now.
func (e *Engine) approved(text unit) bool {
	o, digest := e.options, text.bundle.Digest()
	if o.TrustPlugins {
		return true
	}
	for _, u := range e.current.Load().units { // by the flags of this run
		if u.name == text.name && u.verdict == trust.Approved && (u.bundle.Digest() == digest || o.TrustEdits) {
			return true
		}
	}
	return e.source.store.Decide(o.Workspace, text.name, digest).Verdict == trust.Approved
}

// filledIn is the text of a file with what was typed behind its command: at
// $ARGUMENTS, else at the end.
func filledIn(text, args string) string {
	text, args = strings.TrimSpace(text), strings.TrimSpace(args)
	if strings.Contains(text, argumentsWord) {
		return strings.TrimSpace(strings.ReplaceAll(text, argumentsWord, args))
	}
	if args == "" {
		return text
	}
	return text + "\n\n" + args
}
