package fs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"starling/bus/spec"
	"starling/tools"
	"starling/tools/fs/ignore"
)

// The most that one call of grep, glob or ls shows, and what it shows unasked.
const (
	MaxResults     = 1000
	defaultMatches = 100
	defaultNames   = 200
)

var grepParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "description": "Regular expression (RE2 syntax), held against each line"},
    "path": {"type": "string", "description": "Folder or file to search; the workspace when left out"},
    "glob": {"type": "string", "description": "Only files like this, as *.go or src/**/*.{ts,tsx}"},
    "ignore_case": {"type": "boolean", "description": "Take upper and lower case as equal"},
    "limit": {"type": "integer", "minimum": 1, "description": "Number of lines to show, at most 1000; 100 when left out"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`)

// Grep returns the tool grep(pattern, path, glob, ignore_case, limit).
func (f *Files) Grep() spec.Tool {
	return spec.Tool{
		Name: "grep",
		Description: "Search the lines of files with a regular expression. Shows path:line:text, sorted by path, and how many there are in all. " +
			"Files that git ignores and binary files are left out; hidden ones are not.",
		Parameters: grepParameters,
		Execute:    f.grep,
		Paths:      f.paths("."),
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Builtin:    true,
	}
}

type grepArguments struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase bool   `json:"ignore_case"`
	Limit      int    `json:"limit"`
}

func (f *Files) grep(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a := grepArguments{Path: ".", Limit: defaultMatches}
	if err := tools.Decode(call.Arguments, &a, "pattern", "path", "glob", "ignore_case", "limit"); err != nil {
		return spec.ToolResult{}, err
	}
	p, err := compilePattern(a.Pattern, a.IgnoreCase)
	if err != nil {
		return spec.ToolResult{}, err
	}
	var glob ignore.Glob
	if a.Glob != "" {
		if glob, err = ignore.CompileGlob(a.Glob); err != nil {
			return spec.ToolResult{}, err
		}
	}
	at, done, err := f.open(ctx, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	info, err := at.jail.Stat(at.rel)
	if err != nil {
		return spec.ToolResult{}, err
	}
	r := &results{limit: min(a.Limit, MaxResults)}
	var over *walked
	if info.IsDir() {
		over, err = f.grepFolder(ctx, at, p, glob, r)
	} else {
		err = f.grepFile(ctx, at, p, r)
	}
	if err != nil {
		return spec.ToolResult{}, err
	}
	shown, text := r.text(at.name, info.IsDir())
	return spec.ToolResult{
		Content: text + over.note(),
		Details: tools.Details(map[string]any{"path": at.name, "matches": r.matches, "files": r.files, "shown": shown, "truncated": shown < r.matches}),
	}, nil
}

func (f *Files) grepFile(ctx context.Context, at place, p *pattern, r *results) error {
	file, err := at.jail.Open(at.rel)
	if err != nil {
		return err
	}
	defer file.Close()
	s := scanner{p: p, limit: r.limit}
	if err := s.scan(ctx, file); err != nil {
		return fmt.Errorf("%s: %w", at.name, err)
	}
	if s.binary {
		return fmt.Errorf("%s is binary: grep searches text only", at.name)
	}
	r.add("", s.found, s.count)
	return nil
}

func (f *Files) grepFolder(ctx context.Context, at place, p *pattern, glob ignore.Glob, r *results) (*walked, error) {
	if program, words := f.rgFor(p); program != "" {
		return f.grepWith(ctx, program, words, at, p, glob, r)
	}
	return f.scanWalk(ctx, at, p, r, func(e *entry) bool { return glob == nil || glob.Match(e.path(), false) })
}

// scanWalk searches the files of a walk that are wanted.
func (f *Files) scanWalk(ctx context.Context, at place, p *pattern, r *results, want func(e *entry) bool) (*walked, error) {
	pool := sync.Pool{New: func() any { return &scanner{p: p, limit: r.limit} }}
	return f.walk(ctx, at, func(e *entry) bool {
		if !e.kind.IsRegular() || !want(e) {
			return true
		}
		s := pool.Get().(*scanner)
		defer pool.Put(s)
		if s.entry(ctx, e) == nil && s.count > 0 {
			r.add(e.path(), s.found, s.count)
		}
		s.trim()
		return true
	})
}

// entry searches a file of a walk. One that cannot be read has nothing in it.
func (s *scanner) entry(ctx context.Context, e *entry) error {
	fd, err := e.open()
	if err != nil {
		return err
	}
	file := plainFile(fd)
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return os.ErrInvalid
	}
	return s.scan(ctx, file)
}

// plainFile reads a descriptor without what os.File keeps for one.
type plainFile int

func (f plainFile) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// results keeps the first matches by path of however many there are.
type results struct {
	limit int

	mu      sync.Mutex
	list    []fileResult
	kept    int // lines in list
	files   int
	matches int
}

type fileResult struct {
	path  string
	found []found
}

func (r *results) add(path string, lines []found, count int) {
	if count == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files++
	r.matches += count
	r.list = append(r.list, fileResult{path, lines})
	if r.kept += len(lines); r.kept > 4*r.limit+batch {
		r.sort()
	}
}

// sort keeps as many of the first files as the limit needs.
func (r *results) sort() {
	sort.Slice(r.list, func(i, j int) bool { return r.list[i].path < r.list[j].path })
	r.kept = 0
	for i := range r.list {
		if r.kept >= r.limit {
			clear(r.list[i:])
			r.list = r.list[:i]
			break
		}
		r.kept += len(r.list[i].found)
	}
}

// text shows the matches below a folder, or in one file, and how many of them.
func (r *results) text(name string, isDir bool) (int, string) {
	r.sort()
	if r.matches == 0 {
		return 0, fmt.Sprintf("[no line in %s matches]\n", name)
	}
	var b strings.Builder
	shown := 0
show:
	for _, file := range r.list {
		path := name
		if isDir {
			path = below(name, file.path)
		}
		path = oneLine(path)
		for _, l := range file.found {
			if shown == r.limit || b.Len()+len(path)+len(l.text) > MaxBytes {
				break show
			}
			fmt.Fprintf(&b, "%s:%d:%s\n", path, l.line, l.text)
			shown++
		}
	}
	if shown < r.matches {
		fmt.Fprintf(&b, "[%d of %s in %s shown; narrow pattern, path or glob]\n", shown, plural(r.matches, "matching line"), plural(r.files, "file"))
	}
	return shown, b.String()
}

// below names a file of a folder as the tools are called with.
func below(folder, path string) string {
	if folder == "." {
		return path
	}
	return strings.TrimSuffix(folder, "/") + "/" + path
}

// note says what could not be looked into, "" when all was.
func (w *walked) note() string {
	if w == nil {
		return ""
	}
	var b strings.Builder
	if n := w.unreadable.Load(); n > 0 {
		fmt.Fprintf(&b, "[%s could not be read]\n", plural(int(n), "folder"))
	}
	if n := w.deep.Load(); n > 0 {
		fmt.Fprintf(&b, "[%s more than %d levels down not looked into]\n", plural(int(n), "folder"), maxDepth)
	}
	return b.String()
}
