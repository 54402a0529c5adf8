package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"starling/bus/view"
	"starling/tools/bash"
	"starling/tools/shell"
)

// originPerson is who started a command that a person typed behind "!".
const originPerson = "tui"

// Shell runs a command of the person in the folder the shell tool is in. They typed
// it, so nobody is asked. output gets what it prints, whole characters, as it comes;
// cite puts the command and its output into the conversation. The error is about
// starting it, or citing.
func (e *Engine) Shell(ctx context.Context, line string, cite bool, output func(string)) (view.Ended, error) {
	line = strings.TrimSpace(line)
	if line == "" {
		return view.Ended{}, errors.New("type a command behind the exclamation mark, as in !ls")
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
		return view.Ended{}, err
	}
	if rest := cut.rest(); rest != "" && output != nil {
		output(rest)
	}
	ended := endOf(out)
	if !cite {
		return ended, nil
	}
	return ended, e.Note(citation(line, ended.Status, out.Stdout.String()))
}

// citation is a command of the person as the model reads it.
func citation(line, status, output string) string {
	output = strings.TrimRight(strings.ToValidUTF8(output, "\uFFFD"), "\n")
	if output == "" {
		output = "[no output]"
	}
	return fmt.Sprintf("I ran a command: %s\n%s; its output:\n\n%s", line, status, output)
}

func endOf(o shell.Outcome) view.Ended {
	switch {
	case o.Cancelled:
		return view.Ended{Status: "cancelled", Failed: true}
	case o.Stopped:
		return view.Ended{Status: "stopped", Failed: true}
	case o.TimedOut:
		return view.Ended{Status: "timed out", Failed: true}
	case o.Signal != "":
		return view.Ended{Status: "signalled (" + o.Signal + ")", Failed: true}
	}
	status := fmt.Sprintf("exited(%d)", o.Status)
	if o.Background {
		status += ", something of it lives on"
	}
	return view.Ended{Status: status, Failed: o.Status != 0}
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
