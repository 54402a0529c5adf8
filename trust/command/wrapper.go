package command

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// wrap describes a program that runs its arguments.
type wrap struct {
	short    string // letters of options that take a value
	long     string // long options that take the next word
	operands int    // words before the command
	assigns  bool   // NAME=VALUE may stand before the command
	raises   bool   // it gives other rights
	writes   string // letters of options that write a file: it is not transparent then
	line     string // letters of an option whose value is a line for a shell
	input    bool   // it adds words of its input
}

// wraps are the wrappers. A transparent one is Free and what it runs is the part
// a rule must cover: `timeout 9 go test` asks for `go test`.
var wraps = sync.OnceValue(func() map[string]wrap {
	return map[string]wrap{
		"env":              {short: "uCPS", long: "unset chdir split-string", assigns: true},
		"nohup":            {},
		"setsid":           {},
		"nice":             {short: "n", long: "adjustment"},
		"ionice":           {short: "cn", long: "class classdata"},
		"timeout":          {short: "ks", long: "kill-after signal", operands: 1},
		"gtimeout":         {short: "ks", long: "kill-after signal", operands: 1},
		"stdbuf":           {short: "ioe", long: "input output error"},
		"time":             {short: "fo", long: "format output", writes: "o"},
		"command":          {},
		"builtin":          {},
		"exec":             {short: "a"},
		"chrt":             {short: "TPD", operands: 1},
		"taskset":          {operands: 1},
		"chronic":          {},
		"unbuffer":         {},
		"caffeinate":       {short: "tw"},
		"strace":           {short: "aeEoOpPsSuUXI", writes: "o"},
		"ltrace":           {short: "aeFlnopsuADSw", writes: "o"},
		"xargs":            {short: "adEILnPs", long: "arg-file delimiter max-args max-procs max-chars max-lines process-slot-var", input: true},
		"flock":            {short: "wEc", long: "timeout wait conflict-exit-code command", operands: 1, line: "c"},
		"watch":            {short: "nq", long: "interval equexit"},
		"busybox":          {},
		"toybox":           {},
		"entr":             {},
		"sudo":             {short: "CDghpRrtTuU", long: "user group host prompt chdir chroot role type close-from command-timeout other-user", assigns: true, raises: true},
		"doas":             {short: "Cu", raises: true},
		"pkexec":           {long: "user", raises: true},
		"run0":             {short: "ugD", long: "user group chdir unit property", raises: true},
		"su":               {short: "cgGswT", long: "command group shell", operands: 1, line: "c", raises: true},
		"runuser":          {short: "cgGsuw", long: "command user group shell", line: "c", raises: true},
		"chroot":           {long: "userspec groups", operands: 1, raises: true},
		"unshare":          {short: "SGRw", long: "setuid setgid root wd"},
		"nsenter":          {short: "tSGw", long: "target", raises: true},
		"setpriv":          {raises: true},
		"script":           {short: "cEBIOTtm", long: "command echo log-in log-out log-io log-timing", operands: 1, line: "c"},
		"capsh":            {raises: true},
		"dbus-run-session": {},
		"xvfb-run":         {short: "efnpsw"},
		"firejail":         {},
		"bwrap":            {},
		"proxychains":      {short: "f"},
		"parallel":         {short: "jaISNnLdk", input: true},
	}
})

func (c *command) wrapper() bool {
	w, ok := wraps()[c.name]
	if !ok {
		return false
	}
	r := c.r
	st := c.st
	if w.raises {
		c.set(spec.RiskDestructive, false, "it acts with other rights")
		r.find(Finding{Part: c.part, Why: c.name + " acts with the rights of another user"})
	} else {
		c.set(spec.RiskRead, !c.ours(), "runs a command, which is judged by itself")
	}
	if c.name == "script" {
		c.set(spec.RiskChange, false, "it writes what it sees to a file")
		r.whole = false
	}
	if c.name == "exec" && c.bare && len(c.args) == 1 {
		return true // its redirections are parts
	}
	at, sure := c.wrapped(w)
	if v, ok := c.valueOf(w.line, "command"); ok && w.line != "" {
		c.code(v, c.name)
		return true
	}
	if !sure {
		r.unread("nobody can tell what %s runs", c.name)
		r.whole = false
		return true
	}
	if w.writes != "" && c.has(w.writes, "output") {
		if v, ok := c.valueOf(w.writes, "output"); ok {
			r.writes([]value{v}, st, c.part, true)
		}
		c.set(spec.RiskChange, false, "writes a file")
	}
	if st = c.wrapperState(st); st == nil {
		return true
	}
	rest := c.args[at:]
	for w.assigns && len(rest) > 0 {
		name, _, ok := strings.Cut(rest[0].prefix, "=")
		if !ok || !syntax.ValidName(name) {
			break
		}
		r.setVariable(name, rest[0].word(), st, true)
		rest = rest[1:]
	}
	c.inside(rest, st, w)
	return true
}

// wrapperState is where the wrapped command runs; nil when there is none.
func (c *command) wrapperState(st *state) *state {
	st = st.copy()
	switch c.name {
	case "command":
		if c.has("vV") {
			c.set(spec.RiskRead, !c.ours(), "looks up a name")
			return nil
		}
	case "env", "sudo", "run0":
		if v, ok := c.valueOf(map[string]string{"env": "C", "sudo": "D", "run0": "D"}[c.name], "chdir"); ok {
			dirs := c.r.places(st, v.text)
			if st.lost(); v.known && len(dirs) == 1 {
				st.dir = dirs[0]
			}
		}
	case "chroot", "nsenter", "unshare", "bwrap", "firejail":
		st.lost()
	case "xargs":
		if v, ok := c.valueOf("a", "arg-file"); ok {
			c.r.inputFile(v, st, -1)
		}
	}
	st.in = c.st.in
	return st
}

// inside judges the wrapped command.
func (c *command) inside(rest []value, st *state, w wrap) {
	r := c.r
	if c.name == "env" {
		if v, ok := c.valueOf("S", "split-string"); ok {
			line := v.text
			for _, more := range rest {
				v.known = v.known && more.known
				line += " " + quote(more.text)
			}
			v.text = line
			if strings.ContainsAny(line, "\\$") {
				v.known = false // env has escapes of its own
			}
			c.code(v, "env -S")
			return
		}
	}
	switch c.name {
	case "watch":
		if !c.has("x", "exec") {
			c.joined(rest)
			return
		}
	case "parallel":
		c.parallel(rest)
		return
	case "xargs":
		if len(rest) == 0 {
			rest = []value{literal("echo")}
		}
		if why := c.st.in.keys; why != "" && opens(baseName(rest[0].text)) {
			r.find(Finding{Part: c.part, Why: why})
		}
		mark := ""
		if v, ok := c.valueOf("I", "replace"); ok && v.known {
			mark = v.text
		} else if c.has("i", "replace") {
			mark = "{}"
		}
		rest = filled(rest, mark)
	}
	if len(rest) == 0 {
		if w.raises {
			return
		}
		if c.set(spec.RiskChange, false, "runs nothing that can be seen"); c.name == "env" {
			c.set(spec.RiskRead, false, "lists variables")
		}
		return
	}
	how := argv{download: c.how.download || c.name == "xargs" && st.in.download, floor: c.how.floor, part: c.part}
	if c.name == "builtin" || c.name == "exec" || c.name == "command" {
		// The folder and the variables of this shell, without functions.
		in := c.st.in
		c.st.in = st.in
		r.run(c.st, rest, how)
		c.st.in = in
		return
	}
	r.run(st, rest, how)
}

// filled puts what nobody knows where the words of the input go.
func filled(args []value, mark string) []value {
	out := slices.Clone(args)
	if mark == "" {
		return append(out, nobodyKnows("…"))
	}
	for i, v := range out {
		if strings.Contains(v.text, mark) {
			before, after, _ := strings.Cut(v.text, mark)
			v.known, v.prefix, v.suffix = false, before, after
			out[i] = v
		}
	}
	return out
}

// joined words are a line for a shell.
func (c *command) joined(words []value) {
	v := value{known: true}
	for _, w := range words {
		v.known = v.known && w.known
		v.text += w.text + " "
		v.src += w.src + " "
	}
	c.code(v, c.name)
}

func (c *command) parallel(rest []value) {
	i := slices.IndexFunc(rest, func(v value) bool { return strings.HasPrefix(v.text, ":::") })
	template := rest
	if i >= 0 {
		template = rest[:i]
	}
	if len(template) == 0 {
		c.r.unread("parallel runs lines nobody knows")
		return
	}
	c.r.unread("parallel makes lines for a shell of its input")
	mark := "{}"
	if !slices.ContainsFunc(template, func(v value) bool { return strings.Contains(v.text, mark) }) {
		mark = ""
	}
	c.r.run(c.child(), filled(template, mark), argv{floor: true, part: c.part})
}

// wrapped finds the first word of the wrapped command. false: nobody can tell.
func (c *command) wrapped(w wrap) (int, bool) {
	i := 1
	for ; i < len(c.args); i++ {
		v := c.args[i]
		if !v.known && v.prefix == "" && v.many {
			return i, false
		}
		text := v.prefix
		if v.is("--") {
			i++
			break
		}
		if !strings.HasPrefix(text, "-") || text == "-" && c.name != "env" && c.name != "su" {
			break
		}
		if !v.known && !strings.Contains(text, "=") && len(text) < 3 {
			return i, false
		}
		if name, ok := strings.CutPrefix(text, "--"); ok {
			if slices.Contains(strings.Fields(w.long), name) {
				i++
			}
			continue
		}
		if j := strings.IndexAny(text[1:], w.short); w.short != "" && j >= 0 && j == len(text)-2 && v.known {
			i++ // the value is the next word
		}
	}
	for n := w.operands; n > 0 && i < len(c.args); n-- {
		if c.args[i].many {
			return i, false
		}
		i++
	}
	return min(i, len(c.args)), true
}
