package bash

import (
	"fmt"
	"strings"
	"time"

	"starling/tools/shell"
)

// worthATime is from when on the model is told how long a command took.
const worthATime = 10 * time.Second

// notes are the lines in brackets below the output. A command that printed
// something and succeeded gets none.
func notes(a request, o shell.Outcome, s shown, more ...string) string {
	lines := []string{ending(a, o, s)}
	if o.NeedsTerminal {
		lines = append(lines, "it needs a terminal and there is none: use options that make it ask nothing (-m, --yes, --batch, --no-edit), or have the person run it")
	}
	if o.Background {
		lines = append(lines, background(o))
	}
	if s.odd {
		lines = append(lines, `not UTF-8: bytes that are no text are shown as \xNN`)
	}
	var b strings.Builder
	if s.text != "" && !strings.HasSuffix(s.text, "\n") {
		b.WriteByte('\n')
	}
	for _, line := range append(lines, more...) {
		if line != "" {
			b.WriteString("[" + line + "]\n")
		}
	}
	if b.Len() <= 1 {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ending is how the command ended, where that is worth a line.
func ending(a request, o shell.Outcome, s shown) string {
	var facts []string
	switch {
	case o.TimedOut:
		facts = append(facts, fmt.Sprintf("ended after its timeout of %s, with all it started; give a longer timeout_s (at most %d), or run it with & and its output in a file", seconds(a.timeout()), int(MaxTimeout/time.Second)))
	case o.Stopped:
		facts = append(facts, "stopped by the person; do not start it again unasked")
	case o.Cancelled:
		facts = append(facts, "cancelled")
	case o.Signal != "":
		facts = append(facts, "ended by "+o.Signal)
	case o.Status != 0:
		facts = append(facts, fmt.Sprintf("exit status %d", o.Status))
	case s.text == "":
		facts = append(facts, "exit status 0")
	}
	if s.text == "" {
		facts = append(facts, "no output")
	}
	if o.Elapsed >= worthATime && !o.TimedOut {
		facts = append(facts, "took "+seconds(o.Elapsed))
	}
	return strings.Join(facts, ", ")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// background names what lives on.
func background(o shell.Outcome) string {
	var names []string
	for _, c := range o.Left {
		if c.Name == "" {
			names = append(names, fmt.Sprintf("pid %d", c.PID))
			continue
		}
		words, _ := clean(c.Name)
		names = append(names, fmt.Sprintf("pid %d: %s", c.PID, strings.ReplaceAll(words, "\n", " ")))
	}
	who := "a child"
	if len(names) > 0 {
		who = strings.Join(names, "; ")
	}
	return fmt.Sprintf("still running in the background: %s. What is printed from now on is lost unless it goes to a file; end it with kill", who)
}
