package bind_test

import (
	"strings"
	"testing"

	"starling/script"
	"starling/script/bind"
)

// What Fault says of a file is what its load says, in the same words at the same
// place; where it says nothing, the file may load.
func TestFaultIsWhatTheLoadSays(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"no inject", "def apply(ctx):\n    tool(\"x\", \"d\", {}, lambda a: \"\")\n", `m.star:2:9: tool needs "tools" in inject`},
		{"no inject of a command", "inject = [\"tools\"]\ndef apply(ctx):\n    (command(\"x\", \"d\", lambda a: None))\n", `m.star:3:13: command needs "commands" in inject`},
		{"no inject of a gate", "def apply(ctx):\n    x = gate(\"x\", lambda g: None)\n", `m.star:2:13: gate needs "gates" in inject`},
		{"no such event", "def apply(ctx):\n    on(\"agent/tool-cal\", lambda e: None)\n", `m.star:2:7: on: there is no event "agent/tool-cal"`},
		{"no such event, a constant", "E = \"agent/tool_call\"\ndef apply(ctx):\n    on(event = E, fn = lambda e: None)\n", `m.star:3:7: on: there is no event "agent/tool_call"`},
		{"at the top level", "on(\"agent/prompt\", lambda e: None)\ndef apply(ctx): pass\n", "m.star:1:3: on does not work while the file is read: call it in apply"},
		{"nothing provided", "provides = [\"a\", \"b\"]\ndef apply(ctx): provide(\"a\", {})\n", `left "b" unprovided`},
		{"not declared", "def apply(ctx): provide(\"a\", {})\n", `m.star:1:24: provide: provide "a": not in provides of m`},
		{"after an if", "def apply(ctx):\n    if ctx.host == \"x\": print(1)\n    tool(\"x\", \"d\", {}, lambda a: \"\")\n", `m.star:3:9: tool needs "tools" in inject`},

		{"under a condition", "def apply(ctx):\n    if ctx.host == \"x\":\n        tool(\"x\", \"d\", {}, lambda a: \"\")\n", ""},
		{"after a return", "def apply(ctx):\n    if ctx.host != \"x\":\n        return\n    tool(\"x\", \"d\", {}, lambda a: \"\")\n", ""},
		{"after a return in a loop", "def apply(ctx):\n    for x in [1]:\n        if x: return\n    on(\"agent/nothing\", lambda e: None)\n", ""},
		{"in a loop over nothing", "def apply(ctx):\n    for x in []: tool(\"x\", \"d\", {}, lambda a: \"\")\n", ""},
		{"in a function", "def apply(ctx):\n    def f(): tool(\"x\", \"d\", {}, lambda a: \"\")\n", ""},
		{"attempted", "def apply(ctx):\n    attempt(lambda: tool(\"x\", \"d\", {}, lambda a: \"\"))\n", ""},
		{"a name of its own", "def tool(*args): pass\ndef apply(ctx): tool(\"x\", \"d\", {}, None)\n", ""},
		{"a local name", "def apply(ctx):\n    def tool(*args): pass\n    tool(\"x\", \"d\", {}, None)\n", ""},
		{"a parameter", "def f(*args): pass\ndef apply(ctx, on = f): on(\"agent/nothing\", None)\n", ""},
		{"computed event", "def apply(ctx): on(\"agent/\" + ctx.name, lambda e: None) if ctx.name == \"x\" else None\n", ""},
		{"provided in a function", "provides = [\"a\"]\ndef f(): provide(\"a\", {})\ndef apply(ctx): f()\n", ""},
		{"a computed service", "provides = [\"a\"]\ndef apply(ctx):\n    for k in [\"a\"]: provide(k, {})\n", ""},
		{"kept under another name", "provides = [\"a\"]\ndef apply(ctx):\n    p = provide\n    p(\"a\", {})\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			prog, err := script.Parse("m", "m.star", []byte(c.src))
			if err == nil {
				err = bind.Compile(prog)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := bind.Fault(prog); err != nil {
				got = err.Error()
			}
			if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
			w := newWorld(t)
			w.load(map[string]string{"m": c.src})
			state := w.state("m")
			if got == "" && state != "active" || got != "" && state != "failed: apply: "+got {
				t.Errorf("fault %q, loaded it is %q", got, state)
			}
		})
	}
}
