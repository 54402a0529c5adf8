package fs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"starling/bus"
	"starling/bus/spec"
	"starling/tools"
	"starling/tools/fs"
	"starling/trust"
)

// desk is a workspace with the tools on it, called as the loop calls them.
type desk struct {
	t    testing.TB
	dir  string
	reg  *tools.Registry
	jail *trust.Jail
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return deskIn(t, dir)
}

func deskIn(t testing.TB, dir string) *desk { return deskWith(t, dir, fs.Options{}) }

func deskWith(t testing.TB, dir string, opt fs.Options) *desk {
	t.Helper()
	jail, err := trust.NewJail(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jail.Close() })
	store := bus.NewStore()
	slot := spec.NewRegistry[spec.Tool](store, "tools")
	for _, tool := range fs.NewWith(jail, opt).All() {
		add, _ := slot.Slot().Put(bus.At(bus.ClassHost, 0, tool.Name), bus.Owner{Name: "host"}, tool)
		store.Commit(add)
	}
	return &desk{t: t, dir: dir, reg: tools.New(slot), jail: jail}
}

func (d *desk) call(name string, arguments any) (spec.ToolResult, error) {
	d.t.Helper()
	tool, _, ok := d.reg.Lookup(name)
	if !ok {
		d.t.Fatalf("no tool %s", name)
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		d.t.Fatal(err)
	}
	raw, err := d.reg.Check(tool, string(b))
	if err != nil {
		return spec.ToolResult{}, err
	}
	return tool.Execute(d.t.Context(), spec.ToolCall{ID: "1", Name: name, Arguments: raw, Progress: func(string) {}})
}

type args map[string]any

func (d *desk) read(a args) string {
	d.t.Helper()
	r, err := d.call("read", a)
	if err != nil {
		d.t.Fatalf("read %v: %v", a, err)
	}
	return r.Content
}

func (d *desk) put(name string, content []byte) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), content, 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) get(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

func TestReadShowsNumberedLines(t *testing.T) {
	d := newDesk(t)
	lines := make([]string, 12)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i+1)
	}
	d.put("a.txt", []byte(strings.Join(lines, "\n")))
	d.put("crlf.txt", []byte("a\r\nb\r\nc\r\n"))
	d.put("mixed.txt", []byte("a\r\nb\nc\nd\r\n"))
	d.put("empty", nil)
	d.put("blank", []byte("\n\n"))
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "a.txt", "limit": 2}, "1\tline 1\n2\tline 2\n[lines 1-2 of 12 shown; go on with offset=3]\n"},
		{args{"path": "a.txt", "offset": 9}, " 9\tline 9\n10\tline 10\n11\tline 11\n12\tline 12\n"},
		{args{"path": "./a.txt", "offset": 12, "limit": 5}, "12\tline 12\n"},
		{args{"path": filepath.Join(d.dir, "a.txt"), "offset": 12}, "12\tline 12\n"},
		{args{"path": "crlf.txt"}, "1\ta\n2\tb\n3\tc\n[lines end with CRLF]\n"},
		{args{"path": "mixed.txt"}, "1\ta\n2\tb\n3\tc\n4\td\n[some lines end with CRLF, some with LF]\n"},
		{args{"path": "empty"}, "[empty is empty]"},
		{args{"path": "blank"}, "1\t\n2\t\n"},
	} {
		if got := d.read(c.a); got != c.want {
			t.Errorf("read %v:\n%q\nwant\n%q", c.a, got, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	d := newDesk(t)
	d.put("d.pdf", []byte("%PDF-1.7\n"))
	d.put("u16", []byte("\xff\xfea\x00"))
	d.put("zeros", make([]byte, 9))
	d.put("a.txt", []byte("one\ntwo\n"))
	if err := os.Mkdir(filepath.Join(d.dir, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "d.pdf"}, "d.pdf is binary (PDF document, 9 bytes): read shows text and images only"},
		{args{"path": "u16"}, "UTF-16 text, 4 bytes"},
		{args{"path": "zeros"}, "unknown kind, 9 bytes"},
		{args{"path": "a.txt", "offset": 3}, "a.txt has 2 lines: offset 3 is past its end"},
		{args{"path": "absent"}, "absent: no such file"},
		{args{"path": "dir"}, "is a directory"},
		{args{"path": "../x"}, "outside the workspace"},
		{args{"path": ""}, "empty"},
		{args{"path": "a.txt", "offset": 0}, "offset: minimum"},
		{args{"path": "a.txt", "PATH": "../x"}, `unknown "PATH"`},
		{args{}, `missing "path"`},
	} {
		if got, err := d.call("read", c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("read %v = %q, %v; want %q", c.a, got.Content, err, c.want)
		}
	}
}

// D-07: bytes that are no text are shown, and never as U+FFFD.
func TestReadLatin1(t *testing.T) {
	d := newDesk(t)
	d.put("l1.txt", []byte("caf\xe9 \xf5\nplain\nreal \uFFFD\n"))
	want := "1\tcaf\\xE9 \\xF5\n2\tplain\n3\treal \uFFFD\n[not UTF-8: bytes that are no text are shown as \\xNN]\n"
	if got := d.read(args{"path": "l1.txt"}); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestReadLimits(t *testing.T) {
	d := newDesk(t)
	d.put("many", []byte(strings.Repeat("x\n", 5000)))
	got := d.read(args{"path": "many", "limit": 4000})
	if n := strings.Count(got, "x\n"); n != fs.MaxLines || !strings.HasSuffix(got, "[lines 1-1000 of 5000 shown; go on with offset=1001]\n") {
		t.Errorf("%d lines, end %q", n, got[len(got)-80:])
	}
	wide := strings.Repeat("y", 3000) + "\n"
	d.put("wide", []byte(strings.Repeat(wide, 100)))
	got = d.read(args{"path": "wide"})
	if len(got) > fs.MaxBytes+200 || !strings.Contains(got, "[lines 1-21 of 100 shown") {
		t.Errorf("%d bytes, end %q", len(got), got[len(got)-80:])
	}
	d.put("long", []byte("start"+strings.Repeat("é", 100_000)+"\nnext\n"))
	got = d.read(args{"path": "long"})
	if !strings.HasPrefix(got, "1\tstarté") || !strings.HasSuffix(got, "é … [the line goes on: 200005 bytes in all]\n2\tnext\n") ||
		!utf8.ValidString(got) || strings.Contains(got, `\x`) || len(got) > fs.MaxLine+200 {
		t.Errorf("%d bytes, %q … %q", len(got), got[:20], got[len(got)-80:])
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", []byte("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tool, _, _ := d.reg.Lookup("read")
	if _, err := tool.Execute(ctx, spec.ToolCall{Arguments: json.RawMessage(`{"path":"a.txt"}`)}); err == nil {
		t.Error("a cancelled read is no error")
	}
}

func TestWrite(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		path, content, want string
		created             bool
	}{
		{"new/dir/a.txt", "one\ntwo\n", "created new/dir/a.txt (8 bytes, 2 lines)", true},
		{"new/dir/a.txt", "one", "replaced new/dir/a.txt (3 bytes, 1 line)", false},
		{"./new/../b.txt", "", "created b.txt (0 bytes, 0 lines)", true},
		{"d.txt", "x $1 ${name} $& $$ \\1 %s %%\r\n\r\n", "created d.txt (31 bytes, 2 lines)", true},
		{filepath.Join(d.dir, "e.txt"), "é", "created e.txt (2 bytes, 1 line)", true},
	} {
		r, err := d.call("write", args{"path": c.path, "content": c.content})
		if err != nil || r.Content != c.want {
			t.Errorf("write %s: %q, %v; want %q", c.path, r.Content, err, c.want)
			continue
		}
		rel, err := d.jail.Resolve(c.path)
		if err != nil || d.get(rel) != c.content {
			t.Errorf("%s holds %q", c.path, d.get(rel))
		}
		var details struct{ Created bool }
		if err := json.Unmarshal(r.Details, &details); err != nil || details.Created != c.created {
			t.Errorf("details %s, %v", r.Details, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", []byte("old"))
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"path": "a.txt", "content": "caf\uFFFD"}, "U+FFFD"},
		{args{"path": "../a.txt", "content": "x"}, "outside the workspace"},
		{args{"path": ".", "content": "x"}, "a directory"},
		{args{"path": "a.txt/b", "content": "x"}, "not a directory"},
		{args{"path": "a.txt"}, `missing "content"`},
	} {
		if r, err := d.call("write", c.a); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("write %v = %q, %v; want %q", c.a, r.Content, err, c.want)
		}
	}
	if got := d.get("a.txt"); got != "old" {
		t.Errorf("a.txt holds %q", got)
	}
}

// D-05: what somebody else saved since the last read is not lost, also when size
// and time stayed the same; own writes in a row are no such thing.
func TestWriteNoticesForeignChanges(t *testing.T) {
	d := newDesk(t)
	d.put("a.txt", []byte("mine\n"))
	d.read(args{"path": "a.txt", "limit": 1})
	info, err := os.Stat(filepath.Join(d.dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	d.put("a.txt", []byte("thei\n"))
	if err := os.Chtimes(filepath.Join(d.dir, "a.txt"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	_, err = d.call("write", args{"path": "./a.txt", "content": "new\n"})
	if err == nil || !strings.Contains(err.Error(), "changed by somebody else") || !strings.Contains(err.Error(), "1\tthei\n") {
		t.Fatalf("got %v", err)
	}
	if got := d.get("a.txt"); got != "thei\n" {
		t.Fatalf("a.txt holds %q", got)
	}
	for _, content := range []string{"told\n", "and again\n"} {
		if _, err := d.call("write", args{"path": "a.txt", "content": content}); err != nil {
			t.Fatalf("after having seen it: %v", err)
		}
	}
	d.put("a.txt", []byte("\x00\x01"))
	if _, err := d.call("write", args{"path": "a.txt", "content": "x"}); err == nil || !strings.Contains(err.Error(), "no text any more") {
		t.Fatalf("got %v", err)
	}
	if _, err := d.call("write", args{"path": "a.txt", "content": "x"}); err != nil {
		t.Fatalf("after having been told: %v", err)
	}
}

// What nobody read in this session is replaced on the second call alone: text, bytes
// and what another session knew; an empty file holds nothing to lose.
func TestWriteOverWhatNobodyRead(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct{ name, content, want string }{
		{"a.txt", "precious\nwork\n", "1\tprecious\n2\twork\n"},
		{"a.bin", "\x89PNG\r\n\x1a\n\x00\x01", "PNG image"},
		{"long.txt", strings.Repeat("line\n", 5000), "[lines 1-40 of 5000 shown"},
	} {
		d.put(c.name, []byte(c.content))
		_, err := d.call("write", args{"path": c.name, "content": "new\n"})
		if err == nil || !strings.Contains(err.Error(), "was not read in this session: nothing was written") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := d.get(c.name); got != c.content {
			t.Fatalf("%s holds %q", c.name, got)
		}
		if _, err := d.call("write", args{"path": c.name, "content": "new\n"}); err != nil || d.get(c.name) != "new\n" {
			t.Errorf("%s after having been told: %v, %q", c.name, err, d.get(c.name))
		}
	}
	d.put("empty.txt", nil)
	if _, err := d.call("write", args{"path": "empty.txt", "content": "new\n"}); err != nil {
		t.Error(err)
	}
}

// A file that is there keeps its byte order mark and its line ends, whatever is
// between the chunks it is read in.
func TestWriteKeepsTheManner(t *testing.T) {
	d := newDesk(t)
	const mark = "\uFEFF"
	long := strings.Repeat("x", 32<<10-1) + "\r\n"
	for i, c := range []struct{ old, new, want string }{
		{"a\r\nb\r\n", "c\nd\n", "c\r\nd\r\n"},
		{"a\r\nb", "c\nd", "c\r\nd"},
		{long + long, "c\n", "c\r\n"},
		{strings.Repeat("line\r\n", maxed), "c\n", "c\r\n"},
		{"a\r\nb\n", "c\nd\n", "c\nd\n"},
		{"a\nb\n", "c\r\nd\n", "c\r\nd\n"},
		{"a\r\nb\r\n", "c\r\nd\n", "c\r\nd\n"},
		{"a", "c\n", "c\n"},
		{mark + "a\n", "c\n", mark + "c\n"},
		{mark + "a\r\n", "c\n", mark + "c\r\n"},
		{mark + "a\n", mark + "c\n", mark + "c\n"},
		{mark + "a\n", "", ""},
		{"a\x00\r\n", "c\n", "c\n"},
	} {
		name := fmt.Sprintf("f%d.txt", i)
		d.put(name, []byte(c.old))
		if _, err := d.call("write", args{"path": name, "content": c.new}); err == nil {
			t.Errorf("%s was replaced unread", name)
		}
		r, err := d.call("write", args{"path": name, "content": c.new})
		if err != nil || d.get(name) != c.want {
			t.Errorf("%.20q, write %q: %q, %v", c.old, c.new, d.get(name), err)
		}
		if told := strings.Contains(r.Content, "[the file keeps its"); told != (c.want != c.new) {
			t.Errorf("%.20q, write %q: %s", c.old, c.new, r.Content)
		}
	}
}

// maxed is how many lines a file has that is too large for a diff.
const maxed = 1 << 20

// Guards see where a call leads, not what it says.
func TestPaths(t *testing.T) {
	d := newDesk(t)
	outside := filepath.Join(filepath.Dir(d.jail.Dir()), "outside")
	for link, target := range map[string]string{"dir": "sub", "out": "../outside/x", "log": "CHANGELOG.md"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"read", "write"} {
		tool, _, _ := d.reg.Lookup(name)
		for path, want := range map[string]string{
			"a.txt": "a.txt", "./x/../log": "CHANGELOG.md", "dir/f": "sub/f", "../outside/y": outside + "/y", "out": outside + "/x",
			filepath.Join(d.dir, "b"): "b", "/etc/passwd": "/etc/passwd",
		} {
			b, _ := json.Marshal(args{"path": path, "content": ""})
			if got, all := tool.Paths(b); !all || !slices.Equal(got, []string{want}) {
				t.Errorf("%s: paths of %q = %v, %v; want %q", name, path, got, all, want)
			}
		}
		for _, bad := range []string{`{}`, `[]`, `{"path": 1}`, `{"PATH": "a.txt"}`} {
			if got, all := tool.Paths(json.RawMessage(bad)); all || len(got) > 0 {
				t.Errorf("%s: paths of %s = %v, %v", name, bad, got, all)
			}
		}
	}
}

func TestClasses(t *testing.T) {
	d := newDesk(t)
	read, _, _ := d.reg.Lookup("read")
	write, _, _ := d.reg.Lookup("write")
	if read.Risk != spec.RiskRead || !read.ReadOnly || read.Sequential || !read.Builtin {
		t.Errorf("read: %+v", read)
	}
	if write.Risk != spec.RiskChange || write.ReadOnly || !write.Sequential || !write.Builtin {
		t.Errorf("write: %+v", write)
	}
	for _, tool := range []spec.Tool{read, write, fs.Read(d.jail), fs.Write(d.jail)} {
		if err := tools.ValidateSchema(tool.Parameters); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
}

// Whatever is in a file, reading it in windows shows each line once and is valid
// text within the limits; what was written is what is read.
func TestReadAnything(t *testing.T) {
	d := newDesk(t)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "é\r", "\xf5", strings.Repeat("long ", 1500), "tab\tx"})).Draw(t, "lines")
		content := strings.Join(lines, "\n")
		d.put("f", []byte(content))
		total := bytes.Count([]byte(content), []byte("\n"))
		if content != "" && !strings.HasSuffix(content, "\n") {
			total++
		}
		seen := 0
		for seen < total {
			r, err := d.call("read", args{"path": "f", "offset": seen + 1, "limit": rapid.IntRange(1, 5).Draw(t, "limit")})
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.ValidString(r.Content) || len(r.Content) > fs.MaxBytes+500 {
				t.Fatalf("%d bytes, valid %v", len(r.Content), utf8.ValidString(r.Content))
			}
			var v struct {
				From  int `json:"from_line"`
				To    int `json:"to_line"`
				Total int `json:"total_lines"`
			}
			if err := json.Unmarshal(r.Details, &v); err != nil {
				t.Fatal(err)
			}
			if v.From != seen+1 || v.To < v.From || v.Total != total {
				t.Fatalf("shown %+v after %d of %d lines", v, seen, total)
			}
			seen = v.To
		}
	})
}
