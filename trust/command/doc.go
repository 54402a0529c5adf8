// Package command reads a line for bash and says what it would do, running
// nothing.
//
// It owns the parts of a command (simple commands, redirections, environment
// prefixes), the paths they touch, their risk, and which of them stand on the
// safety floor. What it is not sure of it says so: a caller asks a person then.
// Decisions: a here-document is a part of its own, free where it is only read or
// stored, and read as a line where a shell runs it. A variable is known when the
// line sets it once, plainly, and names it nowhere else; for what may be lost also
// when nothing can set it, and when a loop over known words does. A pattern is about
// the files that match, where nothing before it in the line can make others. A cd may fail, unless &&,
// || exit or set -e say what then; without, paths are judged in both folders.
// rebase, commit --amend, pull, merge, apply and stash pop are worth no question: they
// refuse where work would be lost or leave it in the reflog, but for ignored files in
// their way, and what rewrites a published history is the forced push behind them. Programs that run code of
// their own are judged by their words alone.
//
// Failure: none; a line that cannot be read is a Reading with Unread set.
// Blocking: it looks up links and lists folders; the state of a repository is not
// its business.
package command
