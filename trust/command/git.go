package command

import (
	"slices"
	"strings"

	"starling/bus/spec"
)

// gitReads are subcommands that read, whatever their arguments but those of
// gitWrites.
var gitReads = words("status log diff show rev-parse rev-list ls-files ls-tree blame annotate shortlog describe cat-file name-rev merge-base " +
	"for-each-ref show-ref diff-tree diff-index diff-files count-objects check-ignore check-attr cherry var version whatchanged grep " +
	"show-branch range-diff merge-tree verify-commit")

// gitWrites are long options that make a reading subcommand write or run.
var gitWrites = []string{"output", "ext-diff", "textconv", "filters", "open-files-in-pager", "show-signature", "output-directory", "exec", "paginate"}

var gitNetwork = words("push fetch pull clone ls-remote send-email fetch-pack send-pack request-pull svn p4 lfs daemon instaweb imap-send http-fetch http-push")

// gitOf judges git.
func (c *command) gitOf() bool {
	if c.name != "git" && c.name != "hub" {
		return false
	}
	g, ok := c.gitCall()
	if !ok {
		c.r.whole = false
		c.set(spec.RiskChange, false, "nobody knows which part of git it runs")
		c.r.unread("nobody can tell which subcommand of git runs")
		return true
	}
	g.judge()
	return true
}

// gitCall is git behind its own options.
type gitCall struct {
	*command        // its args are the subcommand and what follows
	st       *state // with the folder of -C
	sub      string
	plain    bool // no option changes what git reads or runs
}

func (c *command) gitCall() (*gitCall, bool) {
	g := &gitCall{st: c.st.copy(), plain: !c.ours()}
	i := 1
	for ; i < len(c.args); i++ {
		v := c.args[i]
		if !v.known && v.maybeOption() {
			return nil, false
		}
		if !strings.HasPrefix(v.prefix, "-") {
			break
		}
		name, inline, hasValue := strings.Cut(v.text, "=")
		next := value{}
		if i+1 < len(c.args) {
			next = c.args[i+1]
		}
		switch name {
		case "-C":
			dirs := c.r.places(g.st, next.text)
			if g.st.lost(); next.known && len(dirs) == 1 {
				g.st.dir = dirs[0]
			}
			i++
		case "-c", "--config-env":
			g.plain = false
			if name == "-c" || !hasValue {
				inline = next.text
				i++
			}
			if _, line, ok := strings.Cut(inline, "=!"); ok && name == "-c" {
				c.code(value{text: line, src: next.src, known: next.known}, "git -c alias")
			} else if key, _, _ := strings.Cut(inline, "="); !harmlessKey(key) {
				c.r.find(Finding{Part: c.part, Why: "git -c " + key + " may run a program or change where git looks"})
			}
		case "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source":
			g.plain = false
			if !hasValue {
				i++
			}
			if name == "--work-tree" {
				g.st.lost()
			}
		case "--exec-path":
			if hasValue {
				g.plain = false
				c.r.find(Finding{Part: c.part, Why: "git --exec-path runs programs of another folder"})
			}
		case "-p", "--paginate":
			g.plain = false
		case "--no-pager", "-P", "--bare", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--version", "-v", "--help", "-h":
		default:
			g.plain = false
		}
	}
	inner := *c
	inner.args = c.args[min(i, len(c.args)):]
	if len(inner.args) == 0 {
		inner.args = []value{literal("version")}
	}
	g.command = &inner
	g.sub = inner.args[0].text
	return g, inner.args[0].known
}

// searches: git grep looks anywhere when it is told that there is no index.
func (g *gitCall) searches() {
	if g.sub != "grep" || !g.has("", "no-index") {
		return
	}
	list := g.operands("-e", "-f", "-A", "-B", "-C", "-m")
	for _, v := range append(list[:len(list):len(list)], literal(".")) {
		for _, abs := range g.r.places(g.st, v.text) {
			g.r.searchKeys(abs, g.part)
		}
	}
}

func (g *gitCall) judge() {
	g.searches()
	switch {
	case gitNetwork()[g.sub] || g.sub == "remote" && slices.Contains([]string{"update", "show", "prune"}, g.first()) ||
		g.sub == "submodule" && slices.Contains([]string{"update", "add"}, g.first()) || g.sub == "archive" && g.has("", "remote"):
		g.set(spec.RiskNetwork, false, "it reaches the network")
	case g.plain && g.reads():
		g.set(spec.RiskRead, false, "git "+g.sub+" reads")
		g.r.whole = g.r.whole && g.quiet()
		return
	default:
		g.set(spec.RiskChange, false, "git "+g.sub+" changes the repository")
	}
	g.r.whole = false
	g.programs()
	g.files()
	g.floor()
}

// first is the first operand of the subcommand.
func (g *gitCall) first() string {
	for _, v := range g.args[1:] {
		if v.known && !strings.HasPrefix(v.text, "-") {
			return v.text
		}
	}
	return ""
}

func (g *gitCall) reads() bool {
	if g.hidden() {
		return false
	}
	onlyOptions := func(longs ...string) bool {
		return !slices.ContainsFunc(g.args[1:], func(v value) bool {
			name, _, _ := strings.Cut(v.text, "=")
			return !slices.Contains(longs, name)
		})
	}
	switch g.sub {
	case "branch":
		return onlyOptions("-a", "-r", "-v", "-vv", "-l", "--list", "--all", "--remotes", "--show-current", "--sort", "--format", "--no-color", "--color", "--verbose") ||
			len(g.args) > 1 && (g.args[1].is("--list") || g.args[1].is("--contains") || g.args[1].is("--merged") || g.args[1].is("--no-merged")) && len(g.args) <= 3
	case "tag":
		return len(g.args) == 1 || (g.args[1].is("-l") || g.args[1].is("--list")) && !g.has("dfasumF", "delete", "force", "annotate", "sign")
	case "stash":
		return (g.first() == "list" || g.first() == "show") && !g.has("", gitWrites...)
	case "remote":
		return onlyOptions("-v", "--verbose") || g.first() == "get-url"
	case "config":
		return g.configReads()
	case "worktree":
		return g.first() == "list"
	case "submodule":
		return g.first() == "status" || g.first() == "summary"
	case "reflog":
		return g.first() == "" || g.first() == "show"
	case "notes":
		return g.first() == "list" || g.first() == "show"
	case "bisect":
		return g.first() == "log"
	case "symbolic-ref":
		return len(g.operands()) == 1 && !g.has("d", "delete")
	}
	if !gitReads()[g.sub] || g.has("", gitWrites...) {
		return false
	}
	if g.sub == "grep" {
		return !g.has("O")
	}
	return true
}

// loss reports work that may be discarded.
func (g *gitCall) loss(why string, names []string, kinds ...Lost) {
	if g.r.guessing {
		return
	}
	if g.part >= 0 && !g.how.floor {
		g.r.raise(g.part, spec.RiskDestructive, why)
	}
	g.r.find(Finding{Part: g.part, Why: why, Paths: slices.Clone(names), Loss: &Loss{Dir: g.st.dir, Kinds: kinds, Names: names}})
}

func (g *gitCall) finding(why string) { g.r.find(Finding{Part: g.part, Why: why}) }

// pathNames are operands as paths; nil, which is all, when one is a pattern or
// nobody knows it.
func (g *gitCall) pathNames(list []value) []string {
	var out []string
	for _, v := range list {
		at := g.r.names(g.st, v.text)
		if !v.known || at == nil || strings.HasPrefix(v.text, ":") || strings.ContainsAny(v.text, "*?[") {
			return nil
		}
		out = append(out, at...)
	}
	return out
}

// texts are operands as they are; nil when nobody knows one.
func texts(list []value) []string {
	var out []string
	for _, v := range list {
		if !v.known {
			return nil
		}
		out = append(out, v.text)
	}
	return out
}

func (g *gitCall) floor() {
	g.carries()
	g.unstages()
	args := g.operands()
	g.brings(g.operands("-m", "-s", "-X", "-F", "-x", "--onto", "--strategy", "--strategy-option", "--exec", "--mainline", "--message"))
	rest := args
	if len(rest) > 0 {
		rest = rest[1:]
	}
	switch g.sub {
	case "push":
		g.push()
	case "filter-branch", "filter-repo":
		g.set(spec.RiskDestructive, false, "it rewrites the history")
		g.finding("git " + g.sub + " rewrites the history")
		for _, name := range []string{"tree-filter", "index-filter", "env-filter", "msg-filter", "commit-filter", "tag-name-filter", "setup"} {
			if v, ok := g.valueOf("", name); ok {
				g.code(v, "git filter-branch")
			}
		}
	case "reset":
		revs := []value{head}
		if len(args) > 0 {
			revs = args[:1]
		}
		if g.has("", "hard", "merge", "keep") || g.hidden() {
			g.puts(g.has("", "hard") || g.hidden(), nil, revs...)
		}
		switch {
		case g.has("", "hard"):
			g.loss("git reset --hard discards changes that are not committed", nil, Worktree, Index)
		case g.has("", "merge"):
			g.loss("git reset --merge discards staged changes", nil, Worktree, Index)
		case g.has("", "keep"):
			g.loss("git reset --keep discards what is staged", nil, Index)
		case g.hidden():
			g.loss("git reset may discard changes that are not committed", nil, Worktree, Index)
		}
	case "checkout", "restore", "switch":
		g.leave()
	case "clean":
		g.clean()
	case "stash":
		switch g.first() {
		case "drop":
			names := texts(rest)
			if len(rest) == 0 {
				names = []string{"stash@{0}"}
			}
			g.lossOfNames("git stash drop discards stashed work", names, Stash)
		case "clear":
			g.loss("git stash clear discards all stashed work", nil, Stash)
		}
	case "branch":
		if g.has("D") || g.has("d", "delete") && g.has("f", "force") {
			g.lossOfNames("git branch -D discards commits only that branch holds", texts(args), Branch)
		} else if g.has("fMC", "force") {
			g.lossOfNames("git branch moves a branch by force", texts(args), Branch)
		}
	case "tag":
		if g.has("d", "delete") {
			g.set(spec.RiskDestructive, false, "it removes a tag")
		}
	case "worktree":
		if g.first() == "remove" && g.has("f", "force") {
			g.loss("git worktree remove --force discards the changes of another working tree", g.pathNames(rest), Tree)
		}
	case "rm":
		g.set(spec.RiskDestructive, false, "it removes files")
		if g.has("f", "force") {
			kinds := []Lost{Worktree, Index}
			if g.has("", "cached") {
				kinds = kinds[1:]
			}
			g.loss("git rm --force removes files with their changes", g.pathNames(args), kinds...)
		}
	case "mv":
		if len(args) > 0 {
			into := slices.Clone(args[len(args)-1:])
			for _, v := range args[:len(args)-1] {
				into = append(into, literal(strings.TrimSuffix(into[0].text, "/")+"/"+baseName(v.text)))
			}
			g.moved(args[:len(args)-1], into)
		}
		if g.has("f", "force") && len(args) > 0 {
			g.loss("git mv --force overwrites a file", g.pathNames(args[len(args)-1:]), File)
		}
	case "read-tree":
		if g.has("", "reset") {
			g.loss("git read-tree --reset discards changes that are not committed", nil, Worktree, Index)
		}
	case "checkout-index":
		if g.has("f", "force") {
			g.loss("git checkout-index --force overwrites changed files", g.pathNames(args), Worktree)
		}
	case "update-ref", "symbolic-ref":
		g.lossOfNames("git "+g.sub+" moves or removes a branch", texts(args[:min(1, len(args))]), Branch, Stash)
	case "reflog":
		g.loss("git reflog "+g.first()+" forgets commits and stashed work", nil, Stash, Branch)
	case "gc", "prune", "repack":
		if g.sub == "prune" || g.has("", "prune") {
			g.loss("git "+g.sub+" removes commits nothing names", nil, Stash, Branch)
		}
	case "submodule":
		g.submodule(rest)
	case "merge", "rebase", "cherry-pick", "revert", "am":
		if g.has("", "abort", "skip") {
			g.loss("git "+g.sub+" --abort discards what was resolved so far", nil, Worktree, Index)
		}
		if v, ok := g.valueOf("x", "exec"); ok && g.sub == "rebase" {
			g.code(v, "git rebase --exec")
		}
	case "bisect":
		if g.first() == "run" && len(rest) > 0 {
			g.r.run(g.child(), rest, argv{floor: g.how.floor, part: g.part})
		}
	case "config":
		g.configWrites()
	case "credential", "credential-store", "credential-cache":
		g.finding("git " + g.sub + " reads or changes stored passwords")
	case "maintenance":
		g.finding("git maintenance has something run later, when nobody looks")
	case "update-index":
		g.set(spec.RiskChange, false, "git update-index changes the index")
	}
}

func (g *gitCall) lossOfNames(why string, names []string, kinds ...Lost) {
	if g.r.guessing {
		return
	}
	if g.part >= 0 && !g.how.floor {
		g.r.raise(g.part, spec.RiskDestructive, why)
	}
	g.r.find(Finding{Part: g.part, Why: why, Loss: &Loss{Dir: g.st.dir, Kinds: kinds, Names: names}})
}

func (g *gitCall) push() {
	forced := g.has("fd", "force", "force-with-lease", "force-if-includes", "mirror", "delete", "prune")
	for _, v := range g.args[1:] {
		forced = forced || strings.HasPrefix(v.prefix, "+") || strings.HasPrefix(v.prefix, ":") || !v.known && v.many
	}
	if forced {
		g.finding("git push with force replaces or removes what others may have")
	}
}

// leave judges checkout, restore and switch.
func (g *gitCall) leave() {
	args := g.operands("-b", "-B", "-c", "-C", "--orphan", "-s", "--source", "--conflict", "--pathspec-from-file", "-U", "--create", "--force-create")
	dashes := slices.IndexFunc(g.args, func(v value) bool { return v.is("--") })
	switch g.sub {
	case "switch":
		forced := g.has("f", "force", "discard-changes")
		switch {
		case len(args) > 0:
			g.puts(forced, nil, args[0])
		case forced:
			g.puts(forced, nil, head)
		}
		if forced {
			g.loss("git switch --discard-changes discards changes that are not committed", nil, Worktree, Index)
		}
		if v, ok := g.valueOf("C", "force-create"); ok {
			g.lossOfNames("git switch --force-create moves a branch by force", texts([]value{v}), Branch)
		}
		return
	case "restore":
		kinds := []Lost{Worktree}
		if g.has("S", "staged") {
			if kinds = []Lost{Index}; g.has("W", "worktree") {
				kinds = []Lost{Worktree, Index}
			}
		}
		if source, ok := g.valueOf("s", "source"); kinds[0] == Worktree && (ok || len(kinds) > 1) {
			if !ok {
				source = head
			}
			g.puts(true, g.pathNames(args), source)
		}
		if len(args) > 0 || g.has("", "pathspec-from-file") {
			g.loss("git restore discards changes that are not committed", g.pathNames(args), kinds...)
		}
		return
	}
	before := len(args) // operands that are not sure to be files
	if dashes >= 0 {
		before -= len(g.args) - dashes - 1
	}
	switch {
	case before > 0 && (len(args) > before || before > 1): // files of a revision
		g.puts(true, g.pathNames(args[1:]), args[0])
	case before > 0 && !args[0].is("."):
		g.puts(g.has("f", "force"), nil, args[0])
	case g.has("f", "force") && dashes < 0:
		g.puts(true, nil, head)
	}
	if g.has("f", "force") {
		g.loss("git checkout --force discards changes that are not committed", nil, Worktree, Index)
		return
	}
	if v, ok := g.valueOf("B"); ok {
		g.lossOfNames("git checkout -B moves a branch by force", texts([]value{v}), Branch)
		return
	}
	if g.has("bt", "orphan", "detach", "track") && dashes < 0 {
		return
	}
	if dashes >= 0 {
		args = g.args[dashes+1:]
	} else if len(args) > 1 && !g.has("", "ours", "theirs") {
		args = args[1:] // the first is what the files come from
		if !slices.ContainsFunc(args, func(v value) bool { return !v.known }) {
			args = append(args, g.operands()[0])
		}
	}
	if len(args) == 0 && !g.has("", "pathspec-from-file") || len(args) == 1 && dashes < 0 && (args[0].is("-") || args[0].is("HEAD")) {
		return
	}
	kinds := []Lost{Worktree}
	if dashes > 1 || len(args) > 1 {
		kinds = append(kinds, Index)
	}
	g.loss("git checkout of files discards changes that are not committed", g.pathNames(args), kinds...)
}

func (g *gitCall) clean() {
	if g.has("n", "dry-run") && !g.hidden() {
		g.set(spec.RiskRead, false, "it shows what would be removed")
		return
	}
	kinds := []Lost{Untracked}
	if g.has("X") {
		kinds = []Lost{Ignored}
	} else if g.has("x") || g.hidden() {
		kinds = append(kinds, Ignored)
	}
	g.loss("git clean removes files that git does not know", g.pathNames(g.operands("-e", "--exclude")), kinds...)
}

func (g *gitCall) submodule(rest []value) {
	switch g.first() {
	case "deinit":
		if g.has("f", "force") {
			g.loss("git submodule deinit --force discards the changes of a submodule", g.pathNames(rest), Tree)
		}
	case "update":
		if g.has("f", "force") {
			g.loss("git submodule update --force discards the changes of submodules", g.pathNames(rest), Tree)
		}
	case "foreach":
		if len(rest) > 0 {
			g.joined(rest)
		}
	}
}
