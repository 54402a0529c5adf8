package bind_test

import (
	"fmt"
	"strings"
	"testing"
)

// processes counts the live ones.
func (w *world) processes() int {
	n := 0
	for _, r := range w.shell.List() {
		if r.Running {
			n++
		}
	}
	return n
}

const bomb = `
inject = ["tools"]
uses = ["exec:sleep", "exec:echo"]
def apply(ctx):
    started = []
    def go(args):
        for i in range(args["n"]):
            r = attempt(exec, ["sleep", "600"], reply = lambda o: None)
            if not r.ok:
                return "%d then %s" % (i, r.error)
            started.append(r.value)
        return "all"
    def stop(args):
        for task in started[args["from"]:]:
            task.stop()
        return "stopped"
    def echo(args):
        h = later()
        exec(["echo", "its turn"], reply = lambda o: h.done(o.stdout))
        return h
    tool("NAME", "d", {}, go)
    tool("NAME-stop", "d", {}, stop)
    tool("NAME-ended", "d", {}, lambda args: str(len([t for t in started if t.done])))
    tool("NAME-echo", "d", {}, echo)
`

// A plugin that starts without end is told so, has few processes at once, may
// stop what waits, and leaves nothing when it goes.
func TestRepliesAreBounded(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": strings.ReplaceAll(bomb, "NAME", "p")})
	w.active("p")
	do := func(tool, args string) string {
		t.Helper()
		r, err := w.run(tool, args)
		if err != nil {
			t.Fatal(err)
		}
		return r.Content
	}
	if got, want := do("p", `{"n":300}`), "272 then exec: this plugin waits for 16 replies and has 256 more tasks in line; start the next ones when replies have come"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	eventually(t, func() bool { return w.processes() == 16 })
	do("p-stop", `{"from":16}`)
	eventually(t, func() bool { return do("p-ended", "{}") == "256" })
	if n := w.processes(); n != 16 {
		t.Errorf("%d processes, want 16", n)
	}
	do("p-stop", `{"from":15}`)
	if got := do("p-echo", "{}"); got != "its turn\n" {
		t.Errorf("a place that became free: %q", got)
	}
	do("p", `{"n":100}`)
	if err := w.runtime.Unmount(w.ids["p"]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if n := w.processes(); n != 0 {
		t.Errorf("%d processes are left after the unload", n)
	}
	if said := w.said(); said != "" {
		t.Errorf("said: %s", said)
	}
}

// All plugins together have at most 64 processes, and all go.
func TestProcessesAreBounded(t *testing.T) {
	w := newWorld(t)
	sources := map[string]string{}
	for i := range 6 {
		name := fmt.Sprintf("p%d", i)
		sources[name] = strings.ReplaceAll(bomb, "NAME", name)
	}
	w.load(sources)
	for name := range sources {
		if r, err := w.run(name, `{"n":20}`); err != nil || r.Content != "all" {
			t.Fatalf("%+v %v", r, err)
		}
	}
	eventually(t, func() bool { return w.processes() >= 64 })
	if n := w.processes(); n != 64 {
		t.Errorf("%d processes, want 64", n)
	}
	for name := range sources {
		if err := w.runtime.Unmount(w.ids[name]); err != nil {
			t.Fatal(err)
		}
	}
	w.settle()
	if n := w.processes(); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if said := w.said(); said != "" {
		t.Errorf("said: %s", said)
	}
}
