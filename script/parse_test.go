package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeclarations(t *testing.T) {
	src := `#!/usr/bin/env starling
# The first line.
# The second.

# not this one
BASE = ["tools"]
inject = BASE + ["todos?"]
provides = ("notes",)
emits = ["notes/changed"]
uses = ["exec:git"]
limits = {"steps": 0, "time_ms": 1500}
isolate = {"shell": True, "db": "sandbox"}
config_schema = {"type": "object", "maximum": 1.5}
fail_closed = True
probes = [{"tool": "write", "arguments": {"path": "x"}, "expect": "blocked"}]

EVENT = "agent/" + "tool-call"

def helper(tool):
    return tool.fs.read

def apply(ctx):
    on(EVENT, lambda e: block("no") if e.name == "x" else None)
    on("agent/message", print)
    on(ctx.name, print)
    tool(name = "count", description = "d", parameters = {}, execute = lambda a: fs.read(a["p"]))
    tool("x" + "y", "d", {}, run)
    command("go", "d", lambda a: exec(["git"], env = {}))
    effect(lambda: None, lambda: None)
    h = http
    answer_question(1, "x")
`
	p, err := Parse("notes", "n.star", []byte("\xef\xbb\xbf"+strings.ReplaceAll(src, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, col int) Position { return Position{"n.star", line, col} }
	want := &Decl{
		Name: "notes", Path: "n.star", Doc: "The first line.\nThe second.",
		Inject: []string{"tools", "todos?"}, Provides: []string{"notes"}, Emits: []string{"notes/changed"}, Uses: []string{"exec:git"},
		Limits:       Limits{Steps: Off, Time: 1500e6},
		Isolate:      map[string]string{"shell": "", "db": "sandbox"},
		ConfigSchema: map[string]any{"type": "object", "maximum": 1.5},
		FailClosed:   true,
		Probes:       []Probe{{"write", []byte(`{"path":"x"}`), "blocked"}},
		Registrations: []Registration{
			{"on", "agent/tool-call", at(23, 5), at(23, 7), Applying},
			{"on", "agent/message", at(24, 5), at(24, 7), Applying},
			{"on", "", at(25, 5), at(25, 7), Applying},
			{"tool", "count", at(26, 5), at(26, 9), Applying},
			{"tool", "xy", at(27, 5), at(27, 9), Applying},
			{"command", "go", at(28, 5), at(28, 12), Applying},
			{"effect", "", at(29, 5), at(29, 11), Applying},
		},
		Events:       []string{"", "agent/message", "agent/tool-call"},
		Capabilities: []string{"answer_question", "exec", "fs.read", "http"},
	}
	if d := cmp.Diff(want, p.Decl()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if d := cmp.Diff([]string{"steps"}, p.Decl().Limits.Raised()); d != "" {
		t.Errorf("raised: %s", d)
	}
}

func TestDoc(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"\"\"\"One.\n\n  Two.\n\"\"\"\n", "One.\n\nTwo."},
		{"# only\n# comments\n", "only\ncomments"},
		{"inject = [\n  # why we need it\n  'a', # suffix\n]\n", ""},
		{"b'bytes'\n", ""},
		{"\n\n# late\ndef apply(ctx): pass\n", "late"},
		{"", ""},
	} {
		p, err := Parse("a", "a.star", []byte(c.src))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decl().Doc; got != c.want {
			t.Errorf("%q: doc %q, want %q", c.src, got, c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a", "inject = ['a']\nx = '\x00'\n", "a.star:2:6: a NUL byte"},
		{"a", "inject = ['\xff']\n", "a.star:1:12: the file is not valid UTF-8"},
		{"a", strings.Repeat("#\n", MaxSource/2+1), "larger than 1048576 bytes"},
		{"a", strings.Repeat("(", 100000), "excessive nesting"},
		{"", "", "needs a name"},
		{".a", "", "begins with a dot"},
		{"a b", "", "may hold letters"},
		{strings.Repeat("a", 41), "", "longer than 40"},
		{"é", "", "may hold letters"},
	} {
		_, err := Parse(c.name, "a.star", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q %.20q: %v, want %s", c.name, c.src, err, c.want)
		}
	}
	for _, ok := range []string{"a", "A.b_c-9", "-x", strings.Repeat("a", 40)} {
		if err := CheckName(ok); err != nil {
			t.Error(err)
		}
	}
}

// TestLongChain holds the cap on a file's size to what it is for: the longest
// chain of terms that fits must not overflow the reader, nor a long one the
// compiler, which is slow enough to be given a shorter one.
func TestLongChain(t *testing.T) {
	for _, terms := range []int{MaxSource/3 - 100, 50_000} {
		src := "inject = [" + strings.Repeat("\"\"+", terms) + "\"a\"]\ndef apply(ctx): pass\n"
		p, err := Parse("a", "a.star", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Decl().Inject; len(got) != 1 || got[0] != "a" {
			t.Errorf("inject %q", got)
		}
		if terms > 50_000 {
			continue
		}
		if err := p.Compile(nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryErrorIsPrinted(t *testing.T) {
	p, err := Parse("a", "a.star", []byte("def f(): provid(1); pint(2)\ndef apply(): pass\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = p.Compile(map[string]bool{"provide": true})
	want := "a.star:1:10: undefined: provid (did you mean provide?)\n" +
		"a.star:1:21: undefined: pint (did you mean print?)\n" +
		"a.star:2:5: apply takes one parameter: def apply(ctx)"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var one *Error
	if !errors.As(err, &one) || one.Line != 1 {
		t.Errorf("the first error: %v", one)
	}
}

// FuzzParse holds that reading and resolving a file never panics, and that
// whatever is refused has a place.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.star")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, chunk := range strings.Split(string(src), "\n---\n") {
			f.Add([]byte(chunk))
		}
	}
	f.Add([]byte("inject = -1\nlimits = {\"steps\": 99999999999999999999}\n"))
	f.Add([]byte("uses = [\"model:1e400\", \"env:\\x00\"]\nprobes = [{}]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		p, err := Parse("fuzz", "fuzz.star", src)
		if err != nil {
			for _, e := range flatten(err) {
				if e.Msg == "" || e.File != "fuzz.star" || e.Line == 0 && len(src) < MaxSource {
					t.Errorf("error without a place: %#v", e)
				}
			}
			return
		}
		for _, list := range [][]string{p.decl.Inject, p.decl.Provides, p.decl.Emits, p.decl.Uses} {
			for _, s := range list {
				if s == "" {
					t.Error("an empty name was accepted")
				}
			}
		}
		for _, e := range flatten(p.Compile(map[string]bool{"on": true})) {
			if e.Msg == "" || e.File != "fuzz.star" {
				t.Errorf("error without a place: %#v", e)
			}
		}
	})
}

func TestUses(t *testing.T) {
	p, err := Parse("a", "a.star", []byte("def apply(ctx):\n    x = known(1)\n    print(lambda known: known, len([x]))\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Uses("known") {
		t.Error("a file that is not compiled yet uses nothing")
	}
	if err := p.Compile(map[string]bool{"known": true, "other": true, "x": true}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"known": true, "print": true, "other": false, "x": false, "len": false, "apply": false} {
		if p.Uses(name) != want {
			t.Errorf("Uses(%q) = %v", name, !want)
		}
	}
}
