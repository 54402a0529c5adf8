package script

import (
	"sort"
	"strings"

	"go.starlark.net/syntax"
)

// registering maps each registering function to the keyword of its name; "" is
// a function without one.
var registering = map[string]string{
	"on": "event", "tool": "name", "command": "name", "provide": "service", "effect": "",
	"surface": "name", "gate": "name", "render": "tool_or_glob", "strategy": "name",
	"case": "name", "variant": "name", "metric": "name", "grader": "name",
}

// capabilityModules and capabilityFunctions are the names whose use needs a word.
var (
	capabilityModules   = map[string]bool{"fs": true, "http": true, "model": true, "env": true}
	capabilityFunctions = map[string]bool{"exec": true, "prompt": true, "answer_question": true, "allow": true}
)

// scan reads registrations, events and capabilities off the tree, and returns
// the services that are given to provide; "" is a computed one.
func (d *Decl) scan(f *syntax.File, consts constants) (provided map[string]bool) {
	own := topLevel(f) // a name the file itself defines is not the host's
	events, caps, sure := map[string]bool{}, map[string]bool{}, certain(f)
	provided = map[string]bool{}
	dotted := map[*syntax.Ident]bool{}
	called := map[*syntax.Ident]bool{}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			id, ok := n.Fn.(*syntax.Ident)
			if !ok || own[id.Name] {
				break
			}
			keyword, ok := registering[id.Name]
			if !ok {
				break
			}
			called[id] = true
			name := ""
			if keyword != "" {
				name = argument(n, keyword, consts)
			}
			d.Registrations = append(d.Registrations, Registration{id.Name, name, positionOf(id.NamePos), positionOf(n.Lparen), sure[n]})
			switch id.Name {
			case "on":
				events[name] = true
			case "provide":
				provided[name] = true
			}
		case *syntax.DotExpr:
			if id, ok := n.X.(*syntax.Ident); ok && capabilityModules[id.Name] && !own[id.Name] {
				caps[id.Name+"."+n.Name.Name] = true
				dotted[id] = true
			}
			// Walk visits the attribute's name as an identifier too.
			dotted[n.Name] = true
		case *syntax.BinaryExpr:
			if n.Op == syntax.EQ { // NAME = VALUE of a call or a parameter
				if id, ok := n.X.(*syntax.Ident); ok {
					dotted[id] = true
				}
			}
		case *syntax.Ident:
			if !dotted[n] && !own[n.Name] && (capabilityFunctions[n.Name] || capabilityModules[n.Name]) {
				caps[n.Name] = true
			}
			if n.Name == "on" && !called[n] && !dotted[n] && !own["on"] {
				events[""] = true // kept under another name: it may subscribe to anything
			}
			if n.Name == "provide" && !called[n] && !dotted[n] && !own["provide"] {
				provided[""] = true
			}
		}
		return true
	})
	d.Events, d.Capabilities = sorted(events), sorted(caps)
	return provided
}

// argument returns the first argument or that of the keyword, when constant.
func argument(call *syntax.CallExpr, keyword string, consts constants) string {
	for i, a := range call.Args {
		if b, ok := a.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			if id, ok := b.X.(*syntax.Ident); ok && id.Name == keyword {
				return constantText(b.Y, consts)
			}
			continue
		}
		if u, ok := a.(*syntax.UnaryExpr); ok && (u.Op == syntax.STAR || u.Op == syntax.STARSTAR) {
			continue
		}
		if i == 0 {
			return constantText(a, consts)
		}
	}
	return ""
}

func constantText(x syntax.Expr, consts constants) string {
	v, err := consts.fold(x)
	if s, ok := v.(string); err == nil && ok {
		return s
	}
	return ""
}

// topLevel returns the names the file binds at its top level.
func topLevel(f *syntax.File) map[string]bool {
	own := map[string]bool{}
	var bind func(x syntax.Expr)
	bind = func(x syntax.Expr) {
		switch x := unparen(x).(type) {
		case *syntax.Ident:
			own[x.Name] = true
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
	for _, st := range f.Stmts {
		switch st := st.(type) {
		case *syntax.AssignStmt:
			bind(st.LHS)
		case *syntax.DefStmt:
			own[st.Name.Name] = true
		case *syntax.LoadStmt:
			for _, to := range st.To {
				own[to.Name] = true
			}
		}
	}
	return own
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// docOf is the doc string of a file, else its first unbroken block of # lines.
func docOf(f *syntax.File) string {
	if len(f.Stmts) == 0 {
		if c := f.Comments(); c != nil {
			return commentText(c.After, 1<<30)
		}
		return ""
	}
	if s, ok := docString(f.Stmts[0]); ok {
		return s
	}
	// A comment hangs on the first node in pre-order that starts after it.
	first := syntax.Start(f.Stmts[0])
	var lines []syntax.Comment
	syntax.Walk(f.Stmts[0], func(n syntax.Node) bool {
		if n == nil {
			return true
		}
		if c := n.Comments(); c != nil {
			lines = append(lines, c.Before...)
		}
		return true
	})
	return commentText(lines, first.Line)
}

func docString(st syntax.Stmt) (string, bool) {
	e, ok := st.(*syntax.ExprStmt)
	if !ok {
		return "", false
	}
	l, ok := unparen(e.X).(*syntax.Literal)
	if !ok || l.Token != syntax.STRING {
		return "", false
	}
	s, ok := l.Value.(string)
	return trimDoc(s), ok
}

// trimDoc takes the common indentation and outer blank lines off.
func trimDoc(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// commentText joins the first unbroken block of whole-line comments before the
// line; a #! line does not count.
func commentText(list []syntax.Comment, before int32) string {
	var out []string
	last := int32(0)
	for _, c := range list {
		if c.Start.Line >= before || c.Start.Line == 1 && strings.HasPrefix(c.Text, "#!") {
			continue
		}
		if last != 0 && c.Start.Line != last+1 {
			break
		}
		last = c.Start.Line
		out = append(out, strings.TrimSpace(strings.TrimPrefix(c.Text, "#")))
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
