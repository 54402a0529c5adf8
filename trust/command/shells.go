package command

import (
	"slices"
	"strings"
	"sync"

	"starling/bus/spec"
)

var shells = words("sh bash dash ash zsh ksh mksh rbash fish busybox-sh csh tcsh nu xonsh elvish")

// interpreters run a program they are given as a file, as an argument or on
// their standard input.
var interpreters = words("python python2 python3 pypy pypy3 perl ruby node nodejs deno bun php lua luajit tclsh osascript pwsh powershell " +
	"Rscript julia groovy scala guile racket ghci irb psql mysql sqlite3 expect bc ed ex gdb awk gawk mawk nawk")

// runsText are all programs that run text.
var runsText = sync.OnceValue(func() map[string]bool {
	m := set("eval . source xargs ssh")
	for name := range shells() {
		m[name] = true
	}
	for name := range interpreters() {
		m[name] = true
	}
	return m
})

// shellOf judges a shell: its line, its script, its standard input.
func (c *command) shellOf() bool {
	if !shells()[c.name] {
		return false
	}
	r := c.r
	c.set(spec.RiskChange, false, "runs a shell")
	line, script, plain := false, -1, true
	for i := 1; i < len(c.args); i++ {
		v := c.args[i]
		text := v.prefix
		switch {
		case !v.known && text == "":
			r.whole = false
			if line || v.many {
				r.unread("%s runs a text nobody knows beforehand: %s", c.name, clip(v.src))
			}
			script = i
		case (strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+")) && len(text) > 1 && text != "--":
			switch used, ok := shellOption(c, i); {
			case !ok:
				plain = false
				fallthrough
			default:
				line = line || !strings.HasPrefix(text, "--") && strings.Contains(text, "c")
				i += used
			}
			continue
		default:
			script = i
			if v.is("--") {
				script = i + 1
			}
		}
		break
	}
	switch {
	case line && script > 0 && script < len(c.args):
		if foreignLine(c.name, c.args[script].text) {
			r.unread("%s reads its lines in its own way", c.name)
			break
		}
		if c.args[script].known && plain {
			c.set(spec.RiskRead, !c.ours(), "runs a line, which is judged by itself")
		}
		st := c.child()
		c.codeIn(c.args[script], c.name+" -c", st)
		if len(c.args) > script+1 {
			r.whole = false
		}
	case line:
	case script > 0 && script < len(c.args) && !c.has("s"):
		r.whole = false
		c.scriptFile(c.args[script])
	default:
		c.standardInput()
	}
	return true
}

// shellOption reads one option of a shell and says how many words behind it are
// its value; false for one that may run something or that nobody knows.
func shellOption(c *command, i int) (values int, ok bool) {
	v := c.args[i]
	if name, long := strings.CutPrefix(v.prefix, "--"); long {
		switch name {
		case "login", "noprofile", "norc", "posix", "restricted", "verbose", "version", "help", "noediting":
			return 0, v.known
		case "rcfile", "init-file", "init-command":
			if i+1 < len(c.args) {
				c.scriptFile(c.args[i+1])
			}
			return 1, false
		}
		return 0, false
	}
	letters := v.prefix[1:]
	ok = v.known && strings.Trim(letters, "abcefhiklmnoprstuvxBCEHPT") == ""
	if c.name == "fish" && strings.ContainsAny(letters, "Cc") {
		c.r.unread("fish reads its lines in its own way")
	}
	if strings.HasSuffix(letters, "o") || strings.HasSuffix(letters, "O") {
		if i+1 < len(c.args) {
			switch c.args[i+1].text {
			case "errexit", "pipefail", "nounset", "noglob", "verbose", "noclobber", "posix", "errtrace":
			default:
				ok = false
			}
		}
		return 1, ok
	}
	return 0, ok
}

// foreignLine tells whether a shell may read a line in another way than bash does:
// fish always, those that resemble it where the line is more than plain words.
func foreignLine(shell, line string) bool {
	switch shell {
	case "fish", "csh", "tcsh", "nu", "xonsh", "elvish", "rc", "es":
		return true
	case "zsh", "ksh", "mksh":
		return strings.ContainsAny(line, "$`()[]{}=~^#!")
	}
	return false
}

// standardInput judges an interpreter that runs what it reads.
func (c *command) standardInput() {
	r, in := c.r, c.st.in
	if in.download {
		r.find(Finding{Part: c.part, Why: justFetched})
	}
	if c.part >= 0 && c.part < len(r.notes) && !c.how.floor {
		r.notes[c.part].code = true
	}
	switch in.kind {
	case inputText:
		switch {
		case foreignLine(c.name, in.text):
			r.unread("%s reads its lines in its own way", c.name)
		case shells()[c.name]:
			st := c.child()
			st.in = input{}
			r.nested(in.text, st)
			return
		}
		r.whole = false
	case inputUnknown:
		r.whole = false
		r.unread("%s runs what it reads, which nobody knows beforehand", c.name)
	}
}

// interpreter judges other programs that run text.
func (c *command) interpreter() {
	if !interpreters()[c.name] {
		return
	}
	args := c.operands()
	c.fetchedCode(args)
	awk := strings.HasSuffix(c.name, "awk")
	switch {
	case awk || slices.Contains([]string{"psql", "mysql", "sqlite3", "bc", "gdb", "expect"}, c.name):
	case c.has("ceErmp", "eval", "print", "command") && !c.has("", "version"):
		// The program is an argument, which is in the words of the part.
	case len(args) == 0 || args[0].is("-"):
		if !c.has("Vv", "version", "help") {
			c.standardInput()
		}
	default:
		c.scriptFile(args[0])
	}
}
