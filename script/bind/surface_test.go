package bind_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"starling/bus/spec"
	"starling/surfaces"
)

// panels shows the surfaces of the world.
func (w *world) panels() *surfaces.Host {
	w.t.Helper()
	h := surfaces.New(surfaces.Options{
		Surfaces: w.registry.Surfaces,
		Report:   func(plugin, text string) { w.note(plugin + ": " + text) },
		Prompt: func(plugin, text string) error {
			w.note("prompt of " + plugin + ": " + text)
			return nil
		},
	})
	w.registry.Surfaces.Serve(h.Service())
	w.t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	w.shown(h)
	return h
}

func (w *world) shown(h *surfaces.Host) {
	w.t.Helper()
	h.Sync()
	if err := h.Settle(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// texts joins the texts of what a panel shows.
func (w *world) texts(h *surfaces.Host, plugin, name string) string {
	w.t.Helper()
	w.shown(h)
	p, ok := h.Panel(surfaces.ID{Plugin: plugin, Name: name})
	if !ok {
		w.t.Fatalf("there is no panel %s of %s\n%s", name, plugin, w.said())
	}
	if p.Tree == nil {
		return p.Text
	}
	var all []string
	p.Tree.All(func(n *surfaces.Node) bool {
		if n.Text != "" {
			all = append(all, n.Text)
		}
		return true
	})
	return strings.Join(all, "|")
}

func (w *world) key(h *surfaces.Host, plugin, name, code string) (consumed bool) {
	w.t.Helper()
	answer := make(chan bool, 1)
	// Post, not Key: a slow machine must not turn the answer into the default.
	h.Post(surfaces.ID{Plugin: plugin, Name: name}, surfaces.Message{Kind: surfaces.KeyMessage, Code: code, Modifiers: []string{"ctrl"}}, func(c bool) { answer <- c })
	consumed = <-answer
	w.shown(h)
	return consumed
}

const counter = `"""Counts."""
inject = ["surfaces", "tools"]
uses = ["prompt"]
def apply(ctx):
    def init():
        return {"n": 0, "order": {"z": 1, "a": 2}, "seen": set(["x"]), "was": ""}
    def update(model, msg):
        if msg.kind == "resize":
            model["was"] = "%dx%d" % (msg.width, msg.height)
            return model
        if msg.kind == "msg":
            model["was"] = msg.name + " " + str(msg.payload)
            return model
        if msg.code == "n":
            model["n"] += 1
            model["seen"].add(msg.modifiers[0])
            return result(model, ["consume"])
        if msg.code == "s":
            return [send("later", {"deep": [1]})]
        if msg.code == "p":
            return [prompt_with("go on"), "release_focus"]
        if msg.code == "f":
            model["n"] = 99
            fail("no")
        if msg.code == "none":
            return None
        if msg.code == "text":
            return "consume"
        if msg.code == "bad":
            return ["consme"]
        return model
    def view(model):
        return ui.rows([
            ui.text("n=%d" % model["n"]), ui.text(" ".join(model["order"].keys())),
            ui.text(str(len(model["seen"]))), model["was"], None if model["n"] else "zero",
        ])
    surface("count", {"kind": "side"}, view, init = init, update = update)
    def peek(args):
        if "set" in args:
            surface_state("count", {"n": args["set"], "order": {}, "seen": set(), "was": "set"})
        return str(surface_state("count")["n"])
    tool("peek", "d", {}, peek)
`

func TestSurface(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"c": counter})
	w.active("c")
	h := w.panels()
	check := func(what, want string) {
		t.Helper()
		if got := w.texts(h, "c", "count"); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("at first", "n=0|z a|1|80x24|zero")
	if !w.key(h, "c", "count", "n") || w.key(h, "c", "count", "other") {
		t.Error("the wrong key was consumed")
	}
	check("after a key", "n=1|z a|2|80x24")
	w.key(h, "c", "count", "s")
	check("after send", `n=1|z a|2|later {"deep": [1]}`)
	if w.key(h, "c", "count", "f") {
		t.Error("a failing update consumed its key")
	}
	check("after a failing update", `n=1|z a|2|later {"deep": [1]}`)
	w.key(h, "c", "count", "p")
	for _, code := range []string{"none", "text", "bad"} {
		w.key(h, "c", "count", code)
	}
	for _, want := range []string{
		"prompt of c: go on",
		`c: surface "count": update: c.star:24:17: fail: no`,
		"update returned None; it returns the new model, result(model, [asks]) or a list of asks: is a return missing? (update begins in line 7)",
		`update returned string alone; return a list: ["consume"]`,
		`asks[0]: unknown ask "consme"; did you mean "consume"?`,
	} {
		if !strings.Contains(w.said(), want) {
			t.Errorf("%q was not said:\n%s", want, w.said())
		}
	}
	if r, err := w.run("peek", `{"set": 5}`); err != nil || r.Content != "5" {
		t.Errorf("surface_state: %v, %v", r, err)
	}
	check("after surface_state", "n=5|0|set")
	// The model outlives the plugin, and wins over what init says then.
	if err := w.runtime.Replace(w.ids["c"], w.component("c", strings.Replace(counter, `"n=%d"`, `"v2 n=%d"`, 1))); err != nil {
		t.Fatal(err)
	}
	w.settle()
	check("after a reload", "v2 n=5|0|80x24")
	if err := w.runtime.Unmount(w.ids["c"]); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.shown(h)
	if list := h.Panels(); len(list) != 0 {
		t.Errorf("panels of a plugin that left: %v", list)
	}
}

// What init says is a default: where nothing was stored the new one counts.
func TestSurfaceDefaults(t *testing.T) {
	w := newWorld(t)
	src := func(text string) string {
		return `
inject = ["surfaces"]
def apply(ctx):
    surface("s", {"kind": "status"}, lambda m: m["text"] + (" running" if m["running"] else ""), init = lambda: {"text": "` + text + `"})
    if "` + text + `" == "broken":
        fail("later in apply")
`
	}
	w.load(map[string]string{"p": src("one")})
	h := w.panels()
	if got := w.texts(h, "p", "s"); got != "one" {
		t.Errorf("at first %q", got)
	}
	for _, text := range []string{"broken", "two"} {
		if err := w.runtime.Replace(w.ids["p"], w.component("p", src(text))); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.shown(h)
	}
	if got := w.texts(h, "p", "s"); got != "two" {
		t.Errorf("after a reload %q", got)
	}
}

func TestSurfaceErrors(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, code, want string }{
		{"no name", `surface("", {"kind": "side"}, f)`, `surface: the name "" must be 1 to 40 letters`},
		{"placement", `surface("s", {"kind": "sid"}, f)`, `surface "s": placement: kind: unknown kind "sid"; did you mean "side"?`},
		{"placement type", `surface("s", "side", f)`, `surface "s": placement: must be a dict such as`},
		{"placement field", `surface("s", {"kind": "side", "width": -1}, f)`, `surface "s": placement: width: must be at least 1, not -1`},
		{"view", `surface("s", {"kind": "side"}, "x")`, `surface "s": view must be a function, not string`},
		{"view arity", `surface("s", {"kind": "side"}, lambda: None)`, `surface "s": view: function lambda must take one argument`},
		{"update arity", `surface("s", {"kind": "side"}, f, update = f)`, `surface "s": update: function f must take 2 arguments`},
		{"init", `surface("s", {"kind": "side"}, f, init = lambda: 3)`, `surface "s": init returns the model, a dict, not int`},
		{"init fails", `surface("s", {"kind": "side"}, f, init = lambda: {}["x"])`, `key "x" not in dict`},
		{"init holds a function", `surface("s", {"kind": "side"}, f, init = lambda: {"f": f})`, `surface "s": model.f: a function cannot cross`},
		{"tick", `surface("s", {"kind": "side"}, f, tick = True)`, `surface "s": tick=True needs an update`},
		{"twice", `[surface("s", {"kind": "side"}, f) for i in range(2)]`, `surface "s" is registered twice`},
		{"state of none", `surface_state("s")`, `surface_state: this plugin has no surface "s"`},
		{"state of another", `surface("list", {"kind": "side"}, f); surface_state("lst")`, `no surface "lst"; did you mean "list"?`},
		{"state no dict", `surface("s", {"kind": "side"}, f); surface_state("s", 3)`, `got int, want dict`},
		{"prompt_with", `prompt_with("x")`, `prompt_with: needs "prompt" in uses`},
		{"send", `send("x", f)`, `send: payload: a function cannot cross`},
		{"result", `result({}, ["release"])`, `result: asks[0]: unknown ask "release"`},
		{"result type", `result({}, [3])`, `result: asks[0] must be "consume", "release_focus", send(…) or prompt_with(…), not int`},
		{"render", `render("t")`, `render t: give call, result or both`},
		{"render pattern", `render("[", call = f)`, `render: "[" is no tool name and no pattern such as "git_*"`},
		{"ui", `ui.lst([])`, `has no .lst`},
		{"ui field", `ui.list([], selcted = 1)`, `ui.list has no field "selcted"; did you mean "selected"?`},
		{"ui type", `ui.list([], type = "x")`, `ui.list has no field "type"`},
		{"ui positional", `ui.list([], 1)`, `ui.list takes one positional argument, items; name the others`},
		{"ui none", `ui.rule(1)`, `ui.rule takes no positional arguments`},
		{"ui twice", `ui.text("x", text = "y")`, `ui.text got text twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.load(map[string]string{"p": "inject = [\"surfaces\"]\ndef f(x): return None\ndef apply(ctx):\n    " + c.code + "\n"})
			if got := w.state("p"); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, c.want) {
				t.Errorf("state %q, want %q in it", got, c.want)
			}
			if err := w.runtime.Unmount(w.ids["p"]); err != nil {
				t.Fatal(err)
			}
			w.settle()
		})
	}
}

// The constructors build the dicts a plugin may write itself, at the top level too.
func TestUI(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["surfaces", "tools"]
HEAD = ui.text("head", style = "title")
def apply(ctx):
    surface("s", {"kind": "bottom"}, lambda m: ui.cols([
        HEAD, ui.text(spans = ["a", {"text": "b", "style": "dim"}], wrap = False), ui.markdown("*m*"),
        ui.diff("a.go", before = "x", after = "y"), ui.list(["i"], id = "l", selected = 0),
        ui.table([{"title": "c"}], rows = [["1"]]), ui.tree([{"text": "n", "id": "n"}], expanded = ["n"]),
        ui.input("in", text = "t"), ui.button("b", label = "B"), ui.progress(0.5, label = "p"), ui.progress(None),
        ui.gauge([1, 2], max = 3), ui.sparkline([1]), ui.rule(), ui.spacer(grow = 1), ui.rows(("x",), gap = 1, size = 3),
    ]))
    def same(args):
        return str(ui.button("b", label = "B") == {"type": "button", "id": "b", "label": "B"})
    tool("same", "d", {}, same)
`})
	w.active("p")
	h := w.panels()
	p, _ := h.Panel(surfaces.ID{Plugin: "p", Name: "s"})
	if p.Err != "" {
		t.Fatal(p.Err)
	}
	var kinds []string
	for _, c := range p.Tree.Children {
		kinds = append(kinds, string(c.Type))
	}
	if got := strings.Join(kinds, " "); got != "text text markdown diff list table tree input button progress progress gauge sparkline rule spacer rows" {
		t.Errorf("widgets %s", got)
	}
	if r, err := w.run("same", "{}"); err != nil || r.Content != "True" {
		t.Errorf("a constructor and a dict: %v, %v", r, err)
	}
}

// A view only draws, and what it shows is checked in its own panel.
func TestViewOnlyDraws(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{
		"p": `
inject = ["surfaces"]
def apply(ctx):
    def view(model):
        surface_state("s", {"n": 1})
        return "x"
    surface("s", {"kind": "side"}, view)
    surface("frozen", {"kind": "side"}, lambda m: m.update([("n", 1)]))
    surface("tree", {"kind": "side"}, lambda m: ui.rows(["a", ui.rows([{"type": "lst"}])]))
    surface("loop", {"kind": "side"}, lambda m: ["x" for i in range(100000) for j in range(100000)])
`,
		"q": "inject = [\"surfaces\"]\ndef apply(ctx):\n    surface(\"fine\", {\"kind\": \"side\"}, lambda m: \"fine\")\n",
	})
	w.active("p", "q")
	h := w.panels()
	for name, want := range map[string]string{
		"s":      "surface_state: a view only draws; change the model in update or in another callback",
		"frozen": "frozen",
		"tree":   `surface "tree": view: rows.children[1].children[0]: unknown widget type "lst"; did you mean "list"?`,
		"loop":   "stopped after",
	} {
		p, _ := h.Panel(surfaces.ID{Plugin: "p", Name: name})
		if !strings.Contains(p.Err, want) || p.Tree == nil {
			t.Errorf("%s: error %q, want %q in it", name, p.Err, want)
		}
	}
	if got := w.texts(h, "q", "fine"); got != "fine" {
		t.Errorf("another plugin's panel: %q", got)
	}
}

// What another callback of the plugin stores while an update waits for its turn is
// seen by that update, not undone by it.
func TestUpdateLosesNothing(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["surfaces", "tools"]
def apply(ctx):
    def update(model, msg):
        if msg.kind == "key":
            model["keys"] += 1
        return model
    surface("s", {"kind": "side"}, lambda m: "%d+%d" % (m["keys"], m["calls"]), init = lambda: {"keys": 0, "calls": 0}, update = update)
    def add(args):
        m = surface_state("s")
        m["calls"] += 1
        surface_state("s", m)
    tool("add", "d", {}, add)
`})
	h := w.panels()
	done := make(chan error, 1)
	go func() {
		for range 200 {
			if _, err := w.run("add", "{}"); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 200 {
		w.key(h, "p", "s", "a")
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := w.texts(h, "p", "s"); got != "200+200" {
		t.Errorf("counted %s", got)
	}
}

func TestSurfacesService(t *testing.T) {
	w := newWorld(t)
	board := `
inject = ["surfaces"]
def apply(ctx):
    def update(model, msg):
        if msg.kind == "msg":
            model["got"] = [msg.name, msg.payload]
        return model
    surface("board", {"kind": "side"}, lambda m: str(m["got"]), init = lambda: {"got": 0}, update = update)
`
	asker := `
inject = ["surfaces", "tools"]
uses = [%s]
def apply(ctx):
    tool("NAME", "d", {}, lambda args: str(invoke("surfaces", args["m"], *args.get("a", []))))
`
	load := func(name, word string) string {
		return strings.Replace(strings.Replace(asker, "NAME", name, 1), "%s", word, 1)
	}
	w.load(map[string]string{"b": board, "weak": load("weak", ""), "strong": load("strong", `"permit"`)})
	w.active("b", "weak", "strong")
	h := w.panels()
	call := func(tool, args, want string) {
		t.Helper()
		r, err := w.run(tool, args)
		got := r.Content
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s %s: %q, want %q in it", tool, args, got, want)
		}
		w.shown(h)
	}
	call("weak", `{"m": "list"}`, `[{"name": "board", "open": True, "plugin": "b"}]`)
	call("weak", `{"m": "tree", "a": ["b", "board"]}`, `{"text": "0", "type": "text"}`)
	call("weak", `{"m": "send", "a": ["b", "board", "hi"]}`, `needs "permit" in uses`)
	call("strong", `{"m": "send", "a": ["b", "board", {"name": "hi", "payload": {"x": [1]}}]}`, `None`)
	call("weak", `{"m": "tree", "a": ["b", "board"]}`, `[\"hi\", {\"x\": [1]}]`)
	call("weak", `{"m": "send", "a": ["b", "bord", "hi"]}`, `did you mean "board"?`)
}

func TestRender(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["surfaces"]
def apply(ctx):
    render("git_*", call = lambda c: ui.text(c.name + " " + c.arguments["x"]), result = lambda r: None if r.is_error else ui.text(r.content))
`})
	w.active("p")
	all := w.registry.Surfaces.Renders.All()
	if len(all) != 1 || !all[0].Value.Matches("git_log") || all[0].Value.Matches("bash") {
		t.Fatalf("renders %+v", all)
	}
	var r spec.Render = all[0].Value
	got, err := r.Call(context.Background(), map[string]any{"id": "1", "name": "git_log", "arguments": map[string]any{"x": "y"}})
	if d := cmp.Diff(any(map[string]any{"type": "text", "text": "git_log y"}), got); d != "" || err != nil {
		t.Errorf("call: %v %s", err, d)
	}
	got, err = r.Result(context.Background(), map[string]any{"content": "c", "is_error": true})
	if got != nil || err != nil {
		t.Errorf("a failed result: %v, %v", got, err)
	}
	if got := w.runtime.Roster().Find("p").Registrations; !strings.Contains(strings.Join(got, " "), "render git_*") {
		t.Errorf("registrations %q", got)
	}
}
