package fs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"
	"unicode/utf8"

	"starling/bus/chat"
	"starling/bus/spec"
	"starling/tools"
	"starling/tools/fs/match"
)

// The most that one call of read shows.
const (
	MaxLines = 1000
	MaxBytes = 64 << 10
	// MaxLine is how many bytes of one line are shown; the rest is counted.
	MaxLine = 4 << 10
)

// sniffed is how much of a file decides whether it is text.
const sniffed = 8 << 10

var readParameters = json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to read, relative to the workspace"},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to show, from 1"},
    "limit": {"type": "integer", "minimum": 1, "description": "Number of lines to show, at most 1000"}
  },
  "required": ["path"],
  "additionalProperties": false
}`)

// Read returns the tool read(path, offset, limit).
func (f *Files) Read() spec.Tool {
	return spec.Tool{
		Name: "read",
		Description: "Read a text file of the workspace with line numbers, or look at an image (PNG, JPEG, GIF, WebP). " +
			"Shows at most 1000 lines or 64 KiB; go on with offset. The number and the tab before each line are not part of the file.",
		Parameters: readParameters,
		Execute:    f.read,
		Paths:      f.paths(""),
		ReadOnly:   true,
		Risk:       spec.RiskRead,
		Builtin:    true,
	}
}

func (f *Files) read(ctx context.Context, call spec.ToolCall) (spec.ToolResult, error) {
	a := struct {
		Path   string `json:"path"`
		Offset int    `json:"offset"`
		Limit  int    `json:"limit"`
	}{Offset: 1, Limit: MaxLines}
	if err := tools.Decode(call.Arguments, &a, "path", "offset", "limit"); err != nil {
		return spec.ToolResult{}, err
	}
	at, done, err := f.open(ctx, a.Path)
	if err != nil {
		return spec.ToolResult{}, err
	}
	defer done()
	v, err := f.view(ctx, at, a.Path, a.Offset, min(a.Limit, MaxLines))
	if err != nil {
		return spec.ToolResult{}, err
	}
	if v.image != nil {
		return spec.ToolResult{Content: v.String(), Images: []chat.Block{*v.image}, Details: tools.Details(map[string]any{
			"path": v.path, "mime": v.image.MIME, "bytes": len(v.image.Data),
		})}, nil
	}
	return spec.ToolResult{Content: v.String(), Details: tools.Details(map[string]any{
		"path": v.path, "total_lines": v.total, "from_line": v.from, "to_line": v.to(),
		"truncated": v.to() < v.total,
	})}, nil
}

// view reads a file once from start to end: it shows some lines and counts all, or
// takes the whole of an image, and remembers the digest.
func (f *Files) view(ctx context.Context, at place, path string, offset, limit int) (*view, error) {
	file, err := at.jail.Open(at.rel)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	hash := sha256.New()
	in := bufio.NewReaderSize(io.TeeReader(&cancelled{ctx, file}, hash), 32<<10)
	head, err := in.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	v := &view{path: at.name, from: max(offset, 1), limit: max(limit, 1)}
	switch kind := binary(head); {
	case mimes[kind] != "":
		if err := f.picture(v, in, kind, info.Size()); err != nil {
			return nil, fmt.Errorf("%s %w", path, err)
		}
	case kind != "":
		return nil, fmt.Errorf("%s is binary (%s, %d bytes): read shows text and images only", path, kind, info.Size())
	default:
		if err := v.fill(in); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if v.total > 0 && v.from > v.total {
		return nil, fmt.Errorf("%s has %s: offset %d is past its end", path, plural(v.total, "line"), v.from)
	}
	d := digest(hash.Sum(nil))
	f.remember(at, d)
	f.hold(at, d, info)
	return v, nil
}

// cancelled is a reader that ends with its context.
type cancelled struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// view is the part of a file that a result shows.
type view struct {
	path  string
	kind  string      // of an image
	image *chat.Block // nil for text
	from  int         // first line wanted, from 1
	limit int
	lines []string
	size  int // bytes in lines
	full  bool
	total int
	crlf  int // of the shown lines, how many end so
	odd   bool
}

// to is the number of the last line shown.
func (v *view) to() int { return v.from + len(v.lines) - 1 }

func (v *view) fill(in *bufio.Reader) error {
	for {
		line, length, ended, err := nextLine(in)
		if err != nil {
			return err
		}
		if length == 0 && !ended {
			return nil
		}
		v.total++
		if v.total >= v.from && len(v.lines) < v.limit && !v.full {
			v.add(line, length, ended)
		}
		if !ended {
			return nil
		}
	}
}

func (v *view) add(line []byte, length int, ended bool) {
	if cut, ok := bytes.CutSuffix(line, []byte("\r")); ok && ended && length == len(line) {
		line, length = cut, length-1
		v.crlf++
	}
	if length > MaxLine {
		line = wholeRunes(line)
	}
	shown, odd := match.Legible(line)
	if length > MaxLine {
		shown += fmt.Sprintf(" … [the line goes on: %d bytes in all]", length)
	}
	const number = 8 // what the number before a line may cost
	if v.size+len(shown)+number > MaxBytes && len(v.lines) > 0 {
		v.full = true
		return
	}
	v.odd = v.odd || odd
	v.size += len(shown) + number
	v.lines = append(v.lines, shown)
}

// wholeRunes drops the character that a cut left incomplete.
func wholeRunes(line []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(line); i++ {
		if b := line[len(line)-i:]; utf8.RuneStart(b[0]) {
			if !utf8.FullRune(b) {
				return line[:len(line)-i]
			}
			break
		}
	}
	return line
}

// nextLine returns the start of the next line (at most a little over MaxLine
// bytes), its whole length and whether a line break ended it.
func nextLine(in *bufio.Reader) (start []byte, length int, ended bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if n := len(part); n > 0 && part[n-1] == '\n' {
			part, ended = part[:n-1], true
		}
		length += len(part)
		if room := MaxLine + 1 - len(start); room > 0 {
			start = append(start, part[:min(room, len(part))]...)
		}
		switch {
		case ended, errors.Is(err, io.EOF):
			return start, length, ended, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, false, err
		}
	}
}

func (v *view) String() string {
	if v.image != nil {
		return fmt.Sprintf("[%s: %s, %d bytes]", v.path, v.kind, len(v.image.Data))
	}
	if v.total == 0 {
		return fmt.Sprintf("[%s is empty]", v.path)
	}
	width := len(fmt.Sprint(v.to()))
	var b strings.Builder
	b.Grow(v.size + 256)
	for i, line := range v.lines {
		fmt.Fprintf(&b, "%*d\t%s\n", width, v.from+i, line)
	}
	if v.to() < v.total {
		fmt.Fprintf(&b, "[lines %d-%d of %d shown; go on with offset=%d]\n", v.from, v.to(), v.total, v.to()+1)
	}
	switch {
	case v.crlf > 0 && v.crlf >= len(v.lines)-1:
		b.WriteString("[lines end with CRLF]\n")
	case v.crlf > 0:
		b.WriteString("[some lines end with CRLF, some with LF]\n")
	}
	if v.odd {
		b.WriteString(`[not UTF-8: bytes that are no text are shown as \xNN]` + "\n")
	}
	return b.String()
}
