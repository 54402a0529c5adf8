package shell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What draws is told from what prints, in whatever pieces it comes.
func TestScreen(t *testing.T) {
	for _, c := range []struct {
		name, output string
		on           bool
	}{
		{"text", "hello\nVim: a good editor\n", false},
		{"colours", "\x1b[31mred\x1b[0m\x1b[2K\x1b[1;1H\n", false},
		{"an editor", "\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b[H\x1b[2J~", true},
		{"an old one", "\x1b[?47h\x1b[3;4Hx", true},
		{"one that left", "\x1b[?1049h\x1b[Hbye\x1b[?1049l", false},
		{"one that came back", "\x1b[?1049h\x1b[H\x1b[?1049l\x1b[?1049h\x1b[5;1f", true},
		{"entered alone", "\x1b[?1049hjust text\n", false},
		{"a warning", "Vim: Warning: Output is not to a terminal\nVim: Warning: Input is not from a terminal\n", true},
		{"a warning later", "one\nVim: Warning: Input is not from a terminal\n", true},
		{"a quoted warning", "it said: Vim: Warning: Input is not from a terminal\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var s screen
				told := 0
				filler := strings.Repeat("x", rapid.IntRange(0, 100).Draw(t, "filler")) + "\n"
				for rest := filler + c.output; rest != ""; {
					n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
					if s.see([]byte(rest[:n])) {
						told++
					}
					rest = rest[n:]
				}
				if s.on() != c.on || c.on && told != 1 {
					t.Fatalf("on %v, told %d times", s.on(), told)
				}
			})
		})
	}
}
