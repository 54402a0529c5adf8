package fs

import (
	"context"
	"encoding/json"
	"fmt"
	iofs "io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"starling/bus/spec"
	"starling/tools"
	"starling/tools/fs/ignore"
	"starling/tools/fs/match"
)

var globParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "description": "As **/*.go or src/*.{ts,tsx}; without a slash, at any depth"},
    "path": {"type": "string", "description": "Folder to look in; the workspace when left out"},
    "limit": {"type": "integer", "minimum": 1, "description": "Number of files to show, at most 1000; 200 when left out"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`)

// Glob returns the tool glob(pattern, path).
func (f *Files) Glob() spec.Tool {
	return spec.Tool{
		Name: "glob",
		Description: "List the files whose path is like a pattern, sorted by path. * stays inside one folder, ** goes through any. " +
			"Files that git ignores are left out; hidden ones are not.",
		Parameters: globParameters,
		Execute:    f.glob,
		Paths:      f.paths("."),
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Builtin:    true,
	}
}

func (f *Files) glob(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a := struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
		Limit   int    `json:"limit"`
	}{Path: ".", Limit: defaultNames}
	if err := tools.Decode(call.Arguments, &a, "pattern", "path", "limit"); err != nil {
		return spec.ToolResult{}, err
	}
	glob, err := ignore.CompileGlob(a.Pattern)
	if err != nil {
		return spec.ToolResult{}, err
	}
	at, done, err := f.open(ctx, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	names := firstNames{limit: min(a.Limit, MaxResults)}
	over, err := f.walk(ctx, at, func(e *entry) bool {
		if path := e.path(); glob.Match(path, false) {
			names.add(path)
		}
		return true
	})
	if err != nil {
		return spec.ToolResult{}, err
	}
	shown, text := names.text(at.name, a.Pattern)
	return spec.ToolResult{
		Content: text + over.note(),
		Details: tools.Details(map[string]any{"path": at.name, "files": names.total, "shown": shown, "truncated": shown < names.total}),
	}, nil
}

// firstNames keeps the first names of however many there are.
type firstNames struct {
	limit int

	mu    sync.Mutex
	list  []string
	total int
}

func (n *firstNames) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.total++
	if n.list = append(n.list, name); len(n.list) > 4*n.limit+batch {
		n.sort()
	}
}

func (n *firstNames) sort() {
	slices.Sort(n.list)
	n.list = n.list[:min(len(n.list), n.limit)]
}

func (n *firstNames) text(folder, pattern string) (int, string) {
	n.sort()
	if n.total == 0 {
		return 0, fmt.Sprintf("[no file in %s is like %s]\n", folder, pattern)
	}
	var b strings.Builder
	shown := 0
	for _, name := range n.list {
		if b.Len()+len(name) > MaxBytes {
			break
		}
		text, _ := match.Legible([]byte(oneLine(below(folder, name))))
		b.WriteString(text + "\n")
		shown++
	}
	if shown < n.total {
		fmt.Fprintf(&b, "[%d of %s shown; narrow pattern or path]\n", shown, plural(n.total, "file"))
	}
	return shown, b.String()
}

var lsParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "Folder to list; the workspace when left out"},
    "limit": {"type": "integer", "minimum": 1, "description": "Number of entries to show, at most 1000; 200 when left out"}
  },
  "additionalProperties": false
}`)

// Ls returns the tool ls(path).
func (f *Files) Ls() spec.Tool {
	return spec.Tool{
		Name: "ls",
		Description: "List one folder: names, sizes in bytes, where links lead; hidden and ignored files too. " +
			"A folder ends with /.",
		Parameters: lsParameters,
		Execute:    f.ls,
		Paths:      f.paths("."),
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Builtin:    true,
	}
}

func (f *Files) ls(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a := struct {
		Path  string `json:"path"`
		Limit int    `json:"limit"`
	}{Path: ".", Limit: defaultNames}
	if err := tools.Decode(call.Arguments, &a, "path", "limit"); err != nil {
		return spec.ToolResult{}, err
	}
	at, done, err := f.open(ctx, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	dir, err := at.jail.Folder(at.rel)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer dir.Close()
	entries, err := listing(int(dir.Fd()))
	if err != nil {
		return spec.ToolResult{}, fmt.Errorf("%s: %w", at.name, err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].name < entries[j].name })
	here := &folder{fd: int(dir.Fd())}
	limit := min(a.Limit, MaxResults)
	var b strings.Builder
	shown := 0
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return spec.ToolResult{}, fmt.Errorf("%s: %w", at.name, err)
		}
		if shown == limit || b.Len() > MaxBytes {
			break
		}
		entries[i].dir = here
		b.WriteString(entries[i].describe() + "\n")
		shown++
	}
	switch {
	case len(entries) == 0:
		fmt.Fprintf(&b, "[%s is empty]\n", at.name)
	case shown < len(entries):
		fmt.Fprintf(&b, "[%d of %s shown; glob finds the others]\n", shown, plural2(len(entries), "entry", "entries"))
	}
	return spec.ToolResult{
		Content: b.String(),
		Details: tools.Details(map[string]any{"path": at.name, "entries": len(entries), "shown": shown, "truncated": shown < len(entries)}),
	}, nil
}

func plural2(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// describe is one line of ls.
func (e *entry) describe() string {
	name, _ := match.Legible([]byte(oneLine(e.name)))
	switch {
	case e.kind.IsDir():
		return name + "/"
	case e.kind&iofs.ModeSymlink != 0:
		target, _ := match.Legible([]byte(oneLine(readlink(e.dir.fd, e.name))))
		return name + " -> " + target
	case e.kind.IsRegular():
		if size, ok := sizeOf(e.dir.fd, e.name); ok {
			return fmt.Sprintf("%s  %d", name, size)
		}
		return name
	case e.kind&iofs.ModeNamedPipe != 0:
		return name + "  (pipe)"
	case e.kind&iofs.ModeSocket != 0:
		return name + "  (socket)"
	case e.kind&os.ModeDevice != 0:
		return name + "  (device)"
	}
	return name + "  (unknown kind)"
}
