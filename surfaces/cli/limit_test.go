package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// A run against a priced model ends with status 3 behind the request that passed
// --max-cost, and says which limit it was; one below it does not notice.
func TestMaxCost(t *testing.T) {
	newRun := func() *lab { // each request costs $0.00012
		l := newLab(t, func(w *reply, n int, _ string) {
			if n < 5 {
				w.send(data(content("part"), toolCall(0, fmt.Sprint("c", n), "read", `{"path":"a.txt"}`), finish("tool_calls")))
				return
			}
			w.send(says("done"))
		})
		l.write("ws/a.txt", "hello\n")
		return l
	}
	l := newRun()
	r, e := l.json("--max-cost", "0.0003", "go")
	why := "the session reached its limit of $0.0003 (it spent $0.00036)"
	if e.code != 3 || r.Stop != "limit" || r.Why != why || len(l.sent()) != 3 || r.Usage.Cost < 0.000359 || r.Usage.Cost > 0.000361 {
		t.Errorf("%d requests, %v", len(l.sent()), e)
	}
	// What the session spent before counts; the calls of the last reply have results.
	if e := l.run("--quiet", "--continue", "--max-cost", "0.0003", "on"); e.code != 3 || !strings.Contains(e.stderr, why+"\n") || len(l.sent()) != 3 {
		t.Errorf("nothing is left: %d requests, %v", len(l.sent()), e)
	}
	if e := l.run("--quiet", "--continue", "--max-cost", "0.0005", "on"); e.code != 3 || !strings.Contains(e.stderr, "starling: a limit ended the run: the session reached its limit of $0.0005 (it spent $0.0006)\n") || len(l.sent()) != 5 {
		t.Errorf("%d requests, %v", len(l.sent()), e)
	}
	l = newRun()
	if r, e := l.json("--max-cost", "1", "go"); e.code != 0 || r.Text != "done" || e.stderr != "" {
		t.Errorf("far below: %v", e)
	}
	// Without a price the cap counts nothing, and that is said.
	l = newRun()
	l.models("")
	if r, e := l.json("--max-cost", "0.0003", "go"); e.code != 0 || r.Text != "done" || strings.Count(e.stderr, "the price of mine/small is not known here") != 1 {
		t.Errorf("no price: %v", e)
	}
	if e := l.run("--quiet", "--continue", "--max-cost", "1", "on"); e.code != 0 || strings.Count(e.stderr, "price") != 1 {
		t.Errorf("no price before and now: %v", e)
	}
	l.models(`"cost": {"input": 1, "output": 2}`)
	if e := l.run("--quiet", "--continue", "--max-cost", "1", "on"); e.code != 0 || strings.Count(e.stderr, "has replies without a price, of mine/small: --max-cost does not count them") != 1 {
		t.Errorf("no price before: %v", e)
	}
	// A server that names the price itself is believed.
	l = newLab(t, func(w *reply, n int, _ string) {
		w.send(data(toolCall(0, fmt.Sprint("c", n), "read", `{"path":"a.txt"}`), finish("tool_calls"),
			`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":10,"cost":0.25}}`))
	})
	l.models("")
	if r, e := l.json("--max-cost", "0.4", "go"); e.code != 3 || r.Usage.Cost != 0.5 || len(l.sent()) != 2 {
		t.Errorf("the server's price: %v", e)
	}
}

// H-01: what would need an answer is refused at once where nobody can give one,
// the model reads why, and the run goes on: a tool of a workspace plugin that is
// not approved, and paths outside the workspace.
func TestH01NobodyToAsk(t *testing.T) {
	l := newLab(t, func(w *reply, n int, _ string) {
		if n == 0 {
			w.send(data(
				toolCall(0, "c1", "shady", ""), toolCall(1, "c2", "read", `{"path":"../secret.txt"}`),
				toolCall(2, "c3", "write", `{"path":"../new.txt","content":"x"}`), finish("tool_calls")))
			return
		}
		w.send(says("done"))
	})
	l.write("home/rules.json", `{"version": 1}`)
	l.write("secret.txt", "top secret\n")
	l.write("ws/.starling/plugins/shady.star", `inject = ["tools"]
uses = ["fs.write"]
def apply(ctx):
    fs.write("marker", "")
    tool("shady", "d", {}, lambda args: "ran")
`)
	r, e := l.json("go")
	if e.code != 0 || r.Text != "done" || r.Turns != 2 {
		t.Fatal(e)
	}
	if exists(l.ws, "marker") || exists(l.root, "new.txt") {
		t.Error("something ran or was written")
	}
	m := messages(t, l.sent()[1].body)
	for i, want := range []string{"shady", "outside", "outside"} {
		if got := m[3+i].text(); !strings.Contains(got, want) || strings.Contains(got, "top secret") {
			t.Errorf("result %d: %q", i, got)
		}
	}
	for i, id := range []string{"c2", "c3"} { // the plugin's tool is not there to be denied
		if len(r.Denied) != 2 || r.Denied[i].ID != id || r.Denied[i].By != "permissions" || r.Denied[i].Why == "" {
			t.Fatalf("denied %+v", r.Denied)
		}
	}
	listed := fmt.Sprint(r.Notices)
	if strings.Count(listed, "not approved; --trust-plugins") != 1 || !strings.Contains(e.stdout, `"name":"shady","origin":"workspace","approval":"not approved"`) {
		t.Errorf("listed %s\n%v", listed, e)
	}
}
