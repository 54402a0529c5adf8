package harness_test

import (
	"encoding/json"
	"strings"
	"testing"

	"starling/agent/harness"
	"starling/bus/chat"
)

// views are the drawings that stand with the results, in order.
func views(t *testing.T, e *harness.Engine) []string {
	t.Helper()
	var out []string
	for _, m := range e.Transcript() {
		for _, b := range m.Blocks {
			if b.Kind != chat.Result {
				continue
			}
			var d struct{ View json.RawMessage }
			if len(b.Details) > 0 && json.Unmarshal(b.Details, &d) != nil {
				t.Errorf("details %s", b.Details)
			}
			out = append(out, string(d.View))
		}
	}
	return out
}

// A call is drawn once, by the first render that matches; what it draws stands in
// the details beside what the tool said, and in the session file. Of refused calls
// nothing is drawn.
func TestRenders(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/a.star", `inject = ["surfaces", "tools", "commands"]
def apply(ctx):
    drawn = []
    def call(c):
        drawn.append(c.id)
        return ui.text("call of %s: %s" % (c.name, c.arguments["n"]))
    def result(r):
        return {"type": "text", "text": "%s %s %s" % (r.content, r.is_error, r.details)}
    tool("my_one", "d", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda args: {"content": "c", "details": {"k": 1}})
    tool("my_two", "d", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda args: "plain")
    tool("my_no", "d", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda args: "plain")
    render("my_one", call=call)
    render("my_*", call=call, result=result)
    command("drawn", "d", lambda args: "%d" % len(drawn))
`)
	p.scenario(`
calls([call("my_one", n = 1), call("my_two", n = 2), call("my_no", n = 3), call("bash", command = "true")])
say("done")
`)
	p.options.Deny = []string{"my_no"}
	shown := map[string]string{}
	p.options.Screen.Presented = func(id string, tree json.RawMessage) { shown[id] = string(tree) }
	e, _ := p.atTerminal(nobody)
	p.prompt(e, "go")
	got := views(t, e)
	want := []string{
		`{"text":"call of my_one: 1","type":"text"}`,
		`{"children":[{"text":"call of my_two: 2","type":"text"},{"text":"plain False None","type":"text"}],"type":"rows"}`,
		"", "",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), p.said())
	}
	if len(shown) != 2 {
		t.Errorf("the screen heard %v", shown)
	}
	if got := p.command(e, "drawn", ""); got != "2" {
		t.Errorf("%s calls were drawn", got)
	}
	file := p.read("home/sessions/" + e.SessionID() + ".jsonl")
	if !strings.Contains(file, `"k":1`) || !strings.Contains(file, "call of my_one: 1") {
		t.Errorf("the session file lacks it:\n%s", file)
	}
}

// A render that fails, draws nonsense or takes too long is told once and left out.
func TestRendersThatFail(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"fails":    {`fail("no")`, "fail: no"},
		"nonsense": {`return {"type": "lst"}`, `unknown widget type "lst"`},
		"is slow": {`
        for i in range(100000):
            for j in range(100000):
                pass`, "took longer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/plugins/a.star", "inject = [\"surfaces\"]\nlimits = {\"time_ms\": 0, \"steps\": 0}\ndef apply(ctx):\n    def draw(c):\n        "+c.body+"\n    render(\"bash\", call=draw)\n")
			p.scenario(`
calls([call("bash", command = "true"), call("bash", command = "true")])
say("done")
`)
			e := p.start()
			if o := p.prompt(e, "go"); o.Stop != "end" {
				t.Fatalf("%+v", o)
			}
			for _, v := range views(t, e) {
				if v != "" {
					t.Errorf("drawn: %s", v)
				}
			}
			if n := strings.Count(p.said(), "render bash"); n != 1 || !strings.Contains(p.said(), c.want) {
				t.Errorf("told %d times:\n%s", n, p.said())
			}
		})
	}
}
