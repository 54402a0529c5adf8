package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"starling/surfaces/tui/transcript"
)

// The line of a call ends in "…" where it is not all that runs.
func TestSummaryIsWhole(t *testing.T) {
	far := strings.Repeat(" ", 3000)
	long := strings.Repeat("x", 2000)
	for _, c := range []struct{ command, want string }{
		{"go test ./...", "go test ./..."},
		{" \n\tls\n ", "ls"},
		{"echo ok\ntouch x", "echo ok …"},
		{"echo ok \n", "echo ok"},
		{"echo ok" + far + "; touch x", "echo ok …"},
		{"echo ok" + far[:100] + "; touch x", "echo ok ; touch x …"},
		{"echo ok  ; touch x", "echo ok ; touch x …"},
		{"echo ok\t\t; touch x", "echo ok ; touch x …"},
		{"echo ok\u3000\u3000; touch x", "echo ok ; touch x …"},
		{"echo\tok\u3000; touch x", "echo ok\u3000; touch x"},
		{"echo ok " + far[:10] + "\ntouch x", "echo ok …"},
		{long, long},
		{long + "y", long + " …"},
		{"ls \u00a0", `ls \u00a0`},
	} {
		arguments, err := json.Marshal(map[string]any{"command": c.command, "timeout": 5})
		if err != nil {
			t.Fatal(err)
		}
		if got := transcript.Summary(string(arguments)); got != c.want {
			t.Errorf("of %.40q (%d): %.80q", c.command, len(c.command), got)
		}
	}
	for _, c := range []struct{ arguments, want string }{
		{`{"pattern": "a b", "path": "src"}`, "a b in src"},
		{`{"pattern": "a\nb", "path": "src"}`, "a … in src"},
		{`{"pattern": "a", "path": "src\nx"}`, "a in src …"},
		{`{"n": 1, "to": "x"}`, `{"n": 1, "to": "x"}`},
		{"{\n  \"n\": 1,\n  \"to\": \"x  y\"\n}", `{"n":1,"to":"x y"} …`},
		{`{"n": "` + long + `"}`, `{"n": "` + long[7:] + " …"},
		{"{\"comm\n", `{"comm`},
		{"{}", ""},
	} {
		if got := transcript.Summary(c.arguments); got != c.want {
			t.Errorf("of %.40q (%d): %.80q", c.arguments, len(c.arguments), got)
		}
	}
}
