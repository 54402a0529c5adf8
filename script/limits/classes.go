package limits

import "go.starlark.net/syntax"

// A class is what is known of an expression before it runs. It only decides
// which guards can be left out, so that loops over numbers cost what they did.
type class uint8

const (
	unknown class = iota
	number        // an int or float; an int may be large
	small         // a float, or an int of about 64 bits
)

// scope is what is known inside one function.
type scope struct {
	vars map[string]class // of the function's own variables
	// memo holds the classes of operations once vars are final, so that a long
	// chain of them is not walked again for each of its links.
	memo map[*syntax.BinaryExpr]class
}

func newScope() *scope { return &scope{memo: map[*syntax.BinaryExpr]class{}} }

// source is one assignment of a variable: an expression or a known class.
type source struct {
	expr  syntax.Expr
	known class
}

// maxPasses bounds the work of classify: what is not settled then is unknown.
const maxPasses = 20

// classify finds the variables of a function that only ever hold numbers. It
// starts by believing it of all of them and takes it back until nothing changes.
func (w *rewriter) classify(params []syntax.Expr, body []syntax.Stmt) *scope {
	c := &collector{w: w, from: map[string][]source{}}
	for _, p := range params {
		c.unknown(p)
	}
	c.stmts(body)
	s := &scope{vars: map[string]class{}}
	for name := range c.from {
		s.vars[name] = small
	}
	for range maxPasses {
		if !w.refine(c.from, s) {
			s.memo = map[*syntax.BinaryExpr]class{}
			return s
		}
	}
	return newScope()
}

// refine takes back what the sources of a variable contradict.
func (w *rewriter) refine(from map[string][]source, s *scope) (changed bool) {
	for name, list := range from {
		now := s.vars[name]
		for _, src := range list {
			k := src.known
			if src.expr != nil {
				k = w.classOf(src.expr, s)
			}
			now = min(now, k)
		}
		if now != s.vars[name] {
			s.vars[name], changed = now, true
		}
	}
	return changed
}

// collector gathers the assignments of one function. A name that a lambda, a
// comprehension or a nested function binds too is not told apart: it is unknown.
type collector struct {
	w    *rewriter
	from map[string][]source
}

func (c *collector) add(name string, s source) { c.from[name] = append(c.from[name], s) }

func (c *collector) unknown(target syntax.Expr) {
	for _, id := range idents(target, nil) {
		c.add(id.Name, source{})
	}
}

func (c *collector) stmts(list []syntax.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *collector) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.AssignStmt:
		c.assign(s)
		c.inner(s.LHS)
		c.inner(s.RHS)
	case *syntax.DefStmt:
		c.unknown(s.Name)
		for _, p := range s.Params {
			if b, ok := p.(*syntax.BinaryExpr); ok {
				c.inner(b.Y) // defaults are computed in this function
			}
		}
	case *syntax.ForStmt:
		c.loop(s.Vars, s.X)
		c.inner(s.X)
		c.stmts(s.Body)
	case *syntax.WhileStmt:
		c.inner(s.Cond)
		c.stmts(s.Body)
	case *syntax.IfStmt:
		c.inner(s.Cond)
		c.stmts(s.True)
		c.stmts(s.False)
	case *syntax.ExprStmt:
		c.inner(s.X)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			c.inner(s.Result)
		}
	}
}

func (c *collector) assign(s *syntax.AssignStmt) {
	id, ok := unparen(s.LHS).(*syntax.Ident)
	switch {
	case !ok && s.Op == syntax.EQ:
		c.unknown(s.LHS)
	case !ok:
	case s.Op == syntax.EQ:
		c.add(id.Name, source{expr: s.RHS})
	default:
		op := s.Op - syntax.PLUS_EQ + syntax.PLUS
		c.add(id.Name, source{expr: &syntax.BinaryExpr{X: id, Op: op, Y: s.RHS}})
	}
}

// loop knows what range and enumerate hand out, unless the file rebinds them.
func (c *collector) loop(vars, over syntax.Expr) {
	call, ok := unparen(over).(*syntax.CallExpr)
	if ok {
		fn, _ := call.Fn.(*syntax.Ident)
		target := unparen(vars)
		if id, ok := target.(*syntax.Ident); ok && c.w.builtin(fn, "range") {
			c.add(id.Name, source{known: small})
			return
		}
		if t, ok := target.(*syntax.TupleExpr); ok && len(t.List) == 2 && len(call.Args) == 1 && c.w.builtin(fn, "enumerate") {
			if id, ok := t.List[0].(*syntax.Ident); ok {
				c.add(id.Name, source{known: small})
				c.unknown(t.List[1])
				return
			}
		}
	}
	c.unknown(vars)
}

// inner finds names that lambdas and comprehensions of e bind.
func (c *collector) inner(e syntax.Expr) {
	syntax.Walk(e, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LambdaExpr:
			for _, p := range n.Params {
				c.unknown(p)
			}
		case *syntax.ForClause:
			c.unknown(n.Vars)
		}
		return true
	})
}

// idents returns the names a target or parameter binds.
func idents(e syntax.Expr, out []*syntax.Ident) []*syntax.Ident {
	switch e := e.(type) {
	case *syntax.Ident:
		return append(out, e)
	case *syntax.ParenExpr:
		return idents(e.X, out)
	case *syntax.UnaryExpr:
		if e.X != nil {
			return idents(e.X, out)
		}
	case *syntax.BinaryExpr: // parameter with a default
		return idents(e.X, out)
	case *syntax.TupleExpr:
		for _, x := range e.List {
			out = idents(x, out)
		}
	case *syntax.ListExpr:
		for _, x := range e.List {
			out = idents(x, out)
		}
	}
	return out
}

// boundNames collects every name the file binds in any scope.
func boundNames(f *syntax.File) map[string]bool {
	bound := map[string]bool{}
	bind := func(e syntax.Expr) {
		for _, id := range idents(e, nil) {
			bound[id.Name] = true
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			bind(n.LHS)
		case *syntax.ForStmt:
			bind(n.Vars)
		case *syntax.ForClause:
			bind(n.Vars)
		case *syntax.DefStmt:
			bind(n.Name)
			for _, p := range n.Params {
				bind(p)
			}
		case *syntax.LambdaExpr:
			for _, p := range n.Params {
				bind(p)
			}
		case *syntax.LoadStmt:
			// From holds the names bound here, To those of the other file;
			// taking both is safe whichever way round they are.
			for i := range n.From {
				bound[n.From[i].Name], bound[n.To[i].Name] = true, true
			}
		}
		return true
	})
	return bound
}

// builtin tells whether id can only mean the builtin of that name.
func (w *rewriter) builtin(id *syntax.Ident, name string) bool {
	return id != nil && id.Name == name && !w.bound[name]
}

func (w *rewriter) classOf(e syntax.Expr, s *scope) class {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return w.classOf(e.X, s)
	case *syntax.Literal:
		switch e.Value.(type) {
		case int64, float64:
			return small
		}
		if e.Token == syntax.INT {
			return number
		}
	case *syntax.Ident:
		return s.vars[e.Name]
	case *syntax.UnaryExpr:
		switch e.Op {
		case syntax.MINUS, syntax.PLUS:
			return w.classOf(e.X, s)
		}
	case *syntax.CondExpr:
		return min(w.classOf(e.True, s), w.classOf(e.False, s))
	case *syntax.CallExpr:
		fn, _ := e.Fn.(*syntax.Ident)
		switch {
		case w.builtin(fn, "len"), w.builtin(fn, "ord"), w.builtin(fn, "float"):
			return small
		case w.builtin(fn, "int"):
			return number
		}
	case *syntax.BinaryExpr:
		if c, ok := s.memo[e]; ok {
			return c
		}
		c := arithmetic(e.Op, w.classOf(e.X, s), w.classOf(e.Y, s))
		if s.memo != nil {
			s.memo[e] = c
		}
		return c
	}
	return unknown
}

// arithmetic is the class of x op y where the operation succeeds at all.
func arithmetic(op syntax.Token, x, y class) class {
	both := min(x, y)
	switch op {
	case syntax.PLUS, syntax.MINUS:
		return min(number, max(x, y))
	case syntax.STAR, syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT:
		return min(number, both)
	case syntax.SLASHSLASH, syntax.GTGT, syntax.SLASH:
		if both == unknown {
			return unknown
		}
		return x
	case syntax.PERCENT:
		switch {
		case x == unknown:
			return unknown
		case y == small:
			return small
		}
		return min(number, both)
	}
	return unknown
}
