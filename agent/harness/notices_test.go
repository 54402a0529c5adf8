package harness_test

import (
	"fmt"
	"strings"
	"testing"
)

// A plugin that floods the person is cut short, and it is told by how much; what others
// say is shown, and the echo is as short.
func TestNoticesOfOnePluginAreLimited(t *testing.T) {
	p := newPlace(t)
	p.write("home/plugins/flood.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"flood\", \"d\", lambda args: [notify(\"drop %d\" % i) for i in range(500)] and None)\n")
	p.write("home/plugins/calm.star", "inject = [\"commands\"]\ndef apply(ctx):\n    command(\"calm\", \"d\", lambda args: notify(\"one word\"))\n")
	p.write("home/plugins/hears.star", `inject = ["commands"]
def apply(ctx):
    heard = []
    on("code/notice", lambda e: heard.append(e.text))
    command("heard", "d", lambda args: [str(len([x for x in heard if x.startswith("flood: ")]))])
`)
	e, _ := p.atTerminal(nobody)
	p.command(e, "flood", "")
	p.command(e, "calm", "")
	left := 0
	p.eventually("what was left out", func() bool {
		for line := range strings.Lines(p.said()) {
			if strings.HasSuffix(strings.TrimSpace(line), "more notices of flood were left out") {
				if _, err := fmt.Sscanf(strings.TrimPrefix(line, ": "), "%d", &left); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				return true
			}
		}
		return false
	})
	shown := strings.Count(p.said(), "flood: drop")
	if shown < 20 || shown > 200 || shown+left != 500 {
		t.Errorf("%d shown, %d left out", shown, left)
	}
	if !strings.Contains(p.said(), "calm: one word") {
		t.Errorf("another plugin was cut short:\n%s", p.said())
	}
	p.eventually("the echo", func() bool { return p.command(e, "heard", "") == fmt.Sprint(shown) })
}
