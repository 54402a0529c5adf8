package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// setters set variables whose names they are given in ways the reader does not
// follow; with one of them in a line, no variable is known.
var setters = map[string]bool{
	"read": true, "mapfile": true, "readarray": true, "getopts": true, "eval": true, "source": true, ".": true, "let": true,
	"unset": true, "trap": true, "wait": true, "printf": true, "declare": true, "typeset": true, "local": true, "export": true,
	"readonly": true, "nameref": true, "alias": true, "builtin": true, "command": true, "shopt": true, "enable": true, "coproc": true,
}

// survey looks over a text before it is read: which functions it defines, which
// variables it sets, and which of those are set once and for all. false: it is
// too deep to be read.
func (r *reader) survey(file *syntax.File, text string) bool {
	depth, deepest := 0, 0
	plainSets, loops, uses := map[string]int{}, map[string]int{}, map[string]int{}
	followed := r.depth == 1
	values := map[string]string{} // what a variable is set to, when that is plain
	var called []string           // variables that name a program
	arithmetic, code, hidden := false, false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if deepest = max(deepest, depth+1); deepest > maxTree {
			return false
		}
		depth++
		switch n := n.(type) {
		case *syntax.Word:
			hidden = hidden || hidesSubscript(wordText(n))
		case *syntax.FuncDecl:
			r.tangled = true
			if n.Name != nil {
				r.defined[n.Name.Value] = true
			}
		case *syntax.Stmt:
			r.tangled = r.tangled || n.Background
		case *syntax.BinaryCmd:
			r.tangled = r.tangled || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.ProcSubst, *syntax.WhileClause, *syntax.ForClause:
			r.tangled = true
		case *syntax.WordIter:
			if n.Name != nil {
				loops[n.Name.Value]++
			}
		case *syntax.Assign:
			if n.Name != nil {
				r.assigned[n.Name.Value] = true
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				for _, a := range n.Assigns {
					if !a.Append && a.Index == nil && a.Array == nil {
						plainSets[a.Name.Value]++
						values[a.Name.Value] = wordText(a.Value)
					}
				}
				break
			}
			name := wordText(n.Args[0])
			if v := variableOf(n.Args[0]); v != "" {
				called = append(called, v)
				break
			}
			followed = followed && name != "" && !(setters[name] && !harmlessSetter(name, n.Args))
			if name == "alias" {
				for _, w := range n.Args[1:] {
					alias, _, _ := strings.Cut(strings.Trim(r.source(w), `"'`), "=")
					r.defined[alias] = true
				}
			}
		case *syntax.DeclClause:
			followed = followed && exportsPlain(n)
		case *syntax.CoprocClause:
			followed, r.tangled = false, true
		case *syntax.ParamExp:
			if n.Param != nil {
				if sets(n) {
					r.assigned[n.Param.Value] = true
				} else {
					uses[n.Param.Value]++
				}
				arithmetic = arithmetic || n.Index != nil || n.Slice != nil
			}
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps || n.Excl {
				code = code || n.Exp != nil && wordText(n.Exp.Word) == "P"
				followed = false
			}
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
			arithmetic = true
		case *syntax.BinaryTest:
			arithmetic = arithmetic || n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr
		case *syntax.UnaryTest:
			arithmetic = arithmetic || n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
		}
		return true
	})
	if deepest > maxTree {
		r.unread("too much is nested in it")
		return false
	}
	for _, v := range called {
		followed = followed && plainSets[v] == 1 && values[v] != "" && plain(values[v]) && !setters[values[v]]
	}
	r.count(file)
	r.wanders = r.wanders || moves(file)
	if code {
		r.unread("${…@P} runs the commands inside a variable")
	}
	if hidden && (arithmetic || !followed) {
		r.unread("a subscript inside quoted text may be run as a command by arithmetic")
	}
	r.once, r.loops, r.unset = nil, nil, nil
	if r.assigned["IFS"] || !followed {
		return true
	}
	r.once, r.loops = map[string]bool{}, map[string]bool{}
	for name, n := range plainSets {
		if n == 1 && mentions(text, name) == 1+uses[name] {
			r.once[name] = true
		}
	}
	for name, n := range loops {
		r.loops[name] = n == 1 && !r.assigned[name] && mentions(text, name) == 1+uses[name]
	}
	if !arithmetic { // it sets variables that a text nobody sees names
		r.unset = r.unsetNames(text, uses)
	}
	return true
}

// harmlessSetter: printf sets a variable only with -v, command and builtin are
// looked through by their first argument.
func harmlessSetter(name string, args []*syntax.Word) bool {
	if len(args) < 2 {
		return false
	}
	next := wordText(args[1])
	switch name {
	case "printf":
		return next != "" && !strings.HasPrefix(next, "-")
	case "command":
		return next != "" && !setters[next]
	}
	return false
}

// exportsPlain: export NAME=VALUE sets what it names and nothing else.
func exportsPlain(d *syntax.DeclClause) bool {
	for _, a := range d.Args {
		if a.Name == nil {
			return false
		}
	}
	return d.Variant.Value == "export"
}

// variableOf is the variable a word is nothing but; "" for other words.
func variableOf(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && p.Param != nil {
		return p.Param.Value
	}
	return ""
}

// wordText is the text of a word of plain letters and quotes; "" for others.
func wordText(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			value := p.Value
			if p.Dollar {
				var ok bool
				if value, ok = ansiC(value); !ok {
					return ""
				}
			}
			b.WriteString(value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(unescapeQuoted(lit.Value))
			}
		default:
			return ""
		}
	}
	return b.String()
}

// mentions counts a name in a text as a word of its own.
func mentions(text, name string) int {
	count := 0
	for i := 0; ; {
		j := strings.Index(text[i:], name)
		if j < 0 {
			return count
		}
		i += j
		before := i > 0 && isNameByte(text[i-1])
		i += len(name)
		if !before && (i == len(text) || !isNameByte(text[i])) {
			count++
		}
	}
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// hidesSubscript tells whether a text holds name[$(…)] or name[`…`], which
// arithmetic runs even inside quoted text.
func hidesSubscript(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] == '[' && i > 0 && isNameByte(text[i-1]) {
			rest := text[i:]
			if end := strings.IndexByte(rest, ']'); end >= 0 {
				rest = rest[:end]
			}
			if strings.Contains(rest, "$(") || strings.Contains(rest, "`") {
				return true
			}
		}
	}
	return false
}
