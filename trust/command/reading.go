package command

import (
	"slices"

	"starling/bus/spec"
)

// Setting is where a line would run.
type Setting struct {
	Workspace string   // absolute, links resolved
	Extra     []string // further folders that count as workspace, absolute, links resolved
	Dir       string   // where the line starts, absolute; empty is Workspace
	Home      string   // of the person; "" for none
	StateHome string   // starling's own folder; "" for none
	// Resolve follows the links of an absolute path as far as it exists; nil
	// asks the file system.
	Resolve func(abs string) string
	// Env is what the line is given, as NAME=VALUE; nil when nobody knows.
	Env []string
	// List returns the names in a folder; nil asks the file system.
	List func(abs string) ([]string, error)
	// ReadFile returns what is in an ordinary file, with fs.ErrNotExist where there
	// is nothing; nil asks the file system.
	ReadFile func(abs string) ([]byte, error)
}

// Reading is what a line would do.
type Reading struct {
	Line  string
	Parts []Part // in the order written, those inside substitutions among them
	// Unread says why the line could not be read whole; "" when it could. A line
	// that was not read whole is never covered by a rule, and one of Floor says so:
	// nobody can tell what it does.
	Unread string
	// Paths the line is sure to touch, workspace-relative with links followed
	// (absolute outside), sorted; PathsKnown when there can be no others. A folder
	// stands for what is below it; of a copy, which may go to a folder or to a
	// file, both are named.
	Paths      []string
	PathsKnown bool
	// Risk is the highest of the parts.
	Risk spec.Risk
	// Floor are the findings of the safety floor, in order.
	Floor []Finding
}

// Kind of a Part.
type Kind string

// The kinds.
const (
	Simple   Kind = "command"     // a program and its arguments
	Redirect Kind = "redirection" // to or from a file
	Assign   Kind = "environment" // NAME=VALUE before a command, or export
)

// Part is one thing a rule must cover before the line may run.
type Part struct {
	Kind  Kind
	Words []Word // of a Simple its name and arguments; of a Redirect the operator and the file; of an Assign NAME=VALUE
	// Text is the part as a rule would spell it: words quoted where needed.
	Text string
	// Dir is where it runs, absolute; "" when nobody can tell.
	Dir string
	// Free parts need no rule: a cd inside the workspace, a pure filter, a
	// redirection to /dev/null, and a wrapper such as timeout or sh -c, where what
	// it runs is a part of its own. They are of risk read.
	Free bool
	Risk spec.Risk
	// Why says in words what gave it its risk; for people.
	Why string
}

// Word is one argument.
type Word struct {
	Text string
	// Known means that the program is given exactly Text: no expansion, no glob.
	Known bool
}

// Finding is one reason why the safety floor asks.
type Finding struct {
	Why  string // a sentence for people
	Part int    // index into Parts; -1 for the line as a whole
	// Paths it is about, absolute with links followed; empty when unknown.
	Paths []string
	// Loss is set when uncommitted work may be discarded; nil otherwise.
	Loss *Loss
}

// Loss is uncommitted work that a command may discard: what a snapshot has to
// hold before the command may run.
type Loss struct {
	Dir   string // the folder the command runs in; absolute
	Kinds []Lost
	// Names limits the loss: files and folders (absolute) of Worktree, Index,
	// Untracked, Ignored and File; revisions of Stash and Branch; folders of Tree. Empty means all.
	Names []string
	// Trees are the revisions of InTheWay and IgnoredInTheWay; Others: and some
	// that nobody knows beforehand.
	Trees  []string
	Others bool
}

// Quiet tells that the loss is worth a snapshot and never a question.
func (l *Loss) Quiet() bool {
	return len(l.Kinds) > 0 && !slices.ContainsFunc(l.Kinds, func(k Lost) bool { return k != IgnoredInTheWay && k != Staged })
}

// Lost is a kind of work.
type Lost string

// The kinds.
const (
	Worktree  Lost = "worktree"  // changes of tracked files
	Index     Lost = "index"     // staged changes
	Untracked Lost = "untracked" // files git does not know
	Ignored   Lost = "ignored"   // files git ignores
	Stash     Lost = "stash"     // entries of the stash
	Branch    Lost = "branch"    // commits only this branch holds
	Tree      Lost = "tree"      // another working tree
	File      Lost = "file"      // one file, overwritten in place
	Staged    Lost = "staged"    // staged bytes that stand nowhere else
	// InTheWay are files git does not know where it puts files of Trees, and what
	// stands where it needs a folder.
	InTheWay Lost = "in-the-way"
	// IgnoredInTheWay are those of them that git ignores: for others it refuses.
	IgnoredInTheWay Lost = "ignored-in-the-way"
)

// Argv is the words of a command as its program is given them; false when
// nobody knows all of them beforehand.
func (p Part) Argv() ([]string, bool) {
	out, known := make([]string, len(p.Words)), true
	for i, w := range p.Words {
		out[i] = w.Text
		known = known && w.Known
	}
	return out, known
}
