package command

import (
	"path"
	"slices"
	"strings"

	"starling/bus/spec"
)

// builtin judges what only a shell does.
func (c *command) builtin() bool {
	if !c.bare {
		return false
	}
	r, st := c.r, c.st
	c.setsByName()
	switch c.name {
	case "cd", "pushd", "popd":
		c.changeFolder()
	case "set":
		c.setOptions()
	case "exit", "return", "break", "continue", "shift", ":", "times", "umask", "jobs", "wait", "fg", "bg", "disown", "dirs", "type", "hash":
		free := !c.ours()
		if c.name == "hash" && len(c.args) > 1 {
			r.shadowed, free = true, false
		}
		c.set(spec.RiskRead, free, "a word of the shell")
	case "declare", "typeset", "local", "readonly", "export", "let":
		c.set(spec.RiskChange, false, "sets variables")
		c.declaration()
	case "read", "mapfile", "readarray", "getopts", "unset":
		if c.name == "unset" {
			st.funcs = map[string]bool{}
		}
		if c.has("C") && c.name != "read" { // mapfile -C runs a line
			v, _ := c.valueOf("C")
			c.code(v, "mapfile -C")
		}
		c.set(spec.RiskRead, c.known && !c.ours() && !c.setsRisky(), "sets variables")
	case "enable", "shopt":
		if c.name == "enable" || c.has("", "") || slices.ContainsFunc(c.args, func(v value) bool { return !v.known || v.text == "expand_aliases" }) {
			r.shadowed = true
		}
		c.set(spec.RiskChange, false, "changes how the shell reads")
	case "alias":
		c.alias()
	case "trap":
		c.set(spec.RiskRead, !c.ours(), "a line to be run later; it is judged by itself")
		if args := c.operands(); len(args) > 1 && !args[0].is("") && !args[0].is("-") {
			c.code(args[0], "trap")
		} else if len(args) == 1 && !args[0].known {
			r.unread("trap runs a text nobody knows")
		}
	case "eval":
		c.set(spec.RiskRead, !c.ours(), "runs its words, which are judged by themselves")
		c.eval()
	case ".", "source":
		c.source()
	default:
		return false
	}
	if c.how.shell && r.defined[c.name] {
		c.set(spec.RiskChange, false, "a function or alias of this name is in the line")
		st.lost()
	}
	return true
}

// declaration reads declare and its like where they are called by another word.
func (c *command) declaration() {
	if c.name == "let" {
		return
	}
	flags := declareFlags(c.args[1:])
	for _, v := range c.args[1:] {
		name, text, ok := strings.Cut(v.text, "=")
		if !v.known {
			c.r.unread("%s is given a word nobody knows, which may run a command: %s", c.name, clip(v.src))
			return
		}
		if c.r.assigned[name] = true; name == "PATH" {
			c.r.shadowed = true
		}
		c.r.texted(name)
		if ok {
			c.r.declared(name, literal(text), flags)
		}
	}
}

// setsRisky: a variable of a builtin such as read leads to other programs.
func (c *command) setsRisky() bool {
	for _, v := range c.args[1:] {
		if isRisky(v.text) {
			if v.text == "PATH" {
				c.r.shadowed = true
			}
			return true
		}
	}
	return false
}

func (c *command) changeFolder() {
	r, st := c.r, c.st
	args := c.operands()
	target := value{known: true, text: r.home()}
	if len(args) == 1 {
		target = args[0]
	}
	physical := c.has("P")
	before := st.copy()
	known := len(args) < 2 && target.known && target.text != "" && target.text != "-" && c.name == "cd" && !c.hidden() && st.dir != ""
	known = known && !(r.assigned["CDPATH"] && !strings.HasPrefix(target.text, "/") && !strings.HasPrefix(target.text, "."))
	if c.name == "pushd" && len(args) == 1 && target.known && !strings.HasPrefix(target.text, "+") && st.dir != "" {
		known = true
	}
	abs := target.text
	if known && !strings.HasPrefix(abs, "/") {
		abs = st.dir + "/" + abs
	} else if target.known && strings.HasPrefix(target.text, "/") && len(args) == 1 && c.name != "popd" {
		known = true
	}
	if !known {
		st.lost()
		r.whole = false
		c.set(spec.RiskRead, false, "goes to a folder nobody knows")
		return
	}
	if physical {
		abs = r.at.Resolve(abs)
	}
	abs = path.Clean(abs)
	free := len(before.also) == 0 && r.inside(r.at.Resolve(abs)) && !c.ours()
	st.dir = abs
	if st.also = nil; !st.strict {
		st.maybe(before.dirs()) // it may have failed
	}
	r.touches(r.at.Resolve(abs))
	c.set(spec.RiskRead, free, "changes the folder")
}

func (c *command) setOptions() {
	free := true
	for i := 1; i < len(c.args); i++ {
		v := c.args[i]
		switch {
		case !v.known:
			free = false
		case v.text == "-o" || v.text == "+o" || strings.HasPrefix(v.text, "-") && strings.HasSuffix(v.text, "o"):
			if strings.Contains(v.text, "e") {
				c.st.strict = true
			}
			if i+1 < len(c.args) {
				i++
				switch c.args[i].text {
				case "errexit":
					c.st.strict = v.text[0] == '-'
				case "pipefail", "nounset", "noglob", "xtrace", "verbose":
				default:
					free = false
				}
			}
		case strings.Trim(v.text, "-+euxvfC") == "":
			if strings.Contains(v.text, "e") {
				c.st.strict = v.text[0] == '-'
			}
		default:
			free = false
		}
	}
	if !free {
		c.st.lost() // set -P changes what cd does
	}
	c.set(spec.RiskRead, free && !c.ours(), "options of the shell")
}

func (c *command) alias() {
	c.set(spec.RiskRead, false, "gives a name to a line")
	for _, v := range c.args[1:] {
		name, line, ok := strings.Cut(v.text, "=")
		c.r.defined[name] = true
		if ok || !v.known {
			c.code(value{text: line, src: v.src, known: v.known, prefix: line}, "alias")
		}
	}
}

// code reads a text that a shell will run, in a state of its own.
func (c *command) code(v value, who string) { c.codeIn(v, who, c.child()) }

// child is the state of another process or a later moment.
func (c *command) child() *state {
	st := c.st.copy()
	st.vars, st.each, st.funcs, st.strict = map[string]string{}, nil, map[string]bool{}, false
	return st
}

func (c *command) codeIn(v value, who string, st *state) {
	if !v.known {
		c.r.unread("%s runs a text nobody knows beforehand: %s", who, clip(v.src))
		return
	}
	c.r.tangled = true // it may run again and again
	c.r.nested(v.text, st)
}

// nested reads a line inside the line.
func (r *reader) nested(text string, st *state) {
	once, unset, loops := r.once, r.unset, r.loops
	r.lineOf(text, st)
	r.once, r.unset, r.loops = once, unset, loops
}

func (c *command) eval() {
	var b strings.Builder
	for i, v := range c.args[1:] {
		if v.is("--") && i == 0 {
			continue
		}
		if !v.known {
			c.r.unread("eval runs a text nobody knows beforehand: %s", clip(v.src))
			c.st.lost()
			return
		}
		b.WriteString(v.text + " ")
	}
	c.r.nested(b.String(), c.st)
}

// source runs a file in this shell: the folder and everything else may change.
func (c *command) source() {
	r := c.r
	c.set(spec.RiskChange, false, "runs a file in this shell")
	r.whole = false
	if len(c.args) > 1 {
		c.scriptFile(c.args[1])
	}
	r.shadowed = true
	c.st.lost()
	c.st.vars, c.st.funcs = map[string]string{}, map[string]bool{}
}

// scriptFile is a file that is run as a program.
func (c *command) scriptFile(v value) {
	if v.is("/dev/stdin") || v.is("/dev/fd/0") || v.is("/proc/self/fd/0") {
		c.standardInput()
		return
	}
	if !v.known {
		if strings.Contains(v.src, "<(") {
			c.r.unread("%s runs what another command writes", c.name)
		}
		return
	}
	for _, abs := range c.r.places(c.st, v.text) {
		if c.r.came(abs) {
			c.r.find(Finding{Part: c.part, Why: "it runs a file that this line fetched from the network", Paths: []string{abs}})
		}
	}
}
