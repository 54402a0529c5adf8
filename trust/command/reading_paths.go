package command

import (
	"strings"
)

// reading notes the files a reading command is given.
func (c *command) reading(g *given) {
	r := c.r
	if c.name == "go" && c.goQuiet() {
		return
	}
	if g == nil || g.wide || !g.ok {
		r.whole = false
	}
	if g == nil {
		return
	}
	spec := readers()[c.name]
	files := g.operands
	if spec.script != "" && len(files) > 0 && !g.has(strings.Fields(spec.script)...) {
		files = files[1:]
	}
	if spec.none {
		files = nil
	}
	list := append(files[:len(files):len(files)], g.paths...)
	for _, v := range list {
		if v.is("-") {
			continue
		}
		at := r.touch(v, c.st)
		for _, abs := range at {
			if r.came(abs) && !c.how.floor && c.part >= 0 {
				r.notes[c.part].download = true
			}
			if !spec.names {
				r.readFloor(abs, c.part)
				if c.searches(g) {
					r.searchKeys(abs, c.part)
				}
			}
		}
	}
	if len(files) == 0 && (spec.tree && c.descends(g) && !g.has("--search-path") || c.name == "ls" || c.name == "du" || c.name == "dir") {
		r.touch(literal("."), c.st)
	}
}

// descends tells whether a search goes below folders.
func (c *command) descends(g *given) bool {
	switch c.name {
	case "grep", "egrep", "fgrep":
		return g.has("-r", "-R", "--recursive", "--dereference-recursive")
	case "diff":
		return g.has("-r", "--recursive")
	}
	return true
}

// searches tells whether it reads what is in the files below a folder.
func (c *command) searches(g *given) bool {
	spec := readers()[c.name]
	return spec.tree && !spec.names && c.descends(g)
}

// mentioned judges the words of a program nobody knows: a file of the floor
// among them may be written, and a command among them may be run.
func (c *command) mentioned() {
	r := c.r
	if c.how.floor {
		return
	}
	guesses := 0
	for i, v := range c.args[1:] {
		if !v.known || v.text == "" || strings.HasPrefix(v.text, "-") && !strings.Contains(v.text, "=") {
			continue
		}
		if alsoRuns()[baseName(v.text)] && i+2 < len(c.args) && guesses < maxGuesses {
			guesses++
			r.guess(c.child(), c.args[i+1:], c.part)
		}
		text := v.text
		if _, after, ok := strings.Cut(text, "="); ok {
			text = after
		}
		if strings.ContainsAny(text, " \n:*?") {
			continue
		}
		for _, abs := range r.places(c.st, text) {
			if why := r.floorPath(abs); why != "" && !strings.HasPrefix(why, "it belongs to the system") {
				r.find(Finding{Part: c.part, Why: "it may write " + r.relative(abs) + ": " + why, Paths: []string{abs}})
			}
		}
	}
}

// guess judges words as a command for the floor alone: what it may discard in
// the workspace is not sure enough to be told.
func (r *reader) guess(st *state, args []value, part int) {
	was := r.guessing
	r.guessing = true
	r.run(st, args, argv{floor: true, part: part})
	r.guessing = was
}

// maxGuesses are the words of one program that are tried as the name of another.
const maxGuesses = 6

// alsoRuns are programs that are looked for among the words of others.
var alsoRuns = words("rm shred dd find sh bash mkfs git")
