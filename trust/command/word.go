package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a word is known to become.
type value struct {
	text   string   // exactly, when known; else what is literal of it
	src    string   // as written
	known  bool     // one word, exactly text
	glob   bool     // nothing but patterns for file names make it unknown
	many   bool     // it may become several words or none
	prefix string   // its literal beginning
	suffix string   // its literal end, when not known
	vars   []string // variables it takes its value from
	// unset: nothing but variables without a value make it unknown, so that it
	// becomes text, or no word when that is empty.
	unset   bool
	choices []value // what it may be, when a loop around says so
	guess   bool    // most likely it is text: another way to write a home
}

// literal is a word that somebody else made, as a wrapper does of its text.
func literal(s string) value { return value{text: s, src: quote(s), known: true, prefix: s} }

// nobodyKnows stands for words that a program reads from its input.
func nobodyKnows(src string) value { return value{src: src, many: true} }

func (v value) word() Word {
	if v.known {
		return Word{Text: v.text, Known: true}
	}
	return Word{Text: v.src}
}

// is tells whether the word is surely s.
func (v value) is(s string) bool { return v.known && v.text == s }

// maybeOption tells whether the program may read the word as an option.
func (v value) maybeOption() bool {
	if v.known || v.prefix != "" {
		return strings.HasPrefix(v.prefix, "-") && v.prefix != "-"
	}
	return true
}

const maxBrace = 64 // words one brace expansion may become before it counts as unknown

// words evaluates the arguments of a command.
func (r *reader) words(list []*syntax.Word, st *state) []value {
	var out []value
	for _, w := range list {
		out = append(out, r.argument(w, st)...)
	}
	return out
}

// argument evaluates one argument, which braces may make several of.
func (r *reader) argument(w *syntax.Word, st *state) []value {
	src := r.source(w)
	if !strings.Contains(src, "{") {
		return []value{r.value(w, st)}
	}
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(split) {
		v := r.value(w, st)
		if hasLooseBrace(w) {
			v.known, v.glob, v.unset, v.many = false, false, false, true
			v.prefix, _, _ = strings.Cut(v.prefix, "{")
		}
		return []value{v}
	}
	if list, ok := spread(split); ok && !hasEscape(w) {
		out := make([]value, len(list))
		for i, one := range list {
			out[i] = r.value(one, st)
			out[i].src = src
			if out[i].known {
				out[i].src = quote(out[i].text)
			}
		}
		return out
	}
	v := value{src: src, many: true}
	v.prefix, _, _ = strings.Cut(r.value(w, st).prefix, "{")
	return []value{v}
}

// spread writes out the brace lists of a word; sequences are left alone.
func spread(w *syntax.Word) ([]*syntax.Word, bool) {
	out := []*syntax.Word{{}}
	for _, part := range w.Parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, one := range out {
				one.Parts = append(one.Parts, part)
			}
			continue
		}
		if brace.Sequence {
			return nil, false
		}
		var next []*syntax.Word
		for _, elem := range brace.Elems {
			list, ok := spread(elem)
			if !ok || len(next)+len(out)*len(list) > maxBrace {
				return nil, false
			}
			for _, head := range out {
				for _, tail := range list {
					parts := append(append([]syntax.WordPart(nil), head.Parts...), tail.Parts...)
					next = append(next, &syntax.Word{Parts: parts})
				}
			}
		}
		out = next
	}
	return out, true
}

// hasLooseBrace tells whether a shell may see a brace expansion where the parser
// saw none.
func hasLooseBrace(w *syntax.Word) bool {
	open, sep := false, false
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			continue
		}
		for _, c := range lit.Value {
			switch {
			case c == '{':
				open = true
			case open && (c == ',' || c == '.'):
				sep = true
			case c == '}' && sep:
				return !strings.HasPrefix(lit.Value, "@{") && !strings.HasPrefix(lit.Value, "stash@{")
			case c == '}':
				open = false
			}
		}
	}
	return false
}

func hasEscape(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// evaluation builds a value piece by piece.
type evaluation struct {
	r    *reader
	st   *state
	text strings.Builder
	v    value
	open bool // something unknown came already
	rest bool // and it was no variable without a value
	// guess: the home of a user stands in it, by its usual name.
	guess bool
	end   int // where the last unknown thing stands in text
}

// value evaluates a word as one argument.
func (r *reader) value(w *syntax.Word, st *state) value {
	e := evaluation{r: r, st: st}
	e.v.src = r.source(w)
	for i, part := range w.Parts {
		e.part(part, i == 0, len(w.Parts) == 1)
	}
	v := e.done()
	if e.guess {
		v.guess, v.known, v.glob = true, false, false
	}
	if !v.known {
		v.choices = r.choices(w, st)
	}
	return v
}

func (e *evaluation) done() value {
	v := e.v
	v.text = e.text.String()
	if !e.open {
		v.prefix = v.text
		v.known = !v.glob
		if v.glob {
			v.prefix = v.text[:strings.IndexAny(v.text, "*?[")]
			v.many = true
		}
		if v.known {
			v.src = quote(v.text)
		}
		return v
	}
	v.unset = !e.rest && !v.glob && !strings.HasPrefix(v.text, "-")
	v.glob = false
	v.suffix = v.text[e.end:]
	return v
}

// unknown notes that nobody can tell what stands here.
func (e *evaluation) unknown(many bool) {
	e.rest = true
	e.blank(many)
}

// blank notes that nobody can tell what stands here, if anything.
func (e *evaluation) blank(many bool) {
	if !e.open {
		e.v.prefix = e.text.String()
		if e.v.glob {
			e.v.prefix = e.v.prefix[:strings.IndexAny(e.v.prefix, "*?[")]
		}
	}
	e.open = true
	e.v.many = e.v.many || many
	e.end = e.text.Len()
}

func (e *evaluation) part(part syntax.WordPart, first, alone bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		e.literal(p.Value, first, alone)
	case *syntax.SglQuoted:
		if !p.Dollar {
			e.text.WriteString(p.Value)
			return
		}
		s, ok := ansiC(p.Value)
		e.text.WriteString(s)
		if !ok {
			e.unknown(false)
		}
	case *syntax.DblQuoted:
		if p.Dollar { // translated by the locale
			e.unknown(false)
		}
		for _, inner := range p.Parts {
			switch q := inner.(type) {
			case *syntax.Lit:
				e.text.WriteString(unescapeQuoted(q.Value))
			case *syntax.ParamExp:
				e.param(q, true)
			default:
				e.unknown(false)
			}
		}
	case *syntax.ParamExp:
		e.param(p, false)
	case *syntax.ProcSubst:
		e.text.WriteString("/dev/fd/")
		e.unknown(false)
	default:
		e.unknown(true)
	}
}

// literal takes unquoted text: escapes, a tilde, patterns.
func (e *evaluation) literal(s string, first, alone bool) {
	if first && strings.HasPrefix(s, "~") {
		user, rest, slash := strings.Cut(s[1:], "/")
		switch {
		case user == "+" && e.st.dir != "" && len(e.st.also) == 0 && !e.r.assigned["PWD"] && (slash || alone):
			e.text.WriteString(e.st.dir)
			if slash {
				e.text.WriteString("/")
			}
			s = rest
		case user != "" && (user == "root" || user == path.Base(e.r.at.Home)) && (slash || alone):
			home := e.r.at.Home
			if user != path.Base(home) {
				home = "/root"
			}
			e.text.WriteString(home + s[1+len(user):])
			s = ""
			e.guess = true
		case user == "" && e.r.home() != "" && (slash || alone):
			e.text.WriteString(e.r.home())
			if slash {
				e.text.WriteString("/")
			}
			s = rest
		default:
			e.unknown(false)
			return
		}
	} else if first && assignsTilde(s) {
		e.unknown(false)
		return
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				e.text.WriteByte(s[i])
			}
			continue
		case c == '*', c == '?', c == '[' && strings.Contains(s[i:], "]"), c == '[' && !alone:
			e.v.glob = true
		}
		e.text.WriteByte(s[i])
	}
}

// assignsTilde tells whether bash expands a tilde inside: NAME=~ and :~ of words
// that look like assignments. Other shells do not, so such a word is unknown.
func assignsTilde(s string) bool {
	name, rest, ok := strings.Cut(s, "=")
	return ok && syntax.ValidName(name) && (strings.HasPrefix(rest, "~") || strings.Contains(rest, ":~"))
}

func (e *evaluation) param(p *syntax.ParamExp, quoted bool) {
	if p.Param != nil {
		e.v.vars = append(e.v.vars, p.Param.Value)
	}
	if s, ok := e.r.variable(p, e.st); ok && (quoted || s != "" && plain(s)) {
		e.text.WriteString(s)
		return
	}
	many := !quoted || p.Param != nil && p.Param.Value == "@" || p.Index != nil || p.Excl
	if plainParam(p) && e.r.unset[p.Param.Value] {
		e.blank(many)
		return
	}
	e.unknown(many)
}

// variable is the value of an expansion that is surely known.
func (r *reader) variable(p *syntax.ParamExp, st *state) (string, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return "", false
	}
	switch name := p.Param.Value; {
	case name == "HOME":
		return r.home(), r.home() != ""
	case name == "PWD" && !r.assigned["PWD"]:
		return st.dir, st.dir != "" && len(st.also) == 0
	default:
		s, ok := st.vars[name]
		return s, ok
	}
}

// home is the person's, unless the line changes what the shell takes for it.
func (r *reader) home() string {
	if r.assigned["HOME"] {
		return ""
	}
	return r.at.Home
}

// plain text is not split and is no pattern.
func plain(s string) bool { return !strings.ContainsAny(s, " \t\n*?[\\") }

func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\n':
				i++
				continue
			case '$', '`', '"', '\\':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// quote writes a word so that a shell reads exactly it.
func quote(s string) string {
	if s == "" {
		return "''"
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte("_-./,:=@%+^", c) >= 0 || c == '~' && i > 0 {
			continue
		}
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
