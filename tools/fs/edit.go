package fs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"slices"
	"strings"

	"starling/bus/spec"
	"starling/tools"
	"starling/tools/fs/match"
)

// MaxEdit is the size in bytes of the largest file that edit changes.
const MaxEdit = 32 << 20

var editParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to edit, relative to the workspace"},
    "edits": {
      "type": "array",
      "minItems": 1,
      "description": "Replacements, each found in the file as it is before the call; all are made, or none",
      "items": {
        "type": "object",
        "properties": {
          "old_text": {"type": "string", "description": "Text to replace, copied from the file without line numbers; it must stand there exactly once"},
          "new_text": {"type": "string", "description": "Text to put in its place; empty to delete"},
          "all": {"type": "boolean", "description": "Replace every place where old_text stands"}
        },
        "required": ["old_text", "new_text"],
        "additionalProperties": false
      }
    }
  },
  "required": ["path", "edits"],
  "additionalProperties": false
}`)

// Edit returns the tool edit(path, edits). A file that was never read may be
// edited: that its text was found there once is proof enough that the model
// knows it. One that was read must still be as it was.
func (f *Files) Edit() spec.Tool {
	return spec.Tool{
		Name: "edit",
		Description: "Replace texts in a file of the workspace. old_text must be unique in the file: take as many whole lines as that needs. " +
			"Line ends follow the file. Every other byte stays. To create a file use write.",
		Parameters: editParameters,
		Execute:    f.edit,
		Preview:    f.previewEdit,
		Paths:      f.paths(""),
		Risk:       spec.RiskChange,
		Sequential: true,
		Builtin:    true,
	}
}

type editArgument struct {
	Path  string            `json:"path"`
	Edits []json.RawMessage `json:"edits"`
}

func editArguments(arguments json.RawMessage) (path string, edits []match.Edit, err error) {
	var a editArgument
	if err := tools.Decode(arguments, &a, "path", "edits"); err != nil {
		return "", nil, err
	}
	edits = make([]match.Edit, len(a.Edits))
	for i, raw := range a.Edits {
		var e struct {
			Old string `json:"old_text"`
			New string `json:"new_text"`
			All bool   `json:"all"`
		}
		if err := tools.Decode(raw, &e, "old_text", "new_text", "all"); err != nil {
			return "", nil, fmt.Errorf("edits[%d]: %w", i, err)
		}
		edits[i] = match.Edit{Old: e.Old, New: e.New, All: e.All}
	}
	return a.Path, edits, nil
}

func (f *Files) edit(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	path, edits, err := editArguments(call.Arguments)
	if err != nil {
		return spec.ToolResult{}, err
	}
	at, done, err := f.open(ctx, path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	if why := f.floor(at); why != "" {
		return spec.ToolResult{}, fmt.Errorf("%s is not edited without a person's consent: %s", path, why)
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	old, info, err := load(ctx, at, path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	before := digest(sha256.Sum256(old))
	if had, known := f.recall(at); known && had != before {
		return spec.ToolResult{}, f.changedSince(ctx, at, path, before)
	}
	plan, err := match.Find(at.name, old, edits)
	if err != nil {
		return spec.ToolResult{}, fmt.Errorf("%s was not changed: %w", at.name, err)
	}
	next := plan.Apply(old)
	after, err := f.save(ctx, at, path, next, Change{Path: at.name, Kind: Modified, Before: before.String()})
	if err != nil {
		return spec.ToolResult{}, err
	}
	d := diffPlan(at.name, string(old), plan)
	return spec.ToolResult{
		Content: editWords(at.name, len(edits), plan, d) + linkNote(info),
		Details: tools.Details(d.fields(map[string]any{
			"path": at.name, "edits": len(edits), "places": len(plan.Hits),
			"before": before.String(), "after": after.String(), "bytes": len(next),
		})),
	}, nil
}

// editWords is what the model reads of an edit that was made.
func editWords(name string, edits int, plan *match.Plan, d difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "edited %s (%s", name, plural(edits, "edit"))
	if len(plan.Hits) != edits {
		fmt.Fprintf(&b, " at %s", plural(len(plan.Hits), "place"))
	}
	fmt.Fprintf(&b, ", +%d -%d lines); now:\n", d.added, d.removed)
	b.WriteString(d.context)
	for _, h := range plan.Hits {
		if h.Loose != "" {
			fmt.Fprintf(&b, "[edits[%d] was found with other %s than its old_text has; what both texts share was left as it was]\n", h.Edit, h.Loose)
		}
	}
	return b.String()
}

// load reads the whole of a text file that is to be edited.
func load(ctx context.Context, at place, path string) ([]byte, iofs.FileInfo, error) {
	file, err := at.jail.Open(at.rel)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: no such file; to create it call write", path)
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	content, err := readAll(ctx, file, info.Size(), MaxEdit)
	if errors.Is(err, errLarge) {
		return nil, nil, fmt.Errorf("%s has %d bytes, more than the %d that edit takes: change it with a command", path, info.Size(), MaxEdit)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if kind := binary(content[:min(len(content), sniffed)]); kind != "" {
		return nil, nil, fmt.Errorf("%s is binary (%s, %d bytes): edit changes text only", path, kind, len(content))
	}
	return content, info, nil
}

var errLarge = errors.New("too large")

// readAll reads at most limit bytes, errLarge when there are more.
func readAll(ctx context.Context, file *os.File, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, errLarge
	}
	in := io.LimitReader(&cancelled{ctx, file}, limit+1) // the file may grow meanwhile
	content := make([]byte, 0, size+1)
	for {
		n, err := in.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		switch {
		case errors.Is(err, io.EOF) && int64(len(content)) > limit:
			return nil, errLarge
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, err
		}
		if len(content) == cap(content) {
			content = slices.Grow(content, len(content)/2+512)
		}
	}
}
