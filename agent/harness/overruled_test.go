package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registering is a plugin that registers something.
func registering(lines ...string) string {
	return "inject = [\"tools\", \"commands\", \"surfaces\"]\ndef apply(ctx):\n    " + strings.Join(lines, "\n    ") + "\n"
}

// A registration that is not in effect says so where plugins are listed, with who has the
// name, whatever kind it is. What does nothing at all is told at the start besides.
func TestOverruledIsListed(t *testing.T) {
	const (
		search = `tool("search", "d", {}, lambda a: "x")`
		bash   = `tool("bash", "d", {}, lambda a: "x", replaces = True)`
		greet  = `command("greet", "d", lambda a: "x")`
	)
	for name, c := range map[string]struct {
		plugin, first string // two plugins; first is the one that comes first
		reserved      string // a command of the screen
		file          string // of commands/
		note          string
		quiet         bool // it works, by another name
	}{
		"tool of a plugin": {
			plugin: search, first: search,
			note: "tool search is not in effect: the name belongs to a, which comes first in the static order",
		},
		"built-in tool": {
			plugin: `tool("bash", "d", {}, lambda a: "x")`,
			note:   "tool bash is not in effect: the name belongs to a built-in tool; register it with replaces=True to take its place",
		},
		"replaced tool": {
			plugin: bash, first: bash,
			note: "tool bash is not in effect: the built-in is replaced by a already, which comes first in the static order",
		},
		"built-in command": {
			plugin: greet, reserved: "greet",
			note: "command greet is not in effect: the name belongs to a built-in command",
		},
		"built-in command of two": {
			plugin: greet, first: greet, reserved: "greet",
			note: "command greet is not in effect: the name belongs to a built-in command",
		},
		"command of a plugin": {
			plugin: greet, first: greet, quiet: true,
			note: "command greet is /greet:2: the name belongs to a, which comes first in the static order",
		},
		"command of a file": {
			plugin: greet, file: "greet", quiet: true,
			note: "command greet is /greet:2: the name belongs to the command file commands/greet.md",
		},
		"render": {
			plugin: `render("read", lambda c: None)`, first: `render("r*", lambda c: None)`,
			note: "render read is not in effect: its calls are drawn by a, which comes first in the static order",
		},
		"render of a pattern": {
			plugin: `render("r*", lambda c: None)`, first: `render("r*", lambda c: None)`,
			note: "render r* is not in effect: its calls are drawn by a, which comes first in the static order",
		},
		"render of more":   {plugin: `render("r*", lambda c: None)`, first: `render("read", lambda c: None)`},
		"render of others": {plugin: `render("r*", lambda c: None)`, first: `render("r?", lambda c: None)`},
		"nothing":          {plugin: search, first: greet, reserved: "help", file: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/plugins/b.star", registering(c.plugin))
			if c.first != "" {
				p.write("home/plugins/a.star", registering(c.first))
			}
			if c.file != "" {
				p.write("home/commands/"+c.file+".md", "Do it.")
			}
			if c.reserved != "" {
				p.options.Screen.Commands = []string{c.reserved}
			}
			e, _ := p.atTerminal(nobody)
			if got := notesOf(e, "b"); got != c.note {
				t.Errorf("b has the note %q, want %q", got, c.note)
			}
			what, why, _ := strings.Cut(c.note, " is not in effect")
			line := ": " + what + " of b is not in effect" + why
			told := c.note != "" && !c.quiet
			if n := strings.Count(p.said(), line); told && n != 1 || !told && strings.Contains(p.said(), "of b is") {
				t.Errorf("%q was told %d times:\n%s", line, n, p.said())
			}
		})
	}
}

// A command that a built-in hides has no other name either, not even behind a second
// one; and a command file of such a name is told too.
func TestBuiltinCommandsKeepTheirNames(t *testing.T) {
	p := newPlace(t)
	p.options.Screen.Commands = []string{"help"}
	for _, name := range []string{"a", "b"} {
		p.write("home/plugins/"+name+".star", registering(`command("help", "d", lambda a: "x")`))
	}
	p.write("home/commands/help.md", "Help me.")
	e, _ := p.atTerminal(nobody)
	if got := e.Commands(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if want := ": command file commands/help.md is not in effect: the name belongs to a built-in command"; !strings.Contains(p.said(), want) {
		t.Errorf("not told: %s\n%s", want, p.said())
	}
}

// What is not in effect is told when it comes about, once; when the one before it leaves,
// nothing is wrong any more, and the next time it is told again.
func TestOverruledInASession(t *testing.T) {
	const search = `tool("search", "d", {}, lambda a: "x")`
	p := newPlace(t)
	p.write("home/plugins/b.star", registering(search))
	e, _ := p.atTerminal(nobody)
	told := func() int { return strings.Count(p.said(), "tool search of b is not in effect: the name belongs to a") }
	for times := 1; times <= 2; times++ {
		if told() != times-1 || notesOf(e, "b") != "" {
			t.Errorf("told %d times, noted %q", told(), notesOf(e, "b"))
		}
		p.write("home/plugins/a.star", registering(search))
		p.eventually("the conflict", func() bool { return told() == times })
		p.write("home/plugins/c.star", registering(`command("c`+strings.Repeat("c", times)+`", "d", lambda a: "x")`))
		p.eventually("another change", func() bool { return p.state(e, "c") == "active" && len(e.Commands()) == 1 })
		if told() != times || !strings.Contains(notesOf(e, "b"), "belongs to a") {
			t.Errorf("told %d times, noted %q", told(), notesOf(e, "b"))
		}
		if err := os.Remove(filepath.Join(p.home, "plugins", "a.star")); err != nil {
			t.Fatal(err)
		}
		p.eventually("a is gone", func() bool { return p.state(e, "a") == "absent" })
	}
}
