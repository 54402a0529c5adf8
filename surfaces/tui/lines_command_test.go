package tui

import (
	"strings"
	"testing"
	"time"

	"starling/bus/chat"
	"starling/surfaces/tui/command"
)

// No command needs the screen that lines do not have: each is answered with a line at
// least, and the session goes on.
func TestLinesCommands(t *testing.T) {
	e := &engine{past: []chat.Message{
		{Role: chat.User, Blocks: []chat.Block{{Kind: chat.Text, Text: "how?"}}},
		{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "so:\n```\n\tmake  all\n```"}}},
	}}
	l := newPlain(t, e)
	l.sees("so:")
	lines := []string{"/copy code", "/copy all", "/help keys", "/queue drop", "/sidebar off", "/theme none", "/resume s-1", "/attach x"}
	for _, u := range command.Usages() {
		if name := strings.Fields(u.Line)[0]; name != "/quit" {
			lines = append(lines, name)
		}
	}
	for _, line := range lines {
		before := len(l.text())
		l.line(line)
		for end := time.Now().Add(patience); len(l.text()) == before; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is answered with nothing", line)
			}
		}
		until(l, "the end of "+line, func() bool { return l.s.changing == 0 })
	}
	l.line("still there?")
	for end := time.Now().Add(patience); len(e.said()) == 0 && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	if got := e.said(); len(got) != 1 || got[0] != "still there?" {
		t.Errorf("prompts %q in\n%s", got, l.text())
	}
	l.line("/quit")
	l.ends()
}

// There is no clipboard that lines reach: what would be copied is shown as it is, and
// nothing says that it was copied.
func TestLinesCopy(t *testing.T) {
	e := &engine{past: []chat.Message{{Role: chat.Assistant, Blocks: []chat.Block{{Kind: chat.Text, Text: "so:\n```\n\tmake  all\n```\n"}}}}}
	l := newPlain(t, e)
	l.sees("/help lists")
	before := len(l.text())
	l.line("/copy code")
	for end := time.Now().Add(patience); len(l.text()) == before && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	l.line("/quit")
	l.ends()
	if got := l.text()[before:]; got != "\tmake  all\n" {
		t.Errorf("%q", got)
	}
}
