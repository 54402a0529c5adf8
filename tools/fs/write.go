package fs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"starling/bus/spec"
	"starling/trust"
)

var writeParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to write, relative to the workspace"},
    "content": {"type": "string", "description": "The whole new content of the file"}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`)

// Write returns the tool write(path, content).
func (f *Files) Write() spec.Tool {
	return spec.Tool{
		Name: "write",
		Description: "Create a file of the workspace, or replace its whole content. Directories are made as needed. " +
			"The content is written as it is, without the line numbers that read shows.",
		Parameters: writeParameters,
		Execute:    f.write,
		Paths:      f.paths,
		Risk:       spec.RiskChange,
		Sequential: true,
		Builtin:    true,
	}
}

func (f *Files) write(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	var a struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	if err := decode(call.Arguments, &a); err != nil {
		return spec.ToolResult{}, err
	}
	if strings.ContainsRune(a.Content, '\uFFFD') {
		return spec.ToolResult{}, fmt.Errorf("content for %s holds U+FFFD, the sign of bytes that were lost: "+
			"nothing was written; give the characters themselves, or an escape that the file's language knows", a.Path)
	}
	rel, err := f.jail.Resolve(a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	if why := trust.FloorPath(trust.Folders{Workspace: f.jail.Dir()}, "", filepath.Join(f.jail.Dir(), rel)); why != "" {
		return spec.ToolResult{}, fmt.Errorf("%s is not written without a person's consent: %s", a.Path, why)
	}
	existed, err := f.unchanged(ctx, a.Path, rel)
	if err != nil {
		return spec.ToolResult{}, err
	}
	if err := ctx.Err(); err != nil {
		return spec.ToolResult{}, fmt.Errorf("%s: %w", a.Path, err)
	}
	if err := f.jail.WriteFile(rel, []byte(a.Content), 0o666); err != nil {
		return spec.ToolResult{}, err
	}
	f.remember(rel, sha256.Sum256([]byte(a.Content)))
	verb := "created"
	if existed {
		verb = "replaced"
	}
	lines := countLines(a.Content)
	return spec.ToolResult{
		Content: fmt.Sprintf("%s %s (%s, %s)", verb, rel, plural(len(a.Content), "byte"), plural(lines, "line")),
		Details: details(map[string]any{
			"path": rel, "created": !existed, "bytes": len(a.Content), "lines": lines,
		}),
	}, nil
}

// unchanged refuses to replace a file that was read and that somebody else has
// changed since, and tells whether there is a file at all. It compares content:
// time and size can stay the same.
func (f *Files) unchanged(ctx context.Context, path, rel string) (existed bool, err error) {
	file, err := f.jail.Open(rel)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	had, known := f.recall(rel)
	if !known {
		return true, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, &cancelled{ctx, file}); err != nil {
		return true, fmt.Errorf("%s: %w", path, err)
	}
	now := digest(hash.Sum(nil))
	if now == had {
		return true, nil
	}
	f.remember(rel, now) // told once: the next write knows
	fresh := "it is no text any more"
	if v, err := f.view(ctx, rel, 1, MaxLines); err == nil {
		fresh = "its content now:\n" + v.String()
	}
	return true, fmt.Errorf("%s was changed by somebody else since it was last read: nothing was written; "+
		"take the change into account and write again; %s", path, fresh)
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
