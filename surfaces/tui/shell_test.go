package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"starling/bus/view"
)

// shells runs commands that end as their name says.
func shells() *engine {
	return &engine{shell: func(_ context.Context, line string, out func(string)) (view.Ended, error) {
		out("some of it") // without a break at its end
		switch line {
		case "good":
			return view.Ended{Status: "exited(0)"}, nil
		case "bad":
			return view.Ended{Status: "exited(3)", Failed: true}, nil
		}
		return view.Ended{}, errors.New("it does not start")
	}}
}

// A command of the person that failed is shown as a call of the model that did, on a
// screen and in lines.
func TestShellFailed(t *testing.T) {
	for line, want := range map[string]struct{ status, screen, plain string }{
		"good":  {"exited(0)", "●", "✓"},
		"bad":   {"exited(3)", "✗", "✗"},
		"never": {"it does not start", "✗", "✗"},
	} {
		t.Run(line, func(t *testing.T) {
			l := newLab(t, 80, 24, shells())
			l.in(func() { l.s.send(entry("!" + line)) })
			l.sees(want.status)
			for shown := range strings.Lines(l.text()) {
				if strings.Contains(shown, want.status) && !strings.HasPrefix(shown, " "+want.screen+" shell") {
					t.Errorf("it is shown as %q, want the sign %s", shown, want.screen)
				}
			}
			p := newPlain(t, shells())
			p.sees("/help")
			p.line("!" + line)
			p.sees("\nsome of it\n" + want.plain + " !" + line + ": " + want.status + "\n")
			p.line("/quit")
			p.ends()
		})
	}
}

// What a command of the person writes while a reply comes stands in lines of its own.
func TestLinesBesideReply(t *testing.T) {
	l := newPlain(t, &engine{})
	l.sees("/help lists the commands.\n")
	l.s.in.write(reply, "", "The ans")
	l.s.in.write(output, "!a", "one\ntw")
	l.s.in.write(output, "!b", "three")
	l.s.in.do(func() { l.s.lines.ran("!b", "b", view.Ended{Status: "exited(0)"}) })
	l.s.in.write(output, "!a", "o\n")
	l.s.in.write(reply, "", "wer\n")
	l.line("/quit")
	l.ends()
	<-l.read
	if _, got, _ := strings.Cut(l.text(), "/help lists the commands.\n"); got != "one\nthree\n✓ !b: exited(0)\ntwo\nThe answer\n" {
		t.Errorf("%q", got)
	}
}
