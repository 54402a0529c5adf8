package script

import (
	"sort"
	"strings"

	"go.starlark.net/syntax"
)

// Literals are the commands, hosts and paths that stand in the file as
// constants, each behind the function it is given to: what a person can read
// before anything runs. Computed ones are not among them.
func Literals(p *Program) []string {
	found := map[string]bool{}
	files := []*Program{p}
	for _, name := range p.Files() {
		files = append(files, p.libs[name])
	}
	for _, f := range files {
		consts := f.constants()
		syntax.Walk(f.file, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				if name := capabilityCall(call.Fn); name != "" && len(call.Args) > 0 {
					if text := literalText(call.Args[0], consts); text != "" {
						found[name+" "+text] = true
					}
				}
			}
			return true
		})
	}
	list := make([]string, 0, len(found))
	for text := range found {
		list = append(list, text)
	}
	sort.Strings(list)
	return list
}

func capabilityCall(fn syntax.Expr) string {
	switch fn := fn.(type) {
	case *syntax.Ident:
		if capabilityFunctions[fn.Name] {
			return fn.Name
		}
	case *syntax.DotExpr:
		if id, ok := fn.X.(*syntax.Ident); ok && capabilityModules[id.Name] {
			return id.Name + "." + fn.Name.Name
		}
	}
	return ""
}

func literalText(x syntax.Expr, consts constants) string {
	v, err := consts.fold(x)
	if err != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var words []string
		for _, w := range v {
			if s, ok := w.(string); ok {
				words = append(words, s)
			}
		}
		return strings.Join(words, " ")
	}
	return ""
}

// constants folds the top-level assignments of the file.
func (p *Program) constants() constants {
	consts := constants{}
	for _, st := range p.file.Stmts {
		if a, ok := st.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if id, ok := unparen(a.LHS).(*syntax.Ident); ok {
				if v, err := consts.fold(a.RHS); err == nil {
					consts[id.Name] = v
				}
			}
		}
	}
	return consts
}
