package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/agent/harness"
	"starling/bus/chat"
	"starling/bus/view"
)

func lastUser(e *harness.Engine) string {
	last := ""
	for _, m := range e.Transcript() {
		if m.Role == chat.User {
			last = m.Text()
		}
	}
	return last
}

// Files of the person go before commands of plugins, those of an approved workspace
// before those of the home; a second plugin command gets a number.
func TestCommandNames(t *testing.T) {
	p := newPlace(t)
	p.write("home/commands/say.md", "# From home\n\nDo $ARGUMENTS, then $ARGUMENTS.\n")
	p.write("home/commands/plain.md", "Just this.")
	p.write("home/commands/bad name.md", "x")
	p.write("home/commands/notes.txt", "x")
	p.write("ws/.starling/commands/plain.md", "From the workspace.")
	p.write("home/plugins/a.star", command("of a"))
	p.write("home/plugins/b.star", command("of b"))
	e, _ := p.atTerminal(nobody)
	rows := func() string {
		var out []string
		for _, c := range e.Commands() {
			out = append(out, c.Name+"|"+c.From+"|"+c.Description)
		}
		return strings.Join(out, "\n")
	}
	want := "plain||Just this.\nsay||From home\nsay:2|a|d\nsay:3|b|d"
	if got := rows(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := p.command(e, "say:3", ""); got != "of b" {
		t.Errorf("say:3 says %s", got)
	}
	p.approve()
	// What was approved elsewhere counts from the next start.
	if got := rows(); got != want {
		t.Errorf("approved by another program:\n%s", got)
	}
	e2, _ := p.atTerminal(nobody)
	var plain view.Command
	for _, c := range e2.Commands() {
		if c.Name == "plain" {
			plain = c
		}
	}
	if plain.Description != "From the workspace." {
		t.Errorf("%+v", plain)
	}
	p.write("ws/.starling/commands/plain.md", "Changed.")
	for _, c := range e2.Commands() {
		if c.Name == "plain" && c.Description != "Just this." {
			t.Errorf("not approved in this version: %+v", c)
		}
	}
}

// What a command of a plugin shows is the person's alone: the model reads neither it nor
// that it was typed.
func TestCommandStaysWithThePerson(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/say.star", command("for your eyes"))
	e, _ := p.atTerminal(nobody)
	p.prompt(e, "one")
	if got := p.command(e, "say", "about it"); got != "for your eyes" {
		t.Fatalf("it says %q", got)
	}
	p.prompt(e, "two")
	if text := transcriptText(e); !strings.Contains(text, "two") || strings.Contains(text, "eyes") || strings.Contains(text, "about it") {
		t.Errorf("the model reads\n%s", text)
	}
}

// A command in a file is a prompt: headless it runs at once, on a screen it waits
// like a typed line.
func TestCommandFileRuns(t *testing.T) {
	for name, c := range map[string]struct{ text, args, want string }{
		"in its place": {"Look at $ARGUMENTS and $ARGUMENTS.\n", " a b ", "Look at a b and a b."},
		"behind it":    {"Look at it.", "more", "Look at it.\n\nmore"},
		"without":      {"Look at it.", "", "Look at it."},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("home/commands/look.md", c.text)
			e := p.start()
			if _, err := e.Command(context.Background(), "look", c.args); err != nil {
				t.Fatal(err)
			}
			if got := lastUser(e); got != c.want {
				t.Errorf("sent %q", got)
			}
			queued := ""
			p.options.Screen.Queued = func(from, text string) error { queued = from + "|" + text; return nil }
			e, _ = p.atTerminal(nobody)
			p.command(e, "look", c.args)
			if queued != "|"+c.want || len(e.Transcript()) != 0 {
				t.Errorf("queued %q", queued)
			}
		})
	}
}

// The question of the start shows what commands of the workspace say; no link leads
// out, and what is no plain file is no command.
func TestCommandFilesOfWorkspace(t *testing.T) {
	p := newPlace(t)
	p.write("secret.md", "secret")
	p.write("ws/.starling/commands/ship.md", "Ship it.")
	p.write("ws/.starling/commands/large.md", strings.Repeat("x", 65<<10))
	if err := os.Symlink(filepath.Join(p.root, "secret.md"), filepath.Join(p.ws, ".starling", "commands", "out.md")); err != nil {
		t.Fatal(err)
	}
	w, err := harness.OpenWorkspace(p.options)
	if err != nil {
		t.Fatal(err)
	}
	text := w.Question().Text()
	if !strings.Contains(text, "/ship sends the model commands/ship.md: Ship it.") || strings.Contains(text, "secret") || strings.Contains(text, "/large") {
		t.Error(text)
	}
	p.options.TrustPlugins = true
	e, _ := p.atTerminal(nobody)
	if got := e.Commands(); len(got) != 1 || got[0].Name != "ship" {
		t.Errorf("%+v", got)
	}
	p.options.TrustPlugins, p.options.NoPlugins = false, true
	e, _ = p.atTerminal(nobody)
	if got := e.Commands(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
