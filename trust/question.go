package trust

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Subject is one file, or one plugin with all it loads, that a person is asked
// about. Its texts are foreign; they are sanitised when printed.
type Subject struct {
	Name   string // such as "plugin guard" or "plugins.json"
	Path   string
	Origin string // "home", "workspace" or "flag"
	Digest Digest
	// Words are the capability words, enforced, so they are all it can touch.
	Words Words
	// Added are the Words its approved version did not have; empty for a first
	// question.
	Added Words
	// Effects are sentences on what a file that is no plugin does, such as
	// "switches off the home plugin guard".
	Effects []string
	// Events, Services, Tools and Commands are what its syntax tree names.
	Events   []string
	Services []string
	Tools    []string
	Commands []string
	// Literals are the commands, hosts and paths written in it.
	Literals []string
	// Hides is the path of a home plugin it would keep from running.
	Hides string
	// Diff is what changed since the approved version (see Diff); empty for a
	// first question.
	Diff string
}

// Question is what a person is asked before a workspace's code may run.
type Question struct {
	Workspace string
	// Head is the first line; "" says that the workspace brings something.
	Head     string
	Subjects []Subject
}

// fieldLimit cuts a name, in characters, valueLimit what a file says or does; what
// is cut is counted. Words are never cut.
const (
	fieldLimit = 200
	valueLimit = 2000
)

// effectLimit is how many effects of one file are listed; the rest is counted.
const effectLimit = 200

// diffLineLimit cuts one line of a diff, in characters.
const diffLineLimit = 2000

// Text of the question, without the line that asks for the answer: one block for
// each subject, in the order given, ending in a line break.
func (q Question) Text() string {
	var out strings.Builder
	if q.Head != "" {
		fmt.Fprintf(&out, "%s\n", field(q.Head))
	} else {
		fmt.Fprintf(&out, "%s brings code that is not approved in this version.\n", field(q.Workspace))
	}
	for _, s := range q.Subjects {
		out.WriteByte('\n')
		s.write(&out)
	}
	return out.String()
}

func field(s string) string { return clip(Sanitize(s), fieldLimit) }

func (s Subject) write(out *strings.Builder) {
	fmt.Fprintf(out, "%s", field(s.Name))
	if s.Path != "" {
		fmt.Fprintf(out, "  %s", field(s.Path))
	}
	if s.Origin != "" && s.Origin != "workspace" {
		fmt.Fprintf(out, "  (%s)", field(s.Origin))
	}
	out.WriteByte('\n')
	s.writeTouches(out)
	writeList(out, "listens to", s.Events, fieldLimit)
	writeList(out, "uses services", s.Services, fieldLimit)
	writeList(out, "tools", s.Tools, fieldLimit)
	writeList(out, "commands", s.Commands, fieldLimit)
	writeList(out, "names these commands, hosts and paths", s.Literals, valueLimit)
	if s.Hides != "" {
		fmt.Fprintf(out, "  hides the home plugin %s, which then does not run\n", field(s.Hides))
	}
	if s.Digest != "" {
		fmt.Fprintf(out, "  digest: %s\n", field(string(s.Digest)))
	}
	if s.Diff != "" {
		out.WriteString("  changed since the approved version:\n")
		for line := range strings.Lines(s.Diff) {
			fmt.Fprintf(out, "    %s\n", clip(sanitize(strings.TrimSuffix(line, "\n"), true), diffLineLimit))
		}
	}
}

func (s Subject) writeTouches(out *strings.Builder) {
	if len(s.Words) == 0 && len(s.Effects) == 0 {
		out.WriteString("  touches nothing\n")
	}
	added := map[Word]bool{}
	for _, w := range s.Added {
		added[w] = true
	}
	for _, w := range s.Words {
		mark := ""
		if added[w] {
			mark = "  [new]"
		}
		fmt.Fprintf(out, "  %s: %s%s\n", Sanitize(w.String()), Sanitize(w.Sentence()), mark)
	}
	for i, e := range s.Effects {
		if i == effectLimit {
			fmt.Fprintf(out, "  … %d more effects; read the file before you trust it\n", len(s.Effects)-i)
			break
		}
		fmt.Fprintf(out, "  %s\n", clip(Sanitize(e), valueLimit))
	}
}

func writeList(out *strings.Builder, label string, items []string, limit int) {
	if len(items) == 0 {
		return
	}
	safe := make([]string, len(items))
	for i, item := range items {
		safe[i] = clip(Sanitize(item), limit)
	}
	fmt.Fprintf(out, "  %s: %s\n", label, strings.Join(safe, " · "))
}

// Answer of a person to a Question.
type Answer string

// The answers. NoAnswer stores nothing: the question is asked again next time.
const (
	NoAnswer     Answer = ""
	TrustVersion Answer = "version" // exactly these bytes
	TrustEdits   Answer = "edits"   // these, and what they become in this session
	TrustNot     Answer = "no"
)

// answerLines is how many lines that are no answer are read before giving up.
const answerLines = 3

// lineLimit of one answer, in bytes.
const lineLimit = 256

// deafTime is how long nothing must have been typed before a line is an answer: the
// dialogs of a session wait as long.
const deafTime = 300 * time.Millisecond

// forgotten is said of keys that came before they could be an answer.
const forgotten = "\n(what was typed before this question could be read is dropped)\n"

const ask = "\nTrust this version (y) · trust edits in this session (e) · no (n): "

// Ask prints the question and reads the answer: y or yes, e or edits, n or no. It
// blocks until a line was typed, and reads nothing behind the answer's line: that is
// for the screen. What was typed on a terminal before the question was shown, and
// until 300 ms went by without a key, is dropped. An in that is no terminal is
// never asked; that, its end, the end of ctx, and anything else typed three times
// are NoAnswer. After the end of ctx nothing more is read of a file.
func Ask(ctx context.Context, in io.Reader, out io.Writer, isTerminal bool, q Question) Answer {
	if !isTerminal || len(q.Subjects) == 0 {
		return NoAnswer
	}
	if _, err := io.WriteString(out, q.Text()); err != nil {
		return NoAnswer // nobody has seen it
	}
	typed, err := newInput(ctx, in)
	if err != nil {
		return NoAnswer
	}
	defer typed.close()
	for range answerLines {
		if err := invite(typed, out); err != nil {
			return NoAnswer
		}
		line, err := readLine(typed)
		if err != nil || ctx.Err() != nil {
			return NoAnswer
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return TrustVersion
		case "e", "edits":
			return TrustEdits
		case "n", "no":
			return TrustNot
		}
	}
	return NoAnswer
}

// invite asks for the answer once nobody types any more.
func invite(typed *input, out io.Writer) error {
	dropped, err := typed.quiet(deafTime)
	if err != nil {
		return err
	}
	text := ask
	if dropped {
		text = forgotten + ask
	}
	_, err = io.WriteString(out, text)
	return err
}

// readLine reads byte by byte up to a line break: a buffer would take more than
// the line. A line cut by the end of the input is an error, as is one too long.
func readLine(in io.Reader) (string, error) {
	var line []byte
	var one [1]byte
	for len(line) <= lineLimit {
		if _, err := io.ReadFull(in, one[:]); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(line), nil
		}
		line = append(line, one[0])
	}
	return "", io.ErrShortBuffer
}

// SkippedText is the note of a run or a session: how many files were left out, and what
// approves them.
func SkippedText(files int, atTerminal bool) string {
	noun := "files of this workspace were"
	if files == 1 {
		noun = "file of this workspace was"
	}
	if atTerminal {
		return fmt.Sprintf("%d plugin or settings %s skipped: not approved; /trust shows what they are and approves them", files, noun)
	}
	return fmt.Sprintf("%d plugin or settings %s skipped: not approved; --trust-plugins uses them in this run, --trust-digest DIGEST exactly the bytes it names", files, noun)
}
