package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"starling/bus/spec"
	"starling/trust"
)

// Bounds of one line; what is beyond them is Unread.
const (
	maxLine  = 64 << 10 // bytes
	maxDepth = 60       // substitutions, wrappers and strings read again, one in another
	maxNodes = 400      // statements, one in another
	maxTree  = 1200     // nodes of the syntax tree, one in another
	maxParts = 2000
	// maxJudged are lists of words judged as commands: the parts, and the words
	// of programs that may run them.
	maxJudged = 6000
)

// Read reads a line for bash. It runs nothing and changes nothing; it follows the
// links of paths the line names, lists the folders whose files a pattern may match,
// and reads what a repository or a Go module says where git or go would.
func Read(line string, at Setting) Reading {
	if at.Dir == "" {
		at.Dir = at.Workspace
	}
	if at.Resolve == nil {
		at.Resolve = follow
	}
	if at.List == nil {
		at.List = list
	}
	if at.ReadFile == nil {
		at.ReadFile = readFile
	}
	r := &reader{
		at: at, out: Reading{Line: line, Risk: spec.RiskRead}, whole: true,
		folders: trust.Folders{Workspace: at.Workspace, Home: at.Home},
		paths:   map[string]bool{}, fetched: map[string]bool{}, tainted: map[string]bool{},
		listed: map[string][]string{}, found: map[string]bool{}, floor: map[string]string{}, secret: map[string]string{}, defined: map[string]bool{}, assigned: map[string]bool{}, counts: newCounting(),
	}
	r.lineOf(line, &state{dir: filepath.Clean(at.Dir), vars: map[string]string{}, funcs: map[string]bool{}})
	return r.finish()
}

// reader gathers what one line does.
type reader struct {
	at      Setting
	folders trust.Folders
	src     string // the text that is read now
	out     Reading
	notes   []note // one for each part
	depth   int
	nodes   int
	judged  int
	paths   map[string]bool // absolute
	whole   bool            // no path is missing in paths
	strays  bool            // one of paths is outside

	found map[string]bool   // findings
	floor map[string]string // what trust.FloorPath said
	// secret is what trust.CredentialPath said.
	secret map[string]string

	fetched  map[string]bool // files the line downloads
	arrived  []string        // folders that it fills with something downloaded
	linked   []string        // links the line makes; what is below them nobody knows
	tainted  map[string]bool // variables that hold something downloaded
	defined  map[string]bool // functions and aliases of the line
	assigned map[string]bool // variables the line sets, anywhere
	once     map[string]bool // those set once, plainly, and named nowhere else
	unset    map[string]bool // those that have no value
	loops    map[string]bool // those set by one for loop and by nothing else
	wanders  bool            // something in the line may change the folder
	guessing bool            // the words of a program nobody knows are tried as a command
	shadowed bool            // names of programs may mean others: PATH, hash, enable
	tangled  bool            // something in the line may run twice, later, or beside the rest

	counts  counting
	texts   int // texts for a shell, one in another
	open    []openLoss
	moves   []move
	carries []carry
	listed  map[string][]string
}

// note is what the reader remembers of a part.
type note struct {
	program  string // base name of a program
	download bool   // its output comes from the network
	keys     string // why what it writes may name files of keys
	code     bool   // an interpreter that runs its standard input
}

func (r *reader) finish() Reading {
	r.closeCounting()
	r.closeGlobs()
	r.lossOfMoved()
	r.lossOfCarried()
	r.openTrees()
	out := r.out
	for _, p := range out.Parts {
		out.Risk = worse(out.Risk, p.Risk)
	}
	if out.Unread != "" {
		r.whole = false
		out.Risk = worse(out.Risk, spec.RiskChange)
		out.Floor = append(out.Floor, Finding{Part: -1, Why: "nobody can tell beforehand what this line runs: " + out.Unread})
	}
	for abs := range r.paths {
		out.Paths = append(out.Paths, r.relative(abs))
	}
	slices.Sort(out.Paths)
	out.PathsKnown = r.whole
	return out
}

// riskOrder is the order of risks, least first, as the registry of tools has it.
var riskOrder = []spec.Risk{spec.RiskRead, spec.RiskChange, spec.RiskDestructive, spec.RiskNetwork}

func worse(a, b spec.Risk) spec.Risk {
	if slices.Index(riskOrder, b) > slices.Index(riskOrder, a) {
		return b
	}
	return a
}

// unread notes why something could not be read; the first reason stays.
func (r *reader) unread(format string, args ...any) {
	if r.out.Unread == "" {
		r.out.Unread = fmt.Sprintf(format, args...)
	}
}

// lineOf reads a whole text for a shell.
func (r *reader) lineOf(text string, st *state) {
	switch {
	case len(text) > maxLine:
		r.unread("it is longer than %d bytes", maxLine)
		return
	case strings.IndexByte(text, 0) >= 0:
		r.unread("it holds a zero byte")
		return
	case strings.IndexByte(text, '\r') >= 0:
		r.unread("it holds a carriage return, which shells take for a letter; end lines with a line feed alone")
		return
	}
	if !r.enter() {
		return
	}
	defer r.leave()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		r.unread("%s", err)
		return
	}
	src := r.src
	r.src = text
	r.texts++
	defer func() { r.src = src; r.texts-- }()
	if r.survey(file, text) {
		r.stmts(file.Stmts, st)
	}
}

func (r *reader) enter() bool {
	if r.depth >= maxDepth {
		r.unread("too much is nested in it")
		return false
	}
	r.depth++
	return true
}

func (r *reader) leave() { r.depth-- }

// source is a node as written.
func (r *reader) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(r.src) || !n.Pos().IsValid() {
		return ""
	}
	return r.src[from:to]
}

// add notes a part; its index is for findings.
func (r *reader) add(p Part, n note) int {
	if len(r.out.Parts) >= maxParts {
		r.unread("it has more than %d parts", maxParts)
		r.whole = false
		r.out.Risk = worse(r.out.Risk, p.Risk)
		return -1
	}
	if p.Text == "" {
		words := make([]string, len(p.Words))
		for i, w := range p.Words {
			words[i] = w.Text
			if w.Known && !(i == 0 && p.Kind == Redirect) {
				words[i] = quote(w.Text)
			}
		}
		p.Text = strings.Join(words, " ")
	}
	r.out.Parts = append(r.out.Parts, p)
	r.notes = append(r.notes, n)
	return len(r.out.Parts) - 1
}

// find notes a finding, the same one once.
func (r *reader) find(f Finding) {
	slices.Sort(f.Paths)
	if f.Loss == nil {
		key := fmt.Sprint(f.Part, f.Why)
		if r.found[key] {
			return
		}
		r.found[key] = true
	}
	r.out.Floor = append(r.out.Floor, f)
}

// raise makes a part at least this risky.
func (r *reader) raise(part int, risk spec.Risk, why string) {
	if part < 0 {
		return
	}
	p := &r.out.Parts[part]
	p.Free = false
	if worse(p.Risk, risk) != p.Risk || p.Why == "" {
		p.Risk, p.Why = worse(p.Risk, risk), why
	}
}
