package script

import (
	"bytes"
	"fmt"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"starling/surfaces"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// MaxSource is the largest file, in bytes; the compiler's own recursion is safe
// below it.
const MaxSource = 1 << 20

// options: while, top-level control flow, reassignment of globals and recursion
// stay off; the constant folder relies on the middle two.
var options = syntax.FileOptions{Set: true}

// Program is one parsed file.
type Program struct {
	path   string
	source string
	file   *syntax.File
	decl   Decl
	folded map[string]any
	loads  []Load
	// provided are the services that are given to provide; "" is a computed one.
	provided map[string]bool
	// libs are the files it loads, directly or not, by path inside the plugin's
	// directory; only the program of the main file has them.
	libs map[string]*Program
	prog *starlark.Program
	used map[string]bool // predeclared names that the file refers to
	lib  bool            // no plugin: it declares nothing and has no apply
}

// Load is one load statement.
type Load struct {
	Module string // as written, such as "./util.star"
	Pos    Position
}

// Parse reads a file and its declarations; nothing of it runs. name is the
// plugin's, path stands in every error. A file may hold at most 1 MiB, no NUL
// and no invalid UTF-8; a byte order mark is dropped. The error is an *Error or
// an ErrorList with everything that is wrong.
func Parse(name, path string, src []byte) (*Program, error) {
	if err := CheckName(name); err != nil {
		return nil, &Error{File: path, Msg: err.Error()}
	}
	p, err := parse(path, src)
	if err != nil {
		return nil, err
	}
	p.decl.Name, p.decl.Path = name, path
	if errs := append(p.readDecl(), p.readLoads()...); len(errs) > 0 {
		return nil, sortErrors(errs).err()
	}
	return p, nil
}

// ParseModule reads a file that is no plugin: it declares nothing and needs no
// apply. name stands in messages where a plugin's would.
func ParseModule(name, path string, src []byte) (*Program, error) {
	p, err := parse(path, src)
	if err != nil {
		return nil, err
	}
	p.decl.Name, p.decl.Path, p.decl.Doc = name, path, docOf(p.file)
	p.lib = true
	if errs := p.readLoads(); len(errs) > 0 {
		return nil, errs.err()
	}
	return p, nil
}

func parse(path string, src []byte) (*Program, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if len(src) > MaxSource {
		return nil, &Error{File: path, Msg: fmt.Sprintf("the file is larger than %d bytes", MaxSource)}
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return nil, badByte(path, src, i, "a NUL byte would end the file here")
	}
	if !utf8.Valid(src) {
		return nil, badByte(path, src, invalidAt(src), "the file is not valid UTF-8 here")
	}
	opts := options
	f, err := opts.Parse(path, src, syntax.RetainComments)
	if err != nil {
		return nil, syntaxErrors(path, err).err()
	}
	return &Program{path: path, source: string(src), file: f}, nil
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

func badByte(path string, src []byte, at int, msg string) *Error {
	line := bytes.Count(src[:at], []byte("\n")) + 1
	col := at - bytes.LastIndexByte(src[:at], '\n')
	return &Error{File: path, Line: line, Col: col, Msg: msg}
}

func sortErrors(errs ErrorList) ErrorList {
	sort.SliceStable(errs, func(i, j int) bool {
		a, b := errs[i], errs[j]
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	return errs
}

// Decl returns the declarations; the caller must not change them.
func (p *Program) Decl() *Decl { return &p.decl }

// Name of the plugin.
func (p *Program) Name() string { return p.decl.Name }

// Path of the file, as errors name it.
func (p *Program) Path() string { return p.path }

// Source of the file, without a byte order mark.
func (p *Program) Source() string { return p.source }

// File returns the syntax tree for reading: checks and reports walk it.
func (p *Program) File() *syntax.File { return p.file }

// Loads returns the load statements of the file itself.
func (p *Program) Loads() []Load { return p.loads }

// Files returns the paths, inside the plugin's directory, of the files that Link
// found, sorted.
func (p *Program) Files() []string {
	out := make([]string, 0, len(p.libs))
	for name := range p.libs {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func (p *Program) readLoads() ErrorList {
	var errs ErrorList
	for _, st := range p.file.Stmts {
		l, ok := st.(*syntax.LoadStmt)
		if !ok {
			continue
		}
		name := l.ModuleName()
		pos := l.Module.TokenPos
		switch {
		case !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../"):
			errs.add(pos, "load takes a file beside this one, such as \"./util.star\", not %q", name)
		case !strings.HasSuffix(name, ".star"):
			errs.add(pos, "load takes a .star file, not %q", name)
		default:
			p.loads = append(p.loads, Load{name, positionOf(pos)})
		}
	}
	return errs
}

// Link reads the files that load statements name, and theirs, with read, which
// gets a slash-separated path inside the plugin's directory. Cycles and paths
// that leave the directory are errors. A program without load statements needs
// no Link.
func (p *Program) Link(read func(name string) ([]byte, error)) error {
	l := linker{main: p, read: read, base: path.Dir(p.path), state: map[string]int{}}
	p.libs = map[string]*Program{}
	l.follow(p, "")
	return sortErrors(l.errs).err()
}

type linker struct {
	main  *Program
	read  func(string) ([]byte, error)
	base  string
	state map[string]int // 1 on the way, 2 done
	trail []string
	errs  ErrorList
}

// resolveLoad gives the path inside the plugin's directory of a module named in
// the file at from.
func resolveLoad(from, module string) (string, error) {
	name := path.Join(path.Dir(from), module)
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", fmt.Errorf("load of %q leaves the plugin's directory", module)
	}
	return name, nil
}

func (l *linker) follow(p *Program, from string) {
	for _, load := range p.loads {
		fail := func(err error) {
			l.errs = append(l.errs, &Error{File: load.Pos.File, Line: load.Pos.Line, Col: load.Pos.Col, Msg: err.Error()})
		}
		name, err := resolveLoad(from, load.Module)
		if err != nil {
			fail(err)
			continue
		}
		switch l.state[name] {
		case 1:
			fail(fmt.Errorf("files load each other: %s", strings.Join(append(l.trail, name), " -> ")))
			continue
		case 2:
			continue
		}
		l.state[name] = 1
		l.trail = append(l.trail, name)
		if lib, err := l.parse(name); err != nil {
			if list, ok := err.(ErrorList); ok {
				l.errs = append(l.errs, list...)
			} else if one, ok := err.(*Error); ok {
				l.errs = append(l.errs, one)
			} else {
				fail(fmt.Errorf("load of %q: %w", load.Module, err))
			}
		} else {
			l.main.libs[name] = lib
			l.follow(lib, name)
		}
		l.trail = l.trail[:len(l.trail)-1]
		l.state[name] = 2
	}
}

func (l *linker) parse(name string) (*Program, error) {
	src, err := l.read(name)
	if err != nil {
		return nil, err
	}
	lib, err := parse(path.Join(l.base, name), src)
	if err != nil {
		return nil, err
	}
	lib.lib = true
	return lib, lib.readLoads().err()
}

// Rewrite changes a syntax tree before its names are resolved.
type Rewrite func(*syntax.File)

// Compile resolves the names of the file and of those it loads against the
// predeclared names, after the rewrites have run, and checks that apply is a
// function of one parameter. Unknown names come with the nearest known one. It
// may be called once.
func (p *Program) Compile(names map[string]bool, rewrites ...Rewrite) error {
	if p.prog != nil {
		return fmt.Errorf("%s: compiled twice", p.path)
	}
	var errs ErrorList
	for _, load := range p.loads {
		if name, err := resolveLoad("", load.Module); err != nil || p.libs[name] == nil {
			errs = append(errs, &Error{File: load.Pos.File, Line: load.Pos.Line, Col: load.Pos.Col, Msg: fmt.Sprintf("load of %q: only a plugin in a directory of its own can load files", load.Module)})
		}
	}
	if !p.lib {
		errs = append(errs, p.checkApply()...)
	}
	for _, name := range p.Files() {
		errs = append(errs, p.libs[name].compile(names, rewrites)...)
	}
	return sortErrors(append(errs, p.compile(names, rewrites)...)).err()
}

// Uses tells whether the compiled file, or one it loads, refers to the predeclared
// name: an instance needs no others.
func (p *Program) Uses(name string) bool {
	if p.used[name] {
		return true
	}
	for _, lib := range p.libs {
		if lib.used[name] {
			return true
		}
	}
	return false
}

func (p *Program) compile(names map[string]bool, rewrites []Rewrite) ErrorList {
	own := topLevel(p.file)
	for _, rewrite := range rewrites {
		rewrite(p.file)
	}
	p.used = map[string]bool{}
	prog, err := starlark.FileProgram(p.file, func(name string) bool {
		known := names[name] || hostName(name)
		if known {
			p.used[name] = true
		}
		return known
	})
	if err == nil {
		p.prog = prog
		return nil
	}
	errs := syntaxErrors(p.path, err)
	for _, e := range errs {
		e.suggest(names, own)
	}
	return errs
}

// suggest replaces the resolver's own proposal, which cannot know the
// predeclared names.
func (e *Error) suggest(names, own map[string]bool) {
	rest, ok := strings.CutPrefix(e.Msg, "undefined: ")
	if !ok {
		return
	}
	name, hint, _ := strings.Cut(rest, " ")
	e.Msg = "undefined: " + name
	candidates := append([]string{}, starlark.Universe.Keys()...)
	for n := range names {
		candidates = append(candidates, n)
	}
	for n := range own {
		candidates = append(candidates, n)
	}
	sort.Strings(candidates)
	switch n := surfaces.Nearest(name, candidates); {
	case n != "":
		e.Hint = "did you mean " + n + "?"
	case hint != "":
		e.Hint = strings.Trim(hint, "()")
	}
}

// checkApply looks at the file's own def; what it cannot see is looked at when
// the file is loaded.
func (p *Program) checkApply() ErrorList {
	var errs ErrorList
	for _, st := range p.file.Stmts {
		if def, ok := st.(*syntax.DefStmt); ok && def.Name.Name == "apply" {
			if msg := applyParams(def.Params); msg != "" {
				errs.add(def.Name.NamePos, "%s", msg)
			}
			return errs
		}
	}
	if !topLevel(p.file)["apply"] {
		errs = append(errs, &Error{File: p.path, Msg: "there is no apply function", Hint: "a plugin registers what it offers in def apply(ctx)"})
	}
	return errs
}

const oneParameter = "apply takes one parameter: def apply(ctx)"

func applyParams(params []syntax.Expr) string {
	if len(params) == 0 {
		return oneParameter
	}
	for i, p := range params {
		switch p := p.(type) {
		case *syntax.Ident:
			if i > 0 {
				return oneParameter
			}
		case *syntax.UnaryExpr:
			if i == 0 && p.Op == syntax.STARSTAR || p.X == nil && i == 0 {
				return oneParameter
			}
		}
	}
	return ""
}
