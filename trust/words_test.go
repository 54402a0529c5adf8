package trust_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/trust"
)

func words(t testing.TB, texts ...string) trust.Words {
	t.Helper()
	w, err := trust.ParseWords(texts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSentences(t *testing.T) {
	for word, want := range map[string]string{
		"fs.read":                "reads any file of the workspace",
		"fs.read:docs/**":        "reads docs/** in the workspace",
		"fs.read:/etc/hosts":     "reads /etc/hosts, outside the workspace",
		"fs.write":               "writes, changes and removes any file of the workspace",
		"fs.write:~/notes/**":    "writes, changes and removes ~/notes/**, outside the workspace",
		"exec":                   "anything you can do",
		"exec:git":               "starts git with arguments of its choice; what git itself starts is not limited",
		"net":                    "talks to any host, this machine and your network among them, and can send what it has read",
		"net:example.org":        "talks to example.org and can send it what it has read",
		"net:*.example.org:8443": "talks to *.example.org:8443 and can send it what it has read",
		"listen":                 "serves requests that come from this machine",
		"listen:127.0.0.1:8080":  "serves requests that come from this machine, on port 8080",
		"listen:localhost":       "serves requests that come from this machine",
		"listen:0.0.0.0:80":      "serves requests from every network this machine is in, on port 80",
		"listen:[::]:80":         "serves requests from every network this machine is in, on port 80",
		"listen:192.168.0.7":     "serves requests that reach this machine at 192.168.0.7",
		"model":                  "asks models, paid from the session's purse, without a ceiling of its own",
		"model:0.50":             "asks models, paid from the session's purse, up to $0.50 a session",
		"env":                    "reads environment variables, except those that hold keys",
		"env:CI_*":               "reads environment variables named CI_*, except those that hold keys",
		"env:HOME":               "reads the environment variable HOME",
		"env:GITHUB_TOKEN":       "reads the environment variable GITHUB_TOKEN, which holds a key",
		"prompt":                 "types prompts as if you had",
		"steer":                  "changes what the model reads and what tools are given",
		"permit":                 "answers permission questions for you and acts in panels of other plugins",
	} {
		w, err := trust.ParseWord(word)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := w.Sentence(); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
		if w.String() != word {
			t.Errorf("%s is written %s", word, w)
		}
	}
}

func TestParseWordErrors(t *testing.T) {
	for word, want := range map[string]string{
		"":                                    "is empty",
		"exce:git":                            `unknown; did you mean "exec:git"?`,
		"fs.raed:docs/**":                     `did you mean "fs.read:docs/**"?`,
		"Exec":                                `did you mean "exec"?`,
		"http:example.org":                    `did you mean "net:example.org"?`,
		"shell":                               `did you mean "exec"?`,
		"steer ":                              "space",
		"zebra":                               "the words are fs.read, fs.write, exec, net, listen, model, env, prompt, steer, permit",
		"fs:../x":                             `did you mean "fs.read"?`, // the scope is no good either
		"fs.read:":                            `nothing after the colon; write "fs.read"`,
		"prompt:x":                            `takes no scope; write "prompt"`,
		"steer:all":                           "takes no scope",
		"permit:x":                            "takes no scope",
		"fs.read:docs/":                       `write "docs/**"`,
		"fs.read:~":                           `write "~/**"`,
		"fs.read:~/":                          `write "~/**"`,
		"fs.read:/":                           `write "/**"`,
		"fs.read:~ann/x":                      `only "~/"`,
		"fs.read:../x":                        `".." is refused`,
		"fs.write:a/../b":                     `".." is refused`,
		"fs.read:~/../x":                      `".." is refused`,
		"fs.read:./docs/**":                   `write "docs/**"`,
		"fs.read:a//b":                        `write "a/b"`,
		"fs.read:.":                           `write "**"`,
		"fs.read:a**":                         `"**" stands for whole parts`,
		"fs.read:***":                         `"**" stands for whole parts`,
		"fs.read:[a":                          "not closed",
		"fs.read:[]":                          "not closed",
		"fs.read:[z-a]":                       "[z-a] runs backwards",
		"fs.read:a/[b/c]":                     "not closed",
		`fs.read:a\b`:                         `parted by "/"`,
		"fs.read:a\x1b[2Kb":                   "cannot be shown",
		"fs.read:a\u202eb":                    "cannot be shown",
		"fs.read:a\xffb":                      "cannot be shown",
		"fs.read:a\nb":                        "cannot be shown",
		"exec:/usr/bin/git":                   `without its path; write "exec:git"`,
		"exec:git push":                       `without arguments; write "exec:git"`,
		"exec:*":                              "one program",
		"exec:git;rm":                         "one program",
		"exec:-x":                             "one program",
		"exec:..":                             "one program",
		"exec:a:b":                            "one program",
		"net:https://example.org/x":           `write "net:example.org"`,
		"net:example.org/x":                   `write "net:example.org"`,
		"net:*":                               `write "net"`,
		"net:ex*mple.org":                     "no host name",
		"net:*.*.org":                         "no host name",
		"net:exämple.org":                     "xn-- form",
		"net:a..b":                            "no host name",
		"net::80":                             "no host name",
		"net:[::1":                            "bracket",
		"net:example.org:http":                `"http" is no port`,
		"net:example.org:70000":               "no port",
		"net:example.org:080":                 "no port",
		"listen:8080":                         `write "listen:127.0.0.1:8080"`,
		"listen::8080":                        `or "listen:0.0.0.0:8080" to be reached from outside`,
		"listen:example.org:80":               "no address of this machine",
		"listen:127.0.0.1:x":                  "no port",
		"listen:fe80::1%eth0":                 "no address of this machine",
		"model:$0.50":                         "an amount of US dollars",
		"model:1e3":                           "an amount of US dollars",
		"model:.5":                            "an amount of US dollars",
		"model:1.2.3":                         "an amount of US dollars",
		"model:0":                             "above 0",
		"model:0.00":                          "above 0",
		"model:2000000":                       "at most 1000000",
		"env:A B":                             "no name",
		"env:A=B":                             "no name",
		"env:*":                               `write "env"`,
		"env:**":                              `write "env"`,
		"env:[A":                              "not closed",
		"fs.read:" + strings.Repeat("a", 200): "more than 200",
	} {
		w, err := trust.ParseWord(word)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v (%v), want %q in the error", word, err, w, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), fmt.Sprintf("word %q: ", word)) {
			t.Errorf("%q: the error does not start with the word: %v", word, err)
		}
	}
}

func TestParseWords(t *testing.T) {
	got, err := trust.ParseWords([]string{"steer", "exec:git", "fs.read:docs/**", "exec:git", "fs.read", "exec"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fs.read", "fs.read:docs/**", "exec", "exec:git", "steer"}
	if d := cmp.Diff(want, got.Strings()); d != "" {
		t.Error(d)
	}
	if got, err := trust.ParseWords(nil); err != nil || len(got) != 0 {
		t.Errorf("no words: %v, %v", got, err)
	}
	if _, err := trust.ParseWords([]string{"execc", "steer", "nett"}); err == nil ||
		!strings.Contains(err.Error(), "execc") || !strings.Contains(err.Error(), "nett") {
		t.Errorf("not every wrong word is in the error: %v", err)
	}
}

func TestAdded(t *testing.T) {
	for _, c := range []struct{ old, next, want string }{
		{"", "", ""},
		{"", "steer exec:git", "exec:git steer"},
		{"steer exec:git", "steer", ""},
		{"exec:git", "exec:git exec:rg", "exec:rg"},
		{"exec", "exec:git", ""},
		{"exec:git", "exec", "exec"},
		{"fs.read", "fs.read:docs/**", ""},
		{"fs.read", "fs.write:docs/**", "fs.write:docs/**"},
		{"fs.read", "fs.read:~/x fs.read:/x", "fs.read:/x fs.read:~/x"}, // outside the workspace
		{"fs.read:docs/**", "fs.read:docs/a", "fs.read:docs/a"},
		{"net", "net:example.org", ""},
		{"listen", "listen:127.0.0.1:80 listen:[::1]", ""},
		{"listen", "listen:0.0.0.0:80", "listen:0.0.0.0:80"},
		{"model:1", "model:0.50", ""},
		{"model:1", "model:1.01", "model:1.01"},
		{"model:1", "model", "model"},
		{"model", "model:5", ""},
		{"env", "env:CI_*", ""},
		{"env", "env:GITHUB_TOKEN", "env:GITHUB_TOKEN"}, // an exact name yields what none other does
		{"env:CI_*", "env:CI_X", "env:CI_X"},
	} {
		got := trust.Added(words(t, strings.Fields(c.old)...), words(t, strings.Fields(c.next)...))
		if d := cmp.Diff(c.want, strings.Join(got.Strings(), " ")); d != "" {
			t.Errorf("%q -> %q: %s", c.old, c.next, d)
		}
	}
}

func FuzzParseWord(f *testing.F) {
	for _, seed := range []string{
		"fs.read", "fs.read:docs/**", "fs.write:~/notes/[a-z]?.md", "exec:git", "net:*.example.org:443", "net:[::1]:80",
		"listen:127.0.0.1:8080", "model:0.50", "env:CI_*", "env:[!A]X", "exce", "fs.read:[[]", "fs.read:/**/x", "",
	} {
		f.Add(seed)
	}
	at := trust.Folders{Workspace: "/home/ann/ws", Home: "/home/ann"}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := trust.ParseWord(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\x00\r\n") {
				t.Errorf("%q: the error could act on a terminal: %q", text, err)
			}
			return
		}
		if again, err := trust.ParseWord(w.String()); w.String() != text || err != nil || again != w {
			t.Errorf("%q was read as %q, and that as %q, %v", text, w, again, err)
		}
		if s := w.Sentence(); s == "" || trust.Sanitize(s) != s || strings.HasPrefix(s, "nothing") {
			t.Errorf("%q: sentence %q", text, s)
		}
		if added := trust.Added(trust.Words{w}, trust.Words{w}); len(added) != 0 {
			t.Errorf("%q adds itself", text)
		}
		for _, name := range []string{"docs/a", "~/notes/x", "/etc/passwd", "."} {
			if err := (trust.Words{w}).AllowsWrite(at, name); err == nil && w.Kind != trust.FSWrite {
				t.Errorf("%q allows writing %s", text, name)
			}
		}
		if err := (trust.Words{w}).AllowsEnv("AWS_SECRET_ACCESS_KEY"); err == nil && text != "env:AWS_SECRET_ACCESS_KEY" {
			t.Errorf("%q yields a key", text)
		}
	})
}
