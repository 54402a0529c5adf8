package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"starling/surfaces/internal/golden"
	"starling/surfaces/tui/command"
	"starling/surfaces/tui/kit"
)

// shown is everything of a reply as text.
func shown(r command.Reply, width int) string {
	signs := kit.SignsFor(false)
	var b strings.Builder
	if r.Warn {
		b.WriteString("(warning)\n")
	}
	b.WriteString(r.Body.Text(width, signs))
	if r.Do != command.None {
		fmt.Fprintf(&b, "(action %d %q %s)\n", r.Do, r.Arg, r.Panel)
	}
	if r.Copy != "" {
		fmt.Fprintf(&b, "(copy %q)\n", r.Copy)
	}
	if r.Pick != nil {
		fmt.Fprintf(&b, "= choose: %s\n", r.Pick.Title)
		for i, it := range r.Pick.Items {
			mark := " "
			if i == r.Pick.Mark {
				mark = ">"
			}
			fmt.Fprintf(&b, "%s %s | %s | %s\n", mark, it.Text, it.Note, strings.ReplaceAll(it.Detail, "\n", "; "))
		}
		if len(r.Pick.Items) == 0 {
			fmt.Fprintf(&b, "  %s\n", r.Pick.Empty)
		}
		b.WriteString(keysOf(r.Pick.Keys))
	}
	if r.View != nil {
		fmt.Fprintf(&b, "= view: %s, every %v\n", r.View.Title, r.View.Every)
		for _, l := range r.View.Load(context.Background()).Lines(width, signs) {
			mark := " "
			if l.ID != "" {
				mark = "|"
			}
			b.WriteString(strings.TrimRight(mark+l.Text(), " ") + "\n")
		}
		b.WriteString(keysOf(r.View.Keys))
	}
	return b.String()
}

func keysOf(keys []command.Key) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, k.Chord+" "+k.Help)
	}
	if len(parts) == 0 {
		return ""
	}
	return "= " + strings.Join(parts, ", ") + "\n"
}

// TestGolden: what every command shows in the middle of a working day, on a narrow and
// on a wide screen. go test -update writes the files anew.
func TestGolden(t *testing.T) {
	lines := []string{
		"/help", "/help keys", "/help model", "/help deploy", "/model", "/think", "/mode", "/resume", "/sessions", "/context", "/cost",
		"/queue", "/tools", "/skills", "/ps", "/plugins", "/plugins guard", "/plugins broken", "/plugins fresh", "/reload", "/trust", "/policy", "/panel", "/theme", "/copy",
	}
	for _, width := range []int{40, 100} {
		var b strings.Builder
		for _, line := range lines {
			s := day()
			name, args, _ := command.Split(line)
			fmt.Fprintf(&b, "### %s\n%s\n", line, shown(command.Run(context.Background(), s, name, args), width))
		}
		for i, text := range strings.Split(b.String(), "\n") {
			if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "=") || strings.HasPrefix(text, "(") || strings.Contains(text, " | ") {
				continue // of the test, and of pickers, which the screen cuts
			}
			if n := kit.Width(strings.TrimPrefix(strings.TrimPrefix(text, "|"), " ")); n > width {
				t.Errorf("width %d, line %d has %d cells: %q", width, i+1, n, text)
			}
		}
		golden.Compare(t, fmt.Sprintf("commands.%d", width), b.String())
	}
}
