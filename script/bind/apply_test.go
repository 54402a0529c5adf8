package bind_test

import (
	"strings"
	"testing"
)

// What apply may do, and what happens when it does something else: nothing of a
// failed apply is left, not one listener.
func TestApplyFails(t *testing.T) {
	const registersAll = `
inject = ["tools", "commands", "surfaces", "gates", "strategies", "evals"]
provides = ["svc"]
def f(x): return None
def f0(): return None
def apply(ctx):
    on("agent/tool-call", f)
    on("agent/event", f)
    on("some/thing", f)
    tool("t", "d", {}, f)
    command("c", "d", f)
    surface("s", {"kind": "status"}, f)
    gate("g", f)
    strategy("st", "d", f)
    case(name = "x", task = "t")
    variant(name = "v")
    metric("m", f)
    grader("gr", f)
    provide("svc", {"f": f})
    effect(None, f0)
`
	for _, c := range []struct{ name, src, want string }{
		{"fails at the end", registersAll + `    fail("boom")`, "failed: apply: p.star:21:9: fail: boom"},
		{"leaves a service out", "provides = [\"a\"]\ndef apply(ctx): pass", `failed: apply: left "a" unprovided`},
		{"provides what it does not declare", "def apply(ctx):\n    provide(\"a\", {})", "p.star:2:12: provide:"},
		{"returns a number", "def apply(ctx): return 7", "apply must return nothing, it returned an int 7"},
		{"returns a list", "def apply(ctx): return []", "apply must return nothing"},
		{"no apply", "x = 1", "there is no apply function"},
		{"no parameter", "def apply(): pass", "apply takes one parameter"},
		{"no such event", `def apply(ctx): on("agent/tool-cal", lambda e: None)`, `there is no event "agent/tool-cal"; did you mean "agent/tool-call"?`},
		{"an event of later", `def apply(ctx): on("agent/compact", lambda e: None)`, "agent/compact is not announced by this version"},
		{"a listener that is none", `def apply(ctx): on("agent/prompt", 7)`, "on: fn must be a function, not int"},
		{"a listener with two parameters", `def apply(ctx): on("agent/prompt", lambda a, b: None)`, "must take one argument"},
		{"tool without inject", `def apply(ctx): tool("t", "d", {}, lambda a: None)`, `tool needs "tools" in inject`},
		{"a tool name no provider takes", "inject = [\"tools\"]\ndef apply(ctx): tool(\"a b\", \"d\", {}, lambda a: None)", "a b"},
		{"a schema that is none", "inject = [\"tools\"]\ndef apply(ctx): tool(\"t\", \"d\", {\"type\": 7}, lambda a: None)", "tool t: parameters:"},
		{"a word of later", "uses = [\"model\"]\ndef apply(ctx): model.list()", "model.list is not available in this version"},
		{"an unknown name", "def apply(ctx): on_event()", "undefined: on_event"},
		{"a host key", "provides = [\"tools\"]\ndef apply(ctx): pass", `the service "tools" belongs to the host`},
		{"an optional key during apply", "inject = [\"x?\"]\ndef apply(ctx): has_service(\"x\")", "has_service:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			before := w.store.Size()
			w.load(map[string]string{"p": c.src})
			if got := w.state("p"); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, c.want) {
				t.Errorf("state %q, want %q in it", got, c.want)
			}
			if n := w.store.Size(); n != before {
				t.Errorf("%d entries are left of it", n-before)
			}
		})
	}
}

func TestApplyRegistersAll(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["tools", "commands", "surfaces", "gates", "strategies", "evals"]
provides = ["svc"]
def f(x): return None
def f0(): return None
def apply(ctx):
    on("agent/tool-call", f)
    on("some/thing", f)
    tool("t", "d", {}, f)
    command("/c", "d", f)
    surface("s", {"kind": "side", "side": "left"}, f, init = lambda: {"n": 1}, update = lambda m, msg: m, tick = True)
    gate("g", f, max_rejections = None)
    strategy("st", "d", f)
    case(name = "x", task = "t", files = {"a": "b"})
    variant(name = "v")
    metric("m", f, better = "less")
    grader("gr", f)
    provide("svc", {"f": f})
    effect(f0, f0)
`})
	w.active("p")
	want := "instance, locks, on agent/tool-call, on some/thing, tool t, command c, surface s, gate g, strategy st, case x, variant v, metric m, grader gr, provide svc, effect f0, tasks"
	if got := strings.Join(w.runtime.Roster().Find("p").Registrations, ", "); got != want {
		t.Errorf("registrations\n got %s\nwant %s", got, want)
	}
	if g := w.registry.Gates.All()[0].Value; g.MaxRejections != -1 || g.Scope != "main" {
		t.Errorf("gate: %+v", g)
	}
	e := w.registry.Evals.All()
	if len(e) != 4 || e[0].Value.Fields["task"] != "t" || e[2].Value.Funcs["fn"] == nil || e[2].Value.Fields["better"] != "less" {
		t.Errorf("evals: %+v", e)
	}
	if s := w.registry.Surfaces.All()[0].Value; s.Placement["side"] != "left" || !s.Tick || s.Model == nil || s.Update == nil {
		t.Errorf("surface: %+v", s)
	}
}

// A registration outside apply is refused with a sentence that says why: from a
// callback, from a function kept for later, and at the top level of the file.
func TestRegisterOutsideApply(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"late": `
inject = ["tools"]
def apply(ctx):
    kept = on
    def execute(args):
        kept("agent/prompt", lambda e: None)
    tool("t", "d", {}, execute)
`,
		"top": `
on("agent/prompt", lambda e: None)
def apply(ctx): pass
`,
	})
	w.active("late")
	if _, err := w.run("t", "{}"); err == nil || !strings.Contains(err.Error(), "late.star:6:13: on works only inside apply: registered later, there would be no mount to undo it with") {
		t.Errorf("from a callback: %v", err)
	}
	if got := w.state("top"); !strings.Contains(got, "top.star:2:3: on does not work while the file is read") {
		t.Errorf("at the top level: %s", got)
	}
}

// Undo runs in reverse order, and a dependent may call its service in its
// teardown.
func TestTeardown(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"a-user": `
inject = ["svc"]
def apply(ctx):
    effect(None, lambda: log("first"))
    effect(lambda: log("up " + invoke("svc", "name")), lambda: log("down " + invoke("svc", "name")))
`,
		"provider": `
provides = ["svc"]
def apply(ctx):
    effect(lambda: log("provider up"), lambda: log("provider down"))
    provide("svc", {"name": lambda: "svc"})
`,
	})
	w.active("a-user", "provider")
	if err := w.runtime.Unmount(w.ids["provider"]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	want := `log provider: provider up
log a-user: up svc
log a-user: down svc
log a-user: first
log provider: provider down`
	if got := w.said(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := w.state("a-user"); got != "pending: waiting for svc" {
		t.Errorf("the dependent is %s", got)
	}
}
