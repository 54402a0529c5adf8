package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// Bug reports D-01, D-02, D-04: an edit changes the bytes it names and no other:
// line endings, marks that look alike, blanks and the end of the file stay.
func TestD01D02D04NoOtherByteChanges(t *testing.T) {
	curly := "first \u2018line\u2019 \u2014 a\u00a0b  \nsecond \u201cline\u201d\t\nthird \u201cline\u201d \u2014 c\u00a0d   \nfourth\u00a0line  \n"
	for name, c := range map[string]struct {
		before, after string
		calls         []want
		refused       string // part of the result where no byte may change
	}{
		"D-01 CRLF":      {"a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", []want{edit("f", "a\nb", "A\nb")}, ""},
		"D-01 mixed":     {"a\r\nb\nc\r\nd\n", "a\r\nB\nc\r\nd\n", []want{edit("f", "b", "B")}, ""},
		"D-01 over both": {"a\r\nb\nc\r\nd\n", "a\r\nB\nC\r\nd\n", []want{edit("f", "b\nc", "B\nC")}, ""},
		"D-01 BOM":       {"\ufeffa\r\nb\r\n", "\ufeffA\r\nb\r\n", []want{edit("f", "a", "A")}, ""},
		"D-02 exact": {
			curly, strings.Replace(curly, "third \u201cline\u201d \u2014", "changed \u2014", 1),
			[]want{edit("f", "third \u201cline\u201d \u2014", "changed \u2014")},
			"",
		},
		"D-04 no break":   {"a\nb", "C\nb", []want{edit("f", "a", "A"), edit("f", "A", "C")}, ""},
		"D-04 one break":  {"a\nb\n", "C\nb\n", []want{edit("f", "a", "A"), edit("f", "A", "C")}, ""},
		"D-04 two breaks": {"a\nb\n\n", "C\nb\n\n", []want{edit("f", "a", "A"), edit("f", "A", "C")}, ""},
		"ambiguous":       {"a\na\n", "a\na\n", []want{edit("f", "a", "b")}, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			l := asking(t, nil, one(append([]want{{"read", object{"path": "f"}}}, c.calls...)...)...)
			l.write("ws/f", c.before)
			got := l.done("go")
			if at := l.bytesOf("ws/f"); at != c.after {
				t.Errorf("%q became %q, want %q; %q", c.before, at, c.after, got)
			}
			if c.refused != "" && !strings.Contains(got[len(got)-1], c.refused) {
				t.Errorf("result %q", got[len(got)-1])
			}
		})
	}
	// D-02: straight marks for curly ones. Whether that is a match or a refusal, no
	// byte outside line 3 differs, and a refusal shows what stands there.
	l := asking(t, nil, one(want{"read", object{"path": "f"}}, edit("f", `third "line" - c d`, "changed"))...)
	l.write("ws/f", curly)
	got := l.done("go")
	lines, before := strings.SplitAfter(l.bytesOf("ws/f"), "\n"), strings.SplitAfter(curly, "\n")
	for i := range before {
		if i != 2 && lines[i] != before[i] {
			t.Errorf("D-02: line %d was %q and is %q", i+1, before[i], lines[i])
		}
	}
	switch lines[2] {
	case before[2]:
		if !strings.Contains(got[1], "third \u201cline\u201d") {
			t.Errorf("D-02: refused without a hint: %s", got[1])
		}
	case "changed   \n":
	default:
		t.Errorf("D-02: line 3 is %q", lines[2])
	}
}

// Bug report D-03: signs that mean something to replacers and formatters arrive as
// they are: through edit, several edits, a guard that rewrites, a command of a plugin.
func TestD03DollarSigns(t *testing.T) {
	const odd = `x $1 ${name} $& $$ \1 %s %% %d \n`
	several := want{"edit", object{"path": "f", "edits": []object{{"old_text": "a", "new_text": odd}, {"old_text": "b", "new_text": odd + "2"}}}}
	rewritten := want{"edit", object{"path": "f", "edits": []object{{"old_text": "c", "new_text": "REWRITE"}}}}
	l := asking(t, nil, one(several, rewritten, want{"write", object{"path": "g", "content": odd}})...)
	l.write("ws/f", "a\nb\nc\n")
	l.write("home/plugins/odd.star", `inject = ["commands"]
uses = ["prompt", "steer"]
def apply(ctx):
    def rewrite(c):
        if c.name == "edit" and "REWRITE" in c.arguments_json:
            return {"arguments": {"path": "f", "edits": [{"old_text": "c", "new_text": "`+strings.ReplaceAll(odd, `\`, `\\`)+`3"}]}}
    on("agent/tool-call", rewrite)
    command("say", "Says.", lambda args: prompt("say: " + args))
`)
	if e := l.run("--quiet", "/say "+odd); e.code != 0 {
		t.Fatal(e)
	}
	if got := l.bytesOf("ws/f"); got != odd+"\n"+odd+"2\n"+odd+"3\n" {
		t.Errorf("f is %q: %q", got, l.results())
	}
	if got := l.bytesOf("ws/g"); got != odd {
		t.Errorf("g is %q", got)
	}
	m := messages(t, l.sent()[0].body)
	if got := m[len(m)-1].text(); got != "say: "+odd {
		t.Errorf("the prompt is %q", got)
	}
}

// Bug report D-05: what somebody else saved since the last read, with size and time
// kept, is neither overwritten nor edited; the model reads what stands there. Its own
// second edit passes.
func TestD05ChangedSinceItWasRead(t *testing.T) {
	for name, call := range map[string]want{
		"write": {"write", object{"path": "f", "content": "mine\n"}},
		"edit":  edit("f", "one", "ONE"),
	} {
		t.Run(name, func(t *testing.T) {
			l := asking(t, func(l *lab, n int) {
				if n != 1 {
					return
				}
				path := filepath.Join(l.ws, "f")
				info, err := os.Stat(path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(path, []byte("one\nTWO\n"), 0o644); err != nil {
					t.Error(err)
				}
				if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
					t.Error(err)
				}
			}, one(want{"read", object{"path": "f"}}, call)...)
			l.write("ws/f", "one\ntwo\n")
			got := l.done("go")
			if at := l.bytesOf("ws/f"); at != "one\nTWO\n" || !strings.Contains(got[1], "TWO") {
				t.Errorf("file %q, result %q", at, got[1])
			}
		})
	}
	l := asking(t, nil, one(want{"read", object{"path": "f"}}, edit("f", "one", "1"), edit("f", "two", "2"), want{"write", object{"path": "f", "content": "3\n"}})...)
	l.write("ws/f", "one\ntwo\n")
	if got := l.done("go"); l.bytesOf("ws/f") != "3\n" {
		t.Errorf("own edits: %q", got)
	}
}

// Bug report D-06: modes and links stay, also under a tight umask.
func TestD06ModesAndLinksStay(t *testing.T) {
	l := asking(t, nil, one(edit("run.sh", "old", "new"), edit("group.txt", "old", "new"), edit("own.txt", "old", "new"), edit("link.txt", "old", "new"))...)
	modes := map[string]os.FileMode{"run.sh": 0o755, "group.txt": 0o640, "own.txt": 0o600, "other/target.txt": 0o644}
	for name, mode := range modes {
		l.write("ws/"+name, "old text\n")
		if err := os.Chmod(filepath.Join(l.ws, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("other/target.txt", filepath.Join(l.ws, "link.txt")); err != nil {
		t.Fatal(err)
	}
	umask := syscall.Umask(0o077)
	p := l.start("--quiet", "go")
	syscall.Umask(umask)
	if e := p.wait(); e.code != 0 {
		t.Fatal(e)
	}
	fine(t, l.results(), 4)
	for name, mode := range modes {
		info, err := os.Lstat(filepath.Join(l.ws, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := l.bytesOf("ws/" + name); got != "new text\n" || info.Mode() != mode {
			t.Errorf("%s: %v %q", name, info.Mode(), got)
		}
	}
	if to, err := os.Readlink(filepath.Join(l.ws, "link.txt")); err != nil || to != "other/target.txt" {
		t.Errorf("the link: %q %v", to, err)
	}
}

// Bug report D-07: a byte that is no text is kept by an edit elsewhere, never becomes
// U+FFFD on disk, and travels in a valid request; a picture is named by what it is.
func TestD07NotUTF8(t *testing.T) {
	l := asking(t, nil, one(want{"read", object{"path": "f"}}, edit("f", "three", "THREE"), want{"read", object{"path": "p.png"}})...)
	l.write("ws/f", "caf\xe9 \xf5\ntwo\nthree\n")
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\xff", 500)
	l.write("ws/p.png", png)
	got := l.done("go")
	if at := l.bytesOf("ws/f"); at != "caf\xe9 \xf5\ntwo\nTHREE\n" {
		t.Errorf("file %q: %q", at, got)
	}
	if !strings.Contains(got[0], `\xf5`) && !strings.Contains(got[0], `\xF5`) {
		t.Errorf("read shows %q", got[0])
	}
	if !strings.Contains(got[2], "1508") || !strings.Contains(strings.ToLower(got[2]), "png") {
		t.Errorf("the picture: %q", got[2])
	}
	for _, r := range l.sent() { // lab has parsed each as JSON
		if !utf8.ValidString(r.body) {
			t.Error("a request is not UTF-8")
		}
	}
}
