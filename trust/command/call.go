package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// call reads a simple command with its assignments and redirections.
func (r *reader) call(c *syntax.CallExpr, redirs []*syntax.Redirect, st *state) {
	from := len(r.out.Parts)
	for _, w := range c.Args {
		r.inner(w, st)
	}
	download := r.downloads(from, len(r.out.Parts))
	for _, a := range c.Assigns {
		r.assignment(a, st, len(c.Args) > 0)
	}
	args := r.words(c.Args, st)
	in := st.in
	for _, red := range redirs {
		r.redirect(red, st)
	}
	for _, v := range args {
		download = download || slices.ContainsFunc(v.vars, func(name string) bool { return r.tainted[name] })
	}
	if len(args) > 0 {
		r.run(st, args, argv{download: download, shell: true})
	}
	st.in = in
	r.receive(redirs, from)
	r.fetches(redirs, from, st)
}

// argv says how a list of words came to be a command.
type argv struct {
	download bool // something fetched is among its words
	shell    bool // the shell looks it up: functions, aliases and builtins count
	floor    bool // it is judged for the floor alone and is no part
	part     int  // with floor: the part it belongs to
}

// command is one list of words on its way to be judged.
type command struct {
	r     *reader
	st    *state
	args  []value // the name first
	how   argv
	name  string // base name of the program; "" when unknown
	bare  bool   // the name has no folder
	known bool   // every word is known
	part  int
	words *given // sorted, of a program that reads and no more
	reads bool   // it reads and does no more
}

// run judges a list of words as a command.
func (r *reader) run(st *state, args []value, how argv) {
	if !r.enter() {
		return
	}
	defer r.leave()
	if r.judged++; r.judged > maxJudged {
		r.unread("it has more than %d commands", maxJudged)
		return
	}
	c := &command{r: r, st: st, args: args, how: how, part: how.part, known: true}
	for _, v := range args {
		c.known = c.known && v.known
	}
	if first := args[0]; first.known {
		c.name, c.bare = path.Base(first.text), !strings.Contains(first.text, "/")
	} else if i := strings.LastIndexByte(first.suffix, '/'); i >= 0 && !first.many {
		c.name = first.suffix[i+1:]
	}
	if !how.floor {
		p := Part{Kind: Simple, Dir: st.dir, Risk: spec.RiskChange, Why: "it may change files"}
		for _, v := range args {
			p.Words = append(p.Words, v.word())
		}
		c.part = r.add(p, note{program: c.name})
	}
	whole, strays := r.whole, r.strays
	r.whole, r.strays = true, false
	c.judge()
	c.free()
	r.whole, r.strays = r.whole && whole, r.strays || strays
}

// free frees a part that reads and touches nothing outside, as far as it says: each
// part is judged by its own paths.
func (c *command) free() {
	if c.how.floor || c.part < 0 || !c.r.whole || c.r.strays || c.st.dir == "" {
		return
	}
	if p := &c.r.out.Parts[c.part]; p.Risk == spec.RiskRead {
		p.Free = true
	}
}

// set gives the part its class.
func (c *command) set(risk spec.Risk, free bool, why string) {
	if c.how.floor || c.part < 0 {
		return
	}
	p := &c.r.out.Parts[c.part]
	p.Risk, p.Free, p.Why = risk, free, why
}

// ours tells whether the name may mean something else than the program of that
// name: a function, an alias, a file of the workspace, another PATH.
func (c *command) ours() bool {
	return c.r.shadowed || c.how.shell && c.r.defined[c.args[0].text] || !c.bare && !systemProgram(c.args[0].text)
}

// systemProgram tells whether a program stands in a folder of the system.
func systemProgram(name string) bool {
	dir, base := path.Split(name)
	return base != "" && slices.Contains([]string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}, dir)
}

func (c *command) judge() {
	r, st := c.r, c.st
	if c.how.shell && c.bare && st.funcs[c.args[0].text] {
		c.set(spec.RiskRead, true, "a function of this line; what it does is judged by itself")
		r.whole = r.whole && c.known
		if c.moves() {
			st.lost()
		}
		return
	}
	c.words, c.reads = c.readOnly()
	c.keyWords(c.words)
	if c.name == "" {
		c.unknownProgram()
		return
	}
	if c.how.download && runsText()[c.name] {
		r.find(Finding{Part: c.part, Why: justFetched})
	}
	if !c.bare {
		c.scriptFile(c.args[0])
	}
	if c.special() {
		return
	}
	c.ordinary()
}

// moves: a function that changes the folder.
func (c *command) moves() bool { return c.r.wanders }

// unknownProgram: nobody can tell what runs; its words are judged as if it were
// the worst.
func (c *command) unknownProgram() {
	c.r.whole = false
	if c.how.floor {
		return
	}
	c.r.unread("the program of %q is known only when it runs", clip(c.args[0].src))
	if c.how.download {
		c.r.find(Finding{Part: c.part, Why: justFetched})
	}
	if len(c.args) > 1 {
		worst := append([]value{literal("rm")}, c.args[1:]...)
		c.r.run(c.st, worst, argv{floor: true, part: c.part})
	}
}

func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// special are the programs that need more than a table. false: it is none.
func (c *command) special() bool {
	for _, try := range []func() bool{c.builtin, c.wrapper, c.shellOf, c.gitOf, c.writer} {
		if try() {
			return true
		}
	}
	return false
}

// ordinary programs are judged by the tables.
func (c *command) ordinary() {
	r := c.r
	why, risk := "", spec.RiskChange
	switch {
	case network()[c.name] || c.networkSub():
		risk, why = spec.RiskNetwork, "it reaches the network"
	case destructive()[c.name] || c.destructiveSub():
		risk, why = spec.RiskDestructive, "it removes or overwrites"
	case c.reads:
		risk, why = spec.RiskRead, "it reads"
	default:
		why = "it may change files"
	}
	c.set(risk, false, why)
	c.fetching()
	c.interpreter()
	c.builds()
	c.starters()
	if risk == spec.RiskRead {
		c.reading(c.words)
		return
	}
	r.whole = false
	c.outputs()
	c.mentioned()
}

// operands are the arguments that are surely or maybe no options; skip are
// options, short or long, that take the next word.
func (c *command) operands(skip ...string) []value {
	var out []value
	for i := 1; i < len(c.args); i++ {
		v := c.args[i]
		switch {
		case v.is("--"):
			return append(out, c.args[i+1:]...)
		case v.known && slices.Contains(skip, v.text):
			i++
		case v.known && strings.HasPrefix(v.text, "-") && v.text != "-":
		default:
			out = append(out, v)
		}
	}
	return out
}

// has tells whether an option is or may be among the words: a letter in a
// cluster, or a long option or the beginning of one.
func (c *command) has(letters string, longs ...string) bool {
	for _, v := range c.args[1:] {
		if v.is("--") {
			return false
		}
		if option(v, letters, longs...) {
			return true
		}
	}
	return false
}

func option(v value, letters string, longs ...string) bool {
	text := v.prefix
	switch {
	case strings.HasPrefix(text, "--"):
		name, _, _ := strings.Cut(text[2:], "=")
		return name != "" && slices.ContainsFunc(longs, func(long string) bool { return strings.HasPrefix(long, name) })
	case strings.HasPrefix(text, "-"):
		return letters != "" && strings.ContainsAny(text[1:], letters)
	}
	return false
}

// hidden tells whether a word that nobody knows may be an option.
func (c *command) hidden() bool {
	for _, v := range c.args[1:] {
		if v.is("--") {
			return false
		}
		if !v.known && v.maybeOption() {
			return true
		}
	}
	return false
}

// valueOf is the argument of an option: --name=V, --name V, -nV or -n V.
func (c *command) valueOf(short string, long ...string) (value, bool) {
	for i := 1; i < len(c.args); i++ {
		v := c.args[i]
		if v.is("--") {
			break
		}
		for _, name := range long {
			if rest, ok := strings.CutPrefix(v.prefix, "--"+name+"="); ok {
				return tail(v, rest), true
			}
			if v.is("--"+name) && i+1 < len(c.args) {
				return c.args[i+1], true
			}
		}
		if short == "" || !strings.HasPrefix(v.prefix, "-") || strings.HasPrefix(v.prefix, "--") {
			continue
		}
		j := strings.IndexAny(v.prefix[1:], short)
		if j < 0 {
			continue
		}
		if rest := v.prefix[j+2:]; rest != "" || !v.known {
			return tail(v, rest), true
		}
		if i+1 < len(c.args) {
			return c.args[i+1], true
		}
	}
	return value{}, false
}

// tail is the end of a word from rest on.
func tail(v value, rest string) value {
	if v.known {
		return literal(rest)
	}
	v.text, v.prefix = rest, rest
	return v
}
