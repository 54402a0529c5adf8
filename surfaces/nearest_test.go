package surfaces_test

import (
	"testing"

	"starling/surfaces"
)

func TestNearest(t *testing.T) {
	names := []string{"provide", "effect", "print", "int", "tool", "tool_list", "read_only", "on"}
	for x, want := range map[string]string{
		"provid": "provide", "efect": "effect", "pint": "print", "toollist": "tool_list", "ReadOnly": "read_only",
		"tol": "tool", "no": "on", "zebra": "", "": "", "tool": "",
	} {
		if got := surfaces.Nearest(x, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", x, got, want)
		}
	}
}
