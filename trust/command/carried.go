package command

import (
	"fmt"
	"slices"
)

// carry is a part of a line that brings work somewhere else: into the stash, out of
// it, into the index, into a commit. What discards something there later discards
// that work, and when the line begins it still stands where it was.
type carry struct {
	part     int
	dir      string
	names    []string // absolute; empty means all
	from, to []Lost
}

// checkedOut are the commits of the branch that is checked out: nothing discards them
// by name before the line leaves it.
const checkedOut Lost = "checked-out"

// carries notes what a subcommand of git brings where.
func (g *gitCall) carries() {
	if g.r.guessing {
		return
	}
	add := func(names []string, from []Lost, to ...Lost) {
		g.r.carries = append(g.r.carries, carry{part: g.part, dir: g.st.dir, names: names, from: from, to: to})
	}
	tree := []Lost{Worktree, Index}
	switch g.sub {
	case "stash":
		switch g.first() {
		case "pop", "apply", "branch":
			add(nil, []Lost{Stash}, Worktree, Index, Untracked, Ignored, File)
			add(nil, []Lost{Stash}, Stash) // the others have new numbers
		case "drop", "store":
			add(nil, []Lost{Stash}, Stash)
		case "list", "show", "clear", "create":
		default:
			from := []Lost{Stash, Worktree, Index}
			all := g.has("a", "all") || g.hidden()
			if all || g.has("u", "include-untracked") {
				from = append(from, Untracked)
			}
			if all {
				from = append(from, Ignored)
			}
			add(nil, from, Stash)
		}
	case "add", "stage", "update-index":
		from := []Lost{Worktree, Untracked}
		if g.has("f", "force") || g.hidden() {
			from = append(from, Ignored)
		}
		add(g.pathNames(g.operands()), from, Worktree, Index)
	case "rm", "restore", "reset", "read-tree":
		// What leaves the index alone is something git does not know.
		keeps := g.sub == "rm" && !g.has("", "cached") || g.sub == "restore" && !g.has("S", "staged") ||
			g.has("", "hard", "merge", "keep")
		if !keeps || g.hidden() {
			add(nil, tree, Untracked)
		}
	case "commit":
		add(nil, []Lost{Worktree, Index, Untracked}, checkedOut)
	case "merge", "rebase", "pull", "cherry-pick", "revert", "am":
		add(nil, tree, Stash) // autostash
		if g.has("", "continue") || g.hidden() {
			add(nil, tree, checkedOut)
		}
		if g.sub == "rebase" {
			add(nil, []Lost{checkedOut}, Branch)
		}
	case "checkout", "switch", "symbolic-ref", "worktree", "bisect":
		add(nil, []Lost{checkedOut}, Branch)
	case "branch", "update-ref", "fetch":
		if g.sub != "branch" || g.has("mMcC", "move", "copy") || g.hidden() {
			add(nil, []Lost{Branch}, Branch)
		}
	}
}

// lossOfCarried reports the work that a part brings to where a later part discards
// something. Whoever brought it there may have had it brought to them.
func (r *reader) lossOfCarried() {
	done := map[string]bool{}
	for _, f := range slices.Clone(r.out.Floor) {
		if f.Loss == nil {
			continue
		}
		lost := slices.Clone(f.Loss.Kinds)
		if slices.Contains(lost, Stash) && slices.Contains(lost, Branch) {
			lost = append(lost, checkedOut) // a ref by any name, or the logs of all
		}
		if slices.Contains(lost, InTheWay) {
			lost = append(lost, Untracked)
		}
		before := slices.DeleteFunc(slices.Clone(r.carries), func(c carry) bool {
			return c.part >= f.Part && !r.tangled
		})
		rounds := 1
		if r.tangled {
			rounds += len(before) // in any order
		}
		for range rounds {
			for _, c := range slices.Backward(before) {
				if !c.reaches(f.Loss, lost) {
					continue
				}
				var kinds []Lost
				for _, k := range c.from {
					if !slices.Contains(lost, k) {
						lost = append(lost, k)
					}
					own := len(f.Loss.Names) == 0 && slices.Contains(f.Loss.Kinds, k)
					if key := fmt.Sprint(k, c.dir, c.names); k != checkedOut && !own && !done[key] {
						done[key] = true
						kinds = append(kinds, k)
					}
				}
				if len(kinds) > 0 {
					r.find(Finding{Part: f.Part, Why: "what this line itself brings there before is lost with it", Loss: &Loss{Dir: c.dir, Kinds: kinds, Names: c.names}})
				}
			}
		}
	}
}

// reaches tells whether a carry brings something to what is lost.
func (c carry) reaches(l *Loss, lost []Lost) bool {
	if !slices.ContainsFunc(c.to, func(k Lost) bool { return slices.Contains(lost, k) }) {
		return false
	}
	direct := slices.ContainsFunc(c.to, func(k Lost) bool { return slices.Contains(l.Kinds, k) })
	return !direct || len(c.names) == 0 || l.meets(c.names)
}

// unstages reports what puts something else in the place of staged bytes, which may
// stand nowhere else: not on disk, and in no commit.
func (g *gitCall) unstages() {
	if g.r.guessing {
		return
	}
	var names []string
	switch g.sub {
	case "add", "stage":
		if g.has("nN", "dry-run", "intent-to-add") {
			return
		}
		names = g.pathNames(g.operands("--chmod", "--pathspec-from-file"))
	case "reset":
		if g.has("", "hard", "merge", "keep", "soft") {
			return // more is lost, or nothing
		}
	case "commit":
		if len(g.operands("-m", "-F", "-C", "-c", "-t", "--message", "--file", "--author", "--date", "--fixup", "--squash", "--trailer", "--cleanup")) == 0 &&
			!g.has("aiop", "all", "include", "only", "patch", "interactive", "pathspec-from-file") && !g.hidden() {
			return
		}
	case "stash":
		if f := g.first(); f != "" && f != "push" && f != "save" {
			return
		}
	case "read-tree":
		if g.has("", "reset") {
			return
		}
	case "mv":
		args := g.operands()
		if !g.has("f", "force") || len(args) == 0 {
			return
		}
		names = g.pathNames(args[len(args)-1:])
	case "update-index", "apply":
	default:
		return
	}
	g.r.find(Finding{Part: g.part, Why: "git " + g.sub + " may replace what is staged", Loss: &Loss{Dir: g.st.dir, Kinds: []Lost{Staged}, Names: names}})
}
