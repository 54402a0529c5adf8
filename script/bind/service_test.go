package bind_test

import (
	"context"
	"strings"
	"testing"

	"starling/bus"
	"starling/bus/compose"
	"starling/bus/event"
)

// goService is a service written in Go.
type goService struct{}

func (goService) Methods() []string { return []string{"join"} }

func (goService) Call(_ context.Context, method string, args []any, kwargs map[string]any) (any, error) {
	return map[string]any{"method": method, "args": args, "sep": kwargs["sep"]}, nil
}

func TestServices(t *testing.T) {
	w := newWorld(t)
	w.add(compose.Component{
		Name: "go", Origin: "embedded", Position: bus.At(bus.ClassEmbedded, 0, "go"), Provides: []string{"gosvc"},
		Apply: func(s *compose.Scope) error { return s.Provide("gosvc", goService{}) },
	})
	w.load(map[string]string{
		"a": `
inject = ["store", "gosvc", "tools", "absent?"]
def apply(ctx):
    def ask(args):
        what = args["what"]
        mine = {"deep": [1, {"x": 2}]}
        if what == "copy in":
            invoke("store", "put", mine)
            mine["deep"].append("after")
            return str(invoke("store", "get"))
        if what == "copy out":
            got = invoke("store", "get")
            got["deep"].append("mine")
            return str(invoke("store", "get"))
        if what == "kwargs":
            return invoke("store", "add", 1, b = 2)
        if what == "go":
            return str(invoke("gosvc", "join", 1, "b", sep = "-"))
        if what == "no method":
            return invoke("store", "pit")
        if what == "no key":
            return invoke("stores", "put")
        if what == "function":
            return invoke("store", "put", ask)
        if what == "host":
            return invoke("tools", "list")
        if what == "optional":
            return "%s %s" % (has_service("absent"), attempt(invoke, "absent", "x").error)
        if what == "fails":
            return invoke("store", "bad")
        return "?"
    tool("ask", "d", {}, ask)
`,
		"b": `
provides = ["store"]
def apply(ctx):
    kept = {}
    def put(v):
        kept["v"] = v
    def add(a, b = 0):
        kept["n"] = kept.get("n", 0) + a + b
        return kept["n"]
    provide("store", {"put": put, "get": lambda: kept["v"], "add": add, "bad": lambda: fail("no")})
`,
	})
	w.active("a", "b")
	for _, c := range []struct{ what, want string }{
		{"copy in", `{"deep": [1, {"x": 2}]}`},
		{"copy out", `{"deep": [1, {"x": 2}]}`},
		{"kwargs", "3"},
		{"kwargs", "6"},
		{"go", `{"args": [1, "b"], "method": "join", "sep": "-"}`},
		{"no method", `service store has no method "pit"; did you mean "put"?`},
		{"no key", `invoke: `},
		{"function", "function"},
		{"host", "has no methods"},
		{"optional", "False invoke:"},
		{"fails", "a.star:30:26: b.star:10:92: fail: no"},
	} {
		r, err := w.run("ask", `{"what":"`+c.what+`"}`)
		got := r.Content
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

// A chain of calls may come back into a plugin that waits in it; two chains that
// would wait for each other get an error instead of hanging.
func TestCallChainComesBack(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"a": `
inject = ["b?", "tools"]
provides = ["a"]
def apply(ctx):
    provide("a", {"name": lambda: "a"})
    tool("go", "d", {}, lambda args: invoke("b", "ask"))
    on("agent/tool-call", lambda e: block("seen") if e.name == "inner" else None)
`,
		"b": `
inject = ["a"]
provides = ["b"]
def apply(ctx):
    provide("b", {"ask": lambda: "b asked " + invoke("a", "name")})
`,
	})
	w.active("a", "b")
	r, err := w.run("go", "{}")
	if err != nil || r.Content != "b asked a" {
		t.Errorf("%+v %v", r, err)
	}
	e := &event.ToolCallEvent{Name: "inner", Arguments: []byte("{}")}
	bus.PortOf(w.bus, event.ToolCall).Send(context.Background(), e)
	if !e.Blocked {
		t.Error("the guard did not run")
	}
}
