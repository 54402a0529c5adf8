package bind_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"starling/bus/spec"
)

// one loads a plugin with one tool whose body is an expression, and runs it.
func (w *world) one(uses, expr string) string {
	w.t.Helper()
	w.load(map[string]string{"p": fmt.Sprintf("inject = [\"tools\"]\nuses = [%s]\ndef apply(ctx):\n    tool(\"t\", \"d\", {}, lambda args: %s)\n", uses, expr)})
	w.active("p")
	r, err := w.run("t", "{}")
	if err != nil {
		return err.Error()
	}
	return r.Content
}

func TestExec(t *testing.T) {
	for _, c := range []struct{ name, uses, expr, want string }{
		{"no word", ``, `exec(["echo", "x"])`, `needs "exec:echo" in uses`},
		{"list", `"exec:echo"`, `exec(["echo", "a b", "$HOME"]).stdout`, "a b $HOME\n"},
		{"another program", `"exec:echo"`, `exec(["cat", "x"])`, `needs "exec:cat" in uses`},
		{"a path", `"exec:echo"`, `exec(["/bin/echo", "x"])`, `needs "exec" in uses: "/bin/echo" is a path`},
		{"list with the bare word", `"exec"`, `exec(["echo", "x"]).output`, "x\n"},
		{"a line needs the bare word", `"exec:echo"`, `exec("echo x")`, `needs "exec" in uses`},
		{"a struct is no tool result", `"exec"`, `exec("true")`, "execute returns text"},
		{"status and streams", `"exec"`, `"%d %s %s" % (exec("echo out; exit 3").status, exec("echo $A", env = {"A": "b"}).stdout, exec("cat", stdin = "in").stdout)`, "3 b\n in"},
		{"workspace", `"exec:pwd"`, `exec(["pwd"]).stdout`, "WORKSPACE"},
		{"timeout", `"exec"`, `str(exec("sleep 30", timeout_ms = 100).timed_out)`, "True"},
		{"a program of the workspace", `"exec:evil"`, `exec(["evil"])`, "evil"},
		{"env", `"exec:env"`, `exec(["env"], env = {"LC_TIME": "de_DE.UTF-8@euro", "TZ": "Europe/Berlin", "NO_COLOR": ""}).stdout`, "LC_TIME=de_DE.UTF-8@euro\n"},
		{"env that loads code", `"exec:true"`, `str(exec(["true"], env = {"LD_PRELOAD": "/x/evil.so"}))`, `exec: env: needs "exec" in uses: "LD_PRELOAD" is no variable of LANG, LC_*, TZ`},
		{"env that moves programs", `"exec:git"`, `str(exec(["git"], env = {"PATH": "."}))`, `needs "exec" in uses`},
		{"env of another case", `"exec:git"`, `str(exec(["git"], env = {"lang": "C"}))`, `needs "exec" in uses`},
		{"env of one program", `"exec:git"`, `str(exec(["git"], env = {"GIT_SSH_COMMAND": "evil"}))`, `needs "exec" in uses`},
		{"env that names a file", `"exec:git"`, `str(exec(["git"], env = {"TZ": "/etc/x"}))`, `the value "/etc/x" of TZ may name a file`},
		{"env with the bare word", `"exec:env", "exec"`, `exec(["env"], env = {"GIT_PAGER": "cat"}).stdout`, "GIT_PAGER=cat\n"},
		{"a timeout without a duration", `"exec"`, `str(exec("true", timeout_ms = 1 << 62))`, "timeout_ms must be at most 604800000, a week"},
		{"not a command", `"exec"`, `exec(7)`, "must be a list of texts or a line for bash, not int"},
		{"empty", `"exec"`, `exec([])`, "the command is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.write("evil", "#!/bin/sh\necho evil\n")
			if err := os.Chmod(filepath.Join(w.dir, "evil"), 0o755); err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(w.one(c.uses, c.expr), w.dir, "WORKSPACE"); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(rw, r, "http://example.invalid/", http.StatusFound)
			return
		case "/slow":
			<-r.Context().Done()
			return
		}
		rw.Header().Set("X-Seen", r.Header.Get("X-Mine"))
		rw.WriteHeader(http.StatusTeapot)
		body := make([]byte, 10)
		n, _ := r.Body.Read(body)
		fmt.Fprintf(rw, "%s %s %s", r.Method, r.URL.Path, body[:n])
	}))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct{ name, uses, expr, want string }{
		{"no word", ``, `http.get("URL/a")`, `needs "net:`},
		{"get", `"net"`, `http.get("URL/a").body`, "GET /a "},
		{"scope", `"net:HOST"`, `http.get("URL/a").body`, "GET /a "},
		{"another host", `"net:example.org"`, `http.get("URL/a")`, `needs "net:`},
		{"post", `"net"`, `http.post("URL/b", "body", headers = {"X-Mine": "7"}).headers["x-seen"]`, "7"},
		{"request", `"net"`, `"%d %s" % (http.request("PUT", "URL/c", "z").status, http.request("PUT", "URL/c", body = "z").body)`, "418 PUT /c z"},
		{"redirect out", `"net:HOST"`, `http.get("URL/redirect")`, "redirect to example.invalid"},
		{"timeout", `"net"`, `http.get("URL/slow", timeout_ms = 50)`, "no answer within 50ms"},
		{"file", `"net"`, `http.get("file:///etc/passwd")`, "must begin with http://"},
		{"password", `"net"`, `http.get("http://u:p@x/")`, "must not hold a user"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			fill := strings.NewReplacer("URL", server.URL, "HOST", host)
			if got := w.one(fill.Replace(c.uses), fill.Replace(c.expr)); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEnv(t *testing.T) {
	for _, c := range []struct{ uses, expr, want string }{
		{``, `env.get("CI_JOB")`, `needs "env:CI_JOB" in uses`},
		{`"env:CI_*"`, `env.get("CI_JOB")`, "7"},
		{`"env:CI_*"`, `str(env.get("CI_NONE"))`, "None"},
		{`"env:*_KEY"`, `env.get("MY_API_KEY")`, `needs "env:MY_API_KEY" in uses`},
		{`"env:MY_API_KEY"`, `env.get("MY_API_KEY")`, "secret"},
	} {
		if got := newWorld(t).one(c.uses, c.expr); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.uses, c.expr, got, c.want)
		}
	}
}

// State is copied in and out, survives a replacement, and is written under the
// home, never under the workspace.
func TestState(t *testing.T) {
	w := newWorld(t)
	src := `
inject = ["tools"]
def apply(ctx):
    def go(args):
        s = state()
        s["n"] = s.get("n", 0) + 1
        state(s)
        s["n"] = 100
        if args.get("save"):
            save_state(state())
        return str(state())
    tool("t", "d", {}, go)
`
	w.load(map[string]string{"p": src})
	for i, args := range []string{`{}`, `{}`, `{"save":true}`} {
		r, err := w.run("t", args)
		if want := fmt.Sprintf(`{"n": %d}`, i+1); err != nil || r.Content != want {
			t.Fatalf("%+v %v, want %s", r, err, want)
		}
	}
	if err := w.runtime.Replace(w.ids["p"], w.component("p", src+"\n# edited\n")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if r, err := w.run("t", `{}`); err != nil || r.Content != `{"n": 4}` {
		t.Errorf("after a replacement: %+v %v", r, err)
	}
	if err := w.binder.Flush(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(w.home, "state", "*", "p.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("state files %v %v", files, err)
	}
	if data, err := os.ReadFile(files[0]); err != nil || string(data) != "{\"n\":3}\n" {
		t.Errorf("on disk %q %v: what was saved, not what came after", data, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, ".starling")); err == nil {
		t.Error("state was written into the workspace")
	}
	if err := syscall.Mkfifo(filepath.Join(filepath.Dir(files[0]), "q.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.load(map[string]string{"q": "inject = [\"tools\"]\ndef apply(ctx):\n    tool(\"u\", \"d\", {}, lambda args: str(state()))\n"})
	if _, err := w.run("u", `{}`); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe in its place: %v", err)
	}
}

func TestConfig(t *testing.T) {
	w := newWorld(t)
	w.config = map[string]map[string]any{"p": {"limit": int64(3), "list": []any{"a"}}}
	if got := w.one(``, `"%d %s %s" % (config()["limit"], config()["list"], attempt(config()["list"].append, 1).ok)`); got != `3 ["a"] False` {
		t.Error(got)
	}
}

// A call kept open is finished by a reply; it does not hold the plugin meanwhile.
func TestLater(t *testing.T) {
	const src = `
inject = ["tools"]
uses = ["exec"]
def apply(ctx):
    seen = []
    def go(args):
        h = later(timeout_s = args.get("timeout_s", 60))
        def reply(r):
            if args["do"] == "fails":
                fail("in the reply")
            h.progress("half")
            first = h.done("got " + r.stdout)
            log("%s %s" % (first, h.done("twice")))
        exec(args["run"], reply = reply)
        seen.append(h)
        return h
    tool("go", "d", {}, go)
    tool("peek", "d", {}, lambda args: "%d %s" % (len(seen), seen[-1].cancelled))
`
	ctx := context.Background()
	call := func(w *world, ctx context.Context, args string) (spec.ToolResult, error) {
		tool, _, _ := w.tools.Lookup("go")
		return tool.Execute(ctx, spec.ToolCall{Name: "go", Arguments: []byte(args), Progress: func(s string) { w.note("progress " + s) }})
	}
	t.Run("done by a reply", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": src})
		w.active("p")
		r, err := call(w, ctx, `{"do":"","run":"echo hi"}`)
		if err != nil || r.Content != "got hi\n" {
			t.Errorf("%+v %v", r, err)
		}
		eventually(t, func() bool {
			return strings.Contains(w.said(), "log p: True False") && strings.Contains(w.said(), "progress half")
		})
	})
	t.Run("the plugin is free meanwhile, cancelling ends what was started", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": src})
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() {
			_, err := call(w, ctx, `{"do":"","run":"sleep 60"}`)
			done <- err
		}()
		eventually(t, func() bool { return len(w.shell.List()) == 1 })
		if r, err := w.run("peek", "{}"); err != nil || r.Content != "1 False" {
			t.Errorf("%+v %v", r, err)
		}
		cancel()
		if err := <-done; err == nil {
			t.Error("the call should have ended in an error")
		}
		eventually(t, func() bool { return !w.shell.List()[0].Running })
		if r, err := w.run("peek", "{}"); err != nil || r.Content != "1 True" {
			t.Errorf("%+v %v", r, err)
		}
	})
	t.Run("a reply that fails", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": src})
		if _, err := call(w, ctx, `{"do":"fails","run":"echo hi"}`); err == nil || !strings.Contains(err.Error(), "p.star:10:21: fail: in the reply") {
			t.Errorf("%v", err)
		}
	})
	t.Run("its time is over", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": src})
		if _, err := call(w, ctx, `{"do":"","run":"sleep 60","timeout_s":1}`); err == nil || !strings.Contains(err.Error(), "did not finish the call within 1s") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the plugin leaves", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": src})
		done := make(chan error, 1)
		go func() {
			_, err := call(w, ctx, `{"do":"","run":"sleep 60"}`)
			done <- err
		}()
		eventually(t, func() bool { return len(w.shell.List()) == 1 })
		if err := w.runtime.Unmount(w.ids["p"]); err != nil {
			t.Fatal(err)
		}
		w.settle()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "was unloaded before it finished the call") {
			t.Errorf("%v", err)
		}
		eventually(t, func() bool { return !w.shell.List()[0].Running })
	})
	t.Run("outside a tool", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": "def apply(ctx):\n    later()\n"})
		if got := w.state("p"); !strings.Contains(got, "later works only inside execute") {
			t.Error(got)
		}
	})
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("it did not come about within a minute")
}

// Settings that break the schema fail the plugin with every fault named.
func TestConfigSchema(t *testing.T) {
	const src = `
config_schema = {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}, "required": ["limit"], "additionalProperties": False}
def apply(ctx): pass
`
	for _, c := range []struct {
		config map[string]any
		want   string
	}{
		{map[string]any{"limit": int64(3)}, "active"},
		{map[string]any{"limit": int64(0), "limt": "x"}, "limit"},
		{nil, "limit"},
	} {
		w := newWorld(t)
		w.config = map[string]map[string]any{"p": c.config}
		w.load(map[string]string{"p": src})
		if got := w.state("p"); !strings.Contains(got, c.want) || (got == "active") != (c.want == "active") {
			t.Errorf("%v: %s", c.config, got)
		}
	}
}

// A replacement waits for running and open tool calls of the old version; a
// second one cancels them.
func TestReplacementWaits(t *testing.T) {
	const src = `
inject = ["tools"]
uses = ["exec"]
def apply(ctx):
    def go(args):
        h = later()
        exec("while [ ! -e go ]; do sleep 0.02; done; echo VERSION", reply = lambda r: h.done(r.stdout))
        return h
    tool("go", "d", {}, go)
`
	run := func(w *world) chan string {
		done := make(chan string, 1)
		go func() {
			r, err := w.run("go", "{}")
			if err != nil {
				done <- err.Error()
				return
			}
			done <- r.Content
		}()
		eventually(w.t, func() bool { return len(w.shell.List()) > 0 })
		return done
	}
	t.Run("waits", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": strings.ReplaceAll(src, "VERSION", "one")})
		done := run(w)
		if err := w.runtime.Replace(w.ids["p"], w.component("p", strings.ReplaceAll(src, "VERSION", "two"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		select {
		case got := <-done:
			t.Fatalf("the call ended with %q", got)
		default:
		}
		w.write("go", "")
		if got := <-done; got != "one\n" {
			t.Errorf("the old call gave %q", got)
		}
		w.settle()
		if r, err := w.run("go", "{}"); err != nil || r.Content != "two\n" {
			t.Errorf("%+v %v", r, err)
		}
	})
	t.Run("a second request cancels", func(t *testing.T) {
		w := newWorld(t)
		w.load(map[string]string{"p": strings.ReplaceAll(src, "VERSION", "one")})
		done := run(w)
		for _, version := range []string{"two", "three"} {
			if err := w.runtime.Replace(w.ids["p"], w.component("p", strings.ReplaceAll(src, "VERSION", version))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		if got := <-done; strings.HasPrefix(got, "one") {
			t.Errorf("the call went on: %q", got)
		}
		w.settle()
		w.write("go", "")
		if r, err := w.run("go", "{}"); err != nil || r.Content != "three\n" {
			t.Errorf("%+v %v", r, err)
		}
	})
}
