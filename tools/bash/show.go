package bash

import (
	"fmt"
	"strings"

	"starling/tools/shell"
)

// shown is the output as the model reads it.
type shown struct {
	text   string
	odd    bool // bytes that are no text are shown as \xNN
	binary bool // nothing is shown but the size
}

// show makes text of what was kept of an output.
func show(o shell.Outcome) shown {
	t := o.Output
	if isBinary(t.Head) || isBinary(t.Tail) {
		s := shown{binary: true, text: fmt.Sprintf("[binary output, %d bytes, not shown; ", t.Bytes)}
		switch {
		case o.Spill != "":
			s.text += held(o) + "]"
		default:
			s.text += "send it to a file to keep it]"
		}
		return s
	}
	if t.Omitted() == 0 {
		text, odd := clean(t.Head + t.Tail)
		return shown{text: text, odd: odd}
	}
	head, tail := wholeLines(t.Head, t.Tail)
	bytes := t.Bytes - int64(len(head)+len(tail))
	lines := t.Lines - int64(strings.Count(head, "\n")+strings.Count(tail, "\n"))
	if tail != "" && !strings.HasSuffix(tail, "\n") {
		lines--
	}
	gap := fmt.Sprintf("[… %d of %d bytes, %d of %d lines, left out; %s …]\n", bytes, t.Bytes, max(lines, 0), t.Lines, held(o))
	first, odd := clean(head)
	last, odd2 := clean(tail)
	if !strings.HasSuffix(first, "\n") {
		first += "\n"
	}
	return shown{text: first + gap + last, odd: odd || odd2}
}

// held says where the whole output is.
func held(o shell.Outcome) string {
	switch {
	case o.Spill == "" && o.SpillErr != nil:
		return fmt.Sprintf("the rest is lost (%v)", o.SpillErr)
	case o.Spill == "":
		return "the rest is lost"
	case o.SpillBytes < o.Output.Bytes:
		return fmt.Sprintf("the first %d bytes are in %s", o.SpillBytes, o.Spill)
	}
	return "the whole output is in " + o.Spill
}

// nearBreak is how far from a cut a line break may be to be cut at instead.
const nearBreak = 4 << 10

// wholeLines drops the lines that a cut went through, unless they are long.
func wholeLines(head, tail string) (string, string) {
	if i := strings.LastIndexByte(head, '\n'); i >= 0 && len(head)-i <= nearBreak {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < nearBreak {
		tail = tail[i+1:]
	}
	return head, tail
}

// A short output is always shown: its bytes may be what was asked for. In a longer
// one, more than 3 of 10 bytes that are no text mean that it is none.
const (
	shortOutput = 512
	oddTenths   = 3
)

func isBinary(s string) bool {
	if len(s) < shortOutput {
		return false
	}
	return oddBytes(s)*10 > len(s)*oddTenths
}
