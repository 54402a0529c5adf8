package script

import "go.starlark.net/syntax"

// When a registering call runs, as far as it stands in the file.
type When int

// The times.
const (
	Perhaps  When = iota // under a condition, in a loop or in another function
	Applying             // whenever apply runs
	Reading              // whenever the file is read
)

// MayProvide tells whether something in the file could provide the service.
// Without it, apply is sure to leave a declared service unprovided.
func (p *Program) MayProvide(service string) bool {
	return len(p.loads) > 0 || p.provided[""] || p.provided[service]
}

// certain finds the calls that are sure to run, if nothing before them fails:
// statements of their own at the top level of the file and of apply.
func certain(f *syntax.File) map[*syntax.CallExpr]When {
	found := map[*syntax.CallExpr]When{}
	for _, st := range f.Stmts {
		if call := callIn(st); call != nil {
			found[call] = Reading
		}
		def, ok := st.(*syntax.DefStmt)
		if !ok || def.Name.Name != "apply" {
			continue
		}
		own := boundIn(def)
		for _, st := range def.Body {
			if mayReturn(st) {
				break
			}
			if call := callIn(st); call != nil && !own[calledName(call)] {
				found[call] = Applying
			}
		}
	}
	return found
}

// callIn is the call that a statement consists of, or whose result it assigns.
func callIn(st syntax.Stmt) *syntax.CallExpr {
	var x syntax.Expr
	switch st := st.(type) {
	case *syntax.ExprStmt:
		x = st.X
	case *syntax.AssignStmt:
		x = st.RHS
	default:
		return nil
	}
	call, _ := unparen(x).(*syntax.CallExpr)
	return call
}

func calledName(call *syntax.CallExpr) string {
	if id, ok := call.Fn.(*syntax.Ident); ok {
		return id.Name
	}
	return ""
}

// mayReturn tells whether what comes after the statement may not be reached.
func mayReturn(st syntax.Stmt) bool {
	switch st := st.(type) {
	case *syntax.ReturnStmt:
		return true
	case *syntax.IfStmt:
		return anyReturns(st.True) || anyReturns(st.False)
	case *syntax.ForStmt:
		return anyReturns(st.Body)
	}
	return false
}

func anyReturns(list []syntax.Stmt) bool {
	for _, st := range list {
		if mayReturn(st) {
			return true
		}
	}
	return false
}

// boundIn are the names a function gives a meaning of its own to, here or in
// what it defines.
func boundIn(def *syntax.DefStmt) map[string]bool {
	own := map[string]bool{}
	var bind func(x syntax.Expr)
	bind = func(x syntax.Expr) {
		switch x := unparen(x).(type) {
		case *syntax.Ident:
			own[x.Name] = true
		case *syntax.BinaryExpr: // a parameter with a default
			bind(x.X)
		case *syntax.UnaryExpr: // *args
			if x.X != nil {
				bind(x.X)
			}
		case *syntax.TupleExpr:
			for _, e := range x.List {
				bind(e)
			}
		case *syntax.ListExpr:
			for _, e := range x.List {
				bind(e)
			}
		}
	}
	syntax.Walk(def, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			bind(n.LHS)
		case *syntax.ForStmt:
			bind(n.Vars)
		case *syntax.DefStmt:
			own[n.Name.Name] = true
			for _, param := range n.Params {
				bind(param)
			}
		}
		return true
	})
	return own
}
