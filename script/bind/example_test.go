package bind_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"starling/bus"
	"starling/bus/event"
	"starling/bus/view"
	"starling/surfaces"
)

// example loads a plugin of examples/plugins.
func (w *world) example(name string) {
	w.t.Helper()
	src, err := os.ReadFile("../../examples/plugins/" + name + ".star")
	if err != nil {
		w.t.Fatal(err)
	}
	w.load(map[string]string{name: string(src)})
	w.active(name)
}

// board drives one panel as a terminal does.
type board struct {
	w  *world
	h  *surfaces.Host
	id surfaces.ID
}

func (b board) panel() surfaces.Panel {
	b.w.t.Helper()
	b.w.shown(b.h)
	p, ok := b.h.Panel(b.id)
	if !ok || p.Err != "" {
		b.w.t.Fatalf("panel %s: there %v, %s", b.id, ok, p.Err)
	}
	return p
}

// key presses one and tells whether anybody used it.
func (b board) key(code string) bool {
	b.w.t.Helper()
	used := make(chan bool, 1)
	b.h.Key(b.id, surfaces.Message{Code: code, Modifiers: []string{}}, func(u bool) { used <- u })
	u := <-used
	b.w.shown(b.h)
	return u
}

// write types a text and Enter.
func (b board) write(text string) {
	b.w.t.Helper()
	for _, r := range text {
		code := string(r)
		if r == ' ' {
			code = "space"
		}
		b.key(code)
	}
	b.key("enter")
}

// click presses a widget, or an item of it.
func (b board) click(id string, index int) {
	b.w.t.Helper()
	n := b.panel().Tree.Find(id)
	if n == nil {
		b.w.t.Fatalf("there is no %s on\n%s", id, b.text())
	}
	b.h.Click(b.id, n.Key, index)
	b.w.shown(b.h)
}

// text is what the panel shows: a line for each part.
func (b board) text() string {
	var out []string
	p := b.panel()
	if p.Tree == nil {
		return "(closed)"
	}
	p.Tree.All(func(n *surfaces.Node) bool {
		switch n.Type {
		case surfaces.List:
			for _, it := range n.Items {
				out = append(out, it.Text+mark(it.Style))
			}
		case surfaces.Table:
			for _, r := range n.Rows {
				out = append(out, strings.Join(r.Cells, " ")+mark(r.Style))
			}
		case surfaces.Progress:
			value := "busy"
			if n.Value != nil {
				value = strings.Repeat("#", int(*n.Value*10+0.5))
			}
			out = append(out, "<"+value+"> "+n.Label)
		case surfaces.Input:
			out = append(out, "input "+n.Text)
		case surfaces.Button:
			out = append(out, "["+n.Label+"]")
		case surfaces.Text:
			out = append(out, n.Text+mark(n.Style))
		}
		return true
	})
	return strings.Join(out, "\n")
}

func mark(s surfaces.Style) string {
	if s == 0 {
		return ""
	}
	return " {" + s.String() + "}"
}

func (b board) check(what, want string) {
	b.w.t.Helper()
	if got := b.text(); got != want {
		b.w.t.Errorf("%s it shows\n%s\nwant\n%s", what, got, want)
	}
}

func TestExamplePanel(t *testing.T) {
	w := newWorld(t)
	w.example("panel")
	b := board{w, w.panels(), surfaces.ID{Plugin: "panel", Name: "todos"}}
	b.check("at first", "input ")

	b.write("read it")
	b.write("   ") // no item; the spaces stay in the input
	b.check("after typing", "[ ] read it\ninput    \n<> 0 of 1")
	b.write("write")
	b.check("after more", "[ ] read it\n[ ] write\ninput \n<> 0 of 2")
}

func TestExamplePanelTicks(t *testing.T) {
	w := newWorld(t)
	w.example("panel")
	b := board{w, w.panels(), surfaces.ID{Plugin: "panel", Name: "todos"}}
	tool := func(args, want string) {
		t.Helper()
		r, err := w.run("shared_todos", args)
		if err != nil || r.IsError || r.Content != want {
			t.Errorf("shared_todos %s: %q, %v, want %q", args, r.Content, err, want)
		}
	}
	tool(`{}`, "the list is empty")
	tool(`{"items": [{"text": "read", "done": true}, {"text": "write"}, {"text": "test"}]}`, "[x] read\n[ ] write\n[ ] test")
	b.check("after the model wrote", "[x] read {dim}\n[ ] write\n[ ] test\ninput \n<###> 1 of 3\n[drop what is done]")

	// A click ticks, and so does Enter on the marked item; the model reads both.
	b.click("list", 2)
	b.key("up")
	b.key("enter")
	tool(`{}`, "[x] read\n[x] write\n[x] test")
	b.key("enter")
	b.check("after ticking", "[x] read {dim}\n[ ] write\n[x] test {dim}\ninput \n<#######> 2 of 3\n[drop what is done]")

	// d and the right button drop the marked one, and tell the terminal so.
	if !b.key("d") {
		t.Error("d was not consumed")
	}
	b.check("after d", "[x] read {dim}\n[x] test {dim}\ninput \n<##########> 2 of 2\n[drop what is done]")
	consumed := make(chan bool, 1)
	b.h.Post(b.id, surfaces.Message{Kind: surfaces.MouseMessage, Button: "right", Action: "press", Target: "list", Host: "terminal"}, func(c bool) { consumed <- c })
	if !<-consumed {
		t.Error("the right button was not consumed")
	}
	b.check("after the right button", "[x] read {dim}\ninput \n<##########> 1 of 1\n[drop what is done]")
	b.click("tidy", -1)
	b.check("after tidying", "input ")
	// In the input a d is a letter.
	b.key("d")
	b.check("after a d in the input", "input d")
	b.key("backspace")

	// What was written outlives a reload, and the input keeps what is being typed.
	tool(`{"items": [{"text": "stay"}]}`, "[ ] stay")
	src, err := os.ReadFile("../../examples/plugins/panel.star")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.runtime.Replace(w.ids["panel"], w.component("panel", string(src)+"\n# edited\n")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if got := b.text(); !strings.HasPrefix(got, "[ ] stay\n") {
		t.Errorf("after a reload it shows\n%s", got)
	}
}

func TestExampleClock(t *testing.T) {
	w := newWorld(t)
	w.config = map[string]map[string]any{"clock": {"zone": "UTC"}}
	w.example("clock")
	running := false
	h := surfaces.New(surfaces.Options{Surfaces: w.registry.Surfaces, Running: func() bool { return running }})
	defer func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if got := w.texts(h, "clock", "clock"); got != "03:04" {
		t.Errorf("it shows %q", got)
	}
	running = true
	deadline := time.Now().Add(time.Minute)
	for w.texts(h, "clock", "clock") != "03:04 at work" {
		if time.Now().After(deadline) {
			t.Fatal("a run that goes is not shown")
		}
		time.Sleep(20 * time.Millisecond)
		h.Tick()
	}
}

// A zone nobody knows is an error with its line when the plugin loads.
func TestExampleClockZone(t *testing.T) {
	w := newWorld(t)
	w.config = map[string]map[string]any{"clock": {"zone": "Nowhere/Atall"}}
	src, err := os.ReadFile("../../examples/plugins/clock.star")
	if err != nil {
		t.Fatal(err)
	}
	w.load(map[string]string{"clock": string(src)})
	if got := w.state("clock"); !strings.HasPrefix(got, "failed: ") || !strings.Contains(got, "clock.star:") || !strings.Contains(got, "Nowhere/Atall") {
		t.Errorf("state %q", got)
	}
}

// until waits for a panel to show something.
func (b board) until(want string) {
	b.w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(b.text(), want) {
		if time.Now().After(deadline) {
			b.w.t.Fatalf("it shows\n%s\nwithout %q\n%s", b.text(), want, b.w.said())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

const goTest = `ok  	example.org/shop/cart	0.012s
?   	example.org/shop/web	[no test files]
--- FAIL: TestLogin (0.01s)
    --- FAIL: TestLogin/ipv6 (0.00s)
        login_test.go:12: got 200, want 429
FAIL
FAIL	example.org/shop/login	0.204s
FAIL	example.org/shop/broken [build failed]
FAIL
`

func TestExampleTests(t *testing.T) {
	w := newWorld(t)
	w.write("output.txt", goTest)
	w.write("good.txt", "ok  	example.org/shop/cart	0.012s\nok  	example.org/shop/login	(cached)\n")
	w.write("line.sh", "cat good.txt")
	// The settings name the command: here one that says what a file says, and waits
	// for as long as another one is there.
	w.config = map[string]map[string]any{"tests": {
		"command": "while [ -e held ]; do sleep 0.01; done; echo run >> runs; . ./line.sh",
		"files":   []any{".go"},
	}}
	w.example("tests")
	b := board{w, w.panels(), surfaces.ID{Plugin: "tests", Name: "tests"}}
	save := func(path string) {
		bus.PortOf(w.bus, event.FileChange).Send(context.Background(), &event.FileChangeEvent{Path: path, Kind: "modified"})
	}
	b.check("at first", "not run yet {dim}\n[run them]")
	save("README.md")
	b.check("after a file that is not watched", "not run yet {dim}\n[run them]")

	w.write("held", "")
	save("cart/cart.go")
	b.until("<busy> while [ -e held ]")
	// Two changes in the middle of a run come to one more run.
	save("cart/cart.go")
	save("cart/cart.go")
	if err := os.Remove(w.dir + "/held"); err != nil {
		t.Fatal(err)
	}
	b.until("2 of 2 pass")
	b.until("[run them]")
	b.check("after it passed", "<##########> 2 of 2 pass\nok example.org/shop/cart 0.012s\nok example.org/shop/login (cached)\n[run them]")
	if got := w.lines("runs"); got != 2 {
		t.Errorf("%d runs, want 2", got)
	}

	// The button, and a failure: each failed test and package, and the last lines.
	w.write("line.sh", "cat output.txt; exit 1")
	b.click("run", -1)
	b.until("1 of 5 pass")
	b.check("after it failed", `<##> 1 of 5 pass
ok example.org/shop/cart 0.012s
FAIL TestLogin 0.01s {bad}
FAIL TestLogin/ipv6 0.00s {bad}
FAIL example.org/shop/login 0.204s {bad}
FAIL example.org/shop/broken  {bad}
        login_test.go:12: got 200, want 429
FAIL
FAIL	example.org/shop/login	0.204s
FAIL	example.org/shop/broken [build failed]
FAIL {dim}
[run them]`)
	if !strings.Contains(w.said(), "tests: the tests do not pass any more") {
		t.Errorf("the person was not told:\n%s", w.said())
	}

	// Another runner: its status says all there is, and r runs it too.
	w.write("line.sh", "echo 14 passing")
	if !b.key("r") {
		t.Error("r was not consumed")
	}
	b.until("passed {good}")
	w.write("line.sh", "echo 2 failing; exit 3")
	b.key("r")
	b.until("failed {bad}\n2 failing {dim}")
}

// A reload in the middle of a run does not leave the panel busy for ever: the command
// ended with the plugin.
func TestExampleTestsReload(t *testing.T) {
	w := newWorld(t)
	w.write("held", "")
	w.config = map[string]map[string]any{"tests": {"command": "while [ -e held ]; do sleep 0.01; done"}}
	w.example("tests")
	b := board{w, w.panels(), surfaces.ID{Plugin: "tests", Name: "tests"}}
	b.click("run", -1)
	b.until("<busy>")
	src, err := os.ReadFile("../../examples/plugins/tests.star")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.runtime.Replace(w.ids["tests"], w.component("tests", string(src)+"\n# edited\n")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	b.until("[run them]")
	if err := os.Remove(w.dir + "/held"); err != nil {
		t.Fatal(err)
	}
	b.click("run", -1)
	b.until("passed {good}")
}

// lines counts those of a file.
func (w *world) lines(name string) int {
	w.t.Helper()
	data, err := os.ReadFile(w.dir + "/" + name)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Count(view.Clean(string(data)), "\n")
}
