package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash reads the text of a variable as code where it counts: name[$(line)] in
// arithmetic, in a subscript, behind ${!…} and behind -v runs the line. What is
// counted with must therefore be a number or the name of one, as far as the line
// says it.

// counting is what a line counts with.
type counting struct {
	used    map[string]bool     // names that arithmetic looks at
	texts   map[string]bool     // names that may hold other text than a number
	follows map[string][]string // names that may hold the text of others
	names   map[string]bool     // names behind ${!…}
	whole   map[string]bool     // integer variables: every text given to them counts
	asked   map[string]bool     // programs that print numbers, taken at their word
}

func newCounting() counting {
	return counting{
		used: map[string]bool{}, texts: map[string]bool{}, follows: map[string][]string{}, names: map[string]bool{}, asked: map[string]bool{},
		whole: set("SECONDS RANDOM SRANDOM LINENO HISTCMD OPTIND PPID UID EUID BASHPID EPOCHSECONDS"),
	}
}

// given by bash, always a number.
var numbers = words("SECONDS RANDOM SRANDOM LINENO HISTCMD OPTIND PPID UID EUID BASHPID EPOCHSECONDS SHLVL BASH_SUBSHELL COLUMNS LINES # ? $ !")

// count notes what a text counts with and what it sets its variables to.
func (r *reader) count(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp:
			r.arith(n.X)
		case *syntax.ArithmCmd:
			r.arith(n.X)
		case *syntax.LetClause:
			for _, x := range n.Exprs {
				r.arith(x)
			}
		case *syntax.CStyleLoop:
			r.arith(n.Init)
			r.arith(n.Cond)
			r.arith(n.Post)
		case *syntax.ArrayElem:
			r.subscript(n.Index)
		case *syntax.ParamExp:
			r.countParam(n)
		case *syntax.BinaryTest:
			if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
				r.testNumber(n.X)
				r.testNumber(n.Y)
			}
		case *syntax.UnaryTest:
			if w, ok := n.X.(*syntax.Word); n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				if !ok || !plainName(wordText(w)) {
					r.unread("-v looks at a variable whose name nobody knows, which may run a command: %s", clip(r.source(n.X)))
				}
			}
		case *syntax.WordIter:
			if n.Name != nil {
				for _, w := range n.Items {
					r.gives(n.Name.Value, w)
				}
				if len(n.Items) == 0 {
					r.texted(n.Name.Value)
				}
			}
		case *syntax.Assign:
			r.countAssign(n)
		}
		return true
	})
}

func (r *reader) countAssign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	r.subscript(a.Index)
	if a.Value != nil {
		r.gives(name, a.Value)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				r.gives(name, e.Value)
			}
		}
	}
}

func (r *reader) countParam(p *syntax.ParamExp) {
	if p.Param == nil {
		return
	}
	list := isList(p.Index)
	r.subscript(p.Index)
	if p.Slice != nil {
		r.arith(p.Slice.Offset)
		r.arith(p.Slice.Length)
	}
	if p.Excl && p.Names == 0 && !list {
		r.indirect(p.Param.Value)
	}
	if sets(p) && p.Exp.Word != nil {
		r.gives(p.Param.Value, p.Exp.Word)
	}
}

// indirect: ${!name} is the variable that name names.
func (r *reader) indirect(name string) {
	if !syntax.ValidName(name) {
		r.unread("${!%s} looks at a variable whose name nobody knows, which may run a command", name)
		return
	}
	r.counts.names[name] = true
}

func isList(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (wordText(w) == "@" || wordText(w) == "*")
}

func (r *reader) subscript(index syntax.ArithmExpr) {
	if index != nil && !isList(index) {
		r.arith(index)
	}
}

func (r *reader) testNumber(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok {
		r.arithWord(w)
	}
}

// arith notes the names of an arithmetic expression.
func (r *reader) arith(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		r.arith(x.X)
		r.arith(x.Y)
	case *syntax.UnaryArithm:
		r.arith(x.X)
	case *syntax.ParenArithm:
		r.arith(x.X)
	case *syntax.Word:
		r.arithWord(x)
	default:
		r.uncounted(x)
	}
}

func (r *reader) uncounted(n syntax.Node) {
	r.unread("arithmetic with text nobody knows, which may run a command: %s", clip(r.source(n)))
}

func (r *reader) arithWord(w *syntax.Word) {
	if !r.number(w.Parts, len(w.Parts) > 1, func(name string) { r.counts.used[name] = true }) {
		r.uncounted(w)
	}
}

// number tells whether parts of a word make a number, or the name of something
// that is one when it is all there is; use is told the names it depends on.
func (r *reader) number(parts []syntax.WordPart, joined bool, use func(string)) bool {
	for _, part := range parts {
		ok := false
		switch p := part.(type) {
		case *syntax.Lit:
			ok = r.numberText(strings.ReplaceAll(p.Value, "\\\n", ""), joined, use)
		case *syntax.SglQuoted:
			ok = !p.Dollar && r.numberText(p.Value, joined, use)
		case *syntax.DblQuoted:
			ok = r.number(p.Parts, joined || len(p.Parts) > 1, use)
		case *syntax.ArithmExp:
			ok = true // its own names count already
		case *syntax.CmdSubst:
			ok = r.printsNumber(p)
		case *syntax.ParamExp:
			ok = r.numberParam(p, use)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (r *reader) numberText(s string, joined bool, use func(string)) bool {
	s = strings.TrimSpace(s)
	switch {
	case isCount(s) || s == "" || joined && strings.Trim(s, "+- ") == "":
		return true
	case !joined && syntax.ValidName(s):
		use(s)
		return true
	}
	return false
}

// isCount: a number as bash writes it: -1, 0x1f, 2#101.
func isCount(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEFxX#") == ""
}

func (r *reader) numberParam(p *syntax.ParamExp, use func(string)) bool {
	if p.Param == nil || p.Excl || p.Width || p.Names != 0 || p.Repl != nil || p.Slice != nil && p.Exp != nil || p.Flags != nil || len(p.Modifiers) > 0 {
		return false
	}
	if p.Length {
		return true
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if p.Exp.Word != nil && !r.number(p.Exp.Word.Parts, len(p.Exp.Word.Parts) > 1, use) {
				return false
			}
		default:
			return false
		}
	}
	name := p.Param.Value
	if !syntax.ValidName(name) {
		return numbers()[name]
	}
	use(name)
	return true
}

// gives notes that a variable may get the text of a word.
func (r *reader) gives(name string, w *syntax.Word) {
	if text := wordText(w); strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && strings.Trim(text[1:len(text)-1], "0123456789.,") == "" && len(text) > 2 {
		return // {1..5}
	}
	add := func(from string) { r.counts.follows[name] = append(r.counts.follows[name], from) }
	if !r.number(w.Parts, len(w.Parts) > 1, add) {
		if text := wordText(w); syntax.ValidName(text) {
			add(text)
			return
		}
		r.texted(name)
	}
}

// texted notes that a variable may hold any text.
func (r *reader) texted(name string) { r.counts.texts[name] = true }

// printsNumber tells whether a substitution is of a program that prints a number
// and nothing else.
func (r *reader) printsNumber(c *syntax.CmdSubst) bool {
	if len(c.Stmts) != 1 || c.TempFile || c.ReplyVar {
		return false
	}
	cmd := c.Stmts[0].Cmd
	for {
		pipe, ok := cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe {
			break
		}
		cmd = pipe.Y.Cmd
	}
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	var args []string
	for _, w := range call.Args {
		text := wordText(w)
		if text == "" {
			return false
		}
		args = append(args, text)
	}
	name, rest := args[0], args[1:]
	r.counts.asked[name] = true
	switch name {
	case "wc":
		return len(rest) == 1 && (rest[0] == "-l" || rest[0] == "-w" || rest[0] == "-c" || rest[0] == "-m")
	case "date":
		return len(rest) == 1 && len(rest[0]) == 3 && rest[0][:2] == "+%" && strings.Contains("sYmdHMSjuN", rest[0][2:])
	case "nproc":
		return len(rest) == 0
	case "id":
		return len(rest) == 1 && (rest[0] == "-u" || rest[0] == "-g")
	case "seq":
		for _, text := range rest {
			if !isCount(text) {
				return false
			}
		}
		return len(rest) > 0
	}
	return false
}

// plainName tells whether a text names a variable and runs nothing: x, x[3], x[@].
func plainName(text string) bool {
	name, rest, sub := strings.Cut(text, "[")
	if !syntax.ValidName(name) {
		return isNumber(text)
	}
	index, closed := strings.CutSuffix(rest, "]")
	return !sub || closed && (isNumber(index) || index == "@" || index == "*")
}

// setByName judges the words of a builtin that names variables: what it puts in
// them may be any text.
func (c *command) setByName(list []value) {
	for _, v := range list {
		if !v.known || !plainName(v.text) {
			c.r.unread("%s is given the name of a variable nobody knows, which may run a command: %s", c.name, clip(v.src))
			return
		}
		name, _, _ := strings.Cut(v.text, "[")
		c.r.texted(name)
	}
}

// setsByName finds the names of variables among the words of builtins.
func (c *command) setsByName() {
	switch c.name {
	case "read":
		c.setByName(c.operands("-d", "-i", "-n", "-N", "-p", "-t", "-u", "-a"))
		if v, ok := c.valueOf("a"); ok {
			c.setByName([]value{v})
		}
		c.r.texted("REPLY")
	case "mapfile", "readarray":
		c.setByName(c.operands("-d", "-n", "-O", "-s", "-u", "-C", "-c"))
		c.r.texted("MAPFILE")
		if v, ok := c.valueOf("O"); ok && !(v.known && isNumber(v.text)) {
			c.r.unread("%s -O counts with text nobody knows, which may run a command: %s", c.name, clip(v.src))
		}
	case "getopts":
		if args := c.operands(); len(args) > 1 {
			c.setByName(args[1:2])
		}
		c.r.texted("OPTARG")
	case "unset":
		c.setByName(c.operands())
	case "wait":
		if v, ok := c.valueOf("p"); ok {
			c.setByName([]value{v})
		}
	case "printf":
		if v, ok := c.valueOf("v"); ok && len(c.args) > 1 && strings.HasPrefix(c.args[1].prefix, "-v") {
			c.setByName([]value{v})
		}
	case "test", "[":
		for i, v := range c.args {
			if (v.is("-v") || v.is("-R")) && i > 0 && i+1 < len(c.args) {
				if next := c.args[i+1]; !next.known || !plainName(next.text) && !next.is("]") && !next.is("=") && !next.is("!=") && !next.is("-a") && !next.is("-o") {
					c.r.unread("-v looks at a variable whose name nobody knows, which may run a command: %s", clip(next.src))
				}
			}
		}
	case "let":
		for _, v := range c.args[1:] {
			if !v.known || strings.ContainsAny(v.text, "[$`") {
				c.r.unread("let counts with text nobody knows, which may run a command: %s", clip(v.src))
			}
			for _, name := range strings.FieldsFunc(v.text, func(c rune) bool { return c > 127 || !isNameByte(byte(c)) }) {
				if syntax.ValidName(name) {
					c.r.counts.used[name] = true
				}
			}
		}
	}
}

// declared judges a word of declare and its like: NAME=TEXT, where a text in
// brackets makes an array and is read as code once more.
func (r *reader) declared(name string, v value, flags string) {
	text := strings.TrimSpace(v.prefix)
	switch {
	case v.known && strings.HasPrefix(text, "(") && strings.ContainsAny(text, "$`[<>"):
		r.unread("an array is made of text that is read as code: %s", clip(v.src))
	case !v.known && (text == "" || text[0] == '(') && strings.ContainsAny(flags, "aA?"):
		r.unread("an array is made of text nobody knows, which may run a command: %s", clip(v.src))
	}
	if strings.ContainsAny(flags, "i?") {
		r.counts.whole[name] = true
	}
	if strings.ContainsAny(flags, "n?") {
		if v.known && !(syntax.ValidName(v.text) || v.text == "") || !v.known {
			r.unread("a variable is made another name of text nobody knows, which may run a command: %s", clip(v.src))
		}
		r.counts.names[name] = true
	}
}

// declareFlags are the letters of declare's options; "?" when nobody knows them.
func declareFlags(args []value) string {
	flags := ""
	for _, v := range args {
		switch {
		case v.known && (strings.HasPrefix(v.text, "-") || strings.HasPrefix(v.text, "+")):
			flags += v.text[1:]
		case !v.known && v.maybeOption():
			flags += "?"
		}
	}
	return flags
}

// closeCounting decides what could not be told before the whole line was read.
func (r *reader) closeCounting() {
	c := r.counts
	given := map[string]string{}
	for _, kv := range r.at.Env {
		name, text, _ := strings.Cut(kv, "=")
		given[name] = text
	}
	seen := map[string]bool{}
	var number func(name string) bool
	number = func(name string) bool {
		if seen[name] || numbers()[name] {
			return !c.texts[name]
		}
		seen[name] = true
		if c.texts[name] {
			return false
		}
		text, env := given[name]
		if !r.assigned[name] && len(c.follows[name]) == 0 && (r.at.Env == nil || env && text != "" && !isCount(text)) {
			return false
		}
		for _, from := range c.follows[name] {
			if !number(from) {
				return false
			}
		}
		return true
	}
	for name := range c.whole {
		if c.texts[name] || len(c.follows[name]) > 0 {
			c.used[name] = true
		}
	}
	for name := range c.used {
		if !number(name) {
			r.unread("it counts with %s, whose text nobody knows: it may run a command", name)
			return
		}
		for asked := range c.asked {
			if r.shadowed || r.defined[asked] {
				r.unread("it counts with what %s prints, which means another program here", asked)
				return
			}
		}
	}
	for name := range c.names {
		if !number(name) {
			r.unread("${!%s} looks at a variable whose name nobody knows, which may run a command", name)
			return
		}
	}
}
