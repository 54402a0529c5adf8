package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"starling/tools/bash"
	"starling/tools/shell"
)

// originPerson is who started a command that a person typed behind "!".
const originPerson = "tui"

// Shell runs a command of the person in the folder the shell tool is in. They typed
// it, so nobody is asked. output gets what it prints, whole characters, as it comes;
// cite puts the command and its output into the conversation. The status is how it
// ended, as in the list of processes; the error is about starting it, or citing.
func (e *Engine) Shell(ctx context.Context, line string, cite bool, output func(string)) (status string, err error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return "", errors.New("type a command behind the exclamation mark, as in !ls")
	}
	var cut pieces
	out, err := e.shell.Run(ctx, shell.Command{
		Line: line, Dir: e.bash.Cwd(), Origin: originPerson, Merge: true, Head: bash.MaxHead, Tail: bash.MaxTail,
		OnOutput: func(chunk []byte) {
			if text := cut.take(chunk); text != "" && output != nil {
				output(text)
			}
		},
	})
	if err != nil {
		return "", err
	}
	if rest := cut.rest(); rest != "" && output != nil {
		output(rest)
	}
	status = statusOf(out)
	if !cite {
		return status, nil
	}
	return status, e.Note(citation(line, status, out.Stdout.String()))
}

// citation is a command of the person as the model reads it.
func citation(line, status, output string) string {
	output = strings.TrimRight(strings.ToValidUTF8(output, "\uFFFD"), "\n")
	if output == "" {
		output = "[no output]"
	}
	return fmt.Sprintf("I ran a command: %s\n%s; its output:\n\n%s", line, status, output)
}

// statusOf is how a command ended, in the words of the list of processes.
func statusOf(o shell.Outcome) string {
	switch {
	case o.Cancelled:
		return "cancelled"
	case o.Stopped:
		return "stopped"
	case o.TimedOut:
		return "timed out"
	case o.Signal != "":
		return "signalled (" + o.Signal + ")"
	}
	status := fmt.Sprintf("exited(%d)", o.Status)
	if o.Background {
		status += ", something of it lives on"
	}
	return status
}

// pieces makes whole characters of chunks that cut them.
type pieces struct{ held []byte }

func (p *pieces) take(chunk []byte) string {
	data := append(p.held, chunk...)
	end := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if c := data[len(data)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-back:]) {
				end = len(data) - back
			}
			break
		}
	}
	p.held = append([]byte(nil), data[end:]...)
	return strings.ToValidUTF8(string(data[:end]), "\uFFFD")
}

// rest is what never became a character.
func (p *pieces) rest() string { return strings.ToValidUTF8(string(p.held), "\uFFFD") }
