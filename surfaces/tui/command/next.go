package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"starling/bus/view"
	"starling/surfaces/tui/input"
)

// filesOffered is how many files are proposed behind /attach.
const filesOffered = 50

// attach is /attach [FILE...|drop].
func attach(ctx context.Context, s Session, args string) Reply {
	has := s.Attached()
	switch {
	case args == "" && len(has) == 0:
		return say("nothing is attached; /attach FILE sends a file along with the next prompt")
	case args == "":
		return say("attached to the next prompt: %s", strings.Join(has, ", "))
	case args == "drop" && len(has) == 0:
		return say("nothing is attached")
	case args == "drop":
		return Reply{Do: Detach, Body: Say("not attached any more: " + strings.Join(has, ", "))}
	}
	var r Reply
	var said []string
	names := fileNames(args)
	for _, name := range names {
		if slices.Contains(has, name) || slices.Contains(r.Files, name) {
			continue
		}
		if err := s.Attachable(ctx, name); err != nil {
			r.Warn = true
			said = append(said, err.Error())
			continue
		}
		r.Files = append(r.Files, name)
	}
	if r.Warn && len(names) > 1 && !strings.ContainsAny(args, `"'\`) {
		said = append(said, "a name with blanks stands in quotes")
	}
	if len(r.Files) > 0 {
		r.Do = Attach
	}
	switch all := slices.Concat(has, r.Files); {
	case len(all) > 0:
		said = append(said, "attached to the next prompt: "+strings.Join(all, ", "))
	default:
		said = append(said, "nothing is attached")
	}
	r.Body = Say(strings.Join(said, "\n"))
	return r
}

// fileNames are the names in a line, with the quotes and backslashes of a shell, and with
// or without the @ of a prompt.
func fileNames(args string) []string {
	var names []string
	for rest := args; ; {
		name, tail, ok := fileName(strings.TrimLeft(rest, " \t\n"))
		if !ok {
			return names
		}
		names, rest = append(names, name), tail
	}
}

// fileName is the first name in a text, and what stands behind it; false for none.
func fileName(text string) (name, rest string, ok bool) {
	if len(text) > 1 && text[0] == '@' {
		text = text[1:]
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(text) && escaped(text[i+1]):
			i++
			b.WriteByte(text[i])
		case quote == 0 && strings.IndexByte(" \t\n", c) >= 0:
			return b.String(), text[i:], true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", b.Len() > 0
}

// escaped tells whether a backslash before a byte quotes it: before a letter it parts
// folders, on some systems.
func escaped(c byte) bool { return strings.IndexByte(" \t\"'\\()[]{}&;$`!#*?<>|~", c) >= 0 }

// lastName is where the last name of a line begins, also one in a quote that is open.
func lastName(args string) int {
	begin, quote := 0, byte(0)
	for i := 0; i < len(args); i++ {
		switch c := args[i]; {
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && (c == ' ' || c == '\t'):
			begin = i + 1
		}
	}
	return begin
}

// completeFile proposes files for the last name of /attach.
func completeFile(ctx context.Context, s Session, args string) []Candidate {
	begin := lastName(args)
	before, query := args[:begin], strings.TrimLeft(args[begin:], `@"'`)
	found, err := s.Files(ctx, query, filesOffered)
	if err != nil {
		return nil // /attach itself says what it cannot find
	}
	var list []Candidate
	for _, name := range found {
		text := input.Mention(name)
		if !strings.HasPrefix(args[begin:], "@") {
			text = text[1:]
		}
		list = append(list, Candidate{Text: before + text})
	}
	if strings.HasPrefix("drop", args) {
		list = append(list, Candidate{Text: "drop", Help: "forget what is attached"})
	}
	return list
}

// steer is /steer TEXT. Without a run it is a prompt: the run may have ended a moment
// before.
func steer(_ context.Context, s Session, args string) Reply {
	if args == "" {
		return failed("/steer takes the line to send, as in: /steer leave the tests as they are")
	}
	return Reply{Do: Steer, Arg: args, Files: s.Attached()}
}

// queue is /queue [drop [N]].
func queue(_ context.Context, s Session, args string) Reply {
	waiting := s.Queued()
	what, number, _ := strings.Cut(args, " ")
	if args != "" {
		if err := oneOf("argument", what, []string{"drop"}); err != nil {
			return failure(err)
		}
	}
	number = strings.TrimSpace(number)
	n, err := strconv.Atoi(number)
	switch {
	case len(waiting) == 0:
		return say("no line waits")
	case what == "drop" && number == "":
		return Reply{Do: DropQueue, Body: Say(fmt.Sprintf("dropped: %d", len(waiting)))}
	case what == "drop" && (err != nil || n < 1 || n > len(waiting)):
		return failed("/queue drop takes the number of a line that waits, from 1 to %d, not %q", len(waiting), number)
	case what == "drop":
		return Reply{Do: DropQueue, Arg: strconv.Itoa(n), Body: Say("dropped: " + view.CleanLine(waiting[n-1]))}
	}
	var b Body
	t := table{columns: []column{{right: true}, {}}}
	for i, text := range waiting {
		t.row("", fmt.Sprint(i+1), text)
	}
	b.add(t)
	if s.Lines() {
		b.dim("/queue drop N drops one of them, /queue drop all; /steer TEXT sends a line into the run.")
	} else if up := s.Keys().Key(input.Up); up != "" {
		b.dim(up + " in the prompt marks one: Enter edits it, Alt-Enter sends it into the run, Del drops it.")
	}
	return Reply{Body: b}
}
