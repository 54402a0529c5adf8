package bind_test

import (
	"strconv"
	"strings"
	"testing"
)

// Listeners that answer events with events come to an end, whoever announces
// them; the next thing that happens starts anew.
func TestEventStormsEnd(t *testing.T) {
	for _, c := range []struct {
		name    string
		plugins map[string]string
		fails   bool // the tool call itself
	}{
		{
			name: "a tree below the nesting limit",
			plugins: map[string]string{"p": `
inject = ["tools"]
emits = ["x/y"]
def apply(ctx):
    seen = []
    def more(e):
        seen.append(1)
        if e.n < 13:
            for i in range(10):
                emit("x/y", {"n": e.n + 1})
    on("x/y", more)
    tool("go", "d", {}, lambda args: emit("x/y", {"n": 0}) or "gone")
    tool("seen", "d", {}, lambda args: str([len(seen), seen.clear()][0]))
`},
		},
		{
			name: "two plugins that swallow the error",
			plugins: map[string]string{"p": `
inject = ["tools"]
emits = ["x/a"]
def apply(ctx):
    seen = []
    def more(e):
        seen.append(1)
        for i in range(4):
            attempt(emit, "x/a", {"n": e.n + 1})
    on("x/b", more)
    tool("go", "d", {}, lambda args: emit("x/a", {"n": 0}) or "gone")
    tool("seen", "d", {}, lambda args: str([len(seen), seen.clear()][0]))
`, "q": `
emits = ["x/b"]
def apply(ctx):
    def more(e):
        if e.n < 13:
            for i in range(3):
                attempt(emit, "x/b", {"n": e.n + 1})
    on("x/a", more)
`},
		},
		{
			name: "one call",
			plugins: map[string]string{"p": `
inject = ["tools"]
emits = ["x/y"]
def apply(ctx):
    seen = []
    on("x/y", lambda e: seen.append(1))
    tool("go", "d", {}, lambda args: [emit("x/y", i) for i in range(2000)] and "gone")
    tool("seen", "d", {}, lambda args: str([len(seen), seen.clear()][0]))
`},
			fails: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.load(c.plugins)
			for name := range c.plugins {
				w.active(name)
			}
			_, err := w.run("go", "{}")
			if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), "emit x/y: plugin p announces too much: 1000 events came of one call") {
				t.Fatalf("%v", err)
			}
			r, err := w.run("seen", "{}")
			if n, bad := strconv.Atoi(r.Content); err != nil || bad != nil || n == 0 || n > 1000 {
				t.Errorf("the listener heard %s events; %v", r.Content, err)
			}
			told := 0
			for _, line := range strings.Split(w.said(), "\n") {
				if strings.HasPrefix(line, "p: emit x/") || strings.HasPrefix(line, "q: emit x/") {
					told++
				}
			}
			if told != 1 {
				t.Errorf("told %d times:\n%.2000s", told, w.said())
			}
		})
	}
}

// Two calls do not share their count.
func TestEveryCallHasItsEvents(t *testing.T) {
	w := newWorld(t)
	w.load(map[string]string{"p": `
inject = ["tools"]
emits = ["x/y"]
def apply(ctx):
    [emit("x/y", i) for i in range(1000)]
    tool("go", "d", {}, lambda args: [emit("x/y", i) for i in range(1000)] and "gone")
`})
	w.active("p")
	for range 3 {
		if r, err := w.run("go", "{}"); err != nil || r.Content != "gone" {
			t.Fatalf("%+v %v", r, err)
		}
	}
	if w.said() != "" {
		t.Errorf("said %s", w.said())
	}
}
