package bind_test

import (
	"context"
	"testing"

	"starling/bus"
	"starling/bus/event"
	"starling/surfaces"
)

// What a command or a tool shows, itself or through services, raises a panel: a person
// or the model ran it. What a listener does raises none.
func TestRaise(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"dialog": `
inject = ["surfaces", "tools", "commands"]
provides = ["dialog"]
uses = ["permit"]
def apply(ctx):
    n = state()
    def store(*a):
        n["n"] = n.get("n", 0) + 1
        surface_state("ask", {"n": n["n"]})
    def update(model, msg):
        if msg.kind == "msg" and msg.name == "show":
            return [send("again")]
        if msg.kind == "msg":
            model["n"] = model.get("n", 0) + 100
            return model
        return []
    surface("ask", {"kind": "overlay"}, lambda m: str(m.get("n", 0)), update = update)
    def tell(*a):
        invoke("surfaces", "send", "dialog", "ask", "show")
    provide("dialog", {"store": store})
    tool("store", "d", {}, store)
    tool("tell", "d", {}, tell)
    command("store", "d", store)
    def hear(e):
        if e.stop == "store":
            store()
        if e.stop == "tell":
            tell()
    on("agent/run-end", hear)
`,
		"other": `
inject = ["dialog", "tools"]
def apply(ctx):
    tool("through", "d", {}, lambda args: invoke("dialog", "store"))
    def hear(e):
        if e.stop == "through":
            invoke("dialog", "store")
    on("agent/run-end", hear)
`,
	})
	w.active("dialog", "other")
	h := w.panels()
	at := surfaces.ID{Plugin: "dialog", Name: "ask"}
	tool := func(name string) func() {
		return func() {
			if _, err := w.run(name, "{}"); err != nil {
				t.Error(err)
			}
		}
	}
	ends := func(stop string) func() {
		return func() {
			bus.PortOf(w.bus, event.RunEnd).Send(context.Background(), &event.RunEndEvent{Stop: stop})
		}
	}
	for _, c := range []struct {
		name   string
		happen func()
		raises bool
	}{
		{"a command", func() {
			if _, err := w.registry.Commands.All()[0].Value.Run(context.Background(), ""); err != nil {
				t.Error(err)
			}
		}, true},
		{"a tool", tool("store"), true},
		{"a tool that sends", tool("tell"), true},
		{"a tool through a service", tool("through"), true},
		{"a listener", ends("store"), false},
		{"a listener that sends", ends("tell"), false},
		{"a listener through a service", ends("through"), false},
	} {
		was, _ := h.Panel(at)
		c.happen()
		w.shown(h)
		now, _ := h.Panel(at)
		if now.Tree == nil || now.Version == was.Version {
			t.Fatalf("%s changed nothing\n%s", c.name, w.said())
		}
		if got := now.Raised != was.Raised; got != c.raises {
			t.Errorf("%s raises it: %v, want %v", c.name, got, c.raises)
		}
	}
}
