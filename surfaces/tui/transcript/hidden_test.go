package transcript

import (
	"encoding/json"
	"strings"
	"testing"
)

// A call line and the change below it hide nothing of what ran.
func TestCallsHideNothing(t *testing.T) {
	l := newLab(t, 90, 20)
	arguments, err := json.Marshal(map[string]string{"command": "go test ./... \x1b]0; touch pwned \x07"})
	if err != nil {
		t.Fatal(err)
	}
	l.Begin("1", "bash", string(arguments))
	l.Begin("2", "odd\x1b]0;name", "no JSON \x1b]0;rest\x07")
	l.Refuse("2", "guard", "why \x1b]0;hidden\x07")
	l.Begin("3", "write", `{"path":"a.sh"}`)
	details, err := json.Marshal(map[string]any{"diff": "@@ -0,0 +1,3 @@\n+# \x1b]0;\n+rm -rf precious\n+# \x07\n", "added": 3, "removed": 0})
	if err != nil {
		t.Fatal(err)
	}
	l.Finish("3", Result{Content: "written", Details: details})
	got := strings.Join(l.rows(), "\n")
	for _, want := range []string{`go test ./... \x1b]0; touch pwned \x07`, `odd\x1b]0;name`, `no JSON \x1b]0;rest\x07`, `why \x1b]0;hidden\x07`, `+ # \x1b]0;`, "+ rm -rf precious", `+ # \x07`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not shown:\n%s", want, got)
		}
	}
}
