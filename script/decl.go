package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"starling/script/value"
)

// Decl is what a file says of itself, read from its syntax tree before anything
// of it runs.
type Decl struct {
	Name, Path, Doc string
	Inject          []string // service keys it waits for; "key?" is optional
	Provides        []string
	Emits           []string
	Uses            []string // capability words
	Limits          Limits   // only what the file sets; see Limits.Full
	// Isolate maps a key to a realm: "" is a private one.
	Isolate      map[string]string
	ConfigSchema any // plain data, or nil
	FailClosed   bool
	Probes       []Probe

	Registrations []Registration
	// Events are the names given to on, sorted; a computed one counts as "".
	Events []string
	// Capabilities are the capability functions the file names, such as "exec" or
	// "fs.read", sorted; "fs" when the module is used as a value.
	Capabilities []string
}

// Probe is a call the host drives through the live chain after a load.
type Probe struct {
	Tool      string
	Arguments json.RawMessage // one JSON object
	Expect    string          // "blocked" or "allowed"
}

// Registration is one registering call that stands in the file.
type Registration struct {
	Kind string   // the function: "on", "tool", "command" …
	Name string   // "" when it is computed
	Pos  Position // of the function's name
	Call Position // of the parenthesis after it, where errors of the call point
	When When
}

// declared are the names of the declarations, in the order of the reference.
var declared = []string{"inject", "provides", "emits", "uses", "limits", "isolate", "config_schema", "fail_closed", "probes"}

func isDeclared(name string) bool {
	for _, d := range declared {
		if d == name {
			return true
		}
	}
	return false
}

// reader collects the declarations of one file and every error in them.
type reader struct {
	decl   *Decl
	consts constants
	found  map[string]any // declaration -> folded value
	errs   ErrorList
}

func (p *Program) readDecl() ErrorList {
	r := &reader{decl: &p.decl, consts: constants{}, found: map[string]any{}}
	p.decl.Doc = docOf(p.file)
	for _, st := range p.file.Stmts {
		r.statement(st)
	}
	p.folded = r.found
	p.provided = p.decl.scan(p.file, r.consts)
	return r.errs
}

func (r *reader) statement(st syntax.Stmt) {
	switch st := st.(type) {
	case *syntax.AssignStmt:
		id, ok := unparen(st.LHS).(*syntax.Ident)
		if !ok || st.Op != syntax.EQ {
			r.onlyPlain(st.LHS)
			return
		}
		v, err := r.consts.fold(st.RHS)
		if err == nil {
			r.consts[id.Name] = v
		}
		if !isDeclared(id.Name) {
			return
		}
		if _, twice := r.found[id.Name]; twice {
			r.errs.add(id.NamePos, "%s is declared twice", id.Name)
			return
		}
		if err != nil {
			r.errs.add(err.pos, "%s must be a constant: %s", id.Name, err.msg)
			return
		}
		r.found[id.Name] = v
		r.declare(id, st.RHS, v)
	case *syntax.DefStmt:
		if isDeclared(st.Name.Name) {
			r.errs.add(st.Name.NamePos, "%s is a declaration, not a function", st.Name.Name)
		}
	case *syntax.LoadStmt:
		for _, to := range st.To {
			if isDeclared(to.Name) {
				r.errs.add(to.NamePos, "%s must be declared in this file", to.Name)
			}
		}
	}
}

// onlyPlain refuses a declaration inside x, the left side of another form of
// assignment.
func (r *reader) onlyPlain(x syntax.Expr) {
	switch x := unparen(x).(type) {
	case *syntax.Ident:
		if isDeclared(x.Name) {
			r.errs.add(x.NamePos, "%s must be one plain assignment, so that it can be read without running the file", x.Name)
		}
	case *syntax.TupleExpr:
		for _, e := range x.List {
			r.onlyPlain(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			r.onlyPlain(e)
		}
	case *syntax.IndexExpr:
		if id, ok := unparen(x.X).(*syntax.Ident); ok && isDeclared(id.Name) {
			r.errs.add(id.NamePos, "%s is a constant and cannot be changed", id.Name)
		}
	}
}

func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.ParenExpr)
		if !ok {
			return x
		}
		x = p.X
	}
}

// declare checks one declaration and stores it.
func (r *reader) declare(id *syntax.Ident, x syntax.Expr, v any) {
	d := r.decl
	switch id.Name {
	case "inject":
		d.Inject = r.names(id, x, v, checkInject)
	case "provides":
		d.Provides = r.names(id, x, v, checkProvides)
	case "emits":
		d.Emits = r.names(id, x, v, CheckEventName)
	case "uses":
		d.Uses = r.names(id, x, v, checkWord)
	case "limits":
		if m, ok := r.dict(id, x, v); ok {
			l, err := declaredLimits(m)
			d.Limits = l
			r.fail(id, x, err)
		}
	case "isolate":
		if m, ok := r.dict(id, x, v); ok {
			iso, err := declaredIsolate(m)
			d.Isolate = iso
			r.fail(id, x, err)
		}
	case "config_schema":
		if m, ok := r.dict(id, x, v); ok {
			d.ConfigSchema = m
		}
	case "fail_closed":
		b, ok := v.(bool)
		if !ok {
			r.fail(id, x, fmt.Errorf("must be True or False, not %s", typeName(v)))
		}
		d.FailClosed = b
	case "probes":
		d.Probes = r.probes(id, x, v)
	}
}

func (r *reader) fail(id *syntax.Ident, at syntax.Node, err error) {
	if err != nil {
		r.errs.add(syntax.Start(at), "%s: %s", id.Name, err)
	}
}

// names reads a list of distinct strings.
func (r *reader) names(id *syntax.Ident, x syntax.Expr, v any, check func(string) error) []string {
	list, ok := v.([]any)
	if !ok {
		r.fail(id, x, fmt.Errorf("must be a list of strings, not %s", typeName(v)))
		return nil
	}
	var out []string
	seen := map[string]bool{}
	for i, e := range list {
		at := element(x, i)
		s, ok := e.(string)
		switch {
		case !ok:
			r.fail(id, at, fmt.Errorf("must hold strings only, not %s", typeName(e)))
		case seen[strings.TrimSuffix(s, "?")]:
			r.fail(id, at, fmt.Errorf("%q stands twice", s))
		default:
			seen[strings.TrimSuffix(s, "?")] = true
			r.fail(id, at, check(s))
			out = append(out, s)
		}
	}
	return out
}

// element is the node of the i-th item where it stands in the literal itself.
func element(x syntax.Expr, i int) syntax.Node {
	switch l := unparen(x).(type) {
	case *syntax.ListExpr:
		if i < len(l.List) {
			return l.List[i]
		}
	case *syntax.TupleExpr:
		if i < len(l.List) {
			return l.List[i]
		}
	}
	return x
}

func (r *reader) dict(id *syntax.Ident, x syntax.Expr, v any) (map[string]any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		r.fail(id, x, fmt.Errorf("must be a dict, not %s", typeName(v)))
	}
	return m, ok
}

func declaredIsolate(m map[string]any) (map[string]string, error) {
	out := make(map[string]string, len(m))
	for key, v := range m {
		if err := checkKey(key); err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			if checkKey(v) != nil {
				return nil, fmt.Errorf("%q is no name of a realm", v)
			}
			out[key] = v
		case bool:
			if v {
				out[key] = ""
			}
		default:
			return nil, fmt.Errorf("%q needs True or the name of a realm, not %s", key, typeName(v))
		}
	}
	return out, nil
}

func (r *reader) probes(id *syntax.Ident, x syntax.Expr, v any) []Probe {
	list, ok := v.([]any)
	if !ok {
		r.fail(id, x, fmt.Errorf("must be a list of dicts, not %s", typeName(v)))
		return nil
	}
	var out []Probe
	for i, e := range list {
		p, err := probe(e)
		r.fail(id, element(x, i), err)
		out = append(out, p)
	}
	return out
}

func probe(v any) (Probe, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Probe{}, fmt.Errorf("must hold dicts only, not %s", typeName(v))
	}
	p := Probe{Arguments: json.RawMessage("{}")}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch x := m[key].(type) {
		case string:
			switch key {
			case "tool":
				p.Tool = x
				continue
			case "expect":
				p.Expect = x
				continue
			}
		case map[string]any:
			if key == "arguments" {
				args, err := jsonOf(x)
				if err != nil {
					return p, fmt.Errorf("arguments: %w", err)
				}
				p.Arguments = args
				continue
			}
		}
		switch key {
		case "tool", "expect":
			return p, fmt.Errorf("%s must be a string, not %s", key, typeName(m[key]))
		case "arguments":
			return p, fmt.Errorf("arguments must be a dict, not %s", typeName(m[key]))
		}
		return p, unknownKey(key, []string{"tool", "arguments", "expect"})
	}
	if p.Tool == "" {
		return p, fmt.Errorf("a probe needs a tool")
	}
	if p.Expect != "blocked" && p.Expect != "allowed" {
		return p, fmt.Errorf("expect must be \"blocked\" or \"allowed\", not %q", p.Expect)
	}
	return p, nil
}

func jsonOf(v any) (json.RawMessage, error) {
	s, err := value.FromGo(v)
	if err != nil {
		return nil, err
	}
	return value.ToJSON(s)
}
