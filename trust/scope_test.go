package trust_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"starling/trust"
)

// check runs one check and returns what it says, "" for yes.
func check(t *testing.T, w trust.Words, what string, args ...string) string {
	t.Helper()
	at := trust.Folders{Workspace: "/home/ann/ws", Home: "/home/ann"}
	var err error
	switch what {
	case "read":
		err = w.AllowsRead(at, args[0])
	case "write":
		err = w.AllowsWrite(at, args[0])
	case "exec":
		err = w.AllowsExec(args[0])
	case "shell":
		err = w.AllowsShell()
	case "listen":
		err = w.AllowsListen(args[0])
	case "env":
		err = w.AllowsEnv(args[0])
	case "prompt":
		err = w.AllowsPrompt()
	case "steer":
		err = w.AllowsSteer()
	case "permit":
		err = w.AllowsPermit()
	default:
		t.Fatalf("no check %q", what)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		words, call string
		want        string // the word it needs; "" when it is allowed
	}{
		// Paths: without a scope the workspace, and nothing else.
		{"fs.read", "read docs/a.md", ""},
		{"fs.read", "read .", ""},
		{"fs.read", "read /home/ann/ws/docs", ""},
		{"fs.read", "read /home/ann/ws", ""},
		{"fs.read", "read ../x", "fs.read:~/x"},
		{"fs.read", "read a/../../x", "fs.read:~/x"},
		{"fs.read", "read /etc/passwd", "fs.read:/etc/passwd"},
		{"fs.read", "read /home/ann/ws2/x", "fs.read:~/ws2/x"},
		{"fs.read", "read ~/x", "fs.read:~/x"},
		{"fs.read", "read ~", "fs.read:~/**"},
		{"fs.read", "read /", "fs.read:/**"},
		{"fs.read", "write docs/a.md", "fs.write:docs/a.md"},
		{"fs.write", "read docs/a.md", "fs.read:docs/a.md"},
		{"", "read .", "fs.read"},
		{"", "read a[1]*?.md", "fs.read:a[[]1][*][?].md"},
		{"", `read d/a\b`, "fs.read:d/**"}, // a name no word can hold
		{"", "read ~ann", "fs.read:[~]ann"},
		{"", "read ./~/x", "fs.read:[~]/x"}, // a folder of that name
		{"fs.read:[~]/x", "read ./~/x", ""},
		{"fs.read:[~]/x", "read ~/x", "fs.read:~/x"},
		{"", "read /" + strings.Repeat("long/", 60) + "x", "fs.read:/" + strings.Repeat("long/", 37) + "**"},
		// Scopes.
		{"fs.read:docs/**", "read docs/a.md", ""},
		{"fs.read:docs/**", "read docs/a/b/c", ""},
		{"fs.read:docs/**", "read docs", ""}, // to list it
		{"fs.read:docs/**", "read docs/", ""},
		{"fs.read:docs/**", "read docs/../x", "fs.read:x"},
		{"fs.read:docs/**", "read docs2/x", "fs.read:docs2/x"},
		{"fs.read:docs/**", "read a/docs/x", "fs.read:a/docs/x"},
		{"fs.write:docs/**", "write docs/a", ""},
		{"fs.write:docs/**", "write docs", "fs.write:docs"}, // not to remove it
		{"fs.read:docs/*.md", "read docs/a.md", ""},
		{"fs.read:docs/*.md", "read docs/.a.md", ""},
		{"fs.read:docs/*.md", "read docs/a/b.md", "fs.read:docs/a/b.md"},
		{"fs.read:docs/*.md", "read docs", "fs.read:docs"},
		{"fs.read:**/*.go", "read a.go", ""},
		{"fs.read:**/*.go", "read a/b/c.go", ""},
		{"fs.read:a/**/z", "read a/z", ""},
		{"fs.read:a/**/z", "read a/b/c/z", ""},
		{"fs.read:a/**/z", "read a/b/c/y", "fs.read:a/b/c/y"},
		{"fs.read:?.md", "read ä.md", ""},
		{"fs.read:[a-cx].md", "read b.md", ""},
		{"fs.read:[a-cx].md", "read x.md", ""},
		{"fs.read:[a-cx].md", "read d.md", "fs.read:d.md"},
		{"fs.read:[!a-c].md", "read d.md", ""},
		{"fs.read:[^a-c].md", "read b.md", "fs.read:b.md"},
		{"fs.read:[]].md", "read ].md", ""},
		{"fs.read:[a-].md", "read -.md", ""},
		{"fs.read:**", "read .", ""},
		{"fs.read:a fs.read:b", "read b", ""},
		// Outside.
		{"fs.read:~/notes/**", "read ~/notes/x", ""},
		{"fs.read:~/notes/**", "read /home/ann/notes/x", ""},
		{"fs.read:~/notes/**", "read ../notes/x", ""},
		{"fs.read:~/notes/**", "read ~/notes", ""},
		{"fs.read:~/notes/**", "read /home/bob/notes/x", "fs.read:/home/bob/notes/x"},
		{"fs.read:/etc/**", "read /etc/hosts", ""},
		{"fs.read:/etc/**", "read etc/hosts", "fs.read:etc/hosts"},
		{"fs.read:/home/ann/ws/a", "read a", ""},
		{"fs.read:~/ws/*", "read a", ""},
		{"fs.read:/**", "read /", ""},
		{"fs.read:~/**", "read ~", ""},
		// Programs: by exact name; a path is another program.
		{"exec:git", "exec git", ""},
		{"exec:git", "exec git2", "exec:git2"},
		{"exec:git", "exec Git", "exec:Git"},
		{"exec:git", "exec ./git", "exec"},
		{"exec:git", "exec /usr/bin/git", "exec"},
		{"exec:git", "exec a b", "exec"},
		{"exec:git", "exec ", "exec"},
		{"exec:git", "shell", "exec"},
		{"exec", "exec ./anything", ""},
		{"exec", "shell", ""},
		{"", "exec git", "exec:git"},
		{"net", "exec git", "exec:git"},
		// Addresses to serve.
		{"listen", "listen 127.0.0.1:8080", ""},
		{"listen", "listen 127.9.9.9:0", ""},
		{"listen", "listen localhost:0", ""},
		{"listen", "listen [::1]:8080", ""},
		{"listen", "listen 0.0.0.0:8080", "listen:0.0.0.0:8080"},
		{"listen", "listen :8080", "listen:0.0.0.0:8080"},
		{"listen", "listen [::]:8080", "listen:[::]:8080"},
		{"listen", "listen 192.168.0.7:80", "listen:192.168.0.7:80"},
		{"listen:127.0.0.1:8080", "listen 127.0.0.1:8080", ""},
		{"listen:127.0.0.1:8080", "listen localhost:8080", ""},
		{"listen:127.0.0.1:8080", "listen 127.0.0.1:8081", "listen:127.0.0.1:8081"},
		{"listen:127.0.0.1:8080", "listen [::1]:8080", "listen:[::1]:8080"},
		{"listen:127.0.0.1", "listen 127.0.0.1:9", ""},
		{"listen:0.0.0.0:8080", "listen :8080", ""},
		{"listen:0.0.0.0:8080", "listen 127.0.0.1:8080", ""},
		{"listen:0.0.0.0:8080", "listen 0.0.0.0:8081", "listen:0.0.0.0:8081"},
		{"", "listen 127.0.0.1:8080", "listen"},
		// Environment variables: no wildcard yields a key.
		{"env:CI_*", "env CI_BRANCH", ""},
		{"env:CI_*", "env CI", "env:CI"},
		{"env:CI_*", "env CI_JOB_TOKEN", "env:CI_JOB_TOKEN"},
		{"env:CI_JOB_TOKEN", "env CI_JOB_TOKEN", ""},
		{"env", "env HOME", ""},
		{"env", "env OPENAI_API_KEY", "env:OPENAI_API_KEY"},
		{"env:OPENAI_API_KE?", "env OPENAI_API_KEY", "env:OPENAI_API_KEY"},
		{"env:*_KEY", "env OPENAI_API_KEY", "env:OPENAI_API_KEY"},
		{"env:AWS_*", "env AWS_REGION", "env:AWS_REGION"},
		{"env:HOME", "env home", "env:home"},
		// Words without a scope.
		{"prompt", "prompt", ""},
		{"", "prompt", "prompt"},
		{"steer", "steer", ""},
		{"prompt", "steer", "steer"},
		{"permit", "permit", ""},
		{"steer", "permit", "permit"},
	} {
		what, arg, _ := strings.Cut(c.call, " ")
		got := check(t, words(t, strings.Fields(c.words)...), what, arg)
		want := ""
		if c.want != "" {
			want = `needs "` + c.want + `" in uses`
		}
		if c.want != "" && !strings.HasPrefix(got, want) || c.want == "" && got != "" {
			t.Errorf("%q: %s: got %q, want %q", c.words, c.call, got, want)
		}
	}
}

func TestAllowsNet(t *testing.T) {
	for _, c := range []struct {
		words, host string
		port        int
		want        string
	}{
		{"net", "anything.example", 1, ""},
		{"net:example.org", "example.org", 443, ""},
		{"net:example.org", "EXAMPLE.org.", 8080, ""},
		{"net:EXAMPLE.org", "example.org", 443, ""},
		{"net:example.org", "www.example.org", 443, "net:www.example.org"},
		{"net:example.org", "example.org.evil.test", 80, "net:example.org.evil.test"},
		{"net:example.org:8443", "example.org", 8443, ""},
		{"net:example.org:8443", "example.org", 443, "net:example.org"},
		{"net:example.org:443", "example.org", 8443, "net:example.org:8443"},
		{"net:*.example.org", "a.example.org", 443, ""},
		{"net:*.example.org", "a.b.example.org", 443, ""},
		{"net:*.example.org", "example.org", 443, "net:example.org"},
		{"net:*.example.org", "badexample.org", 443, "net:badexample.org"},
		{"net:*.example.org", ".example.org", 443, "net"},
		{"net:127.0.0.1:80", "127.0.0.1", 80, ""},
		{"net:127.0.0.1", "::ffff:127.0.0.1", 80, ""},
		{"net:[::1]:8080", "::1", 8080, ""},
		{"net:[::1]:8080", "[0:0::1]", 8080, ""},
		{"net:::1", "::1", 80, ""},
		{"", "::1", 8080, "net:[::1]:8080"},
		{"", "example.org", 80, "net:example.org"},
		{"exec", "example.org", 80, "net:example.org"},
	} {
		err := words(t, strings.Fields(c.words)...).AllowsNet(c.host, c.port)
		got := ""
		var need *trust.NeedsError
		if errors.As(err, &need) {
			got = need.Word
		}
		if got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%q: %s port %d: got %v, want %q", c.words, c.host, c.port, err, c.want)
		}
	}
	if err := words(t, "net").AllowsNet("", 80); err == nil {
		t.Error("an empty host was allowed")
	}
}

func TestChecksRefuseNonsense(t *testing.T) {
	everything := words(t, "fs.read", "fs.read:/**", "listen", "listen:0.0.0.0")
	at := trust.Folders{Workspace: "/ws"}
	for name, want := range map[string]string{"": "empty", "a\x00b": "zero byte", "~/x": "no home folder"} {
		if err := everything.AllowsRead(at, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("path %q: got %v, want %q", name, err, want)
		}
	}
	for addr, want := range map[string]string{"example.org:80": "no address", "127.0.0.1:x": "no port", "80": "names no address"} {
		if err := everything.AllowsListen(addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("address %q: got %v, want %q", addr, err, want)
		}
	}
}

func TestModelCeiling(t *testing.T) {
	for _, c := range []struct {
		words   string
		usd     float64
		limited bool
		needs   bool
	}{
		{"model:0.50", 0.5, true, false},
		{"model:0.50 model:2", 2, true, false},
		{"model", 0, false, false},
		{"model model:1", 0, false, false},
		{"exec", 0, false, true},
	} {
		usd, limited, err := words(t, strings.Fields(c.words)...).ModelCeiling()
		if usd != c.usd || limited != c.limited || (err != nil) != c.needs {
			t.Errorf("%s: got %v, %v, %v", c.words, usd, limited, err)
		}
	}
}

func TestRoot(t *testing.T) {
	at := trust.Folders{Workspace: "/ws", Home: "/home/ann"}
	for word, want := range map[string]string{
		"fs.read": "/ws", "fs.read:docs/**": "/ws/docs", "fs.read:a": "/ws", "fs.write:a/b/c.md": "/ws/a/b",
		"fs.read:a/*/b/c": "/ws/a", "fs.read:**/x": "/ws", "fs.read:~/notes/**": "/home/ann/notes", "fs.read:/etc/hosts": "/etc", "exec": "",
	} {
		if got := words(t, word)[0].Root(at); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	if got := words(t, "fs.read:~/x/**")[0].Root(trust.Folders{Workspace: "/ws"}); got != "" {
		t.Errorf("without a home: %q", got)
	}
}

func TestIsKeyVariable(t *testing.T) {
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "GEMINI_API_KEY": true, "GH_TOKEN": true, "CLIENT_SECRET": true, "AWS_PROFILE": true,
		"aws_secret_access_key": true, "DB_PASSWORD": true, "OPENAI_API_KEY_2": true, "DB_PASSWORD_PROD": true, "TOKEN_GITHUB": true, "PGPASSWORD": true, "SSH_AUTH_SOCK": true, "GOOGLE_APPLICATION_CREDENTIALS": true,
		"HOME": false, "PATH": false, "CI": false, "TOKENS_PER_DAY": false, "MONKEY": false, "TOKENIZER": false, "LANG": false, "KEYBOARD": false,
	} {
		if got := trust.IsKeyVariable(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Whoever follows the error gets what was refused.
func TestTheNeededWordIsEnough(t *testing.T) {
	part := rapid.StringMatching(`[a-c*?\[\]!~\\ .\-]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		at := trust.Folders{Workspace: "/home/ann/w[s]*", Home: "/home/ann"}
		name := rapid.SampledFrom([]string{"", "~/", "/", "../", "/home/ann/w[s]*/"}).Draw(t, "start") +
			strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "/")
		var need *trust.NeedsError
		if err := (trust.Words{}).AllowsRead(at, name); !errors.As(err, &need) {
			t.Fatalf("%q without a word: %v", name, err)
		}
		w, err := trust.ParseWords([]string{need.Word})
		if err != nil {
			t.Fatalf("%q needs %q: %v", name, need.Word, err)
		}
		if err := w.AllowsRead(at, name); err != nil {
			t.Fatalf("%q with %q: %v", name, need.Word, err)
		}
	})
}

// What one program is told by its environment is as good as code, so only what
// cannot name any is set without bare exec.
func TestAllowsExecEnv(t *testing.T) {
	for _, c := range []struct {
		words, name, value string
		ok                 bool
	}{
		{"exec:git", "LANG", "en_US.UTF-8", true},
		{"exec:git", "LC_ALL", "C", true},
		{"exec:git", "LC_", "C", true},
		{"exec:git", "TZ", "America/Argentina/Ushuaia", true},
		{"exec:git", "TZ", ":/etc/localtime", false},
		{"exec:git", "LC_ALL", "../x", false},
		{"exec:git", "LANG", "/x", false},
		{"exec:git", "LANG", "a\nb", false},
		{"exec:git", "COLUMNS", "80", true},
		{"exec:git", "TERM", "xterm-256color", true},
		{"exec:git", "CI", "", true},
		{"exec", "LD_PRELOAD", "/x.so", true},
		{"exec:git", "LANGUAGE", "en", false},
		{"exec:git", "LOCPATH", "x", false},
		{"exec:git", "TERMINFO", "x", false},
		{"exec:git", "", "x", false},
		{"exec:git", "LANG=C", "x", false},
	} {
		err := words(t, c.words).AllowsExecEnv(c.name, c.value)
		if (err == nil) != c.ok {
			t.Errorf("%s %s=%q: %v", c.words, c.name, c.value, err)
		}
	}
	for _, prefix := range []string{"LD_", "DYLD_", "PYTHON", "PERL5", "RUBY", "GIT_", "BASH_", "JAVA_TOOL_", "GO", "NODE_"} {
		for _, rest := range []string{"X", "PRELOAD", "OPTIONS", "FLAGS", "PATH"} {
			var needs *trust.NeedsError
			if err := words(t, "exec:git", "exec:true").AllowsExecEnv(prefix+rest, "x"); !errors.As(err, &needs) || needs.Word != "exec" {
				t.Errorf("%s: %v", prefix+rest, err)
			}
		}
	}
	for _, name := range []string{"PATH", "ENV", "BASH_ENV", "IFS", "SHELLOPTS", "EDITOR", "VISUAL", "PAGER", "LESSOPEN", "HOME", "SHELL"} {
		if words(t, "exec:git").AllowsExecEnv(name, "x") == nil {
			t.Errorf("%s may be set", name)
		}
	}
}
