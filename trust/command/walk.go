package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
)

// stmts reads statements one after another.
func (r *reader) stmts(list []*syntax.Stmt, st *state) {
	for _, s := range list {
		r.stmt(s, st)
	}
}

func (r *reader) stmt(s *syntax.Stmt, st *state) {
	if r.nodes >= maxNodes {
		r.unread("too much is nested in it")
		return
	}
	r.nodes++
	defer func() { r.nodes-- }()
	if s.Background {
		st = st.copy()
	}
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		r.call(call, s.Redirs, st)
		return
	}
	from := len(r.out.Parts)
	in := st.in
	for _, red := range s.Redirs {
		r.redirect(red, st)
	}
	if s.Cmd != nil {
		r.command(s.Cmd, st)
	}
	st.in = in
	r.receive(s.Redirs, from)
	r.fetches(s.Redirs, from, st)
}

func (r *reader) command(c syntax.Command, st *state) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c, nil, st)
	case *syntax.Block:
		r.stmts(c.Stmts, st)
	case *syntax.Subshell:
		r.stmts(c.Stmts, st.copy())
	case *syntax.BinaryCmd:
		r.binary(c, st)
	case *syntax.IfClause:
		r.ifClause(c, st)
	case *syntax.WhileClause:
		r.loop(c, func(st *state) {
			r.stmts(c.Cond, st)
			r.stmts(c.Do, st)
		}, st)
	case *syntax.ForClause:
		r.inner(c.Loop, st)
		r.loop(c, func(st *state) {
			r.forEach(c, st)
			r.stmts(c.Do, st)
		}, st)
	case *syntax.CaseClause:
		r.inner(c.Word, st)
		r.caseClause(c, st)
	case *syntax.FuncDecl:
		r.function(c, st)
	case *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause:
		r.inner(c, st)
	case *syntax.DeclClause:
		r.declare(c, st)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, st)
		}
	case *syntax.CoprocClause:
		inside := st.copy()
		inside.in = input{kind: inputUnknown}
		r.stmt(c.Stmt, inside)
	default:
		r.unread("it holds something a reader of bash does not know")
	}
}

// inner reads the substitutions inside a node.
func (r *reader) inner(n syntax.Node, st *state) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.stmts(n.Stmts, st.copy())
			return false
		case *syntax.ProcSubst:
			inside := st.copy()
			if n.Op == syntax.CmdOut {
				inside.in = input{kind: inputUnknown, download: st.in.download}
			}
			r.stmts(n.Stmts, inside)
			return false
		}
		return true
	})
}

func (r *reader) binary(c *syntax.BinaryCmd, st *state) {
	switch c.Op {
	case syntax.AndStmt:
		before := slices.Clone(st.also)
		r.stmt(c.X, st)
		failed, reached := st.also, st.dir
		if st.dir != "" {
			st.also = before // it goes on only when the cd worked
		}
		skipped := st.copy()
		r.stmt(c.Y, st)
		st.join(skipped)
		if reached != "" {
			st.maybe(failed)
		}
	case syntax.OrStmt:
		before := st.copy()
		r.stmt(c.X, st)
		after := st.copy()
		r.stmt(c.Y, before)
		if leaves(c.Y) {
			if st.dir != "" {
				st.also = before.also
			}
			return
		}
		st.join(before)
		st.join(after)
	default:
		r.pipe(c, st)
	}
}

// leaves tells whether a statement surely ends the line or the function.
func leaves(s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && (c.Args[0].Lit() == "exit" || c.Args[0].Lit() == "return")
	case *syntax.Block:
		return len(c.Stmts) > 0 && leaves(c.Stmts[len(c.Stmts)-1])
	}
	return false
}

func (r *reader) pipe(c *syntax.BinaryCmd, st *state) {
	left, right := st.copy(), st.copy()
	from := len(r.out.Parts)
	r.stmt(c.X, left)
	mid := len(r.out.Parts)
	right.in = input{kind: inputUnknown, download: r.downloads(from, mid)}
	for _, n := range r.notes[from:mid] {
		right.in.keys += n.keys
	}
	if text, ok := r.says(c.X, st); ok {
		right.in.kind, right.in.text = inputText, text
	}
	r.stmt(c.Y, right)
	if right.in.download {
		// What comes behind it in the pipe may still be the download.
		for i := mid; i < len(r.notes); i++ {
			if r.notes[i].program != "" && passesOn[r.notes[i].program] {
				r.notes[i].download = true
			}
		}
	}
}

// passesOn are programs whose output is what they read.
var passesOn = map[string]bool{
	"cat": true, "tee": true, "head": true, "tail": true, "sed": true, "awk": true, "grep": true, "tr": true, "base64": true, "gunzip": true,
	"gzip": true, "zcat": true, "xz": true, "bzip2": true, "zstd": true, "openssl": true, "jq": true, "cut": true, "sort": true, "rev": true,
	"perl": true, "python": true, "python3": true, "tac": true, "iconv": true, "dd": true, "pv": true, "xxd": true, "uniq": true, "gpg": true,
}

// says is the text a statement surely writes: echo and printf of known words.
func (r *reader) says(s *syntax.Stmt, st *state) (string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(call.Assigns) > 0 || len(s.Redirs) > 0 {
		return "", false
	}
	args := r.words(call.Args, st)
	text := ""
	for i, v := range args {
		if !v.known {
			return "", false
		}
		if i > 1 {
			text += " "
		}
		if i > 0 {
			text += v.text
		}
	}
	switch {
	case args[0].text == "echo" && !r.defined["echo"] && args[1].prefix != "" && args[1].prefix[0] != '-':
		return text, !hasBackslash(text)
	case args[0].text == "printf" && !r.defined["printf"] && len(args) == 2:
		return text, !hasBackslash(text) && !slices.Contains([]byte(text), '%')
	}
	return "", false
}

func hasBackslash(s string) bool { return slices.Contains([]byte(s), '\\') }

// downloads tells whether one of the parts fetches something.
func (r *reader) downloads(from, to int) bool {
	return slices.ContainsFunc(r.notes[from:to], func(n note) bool { return n.download })
}

func (r *reader) ifClause(c *syntax.IfClause, st *state) {
	r.stmts(c.Cond, st) // of an else there is none
	then := st.copy()
	r.stmts(c.Then, then)
	if c.Else != nil {
		r.ifClause(c.Else, st)
	}
	if len(c.Cond) == 0 { // the else itself
		*st = *then
		return
	}
	st.join(then)
}

// loop reads the body of a loop once, as it is in any round.
func (r *reader) loop(n syntax.Node, body func(*state), st *state) {
	if moves(n) {
		st.lost()
	}
	before := st.copy()
	inside := st.copy()
	for name := range inside.funcs {
		if defines(n, name) {
			delete(inside.funcs, name)
		}
	}
	body(inside)
	st.join(inside)
	st.vars = before.vars // set once: what the body sets may never be set
}

func (r *reader) caseClause(c *syntax.CaseClause, st *state) {
	before := st.copy()
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.inner(p, before)
		}
		// With ;& one arm goes on in the next.
		branch := before.copy()
		r.stmts(item.Stmts, branch)
		st.join(branch)
		if item.Op != syntax.Break {
			before.join(branch)
		}
	}
}

// moves tells whether a part of the tree may change the folder of the shell.
func moves(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				switch name := wordText(n.Args[0]); name {
				case "cd", "pushd", "popd", "eval", "source", ".", "builtin", "command", "":
					found = found || name != "command" || len(n.Args) > 1 && wordText(n.Args[1]) == "cd"
				}
			}
		}
		return !found
	})
	return found
}

func defines(n syntax.Node, name string) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil && f.Name.Value == name {
			found = true
		}
		return !found
	})
	return found
}

// function reads the body of a function where it is declared: its parts stand
// for every call.
func (r *reader) function(c *syntax.FuncDecl, st *state) {
	if c.Name == nil || c.Body == nil {
		r.unread("it declares a function without a name")
		return
	}
	name := c.Name.Value
	if r.bomb(c) {
		r.find(Finding{Part: -1, Why: "the function " + quote(name) + " starts itself again and again until the machine stops"})
	}
	inside := &state{dir: st.dir, also: slices.Clone(st.also), vars: map[string]string{}, funcs: map[string]bool{}, in: input{kind: inputUnknown}}
	inside.lostIf(r.wanders)
	r.stmt(c.Body, inside)
	st.funcs[name] = true
}

// lostIf: a function runs wherever the line is when it calls it.
func (st *state) lostIf(wanders bool) {
	if wanders {
		st.lost()
	}
}

// bomb tells whether a function starts itself beside itself.
func (r *reader) bomb(c *syntax.FuncDecl) bool {
	calls := func(n syntax.Node) bool {
		found := false
		syntax.Walk(n, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && wordText(call.Args[0]) == c.Name.Value {
				found = true
			}
			return !found
		})
		return found
	}
	found := false
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			found = found || (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && calls(n)
		case *syntax.Stmt:
			found = found || n.Background && calls(n)
		}
		return !found
	})
	return found
}

// declare reads export, declare, local, readonly, typeset.
func (r *reader) declare(c *syntax.DeclClause, st *state) {
	var options []value
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			options = append(options, r.value(a.Value, st))
		}
	}
	flags := declareFlags(options)
	for _, a := range c.Args {
		if a.Name != nil && a.Array == nil {
			v := value{known: true}
			if a.Value != nil {
				v = r.value(a.Value, st)
			}
			r.declared(a.Name.Value, v, flags)
		}
		r.assign(a, st, c.Variant.Value == "export" || c.Variant.Value == "declare" || c.Variant.Value == "typeset", flags)
	}
	if len(c.Args) == 0 {
		r.add(Part{Kind: Simple, Words: []Word{{Text: c.Variant.Value, Known: true}}, Dir: st.dir, Free: true, Risk: spec.RiskRead, Why: "lists variables"}, note{})
	}
}
