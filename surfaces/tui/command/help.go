package command

import (
	"context"
	"fmt"
)

func help(_ context.Context, s Session, args string) Reply {
	var b Body
	switch args {
	case "":
		commandPart(&b, s)
		b.gap()
		b.dim("/help NAME shows one of them, /help keys the keys.")
		return page("commands", b)
	case "keys":
		keyPart(&b, s)
		return page("keys", b)
	}
	return helpOf(s, args)
}

func helpOf(s Session, name string) Reply {
	if len(name) > 1 && name[0] == '/' {
		name = name[1:]
	}
	if one, ok := find(name); ok {
		return say("%s: %s", usage(one), one.help)
	}
	for _, c := range others(s) {
		if c.Name != name {
			continue
		}
		from := "your own"
		if c.From != "" {
			from = "plugin " + c.From
		}
		return say("/%s (%s): %s", c.Name, from, c.Description)
	}
	return unknown(s, name, nil)
}

func usage(b builtin) string {
	if b.args == "" {
		return "/" + b.name
	}
	return fmt.Sprintf("/%s %s", b.name, b.args)
}

func commandPart(b *Body, s Session) {
	b.title("Commands")
	t := table{columns: []column{{}, {}}, wrap: true}
	for _, one := range builtins() {
		t.row("", cell{usage(one), styleAccent}, one.help)
	}
	b.add(t)
	rest := table{columns: []column{{}, {drop: 1}, {}}, wrap: true}
	for _, c := range others(s) {
		from := "your own"
		if c.From != "" {
			from = c.From
		}
		rest.row("", cell{"/" + c.Name, styleAccent}, dim(from), c.Description)
	}
	if len(rest.rows) > 0 {
		b.title("Of files and plugins")
		b.add(rest)
	}
	b.title("Lines")
	t = table{columns: []column{{}, {}}, wrap: true}
	t.row("", "!COMMAND", "run a shell command; the model reads what came of it")
	t.row("", "@PATH", "name a file of the workspace")
	b.add(t)
}

func keyPart(b *Body, s Session) {
	groups := LineKeys()
	if !s.Lines() {
		groups = KeyGroups(s.Keys(), s.Shortcuts())
	}
	for _, g := range groups {
		b.title(g.Title)
		t := table{columns: []column{{}, {}}, wrap: true}
		for _, k := range g.Keys {
			t.row("", cell{k.Keys, styleAccent}, k.Help)
		}
		b.add(t)
	}
}

func completeHelp(_ context.Context, s Session, _ string) []Candidate {
	list := []Candidate{{Text: "keys", Help: "the keys"}}
	for _, c := range List(s) {
		list = append(list, Candidate{Text: c.Name, Help: c.Description, From: c.From})
	}
	return list
}
