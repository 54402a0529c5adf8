package limits

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// Rewrite replaces, in place, every operation of f that could grow without bound
// by a checked one. It must run after the declarations were read and before f is
// resolved, and the resolver must know Names.
//
// An operand is handed to a guard and the operator itself stays:
//
//	a + b    ->  a + (guard >> b)
//	a == b   ->  (guard >> a) == b
//	x[i] *= y ->  x[i] *= (guard >> y)
//	s.join   ->  (guard >> s)
//
// The guard gives back most operands as they are, so the operator runs as ever;
// one that could do harm comes back in a wrapper, to which the interpreter leaves
// the operation. So operands are evaluated once and in their order, positions and
// tracebacks stay, and no call is made.
func Rewrite(f *syntax.File) {
	w := &rewriter{bound: boundNames(f)}
	w.stmts(f.Stmts, newScope())
}

type rewriter struct {
	bound map[string]bool // every name the file binds anywhere
}

// guarded hands e to the named guard; pos is where an error of it is shown.
func guarded(name string, pos syntax.Position, e syntax.Expr) syntax.Expr {
	return &syntax.BinaryExpr{X: &syntax.Ident{NamePos: begin(e), Name: name}, OpPos: pos, Op: syntax.GTGT, Y: e}
}

// begin is syntax.Start, but does not look for the end too: a chain of operators
// would be walked again for each of its links. It stops at the last guard.
func begin(e syntax.Expr) syntax.Position {
	for {
		switch x := e.(type) {
		case *syntax.BinaryExpr:
			e = x.X
		case *syntax.CallExpr:
			e = x.Fn
		case *syntax.DotExpr:
			e = x.X
		case *syntax.IndexExpr:
			e = x.X
		case *syntax.SliceExpr:
			e = x.X
		case *syntax.CondExpr:
			e = x.True
		case *syntax.TupleExpr:
			if x.Lparen.IsValid() || len(x.List) == 0 {
				return x.Lparen
			}
			e = x.List[0]
		default:
			return syntax.Start(e)
		}
	}
}

func (w *rewriter) stmts(list []syntax.Stmt, sc *scope) {
	for _, s := range list {
		w.stmt(s, sc)
	}
}

func (w *rewriter) stmt(s syntax.Stmt, sc *scope) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		w.assign(s, sc)
	case *syntax.DefStmt:
		w.params(s.Params, sc)
		w.stmts(s.Body, w.classify(s.Params, s.Body))
		s.Body = checkVarargs(s.Params, s.Body)
	case *syntax.ExprStmt:
		s.X = w.expr(s.X, sc)
	case *syntax.ForStmt:
		s.X = w.expr(s.X, sc)
		w.target(s.Vars, sc)
		w.stmts(s.Body, sc)
	case *syntax.WhileStmt:
		s.Cond = w.expr(s.Cond, sc)
		w.stmts(s.Body, sc)
	case *syntax.IfStmt:
		s.Cond = w.expr(s.Cond, sc)
		w.stmts(s.True, sc)
		w.stmts(s.False, sc)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = w.expr(s.Result, sc)
		}
	}
}

func (w *rewriter) assign(s *syntax.AssignStmt, sc *scope) {
	w.target(s.LHS, sc)
	if s.Op == syntax.EQ {
		if t, ok := unparen(s.RHS).(*syntax.TupleExpr); ok && isPattern(s.LHS) {
			w.exprs(t.List, sc) // taken apart at once, never kept
			return
		}
		s.RHS = w.expr(s.RHS, sc)
		return
	}
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	x, y := w.classOf(s.LHS, sc), w.classOf(s.RHS, sc)
	harmless := w.harmless(op, s.LHS, s.RHS, x, y)
	s.RHS = w.operand(op, s.RHS, sc, !harmless)
	if harmless {
		return
	}
	switch op {
	case syntax.PERCENT, syntax.LTLT:
		w.assignLeft(s, op)
	case syntax.PLUS, syntax.PIPE: // these change a list or dict itself
		s.RHS = guarded(operatorGuard(op)+"=", s.OpPos, s.RHS)
	default:
		s.RHS = guarded(operatorGuard(op), s.OpPos, s.RHS)
	}
}

// assignLeft rewrites x %= y and x <<= y, whose guard takes the left operand. A
// variable is simply read first; of d[k] and v.f, the guard stands for d or v, so
// that neither is evaluated twice.
func (w *rewriter) assignLeft(s *syntax.AssignStmt, op syntax.Token) {
	switch t := unparen(s.LHS).(type) {
	case *syntax.Ident:
		read := &syntax.Ident{NamePos: t.NamePos, Name: t.Name}
		s.RHS = &syntax.BinaryExpr{X: guarded(operatorGuard(op), s.OpPos, read), OpPos: s.OpPos, Op: op, Y: s.RHS}
		s.Op = syntax.EQ
	case *syntax.IndexExpr:
		t.X = guarded(targetGuard(op), t.Lbrack, t.X)
	case *syntax.DotExpr:
		t.X = guarded(targetGuard(op), t.Dot, t.X)
	}
}

// target rewrites what is evaluated inside the left side of an assignment.
func (w *rewriter) target(e syntax.Expr, sc *scope) {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		w.target(e.X, sc)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			w.target(x, sc)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			w.target(x, sc)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = w.expr(e.X, sc), w.expr(e.Y, sc)
	case *syntax.DotExpr:
		e.X = w.expr(e.X, sc)
	}
}

func (w *rewriter) params(params []syntax.Expr, sc *scope) {
	for _, p := range params {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			b.Y = w.expr(b.Y, sc)
		}
	}
}

func (w *rewriter) exprs(list []syntax.Expr, sc *scope) {
	for i, e := range list {
		list[i] = w.expr(e, sc)
	}
}

func (w *rewriter) expr(e syntax.Expr, sc *scope) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return w.binary(e, sc)
	case *syntax.CallExpr:
		w.call(e, sc)
	case *syntax.DotExpr:
		e.X = w.expr(e.X, sc)
		if guardedMethods[e.Name.Name] {
			return guarded(methodGuard(e.Name.Name), e.Dot, e.X)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = w.expr(e.X, sc), w.expr(e.Y, sc)
	case *syntax.SliceExpr:
		e.X = w.expr(e.X, sc)
		for _, p := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
			if *p != nil {
				*p = w.expr(*p, sc)
			}
		}
	case *syntax.ParenExpr:
		e.X = w.expr(e.X, sc)
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = w.expr(e.X, sc)
		}
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = w.expr(e.Cond, sc), w.expr(e.True, sc), w.expr(e.False, sc)
	case *syntax.ListExpr:
		w.exprs(e.List, sc)
	case *syntax.TupleExpr:
		check := w.severalNested(e.List, sc)
		w.exprs(e.List, sc)
		if check {
			return guarded(tupleGuard, begin(e), e)
		}
	case *syntax.DictExpr:
		for _, x := range e.List {
			w.entry(x, sc)
		}
	case *syntax.Comprehension:
		w.comprehension(e, sc)
	case *syntax.LambdaExpr:
		w.params(e.Params, sc)
		e.Body = w.expr(e.Body, sc)
		checkLambdaVarargs(e)
	}
	return e
}

func (w *rewriter) entry(e syntax.Expr, sc *scope) {
	if d, ok := e.(*syntax.DictEntry); ok {
		d.Key, d.Value = w.expr(d.Key, sc), w.expr(d.Value, sc)
	}
}

func (w *rewriter) comprehension(e *syntax.Comprehension, sc *scope) {
	if e.Curly {
		w.entry(e.Body, sc)
	} else {
		e.Body = w.expr(e.Body, sc)
	}
	for _, c := range e.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			w.target(c.Vars, sc)
			c.X = w.expr(c.X, sc)
		case *syntax.IfClause:
			c.Cond = w.expr(c.Cond, sc)
		}
	}
}

func (w *rewriter) call(e *syntax.CallExpr, sc *scope) {
	if d, ok := e.Fn.(*syntax.DotExpr); ok && harmlessCall(d.Name.Name, e.Args) {
		d.X = w.expr(d.X, sc)
	} else {
		e.Fn = w.expr(e.Fn, sc)
	}
	for i, arg := range e.Args {
		switch a := arg.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = w.expr(a.Y, sc)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR {
				a.X = guarded(starGuard, a.OpPos, w.expr(a.X, sc))
				continue
			}
		}
		e.Args[i] = w.expr(arg, sc)
	}
}

func (w *rewriter) binary(e *syntax.BinaryExpr, sc *scope) syntax.Expr {
	if e.Op == syntax.PLUS {
		w.sum(e, sc, false)
		return e
	}
	harmless := w.harmless(e.Op, e.X, e.Y, w.classOf(e.X, sc), w.classOf(e.Y, sc))
	e.X, e.Y = w.expr(e.X, sc), w.operand(e.Op, e.Y, sc, false)
	if harmless {
		return e
	}
	switch e.Op {
	case syntax.STAR, syntax.PIPE, syntax.CIRCUMFLEX:
		e.Y = guarded(operatorGuard(e.Op), e.OpPos, e.Y)
	case syntax.PERCENT, syntax.LTLT:
		// These take any right operand, so only the left one can be told apart.
		e.X = guarded(operatorGuard(e.Op), e.OpPos, e.X)
	case syntax.IN, syntax.NOT_IN:
		e.Y = guarded(memberGuard, e.OpPos, e.Y)
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		e.X = guarded(compareGuard, e.OpPos, e.X)
	}
	return e
}

// sum rewrites a + b + c. Short literals among the operands are left alone where
// another addition of the sum is guarded, or the sum as a whole: later is true if
// what is made of it is.
func (w *rewriter) sum(e *syntax.BinaryExpr, sc *scope, later bool) {
	var adds []*syntax.BinaryExpr // outermost first
	for next := e; next != nil; {
		adds = append(adds, next)
		inner, _ := unparen(next.X).(*syntax.BinaryExpr)
		if inner == nil || inner.Op != syntax.PLUS {
			break
		}
		next = inner
	}
	first := adds[len(adds)-1]
	allText, values := isShortText(first.X), 1
	if allText {
		values = 0
	}
	var open *syntax.BinaryExpr // the last addition of a literal left unguarded
	guard := map[*syntax.BinaryExpr]bool{}
	for _, add := range slices.Backward(adds) {
		text := isShortText(add.Y)
		if !text {
			values++
		}
		if w.harmless(add.Op, add.X, add.Y, w.classOf(add.X, sc), w.classOf(add.Y, sc)) || text && allText {
			continue
		}
		allText = false
		if text {
			open = add
		} else {
			guard[add] = true
		}
	}
	if later && values <= 1 {
		clear(guard)
	} else if open != nil && len(guard) == 0 && !later {
		guard[open] = true
	}
	first.X = w.expr(first.X, sc)
	for _, add := range slices.Backward(adds) {
		add.Y = w.expr(add.Y, sc)
		if guard[add] {
			add.Y = guarded(operatorGuard(syntax.PLUS), add.OpPos, add.Y)
		}
	}
}

// operand rewrites the right side of an operator. The tuple of a format is read
// by the guard of % itself, so building it is not checked twice.
func (w *rewriter) operand(op syntax.Token, e syntax.Expr, sc *scope, later bool) syntax.Expr {
	switch x := unparen(e).(type) {
	case *syntax.TupleExpr:
		if op == syntax.PERCENT {
			w.exprs(x.List, sc)
			return e
		}
	case *syntax.BinaryExpr:
		if op == syntax.PLUS && x.Op == syntax.PLUS {
			w.sum(x, sc, later)
			return e
		}
	}
	return w.expr(e, sc)
}

// checkVarargs makes the tuple of a *args parameter pass the guard of tuples: a
// call builds it without any syntax that could be rewritten.
func checkVarargs(params []syntax.Expr, body []syntax.Stmt) []syntax.Stmt {
	id := varargs(params)
	if id == nil {
		return body
	}
	check := &syntax.AssignStmt{
		OpPos: id.NamePos, Op: syntax.EQ,
		LHS: &syntax.Ident{NamePos: id.NamePos, Name: id.Name},
		RHS: guarded(tupleGuard, id.NamePos, &syntax.Ident{NamePos: id.NamePos, Name: id.Name}),
	}
	at := 0
	if len(body) > 0 && isDocString(body[0]) {
		at = 1
	}
	out := make([]syntax.Stmt, 0, len(body)+1)
	out = append(out, body[:at]...)
	out = append(out, check)
	return append(out, body[at:]...)
}

func checkLambdaVarargs(e *syntax.LambdaExpr) {
	id := varargs(e.Params)
	if id == nil {
		return
	}
	pos := id.NamePos
	// A one-element tuple is true, so the body is always what is chosen.
	tested := &syntax.TupleExpr{Lparen: pos, Rparen: pos, List: []syntax.Expr{
		guarded(tupleGuard, pos, &syntax.Ident{NamePos: pos, Name: id.Name}),
	}}
	none := &syntax.Literal{Token: syntax.INT, TokenPos: pos, Raw: "0", Value: int64(0)}
	e.Body = &syntax.CondExpr{If: pos, Cond: tested, True: e.Body, ElsePos: pos, False: none}
}

func varargs(params []syntax.Expr) *syntax.Ident {
	for _, p := range params {
		if u, ok := p.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR {
			id, _ := u.X.(*syntax.Ident)
			return id
		}
	}
	return nil
}

func isDocString(s syntax.Stmt) bool {
	e, ok := s.(*syntax.ExprStmt)
	if !ok {
		return false
	}
	l, ok := e.X.(*syntax.Literal)
	return ok && l.Token == syntax.STRING
}

func isPattern(e syntax.Expr) bool {
	switch unparen(e).(type) {
	case *syntax.TupleExpr, *syntax.ListExpr:
		return true
	}
	return false
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// The names of guards hold no character of an identifier: no author can write one,
// and the resolver, which suggests names of some likeness, never comes near one.

func operatorGuard(op syntax.Token) string { return op.String() }

func targetGuard(op syntax.Token) string { return "[]" + op.String() }

// methodGuard writes the name in circled letters, which are symbols.
func methodGuard(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '_' {
			return '.'
		}
		return c - 'a' + 'ⓐ'
	}, name)
}

const (
	memberGuard  = "∈"
	compareGuard = "="
	tupleGuard   = "()"
	starGuard    = "*()"
)
