package script

import (
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

const (
	hintGlobals = "module globals are frozen after loading; keep state in apply() or state()"
	hintFrozen  = "what the host hands over is read-only and module globals are frozen after loading; change a copy, and keep state in apply() or state()"
	hintLoop    = "loop over a copy, such as list(d) or list(d.items())"
)

// hint explains the mistakes that Starlark's own words do not.
func (p *Program) hint(e *Error) string {
	switch {
	case strings.Contains(e.Msg, "frozen hash table"), strings.Contains(e.Msg, "frozen list"),
		strings.Contains(e.Msg, "frozen set"), strings.Contains(e.Msg, "frozen dict"):
		if p.globalChanged(e) {
			return hintGlobals
		}
		return hintFrozen
	case strings.HasPrefix(e.Msg, "local variable ") && strings.HasSuffix(e.Msg, " referenced before assignment"):
		name := strings.TrimSuffix(strings.TrimPrefix(e.Msg, "local variable "), " referenced before assignment")
		if p.isGlobal(e.File, name) {
			return "assigning makes " + name + " local to the function; " + hintGlobals
		}
	case strings.HasSuffix(e.Msg, "during iteration"):
		return hintLoop
	}
	return ""
}

func (p *Program) fileOf(path string) *syntax.File {
	if path == p.path {
		return p.file
	}
	for _, lib := range p.libs {
		if lib.path == path {
			return lib.file
		}
	}
	return nil
}

func (p *Program) isGlobal(path, name string) bool {
	f := p.fileOf(path)
	if f == nil {
		return false
	}
	m, ok := f.Module.(*resolve.Module)
	if !ok {
		return false
	}
	for _, g := range m.Globals {
		if g.First.Name == name {
			return true
		}
	}
	return false
}

// globalChanged tells whether the value that the line of e tries to change is
// reached from a module global by name.
func (p *Program) globalChanged(e *Error) bool {
	f := p.fileOf(e.File)
	if f == nil {
		return false
	}
	found := false
	check := func(x syntax.Expr) {
		id := root(x)
		if id == nil {
			return
		}
		b, ok := id.Binding.(*resolve.Binding)
		found = found || ok && b.Scope == resolve.Global
	}
	for _, st := range f.Stmts {
		start, end := st.Span()
		if int(start.Line) > e.Line || int(end.Line) < e.Line {
			continue
		}
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.AssignStmt:
				if int(n.OpPos.Line) == e.Line || int(syntax.Start(n).Line) == e.Line {
					check(n.LHS)
				}
			case *syntax.CallExpr:
				if dot, ok := n.Fn.(*syntax.DotExpr); ok && int(n.Lparen.Line) == e.Line {
					check(dot.X)
				}
			}
			return true
		})
	}
	return found
}

// root is the name at the left end of x.a[i].b, or nil.
func root(x syntax.Expr) *syntax.Ident {
	for {
		switch e := x.(type) {
		case *syntax.Ident:
			return e
		case *syntax.DotExpr:
			x = e.X
		case *syntax.IndexExpr:
			x = e.X
		case *syntax.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}
