package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// B-05: a key is in no tool result, request body, session line, log, output or
// process argument, wherever the key came from; variables that are no keys
// arrive, and a plugin that names one gets that one.
func TestB05KeyStaysSecret(t *testing.T) {
	for name, c := range map[string]struct {
		key string // of models.json
		env string
	}{
		"a variable that looks like a key": {`"api_key_env": "FAKE_PROVIDER_KEY"`, "FAKE_PROVIDER_KEY"},
		"a variable that does not":         {`"api_key_env": "FAKE_PROVIDER_ENTRY"`, "FAKE_PROVIDER_ENTRY"},
		"a command":                        {`"api_key_command": "cat ../key.txt"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) {
				switch n {
				case 0:
					w.send(data(toolCall(0, "c1", "env", ""), toolCall(1, "c2", "one", ""), toolCall(2, "c3", "any", ""), toolCall(3, "c4", "peek", ""), finish("tool_calls")))
				default:
					w.WriteHeader(401)
					w.send(`{"error":{"message":"bad key ` + canary + `"}}`)
				}
			})
			l.write("home/models.json", fmt.Sprintf(`{"version": 1, "models": [
				{"id": "small", "provider": "mine", "api": "openai-completions", "base_url": %q, %s}
			]}`, l.server.URL+"/v1", c.key))
			env := []string{"PASSED_ON=plain-value", "OTHER_TOKEN=other-value"}
			for _, pair := range l.env {
				if !strings.HasPrefix(pair, "FAKE_PROVIDER_KEY=") {
					env = append(env, pair)
				}
			}
			if l.env = env; c.env != "" {
				l.env = append(l.env, c.env+"="+canary)
			} else {
				l.write("key.txt", canary+"\n")
			}
			l.write("home/plugins/shell.star", `inject = ["tools"]
uses = ["exec", "env", "env:OTHER_TOKEN"]
def apply(ctx):
    print(exec("env").output)
    # What the program itself was started with, and every process it started.
    arguments = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' ' '"
    tool("env", "d", {}, lambda a: exec("env; " + arguments).output)
    # What it was started with stands in its own environment, for whoever may look.
    tool("peek", "d", {}, lambda a: exec("cat /proc/$PPID/environ | tr '\\000' ' '").output)
    tool("any", "d", {}, lambda a: str(env.get("PASSED_ON")) + str(env.get("FAKE_PROVIDER_ENTRY")))
    tool("one", "d", {}, lambda a: env.get("OTHER_TOKEN"))
`)
			r, e := l.json("go")
			if e.code != 1 || r.Stop != "error" || !strings.Contains(r.Why, "401: bad key [key]") || len(l.sent()) != 2 {
				t.Errorf("%+v %v", r, e)
			}
			for i, s := range l.sent() {
				if got := s.header.Get("Authorization"); got != "Bearer "+canary {
					t.Errorf("request %d came with %q", i, got)
				}
				s.header.Del("Authorization")
				if strings.Contains(s.body+fmt.Sprint(s.header), canary) {
					t.Errorf("request %d holds the key: %s", i, s.body)
				}
			}
			m := messages(t, l.sent()[1].body)
			if !strings.Contains(m[3].text(), "PASSED_ON=plain-value") || strings.Contains(m[3].text(), "OTHER_TOKEN=") || m[4].text() != "other-value" {
				t.Errorf("the tools gave %q, %q", m[3].text(), m[4].text())
			}
			if got := m[6].text(); !strings.Contains(got, "PASSED_ON=plain-value") || c.env != "" && !strings.Contains(got, c.env+"=[masked]") {
				t.Errorf("a look at the environment of the program gave %q", got)
			}
			if got := m[5].text(); (c.env == "FAKE_PROVIDER_ENTRY") != strings.Contains(got, `needs "env:FAKE_PROVIDER_ENTRY" in uses`) {
				t.Errorf("a wildcard gave %q", got)
			}
			if strings.Contains(e.stdout+e.stderr, canary) {
				t.Errorf("shown: %v", e)
			}
			l.holdsNot(canary)
		})
	}
}

// holdsNot looks through every file of the home and the workspace.
func (l *lab) holdsNot(secret string) {
	l.t.Helper()
	files := 0
	for _, dir := range []string{l.home, l.ws} {
		if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
				l.t.Errorf("%s holds the key, or: %v", path, err)
			}
			return nil
		}); err != nil {
			l.t.Fatal(err)
		}
	}
	if files < 4 { // models.json, the plugin, the session and its record
		l.t.Errorf("%d files", files)
	}
}

// B-05: what a plugin or the model gets to know of a key all the same is masked in
// the session, in its record and in the log of the plugin.
func TestB05KeyIsMaskedOnDisk(t *testing.T) {
	for name, key := range map[string]string{
		"a variable": `"api_key_env": "FAKE_PROVIDER_ENTRY"`, "a command": `"api_key_command": "cat ../key.txt"`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, func(w *reply, n int, _ string) {
				if n == 0 {
					w.send(data(content("is it "+canary+"?"), toolCall(0, "c1", "read", `{"path":"leak.txt"}`), finish("tool_calls")))
					return
				}
				w.send(says("yes"))
			})
			l.write("home/models.json", fmt.Sprintf(`{"version": 1, "models": [
				{"id": "small", "provider": "mine", "api": "openai-completions", "base_url": %q, %s}
			]}`, l.server.URL+"/v1", key))
			l.env = append(l.env[:3:3], "FAKE_PROVIDER_ENTRY="+canary)
			l.write("key.txt", canary+"\n")
			l.write("ws/leak.txt", "the key is "+canary+"\n")
			l.write("home/plugins/tells.star", `uses = ["fs.read"]
def apply(ctx):
    on("agent/tool-result", lambda r: print(fs.read("leak.txt")))
`)
			if e := l.run("--quiet", "go"); e.code != 0 {
				t.Fatal(e)
			}
			path := strings.TrimPrefix(l.sessionFile(), l.root+"/")
			if text := l.read(path); strings.Contains(text, canary) || strings.Count(text, "[masked]") < 2 {
				t.Errorf("session %s", text)
			}
			if text := l.read("home/logs/tells.log"); !strings.Contains(text, "the key is [masked]") {
				t.Errorf("log %s", text)
			}
			if text := l.read(strings.TrimSuffix(path, ".jsonl") + ".plugins.jsonl"); !strings.Contains(text, "the key is [masked]") {
				t.Errorf("record %s", text)
			}
			if err := os.Remove(filepath.Join(l.ws, "leak.txt")); err != nil {
				t.Fatal(err)
			}
			l.holdsNot(canary)
		})
	}
}
