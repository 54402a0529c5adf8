package bind_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// What a plugin gets from the host is kept by plugin, call and occurrence: enough
// to play the session again through a changed plugin.
func TestRecord(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	var kept []string
	w.binder.Record = func(plugin, call, word string, n int, outcome json.RawMessage) {
		mu.Lock()
		defer mu.Unlock()
		kept = append(kept, fmt.Sprintf("%s %s %s %d %s", plugin, call, word, n, outcome))
	}
	w.write("a.txt", "hello")
	w.load(map[string]string{"p": `
inject = ["tools"]
uses = ["fs.read", "exec:echo"]
def apply(ctx):
    def go(args):
        fs.read("a.txt")
        fs.read("a.txt")
        attempt(fs.read, "nope")
        time.now()
        h = later()
        exec(["echo", "hi"], reply = lambda r: h.done(r.stdout))
        log("not recorded")
        return h
    tool("go", "d", {}, go)
`})
	w.active("p")
	for range 2 {
		if r, err := w.run("go", "{}"); err != nil || r.Content != "hi\n" {
			t.Fatalf("%+v %v", r, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	got := strings.Join(kept, "\n")
	for _, want := range []string{
		`p go#1 fs.read 0 {"value":"hello"}`,
		`p go#1 fs.read 1 {"value":"hello"}`,
		`p go#1 fs.read 2 {"error":"fs.read: nope`,
		`p go#1 time.now 0 {"value":"2026-01-02T03:04:05Z"}`,
		`p go#1 exec reply 0 {"value":{`,
		`p go#2 fs.read 0 {"value":"hello"}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nis not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "not recorded") || strings.Contains(got, "exec 0") {
		t.Errorf("more than that:\n%s", got)
	}
}
