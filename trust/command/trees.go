package command

import "strings"

// What git does not know and what it ignores may stand where it puts files. By
// force it overwrites both; else it refuses, but not for ignored files.

// puts reports that git puts files of revisions into the working tree: below
// names, everywhere when there are none.
func (g *gitCall) puts(forced bool, names []string, revs ...value) {
	if g.r.guessing {
		return
	}
	loss := &Loss{Dir: g.st.dir, Kinds: []Lost{IgnoredInTheWay}, Names: names, Others: !g.plain || g.hidden()}
	why := "git " + g.sub + " may overwrite ignored files"
	if forced {
		loss.Kinds, why = []Lost{InTheWay}, "git "+g.sub+" overwrites files it does not know that stand in its way"
	}
	for _, v := range revs {
		switch {
		case !v.known || strings.Contains(v.text, ".."):
			loss.Others = true
		case v.text == "-":
			loss.Trees = append(loss.Trees, "@{-1}")
		default:
			loss.Trees = append(loss.Trees, v.text)
		}
	}
	g.r.find(Finding{Part: g.part, Why: why, Loss: loss})
}

// putsOthers is puts of revisions of which some are known only when git runs.
func (g *gitCall) putsOthers(revs ...value) {
	g.puts(false, nil, append(revs, value{})...)
}

var head = literal("HEAD")

// brings judges the subcommands that bring files of other commits without force.
func (g *gitCall) brings(args []value) {
	args = args[:len(args):len(args)]
	upstream := args
	if len(args) == 0 {
		upstream = []value{literal("@{upstream}")}
	}
	switch g.sub {
	case "merge":
		if g.has("", "abort", "continue", "quit") {
			g.putsOthers(head, literal("ORIG_HEAD"))
			return
		}
		g.puts(false, nil, upstream...)
	case "rebase":
		if onto, ok := g.valueOf("", "onto"); ok {
			upstream = append(upstream, onto)
		}
		g.putsOthers(append(upstream, head)...)
	case "pull":
		revs := []value{literal("@{upstream}")}
		for i, v := range args {
			if revs = append(revs, v); i > 0 && v.known && args[0].known {
				revs = append(revs, literal(args[0].text+"/"+v.text))
			}
		}
		g.putsOthers(revs...)
	case "cherry-pick", "revert":
		var revs []value
		for _, v := range args {
			revs = append(revs, v)
			if v.known && g.sub == "revert" {
				revs = append(revs, literal(v.text+"^"))
			}
		}
		if len(args) == 1 {
			g.puts(false, nil, append(revs, head)...)
			return
		}
		g.putsOthers(append(revs, head)...)
	case "am", "bisect":
		g.putsOthers(head)
	case "stash":
		g.stashed(args)
	case "read-tree":
		if g.has("u") {
			g.puts(g.has("", "reset"), nil, args...)
		}
	}
}

// stashed judges what stash puts back, and the reset behind a push.
func (g *gitCall) stashed(args []value) {
	switch g.first() {
	case "pop", "apply", "branch":
		entry := literal("stash@{0}")
		if args = args[1:]; g.first() == "branch" && len(args) > 0 {
			args = args[1:]
		}
		if len(args) > 0 {
			entry = args[0]
		}
		if !entry.known {
			g.putsOthers()
			return
		}
		if isNumber(entry.text) {
			entry = literal("stash@{" + entry.text + "}")
		}
		g.puts(false, nil, entry, literal(entry.text+"^3"), literal(entry.text+"^1"))
	case "list", "show", "drop", "clear", "create", "store":
	default:
		g.puts(true, nil, head)
	}
}

// openTrees: what the line does before may move a branch.
func (r *reader) openTrees() {
	for i, f := range r.out.Floor {
		if f.Loss == nil || f.Loss.Trees == nil || r.out.Unread == "" && r.calm(f.Part) {
			continue
		}
		loss := *f.Loss
		loss.Others = true
		r.out.Floor[i].Loss = &loss
	}
}
