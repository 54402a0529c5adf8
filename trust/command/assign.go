package command

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// harmlessNames are variables that change how a program writes, never what it
// does.
var harmlessNames = words("LC_ALL LC_CTYPE LC_MESSAGES LC_COLLATE LC_NUMERIC LC_TIME LANG LANGUAGE TZ CI NO_COLOR FORCE_COLOR CLICOLOR " +
	"CLICOLOR_FORCE COLUMNS LINES TERM DEBIAN_FRONTEND RUST_BACKTRACE GIT_TERMINAL_PROMPT COLORTERM")

// riskyNames lead to other programs or files being run or read; a star at the
// end stands for any rest.
var riskyNames = strings.Fields("PATH LD_* DYLD_* BASH_ENV ENV GIT_* PAGER MANPAGER EDITOR VISUAL BROWSER SHELL NODE_* NPM_* npm_* PYTHON* " +
	"PERL* RUBY* JAVA_* JDK_* MAVEN_* GRADLE_* IFS PS1 PS2 PS3 PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS BASH_* HOME CDPATH GLOBIGNORE HISTFILE " +
	"GO* CGO_* CC CXX CPP LD AR AS CFLAGS CXXFLAGS LDFLAGS MAKEFLAGS MFLAGS RUSTC* RUSTFLAGS CARGO_* PIP_* UV_* VIRTUAL_ENV CONDA_* GCONV_PATH LOCPATH " +
	"TERMINFO* LESS* MORE RIPGREP_* GREP_* FZF_* BAT_* SSH_* GPG_* SUDO_* DOCKER_* KUBE* AWS_* XDG_* TMPDIR TMP TEMP *_PROXY *_proxy LUA_* PHP* " +
	"CLASSPATH HOSTALIASES RES_OPTIONS OPENSSL_* SSL_* CURL_* WGET* TAR_* GZIP POSIXLY_CORRECT EXECIGNORE FIGNORE FCEDIT INPUTRC MAIL* USER LOGNAME OLDPWD PWD")

// words is a set of words that is made at its first use: a process that reads no
// line does not wait for it.
func words(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return set(list) })
}

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func isRisky(name string) bool {
	for _, glob := range riskyNames {
		head, tail, star := strings.Cut(glob, "*")
		if name == glob || star && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) {
			return true
		}
	}
	return false
}

// assignment reads NAME=VALUE before a command (prefix) or alone.
func (r *reader) assignment(a *syntax.Assign, st *state, prefix bool) {
	from := len(r.out.Parts)
	r.inner(a, st)
	download := r.downloads(from, len(r.out.Parts))
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	v := value{known: true}
	if a.Value != nil {
		v = r.value(a.Value, st)
	}
	if a.Array != nil || a.Index != nil || a.Append {
		v.known = false
	}
	for _, from := range v.vars {
		download = download || r.tainted[from]
	}
	if download {
		r.tainted[name] = true
	}
	if !prefix && v.known && r.once[name] {
		st.vars[name] = v.text
	}
	op := "="
	if a.Append {
		op = "+="
	}
	w := Word{Text: r.source(a)}
	if v.known {
		w = Word{Text: name + op + v.text, Known: true}
	}
	r.setVariable(name, w, st, prefix)
}

// setVariable adds the part of an assignment; exported ones reach programs.
func (r *reader) setVariable(name string, w Word, st *state, exported bool) {
	p := Part{Kind: Assign, Words: []Word{w}, Dir: st.dir, Risk: spec.RiskRead, Why: "sets a variable"}
	switch {
	case harmlessNames()[name]:
		p.Free = true
	case isRisky(name):
		p.Risk, p.Why = spec.RiskChange, name+" changes what programs run or read"
		if name == "PATH" || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || name == "IFS" {
			r.shadowed = true
		}
		if name == "CDPATH" || name == "HOME" || name == "PWD" {
			st.lost()
		}
	case exported:
		p.Risk, p.Why = spec.RiskChange, "a variable that programs may act on"
	default:
		p.Free = strings.ToLower(name) == name
	}
	r.add(p, note{})
}

// assign reads one word of export, declare and the like.
func (r *reader) assign(a *syntax.Assign, st *state, exported bool, flags string) {
	if a.Name != nil && !a.Naked {
		r.assignment(a, st, exported)
		return
	}
	if a.Name != nil { // export NAME: it reaches programs now
		r.setVariable(a.Name.Value, Word{Text: a.Name.Value, Known: true}, st, exported)
		return
	}
	r.inner(a, st)
	v := r.value(a.Value, st)
	if v.known && strings.HasPrefix(v.text, "-") && !strings.ContainsAny(v.text, "n") {
		return // an option; -n makes a name of another variable
	}
	name, text, set := strings.Cut(v.text, "=")
	if !v.known {
		name = "PATH" // it may be any
		r.unread("a variable is declared whose name nobody knows, which may run a command: %s", clip(v.src))
	}
	r.assigned[name] = true
	if r.texted(name); set {
		r.declared(name, literal(text), flags)
	}
	r.setVariable(name, v.word(), st, exported)
}
