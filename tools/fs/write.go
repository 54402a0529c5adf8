package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"syscall"

	"starling/bus/spec"
	"starling/tools"
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
			"The content is written as it is, without the line numbers that read shows; a file that is there keeps its line ends. " +
			"Read a file before you replace it.",
		Parameters: writeParameters,
		Execute:    f.write,
		Preview:    f.previewWrite,
		Paths:      f.paths(""),
		Risk:       spec.RiskChange,
		Sequential: true,
		Builtin:    true,
	}
}

type writeArgument struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func writeArguments(arguments json.RawMessage) (writeArgument, error) {
	var a writeArgument
	err := tools.Decode(arguments, &a, "path", "content")
	return a, err
}

func (f *Files) write(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a, err := writeArguments(call.Arguments)
	if err != nil {
		return spec.ToolResult{}, err
	}
	if strings.ContainsRune(a.Content, '\uFFFD') {
		return spec.ToolResult{}, fmt.Errorf("content for %s holds U+FFFD, the sign of bytes that were lost: "+
			"nothing was written; give the characters themselves, or an escape that the file's language knows", a.Path)
	}
	at, done, err := f.open(ctx, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	if why := f.floor(at); why != "" {
		return spec.ToolResult{}, fmt.Errorf("%s is not written without a person's consent: %s", a.Path, why)
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	old, err := f.previous(ctx, at, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	content := old.manner.of(a.Content)
	verb, change := "created", Change{Path: at.name, Kind: Created}
	if old.exists {
		verb, change.Kind, change.Before = "replaced", Modified, old.digest.String()
	}
	after, err := f.save(ctx, at, a.Path, []byte(content), change)
	if err != nil {
		return spec.ToolResult{}, err
	}
	lines := countLines(content)
	d := difference{cut: true, added: lines, removed: old.lines}
	if !old.partial {
		d = diffWhole(at.name, !old.exists, old.content, content)
	}
	return spec.ToolResult{
		Content: fmt.Sprintf("%s %s (%s, %s)", verb, at.name, plural(len(content), "byte"), plural(lines, "line")) +
			beforeNote("\n", old.manner.note(a.Content, content)) + beforeNote("\n", linkNote(old.info)),
		Details: tools.Details(d.fields(map[string]any{
			"path": at.name, "created": !old.exists, "bytes": len(content), "lines": lines,
			"before": change.Before, "after": after.String(),
		})),
	}, nil
}

// save writes the new content of a file, remembers it and tells of the change.
func (f *Files) save(ctx context.Context, at place, path string, content []byte, change Change) (digest, error) {
	if err := ctx.Err(); err != nil {
		return digest{}, fmt.Errorf("%s: %w", path, err)
	}
	if err := at.jail.WriteFile(at.rel, content, 0o666); err != nil {
		return digest{}, err
	}
	after := digest(sha256.Sum256(content))
	f.remember(at, after)
	f.hold(at, after, nil)
	change.After = after.String()
	if f.opt.Changed != nil {
		f.opt.Changed(change)
	}
	return after, nil
}

// previous is what a file holds before it is replaced.
type previous struct {
	exists  bool
	info    iofs.FileInfo
	digest  digest
	lines   int
	manner  manner
	content string
	partial bool // content was too large to keep
}

// previous reads what is there, and refuses when nobody read it in this session, or
// somebody else has changed it since. It compares content: time and size can stay
// the same.
func (f *Files) previous(ctx context.Context, at place, path string) (previous, error) {
	file, err := at.jail.Open(at.rel)
	if errors.Is(err, iofs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return previous{}, nil
	}
	if err != nil {
		return previous{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return previous{}, fmt.Errorf("%s: %w", path, err)
	}
	old := previous{exists: true, info: info}
	hash := sha256.New()
	keep := keeper{limit: maxDiffInput}
	if _, err := io.Copy(io.MultiWriter(hash, &keep), &cancelled{ctx, file}); err != nil {
		return old, fmt.Errorf("%s: %w", path, err)
	}
	old.digest = digest(hash.Sum(nil))
	old.content, old.partial, old.lines = string(keep.b), keep.over, keep.lines()
	old.manner = mannerOf(keep.head, keep.breaks, keep.crlf)
	switch had, known := f.recall(at); {
	case known && had != old.digest:
		return old, f.changedSince(ctx, at, path, old.digest)
	case !known && keep.size > 0:
		return old, f.neverRead(ctx, at, path, old.digest)
	}
	return old, nil
}

// keeper keeps the start of what is written to it and counts line breaks.
type keeper struct {
	limit  int
	b      []byte
	over   bool
	head   []byte // the first of all bytes
	size   int64
	breaks int
	crlf   int  // of the breaks
	open   bool // the last line has no break
	cr     bool // the last byte is a carriage return
}

func (k *keeper) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	k.head = append(k.head, p[:min(len(p), sniffed-len(k.head))]...)
	k.size += int64(len(p))
	k.breaks += bytes.Count(p, []byte("\n"))
	k.crlf += bytes.Count(p, []byte("\r\n"))
	if k.cr && p[0] == '\n' {
		k.crlf++
	}
	k.open, k.cr = p[len(p)-1] != '\n', p[len(p)-1] == '\r'
	if k.over = k.over || len(k.b)+len(p) > k.limit; k.over {
		k.b = nil
	} else {
		k.b = append(k.b, p...)
	}
	return len(p), nil
}

func (k *keeper) lines() int {
	if k.open {
		return k.breaks + 1
	}
	return k.breaks
}

// changedSince refuses a change of a file that somebody else has changed, and
// shows what it holds now. It is said once: the next call knows.
func (f *Files) changedSince(ctx context.Context, at place, path string, now digest) error {
	f.remember(at, now)
	fresh := "it is no text any more"
	if v, err := f.view(ctx, at, path, 1, MaxLines); err == nil {
		fresh = "its content now:\n" + v.String()
	}
	return fmt.Errorf("%s was changed by somebody else since it was last read: nothing was written; "+
		"take the change into account and call again; %s", path, fresh)
}

// neverRead refuses to replace a file that nobody read in this session, and shows how
// it begins. It is said once: the next call knows.
func (f *Files) neverRead(ctx context.Context, at place, path string, now digest) error {
	const first = 40 // lines
	head := "it is no text"
	v, err := f.view(ctx, at, path, 1, first)
	if err == nil {
		head = "it begins:\n" + v.String()
	} else if ctx.Err() == nil {
		head = err.Error()
	}
	f.remember(at, now)
	return fmt.Errorf("%s is there and was not read in this session: nothing was written; "+
		"read it and use edit to keep what is in it, or call write again to replace all of it; %s", path, head)
}

// linkNote tells that a file had other names, which keep the old content.
func linkNote(info iofs.FileInfo) string {
	if info == nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return fmt.Sprintf("[the file has %s (hard links), which keep the old content]", plural(int(st.Nlink)-1, "other name"))
	}
	return ""
}

func beforeNote(sep, note string) string {
	if note == "" {
		return ""
	}
	return sep + note
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}
